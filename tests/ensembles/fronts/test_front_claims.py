"""The proof that is written of a front of committees: its kind, what may be missing, and the limit that it names."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, committee_problem
from shortlist.ensembles.fronts.front_claims import LookedAt, ValueBounds
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.ensembles import strategies

AHEAD = np.array([3, 6], dtype=np.int64)
"""Rows by which a committee that was not looked at may be ahead in each value."""


def problem_of(*objectives: str) -> CommitteeProblem:
    votes = strategies.hard_votes(n_rows=60, n_classifiers=4)
    return committee_problem(votes, objectives, costs={"cost": [0.25, 1.0, 2.5, 4.0]})


THREE = problem_of("min cost", "max accuracy", "max true-negatives")
PRICED = problem_of("max accuracy", "min price-paid")


def time_left() -> Budget:
    return Budget(60, clock=lambda: 0.0)


def time_is_up() -> Budget:
    return Budget(60, clock=lambda: 0.0, start=-60.0)


def proof_of(
    budget: Budget,
    missing: NDArray[np.int64] | None = None,
    *,
    problem: CommitteeProblem = THREE,
    complete: bool = False,
    proved: bool = False,
) -> Proof:
    looked = LookedAt(problem, ValueBounds(problem.highest(), (), []), {}, complete, nodes=0)
    return looked._proof(missing, budget, complete=complete, proved=proved)


def test_what_may_be_missing_is_in_the_order_and_the_units_that_were_asked_for() -> None:
    """Nothing is missing in what members add up to: the point that is compared with comes to no more there."""
    assert proof_of(Budget(), AHEAD).missing == (0.0, 3 / 60, 6.0)
    assert proof_of(Budget()).missing is None


@pytest.mark.parametrize(("proved", "kind"), [(True, ProofKind.NONDOMINATED), (False, ProofKind.APPROXIMATE)])
def test_a_walk_that_gave_its_time_to_the_search_names_the_limit_before_it_has_passed(
    proved: bool, kind: ProofKind
) -> None:
    proof = proof_of(time_left(), AHEAD, proved=proved)
    assert proof == Proof(kind, missing=(0.0, 3 / 60, 6.0), limit="60 s")


def test_without_a_time_limit_none_is_named() -> None:
    assert proof_of(Budget(), AHEAD).limit == ""
    assert proof_of(Budget(nodes=100), AHEAD).limit == ""


def test_where_the_price_that_is_paid_matters_only_a_limit_that_has_passed_is_named() -> None:
    """Such fronts are not complete either where few candidates were looked at, all in good time."""
    assert proof_of(time_left(), problem=PRICED).limit == ""
    assert proof_of(time_is_up(), problem=PRICED).limit == "60 s"


def test_who_stops_the_work_is_named_before_the_clock() -> None:
    stopped = Cancellation()
    stopped.cancel()
    assert proof_of(Budget(60, clock=lambda: 0.0, start=-60.0, cancellation=stopped)).limit == "interrupted"


def test_a_complete_front_lacks_nothing_and_names_no_limit_that_has_passed_since() -> None:
    proof = proof_of(time_is_up(), AHEAD, complete=True, proved=True)
    assert proof == Proof(ProofKind.COMPLETE, missing=(0.0, 0.0, 0.0))
