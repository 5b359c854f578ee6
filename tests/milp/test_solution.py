import math
import threading
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.milp import Limits, LinearObjective, Program, make_program
from shortlist.milp.current import CurrentProgram
from shortlist.milp.engine import CheckedSession, Patience
from shortlist.milp.solution import Claim, checked_solution, largest_violation
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget
from tests.milp import oracles, strategies

inf = math.inf
NO_LIMITS = Limits()


def knapsack(costs: tuple[float, ...] = (-5.0, -4.0, -3.0), integer: object = True) -> Program:
    """Weights 4, 3 and 2, at most 5 of them; the best with integer columns is the last two, at -7."""
    return make_program(
        [[4, 3, 2]],
        row_lower=-inf,
        row_upper=5,
        column_lower=0,
        column_upper=1,
        integer=integer,  # type: ignore[arg-type]  # a list or one boolean
        objectives=[LinearObjective(Objective("cost"), np.array(costs))],
    )


class Liar:
    """An engine that says what it was told to say."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim

    def run(self, *_: object, **_size: float) -> Claim:
        return self.claim

    def __getattr__(self, _name: str) -> Any:
        return lambda *_: None


def told(claim: Claim, program: Program | None = None) -> CheckedSession:
    """Open a session with a solver that claims `claim`."""
    return CheckedSession(program or knapsack(), lambda *_: cast("Any", Liar(claim)), tolerance=1e-7)


def claim(
    values: list[float] | None, bound: float = -7, status: Status = Status.OPTIMAL, limit: str = ""
) -> Claim:
    return Claim(status, None if values is None else np.array(values), bound, limit=limit)


def test_a_true_claim_stands() -> None:
    solution = told(claim([0, 1, 1])).solve()
    assert (solution.status, solution.objective, solution.bound, solution.limit) == (
        Status.OPTIMAL,
        -7,
        -7,
        "",
    )
    assert solution.gap == 0


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([1, 1, 1], id="too heavy"),
        pytest.param([1, 0.51, 0], id="rounded it is too heavy"),
        pytest.param([0, 2, 0], id="outside the bounds"),
        pytest.param([0, math.nan, 0], id="not a number"),
        pytest.param([0, 1], id="too short"),
    ],
)
def test_values_that_miss_the_program_are_dropped(values: list[float]) -> None:
    solution = told(claim(values)).solve()
    assert (solution.status, solution.values, solution.limit) == (Status.UNKNOWN, None, "precision")
    assert math.isnan(solution.objective)
    assert solution.bound == -7


def test_values_that_cost_more_than_the_bound_are_not_called_optimal() -> None:
    solution = told(claim([1, 0, 0])).solve()
    assert (solution.status, solution.objective, solution.bound) == (Status.FEASIBLE, -5, -7)
    assert solution.limit == "precision"


def test_values_that_beat_the_bound_are_an_error() -> None:
    with pytest.raises(SolverError, match=r"nothing costs less than -5, but its own answer costs -7.0"):
        told(claim([0, 1, 1], bound=-5)).solve()


def test_a_bound_that_is_wrong_by_a_little_among_many_terms_is_an_error_too() -> None:
    n = 30_000
    many = make_program(
        np.zeros((0, n)), row_lower=[], row_upper=[], column_lower=0, column_upper=1, integer=True,
        objectives=[LinearObjective(Objective("cost"), -np.ones(n))],
    )  # fmt: skip
    values = np.ones(n)
    values[0] = 0
    wrong = Claim(Status.OPTIMAL, values, bound=-29_997.0)
    with pytest.raises(SolverError, match="nothing costs less than -29997"):
        told(wrong, many).solve()


def test_a_feasible_start_contradicts_infeasible() -> None:
    session = told(Claim(Status.INFEASIBLE))
    assert session.solve().status is Status.INFEASIBLE
    session.set_start([1, 1, 1])
    assert session.solve().status is Status.INFEASIBLE
    session.set_start([1, 0, 0])
    with pytest.raises(SolverError, match="nothing satisfies the program, but the given start does"):
        session.solve()
    session.set_start([1, 0, 0])
    session.set_cutoff(-6)
    assert session.solve().status is Status.INFEASIBLE


@pytest.mark.parametrize("cutoff", [355279.5, math.nextafter(0.8, 0)])
def test_a_start_beyond_the_cutoff_by_a_rounding_error_contradicts_nothing(cutoff: float) -> None:
    costs = (6111703.5, -5756423.5, 0.0) if cutoff > 1 else (0.7, 0.1, 0.0)
    free = make_program(
        np.zeros((0, 3)), row_lower=[], row_upper=[], column_lower=[1, 1, 0], column_upper=1, integer=True,
        objectives=[LinearObjective(Objective("cost"), np.array(costs))],
    )  # fmt: skip
    session = told(Claim(Status.INFEASIBLE), free)
    session.set_cutoff(cutoff)
    session.set_start([1, 1, 0])
    assert session.solve().status is Status.INFEASIBLE
    session.set_cutoff(cutoff + 0.5)
    session.set_start([1, 1, 0])
    with pytest.raises(SolverError, match="the given start does"):
        session.solve()


def test_a_start_that_misses_a_row_by_a_rounding_error_contradicts_nothing() -> None:
    thirds = make_program(
        [[1 / 3, 1 / 3]], row_lower=-inf, row_upper=2 / 3 - 1e-9, column_lower=0, column_upper=1,
        integer=False, objectives=[LinearObjective(Objective("cost"), np.zeros(2))],
    )  # fmt: skip
    session = told(Claim(Status.INFEASIBLE), thirds)
    session.set_start([1, 1])
    assert session.solve().status is Status.INFEASIBLE
    session.set_start([1, 0.5])
    with pytest.raises(SolverError, match="the given start does"):
        session.solve()


def test_values_beyond_the_cutoff_are_dropped() -> None:
    session = told(claim([0, 1, 1]))
    session.set_cutoff(-7.5)
    assert session.solve().limit == "precision"
    session.set_cutoff(-7)
    assert session.solve().status is Status.OPTIMAL


def test_a_bound_is_raised_to_the_next_integer_only_if_every_objective_is_one() -> None:
    found = [
        told(claim([0, 1, 1], bound=-7.9), program).solve()
        for program in (knapsack(), knapsack((-5, -4, -2.5)))
    ]
    assert [solution.bound for solution in found] == [-7, -7.9]
    assert [solution.status for solution in found] == [Status.OPTIMAL, Status.FEASIBLE]


def test_a_stopped_solver_that_met_its_bound_is_optimal() -> None:
    solution = told(claim([0, 1, 1], status=Status.FEASIBLE, limit="seconds")).solve()
    assert (solution.status, solution.limit) == (Status.OPTIMAL, "")


def test_a_gap_within_the_limits_is_optimal() -> None:
    session = told(claim([1, 0, 0]))
    assert session.solve(Limits(absolute_gap=2)).status is Status.OPTIMAL
    assert session.solve(Limits(absolute_gap=1.9)).status is Status.FEASIBLE


@pytest.mark.parametrize("limit", ["seconds", "nodes", "interrupted"])
def test_a_limit_without_an_answer_keeps_the_bound(limit: str) -> None:
    solution = told(claim(None, bound=-8.5, status=Status.FEASIBLE, limit=limit)).solve()
    assert (solution.status, solution.values, solution.bound) == (Status.UNKNOWN, None, -8)
    assert solution.limit == limit
    assert math.isnan(solution.gap)


def test_a_solver_that_says_nothing_is_unknown() -> None:
    solution = told(Claim(Status.UNKNOWN, bound=math.nan)).solve()
    assert (solution.status, solution.bound, solution.limit) == (Status.UNKNOWN, -inf, "solver")


def test_integers_come_out_exact_and_without_negative_zeros() -> None:
    solution = told(claim([-1e-9, 1 - 1e-7, 1.0000001])).solve()
    assert solution.values is not None
    np.testing.assert_array_equal(solution.values, [0, 1, 1])
    assert not np.signbit(solution.values).any()


def test_continuous_columns_are_moved_into_their_bounds() -> None:
    program = knapsack(integer=[True, False, True])
    solution = told(claim([0, 1 + 1e-9, 1]), program).solve()
    assert solution.values is not None
    assert solution.values[1] == 1


def test_a_miss_of_one_is_seen_among_ten_millions() -> None:
    program = make_program(
        [[10_000_000, 1]], row_lower=-inf, row_upper=10_000_000, column_lower=0, column_upper=1, integer=True
    )
    assert largest_violation(program, np.array([1.0, 1.0])) == 1
    assert largest_violation(program, np.array([1.0, 0.0])) == 0


def test_a_miss_in_a_row_with_fractions_is_relative_to_its_terms() -> None:
    program = make_program(
        [[0.5, 1.5]], row_lower=2.0, row_upper=2.0, column_lower=0, column_upper=1000, integer=False
    )
    assert largest_violation(program, np.array([1.0, 1.0])) == 0
    assert largest_violation(program, np.array([5.0, 1.0])) == pytest.approx(2 / 4)


@given(program=strategies.programs(), data=st.data())
def test_a_violation_is_zero_exactly_on_the_solutions(program: Program, data: st.DataObject) -> None:
    values = np.array(
        data.draw(st.sampled_from(oracles.grid(program) or [(0,) * program.n_columns])), dtype=float
    )
    activity = [
        sum(a * x for a, x in zip(row, values, strict=True)) for row in program.rows.toarray().tolist()
    ]
    rows_hold = all(
        low <= value <= high
        for low, value, high in zip(program.row_lower, activity, program.row_upper, strict=True)
    )
    bounds_hold = ((program.column_lower <= values) & (values <= program.column_upper)).all()
    assert (largest_violation(program, values) == 0) == (rows_hold and bounds_hold)


@pytest.mark.parametrize(
    "limits", [{"seconds": -1}, {"seconds": math.nan}, {"nodes": -1}, {"absolute_gap": -0.5}]
)
def test_limits_are_not_negative(limits: dict[str, float]) -> None:
    with pytest.raises(BadInputError, match="must be at least 0"):
        Limits(**limits)  # type: ignore[arg-type]  # nodes is a count


def test_a_solve_gets_what_is_left_of_the_budget_and_no_more_than_its_own_limit() -> None:
    budget = Budget(60, clock=lambda: 25.0, start=0.0)
    assert Limits(nodes=3).within(budget) == Limits(35.0, 3)
    assert Limits(10.0).within(budget) == Limits(10.0)
    assert Limits(absolute_gap=0.5).within(Budget()) == Limits(absolute_gap=0.5)


def test_an_error_of_the_solver_comes_out() -> None:
    class Broken(Liar):
        def run(self, *_: object, **_size: float) -> Claim:
            raise SolverError("broken")

    with pytest.raises(SolverError, match="broken"):
        CheckedSession(
            knapsack(), lambda *_: cast("Any", Broken(Claim(Status.UNKNOWN))), tolerance=1e-7
        ).solve()


def test_a_program_called_unbounded_is_asked_for_a_solution() -> None:
    class Unsure(Liar):
        costs = np.ones(3)

        def change_costs(self, costs: Any) -> None:
            self.costs = costs

        def run(self, *_: object, **_size: float) -> Claim:
            return Claim(Status.UNBOUNDED) if self.costs.any() else self.claim

    answers = {
        kind: CheckedSession(
            knapsack(), lambda *_, kind=kind: cast("Any", Unsure(Claim(kind))), tolerance=1e-7
        ).solve()
        for kind in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNKNOWN)
    }
    assert answers[Status.OPTIMAL].status is Status.UNBOUNDED
    assert answers[Status.OPTIMAL].bound == -inf
    assert answers[Status.INFEASIBLE].status is Status.INFEASIBLE
    assert answers[Status.UNKNOWN].status is Status.UNKNOWN


def test_the_check_needs_no_session() -> None:
    solution = checked_solution(CurrentProgram(knapsack()), claim([0, 1, 1]), NO_LIMITS, seconds=1.5)
    assert (solution.objective, solution.seconds) == (-7, 1.5)


def test_a_solver_that_does_not_stop_is_left_alone_and_loaded_afresh() -> None:
    over = threading.Event()
    loaded: list[Liar] = []

    class Deaf(Liar):
        """Its first run goes on whatever it is told."""

        def run(self, *_: object, **_size: float) -> Claim:
            if len(loaded) == 1:
                over.wait(600)
            return self.claim

    def load(*_: object) -> Any:
        loaded.append(Deaf(claim([0, 1, 1])))
        return loaded[-1]

    session = CheckedSession(knapsack(), load, tolerance=1e-7, patience=Patience(0.0, 0.0))
    session.set_start([0, 0, 1])
    try:
        solution = session.solve(Limits(seconds=1e-9))
        assert (solution.status, solution.objective, solution.limit) == (Status.FEASIBLE, -3, "seconds")
        assert session.solve().objective == -7
        assert len(loaded) == 2
    finally:
        over.set()


def test_ctrl_c_leaves_a_solver_alone_that_does_not_stop() -> None:
    over = threading.Event()
    heard = threading.Event()

    class Deaf(Liar):
        def run(self, *arguments: Any, **_size: float) -> Claim:
            arguments[1](-5.0, -7.0)
            heard.set()
            over.wait(600)
            return self.claim

    def interrupt(*_: float) -> None:
        assert heard.wait(600)
        raise KeyboardInterrupt

    deaf = cast("Any", Deaf(claim([0, 1, 1])))
    session = CheckedSession(knapsack(), lambda *_: deaf, tolerance=1e-7, patience=Patience(1.0, 0.0))
    try:
        with pytest.raises(KeyboardInterrupt):
            session.solve(on_bound=interrupt)
    finally:
        over.set()
