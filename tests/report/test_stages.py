"""Pictures of stages show what every row goes through, the slow way."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import stage_table
from shortlist.report.parts import Chart, Explorer, Parts, Table, Text
from shortlist.report.stages import CONFIDENCES, bought_when, staged_parts


def charts(parts: Parts) -> dict[str, Any]:
    return {part.title: part.data for part in parts if isinstance(part, Chart)}


@pytest.fixture(scope="module")
def fitted() -> MultiStageClassifier:
    X, y = load_iris(return_X_y=True)
    return MultiStageClassifier(feature_costs=[1, 1, 5, 5], confidence=0.8, max_stages=3, random_state=0).fit(
        X[::2], y[::2], validation=(X[1::2], y[1::2])
    )


def test_the_path_of_the_rows_is_that_of_the_report_of_decisions(fitted: MultiStageClassifier) -> None:
    X, y = load_iris(return_X_y=True)
    report = fitted.decision_report(X[1::2])
    answers = fitted.predict(X[1::2])
    parts = staged_parts(fitted)
    series = {
        one["name"]: one["values"] for one in charts(parts)["The path of rows through the stages"]["series"]
    }
    for number in range(1, len(fitted.model_.stages) + 1):
        here = np.asarray(report["stage"] == number)
        right = int((here & (answers == y[1::2])).sum())
        assert series["right"][number - 1] == right
        assert series["enter"][number - 1] == int((report["stage"] >= number).sum())
    shares = charts(parts)["Cost per stage"]["series"][1]["values"]
    assert sum(shares) == pytest.approx(report["cost"].mean())


def test_the_confidence_asked_for_gives_the_coverage_of_the_point(fitted: MultiStageClassifier) -> None:
    curve = charts(staged_parts(fitted))["Coverage and accuracy against the confidence"]["series"][0][
        "points"
    ]
    own = dict(map(tuple, curve))[0.8]
    assert 0.8 in CONFIDENCES
    assert own == pytest.approx(fitted.coverage_[fitted.point_])


def test_what_is_bought_when_adds_up_to_all_points(fitted: MultiStageClassifier) -> None:
    chart = bought_when(fitted.front_)
    assert chart is not None
    np.testing.assert_allclose(np.sum(chart.data["values"], axis=1), 100, atol=0.3)


def test_a_saved_model_says_what_is_missing(fitted: MultiStageClassifier) -> None:
    saved = MultiStageClassifier.__new__(MultiStageClassifier)
    saved.__setstate__(fitted.__getstate__())
    parts = staged_parts(saved)
    assert "The path of rows through the stages" not in charts(parts)
    assert any("No rows were held out" in part.text for part in parts if isinstance(part, Text))
    assert any(part.title == "What each stage buys" for part in parts if isinstance(part, Table))


def test_what_the_rows_that_chose_do_is_told_with_the_promise() -> None:
    """One page says of the same rows how many are answered, and it is one number."""
    X, y = make_classification(900, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)
    stages = MultiStageClassifier(
        feature_costs=[1, 3, 9, 27], confidence=0.6, max_stages=2, answer_accuracy=0.8, random_state=0
    ).fit(X[:300], y[:300], validation=(X[300:500], y[300:500]), calibration=(X[500:], y[500:]))
    assert stages.guarantee_ is not None
    assert stages.guarantee_.promised
    parts = staged_parts(stages)
    coverage, accuracy, cost = stages.front_.values[stages.point_]
    assert coverage < 1
    path = next(part for part in parts if isinstance(part, Chart) and part.title.startswith("The path"))
    assert f"{round(200 * (1 - coverage))} are rejected after the last" in path.text
    series = {one["name"]: one["values"] for one in path.data["series"]}
    assert sum(series["right"]) / (200 * coverage) == pytest.approx(accuracy)
    assert sum(charts(parts)["Cost per stage"]["series"][1]["values"]) == pytest.approx(cost)
    curve = charts(parts)["Coverage and accuracy against the confidence"]["series"][0]["points"]
    assert dict(map(tuple, curve))[0.6] == pytest.approx(coverage)
    explorer = next(part for part in parts if isinstance(part, Explorer)).data
    assert explorer["objectives"][-1]["name"] == "promised (1: yes)"
    assert explorer["values"][-1] == [int(one) for one in stages.front_.extras["promised"]]


def test_held_out_figures_come_first_and_those_of_the_rows_that_chose_are_called_so() -> None:
    X, y = load_iris(return_X_y=True)
    staged = stage_table(X, y, MultiStageClassifier(confidence=0.8, max_stages=2, random_state=0))
    for given in (staged, None):
        first = staged_parts(staged.classifier, given)[0]
        assert isinstance(first, Table)
        assert first.title.startswith("Held out: 36 test rows")
        low, high = staged.test.coverage_interval
        assert first.rows[0][1] == f"{staged.test.coverage:.4g} ({low:.3g} to {high:.3g})"
