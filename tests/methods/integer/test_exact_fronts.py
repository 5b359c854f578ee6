"""Every exact method and solver against a list of all solutions."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import Program
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from tests.methods.random_programs import KINDS, listed_front, random_program

METHODS: dict[str, Callable[..., Front]] = {
    "zones": search_zones,
    "CWMOIP": cwmoip,
    "ε-constraint": lambda program, **options: epsilon_constraint(program, true_bounds=True, **options),
}
PAIRS = list(itertools.product(METHODS, ("highs", "cpsat")))
N_FIXED = 96


def check(program: Program, method: str, solver: str) -> None:
    """Compare a front, its proof and each of its solutions with the list."""
    expected = listed_front(program)

    front = METHODS[method](program, solver=solver)

    found = {tuple(row) for row in np.round(front.values, 2).tolist()}
    assert found == {tuple(row) for row in np.round(expected, 2).tolist()}
    assert len(front) == len(expected)
    assert front.proof.kind is ProofKind.COMPLETE
    sums = front.decisions @ program.rows.T
    assert (sums >= program.row_lower - 1e-9).all()
    assert (sums <= program.row_upper + 1e-9).all()
    for linear, values in zip(program.objectives, front.values.T, strict=True):
        np.testing.assert_allclose(front.decisions @ linear.costs + linear.offset, values, rtol=1e-12)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_every_method_and_solver_finds_what_a_list_of_all_solutions_holds(kind: int) -> None:
    for number in range(N_FIXED // len(KINDS)):
        seed = number * len(KINDS) + kind
        check(random_program(seed), *PAIRS[number % len(PAIRS)])


@given(seed=st.integers(0, 10**9), pair=st.sampled_from(PAIRS))
@settings(max_examples=settings().max_examples // 5)
def test_nothing_else_is_found_in_other_programs(seed: int, pair: tuple[str, str]) -> None:
    check(random_program(seed), *pair)
