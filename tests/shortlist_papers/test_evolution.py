"""The paper on evolved ensembles, at its smallest."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles.evolution.settings import CRITERIA
from shortlist.ensembles.evolution.training_rows import distinct_classifiers
from shortlist_papers.evolution import (
    EVOLUTION,
    NAMES,
    NOISE,
    RANKED,
    EvolutionSize,
    boosted_weights,
    bred_weight,
    eel_table,
    evolution_tables,
    fewest_stumps,
    mean_disagreement,
    noisy_classes,
    plan_evolution,
    size_of,
    tied_steps,
)
from shortlist_papers.paper import Extent, reproduce
from shortlist_papers.pruning_comparison import Fold
from tests.ensembles.plurality_oracles import Pool, class_pools
from tests.shortlist_papers.made_sets import write_made_set

SMALLEST = EvolutionSize(("bld", "bos", "spa"), 1, 1, 20, 3, 5)


@pytest.mark.slow
def test_the_smallest_reproduction_measures_every_method(tmp_path: Path) -> None:
    write_made_set(tmp_path, "bupa-liver-disorders")
    write_made_set(tmp_path, "boston-housing")
    plan = plan_evolution(tmp_path, SMALLEST)
    methods = list(NAMES)
    assert [unit.key for unit in plan.units] == [
        f"{name}/0/0/{method}" for name in ("bld", "bos") for method in methods
    ]
    assert plan.missing == ("spambase is missing: shortlist datasets fetch spambase.",)
    found = reproduce(EVOLUTION, plan)
    (noisy,) = found.rows.query("method == 'offline-noise' and dataset == 'bld'")["noise"]
    assert noisy == NOISE
    measured = found.rows[found.rows["method"].isin(["offline", "single"])]
    assert measured["disagreement"].between(0, 1).all()
    boosted = found.rows[found.rows["method"].isin(["adaboost-stumps", "adaboost-noise"])]
    assert (boosted["size"] <= boosted["fitted"]).all()
    noisy_rows = found.rows[found.rows["noise"] > 0]
    assert (noisy_rows["largest_weight"] >= 1).all()
    claims, errors, ranks = found.tables
    assert [claims.name, errors.name, ranks.name] == ["claims", *EVOLUTION.contents]
    assert [(row["set"], row["method"]) for row in errors.rows] == [
        (name, NAMES[method]) for name in ("bld", "bos") for method in methods
    ]
    assert all(0 <= row["error %"] <= 100 for row in errors.rows)
    assert sum(row["mean rank"] for row in ranks.rows) == pytest.approx(15, abs=0.05)


def test_folds_that_lack_a_method_are_not_ranked() -> None:
    rows = pd.DataFrame(
        [
            {
                "dataset": name, "repeat": 0, "fold": fold, "method": method, "accuracy": 0.7 + 0.1 * (place == fold),
                "balanced_accuracy": 0.7, "size": 1.0, "seconds": 1.0,
            }
            for name in ("bld", "bos")
            for fold in (0, 1)
            for place, method in enumerate(RANKED)
            if (name, fold, method) != ("bos", 1, "online")
        ]
    )  # fmt: skip
    errors, ranks = evolution_tables(rows)
    assert [row["folds"] for row in errors.rows] == [2, 2, 2, 2, 2, 2, 1, 2, 2, 2]
    ranked = {row["method"]: row["mean rank"] for row in ranks.rows}
    assert ranked[NAMES["offline"]] == 1.25
    assert ranked[NAMES["online"]] == 2.5
    assert [table.name for table in evolution_tables(rows.query("dataset == 'bld'"))] == ["errors"]


def test_one_study_serves_every_extent_of_a_scale(tmp_path: Path) -> None:
    write_made_set(tmp_path, "bupa-liver-disorders")
    few, many = (
        plan_evolution(tmp_path, size_of(Extent("small", sets=("bld",), folds=folds, seeds=seeds)))
        for folds, seeds in ((1, 1), (2, 3))
    )
    assert few.settings == many.settings
    assert {unit.key for unit in few.units} < {unit.key for unit in many.units}
    assert len(many.units) == 2 * 3 * len(NAMES)


def _fold(n: int = 50) -> Fold:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 3
    return Fold(X, y, 0, 0, np.arange(40), np.arange(40, n), 1, 7)


def test_noise_gives_a_share_of_the_training_rows_another_class_and_leaves_test_rows() -> None:
    fold = _fold()
    changed = noisy_classes(fold) != fold.y
    assert changed.sum() == round(NOISE * 40)
    assert not changed[fold.test].any()
    assert (noisy_classes(fold) == noisy_classes(fold)).all()
    assert fold.y.tolist() == _fold().y.tolist()


def test_the_fewest_stumps_are_the_first_prefix_of_least_training_error() -> None:
    fold = _fold()
    boosted = AdaBoostClassifier(n_estimators=20, random_state=0).fit(fold.X[fold.train], fold.y[fold.train])
    errors = [
        float((answer != fold.y[fold.train]).mean()) for answer in boosted.staged_predict(fold.X[fold.train])
    ]
    size, error = fewest_stumps(boosted, fold)
    assert error == min(errors) == errors[size - 1]
    assert all(one > error for one in errors[: size - 1])


class RecordingStump(DecisionTreeClassifier):
    """Stump that keeps the weights of the rows that it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RecordingStump":
        self.weights_ = np.array(sample_weight)
        super().fit(X, y, sample_weight=sample_weight)
        return self


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_heaviest_row_of_boosting_is_the_one_that_its_stumps_were_given(n_classes: int) -> None:
    fold = _fold()
    fold.y[:] %= n_classes
    boosted = AdaBoostClassifier(RecordingStump(max_depth=1), n_estimators=12, random_state=0)
    boosted.fit(fold.X[fold.train], fold.y[fold.train])
    given = [stump.weights_.max() / stump.weights_.mean() for stump in boosted.estimators_]
    weights = boosted_weights(boosted, fold)
    assert len(weights) == len(given) > 3
    assert weights[:-1] == pytest.approx(given[1:]), "the weights after a stump are those of the next one"


def test_a_row_weighs_the_share_of_the_population_that_gets_it_wrong() -> None:
    codes = np.array([[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=np.uint8)
    assert bred_weight(codes, np.zeros(3, dtype=int)) == pytest.approx(1 / ((1 + 0.25) / 3))
    assert bred_weight(codes[2:], np.zeros(1, dtype=int)) == 1.0


@given(pool=class_pools(max_classifiers=6, all_vote=True))
def test_disagreement_is_the_mean_over_pairs(pool: Pool) -> None:
    samples, k, _ = pool
    codes = np.array([votes for votes, _ in samples], dtype=np.uint8)
    if k < 2:
        return
    pairs = [(codes[:, a] != codes[:, b]).mean() for a in range(k) for b in range(a)]
    assert mean_disagreement(codes) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("criterion", CRITERIA)
@given(pool=class_pools(max_classifiers=6, all_vote=True))
def test_ties_are_those_of_figure_1(criterion: str, pool: Pool) -> None:
    samples, k, n_classes = pool
    codes, labels = np.array([votes for votes, _ in samples]), np.array([label for _, label in samples])
    left = distinct_classifiers(codes).tolist()
    alone = [int((codes[:, one] == labels).sum()) for one in range(k)]
    members = [alone.index(max(alone))]
    left.remove(members[0])
    n_tied, n_steps = 0, max(1, len(left) - 1)
    while len(left) > 1:
        values = {}
        for one in left:
            margins = sorted(_margins(codes[:, [*members, one]], labels, n_classes))
            values[one] = margins[:1] if criterion == "minimum" else margins
        best = [one for one in left if values[one] == max(values.values())]
        n_tied += len(best) > 1
        members.append(best[0])
        left.remove(best[0])
    assert tied_steps(codes, labels, n_classes, criterion) == n_tied / n_steps


def _margins(codes: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int) -> list[int]:
    found = []
    for row, label in zip(codes.tolist(), labels.tolist(), strict=True):
        others = [row.count(other) for other in range(n_classes) if other != label]
        found.append(row.count(label) - max(others))
    return found


def test_sets_are_read_as_the_paper_says() -> None:
    prices = pd.DataFrame({"rooms": range(9), "target": np.linspace(5, 50, 9)})
    X, y = eel_table("bos", prices)
    assert np.bincount(y).tolist() == [3, 3, 3]
    assert list(X) == ["rooms"]
    gaps = pd.DataFrame({"bare_nuclei": [1.0, None, 3.0], "target": [0, 1, 1]})
    assert eel_table("bcw", gaps)[1].tolist() == [0, 1]
    assert eel_table("pid", gaps)[1].tolist() == [0, 1, 1]
