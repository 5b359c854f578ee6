"""The walk over all selections against brute force, for thresholds and for plurality votes."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import Weights, best_threshold, named_weights
from shortlist.ensembles.proofs.row_forms import RightRows, normalise
from shortlist.ensembles.proofs.subset_walk import walk_subsets
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles, oracles, strategies
from tests.examples import examples

EXAMPLES = examples(60)


@EXAMPLES
@given(rows=strategies.right_rows)
def test_the_walk_equals_brute_force_under_limits_of_every_kind(rows: RightRows) -> None:
    walked = walk_subsets(rows, Budget())

    best = bound_oracles.best_gain(rows)
    assert walked.complete
    assert (walked.mask is None) == (best is None)
    if walked.mask is not None:
        assert walked.gain == best == strategies.gain_of(rows, walked.mask, walked.threshold)
        assert rows.limits.satisfied_by(walked.mask)


@EXAMPLES
@given(problem=strategies.problems(max_classifiers=7))
def test_the_gain_is_the_worth_of_the_best_vote(problem: tuple[Votes, Weights, RightRows]) -> None:
    votes, weights, rows = problem

    walked = walk_subsets(rows, Budget())

    worths = [best_threshold(votes, weights, mask)[1] for mask in bound_oracles.selections(rows)]
    assert (walked.mask is None) == (not worths)
    if worths:
        assert rows.weighted_sum(walked.gain) == max(worths)


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
