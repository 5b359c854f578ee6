"""What is promised of stages: counts against a plain loop, and the same rows answered by predictions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from shortlist import BadInputError, MultiStageClassifier
from shortlist.guarantees.thresholds import possible_thresholds
from shortlist.multistage.predict.promises import NOT_CONFIDENT, StageAnswers, count_staged

X, Y = make_classification(900, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)


@drawn(data=st.data())
def test_counts_equal_asking_one_stage_after_another(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 12))
    score = st.sampled_from([NOT_CONFIDENT, 0.6, 0.7, 0.8, 0.9])
    stages = [
        StageAnswers(
            np.array(data.draw(st.lists(score, min_size=n_rows, max_size=n_rows))),
            np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    best = np.max([stage.scores for stage in stages], axis=0)
    thresholds = possible_thresholds(best[best >= 0])
    counts = count_staged(stages, thresholds)
    for place, threshold in enumerate(thresholds.tolist()):
        answered = right = 0
        for row in range(n_rows):
            for stage in stages:
                if stage.scores[row] >= threshold:
                    answered += 1
                    right += int(stage.right[row])
                    break
        assert (counts.answered[place], counts.right[place]) == (answered, right)


@pytest.mark.parametrize("method", ["enumerate", "emsco"])
def test_the_rows_that_are_promised_about_are_those_that_predictions_answer(method: str) -> None:
    calibration = (X[600:], Y[600:])
    stages = MultiStageClassifier(
        method=method, answer_accuracy=0.8, confidence=0.6, max_stages=2, random_state=0
    ).fit(X[:600], Y[:600], calibration=calibration)
    for point in range(len(stages.front_)):
        found = stages.use(point).guarantee_
        assert found is not None
        report = stages.decision_report(calibration[0])
        answered = ~report["rejected"].to_numpy()
        assert found.n_rows == 300
        assert found.n_answered == np.count_nonzero(answered)
        assert found.n_right == np.count_nonzero(answered & (report["label"].to_numpy() == calibration[1]))
        assert bool(stages.notes_) == (not found.promised)
    assert any(guarantee.promised for guarantee in stages._guarantees)


def test_several_classes_and_classes_that_nothing_was_fitted_on() -> None:
    codes = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
    kinds = np.array(["low", "mid", "high"])[codes]
    strange = kinds.copy()
    strange[600:650] = "other"
    options: dict[str, Any] = {"answer_accuracy": 0.7, "confidence": 0.5, "max_stages": 2, "random_state": 0}
    plain = MultiStageClassifier(**options).fit(X[:600], kinds[:600], calibration=(X[600:], kinds[600:]))
    other = MultiStageClassifier(**options).fit(X[:600], kinds[:600], calibration=(X[600:], strange[600:]))
    assert plain.guarantee_ is not None
    assert other.guarantee_ is not None
    assert plain.guarantee_.promised
    assert other.guarantee_.n_right <= plain.guarantee_.n_right


def test_without_calibration_rows_a_share_of_the_rows_calibrates() -> None:
    stages = MultiStageClassifier(answer_accuracy=0.8, max_stages=1, random_state=0).fit(X, Y)
    assert stages.guarantee_ is not None
    assert stages.guarantee_.n_rows == round(0.25 * len(Y))
    assert MultiStageClassifier(max_stages=1, random_state=0).fit(X, Y).guarantee_ is None


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"answer_accuracy": 2}, {}, "answer_accuracy must be above 0 and below 1, got 2"),
        ({"answer_accuracy": 0.9, "answer_rejected": True}, {}, "answer_rejected must be False"),
        ({"answer_accuracy": 0.9, "calibration_share": 0}, {}, "calibration_share must be in"),
        ({}, {"calibration": (X, Y)}, "calibration needs answer_accuracy"),
        ({"answer_accuracy": 0.9}, {"calibration": (X, Y[:3])}, "calibration must have one label per row"),
        ({"answer_accuracy": 0.9, "calibration_share": 0.0001}, {}, "got no row among them"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    options: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        MultiStageClassifier(**options, max_stages=1, random_state=0).fit(X, Y, **given)
