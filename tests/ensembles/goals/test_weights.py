"""Weights of decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.weights import (
    PRUNING_OBJECTIVES,
    best_threshold,
    class_weights,
    decision_table,
    for_classes,
    named_weights,
)
from shortlist.ensembles.votes.hard_votes import class_votes, confusion, merge_rows
from shortlist.errors import BadInputError
from tests.ensembles import oracles, rule_oracles, strategies
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools, members_of


def _rates(tp: int, fn: int, tn: int, fp: int) -> dict[str, float]:
    n1, n0 = tp + fn, tn + fp
    theta = n1 / (n1 + n0)
    return {
        "accuracy": (tp + tn) / (n1 + n0),
        "balanced-accuracy": (tp / n1 + tn / n0) / 2,
        "theta-weighted": (1 - theta) * tp + theta * tn,
        "recall": tp / n1,
        "specificity": tn / n0,
    }


@given(rows=strategies.labelled_votes())
def test_named_objectives_equal_their_formulas(rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    mask = np.ones(votes.n_classifiers, dtype=bool)
    expected = _rates(*oracles.confusion(rows, tuple(range(votes.n_classifiers)), 0))

    assert set(expected) == set(PRUNING_OBJECTIVES)
    for name, value in expected.items():
        weights = named_weights(name, votes)
        assert weights.value(weights.total(confusion(votes, mask, 0))) == pytest.approx(value)


@given(rows=strategies.labelled_votes(max_classifiers=4))
def test_theta_weights_and_balanced_accuracy_order_all_selections_alike(rows: oracles.Rows) -> None:
    """Theorem 1 of the paper."""
    votes = merge_rows(*oracles.as_arrays(rows))
    theta, balanced = named_weights("theta-weighted", votes), named_weights("balanced-accuracy", votes)
    sums = []
    for members in oracles.subsets(votes.n_classifiers):
        mask = np.isin(np.arange(votes.n_classifiers), members)
        for threshold in range(len(members) + 1):
            counts = confusion(votes, mask, threshold)
            sums.append(
                (theta.total(counts), counts.balanced_accuracy, balanced.value(balanced.total(counts)))
            )
    for total, accuracy, value in sums:
        assert value == pytest.approx(accuracy)
        for other_total, other_accuracy, _ in sums:
            assert (total > other_total) == (accuracy > other_accuracy + 1e-12)


@given(rows=strategies.labelled_votes(), numbers=strategies.weight_sets)
def test_best_threshold_equals_trying_all(rows: oracles.Rows, numbers: tuple[int, int, int, int]) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)
    members = tuple(range(votes.n_classifiers))

    threshold, total = best_threshold(votes, weights, np.ones(votes.n_classifiers, dtype=bool))

    sums = [oracles.weighted_sum(rows, members, level, numbers) for level in range(len(members) + 1)]
    assert total == max(sums) == sums[threshold]
    ties = [level for level, value in enumerate(sums) if value == max(sums)]
    assert threshold == min(ties, key=lambda level: (abs(2 * level - len(members)), level))


def test_explicit_weights_are_exact_decimals() -> None:
    votes = merge_rows([[0], [1]], [0, 1])
    weights = named_weights({"tp": 0.1, "fp": -0.25}, votes)
    assert (weights.tp, weights.fn, weights.tn, weights.fp, weights.denominator) == (2, 0, 0, -5, 20)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        pytest.param("acuracy", "objective must be accuracy, .*Did you mean 'accuracy'", id="unknown name"),
        pytest.param({"tpr": 1}, "weights must be named", id="unknown weight"),
        pytest.param({}, "weights must be named", id="no weight"),
        pytest.param({"tp": float("nan")}, "finite number", id="NaN"),
        pytest.param({"tp": 1e300}, "fewer digits", id="too large to stay exact"),
        pytest.param({"tp": "1"}, "finite number", id="text"),
    ],
)
def test_bad_objectives_are_refused(objective: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        named_weights(objective, merge_rows([[0], [1]], [0, 1]))  # type: ignore[arg-type]  # bad on purpose


@given(rows=strategies.labelled_votes(max_classifiers=4), numbers=strategies.weight_sets)
def test_the_oracle_that_goes_fast_equals_the_one_that_counts(
    rows: oracles.Rows, numbers: tuple[int, int, int, int]
) -> None:
    n_classifiers = len(rows[0][0])
    sums = [
        oracles.weighted_sum(rows, members, threshold, numbers)
        for members in oracles.subsets(n_classifiers)
        for threshold in range(len(members) + 1)
    ]
    assert oracles.best_value(rows, n_classifiers, numbers) == max(sums)


@given(pool=class_pools(), data=st.data())
def test_decisions_are_counted_by_class(pool: Pool, data: st.DataObject) -> None:
    samples, k, n_classes = pool
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)))

    table = decision_table(as_votes(pool, merged=True), mask)

    expected = np.zeros((n_classes, n_classes), dtype=int)
    decided = rule_oracles.decisions(samples, list(members_of(mask)), n_classes)
    for said, (_, label) in zip(decided, samples, strict=True):
        if said >= 0:
            expected[label, said] += 1
    assert table.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        pytest.param({0: -1, 1: 2}, "at least 0, one of them above 0, got 0=-1, 1=2", id="negative"),
        pytest.param({0: 0}, "at least 0, one of them above 0, got 0=0", id="nothing is worth anything"),
        pytest.param({}, "got none", id="none"),
        pytest.param({0: float("nan")}, "must be a finite number", id="no number"),
        pytest.param({0: 1e-9, 1: 1e9}, "fewer digits", id="too many digits"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: dict[int, float], said: str) -> None:
    votes = class_votes([[0], [1], [2]], [0, 1, 2])
    with pytest.raises(BadInputError, match=said):
        class_weights(weights, votes)


def test_weights_are_named_after_classes() -> None:
    three = np.array(["a", "b", "tp"])
    assert for_classes({"tp": 2, "a": 1}, three) == {2: 2, 0: 1}
    with pytest.raises(BadInputError, match="must be named a, b or tp, got 'fp'"):
        for_classes({"fp": 1}, three)
    assert for_classes({0: 1, "1": 3}, np.array([0, 1]), 0) == {"tp": 1, "tn": 3}
    assert for_classes({"fn": 1}, np.array([0, 1]), 0) == {"fn": 1}
    assert for_classes("accuracy", three) == "accuracy"
