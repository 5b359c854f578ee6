"""Fronts of programs, by every method, against trying everything."""

import dataclasses

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.named_program import NamedProgram
from shortlist.programs.solve import METHODS, notes_on, solve_program
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from tests.programs.made_programs import front_by_trying, random_program


def _program(costs: list[list[float]], *, upper: float = 1, integer: bool | list[bool] = True) -> NamedProgram:
    n = len(costs[0])
    objectives = [LinearObjective(Objective(f"f{j}", scale=None), np.array(row)) for j, row in enumerate(costs)]
    program = make_program(
        np.ones((1, n)), row_lower=1, row_upper=np.inf, column_lower=0, column_upper=upper, integer=integer,
        objectives=objectives,
    )  # fmt: skip
    return NamedProgram(program, tuple("xyz"[:n]), ("least",))


@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint"])
@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_complete_fronts_are_those_of_trying_everything(method: str, solver: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(12):
        named = random_program(rng)
        front = solve_program(named, method=method, solver=solver)
        assert front.proof.kind is ProofKind.COMPLETE
        np.testing.assert_allclose(front.values, front_by_trying(named).reshape(front.values.shape), rtol=1e-12)


def test_points_of_solrep_belong_to_the_front() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        named = random_program(rng)
        front = solve_program(named, method="solrep", n_points=5)
        assert {tuple(row) for row in front.values.tolist()} <= {tuple(r) for r in front_by_trying(named).tolist()}
        assert front.proof.kind is not ProofKind.APPROXIMATE
