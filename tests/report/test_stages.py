"""Pictures of stages show what every row goes through, the slow way."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist.errors import UnmetChoiceError
from shortlist.guarantees.guarantee import Guarantee
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import stage_table
from shortlist.report.page import Chart, Explorer, Heading, Parts, Table, Text
from shortlist.report.stages import CONFIDENCES, bought_when, staged_parts
from shortlist.results.measuring import PAPER, Measuring
from shortlist.results.objective import read_limit

LIMITS = [read_limit("coverage>=0.99"), read_limit("acquisition_cost<=1")]


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


def test_a_page_begins_with_the_steps_their_prices_and_thresholds_and_ends_them_with_a_person() -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    confidence = {"setosa": 0.7, "versicolor": 0.8, "virginica": 0.8}
    own = MultiStageClassifier(
        feature_costs=[1, 1, 5, 5], confidence=confidence, max_stages=2, random_state=0
    )
    own.fit(X, labels)
    heading, table, *_ = staged_parts(own)
    assert isinstance(heading, Heading)
    assert isinstance(table, Table)
    assert heading.text == "What to do"
    stages = own.model_.stages
    paid = [
        sum([1, 1, 5, 5][i] for stage in stages[: k + 1] for i in stage.bought) for k in range(len(stages))
    ]
    assert [row[2] for row in table.rows] == [*(f"{price}" for price in paid), ""]
    assert {row[3] for row in table.rows[:-1]} == {"setosa 0.7, versicolor 0.8, virginica 0.8"}
    assert table.rows[-1] == (f"{len(stages) + 1}. Ask a person", "", "", "what is left")
    for row, stage in zip(table.rows, stages, strict=False):
        assert all(own.costs_.names[i] in row[0] for i in stage.bought)
    own.set_params(answer_rejected=True)
    _, table, *_ = staged_parts(own)
    assert isinstance(table, Table)
    assert table.rows[-1][0].endswith("Take the most probable class")


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
    assert any(
        part.title == "Step after step, until one answers" for part in parts if isinstance(part, Table)
    )


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
    classifier = MultiStageClassifier(confidence=0.8, max_stages=2, random_state=0)
    staged = stage_table(X, y, classifier, measuring=Measuring(PAPER))
    for given in (staged, None):
        parts = [part for part in staged_parts(staged.classifier, given) if not isinstance(part, Text)]
        _, steps, first, *_ = parts
        assert isinstance(steps, Table)
        assert steps.columns[0] == "step", "what to do comes before any figure"
        assert isinstance(first, Table)
        assert first.title.startswith("Held out: 36 test rows")
        low, high = staged.test.coverage_interval
        assert first.rows[0][1] == f"{staged.test.coverage:.4g} ({low:.3g} to {high:.3g})"


@pytest.mark.parametrize(("threshold", "text"), [(0.93, "promised from 0.93"), (0.2, "asked for: 0.8")])
def test_the_threshold_that_decides_is_marked_in_the_chart(
    fitted: MultiStageClassifier, threshold: float, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitted, "guarantee_", Guarantee(0.9, 0.95, threshold, 100, 60, 58))
    (chart,) = [part for part in staged_parts(fitted) if isinstance(part, Chart) and "marks" in part.data]
    assert [mark["text"] for mark in chart.data["marks"]] == [text]


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"answer_accuracy": 0.999}, "99.9 % right answers with confidence 95 %"), ({"limits": LIMITS}, "No point")],
)  # fmt: skip
def test_where_no_point_predicts_the_page_says_why_and_what_to_do(asked: dict[str, Any], why: str) -> None:
    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=1)
    stages = MultiStageClassifier(confidence=0.8, max_stages=2, random_state=0, **asked)
    with pytest.raises(UnmetChoiceError):
        stages.fit(X, y)
    heading, text, *_ = staged_parts(stages)
    assert isinstance(heading, Heading)
    assert isinstance(text, Text)
    assert heading.text == "What to do"
    assert text.text.startswith(why)
