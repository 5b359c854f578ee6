"""Whether a solver's claim counts where numbers are large."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from shortlist.milp import Limits, LinearObjective, Program, make_program, open_solver
from shortlist.milp.backends.cpsat import CpSat
from shortlist.milp.whole_rows import RowSizes, implied_bounds, whole_rows
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from tests.milp import oracles, strategies
from tests.milp.oracles import installed_solvers

inf = math.inf
INSTALLED = list(installed_solvers())
FLOATING = [name for name in INSTALLED if open_solver(name).tolerance]
factors = st.integers(-9999, 9999).map(lambda whole: whole / 100)


def program_of(
    rows: ArrayLike,
    upper: ArrayLike,
    costs: ArrayLike = (),
    *,
    integer: object = True,
    lower: ArrayLike = -inf,
) -> Program:
    """Return a program of columns in 0..1."""
    objectives = (
        [LinearObjective(Objective("cost"), np.array(costs, dtype=float))] if len(np.array(costs)) else []
    )
    return make_program(
        np.atleast_2d(rows), row_lower=lower, row_upper=upper, column_lower=0, column_upper=1,
        integer=integer, objectives=objectives,  # type: ignore[arg-type]  # a list or one boolean
    )  # fmt: skip


@given(
    row=st.lists(factors, min_size=1, max_size=5),
    limit=factors,
    bits=st.lists(st.integers(0, 1), min_size=5, max_size=5),
)
def test_a_row_in_whole_steps_admits_what_the_decimals_admit(
    row: list[float], limit: float, bits: list[int]
) -> None:
    x = bits[: len(row)]
    exact = sum(Fraction(str(a)) * b for a, b in zip(row, x, strict=True))
    bound = Fraction(str(limit))
    for lower, upper, admitted in ((-inf, limit, exact <= bound), (limit, inf, exact >= bound)):
        rewritten = whole_rows(program_of([row], upper, lower=lower)).program
        (value,) = rewritten.rows @ np.array(x, dtype=float)
        assert value == round(value)
        assert (rewritten.row_lower[0] <= value <= rewritten.row_upper[0]) == admitted


def test_a_row_is_divided_by_its_greatest_common_divisor_and_its_limits_rounded() -> None:
    rewritten = whole_rows(program_of([[6.0, -9.0], [0.5, 0.25], [1 / 3, 1.0]], [7.0, 0.6, 0.5])).program

    assert rewritten.rows.toarray()[:2].tolist() == [[2, -3], [2, 1]]
    assert rewritten.rows.toarray()[2].tolist() == [1 / 3, 1.0]
    assert rewritten.row_upper.tolist() == [2, 2, 0.5]


def test_rows_with_continuous_columns_are_left_as_they_are() -> None:
    rows = whole_rows(program_of([[6.0, 9.0]], 7.5, integer=[True, False]))

    assert not rows.whole.any()
    assert rows.program.row_upper.tolist() == [7.5]


def test_limits_beyond_all_values_take_no_part_in_the_size() -> None:
    program = program_of([[3e9, 1], [2e9, 1]], [4e9, 2e9])
    sizes = RowSizes(whole_rows(program))

    assert sizes.largest(program) == 2e9 + 1


@pytest.mark.parametrize("name", FLOATING)
def test_large_sums_are_solved_in_integers_and_small_ones_are_not(name: str) -> None:
    for base, handed_over in ((10, False), (10**9, True), (10**12, True)):
        weights = [base, base + 1, base + 3, base + 7]
        program = program_of([weights], 2 * base + 8, [-1, -2, -3, -4])
        solution = open_solver(name).open(program).solve()
        assert solution.handed_over == handed_over
        assert (solution.status, solution.objective) == (
            Status.OPTIMAL,
            oracles.best_objective(program, program.minimised_costs()[0], inf),
        )


@pytest.mark.parametrize("name", FLOATING)
def test_multiples_of_a_large_number_are_small(name: str) -> None:
    solution = open_solver(name).open(program_of([[3e12, 5e12, 2e12]], 7.5e12, [-2e9, -3e9, -1e9])).solve()

    assert not solution.handed_over
    assert (solution.objective, solution.bound) == (-4e9, -4e9)


@pytest.mark.parametrize("name", FLOATING)
def test_a_session_keeps_to_changes_after_it_was_handed_over(name: str) -> None:
    base = 10.0**10
    session = open_solver(name).open(program_of([[base, base + 1, base + 2]], 2 * base + 1, [-3, -2, -1]))
    assert session.solve().objective == -5
    session.set_row_bounds([0], -inf, 2 * base)
    assert session.solve().objective == -3
    session.set_costs([-1, -1, -4])
    assert session.solve().objective == -4
    session.set_column_bounds([2], 0, 0)
    assert session.solve().objective == -1
    session.set_cutoff(-2)
    assert session.solve().status is Status.INFEASIBLE
    session.set_row_bounds([0], -inf, inf)
    solution = session.solve()
    assert (solution.objective, solution.handed_over) == (-2, False)


@pytest.mark.parametrize("name", INSTALLED)
def test_a_claim_about_sums_beyond_all_solvers_is_lowered(name: str) -> None:
    half = 2.0**52
    program = program_of([[half, half + 1, half + 3]], half + 2, [-1, -2, -3])
    solution = open_solver(name).open(program).solve()

    assert (solution.status, solution.limit, solution.bound) == (Status.UNKNOWN, "size", -inf)


@pytest.mark.parametrize("name", FLOATING)
def test_a_claim_is_lowered_where_cp_sat_cannot_take_the_program(name: str) -> None:
    rows = np.array([[1e9, 1e9 + 1, 0], [0, 0, 1]])
    program = program_of(rows, [1e9, 1], [-1, -2, -1], integer=[True, True, False])
    solution = open_solver(name).open(program).solve()

    assert (solution.limit, solution.bound) == ("size", -inf)


def test_costs_of_thirteen_digits_are_proved_by_cp_sat() -> None:
    costs = [-(10.0**13) - 1, -(10.0**13), -(10.0**13) + 1]
    solution = open_solver("cpsat").open(program_of([[1, 1, 1]], 2, costs)).solve()

    assert (solution.status, solution.bound) == (Status.OPTIMAL, costs[0] + costs[1])


@pytest.mark.parametrize("name", INSTALLED)
def test_a_limit_leaves_the_start_where_nothing_better_was_found(name: str) -> None:
    rows = np.ones((1, 30))
    program = program_of(rows, inf, np.arange(1.0, 31.0), lower=5)
    session = open_solver(name).open(program)
    session.set_start(np.ones(30))
    solution = session.solve(Limits(seconds=1e-9))

    assert solution.status in {Status.FEASIBLE, Status.OPTIMAL}
    assert solution.objective <= 465


def test_cp_sat_gets_no_hint() -> None:
    """With one, OR-Tools 9.15 ends the process when time runs out between its presolve and its search."""
    program = program_of(np.ones((1, 3)), inf, [1.0, 2.0, 3.0], lower=1)
    engine = CpSat().load(whole_rows(program).program, np.array([1.0, 2.0, 3.0]), seed=0, threads=1)
    engine.offer_start(np.array([0.0, 1.0, 0.0]))
    assert not engine._model.has_solution_hint()  # type: ignore[attr-defined]  # the protocol has no such
    claim = engine.run(Limits(), lambda *_: None, size=6.0)
    assert claim.bound == 1


@given(program=strategies.programs(), data=st.data())
def test_no_solution_is_lost(program: Program, data: st.DataObject) -> None:
    solutions = [
        np.array(point)
        for point in oracles.grid(program)
        if (program.rows @ point >= program.row_lower).all()
        and (program.rows @ point <= program.row_upper).all()
    ]
    ends = st.lists(st.booleans(), min_size=program.n_columns, max_size=program.n_columns)
    opened = make_program(
        program.rows,
        row_lower=program.row_lower,
        row_upper=program.row_upper,
        column_lower=np.where(data.draw(ends), -inf, program.column_lower),
        column_upper=np.where(data.draw(ends), inf, program.column_upper),
        integer=True,
    )
    lower, upper = implied_bounds(opened)
    for point in solutions:
        assert (lower <= point + 1e-9).all()
        assert (point <= upper + 1e-9).all()
    finite = np.isfinite(opened.column_lower)
    np.testing.assert_array_equal(lower[finite], opened.column_lower[finite])


def test_bounds_travel_from_row_to_row() -> None:
    program = make_program(
        [[1, 0, 0], [-2, 1, 0], [0, 1, 3]],
        row_lower=[-inf, -inf, 1],
        row_upper=[4, 0, 10],
        column_lower=[0, -inf, -inf],
        column_upper=inf,
        integer=False,
    )
    lower, upper = implied_bounds(program)
    np.testing.assert_allclose(upper, [4, 8, inf])
    np.testing.assert_allclose(lower, [0, -inf, -7 / 3])


def test_what_no_row_bounds_stays_open() -> None:
    program = make_program(
        [[1, -1]], row_lower=0, row_upper=0, column_lower=0, column_upper=inf, integer=True
    )
    np.testing.assert_array_equal(implied_bounds(program)[1], [inf, inf])
