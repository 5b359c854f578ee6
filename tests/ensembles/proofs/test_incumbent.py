"""The best selection so far, of two and of several classes."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import best_threshold, class_weights
from shortlist.ensembles.proofs.incumbent import WITHOUT_IDLE, Incumbent, without_idle_members
from shortlist.ensembles.pruning.problems import PluralityProblem, problem_of
from shortlist.ensembles.votes.hard_votes import Votes, class_votes, merge_rows
from shortlist.results.proof import Status
from tests.ensembles import oracles, strategies
from tests.ensembles.plurality_oracles import CODES, LABELS, as_votes, class_pools

two_classes = st.builds(
    lambda rows, numbers: (votes := merge_rows(*oracles.as_arrays(rows)), strategies.explicit_weights(numbers, votes)),
    strategies.labelled_votes(), strategies.weight_sets,
)  # fmt: skip
several = class_pools().map(
    lambda pool: (votes := as_votes(pool, merged=True), class_weights("accuracy", votes))
)


def _worth(votes: Any, weights: Any, mask: Mask) -> int:
    return best_threshold(votes, weights, mask)[1] if isinstance(votes, Votes) else weights.total(votes, mask)


@given(question=two_classes | several, least=st.integers(0, 3))
def test_no_member_of_the_answer_can_be_dropped_without_loss(question: Any, least: int) -> None:
    votes, weights = question
    n = votes.n_classifiers
    limits = selection_limits(n, min_size=min(least, n))
    full = np.ones(n, dtype=bool)

    kept = without_idle_members(problem_of(votes, weights, limits), full)

    worth = _worth(votes, weights, kept)
    assert worth >= _worth(votes, weights, full)
    assert limits.satisfied_by(kept)
    for k in np.flatnonzero(kept):
        fewer = kept & (np.arange(n) != k)
        assert not limits.satisfied_by(fewer) or _worth(votes, weights, fewer) < worth


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
