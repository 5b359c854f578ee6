"""Points in place of a score: who follows the printed ones loses what the protocol says."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist import MultiStageClassifier
from shortlist.export.protocol_scores import SPREADS, START, LinearScore, ScorePart, points_of
from shortlist.export.protocol_text import markdown, page
from shortlist.export.protocols import protocol_of
from shortlist.saved_models import SavedModel

X, CODES = make_classification(400, 8, n_informative=6, n_redundant=1, flip_y=0.1, random_state=0)
TABLE = pd.DataFrame(X * [1, 1000, 0.001, 1, 1, 30, 1, 1], columns=list("abcdefgh"))
TABLE.loc[::9, "c"] = np.nan
TABLE["ward"] = np.where(X[:, 1] > 0, "north & south", "<west>")
TABLE["town"] = np.random.default_rng(0).choice(["x", "y", "z*"], len(TABLE))
TABLE.loc[::11, "town"] = None
ILL = np.where(CODES, "ill", "healthy")


def fitted(y: Any, columns: list[str], **options: Any) -> SavedModel:
    usual: dict[str, Any] = {
        "max_stages": 1,
        "confidence": 0.8,
        "removal": False,
        "method": "windows",
        "random_state": 0,
    }
    model = MultiStageClassifier(**usual | options).fit(TABLE[columns], y)
    return SavedModel(model, tuple(columns), "state")


def read_points(text: str, row: dict[str, Any], step: int = 1) -> tuple[int, str | None]:
    """Look up the points of a row in the Markdown alone, and what they answer."""
    part = re.sub(r"\\(.)", r"\1", text.split(f"## Points for step {step}\n")[1].partition("\n## ")[0])
    total = 0
    for feature, told in re.findall(r"^\| (\S+) \| (\d.*) \|$", part, flags=re.MULTILINE):
        value = row[feature]
        if pd.isna(value) or isinstance(value, str):
            found = re.search(rf"(\d+) for {re.escape('(no value)' if pd.isna(value) else value)}(;|$)", told)
            assert found is not None
            total += int(found[1])
            continue
        count = int(re.match(r"(\d+) (below|for any number)", told)[1])  # type: ignore[index]
        for points, limit in re.findall(r"(\d+) from ([-.\d]+)", told):
            if value >= float(limit):
                count = int(points)
        total += count
    if (most := re.search(r"Answer healthy if the points are at most (-?\d+)", part)) and total <= int(
        most[1]
    ):
        return total, "healthy"
    if (least := re.search(r"Answer ill if the points are at least (-?\d+)", part)) and total >= int(
        least[1]
    ):
        return total, "ill"
    return total, None


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize(
    "confidence",
    [0.8, 0.5, {"ill": 0.6, "healthy": 0.9}, {"ill": 1.0, "healthy": 0.6}],
    ids=["both alike", "no reject", "a threshold per class", "a class that is never answered"],
)
def test_who_looks_points_up_loses_what_the_protocol_says(confidence: Any) -> None:
    saved = fitted(ILL, list(TABLE), confidence=confidence)
    protocol = protocol_of(saved, TABLE, outcomes=ILL)
    points = protocol.steps[0].points
    assert points is not None
    text = markdown(protocol)

    read = [read_points(text, row)[1] for row in TABLE.to_dict("records")]
    labels = saved.estimator.predict(TABLE).tolist()
    told = [None if label == saved.estimator.reject_label_ else label for label in labels]
    changed = sum(a != b for a, b in zip(read, told, strict=True))
    assert (points.n_rows, points.n_changed) == (400, changed)
    for said, counted in [(told, points.exact), (read, points.by_points)]:
        right = sum(a == b for a, b in zip(said, ILL, strict=True))
        assert counted == (400 - said.count(None), right)
    assert 0 < changed < 60
    assert points.n_products == 8
    assert f"{changed} ({changed / 400:.1%}) get another outcome" in text
    assert "which is optimistic" in text
    assert text.index("## Step 1") < text.index("## Points for step 1")
    assert "<h2>Points for step 1</h2>" in page(protocol)


def test_points_are_rounded_products() -> None:
    """Points of a small score by hand: a number that rises, one that falls, a word and a number with gaps."""
    rows = np.array(
        [[0, 0, 0, 0, 0], [1, 10, 1, 1, 0], [2, 20, 0, 2, 0], [3, 30, 1, 2, 1], [4, 40, 0, 4, 0]], float
    )
    adds = [-1.0, 2.0, -0.1, 0.0, 3.0, 0.0, 6.0]
    parts = tuple(
        ScorePart(*about, np.array([add]), *fill)
        for add, (about, fill) in zip(
            adds,
            [
                ((START, "", None), ()),
                (("up", "its number ×", 0), ()),
                (("down", "its number ×", 1), ()),
                (("word", "no", None), ()),
                (("word", "yes", 2), ()),
                (("none", "its number ×", 3), ()),
                (("none", "(no value)", 4), ((3, 2.0),)),
            ],
            strict=True,
        )
    )
    sums = -1 + 2 * rows[:, 0] - 0.1 * rows[:, 1] + 3 * rows[:, 2] + 6 * rows[:, 4]
    labels = np.where(sums >= 4, 1, np.where(sums <= -1, 0, -1))
    points = points_of(LinearScore(parts, (1.0, 4.0), (0.7, 0.98)), rows, labels, spreads=[4])

    assert points is not None
    # the widest product is 2 × (3.9 - 0.1) in the middle 95 %, so that one point is worth 1.9
    assert points.worth == pytest.approx(1.9)
    up, down, word, gap = points.features
    # in products 0.2 + 1.9 (k + 1/2), halved; bands are 0.95 wide, so that a limit has two decimals
    assert [float(one) for one in up.limits] == pytest.approx([0.575, 1.525, 2.475, 3.425], abs=0.0051)
    assert {len(one.partition(".")[2]) for one in up.limits} == {2}
    assert up.points == (0, 1, 2, 3, 4)
    # products from -3.9 to -0.1 are two points apart: limits at -3.9 + 0.95 and -3.9 + 2.85
    assert [float(one) for one in down.limits] == pytest.approx([10.5, 29.5], abs=0.51)
    assert down.points == (2, 1, 0)
    assert word.words == (("no", 0), ("yes", 2))
    assert (gap.points, gap.words) == ((0,), (("(no value)", 3),))
    counts = [
        sum(float(one) <= row[0] for one in up.limits)
        + 2 - sum(float(one) <= row[1] for one in down.limits)
        + 2 * int(row[2])
        + 3 * int(row[4])
        for row in rows
    ]  # fmt: skip
    shift = float(np.mean(sums - points.worth * np.array(counts)))
    assert points.at_least == math.ceil((4 - shift) / points.worth)
    assert points.at_most == math.floor((-1 - shift) / points.worth)
    said = [1 if one >= points.at_least else 0 if one <= points.at_most else -1 for one in counts]
    assert points.n_changed == sum(a != b for a, b in zip(said, labels.tolist(), strict=True))
    # a spread of which none loses less, and the first of equals
    of_all = [
        points_of(LinearScore(parts, (1.0, 4.0), (0.7, 0.98)), rows, labels, spreads=[one]) for one in SPREADS
    ]
    best = points_of(LinearScore(parts, (1.0, 4.0), (0.7, 0.98)), rows, labels)
    assert best == min(of_all, key=lambda one: one.n_changed)  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_where_no_points_are_offered() -> None:
    many = fitted(ILL, list("abdefgh"))
    alone = protocol_of(many)
    assert alone.steps[0].points is None
    assert "products of step 1, are chosen and measured on rows, so name a table" in alone.checked
    told = protocol_of(many, TABLE)
    assert "How many answers are right is not known" in markdown(told)
    few = protocol_of(fitted(ILL, list("abdef")), TABLE, outcomes=ILL)
    three = np.where(X[:, 0] > 1, "more", ILL)
    of_three = protocol_of(fitted(three, list("abdefgh")), TABLE, outcomes=three)
    for protocol in (few, of_three):
        assert protocol.steps[0].points is None
        assert "Points for step" not in markdown(protocol)
    assert "oints" not in markdown(few)
    assert "products of step 1, are offered for two classes only" in of_three.checked


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_what_points_lose_over_all_steps_is_told() -> None:
    """Two of three steps have points; who looks them up at both answers otherwise as often as is said."""
    rows, codes = make_classification(500, 12, n_informative=9, n_redundant=1, flip_y=0.05, random_state=1)
    table = pd.DataFrame(rows, columns=list("abcdefghijkl"))
    ill = np.where(codes, "ill", "healthy")
    model = MultiStageClassifier(
        max_stages=3, confidence=0.95, removal=False, method="windows", random_state=0
    ).fit(table, ill)
    protocol = protocol_of(SavedModel(model, tuple(table), "state"), table, outcomes=ill)
    assert [step.points is None for step in protocol.steps] == [True, False, False]
    text = markdown(protocol)
    labels, stages = model.predict(table).tolist(), model.decisions(table).stages.tolist()
    read: list[str | None] = []
    for row, label, stage in zip(table.to_dict("records"), labels, stages, strict=True):
        by_points = read_points(text, row, 2)[1] or read_points(text, row, 3)[1]
        read.append(label if stage == 1 else by_points or model.reject_label_)
    changed = sum(a != b for a, b in zip(read, labels, strict=True))
    assert 0 < changed < 40
    assert f"With points at every step that has them, {changed} of 500 rows" in text
    assert "get another outcome than by the scores." in text


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_a_number_that_is_always_missing_at_a_step_has_no_bands() -> None:
    table = TABLE[list("abcdefgh")]
    saved = fitted(ILL, list(table))
    gone = table.assign(c=np.nan)
    points = protocol_of(saved, gone, outcomes=ILL).steps[0].points
    assert points is not None
    assert all(len(set(one.limits)) == len(one.limits) for one in points.features)
    assert "c" in points.left_out or {one.feature: one for one in points.features}["c"].words
