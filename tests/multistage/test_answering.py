"""One row in service: asked step by step it is answered as the table is."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from shortlist.errors import BadInputError
from shortlist.guarantees.cells import FAILED, labels_of
from shortlist.multistage import MultiStageClassifier, next_step
from shortlist.multistage.predict.prediction import decide_known
from shortlist.policies import UNDECIDED
from tests.examples import examples

X, Y = make_classification(260, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=4)
TABLE = pd.DataFrame(X, columns=list("abcde"))
TABLE["c"] = np.where(TABLE["c"] > 0, "high", "low")
TABLE.loc[::6, "d"] = np.nan  # a gap in d is a value
COSTS = {"a": 1, "b": 2, "c": 4, "d": 1, "e": 8}
MODELS = {
    name: MultiStageClassifier(
        feature_costs=COSTS, confidence=0.7, max_stages=3, random_state=0, answer_rejected=guesses
    ).fit(TABLE[:200], np.where(Y[:200] == 1, "ill", "well"))
    for name, guesses in (("plain", False), ("guessing", True))
}
ROWS = TABLE[200:].reset_index(drop=True)


def value(row: int, name: str) -> Any:
    found = ROWS[name][row]
    return None if pd.isna(found) else found


@pytest.mark.parametrize("kind", MODELS)
@examples(30)
@given(data=st.data())
def test_a_row_that_is_asked_step_by_step_is_answered_as_in_a_table(kind: str, data: st.DataObject) -> None:
    classifier = MODELS[kind]
    classifier.use(data.draw(st.integers(0, len(classifier.front_) - 1)))
    row = data.draw(st.integers(0, len(ROWS) - 1))
    known: dict[str, Any] = {}
    while (step := next_step(classifier, known)).what == "ask":
        assert step.label is None
        arrived = data.draw(st.sets(st.sampled_from(step.features), min_size=1))  # the others are late
        known |= {name: value(row, name) for name in arrived}
        known = json.loads(json.dumps(known))  # as it is kept until the next result comes

    report = classifier.decision_report(ROWS).loc[row]
    assert [step.label, step.stage, step.paid] == report[["label", "stage", "cost"]].tolist()
    assert step.confidence == pytest.approx(report["confidence"])
    assert (step.what == "reject") == (bool(report["rejected"]) and kind == "plain")
    assert sorted(known) == sorted(report["features"].split(", "))
    assert json.loads(json.dumps(step.as_dict()))["what"] == step.what


def test_the_price_of_a_step_is_what_its_stage_costs_more() -> None:
    classifier = MODELS["plain"]
    classifier.use(max(range(len(classifier.front_)), key=lambda i: classifier.front_.decisions[i].max()))
    known: dict[str, Any] = {}
    step = next_step(classifier, known)
    spent = 0.0
    while step.what == "ask":
        assert step.price == sum(COSTS[name] for name in step.features)
        spent += step.price
        known |= {name: value(3, name) for name in step.features}
        step = next_step(classifier, known)
    assert (step.paid, step.price, step.features) == (spent, 0.0, ())


@examples(20)
@given(row=st.integers(0, 59), lost=st.sets(st.sampled_from("abcde"), max_size=4), point=st.integers(0, 99))
def test_what_failed_is_a_gap_and_the_row_goes_on(row: int, lost: set[str], point: int) -> None:
    classifier = MODELS["plain"]
    classifier.use(point % len(classifier.front_))
    known: dict[str, Any] = {}
    failed: list[str] = []
    while (step := next_step(classifier, known, failed)).what == "ask":
        failed += sorted(lost & set(step.features))
        known |= {name: value(row, name) for name in step.features if name not in lost}

    filled = ROWS.loc[[row]].copy()
    for name, code in zip(classifier.costs_.names, classifier._encoding.codes, strict=True):
        if name in lost:
            filled[name] = np.nan if code.allows_missing else "none such" if name == "c" else code.fill
    rows, _ = classifier._encoding.encode_known(filled)
    _, found = classifier._encoding.encode_known(ROWS.loc[[row]])
    states = np.zeros((1, 5), dtype=np.int8) if found is None else found
    states[0, [name in lost for name in classifier.costs_.names]] = FAILED
    decided = decide_known(classifier.model_, rows, states)
    assert step.label == labels_of(decided.guesses, classifier.classes_, classifier.reject_label_)[0]
    seen = classifier.model_.stages[decided.stages[0] - 1].subset
    assert set(step.failed) == lost & {str(name) for name in np.array(classifier.costs_.names)[seen]}
    assert decided.labels[0] == UNDECIDED or not set(np.array(classifier.costs_.names)[seen]) <= lost


@pytest.mark.parametrize("name", "abcde")
@pytest.mark.parametrize("kind", MODELS)
def test_an_empty_text_is_a_gap(kind: str, name: str) -> None:
    classifier = MODELS[kind]
    classifier.use(len(classifier.front_) - 1)
    others = {other: value(1, other) for other in "abcde" if other != name}
    with_text, with_gap = (next_step(classifier, others | {name: gap}) for gap in ("", None))
    assert with_text == with_gap


@pytest.mark.parametrize(
    ("known", "failed", "sentence"),
    [
        ({"z": 1}, (), "every feature must be one of the model's, got 'z'"),
        ({}, ("aa",), "got 'aa'. Did you mean 'a'"),
        ({"a": 1.0}, ("a",), "a feature is known or failed, got both of 'a'"),
        ({"a": "much"}, (), "feature 'a' must hold numbers, as when fitting, got 'much'"),
        ({"a": float("inf")}, (), "feature 'a' must be finite"),
    ],
)
def test_what_cannot_be_used_is_refused(
    known: dict[str, Any], failed: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        next_step(MODELS["plain"], known, failed)
