"""The walk over all selections against brute force, for thresholds and for plurality votes."""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import (
    DiversityLimits,
    SelectionLimits,
    failure_credit,
    selection_limits,
)
from shortlist.ensembles.goals.weights import Weights, best_threshold, class_weights, named_weights
from shortlist.ensembles.proofs.row_forms import class_rows, normalise
from shortlist.ensembles.proofs.subset_walk import walk_subsets
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools
from tests.examples import examples

EXAMPLES = examples(60)

budgets = st.one_of(
    st.none(), st.tuples(st.lists(st.integers(0, 4), min_size=8, max_size=8), st.integers(0, 9))
)
shares = st.one_of(st.none(), st.tuples(st.integers(0, 4), st.integers(0, 4)))


def _limits(
    votes: Votes, sizes: tuple[int, int], budget: tuple[list[int], int] | None, share: tuple[int, int] | None
) -> SelectionLimits:
    """Limits of every kind; diversity in quarters."""
    n = votes.n_classifiers
    diversity = None
    if share is not None:
        each, mean = (quarter * 10**9 // 4 for quarter in share)
        diversity = DiversityLimits(failure_credit(votes), each=each, mean=mean)
    costs: dict[str, Any] = {} if budget is None else {"member_costs": budget[0][:n], "max_cost": budget[1]}
    return selection_limits(n, min_size=sizes[0], max_size=sizes[1], diversity=diversity, **costs)


def _weights(numbers: tuple[int, int, int, int], votes: Votes) -> Weights:
    return named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)


def _allowed(limits: SelectionLimits, n: int) -> list[tuple[int, ...]]:
    return [members for members in oracles.subsets(n) if limits.satisfied_by(_mask(members, n))]


def _mask(members: tuple[int, ...], n: int) -> np.ndarray:
    return np.isin(np.arange(n), members)


@EXAMPLES
@given(
    rows=strategies.labelled_votes(max_classifiers=7, max_rows=12),
    numbers=strategies.weight_sets,
    sizes=st.tuples(st.integers(0, 4), st.integers(0, 7)),
    budget=budgets,
    share=shares,
)
def test_thresholds_equal_brute_force_under_limits_of_every_kind(
    rows: oracles.Rows,
    numbers: tuple[int, int, int, int],
    sizes: tuple[int, int],
    budget: tuple[list[int], int] | None,
    share: tuple[int, int] | None,
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights, limits = _weights(numbers, votes), _limits(votes, sizes, budget, share)
    normal = normalise(votes, weights, limits)

    walked = walk_subsets(normal, Budget())

    expected = oracles.best_value(rows, votes.n_classifiers, numbers, _allowed(limits, votes.n_classifiers))
    assert walked.complete
    assert (walked.mask is None) == (expected is None)
    if walked.mask is not None:
        assert normal.weighted_sum(walked.gain) == expected
        assert best_threshold(votes, weights, walked.mask)[1] == expected
        assert strategies.gain_of(normal, walked.mask, walked.threshold) == walked.gain
        assert limits.satisfied_by(walked.mask)


@EXAMPLES
@given(
    pool=class_pools(max_classifiers=7),
    objective=st.sampled_from(["accuracy", "balanced-accuracy"]),
    sizes=st.tuples(st.integers(0, 4), st.integers(0, 7)),
    budget=budgets,
)
def test_plurality_equals_brute_force(
    pool: Pool, objective: str, sizes: tuple[int, int], budget: tuple[list[int], int] | None
) -> None:
    votes = as_votes(pool, merged=True)
    n, weights = votes.n_classifiers, class_weights(objective, votes)
    costs: dict[str, Any] = {} if budget is None else {"member_costs": budget[0][:n], "max_cost": budget[1]}
    limits = selection_limits(n, min_size=sizes[0], max_size=sizes[1], **costs)
    rows = class_rows(votes, weights, limits)

    walked = walk_subsets(rows, Budget())

    worths = [weights.total(votes, _mask(members, n)) for members in _allowed(limits, n)]
    assert walked.complete
    assert (walked.mask is None) == (not worths)
    if walked.mask is not None:
        assert rows.weighted_sum(walked.gain) == max(worths) == weights.total(votes, walked.mask)


@EXAMPLES
@given(rows=strategies.labelled_votes(max_classifiers=7, max_rows=12), above=st.integers(-1, 13))
def test_a_known_gain_leaves_only_better_selections(rows: oracles.Rows, above: int) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    normal = normalise(votes, named_weights("accuracy", votes), selection_limits(votes.n_classifiers))
    best = walk_subsets(normal, Budget()).gain

    walked = walk_subsets(normal, Budget(), above=above)

    assert walked.complete
    assert (walked.mask is not None) == (best > above)
    assert walked.gain == max(best, above)


def _noisy(n_classifiers: int, n_rows: int) -> Votes:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, n_rows)
    flips = rng.random((n_rows, n_classifiers)) < 0.3 + 0.3 * rng.random((n_rows, 1))
    return merge_rows((labels[:, None] ^ flips).astype(np.uint8), labels)


def test_blocks_change_nothing() -> None:
    votes = _noisy(12, 80)
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(12))
    whole = walk_subsets(rows, Budget())

    told: list[int] = []
    cut = walk_subsets(rows, Budget(), block_nodes=7, on_nodes=told.append)

    assert whole.mask is not None
    assert cut.mask is not None
    assert cut.mask.tolist() == whole.mask.tolist()
    assert (cut.threshold, cut.gain, cut.nodes) == (whole.threshold, whole.gain, whole.nodes)
    assert told == [*range(7, whole.nodes, 7), whole.nodes]


def test_a_limit_ends_the_walk_and_takes_the_claim_away() -> None:
    votes = _noisy(12, 80)
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(12))
    cancelled = Cancellation()
    cancelled.cancel()

    by_nodes = walk_subsets(rows, Budget(), max_nodes=100)

    assert (by_nodes.nodes, by_nodes.complete) == (100, False)
    assert by_nodes.mask is not None
    assert strategies.gain_of(rows, by_nodes.mask, by_nodes.threshold) == by_nodes.gain
    assert walk_subsets(rows, Budget(cancellation=cancelled)).nodes == 0
    assert walk_subsets(rows, Budget(0)).nodes == 0


def test_most_of_the_selections_are_left_out_with_a_reason() -> None:
    votes = _noisy(16, 120)
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(16))

    walked = walk_subsets(rows, Budget())

    assert walked.complete
    assert Fraction(walked.nodes, 2**17) < Fraction(1, 2)
