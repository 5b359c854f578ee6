"""Fronts of programs, by every method, against trying everything."""

import dataclasses

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.named_program import NamedProgram
from shortlist.programs.solve import notes_on, solve_program
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from tests.programs.made_programs import front_by_trying, random_program


def _program(
    costs: list[list[float]], *, upper: float = 1, integer: bool | list[bool] = True
) -> NamedProgram:
    n = len(costs[0])
    objectives = [
        LinearObjective(Objective(f"f{j}", scale=None), np.array(row)) for j, row in enumerate(costs)
    ]
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
        np.testing.assert_allclose(
            front.values, front_by_trying(named).reshape(front.values.shape), rtol=1e-12
        )


def test_points_of_solrep_belong_to_the_front() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        named = random_program(rng)
        front = solve_program(named, method="solrep", n_points=5)
        assert {tuple(row) for row in front.values.tolist()} <= {
            tuple(r) for r in front_by_trying(named).tolist()
        }
        assert front.proof.kind is not ProofKind.APPROXIMATE


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (_program([[1, 2], [2, 1]], integer=False), "continuous ones only: its front has no end"),
        (_program([[1, 2]]), "must have 2 to 6 objectives, got 1. Add a row without limits"),
        (_program([[1, 2]] * 7), "must have 2 to 6 objectives, got 7"),
        (_program([[1, -2], [2, 1]], upper=np.inf), "must be bounded, but f0 can improve for ever"),
        (_program([[1, 2], [2, 1]], integer=[True, False]), "costs the continuous column 'y'"),
    ],
    ids=["free of integers", "one objective", "seven objectives", "unbounded", "continuous costs"],
)
def test_what_has_no_front_is_one_sentence(named: NamedProgram, said: str) -> None:
    with pytest.raises(BadInputError, match=said.replace("(", r"\(")):
        solve_program(named)


def test_an_infeasible_program_has_a_complete_front_without_points() -> None:
    named = _program([[1, 2], [2, 1]])
    none = dataclasses.replace(named, program=dataclasses.replace(named.program, row_lower=np.array([3.0])))
    front = solve_program(none)
    assert (len(front), front.proof.kind) == (0, ProofKind.COMPLETE)


def test_objectives_that_are_all_alike_have_one_point_and_a_note() -> None:
    named = _program([[1, 2], [1, 2]])
    front = solve_program(named)
    assert front.values.tolist() == [[1, 1]]
    assert notes_on(named, front)[0].startswith("The objectives are all alike")


@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint"])
def test_columns_without_an_upper_bound_are_no_hindrance_where_objectives_are_bounded(method: str) -> None:
    named = _program([[1, 2], [2, 1]], upper=np.inf)
    if method == "exact":
        assert solve_program(named, method=method).values.tolist() == [[1, 2], [2, 1]]
        return
    said = "needs the worst value of each objective, but f. can get worse for ever. Bound the columns, or use"
    with pytest.raises(BadInputError, match=said):
        solve_program(named, method=method)


def test_a_limit_lowers_the_claim_and_the_points_stay_points_of_the_front() -> None:
    rng = np.random.default_rng(8)
    named = random_program(rng)
    front = solve_program(named, time_limit_s=1e-9)
    assert front.proof.kind is ProofKind.NONDOMINATED
    assert front.proof.limit


def test_objectives_with_continuous_columns_are_rounded_up_to_steps() -> None:
    """Values are multiples of the step, and to each solution there is a point within one step."""
    costs = [LinearObjective(Objective("price", scale=None), np.array([2.0, 1.5])),
             LinearObjective(Objective("weight", scale=None), np.array([-1.0, 0.0]))]  # fmt: skip
    program = make_program(
        [[3, 2], [1, 1]], row_lower=[4, -np.inf], row_upper=[np.inf, 9], column_lower=0, column_upper=[5, 7.5],
        integer=[True, False], objectives=costs,
    )  # fmt: skip
    named = NamedProgram(program, ("x", "y"), ("need", "room"))
    front = solve_program(named, tolerance={"price": 0.5})
    assert front.candidates == ("x",)
    assert front.proof.tolerances == (0.5, 0.0)
    assert (front.values[:, 0] * 2 == np.rint(front.values[:, 0] * 2)).all()
    least = {x: 2.0 * x + 1.5 * max(0.0, (4 - 3 * x) / 2) for x in range(6)}
    for x, price in least.items():
        assert any(value < price + 0.5 and weight <= -x for value, weight in front.values.tolist())
    for value, weight in front.values.tolist():
        assert value >= least[int(-weight)] - 1e-6
    assert "rounded up to steps: price 0.5" in " ".join(notes_on(named, front))


def test_a_step_for_anything_else_is_refused() -> None:
    named = _program([[1, 2], [2, 1]])
    with pytest.raises(BadInputError, match="names 'f0', which is no objective with a continuous column"):
        solve_program(named, tolerance={"f0": 1})
