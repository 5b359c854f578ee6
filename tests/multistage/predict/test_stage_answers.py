"""Answers of stages: counts and outcomes against plain loops, and against predictions."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, MultiStageClassifier
from shortlist.cli.text.differences import (
    difference_facts,
    difference_rows,
    print_differences,
    side_by_side,
)
from shortlist.errors import LowCoverageWarning, UnmetChoiceError
from shortlist.guarantees.promise import possible_thresholds
from shortlist.multistage.holdout import measure_on
from shortlist.multistage.predict.point_choice import choose_point, low_coverage
from shortlist.multistage.predict.stage_answers import (
    NOT_CONFIDENT,
    Figures,
    StageAnswers,
    count_staged,
    outcomes,
)
from shortlist.results.front import without_promises
from shortlist.results.front_differences import Fate, choice_changes, front_differences
from shortlist.results.objective import read_limit
from shortlist.results.proof import proof_text

X, Y = make_classification(500, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)


@drawn(data=st.data())
def test_counts_and_outcomes_equal_asking_one_stage_after_another(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 12))
    score = st.sampled_from([NOT_CONFIDENT, 0.6, 0.7, 0.8, 0.9])
    stages = [
        StageAnswers(
            np.array(data.draw(st.lists(score, min_size=n_rows, max_size=n_rows))),
            np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))),
            np.ones(n_rows, dtype=bool),
            np.array(data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    best = np.max([stage.scores for stage in stages], axis=0)
    thresholds = possible_thresholds(best[best >= 0])
    counts = count_staged(stages, thresholds)
    for place, threshold in enumerate(thresholds.tolist()):
        answered = right = 0
        said = [-1] * n_rows
        for row in range(n_rows):
            for stage in stages:
                if stage.scores[row] >= threshold:
                    answered += 1
                    right += int(stage.right[row])
                    said[row] = int(stage.codes[row])
                    break
        assert (counts.answered[place], counts.right[place]) == (answered, right)
        found = outcomes(stages, threshold)
        assert found.codes.tolist() == said
        for row, reached in enumerate(found.reached):
            before = [stage.scores[row] >= threshold for stage in stages[: reached - 1]]
            assert not any(before)
            assert (found.codes[row] >= 0) == (stages[reached - 1].scores[row] >= threshold)
            assert found.codes[row] >= 0 or reached == len(stages)


@pytest.mark.parametrize("kind", ["logistic", "tree", "gaps", "waits"])
@pytest.mark.parametrize("accuracy", [None, 0.75])
def test_every_point_is_measured_as_if_it_were_used(kind: str, accuracy: float | None) -> None:
    table = pd.DataFrame(X, columns=list("abcd"))
    new = table.iloc[350:].copy()
    rng = np.random.default_rng(0)
    if kind == "gaps":
        table = table.mask(rng.random(table.shape) < 0.1)
        new = table.iloc[350:].copy()
    if kind == "waits":
        new = new.mask(rng.random(new.shape) < 0.2)
    stages = MultiStageClassifier(
        feature_costs=[1, 2, 3, 5], confidence=0.7, max_stages=2, answer_accuracy=accuracy, random_state=0,
        subclassifier=DecisionTreeClassifier(max_depth=2, random_state=0) if kind == "tree" else None,
    )  # fmt: skip
    held: dict[str, Any] = {} if accuracy is None else {"calibration": (table.iloc[200:350], Y[200:350])}
    stages.fit(table.iloc[:120], Y[:120], validation=(table.iloc[120:200], Y[120:200]), **held)
    measured = stages.measure_points(new, Y[350:])
    assert len(measured) == len(stages.front_)
    compared = 0
    for point, found in enumerate(measured):
        stages.use(point)
        if stages.guarantee_ is None or stages.guarantee_.promised:
            slow = measure_on(stages, new, Y[350:])
            assert found == Figures(*(getattr(slow, name) for name in Figures.__dataclass_fields__))
            compared += 1
    assert compared


OBJECTIVES = ("coverage", "conclusive_accuracy", "acquisition_cost")
PROMISED_X, PROMISED_Y = make_classification(
    900, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1
)


@pytest.mark.parametrize("method", ["enumerate", "emsco"])
def test_the_rows_that_are_promised_about_are_those_that_predictions_answer(method: str) -> None:
    calibration = (PROMISED_X[600:], PROMISED_Y[600:])
    stages = MultiStageClassifier(
        method=method,
        answer_accuracy=0.8,
        confidence=0.6,
        max_stages=2,
        random_state=0,
        objectives=OBJECTIVES,
    ).fit(
        PROMISED_X[:400],
        PROMISED_Y[:400],
        validation=(PROMISED_X[400:600], PROMISED_Y[400:600]),
        calibration=calibration,
    )
    for point in range(len(stages.front_)):
        found = stages.use(point).guarantee_
        assert found is not None
        report = stages.decision_report(calibration[0])
        answered = ~report["rejected"].to_numpy()
        assert found.n_rows == 300
        assert found.n_answered == np.count_nonzero(answered)
        assert found.n_right == np.count_nonzero(answered & (report["label"].to_numpy() == calibration[1]))
        assert any("Nothing can be promised" in note for note in stages.notes_) == (not found.promised)
        assert found.promised == stages.front_.extras["promised"][point]
        if found.promised:
            chose = stages.decision_report(PROMISED_X[400:600])
            own = ~chose["rejected"].to_numpy()
            right = own & (chose["label"].to_numpy() == PROMISED_Y[400:600])
            told = own.mean(), right.sum() / own.sum(), chose["cost"].mean()
            assert stages.front_.values[point] == pytest.approx(told)
            assert stages.coverage_[point] == own.mean()
        else:
            assert not answered.any()
    assert stages.front_.to_frame()["promised"].tolist() == stages.front_.extras["promised"]
    assert any(stages.front_.extras["promised"])


def _fitted(accuracy: float, **options: Any) -> MultiStageClassifier:
    stages = MultiStageClassifier(
        feature_costs=[1, 3, 9, 27], answer_accuracy=accuracy, confidence=0.6, max_stages=2, random_state=0,
        **options,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCoverageWarning)
        return stages.fit(
            PROMISED_X[:300],
            PROMISED_Y[:300],
            validation=(PROMISED_X[300:500], PROMISED_Y[300:500]),
            calibration=(PROMISED_X[500:], PROMISED_Y[500:]),
        )


@pytest.mark.parametrize("pick", ["one-se", "norm", "ideal", "knee", "weights"])
def test_the_point_that_is_picked_is_promised(pick: str) -> None:
    """The defect: a pick that answered nobody, where other points held the promise."""
    stages = _fitted(0.86, pick=pick)
    promised = stages.front_.extras["promised"]
    assert not all(promised)
    assert stages.guarantee_ is not None
    assert stages.guarantee_.promised
    assert promised[stages.point_]
    kept = [str(number) for number, one in enumerate(promised) if one]
    with pytest.raises(UnmetChoiceError, match="nothing is promised about point") as refused:
        choose_point(stages.front_, promised.index(False))
    assert all(number in str(refused.value).split("promised: point")[1] for number in kept[:3])
    n_left = len(promised) - len(kept)
    assert proof_text(stages.front_).endswith(f"; {len(kept)} of them keep it, {n_left} answer nothing")


def test_points_of_the_front_are_the_best_with_the_promise() -> None:
    """No point is as bad in all, and promised no more, as another one; what is said of it is true."""
    stages = _fitted(0.86)
    front = stages.front_
    signs = np.array([objective.sign for objective in front.objectives])
    costs = np.column_stack([front.values * signs, ~np.array(front.extras["promised"])])
    for own in costs:
        assert sum((other <= own).all() for other in costs) == 1
    before = MultiStageClassifier(
        feature_costs=[1, 3, 9, 27], confidence=0.6, max_stages=2, random_state=0
    ).fit(PROMISED_X[:300], PROMISED_Y[:300], validation=(PROMISED_X[300:500], PROMISED_Y[300:500]))
    assert {tuple(one) for one in front.decisions.tolist()} <= {
        tuple(one) for one in before.front_.decisions.tolist()
    }
    assert str(before.front_.proof.kind) == "complete"
    assert str(front.proof.kind) == "approximate"
    assert front.extras["without_promise"] == {"n_points": len(before.front_), "proof": "complete"}


def test_from_which_probability_on_points_answer_is_no_number_of_votes() -> None:
    """The defect: ``votes above`` between points of stages, and new calibration rows made another choice."""
    front = _fitted(0.86).front_
    assert len(set(front.extras["answer_from"])) > 1
    for point in range(1, len(front)):
        assert set(choice_changes(front, 0, point)) <= set(front.candidates)
    moved = [one / 2 for one in front.extras["answer_from"]]
    later = replace(front, extras={**front.extras, "answer_from": moved})
    assert {one.fate for one in front_differences(front, later)} == {Fate.SAME}


def test_a_difference_of_fronts_says_what_is_promised_before_and_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    front = _fitted(0.86).front_
    promised = list(front.extras["promised"])
    later = replace(
        front,
        extras={**front.extras, "promised": [not one for one in promised]},
    )
    fates = front_differences(front, later)

    told = difference_facts(front, later, fates)["points"]
    assert [one["promised_before"] for one in told] == promised
    assert [one["promised_now"] for one in told] == [not one for one in promised]
    print_differences(front, later, fates)
    assert "no, was yes" in capsys.readouterr().out
    header, rows = difference_rows(front, later, fates)
    assert [row[header.index("before: promised")] == "yes" for row in rows] == promised
    assert side_by_side(front, 0, 1)["promised"] == promised[:2]


def test_where_nothing_can_be_promised_fitting_says_what_could_be_and_keeps_the_front() -> None:
    stages = MultiStageClassifier(answer_accuracy=0.99, confidence=0.6, max_stages=1, random_state=0)
    with pytest.raises(UnmetChoiceError, match=r"\d+ % can be promised, for answers to \d+ of 225"):
        stages.fit(PROMISED_X, PROMISED_Y)
    assert not any(stages.front_.extras["promised"])
    assert proof_text(stages.front_).endswith("; none of them keeps it")
    for choice in ({"pick": 0}, {"limits": [read_limit("coverage>1")]}):
        with pytest.raises(BadInputError, match=r"\d+ % can be promised"):
            choose_point(stages.front_, **{"pick": "one-se"} | choice)
    instead = stages.front_.extras["promised_instead"]
    assert 0.5 <= instead["accuracy"] < 0.99
    with pytest.raises(UnmetChoiceError, match="no point of the front predicts yet"):
        stages.predict(PROMISED_X)
    anyway = stages.use(choose_point(without_promises(stages.front_), "one-se"))
    assert (anyway.predict(PROMISED_X) == anyway.reject_label_).all()
    again = MultiStageClassifier(
        answer_accuracy=instead["accuracy"], confidence=0.6, max_stages=1, random_state=0
    ).fit(PROMISED_X, PROMISED_Y)
    assert max(one["n_right"] for one in again.front_.extras["promises"]) == instead["n_right"]


def test_several_classes_and_classes_that_nothing_was_fitted_on() -> None:
    codes = np.digitize(PROMISED_X[:, 0], np.quantile(PROMISED_X[:, 0], [0.3, 0.7]))
    kinds = np.array(["low", "mid", "high"])[codes]
    strange = kinds.copy()
    strange[600:650] = "other"
    options: dict[str, Any] = {"answer_accuracy": 0.7, "confidence": 0.5, "max_stages": 2, "random_state": 0}
    plain = MultiStageClassifier(**options).fit(
        PROMISED_X[:600], kinds[:600], calibration=(PROMISED_X[600:], kinds[600:])
    )
    other = MultiStageClassifier(**options).fit(
        PROMISED_X[:600], kinds[:600], calibration=(PROMISED_X[600:], strange[600:])
    )
    assert plain.guarantee_ is not None
    assert other.guarantee_ is not None
    assert plain.guarantee_.promised
    assert other.guarantee_.n_right <= plain.guarantee_.n_right


def test_without_calibration_rows_a_share_of_the_rows_calibrates() -> None:
    stages = MultiStageClassifier(answer_accuracy=0.8, max_stages=1, random_state=0).fit(
        PROMISED_X, PROMISED_Y
    )
    assert stages.guarantee_ is not None
    assert stages.guarantee_.n_rows == round(0.25 * len(PROMISED_Y))
    assert MultiStageClassifier(max_stages=1, random_state=0).fit(PROMISED_X, PROMISED_Y).guarantee_ is None


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"answer_accuracy": 2}, {}, "answer_accuracy must be above 0 and below 1, got 2"),
        ({"answer_accuracy": 0.9, "answer_rejected": True}, {}, "answer_rejected must be False"),
        ({"answer_accuracy": 0.9, "calibration_share": 0}, {}, "calibration_share must be in"),
        ({}, {"calibration": (PROMISED_X, PROMISED_Y)}, "calibration needs `answer_accuracy`"),
        ({"answer_accuracy": 0.9}, {"calibration": (PROMISED_X, PROMISED_Y[:3])}, "calibration must have one label per row"),
        ({"answer_accuracy": 0.9, "calibration_share": 0.0001}, {}, "got no row"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(
    options: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        MultiStageClassifier(**options, max_stages=1, random_state=0).fit(PROMISED_X, PROMISED_Y, **given)


def test_advice_about_few_answers_never_breaks_a_promise() -> None:
    assert "coverage>=0.5" in low_coverage(0.4)
    assert "coverage>=0.5" not in low_coverage(0.4, promised=True)
    assert "promise a smaller accuracy, or bring more rows" in low_coverage(0.4, promised=True)
