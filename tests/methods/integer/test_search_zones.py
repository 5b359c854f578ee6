"""Complete fronts by search zones, and what all exact methods have in common."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.search_zones import search_zones, split_zones
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.milp.solution import Limits, Session, Solution
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind, Status
from shortlist.runs.budget import Budget, Progress
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.methods import oracles
from tests.methods.strategies import multiobjective_programs

Method = Callable[..., Front]

METHODS: dict[str, Method] = {
    "search zones": search_zones,
    "CWMOIP": cwmoip,
    "ε-constraint": epsilon_constraint,
    "ε-constraint with true bounds": lambda *args, **options: epsilon_constraint(
        *args, true_bounds=True, **options
    ),
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())

PAPER = "feature-models/paper-instances"
CHAT = ["PREDEFINE_ONE", "RAND2", "RAND3", "RAND4"]


@given(program=multiobjective_programs())
@examples(25)
def test_every_method_finds_the_front_of_brute_force_and_proves_it(program: Program) -> None:
    expected = oracles.front(program)
    for name, method in METHODS.items():
        front = method(program)

        assert oracles.as_set(front) == expected, name
        assert len(front) == len(expected)
        assert front.proof.kind is ProofKind.COMPLETE
        assert front.proof.n_unresolved == 0
        for values, decision in zip(front.values.tolist(), front.decisions.tolist(), strict=True):
            assert oracles.is_feasible(program, tuple(decision))
            assert oracles.value(program, tuple(decision)) == tuple(map(oracles.decimal, values))


@given(program=multiobjective_programs(), order=st.randoms(use_true_random=False))
@examples(15)
def test_the_order_of_objectives_changes_nothing(program: Program, order: Any) -> None:
    numbers = list(range(len(program.objectives)))
    order.shuffle(numbers)
    shuffled = dataclasses.replace(program, objectives=tuple(program.objectives[i] for i in numbers))

    for method in METHODS.values():
        points = oracles.as_set(method(program))
        assert oracles.as_set(method(shuffled)) == {tuple(p[i] for i in numbers) for p in points}


@given(program=multiobjective_programs(), max_solves=st.integers(1, 12))
@examples(25)
def test_a_limit_lowers_the_claim_and_never_the_truth(program: Program, max_solves: int) -> None:
    expected = oracles.front(program)
    for method in METHODS.values():
        front = method(program, max_solves=max_solves)

        assert front.extras["n_programs"] <= max_solves
        if front.proof.kind is ProofKind.COMPLETE:
            assert oracles.as_set(front) == expected
            continue
        assert front.proof.limit == f"{max_solves} solves"
        assert front.proof.n_unresolved > 0
        if front.proof.kind is ProofKind.NONDOMINATED:
            assert oracles.as_set(front) <= expected


@given(data=st.data(), n_objectives=st.integers(2, 4))
def test_zones_are_the_maximal_boxes_without_a_known_point(data: st.DataObject, n_objectives: int) -> None:
    points = st.lists(st.integers(0, 4), min_size=n_objectives, max_size=n_objectives)
    zones = np.full((1, n_objectives), 5)
    known: list[list[int]] = []
    for point in data.draw(st.lists(points, max_size=6)):
        if any(all(a <= b for a, b in zip(k, point, strict=True)) for k in known):
            continue
        if any(all(a <= b for a, b in zip(point, k, strict=True)) for k in known):
            continue
        known.append(point)
        hit, fresh = split_zones(zones, np.array(point))
        zones = np.vstack([zones[~hit], fresh])

    for target in np.ndindex(*[5] * n_objectives):
        is_free = not any(all(k <= t for k, t in zip(point, target, strict=True)) for point in known)
        assert (np.array(target) < zones).all(axis=1).any() == is_free
    for i, zone in enumerate(zones):
        assert not (zone <= np.delete(zones, i, axis=0)).all(axis=1).any(), "redundant zone"


def shop(n_items: int = 6) -> Program:
    """Return a knapsack with three objectives."""
    rng = np.random.default_rng(7)
    names = ["price", "weight", "joy"]
    return make_program(
        rng.integers(1, 9, (1, n_items)),
        row_lower=4,
        row_upper=20,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(
                Objective(name, Sense.MAX if name == "joy" else Sense.MIN),
                rng.integers(0, 9, n_items).astype(float),
            )
            for name in names
        ],
    )


@each_method
def test_an_infeasible_program_has_a_complete_front_without_points(method: Method) -> None:
    program = dataclasses.replace(shop(), row_lower=np.array([1e6]), row_upper=np.array([np.inf]))

    front = method(program)

    assert len(front) == 0
    assert front.decisions.shape == (0, 6)
    assert front.proof.kind is ProofKind.COMPLETE


@each_method
def test_equal_vectors_of_different_solutions_are_one_point(method: Method) -> None:
    twins = [LinearObjective(Objective(name), np.ones(3)) for name in ("a", "b")]
    program = make_program(
        [[1, 1, 1]], row_lower=1, row_upper=3, column_lower=0, column_upper=1, integer=True, objectives=twins
    )

    front = method(program)

    assert front.values.tolist() == [[1.0, 1.0]]
    assert front.decisions.sum() == 1


@each_method
def test_a_cent_is_not_lost_in_a_large_sum(method: Method) -> None:
    price = LinearObjective(Objective("price", scale=None), np.array([9456.78, 9456.79, 9456.8]))
    defects = LinearObjective(Objective("defects"), np.array([3.0, 2.0, 1.0]))
    program = make_program(
        [[1, 1, 1]],
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[price, defects],
    )

    front = method(program)

    assert front.values.tolist() == [[9456.78, 3.0], [9456.79, 2.0], [9456.8, 1.0]]
    assert front.objectives[0].scale == 100


def wide(largest: int, seed: int) -> Program:
    """Return a program whose weighted objectives are too large for one program to be lexicographic."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(-largest, largest, (3, 4)).astype(float)
    return make_program(
        [[1, 1, 1, 1]],
        row_lower=0,
        row_upper=3,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective(f"f{i}"), row) for i, row in enumerate(costs)],
    )


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_ranges_too_wide_for_weights_in_one_program_lose_nothing(method: Method, seed: int) -> None:
    program = wide(10**6, seed)

    assert oracles.as_set(method(program)) == oracles.front(program)


@each_method
@pytest.mark.parametrize("largest", [10**8, 10**13])
def test_costs_beyond_the_precision_of_highs_are_solved_in_integers(method: Method, largest: int) -> None:
    program = wide(largest, 3)
    front = method(program)

    assert oracles.as_set(front) == oracles.front(program)
    assert front.extras["n_handed_over"] > 0
    assert oracles.as_set(method(program, solver="cpsat")) == oracles.front(program)


@each_method
@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_limits_that_no_solver_decides_are_refused_with_advice_that_helps(
    method: Method, solver: str
) -> None:
    huge = np.array([[3, 2, 1]]) * 2.0**51 + [[1, 1, 0]]
    objectives = [
        LinearObjective(Objective(name), np.array(costs))
        for name, costs in (("a", [-1.0, -2.0, -1.0]), ("b", [1.0, 1.0, 2.0]))
    ]

    def shop_with(rows: Any) -> Program:
        return make_program(
            rows, row_lower=-np.inf, row_upper=rows.max(), column_lower=0, column_upper=1, integer=True,
            objectives=objectives,
        )  # fmt: skip

    with pytest.raises(BadInputError, match=r"below 2\^53 .* Round their coefficients to fewer digits"):
        method(shop_with(huge), solver=solver)
    rounded = shop_with(np.rint(huge / 10))
    assert oracles.as_set(method(rounded, solver=solver)) == oracles.front(rounded)


@each_method
def test_continuous_columns_may_serve_the_rows_but_not_the_objectives(method: Method) -> None:
    objectives = [
        LinearObjective(Objective("few"), np.array([1.0, 1.0, 0.0])),
        LinearObjective(Objective("second"), np.array([1.0, 0.0, 0.0])),
    ]
    program = make_program(
        [[1, 2, -1]],
        row_lower=0.5,
        row_upper=np.inf,
        column_lower=0,
        column_upper=[1, 1, 0.25],
        integer=[True, True, False],
        objectives=objectives,
    )

    front = method(program, candidates=["a", "b"])

    assert front.values.tolist() == [[1.0, 0.0]]
    assert front.decisions.tolist() == [[0, 1]]
    assert front.candidates == ("a", "b")


@each_method
def test_candidates_of_another_number_are_refused(method: Method) -> None:
    with pytest.raises(BadInputError, match="6 integer columns, got 1"):
        method(shop(), candidates=["one"])


@each_method
def test_an_objective_that_improves_for_ever_is_refused(method: Method) -> None:
    profit = LinearObjective(Objective("profit", Sense.MAX), np.array([1.0, 0.0]))
    cost = LinearObjective(Objective("cost", Sense.MAX), np.array([0.0, 1.0]))
    program = make_program(
        [[1, -1]],
        row_lower=0,
        row_upper=0,
        column_lower=0,
        column_upper=np.inf,
        integer=True,
        objectives=[profit, cost],
    )

    with pytest.raises(BadInputError, match=r"bound"):
        method(program)


def test_an_objective_without_a_worst_value_still_has_its_front() -> None:
    few = LinearObjective(Objective("few"), np.array([1.0, 2.0]))
    waste = LinearObjective(Objective("waste"), np.array([3.0, 1.0]))
    program = make_program(
        [[1, 1]],
        row_lower=3,
        row_upper=np.inf,
        column_lower=0,
        column_upper=np.inf,
        integer=True,
        objectives=[few, waste],
    )

    front = search_zones(program)

    assert front.values.tolist() == [[3.0, 9.0], [4.0, 7.0], [5.0, 5.0], [6.0, 3.0]]
    assert front.proof.kind is ProofKind.COMPLETE


@each_method
def test_a_time_limit_that_is_over_at_once_leaves_an_honest_front(method: Method) -> None:
    front = method(shop(), budget=Budget(seconds=1e-9))

    assert len(front) == 0
    assert front.proof.kind is not ProofKind.COMPLETE
    assert front.proof.limit == "1e-09 s"
    assert front.proof.n_unresolved >= 1


@each_method
def test_a_limit_of_a_part_of_the_time_is_told_as_the_users(method: Method) -> None:
    now = [0.0]

    def tick(progress: Progress) -> None:
        now[0] = 10.0 * progress.done

    whole = Budget(200, clock=lambda: now[0], start=0.0, report=tick)
    front = method(shop(), budget=whole.until(0.2))

    assert front.extras["n_programs"] == 4
    assert (front.proof.limit, front.seconds) == ("200 s", 40.0)


@each_method
def test_cancelling_after_some_programs_keeps_what_was_found(method: Method) -> None:
    cancellation = Cancellation()

    def stop(progress: Progress) -> None:
        assert progress.total is None
        if progress.done >= 6:
            cancellation.cancel()

    front = method(shop(), budget=Budget(report=stop, cancellation=cancellation))

    assert front.extras["n_programs"] == 6
    assert front.proof.limit == "interrupted"
    assert front.proof.n_unresolved >= 1


@each_method
def test_another_solver_gives_the_same_front(method: Method) -> None:
    front, other = method(shop()), method(shop(), solver=open_solver("cpsat"))

    np.testing.assert_array_equal(front.values, other.values)
    assert other.extras["solver"] == "cpsat"


def test_a_program_leaves_no_trace_in_its_arguments() -> None:
    program = shop()
    for array in (program.row_lower, program.row_upper, program.column_lower, program.column_upper):
        array.setflags(write=False)

    assert oracles.as_set(search_zones(program)) == oracles.front(program)


class _Lying:
    """A solver that drops its first answers, or answers with something worse than the best."""

    name = "lying"
    handles_continuous = True
    tolerance = 1e-7

    def __init__(self, *, n_dropped: int = 0, worse_after: int | None = None) -> None:
        self._n_dropped = n_dropped
        self._worse_after = worse_after
        self._n_solves = 0
        self.seeds: list[int] = []

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        self.seeds.append(seed)
        session = open_solver("highs").open(program, seed=seed, threads=threads)
        honest = session.solve

        def solve(limits: Limits = Limits(), **options: Any) -> Solution:  # noqa: B008  # the protocol's default
            self._n_solves += 1
            if self._n_solves <= self._n_dropped:
                return Solution(Status.UNKNOWN, None, np.nan, -np.inf, 0.0, limit="precision")
            solution = honest(limits, **options)
            if self._worse_after is not None and self._n_solves > self._worse_after:
                assert solution.values is not None
                return dataclasses.replace(solution, values=np.ones_like(solution.values))
            return solution

        session.solve = solve  # type: ignore[method-assign]  # the point of this double
        return session


def test_an_answer_that_does_not_stand_the_check_is_asked_for_again_with_another_seed() -> None:
    solver = _Lying(n_dropped=2)

    front = search_zones(shop(), solver=solver, budget=Budget(seed=5))

    assert oracles.as_set(front) == oracles.front(shop())
    assert solver.seeds == [5, 6, 7]


def test_a_solver_that_never_gives_an_exact_answer_is_an_error() -> None:
    with pytest.raises(SolverError, match="no exact answer in 3 attempts"):
        search_zones(shop(), solver=_Lying(n_dropped=100))


def test_an_answer_outside_its_bounds_is_an_error() -> None:
    program = shop()
    program.row_upper[:] = 1000

    with pytest.raises(SolverError, match="bounds missed"):
        cwmoip(program, solver=_Lying(worse_after=6))


@pytest.mark.parametrize("number", range(4), ids=CHAT)
def test_chat_system_has_its_published_front(data_folder: Path, number: int) -> None:
    program = oracles.paper_program(data_folder / PAPER / f"moip/parameter_js{number + 1}.txt")
    expected = oracles.paper_front(
        data_folder / PAPER / f"reference-fronts/ChatSystem_{CHAT[number]}.csv", program.n_columns
    )
    assert len(expected) == [39, 9, 22, 31][number]

    for method in METHODS.values():
        front = method(program)
        np.testing.assert_array_equal(front.values, expected)


@pytest.mark.slow
def test_web_portal_has_its_published_front(data_folder: Path) -> None:
    program = oracles.paper_program(data_folder / PAPER / "moip/parameter_wp1.txt")
    expected = oracles.paper_front(
        data_folder / PAPER / "reference-fronts/WebPortal_RAND1.csv", program.n_columns
    )

    front = search_zones(program)

    assert len(front) == 451
    np.testing.assert_array_equal(front.values, expected)
    assert front.extras["n_programs"] < 3 * len(front)


def test_the_ends_of_the_front_come_first_with_the_proved_best_of_each_objective() -> None:
    whole = search_zones(shop())
    best = [whole.values[:, 0].min(), whole.values[:, 1].min(), whole.values[:, 2].max()]
    ends = search_zones(shop(), max_solves=6)

    assert ends.proof.kind is ProofKind.NONDOMINATED
    assert [ends.values[:, 0].min(), ends.values[:, 1].min(), ends.values[:, 2].max()] == best
    assert ends.extras["ideal"] == whole.extras["ideal"] == best
    assert search_zones(shop(), max_solves=1).extras["ideal"] == [best[0], None, None]
