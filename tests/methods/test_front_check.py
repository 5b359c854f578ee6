"""Claims of a front beside completeness."""

import dataclasses
from itertools import chain, repeat

import numpy as np

from shortlist.methods.boxes import BoxSearch
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of
from shortlist.programs.solve import solve_program
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.programs.made_programs import random_program


def test_what_may_be_missing_is_checked_by_how_much_better_it_may_be() -> None:
    """A front without a point is approximate by what that point is better by, and by no less."""
    rng = np.random.default_rng(2)
    n_checked = 0
    while n_checked < 4:
        named = random_program(rng)
        front = solve_program(named)
        if len(front) < 3:
            continue
        n_checked += 1
        kept = dataclasses.replace(front, values=front.values[1:], decisions=front.decisions[1:])
        signs = np.array([one.sign for one in front.objectives])
        gaps = np.maximum(0, (kept.values - front.values[0]) * signs)
        nearest = gaps[np.argmin(gaps.max(axis=1))]
        enough = dataclasses.replace(kept, proof=Proof(ProofKind.APPROXIMATE, missing=tuple(nearest)))
        assert check_claims(named.program, enough, budget=Budget()).status == "rechecked"
        none = dataclasses.replace(kept, proof=Proof(ProofKind.APPROXIMATE, missing=(0.0,) * len(signs)))
        assert check_claims(named.program, none, budget=Budget()).status == "invalid"
        nothing = dataclasses.replace(kept, proof=Proof(ProofKind.APPROXIMATE))
        assert check_claims(named.program, nothing, budget=Budget()).search is None


def test_what_a_limit_leaves_is_counted_and_not_called_rechecked() -> None:
    """A limit that has passed before objective space is parted leaves it as one box."""
    named = random_program(np.random.default_rng(5))
    front = solve_program(named)
    late = Budget(60, clock=chain([0.0], repeat(99.0)).__next__)
    found = check_claims(named.program, front, budget=late)
    assert found.status == "counted"
    assert found.search is not None
    assert (found.search.n_boxes, found.search.n_open) == (1, 1)
    assert "1 is left without an answer by the limit of 60 s" in found.sentences()[-1]


def test_an_interruption_is_told_as_one() -> None:
    named = random_program(np.random.default_rng(5))
    front = solve_program(named)
    cancellation = Cancellation()
    cancellation.cancel()
    found = check_claims(named.program, front, budget=Budget(cancellation=cancellation))
    assert found.status == "counted"
    assert "left without an answer by the interruption" in found.sentences()[-1]


def test_a_front_that_claims_nothing_of_other_points_is_counted() -> None:
    named = random_program(np.random.default_rng(5))
    front = dataclasses.replace(solve_program(named), proof=Proof(ProofKind.APPROXIMATE))
    found = check_claims(named.program, front, budget=Budget())
    assert (found.status, found.sentences()) == ("counted", [])


def test_who_found_a_front_is_who_had_the_last_word() -> None:
    named = random_program(np.random.default_rng(0))
    front = solve_program(named)
    assert finder_of(front) == "highs"
    assert finder_of(dataclasses.replace(front, extras=dict(front.extras) | {"n_handed_over": 2})) == "cpsat"


def test_a_recheck_rests_on_the_solver_that_found_the_front_if_it_alone_was_asked() -> None:
    def rests_on(found_by: str, n_by_solver: int) -> str:
        search = BoxSearch(4, 4 - n_by_solver, n_by_solver, 0, "cpsat")
        return FrontCheck((), 2, ProofKind.COMPLETE, search=search, found_by=found_by).rests_on

    assert rests_on("cpsat", 3) == "CP-SAT"
    assert (rests_on("highs", 3), rests_on("cpsat", 0), rests_on("", 3)) == ("", "", "")
    assert FrontCheck((), 2, ProofKind.COMPLETE, found_by="cpsat").rests_on == ""
