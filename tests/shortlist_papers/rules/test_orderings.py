"""Pruning rules that order classifiers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.rules import Ordering, single_right, sizes_to_try
from shortlist.ensembles.votes.hard_votes import ClassVotes, class_votes, from_binary, merge_rows, n_right
from shortlist_papers.rules.kappa_orders import _least_sum, fraction_order, kappas
from shortlist_papers.rules.orderings import RULES, RULES_WITH_FITNESS, order_classifiers
from tests.ensembles import rule_oracles as oracle
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools

CLIMBERS = ["reduced-error", "complementariness", "concurrency", "uwa"]


def _check_prefixes(ordering: Ordering, pool: Pool) -> None:
    """The stored counts are those of the prefixes."""
    samples, _, n_classes = pool
    for size in range(1, len(ordering.order) + 1):
        expected = oracle.n_right(samples, ordering.order[:size].tolist(), n_classes)
        assert ordering.right[size - 1] == expected


@pytest.mark.parametrize("rule", CLIMBERS)
@given(pool=class_pools(), merged=st.booleans())
def test_hill_climbing_equals_its_formula(rule: str, pool: Pool, merged: bool) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=merged)
    order, fitness = oracle.hill_climb(rule, samples, k, n_classes)

    by_accuracy = order_classifiers(votes, rule)
    by_fitness = order_classifiers(votes, rule, stop="fitness")

    assert by_accuracy.order.tolist() == by_fitness.order.tolist() == order
    _check_prefixes(by_accuracy, pool)
    right = [oracle.n_right(samples, order[: size + 1], n_classes) for size in range(k)]
    assert by_accuracy.size == right.index(max(right)) + 1
    assert by_accuracy.fitness is not None
    assert by_accuracy.fitness[1:] == pytest.approx([float(f) for f in fitness])
    if rule == "reduced-error":
        assert by_fitness.size == by_accuracy.size
    else:
        assert by_fitness.size == (fitness.index(max(fitness)) + 2 if fitness else 1)


@given(pool=class_pools(), merged=st.booleans())
def test_orientation_equals_its_formula(pool: Pool, merged: bool) -> None:
    samples, k, _ = pool
    order, n_acute = oracle.orientation(samples, k)
    ordering = order_classifiers(as_votes(pool, merged=merged), "orientation", stop="fitness")
    assert ordering.order.tolist() == order
    assert ordering.size == max(1, n_acute)
    _check_prefixes(ordering, pool)


@given(pool=class_pools(), merged=st.booleans(), p=st.sampled_from([0.075, 0.5, 1]))
def test_margin_distance_equals_its_formula(pool: Pool, merged: bool, p: float) -> None:
    samples, k, _ = pool
    order, distances = oracle.margin_distance(samples, k, Fraction(str(p)))
    ordering = order_classifiers(as_votes(pool, merged=merged), "margin-distance", stop="fitness", p=p)
    assert ordering.order.tolist() == order
    assert ordering.size == distances.index(min(distances)) + 1
    assert ordering.fitness == pytest.approx([-float(d / len(samples)) for d in distances])


@given(pool=class_pools(), merged=st.booleans(), rho=st.sampled_from([0.1, 0.25, 0.5, 1]))
def test_drep_equals_its_algorithm(pool: Pool, merged: bool, rho: float) -> None:
    samples, k, n_classes = pool
    ordering = order_classifiers(as_votes(pool, merged=merged), "drep", rho=rho)
    assert ordering.members.tolist() == oracle.drep(samples, k, Fraction(str(rho)), n_classes)
    _check_prefixes(ordering, pool)


@given(pool=class_pools(max_classifiers=6), merged=st.booleans())
def test_kappa_equals_its_table_of_counts(pool: Pool, merged: bool) -> None:
    samples, k, n_classes = pool
    numerators, denominators = (part.tolist() for part in kappas(as_votes(pool, merged=merged)))
    found = [[Fraction(numerators[h][g], denominators[h][g]) for g in range(k)] for h in range(k)]
    assert found == [[oracle.kappa(samples, h, g, n_classes) for g in range(k)] for h in range(k)]


@given(pool=class_pools(), merged=st.booleans())
def test_both_kappa_orders_equal_their_descriptions(pool: Pool, merged: bool) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=merged)
    greedy, pairs = order_classifiers(votes, "kappa"), order_classifiers(votes, "kappa-pairs")
    assert greedy.order.tolist() == oracle.kappa_greedy(samples, k, n_classes)
    assert pairs.order.tolist() == oracle.kappa_pairs(samples, k, n_classes)
    for ordering in (greedy, pairs):
        tried = {size: ordering.right[size - 1] for size in sizes_to_try(k)}
        assert ordering.size == min(size for size in tried if tried[size] == max(tried.values()))


def test_kappas_that_differ_as_fractions_only_are_told_apart() -> None:
    large = 10**7
    numerators, denominators = (
        np.array([large, large + 1, 1, large]),
        np.array([large + 1, large + 2, 3, large + 1]),
    )
    assert fraction_order(numerators, denominators).tolist() == [2, 0, 3, 1]
    many = np.array([[3, 3], [2, 5], [1, 1]])
    thirds = (many, np.array([[6, 6], [5, 10], [2, 2]]))  # 1/2 + 1/2, 2/5 + 1/2, 1/2 + 1/2
    assert _least_sum(*thirds) == 1
    assert _least_sum(thirds[0][[0, 2]], thirds[1][[0, 2]]) == 0


@given(pool=class_pools())
def test_full_and_best_single_keep_everyone_and_one(pool: Pool) -> None:
    samples, k, _ = pool
    votes = as_votes(pool)
    assert sorted(order_classifiers(votes, "full").members.tolist()) == list(range(k))
    (single,) = order_classifiers(votes, "best-single").members.tolist()
    assert single == oracle.first_best(oracle.right_alone(samples, k))


def test_a_random_order_depends_on_its_seed_alone() -> None:
    votes = class_votes(np.eye(8, dtype=int), np.ones(8, dtype=int))
    orders = [order_classifiers(votes, "random", seed=seed).order.tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(8))


def _distinct_pool(seed: int, n_classes: int) -> ClassVotes:
    """A pool whose rows weigh so differently that no two scores are equal."""
    rng = np.random.default_rng(seed)
    return class_votes(
        rng.integers(0, n_classes, (40, 7)),
        rng.integers(0, n_classes, 40),
        rng.integers(1, 10**9, 40),
        n_classes=n_classes,
    )


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"random", "drep"}))
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_permuting_classifiers_permutes_the_order(rule: str, seed: int, n_classes: int) -> None:
    votes = _distinct_pool(seed, n_classes)
    permutation = np.random.default_rng(seed + 1).permutation(7)
    permuted = class_votes(votes.codes[:, permutation], votes.labels, votes.counts, n_classes=n_classes)

    first, second = order_classifiers(votes, rule), order_classifiers(permuted, rule)

    assert permutation[second.order].tolist() == first.order.tolist()
    assert second.size == first.size


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_perfect_pool_divides_by_nothing(rule: str) -> None:
    labels = np.array([0, 1, 2, 1])
    votes = class_votes(np.repeat(labels[:, None], 5, axis=1), labels)
    ordering = order_classifiers(votes, rule)
    assert ordering.right[ordering.size - 1] == 4
    assert ordering.fitness is None or not np.isnan(ordering.fitness[1:]).any()


@pytest.mark.parametrize("rule", sorted(RULES))
def test_one_classifier_is_its_own_ensemble(rule: str) -> None:
    stop = "fitness" if rule in RULES_WITH_FITNESS else "accuracy"
    assert order_classifiers(class_votes([[0], [1]], [1, 1]), rule, stop=stop).members.tolist() == [0]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_input_is_not_changed(rule: str) -> None:
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 3, (30, 6)).astype(np.uint8), rng.integers(0, 3, 30).astype(np.uint8)
    codes.setflags(write=False)
    labels.setflags(write=False)
    before = codes.copy(), labels.copy()
    order_classifiers(class_votes(codes, labels), rule)
    assert np.array_equal(codes, before[0])
    assert np.array_equal(labels, before[1])


def test_two_classes_decide_as_the_papers_majority_does() -> None:
    votes = merge_rows([[1, 0], [1, 1], [0, 0], [1, 0]], [1, 1, 0, 0])
    # a tie is negative: right on both negative rows and on the positive row with two votes
    assert n_right(from_binary(votes), [0, 1]) == 3
    assert single_right(from_binary(votes)).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"rule": "best"}, "rule must be one of", id="unknown rule"),
        pytest.param({"rule": "uwa", "stop": "size"}, "stop must be one of", id="unknown stop"),
        pytest.param({"rule": "kappa", "stop": "fitness"}, "has no fitness of a prefix", id="no fitness"),
        pytest.param({"rule": "drep", "rho": 0}, "rho must be a number above 0", id="no share"),
        pytest.param({"rule": "margin-distance", "p": 2}, "p must be a number above 0", id="p of 2"),
    ],
)
def test_bad_options_are_one_sentence(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        order_classifiers(class_votes([[0], [1]], [0, 1]), **options)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("codes", "labels", "options", "message"),
    [
        pytest.param([[0.5]], [0], {}, "class indices from 0 to 255", id="fractions"),
        pytest.param([[300]], [0], {}, "class indices from 0 to 255", id="too many classes"),
        pytest.param([[0], [1]], [0], {}, "same rows", id="lengths differ"),
        pytest.param(np.zeros((2, 0), int), [0, 1], {}, "a classifier", id="no classifier"),
        pytest.param([0, 1], [0, 1], {}, "2 dimension", id="one dimension"),
        pytest.param([[3]], [0], {"n_classes": 2}, "n_classes must be from 3", id="too few classes"),
        pytest.param([[0]], [0], {"counts": [0]}, "counts must hold", id="a count of 0"),
    ],
)
def test_bad_votes_are_one_sentence(
    codes: object, labels: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        class_votes(codes, labels, **options)  # type: ignore[arg-type]  # wrong on purpose


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([2**28, 2**31, 2**40]))
def test_counts_of_any_size_give_the_order_of_their_proportions(seed: int, scale: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labels, counts = rng.integers(0, 3, (30, 6)), rng.integers(0, 3, 30), rng.integers(1, 5, 30)
    for rule in CLIMBERS:
        small = order_classifiers(class_votes(codes, labels, counts), rule)
        large = order_classifiers(class_votes(codes, labels, counts * scale), rule)
        assert small.order.tolist() == large.order.tolist()
