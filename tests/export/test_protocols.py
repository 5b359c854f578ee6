"""Printed protocols: followed by hand, they answer as the model does, by numbers from the Markdown alone."""

import math
import re
import xml.etree.ElementTree as ET
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, ExactPruner, MultiStageClassifier
from shortlist.export.protocol_text import markdown, page, picture
from shortlist.export.protocols import protocol_of
from shortlist.multistage import feature_costs
from shortlist.saved_models import SavedModel

SVG = "{http://www.w3.org/2000/svg}"

X, CODES = make_classification(500, 5, n_informative=4, n_redundant=1, flip_y=0.1, random_state=0)
TABLE = pd.DataFrame(X * [1, 1000, 0.001, 1, 1], columns=["a", "b_x", "_c_", "d|e", "f"])
TABLE.loc[::9, "_c_"] = np.nan
TABLE["ward"] = np.where(X[:, 1] > 0, "north & south", "<west>")
TABLE["town"] = np.random.default_rng(0).choice(["x", "y", "z*"], len(TABLE))
TABLE.loc[::11, "town"] = None
TABLE["flag"] = X[:, 2] > 0.5
HOURS = {"a": 1, "b_x": 0.25, "_c_": 24, "d|e": 2, "f": 3, "ward": 0, "town": 0, "flag": 5}
COSTS = feature_costs([1, 2, 3, 4, 5, 1, 1, 1], list(TABLE), attributes={"hours": HOURS})
KINDS = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))]
SCORES = X @ [1.0, -1.0, 0.5, 0.5, 0.0] + np.random.default_rng(1).logistic(size=len(X)) / 2
ILL = np.where(SCORES > 0.3, "ill", "healthy")
OPTIONS: dict[str, Any] = {
    "feature_costs": COSTS,
    "max_stages": 3,
    "method": "windows",
    "pick": "knee",
    "random_state": 0,
}


def fitted(y: Any, rows: slice = slice(0, 250), **options: Any) -> MultiStageClassifier:
    return MultiStageClassifier(**{**OPTIONS, "confidence": 0.7, **options}).fit(TABLE[rows], y[rows])


def saved(estimator: Any) -> SavedModel:
    return SavedModel(estimator, tuple(TABLE.columns), "state")


class Reading:
    """Contents of a protocol for a reader: of each step its lines and its sentences."""

    def __init__(self, text: str) -> None:
        self.steps = []
        for found in re.split(r"^## Step \d+$", text, flags=re.MULTILINE)[1:]:
            part = found.split("\n## ")[0]
            sums: list[str] = []
            adds: dict[tuple[str, str], list[float]] = {}
            for block in part.split("\n\n"):
                if block.startswith("|"):
                    head, _, *rows = [
                        [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                        for line in block.strip().splitlines()
                    ]
                    sums += head[2:]
                    for feature, value, *numbers in rows:
                        adds.setdefault((feature, value), []).extend(map(float, numbers))
            rules = [re.sub(r"\\(.)", r"\1", line[2:]) for line in part.splitlines() if line.startswith("- ")]
            self.steps.append((sums, adds, rules))

    def answer(self, row: dict[str, Any]) -> str | None:
        """Follow the steps with a pen; None where a person decides."""
        for sums, adds, rules in self.steps:
            totals = np.array(adds["start", ""])
            features = {feature for feature, value in adds if value}
            if all(pd.isna(row[feature]) for feature in features):
                continue
            for feature in sorted(features):
                value = row[feature]
                if pd.isna(value):
                    totals = totals + adds[feature, "(no value)"]
                elif (feature, "its number ×") in adds:
                    totals = totals + np.array(adds[feature, "its number ×"]) * value
                else:
                    totals = totals + adds[feature, str(value)]
            for rule in rules[:-1]:
                if self._holds(rule, sums, totals):
                    return rule.removeprefix("Answer ").split(" if ")[0]
        return None

    @staticmethod
    def _holds(rule: str, sums: list[str], totals: Any) -> bool:
        if rule.startswith("This step never answers"):
            return False
        number = float(re.findall(r"(?:at least|at most|above) (\S+)", rule)[-1])
        if sums == ["score"]:
            (score,) = totals
            return bool(
                score >= number
                if "at least" in rule
                else score > number
                if "above" in rule
                else score <= number
            )
        name = rule.removeprefix("Answer ").split(" if ")[0]
        total = sum(math.exp(one - max(totals)) for one in totals)
        return sums[int(np.argmax(totals))] == name and total <= number


def read_answers(text: str, rows: pd.DataFrame) -> list[str | None]:
    reading = Reading(text)
    return [reading.answer(row) for row in rows.to_dict("records")]


def told_answers(model: MultiStageClassifier, rows: pd.DataFrame) -> list[str | None]:
    labels = model.predict(rows).tolist()
    return [None if label == model.reject_label_ else str(label) for label in labels]


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize(
    ("y", "options"),
    [
        pytest.param(ILL, {}, id="two classes"),
        pytest.param(ILL, {"confidence": {"ill": 0.3, "healthy": 0.9}}, id="a threshold per class"),
        pytest.param(ILL, {"confidence": {"ill": 1.0, "healthy": 0.6}}, id="a class that is never answered"),
        pytest.param(ILL, {"answer_accuracy": 0.7}, id="a promise"),
        pytest.param(CODES, {"removal": True}, id="classes that are numbers"),
        pytest.param(KINDS, {"confidence": 0.5}, id="three classes"),
        pytest.param(KINDS, {"confidence": {"low": 0.4, "mid": 0.8, "top": 0.5}}, id="three with thresholds"),
        pytest.param(
            ILL,
            {"subclassifier": LinearDiscriminantAnalysis(), "feature_costs": None, "max_stages": 2},
            id="another linear classifier",
        ),
    ],
)
def test_who_follows_the_markdown_answers_new_rows_as_the_model_does(y: Any, options: dict[str, Any]) -> None:
    model = fitted(y, **options)
    new = TABLE[250:]
    protocol = protocol_of(saved(model), new)

    assert protocol.n_changed == 0
    assert f"{protocol.digits} significant digits; with them all 250 rows" in protocol.checked
    told = told_answers(model, new)
    assert len(set(told)) > 1
    assert read_answers(markdown(protocol), new) == told


@pytest.mark.parametrize("y", [ILL, KINDS], ids=["two classes", "three classes"])
def test_answers_that_rounding_changes_are_counted(y: Any) -> None:
    model, new = fitted(y, confidence=0.6), TABLE[250:]
    protocol = protocol_of(saved(model), new, digits=(1, 1))
    read = read_answers(markdown(protocol), new)

    changed = sum(a != b for a, b in zip(read, told_answers(model, new), strict=True))
    assert 0 < changed <= protocol.n_changed  # the same answer at another step is a change too
    assert f"{protocol.n_changed} of 250 rows that were checked are answered otherwise" in markdown(protocol)


def test_a_row_of_which_a_step_knows_nothing_goes_on() -> None:
    rows = TABLE[["_c_", "a"]]
    costs = feature_costs([1, 9], ["_c_", "a"])
    model = MultiStageClassifier(**OPTIONS | {"feature_costs": costs, "max_stages": 2}, confidence=0.55)
    model.fit(rows[:250], ILL[:250])
    first = int(np.flatnonzero((model.front_.decisions == [0, 1]).all(axis=1))[0])
    model.use(first)
    text = markdown(protocol_of(SavedModel(model, ("_c_", "a"), "state"), rows[250:]))

    assert rows["_c_"][250:].isna().any()
    assert read_answers(text, rows[250:]) == told_answers(model, rows[250:])


def test_the_protocol_tells_prices_hours_promise_and_who_decides_at_the_end() -> None:
    model = fitted(ILL, answer_accuracy=0.6)
    assert model.guarantee_ is not None
    text = markdown(protocol_of(saved(model)))

    known: set[str] = set()
    hours = 0.0
    for number, stage in enumerate(model.model_.stages, start=1):
        new = [COSTS.names[place] for place in stage.bought]
        hours += max(HOURS[name] for name in new)
        here = max(HOURS[name] for name in new)
        row = rf"^\| {number} \| .* \| \S+ \| {stage.price / COSTS.scale:g} \| {here:g} \| {hours:g} \|$"
        assert re.search(row, text, flags=re.MULTILINE), row
        known |= set(new)
    assert model.guarantee_.sentence() in text
    assert "A person decides about a case that no step answers." in text
    assert "- Otherwise a person decides." in text
    assert "were not compared with the model on any rows" in text
    assert "Nothing is promised about new cases." in markdown(protocol_of(saved(fitted(ILL))))


def test_a_classifier_without_a_sum_is_named() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = fitted(ILL, subclassifier=tree, max_stages=2, feature_costs=None)
    protocol = protocol_of(saved(model), TABLE[250:])

    text = markdown(protocol)
    assert "ask the model file, which has a DecisionTreeClassifier here." in text
    assert "- Answer ill if the model finds it most probable, with 0.7 at least." in text
    assert protocol.checked == "No score can be added up by hand; the model file answers."
    ET.fromstring(picture(protocol))


def test_what_is_no_model_of_stages_is_refused() -> None:
    pruner = ExactPruner(n_classifiers=3, random_state=0).fit(TABLE[["a", "f"]], CODES)
    with pytest.raises(BadInputError, match=r"made of a model of stages, got one of shortlist prune\. Write"):
        protocol_of(SavedModel(pruner, ("a", "f"), "state"))


@pytest.mark.parametrize("y", [ILL, KINDS], ids=["two classes", "three classes"])
def test_the_page_says_what_the_markdown_says_without_a_script(y: Any) -> None:
    protocol = protocol_of(saved(fitted(y)), TABLE[250:])
    plain = re.sub(r"\\(.)", r"\1", markdown(protocol))
    html = page(protocol)

    cells = [unescape(cell) for cell in re.findall(r'<t[hd](?: scope="col")?>(.*?)</t[hd]>', html)]
    table = [row for row in markdown(protocol).splitlines() if row.startswith("|") and "---" not in row]
    assert cells == [
        re.sub(r"\\(.)", r"\1", cell.strip()) for row in table for cell in re.split(r"(?<!\\)\|", row)[1:-1]
    ]
    for sentence in re.findall(r"<(?:p|li|h1|h2)>(.*?)</", html):
        assert unescape(sentence) in plain
    assert "<script" not in html
    assert "<west>" not in html
    assert "size: A4" in html


def test_control_characters_of_names_are_written_out() -> None:
    rows = TABLE[["a", "f"]].rename(columns={"a": "a\x1b]0;x\x07", "f": "two\nlines"})
    model = MultiStageClassifier(max_stages=1, confidence=0.6, random_state=0).fit(rows, ILL)
    protocol = protocol_of(SavedModel(model, tuple(rows), "st\nate"), rows)

    for text in (markdown(protocol), page(protocol), picture(protocol)):
        assert "\x1b" not in text
        assert "two\nlines" not in text
    assert ET.fromstring(picture(protocol)).tag == f"{SVG}svg"


@pytest.mark.parametrize(("y", "said"), [(KINDS, "its sum is the largest"), (ILL, "the score is above 0")])
def test_a_threshold_that_every_answer_reaches_is_not_told(y: Any, said: str) -> None:
    told = protocol_of(saved(fitted(y, confidence=1 / len(set(y)))), TABLE[250:])
    rules = [rule for step in told.steps if step.sums for rule in step.rules[1:]]
    assert {(rule.condition, rule.probability) for rule in rules} == {(said, "")}
    assert told.n_changed == 0
