"""One suite for every solver that is installed."""

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.milp import (
    Limits,
    LinearObjective,
    Program,
    Session,
    Solver,
    make_program,
    open_solver,
)
from shortlist.milp.backends.cpsat import CpSat, scaled_to_integers
from shortlist.milp.backends.highs import Highs
from shortlist.milp.backends.scip import Scip
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs import Cancellation, cancel_on_interrupt
from tests.examples import examples
from tests.milp import oracles, strategies
from tests.milp.oracles import installed_solvers

INSTALLED = list(installed_solvers())
CONTINUOUS = [name for name in INSTALLED if open_solver(name).handles_continuous]
SHORT = examples(20)
MEDIUM = examples(40)
inf = math.inf


@pytest.fixture(params=INSTALLED)
def solver(request: pytest.FixtureRequest) -> Solver:
    return open_solver(request.param)


def cover(n_columns: int, n_rows: int, width: int, seed: int = 0) -> Program:
    """Make a set-covering program; 100 columns are hard enough not to end within a second."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n_rows, n_columns))
    for row in rows:
        row[rng.choice(n_columns, width, replace=False)] = 1
    costs = rng.integers(5, 20, n_columns).astype(np.float64)
    return make_program(
        rows,
        row_lower=1,
        row_upper=inf,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective("cost"), costs)],
    )


def knapsack() -> Program:
    """Take the best of three things, two at most: costs -5, -4 and -3, weights 4, 3 and 2 of 5, so the best is -7."""
    return make_program(
        [[4, 3, 2]],
        row_lower=-inf,
        row_upper=5,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective("cost"), np.array([-5.0, -4.0, -3.0]))],
    )


def agree(session: Session, program: Program, costs: NDArray[np.float64], cutoff: float = inf) -> None:
    """Assert that the session finds what brute force finds."""
    solution = session.solve(Limits(seconds=60))
    expected = oracles.best_objective(program, costs, cutoff)
    if expected == inf:
        assert solution.status is Status.INFEASIBLE
        assert solution.values is None
        assert solution.bound == inf
        return
    assert solution.status is Status.OPTIMAL
    assert solution.values is not None
    assert solution.objective == pytest.approx(expected, abs=1e-6)
    assert solution.bound == pytest.approx(expected, abs=1e-6)
    assert solution.bound <= solution.objective
    activity = program.rows @ solution.values
    assert (activity >= program.row_lower - 1e-6).all()
    assert (activity <= program.row_upper + 1e-6).all()
    assert (solution.values[program.integer] % 1 == 0).all()


@pytest.mark.parametrize("name", INSTALLED)
@MEDIUM
@given(program=strategies.programs())
def test_objective_equals_brute_force(name: str, program: Program) -> None:
    agree(open_solver(name).open(program), program, program.minimised_costs()[0])


@pytest.mark.parametrize("name", CONTINUOUS)
@SHORT
@given(program=strategies.programs(continuous=True))
def test_objective_of_mixed_programs_equals_brute_force(name: str, program: Program) -> None:
    agree(open_solver(name).open(program), program, program.minimised_costs()[0])


@pytest.mark.parametrize("name", INSTALLED)
@SHORT
@given(data=st.data())
def test_a_changed_session_finds_what_a_fresh_one_finds(name: str, data: st.DataObject) -> None:
    program = data.draw(strategies.programs())
    session = open_solver(name).open(program)
    now, costs, cutoff = program, program.minimised_costs()[0], inf
    for _ in range(3):
        if data.draw(st.booleans()):
            costs = data.draw(strategies.cost_vectors(program.n_columns))
            session.set_costs(costs)
        if data.draw(st.booleans()):
            column = data.draw(st.integers(0, program.n_columns - 1))
            low = data.draw(st.integers(-2, 2))
            high = low + data.draw(st.integers(-1, 2))
            session.set_column_bounds([column], low, high)
            now = with_bounds(now, "column", column, low, high)
        if program.n_rows and data.draw(st.booleans()):
            row = data.draw(st.integers(0, program.n_rows - 1))
            low_limit, high_limit = data.draw(strategies.limits())
            session.set_row_bounds([row], low_limit, high_limit)
            now = with_bounds(now, "row", row, low_limit, high_limit)
        if data.draw(st.booleans()):
            cutoff = data.draw(st.sampled_from([inf, -2.0, -0.5, 0.0, 0.3, 1.0, 3.0]))
            session.set_cutoff(None if cutoff == inf else cutoff)
        if data.draw(st.booleans()):
            session.set_start(
                data.draw(st.lists(st.integers(-2, 3), min_size=len(costs), max_size=len(costs)))
            )
        agree(session, now, costs, cutoff)


def with_bounds(program: Program, what: str, index: int, low: float, high: float) -> Program:
    """Return the program with other bounds."""
    sides = {side: getattr(program, f"{what}_{side}").copy() for side in ("lower", "upper")}
    sides["lower"][index], sides["upper"][index] = low, high
    bounds = {f"{w}_{s}": getattr(program, f"{w}_{s}") for w in ("row", "column") for s in ("lower", "upper")}
    bounds |= {f"{what}_{side}": values for side, values in sides.items()}
    return make_program(program.rows, integer=program.integer, objectives=program.objectives, **bounds)


def test_a_program_is_left_as_it_was(solver: Solver) -> None:
    program = knapsack()
    for array in (program.row_lower, program.row_upper, program.column_lower, program.column_upper):
        array.flags.writeable = False
    program.rows.data.flags.writeable = False
    session = solver.open(program)
    session.set_row_bounds([0], -inf, 2)
    session.set_column_bounds([2], 0, 0)
    assert session.solve().objective == 0
    assert program.row_upper[0] == 5
    assert program.column_upper[2] == 1


def test_a_cutoff_holds_after_the_costs_change(solver: Solver) -> None:
    session = solver.open(knapsack())
    session.set_cutoff(-7)
    assert session.solve().objective == -7
    session.set_costs([-1, -1, -1])
    assert session.solve().status is Status.INFEASIBLE
    session.set_cutoff(-2)
    assert session.solve().objective == -2
    session.set_cutoff(None)
    session.set_costs([1, 1, 1])
    assert session.solve().objective == 0


@pytest.mark.parametrize(("cutoff", "status"), [(1.25, Status.OPTIMAL), (1.2499, Status.INFEASIBLE)])
def test_a_cutoff_admits_equality_for_fractional_costs(solver: Solver, cutoff: float, status: Status) -> None:
    program = make_program([[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True)
    session = solver.open(program)
    session.set_costs([1.25, 2.5])
    session.set_cutoff(cutoff)
    assert session.solve().status is status


def test_large_integers_are_told_apart(solver: Solver) -> None:
    program = make_program(
        [[1, 1]], row_lower=10_000_001, row_upper=inf, column_lower=0, column_upper=20_000_000, integer=True
    )
    session = solver.open(program)
    session.set_costs([1, 2])
    solution = session.solve()
    assert (solution.objective, solution.bound) == (10_000_001, 10_000_001)
    session.set_cutoff(10_000_000)
    assert session.solve().status is Status.INFEASIBLE


def test_decimals_are_exact(solver: Solver) -> None:
    program = make_program(
        [[0.1, 0.2]], row_lower=0.3, row_upper=0.3, column_lower=0, column_upper=3, integer=True
    )
    session = solver.open(program)
    session.set_costs([0.25, 0.125])
    assert session.solve().objective == 0.375


def test_clauses_with_negations_and_wider_columns(solver: Solver) -> None:
    program = make_program(
        [[1, -1, 1], [-1, -1, -1], [1, 1, 1]],
        row_lower=[0, -2, -inf],
        row_upper=[inf, inf, 1],
        column_lower=0,
        column_upper=1,
        integer=True,
    )
    costs = np.array([-1.0, -2.0, -1.0])
    session = solver.open(program)
    session.set_costs(costs)
    agree(session, program, costs)
    session.set_column_bounds([0], -1, 3)
    agree(session, with_bounds(program, "column", 0, -1, 3), costs)
    session.set_column_bounds([0], 0, 1)
    agree(session, program, costs)


def test_impossible_limits_are_infeasible_until_they_are_lifted(solver: Solver) -> None:
    program = make_program(
        [[1, 1]], row_lower=2, row_upper=1, column_lower=[1, 0], column_upper=[0, 1], integer=True
    )
    session = solver.open(program)
    assert session.solve().status is Status.INFEASIBLE
    session.set_row_bounds([0], 1, 2)
    assert session.solve().status is Status.INFEASIBLE
    session.set_column_bounds([0], 0, 1)
    session.set_costs([1, 2])
    assert session.solve().objective == 1


@pytest.mark.parametrize("upper", [inf, -1])
def test_no_columns_are_no_problem(solver: Solver, upper: float) -> None:
    program = make_program(
        np.zeros((1, 0)), row_lower=-inf, row_upper=upper, column_lower=0, column_upper=1, integer=True
    )
    solution = solver.open(program).solve()
    assert solution.status is (Status.OPTIMAL if upper == inf else Status.INFEASIBLE)


def test_no_rows_are_no_problem(solver: Solver) -> None:
    program = make_program(
        np.zeros((0, 2)), row_lower=0, row_upper=0, column_lower=-1, column_upper=1, integer=True
    )
    session = solver.open(program)
    session.set_costs([1, -1])
    assert session.solve().objective == -2


def test_rows_bound_columns_that_have_no_bounds(solver: Solver) -> None:
    program = make_program(
        [[2, 3], [1, -1]],
        row_lower=[-inf, 0],
        row_upper=[12, 0],
        column_lower=[0, -inf],
        column_upper=inf,
        integer=True,
    )
    session = solver.open(program)
    session.set_costs([-1, -1])
    assert session.solve().objective == -4


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("cutoff", [None, -100.0])
def test_unbounded_is_told_from_infeasible(name: str, integer: bool, cutoff: float | None) -> None:
    program = make_program(
        [[1, -1], [2, 0]],
        row_lower=[0, 1],
        row_upper=[0, inf],
        column_lower=0,
        column_upper=inf,
        integer=integer,
    )
    session = open_solver(name).open(program)
    session.set_costs([-1, -1])
    session.set_cutoff(cutoff)
    solution = session.solve()
    assert (solution.status, solution.bound, solution.values) == (Status.UNBOUNDED, -inf, None)
    session.set_row_bounds([0, 1], 1, 1.5)
    session.set_column_bounds([0, 1], 0, [0, inf])
    assert session.solve().status is Status.INFEASIBLE
    session.set_row_bounds([0, 1], -inf, [0, 8])
    session.set_column_bounds([0, 1], 0, 7)
    session.set_cutoff(None)
    assert session.solve().objective == pytest.approx(-11)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_an_unbounded_relaxation_without_integer_points_is_infeasible(name: str) -> None:
    program = make_program(
        [[2, 0], [0, 1]], row_lower=[1, 0], row_upper=[1, inf], column_lower=0, column_upper=inf, integer=True
    )
    session = open_solver(name).open(program)
    session.set_costs([0, -1])
    assert session.solve().status is Status.INFEASIBLE


def test_a_column_without_bounds_is_refused_by_solvers_that_cannot_have_one() -> None:
    program = make_program([[1]], row_lower=0, row_upper=inf, column_lower=0, column_upper=inf, integer=True)
    with pytest.raises(BadInputError, match=r"column 0 lies in \[0.0, inf\] and no row bounds it"):
        open_solver("cpsat").open(program)
    bounded = make_program([[1]], row_lower=0, row_upper=9, column_lower=0, column_upper=inf, integer=True)
    session = open_solver("cpsat").open(bounded)
    session.set_row_bounds([0], 0, inf)
    with pytest.raises(BadInputError, match="solver='highs'"):
        session.solve()


def test_a_continuous_column_is_refused_by_solvers_of_integers() -> None:
    program = make_program(
        [[1, 1]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=[True, False]
    )
    with pytest.raises(BadInputError, match=r"column 1 is continuous\. Use `solver='highs'`"):
        open_solver("cpsat").open(program)


def test_numbers_beyond_cp_sat_are_refused() -> None:
    program = make_program(
        [[2.0**50, 1]], row_lower=0, row_upper=inf, column_lower=0, column_upper=2.0**50, integer=True
    )
    with pytest.raises(BadInputError, match="CP-SAT cannot hold this program"):
        open_solver("cpsat").open(program).solve()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda s: s.set_costs([1, 2]), "costs must be 3 finite numbers", id="costs too short"),
        pytest.param(lambda s: s.set_costs([1, 2, math.nan]), "NaN or infinity", id="costs NaN"),
        pytest.param(lambda s: s.set_start([1, 2, inf]), "start must be 3", id="start infinite"),
        pytest.param(lambda s: s.set_cutoff(math.nan), "cutoff must be", id="cutoff NaN"),
        pytest.param(lambda s: s.set_column_bounds([3], 0, 1), "columns must be whole numbers from 0 to 2", id="no such column"),
        pytest.param(lambda s: s.set_column_bounds([0, 0], 0, 1), "columns must differ", id="column twice"),
        pytest.param(lambda s: s.set_row_bounds([0], [0, 1], 1), "lower must be one number", id="limits too long"),
        pytest.param(lambda s: s.set_row_bounds([0], math.nan, 1), "not NaN", id="limits NaN"),
    ],
)  # fmt: skip
def test_bad_changes_are_refused(solver: Solver, change: Callable[[Session], None], message: str) -> None:
    session = solver.open(knapsack())
    with pytest.raises(BadInputError, match=message):
        change(session)
    assert session.solve().objective == -7


def test_a_node_limit_gives_a_valid_bound(solver: Solver) -> None:
    program = cover(40, 60, 5)
    best = solver.open(program).solve().objective
    for nodes in (0, 1, 10):
        solution = solver.open(program).solve(Limits(nodes=nodes))
        assert solution.bound <= best
        if solution.values is not None:
            assert solution.objective >= best
        if solution.status is not Status.OPTIMAL:
            assert solution.status in {Status.FEASIBLE, Status.UNKNOWN}
            assert solution.limit == "nodes"


def test_no_bound_is_no_claim(solver: Solver) -> None:
    program = cover(40, 60, 5)
    session = solver.open(program)
    session.set_costs(-program.minimised_costs()[0])
    solution = session.solve(Limits(nodes=0))
    assert solution.bound <= -program.minimised_costs()[0].sum()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_continuous_column_above_a_binary_one_keeps_the_optimum(name: str) -> None:
    """HiGHS 1.14 presolves this one to 0."""
    program = make_program(
        [[1, -1]], row_lower=-np.inf, row_upper=0, column_lower=0, column_upper=1, integer=[True, False],
        objectives=[LinearObjective(Objective("cost"), np.array([-2.0, 1.0]))],
    )  # fmt: skip
    assert open_solver(name).open(program).solve().objective == pytest.approx(-1)


def test_the_same_seed_and_node_limit_give_the_same_answer(solver: Solver) -> None:
    program = cover(40, 60, 6)
    limits = Limits(nodes=30)
    first, second = (solver.open(program, seed=7).solve(limits) for _ in range(2))
    assert first.status == second.status
    assert (first.objective, first.bound) == (second.objective, second.bound)
    np.testing.assert_array_equal(first.values, second.values)


@pytest.mark.slow
def test_every_solve_has_its_own_time_limit(solver: Solver) -> None:
    program = cover(150, 300, 12)
    session, spent = solver.open(program), 0.0
    for _ in range(2):
        session.set_start(np.ones(program.n_columns))  # so that a slow machine has an answer too
        solution = session.solve(Limits(seconds=0.6))
        assert (solution.status, solution.limit) == (Status.FEASIBLE, "seconds")
        spent += solution.seconds
    assert spent > 0.6  # more than one limit that both would share; CP-SAT stops up to a third before its own


def test_no_time_is_no_answer(solver: Solver) -> None:
    solution = solver.open(knapsack()).solve(Limits(seconds=0))
    assert (solution.status, solution.limit, solution.bound) == (Status.UNKNOWN, "seconds", -inf)


def test_an_absolute_gap_stops_early_and_is_kept(solver: Solver) -> None:
    program = cover(30, 50, 5)
    best = solver.open(program).solve().objective
    solution = solver.open(program).solve(Limits(absolute_gap=15))
    assert solution.status is Status.OPTIMAL
    assert solution.objective - solution.bound <= 20
    assert solution.bound <= best <= solution.objective


def test_less_than_one_of_absolute_gap_loses_nothing_with_integer_costs(solver: Solver) -> None:
    program = cover(30, 50, 5)
    exact, early = (solver.open(program).solve(Limits(absolute_gap=gap)) for gap in (0, 1 - 1e-6))
    assert early.objective == exact.objective == early.bound


@pytest.mark.parametrize("short_programs", [False, True])
def test_a_wide_gap_proves_nothing_of_a_cutoff_that_an_answer_keeps(short_programs: bool) -> None:
    rows = [
        [3, 0, 0, 0, 4, 5], [4, 0, 4, 0, 0, 0], [0, 5, 0, 1, 0, 1], [0, 0, 2, 0, 5, 0],
        [0, 1, 4, 2, 0, 5], [2, 0, 0, 1, 3, 0], [3, 1, 1, 2, 5, 2],
    ]  # fmt: skip
    program = make_program(
        rows, row_lower=[2, 1, 1, 1, 2, 1, 3], row_upper=inf, column_lower=0, column_upper=1, integer=True,
        objectives=[LinearObjective(Objective("cost"), np.array([57.0, 26, 20, 21, 30, 52]))],
    )  # fmt: skip
    session = Highs(short_programs=short_programs).open(program)
    for gap, cutoff in [(51.0, 75), (0.5, 75), (51.0, 71), (51.0, 70), (0.5, 70), (51.0, None), (51.0, 75)]:
        session.set_cutoff(cutoff)
        solution = session.solve(Limits(absolute_gap=gap))
        if cutoff == 70:
            assert solution.status is Status.INFEASIBLE
        else:
            assert solution.status is Status.OPTIMAL
            assert 71 <= solution.objective <= min(cutoff or inf, 71 + gap)


def test_a_cancelled_solve_does_not_begin(solver: Solver) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    session = solver.open(cover(150, 300, 12))
    solution = session.solve(cancellation=cancellation)
    assert (solution.status, solution.limit) == (Status.UNKNOWN, "interrupted")


def at_the_first_answer(act: Callable[[], None]) -> Callable[[float, float], None]:
    """Return a listener that acts once, as soon as the solver has a solution, however long that takes."""
    acts = iter([act])

    def listen(objective: float, _bound: float) -> None:
        if not math.isnan(objective):
            next(acts, bool)()

    return listen


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
def test_a_cancellation_stops_a_solve_with_the_best_found(solver: Solver) -> None:
    cancellation = Cancellation()
    session = solver.open(cover(150, 300, 12))
    solution = session.solve(
        Limits(seconds=600), on_bound=at_the_first_answer(cancellation.cancel), cancellation=cancellation
    )
    assert (solution.status, solution.limit) == (Status.FEASIBLE, "interrupted")
    assert session.solve(Limits(seconds=0.5)).limit == "seconds"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C there")
def test_ctrl_c_stops_a_solve_with_the_best_found(solver: Solver) -> None:
    session = solver.open(cover(150, 300, 12))
    with cancel_on_interrupt() as cancellation:
        solution = session.solve(
            Limits(seconds=600), on_bound=at_the_first_answer(ctrl_c), cancellation=cancellation
        )
    assert (solution.status, solution.limit) == (Status.FEASIBLE, "interrupted")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C there")
def test_ctrl_c_without_a_cancellation_raises_and_leaves_the_session_usable(solver: Solver) -> None:
    session = solver.open(cover(150, 300, 12))
    with pytest.raises(KeyboardInterrupt):
        session.solve(Limits(seconds=600), on_bound=at_the_first_answer(ctrl_c))
    session.set_column_bounds(np.arange(150), 1, 1)
    assert session.solve().status is Status.OPTIMAL


def test_an_error_in_the_callers_code_stops_the_solve(solver: Solver) -> None:
    def fail(_objective: float, _bound: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solver.open(cover(40, 60, 5)).solve(Limits(seconds=600), on_bound=fail)


def test_bounds_on_the_way_get_better_and_enclose_the_optimum(solver: Solver) -> None:
    program = cover(30, 50, 5)
    heard: list[tuple[float, float]] = []
    solution = solver.open(program).solve(on_bound=lambda *news: heard.append(news))
    assert heard[-1] == (solution.objective, solution.bound)
    objectives = [objective for objective, _ in heard if not math.isnan(objective)]
    bounds = [bound for _, bound in heard]
    assert bounds == sorted(bounds)
    assert objectives == sorted(objectives, reverse=True)
    assert max(bounds) <= solution.objective + 1e-6
    assert min(objectives) >= solution.objective - 1e-6


def test_bounds_are_heard_in_the_callers_thread(solver: Solver) -> None:
    threads = set()
    solver.open(cover(30, 50, 5)).solve(on_bound=lambda *_: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_a_start_is_where_the_solve_begins(solver: Solver) -> None:
    program = cover(30, 50, 5)
    best = solver.open(program).solve()
    session = solver.open(program)
    session.set_start(best.values)
    first = session.solve(Limits(nodes=20))
    assert first.objective == best.objective


def test_a_feasible_start_is_not_called_infeasible(solver: Solver) -> None:
    session = solver.open(knapsack())
    session.set_start([1, 0, 0])
    assert session.solve().objective == -7
    session.set_row_bounds([0], 6, 6)
    session.set_start([1, 0, 0])
    assert session.solve().objective == -8


def test_sessions_are_independent(solver: Solver) -> None:
    programs = [cover(25, 40, 4, seed) for seed in range(3)]
    alone = [solver.open(program).solve().objective for program in programs]
    sessions = [solver.open(program, threads=1 + i % 2) for i, program in enumerate(programs)]
    together: list[float] = [math.nan] * 3

    def work(i: int) -> None:
        together[i] = sessions[i].solve().objective

    workers = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert together == alone


def test_sessions_of_all_solvers_agree_side_by_side() -> None:
    program = cover(40, 60, 5)
    sessions = [open_solver(name).open(program) for name in INSTALLED]
    assert len({session.solve().objective for session in sessions}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("names", [tuple(INSTALLED), tuple(INSTALLED[::-1])], ids="-".join)
def test_solvers_load_into_one_process_in_any_order(names: tuple[str, ...]) -> None:
    script = f"""
import numpy as np
from shortlist.milp import make_program, open_solver
program = make_program([[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True)
for name in {names!r}:
    open_solver(name)
for name in {names!r}:
    session = open_solver(name).open(program)
    session.set_costs([3, 2])
    print(session.solve().objective)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["2.0"] * len(names)


@pytest.mark.slow
def test_importing_the_room_imports_no_solver() -> None:
    script = (
        "import sys, shortlist.milp; print({'highspy', 'ortools', 'gurobipy', 'cplex'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(("name", "package"), [("gurobi", "gurobipy"), ("cplex", "cplex")])
def test_a_missing_solver_says_how_to_install_it(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"shortlist.milp.backends.{name}", raising=False)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'shortlist\[{name}\]'"):
        open_solver(name)
    assert set(installed_solvers()) == set(INSTALLED) - {name}


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"solver must be one of cplex, cpsat, gurobi, highs.*got 'higs'"):
        open_solver("higs")


@pytest.mark.parametrize("option", [{"seed": -1}, {"threads": 0}])
def test_options_of_a_session_are_checked(solver: Solver, option: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match=f"{next(iter(option))} must be at least"):
        solver.open(knapsack(), **option)


@SHORT
@given(program=strategies.programs())
def test_a_search_for_proofs_alone_equals_brute_force(program: Program) -> None:
    agree(Scip(proof_only=True).open(program), program, program.minimised_costs()[0])


@SHORT
@given(program=strategies.programs())
def test_the_tree_on_the_bound_equals_brute_force(program: Program) -> None:
    for threads in (1, 2):
        agree(CpSat(bound_tree=True).open(program, threads=threads), program, program.minimised_costs()[0])


decimals = st.builds(lambda whole, places: whole / 10**places, st.integers(-9999, 9999), st.integers(0, 4))


@given(rows=st.lists(st.lists(decimals, max_size=4), min_size=1, max_size=5))
def test_scaled_rows_are_the_decimals_times_the_smallest_power_of_ten(rows: list[list[float]]) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    scaled, scales = scaled_to_integers(np.array([value for row in rows for value in row]), starts, "rows")
    for i, row in enumerate(rows):
        exact = [Fraction(str(value)) for value in row]
        smallest = next(10**k for k in range(10) if all((value * 10**k).denominator == 1 for value in exact))
        assert scales[i] == smallest
        assert [value * smallest for value in exact] == scaled[starts[i] : starts[i + 1]].tolist()


@pytest.mark.parametrize(
    "values",
    [[1 / 3], [1e-10], [2.0**53], [0.5, 2.0**53]],
    ids=["a third", "ten places", "large", "large and half"],
)
def test_what_is_no_short_decimal_is_refused(values: list[float]) -> None:
    with pytest.raises(BadInputError, match=r"in row 1\. Round them, or use `solver='highs'`"):
        scaled_to_integers(np.array([1.0, *values]), np.array([0, 1, 1 + len(values)]), "rows")
