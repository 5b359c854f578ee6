"""Parts of programs over the columns that still have a choice."""

import dataclasses

import numpy as np
import pytest

from shortlist.methods.integer.program_parts import Parts
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.backends import open_solver
from shortlist.results.proof import ProofKind, Status
from shortlist.runs.budget import Budget
from tests.methods.random_programs import listed_front, random_program


def test_a_part_within_bounds_that_cross_has_no_solution() -> None:
    program = random_program(0)
    parts = Parts(program)
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    lower[0] = upper[0] = 1.0
    limits = program.row_lower, program.row_upper
    costs = np.zeros(program.n_columns)
    assert 0 not in parts.part((lower, upper), limits, costs).free
    upper[0] = 0.0
    crossing = parts.part((lower, upper), limits, costs)
    assert 0 in crossing.free
    session = open_solver("highs").open(crossing.program)
    assert session.solve().status is Status.INFEASIBLE


@pytest.mark.parametrize("gap", [1.0, 0.25])
def test_fronts_of_programs_whose_bounds_cross_have_no_points(gap: float) -> None:
    """Bounds of 0.25 and 0.5 hold no integer either."""
    n_solvable = 0
    for seed in range(0, 24, 3):
        program = random_program(seed)
        n_solvable += len(listed_front(program)) > 0
        lower, upper = program.column_lower.copy(), np.minimum(program.column_upper, 12.0)
        lower[0], upper[0] = (upper[0], lower[0] - gap) if gap == 1 else (lower[0] + gap, lower[0] + 2 * gap)
        front = search_zones(
            dataclasses.replace(program, column_lower=lower, column_upper=upper), budget=Budget()
        )
        assert (len(front), front.proof.kind) == (0, ProofKind.COMPLETE)
    assert n_solvable > 3
