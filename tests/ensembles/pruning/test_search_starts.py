"""Starts of the search: prefixes of the orders of the pruning rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import best_threshold, class_weights, named_weights
from shortlist.ensembles.pruning.search_starts import (
    START_RULES,
    prefix_totals,
    rule_starts,
)
from shortlist.ensembles.rules import backfit, keep_all, reduced_error
from shortlist.ensembles.votes.hard_votes import confusion, from_binary, merge_rows
from shortlist.errors import BadInputError
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools
from tests.examples import examples


@examples(30)
@given(
    rows=strategies.labelled_votes(max_classifiers=6),
    objective=st.sampled_from(["accuracy", "balanced-accuracy", {"tp": 1, "fp": -2}]),
)
def test_the_best_start_is_worth_at_least_what_each_of_its_rules_chooses(
    rows: oracles.Rows, objective: Any
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(objective, votes)

    starts = rule_starts(votes, weights, selection_limits(votes.n_classifiers), Budget(), rules=START_RULES)

    best = max(best_threshold(votes, weights, mask)[1] for _, mask in starts)
    class_votes = from_binary(votes)
    for rule in (keep_all, reduced_error, backfit):
        members = rule(class_votes).members
        mask = np.isin(np.arange(votes.n_classifiers), members)
        assert best >= weights.total(confusion(votes, mask, len(members) // 2))


@given(rows=strategies.labelled_votes(), numbers=strategies.weight_sets, seed=st.integers(0, 99))
def test_totals_of_prefixes_are_those_of_the_best_thresholds(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], seed: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)
    order = np.random.default_rng(seed).permutation(votes.n_classifiers)

    totals = prefix_totals(votes, weights, order)

    offset = oracles.weighted_sum(rows, (), 0, numbers)
    for size in range(1, len(order) + 1):
        mask = np.isin(np.arange(len(order)), order[:size])
        assert totals[size - 1] + offset == best_threshold(votes, weights, mask)[1]


@examples(30)
@given(rows=strategies.labelled_votes(), least=st.integers(1, 3), most=st.integers(1, 6))
def test_starts_keep_the_limits(rows: oracles.Rows, least: int, most: int) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    limits = selection_limits(
        votes.n_classifiers, min_size=least, max_size=most, diversity=diversity_limits("each", votes)
    )
    starts = rule_starts(votes, named_weights("accuracy", votes), limits, Budget())
    assert all(limits.satisfied_by(mask) for _, mask in starts)


def test_a_stopped_search_for_starts_returns_what_it_has() -> None:
    votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    weights, limits = named_weights("accuracy", votes), selection_limits(3)
    cancellation = Cancellation()
    cancellation.cancel()
    assert not list(rule_starts(votes, weights, limits, Budget(0)))
    assert not list(rule_starts(votes, weights, limits, Budget(cancellation=cancellation)))


def test_unknown_rules_are_refused() -> None:
    votes = merge_rows([[1], [0]], [1, 0])
    with pytest.raises(BadInputError, match="rule must be one of"):
        list(
            rule_starts(
                votes, named_weights("accuracy", votes), selection_limits(1), Budget(), rules=["best"]
            )
        )


@pytest.mark.slow
@examples(15)
@given(
    pool=class_pools(max_classifiers=6),
    most=st.integers(1, 6),
    objective=st.sampled_from(["accuracy", "balanced-accuracy"]),
)
def test_with_several_classes_too_the_best_start_is_worth_what_each_of_its_rules_chooses(
    pool: Pool, most: int, objective: str
) -> None:
    votes = as_votes(pool, merged=True)
    weights, limits = class_weights(objective, votes), selection_limits(pool[1], max_size=most)

    found = [mask for _, mask in rule_starts(votes, weights, limits, Budget(), rules=START_RULES)]

    assert all(limits.satisfied_by(mask) for mask in found)
    chosen = [keep_all(votes).members, reduced_error(votes).members]
    chosen += backfit(votes, sizes=range(1, min(most, pool[1]) + 1)).members_by_size
    best = max(weights.total(votes, mask) for mask in found)
    for members in chosen:
        mask = np.isin(np.arange(pool[1]), members)
        assert len(members) > most or best >= weights.total(votes, mask)


@examples(30)
@given(rows=strategies.labelled_votes(max_classifiers=6), numbers=strategies.weight_sets)
def test_rules_that_climb_see_what_rows_are_worth(
    rows: oracles.Rows, numbers: tuple[int, int, int, int]
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)
    limits = selection_limits(votes.n_classifiers)

    twice = [mask for _, mask in rule_starts(votes, weights, limits, Budget(), rules=["reduced-error"])]

    tp, fn, tn, fp = numbers
    gains = {(tp - fn) if label else (tn - fp) for label in votes.labels.tolist()}
    assert len(twice) == (1 if gains == {0} or (len(gains) == 1 and min(gains) > 0) else 2)
