"""Starts of the search: prefixes of the orders of the pruning rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import best_threshold, named_weights
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.margin_selection import select_by_margins
from shortlist.ensembles.rules.orderings import RULES, order_classifiers
from shortlist.ensembles.search.search_starts import (
    START_RULES,
    ordering_starts,
    prefix_totals,
    rule_selections,
)
from shortlist.ensembles.votes.binary_votes import confusion, merge_rows
from shortlist.ensembles.votes.class_votes import from_binary
from shortlist.errors import BadInputError
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.plurality_oracles import members_of
from tests.examples import examples


@examples(30)
@given(
    rows=strategies.labelled_votes(max_classifiers=6),
    objective=st.sampled_from(["accuracy", "balanced-accuracy", {"tp": 1, "fp": -2}]),
)
def test_the_first_start_is_worth_at_least_what_any_rule_chooses(rows: oracles.Rows, objective: Any) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(objective, votes)

    starts = ordering_starts(
        votes, weights, selection_limits(votes.n_classifiers), Budget(), rules=START_RULES
    )

    totals = [best_threshold(votes, weights, mask)[1] for mask in starts]
    assert totals == sorted(totals, reverse=True)
    class_votes = from_binary(votes)
    chosen = [backfit(class_votes).members, select_by_margins(class_votes).members]
    chosen += [order_classifiers(class_votes, rule).members for rule in START_RULES[:-2]]
    for members in chosen:
        mask = np.isin(np.arange(votes.n_classifiers), members)
        assert totals[0] >= weights.total(confusion(votes, mask, len(members) // 2))


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
    starts = ordering_starts(votes, named_weights("accuracy", votes), limits, Budget())
    assert all(limits.satisfied_by(mask) for mask in starts)
    assert len({mask.tobytes() for mask in starts}) == len(starts)


def test_a_stopped_search_for_starts_returns_what_it_has() -> None:
    votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    weights, limits = named_weights("accuracy", votes), selection_limits(3)
    cancellation = Cancellation()
    cancellation.cancel()
    assert ordering_starts(votes, weights, limits, Budget(0)) == []
    assert ordering_starts(votes, weights, limits, Budget(cancellation=cancellation)) == []


def test_unknown_rules_are_refused() -> None:
    votes = merge_rows([[1], [0]], [1, 0])
    with pytest.raises(BadInputError, match="rule must be one of"):
        ordering_starts(
            votes, named_weights("accuracy", votes), selection_limits(1), Budget(), rules=["best"]
        )


@pytest.mark.slow
@examples(15)
@given(pool=class_pools(max_classifiers=6), most=st.integers(1, 6))
def test_rule_selections_hold_what_every_rule_chooses(pool: Pool, most: int) -> None:
    votes = as_votes(pool, merged=True)
    limits = selection_limits(pool[1], max_size=most)

    found = {members_of(mask) for mask in rule_selections(votes, limits, Budget())}

    assert all(1 <= len(members) <= most for members in found)
    for rule in RULES:
        chosen = order_classifiers(votes, rule).members
        assert len(chosen) > most or tuple(sorted(chosen.tolist())) in found
    most = min(most, pool[1])
    for members in backfit(votes, sizes=range(1, most + 1)).members_by_size:
        assert tuple(sorted(members.tolist())) in found
