"""The best selection so far, of two and of several classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import (
    class_weights,
)
from shortlist.ensembles.proofs.incumbent import WITHOUT_IDLE, Incumbent, without_idle_members
from shortlist.ensembles.pruning.problems import PluralityProblem
from shortlist.ensembles.votes.class_votes import class_votes
from shortlist.results.proof import Status
from tests.ensembles.plurality_oracles import CODES, LABELS, Pool, as_votes, class_pools


@given(pool=class_pools(), least=st.integers(0, 3))
def test_no_voter_of_the_answer_can_be_dropped_without_loss(pool: Pool, least: int) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights("accuracy", votes)
    limits = selection_limits(pool[1], min_size=min(least, pool[1]))
    full = np.ones(pool[1], dtype=bool)

    kept = without_idle_members(PluralityProblem(votes, weights, limits), full)

    worth = weights.total(votes, kept)
    assert worth >= weights.total(votes, full)
    assert limits.satisfied_by(kept)
    for k in np.flatnonzero(kept):
        fewer = kept & (np.arange(len(kept)) != k)
        assert not limits.satisfied_by(fewer) or weights.total(votes, fewer) < worth


def test_idle_members_that_were_left_out_are_told_with_who_found_the_others() -> None:
    votes = class_votes([[0, 0, 1], [1, 1, 0], [0, 0, 0]], [0, 1, 0])
    best = Incumbent(PluralityProblem(votes, class_weights("accuracy", votes), selection_limits(3)))
    best.finder = "a rule"
    best.offer(np.ones(3, dtype=bool))
    best.finder = "a search that finds nothing"
    best.offer_without_idle_members()

    found = best.selection(limit="", seconds=0.0)

    assert (int(found.mask.sum()), found.value) == (1, 1.0)
    assert best.found_by == f"a rule{WITHOUT_IDLE}"


def test_an_incumbent_without_a_selection_has_no_value() -> None:
    votes = class_votes(CODES, LABELS)
    problem = PluralityProblem(votes, class_weights("accuracy", votes), selection_limits(3, min_size=2))
    best = Incumbent(problem)

    assert best.value is None
    assert not best.proved
    unknown = best.no_selection(Status.UNKNOWN, limit="1 s", seconds=1.0)
    assert unknown.bound == 1.0
    assert "1 s" in unknown.reason
