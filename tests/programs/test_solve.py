"""Fronts of programs, by every method, against trying everything."""

import dataclasses

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.files import Source
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.lp_format import read_lp
from shortlist.programs.named_program import NamedProgram
from shortlist.programs.recheck import recheck_front
from shortlist.programs.solve import notes_on, solve_program
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind, proof_text
from tests.programs.made_programs import (
    few_chosen,
    front_by_trying,
    random_program,
    steps_of,
    strange_program,
    wide_program,
)


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


def test_fronts_of_strange_programs_are_those_of_trying_everything() -> None:
    rng = np.random.default_rng(17)
    sizes = set()
    n_stepped = 0
    for _ in range(40):
        named = strange_program(rng)
        steps = steps_of(named)
        front = solve_program(named, tolerance=steps)
        assert front.proof.kind is ProofKind.COMPLETE
        n_stepped += bool(steps) and len(front) > 1
        expected = front_by_trying(named)
        np.testing.assert_allclose(front.values, expected.reshape(front.values.shape), rtol=1e-12)
        sizes.add(len(front))
    assert sizes >= {0, 1, 2}
    assert n_stepped >= 3


def test_the_front_of_a_wide_program_is_that_of_trying_everything() -> None:
    named = wide_program(np.random.default_rng(36))
    front = solve_program(named)
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.values.tolist() == front_by_trying(named, few_chosen(named, 2)).tolist()


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
        (
            _program([[1, 2], [2, 1]], integer=False),
            "continuous ones only: its front has infinitely many points",
        ),
        (_program([[1, 2]]), "must have 2 to 6 objectives, got 1. Name more of them, or add a row"),
        (_program([[1, 2]] * 7), "must have 2 to 6 objectives, got 7"),
        (_program([[1, -2], [2, 1]], upper=np.inf), "must be bounded, but f0 can improve for ever"),
        (_program([[1, 2], [2, 1]], integer=[True, False]), "depends on 'y', which may take any fraction"),
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


EMPTY = """min multi-objectives
 a: x + 2 y
 b: - x + y
st
 c: x + y + z <= 9
bounds
 x <= 2
 y <= 2
{}
general
 x y
{}
end
"""


@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint", "solrep"])
@pytest.mark.parametrize(
    ("bound", "integers"),
    [
        (" 3 <= z <= 2", ""),
        (" 3 <= z <= 2", " z"),
        (" 2.3 <= z <= 2.6", " z"),
        (" z >= 1e20", ""),
        (" z <= -inf", " z"),
    ],
    ids=["continuous", "integer", "no integer between", "from infinity", "to minus infinity"],
)
def test_bounds_that_hold_no_number_leave_a_complete_front_without_points(
    bound: str, integers: str, method: str
) -> None:
    named = read_lp(Source("empty.lp", EMPTY.format(bound, integers)))
    front = solve_program(named, method=method)
    assert (len(front), front.proof.kind) == (0, ProofKind.COMPLETE)
    assert recheck_front(named, front).status == "rechecked"


ROW = """max multi-objectives
 a: x
 b: -y
st
 c: {}
bounds
 x <= 6
 y <= 3
general
 x y
end
"""


@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint"])
@pytest.mark.parametrize(
    "row",
    [
        "x + y <= 2.9999995",
        "x - y >= 1.0000000001",
        "1000000 x - 1000000 y <= 1000000.4",
        "0.000001 x - 0.000001 y <= 0.0000009999991",
        "0.3333333333 x - 0.3333333333 y <= 0.9999999998",
        "0.3333333333 x - 0.3333333333 y <= 1.05",
        "0.33333333333 x - 0.66666666667 y <= 0.99999999999",
    ],
)
def test_limits_are_kept_as_they_are_written(row: str, method: str) -> None:
    """However little a limit is below an integer, and however many decimals a row has."""
    named = read_lp(Source("limit.lp", ROW.format(row)))
    front = solve_program(named, method=method)
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.values.tolist() == front_by_trying(named).tolist()
    assert recheck_front(named, front).status == "rechecked"


def test_a_row_with_too_many_digits_for_integers_is_rechecked_by_a_solver_that_takes_it() -> None:
    named = read_lp(Source("digits.lp", ROW.format("0.123456789012345 x - 0.33333333333333 y <= 0.7")))
    front = solve_program(named)
    assert front.values.tolist() == front_by_trying(named).tolist()
    found = recheck_front(named, front)
    assert (found.status, found.failures) == ("rechecked", ())


def test_a_row_beyond_infinity_leaves_a_complete_front_without_points() -> None:
    named = read_lp(Source("empty.lp", EMPTY.format("", "").replace("<= 9", ">= inf")))
    front = solve_program(named)
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
    assert "rounded: price up to multiples of 0.5;" in " ".join(notes_on(named, front))
    assert front.columns == ("x", "y")
    for value, x, y in zip(front.values[:, 0], *front.solutions[["x", "y"]].to_numpy().T, strict=True):
        assert y == max(0.0, (4 - 3 * x) / 2)  # the least
        assert value - 0.5 < 2 * x + 1.5 * y <= value


@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint"])
def test_steps_end_where_a_row_bounds_a_column(method: str) -> None:
    """The step's column would have no end, and these methods need the worst value of each objective."""
    costs = [LinearObjective(Objective("price", scale=None), np.array([2.0, 1.5])),
             LinearObjective(Objective("weight", scale=None), np.array([-1.0, 0.5]))]  # fmt: skip
    program = make_program(
        [[1, 1]], row_lower=-np.inf, row_upper=2, column_lower=0, column_upper=np.inf, integer=[True, False],
        objectives=costs,
    )  # fmt: skip
    named = NamedProgram(program, ("x", "y"), ("room",))
    front = solve_program(named, method=method, tolerance={"price": 0.5, "weight": 0.5})
    assert front.values.tolist() == [[0.0, 0.0], [2.0, -1.0], [4.0, -2.0]]


def test_values_to_maximise_are_rounded_down_and_the_note_says_so() -> None:
    named = read_lp(Source("max.lp", ROW.format("x + y + z <= 2.75").replace("a: x", "a: x + z")))
    front = solve_program(named, tolerance={"a": 0.5})
    assert front.values.tolist() == [[2.5, 0.0]]
    said = " ".join(notes_on(named, front))
    assert "The program has 1 continuous column;" in said
    assert proof_text(front) == (
        "complete: every best trade-off is listed, with 2 rows kept to one part in a million"
    )
    assert "Values are rounded: a down to multiples of 0.5;" in said


def test_a_step_for_anything_else_is_refused() -> None:
    named = _program([[1, 2], [2, 1]])
    with pytest.raises(BadInputError, match="names 'f0', which is no objective with a continuous column"):
        solve_program(named, tolerance={"f0": 1})
