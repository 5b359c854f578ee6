"""What a front claims in other ways than being complete."""

import dataclasses

import numpy as np

from shortlist.methods.recheck.front_check import check_claims, finder_of
from shortlist.programs.solve import solve_program
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from tests.programs.made_programs import random_program


def test_what_may_be_missing_is_checked_by_how_much_better_it_may_be() -> None:
    """A front without a point is approximate by what that point is better by, and by no less."""
    rng = np.random.default_rng(2)
    n_checked = 0
    while n_checked < 6:
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
    rng = np.random.default_rng(5)
    named = random_program(rng)
    front = solve_program(named)
    budget = Budget(60, clock=iter([0.0, *[1.0] * len(front), *[99.0] * 10_000]).__next__)
    found = check_claims(named.program, front, budget=budget)
    assert found.status in {"counted", "rechecked"}
    if found.status == "counted":
        assert "not answered within 60 s" in found.sentences()[-1]


def test_who_found_a_front_is_who_had_the_last_word() -> None:
    named = random_program(np.random.default_rng(0))
    front = solve_program(named)
    assert finder_of(front) == "highs"
    assert finder_of(dataclasses.replace(front, extras=dict(front.extras) | {"n_handed_over": 2})) == "cpsat"
