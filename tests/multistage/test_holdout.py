import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.datasets.registry import shipped_table
from shortlist.errors import BadInputError
from shortlist.multistage import MultiStageClassifier, preset
from shortlist.multistage.holdout import split_three, stage_table
from shortlist.multistage.presets import PRESETS
from shortlist.results.measuring import PAPER, Measuring


def test_the_parts_are_half_quarter_quarter_of_each_class() -> None:
    y = np.array([0] * 40 + [1] * 20)
    parts = split_three(y, seed=3)

    assert sorted(np.concatenate(parts).tolist()) == list(range(60))
    assert [(y[part] == 0).sum() for part in parts] == [20, 10, 10]
    assert [(y[part] == 1).sum() for part in parts] == [10, 5, 5]
    assert [part.tolist() for part in split_three(y, seed=3)] == [part.tolist() for part in parts]


def test_the_test_rows_are_measured_by_the_papers_definitions() -> None:
    X, y = make_classification(400, 5, random_state=1)
    table = stage_table(
        X, y, MultiStageClassifier(feature_costs=[1, 2, 3, 4, 5], max_stages=3, random_state=0), seed=2,
        measuring=Measuring(PAPER),
    )  # fmt: skip
    test = split_three(y, seed=2)[2]
    report = table.classifier.decision_report(X[test])
    accepted = ~report["rejected"].to_numpy()

    assert table.n_rows == {"train": 300, "validation": 300, "test": 100, "folds": 5}
    assert table.test.coverage == accepted.mean()
    assert table.test.accuracy == pytest.approx((report["label"] == y[test])[accepted].mean())
    assert table.test.cost == pytest.approx(report["cost"].mean())
    assert table.test.aggregate == pytest.approx(
        table.test.coverage + table.test.accuracy + 1 - report["cost"].mean() / 15
    )
    assert table.single_stage.coverage == 1
    assert table.single_stage.cost == 15


def test_too_few_rows_of_a_class_are_refused() -> None:
    with pytest.raises(BadInputError, match="needs two classes, so 4 rows of each, got 3 of"):
        split_three(np.array([0] * 9 + [1] * 3))


def test_presets_follow_the_tables() -> None:
    assert {name: len(p.cost_classes) for name, p in PRESETS.items()} == {
        "heart": 12,
        "pima": 8,
        "credit": 14,
    }
    assert preset("credit").costs()["A8"] == 1000
    assert preset("credit").costs("10T")["A8"] == 30
    assert preset("pima").costs()["plasma_glucose"] == 300
    assert (preset("heart").costs()["anaemia"], preset("heart").costs("10T")["anaemia"]) == (100, 20)
    assert sorted(preset("synthetic30").costs().values()) == [
        cost for cost in (100, 200, 300, 400, 500) for _ in range(6)
    ]
    assert list(preset("synthetic30").cost_classes) == list(shipped_table("synthetic30").columns[:-1])
    with pytest.raises(BadInputError, match="preset must be one of"):
        preset("iris")
    with pytest.raises(BadInputError, match="scaling must be one of"):
        preset("heart").costs("T")
