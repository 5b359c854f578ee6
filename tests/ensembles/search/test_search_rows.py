"""Rows of several classes in the search: counts, limits and what is found."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.class_weights import (
    CLASS_OBJECTIVES,
    ClassWeights,
    class_weights,
)
from shortlist.ensembles.goals.diversity import class_diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.search import tabu_search
from shortlist.ensembles.search._plurality_kernels import rate_classes
from shortlist.ensembles.search.search_rows import class_search_rows
from shortlist.ensembles.search.tabu_search import FoundSelection, TabuSettings, search_selection
from shortlist.ensembles.votes.class_votes import ClassVotes, n_right
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.plurality_oracles import (
    EXAMPLES,
    best_value,
    decision_rows,
    made_votes,
    members_of,
    subsets,
    value_of,
)


def _state(votes: ClassVotes, weights: ClassWeights) -> tabu_search._Walker:
    limits = selection_limits(votes.n_classifiers, min_size=0)
    counted = class_search_rows(votes, weights)
    return tabu_search._Walker(counted, limits, settings=TabuSettings(), seed=0)


@given(pool=class_pools(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), data=st.data())
def test_a_walk_keeps_the_counts_that_a_fresh_count_gives(
    pool: Pool, objective: str, data: st.DataObject
) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)
    walk = _state(votes, weights)

    for flipped in data.draw(st.lists(st.integers(0, k - 1), max_size=12)):
        walk.flip(flipped)

    member = walk.state.member.astype(bool)
    for i, row in enumerate(votes.codes.tolist()):
        heard = [row[m] for m in members_of(member)]
        assert walk.state.tally[i, :n_classes].tolist() == [heard.count(c) for c in range(n_classes)]
    assert ((walk.state.leads >= 0) == decision_rows(votes, members_of(member))).all()
    assert walk.here.n_members == member.sum()
    assert weights.value(int(walk.here.total)) == float(
        value_of((samples, k, n_classes), members_of(member), objective)
    )


@given(pool=class_pools(), data=st.data())
def test_rated_flips_change_the_total_as_rated(pool: Pool, data: st.DataObject) -> None:
    votes = as_votes(pool, merged=True)
    walk = _state(votes, class_weights("accuracy", votes))
    for flipped in data.draw(st.lists(st.integers(0, pool[1] - 1), max_size=12)):
        walk.flip(flipped)

    rate_classes(0, pool[1], walk.rows, walk.state, walk.room)

    member = walk.state.member.astype(bool)
    for k in range(pool[1]):
        after = member ^ (np.arange(pool[1]) == k)
        place = 2 if member[k] else 0
        assert walk.room.ratings[place, k] == n_right(votes, members_of(after))


def _tight_limits(votes: ClassVotes) -> SelectionLimits:
    """Size, cost and diversity limits that many selections break."""
    costs = [1 + k % 5 for k in range(votes.n_classifiers)]
    diversity = class_diversity_limits("average", votes)
    return selection_limits(
        votes.n_classifiers, min_size=3, max_size=9, member_costs=costs, max_cost=20, diversity=diversity
    )


def test_the_search_keeps_every_limit_and_counts_right() -> None:
    votes = made_votes(200, 24, 4, seed=3)
    weights, limits = class_weights("balanced-accuracy", votes), _tight_limits(votes)
    heard: list[FoundSelection] = []

    found = search_selection(votes, weights, limits, max_steps=3000, on_better=heard.append)

    assert found is not None
    assert limits.satisfied_by(found.mask)
    assert found.total == weights.total(votes, found.mask)
    totals = [one.total for one in heard]
    assert totals == sorted(set(totals))
    assert totals[-1] == found.total
    full = np.ones(24, dtype=bool)
    assert found.total > weights.total(votes, full) * 0.9


@EXAMPLES
@given(pool=class_pools(max_classifiers=6), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)))
def test_the_search_finds_the_best_of_small_pools(pool: Pool, objective: str) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)

    found = search_selection(votes, weights, selection_limits(pool[1]), max_steps=4000)

    best = best_value(pool, objective, subsets(pool, 1, pool[1]))
    assert found is not None
    assert best is not None
    assert weights.value(found.total) == float(best)


def test_the_same_seed_gives_the_same_search_whatever_the_blocks() -> None:
    votes = made_votes(150, 20, 3, seed=5)
    weights, limits = class_weights("accuracy", votes), _tight_limits(votes)
    first, second = (search_selection(votes, weights, limits, Budget(seed=1), max_steps=2500) for _ in "12")
    early = [
        search_selection(votes, weights, selection_limits(20), Budget(seed=seed), max_steps=1)
        for seed in (1, 2)
    ]
    in_blocks = search_selection(
        votes, weights, limits, Budget(seed=1), max_steps=2500, settings=TabuSettings(work=1, fewest_tried=20)
    )

    assert first is not None
    assert second is not None
    assert in_blocks is not None
    assert (first.mask == second.mask).all()
    assert first.steps == second.steps
    assert (first.mask == in_blocks.mask).all()
    assert in_blocks.steps <= first.steps
    assert len({found.mask.tobytes() for found in early if found is not None}) == 2


def test_the_search_stops_for_a_deadline_a_cancellation_and_a_target() -> None:
    votes = made_votes(100, 10, 3, seed=1)
    weights, limits = class_weights("accuracy", votes), selection_limits(10)
    stopped = Cancellation()
    stopped.cancel()

    assert search_selection(votes, weights, limits, Budget(0)) is None
    assert search_selection(votes, weights, limits, Budget(cancellation=stopped)) is None
    found = search_selection(
        votes, weights, limits, starts=[np.eye(10, dtype=bool)[0]], settings=TabuSettings(target=1)
    )
    assert found is not None
    assert found.total >= 1


def test_the_search_says_when_nothing_is_within_limits() -> None:
    votes = made_votes(50, 6, 3, seed=1)
    limits = selection_limits(6, min_size=3, member_costs=[5] * 6, max_cost=14)

    assert search_selection(votes, class_weights("accuracy", votes), limits, max_steps=500) is None
