"""Both searches by branching against trying every solution, and the one over linear programs against HiGHS."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError
from shortlist.methods.integer.branching import (
    MOST_STEPS,
    CountedProgram,
    PartBounds,
    SearchedPart,
    best_by_branching,
    best_of_part,
)
from shortlist.methods.integer.dual_bounds import DualBound, IntegerRows, Interval, dual_bound
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.solrep.limited_solves import LimitedSolves
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples

SMALL = st.integers(-4, 4)


def searched(
    matrix: np.ndarray,
    part: PartBounds,
    costs: np.ndarray,
    found: DualBound,
    most: int,
    *,
    max_nodes: int = 10_000,
) -> SearchedPart:
    """Return what the search says, which must not be too large for it."""
    answer = best_of_part(
        IntegerRows(sparse.csr_array(matrix)), part, costs, found, most, max_nodes=max_nodes
    )
    assert answer is not None
    return answer


def tried(matrix: np.ndarray, limits: Interval, bounds: Interval, costs: np.ndarray) -> int | None:
    """Return the least cost of all solutions, None if there is none."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(*bounds, strict=True)]
    sums = [
        int(costs @ columns)
        for columns in map(np.array, itertools.product(*ranges))
        if (matrix @ columns >= limits[0]).all() and (matrix @ columns <= limits[1]).all()
    ]
    return min(sums, default=None)


@given(data=st.data())
@examples(150)
def test_the_best_solution_is_that_of_trying_all(data: st.DataObject) -> None:
    n_rows, n_columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    entries = SMALL | st.just(1)
    covers = st.lists(st.integers(0, 1), min_size=n_columns, max_size=n_columns)
    rows = covers | st.lists(entries, min_size=n_columns, max_size=n_columns)
    matrix = np.array([data.draw(rows) for _ in range(n_rows)])
    costs = np.array(data.draw(st.lists(SMALL, min_size=n_columns, max_size=n_columns)))
    lower = np.array([data.draw(st.integers(-3, 3)) for _ in range(n_rows)], dtype=float)
    width = np.array([data.draw(st.sampled_from([0.0, 0.0, 2.0, np.inf])) for _ in range(n_rows)])
    limits = np.where(lower < -2, -np.inf, lower), lower + width
    low = np.array([data.draw(st.integers(-1, 0)) for _ in range(n_columns)], dtype=float)
    bounds = low, low + [data.draw(st.integers(0, 2)) for _ in range(n_columns)]
    duals = np.array([data.draw(st.floats(-3, 3)) for _ in range(n_rows)])
    found = dual_bound(costs, IntegerRows(sparse.csr_array(matrix)), limits, bounds, duals)
    assert found is not None
    most = data.draw(st.integers(-15, 15))
    left = found.bounds_within(most, bounds, np.ones(n_columns, dtype=bool))
    least = tried(matrix, limits, bounds, costs)

    if left is None:
        assert least is None or least > most
        return
    answer = searched(matrix, PartBounds(limits, left, bounds), costs, found, most)

    assert answer.finished
    if least is None or least > most:
        assert answer.values is None
        return
    assert answer.values is not None
    assert int(costs @ answer.values) == least
    here = answer.values.astype(float)
    assert tried(matrix, limits, (here, here), costs) == least


def assignment(seed: int, n: int = 7) -> tuple[np.ndarray, PartBounds, np.ndarray, DualBound]:
    """Return an assignment problem with a second objective bounded, and multipliers of 0."""
    rng = np.random.default_rng(seed)
    ones = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    matrix = np.vstack([ones, rng.integers(0, 16, n * n)]).astype(np.int64)
    limits = np.append(np.ones(2 * n), -np.inf), np.append(np.ones(2 * n), 5.0 * n)
    bounds = np.zeros(n * n), np.ones(n * n)
    costs = rng.integers(0, 16, n * n)
    found = dual_bound(costs, IntegerRows(sparse.csr_array(matrix)), limits, bounds, np.zeros(2 * n + 1))
    assert found is not None
    return matrix, PartBounds(limits, bounds, bounds), costs, found


@pytest.mark.parametrize("seed", range(3))
def test_an_assignment_is_solved_as_by_trying_all_permutations(seed: int) -> None:
    matrix, part, costs, found = assignment(seed)
    n = 7
    table, other = costs.reshape(n, n), matrix[-1].reshape(n, n)
    rows = np.arange(n)
    least = min(
        int(table[rows, order].sum())
        for order in map(list, itertools.permutations(range(n)))
        if other[rows, order].sum() <= part.limits[1][-1]
    )

    assert int(costs @ searched(matrix, part, costs, found, 10_000).values) == least
    assert searched(matrix, part, costs, found, least).values is not None
    below = searched(matrix, part, costs, found, least - 1)
    assert below.finished
    assert below.values is None


def test_a_search_without_the_nodes_that_it_needs_proves_nothing() -> None:
    matrix, part, costs, found = assignment(0)

    answers = [
        searched(matrix, part, costs, found, 10_000, max_nodes=max_nodes) for max_nodes in (0, 5, 10_000)
    ]

    assert [answer.finished for answer in answers] == [False, False, True]
    assert answers[0].values is None


def test_columns_with_too_many_values_are_left_to_a_solver() -> None:
    matrix = np.array([[1, 1]])
    limits, bounds = (np.array([1.0]), np.array([np.inf])), (np.zeros(2), np.array([1.0, MOST_STEPS]))
    costs, rows = np.array([1, 1]), IntegerRows(sparse.csr_array(matrix))
    found = dual_bound(costs, rows, limits, bounds, np.ones(1))
    assert found is not None

    assert best_of_part(rows, PartBounds(limits, bounds, bounds), costs, found, 3, max_nodes=10) is None


def test_costs_beyond_64_bits_are_left_to_a_solver() -> None:
    matrix, part, costs, found = assignment(0)
    rows = IntegerRows(sparse.csr_array(matrix))

    assert best_of_part(rows, part, costs, found, 2**61 // found.scale + 2**20, max_nodes=10) is None
    assert best_of_part(rows, part, costs, found, 2**59 // found.scale, max_nodes=10) is not None


@st.composite
def counted(draw: st.DrawFn) -> CountedProgram:
    n_rows, n_columns = draw(st.integers(0, 4)), draw(st.integers(1, 6))
    entries = st.lists(SMALL, min_size=n_columns, max_size=n_columns)
    matrix = np.array([draw(entries) for _ in range(n_rows)], dtype=np.int64).reshape(n_rows, n_columns)
    lower = np.array([draw(st.integers(-6, 6)) for _ in range(n_rows)], dtype=float)
    width = np.array([draw(st.sampled_from([0.0, 1.0, 4.0, np.inf])) for _ in range(n_rows)])
    limits = np.where(lower < -4, -np.inf, lower), lower + width
    low = np.array([draw(st.integers(-2, 0)) for _ in range(n_columns)], dtype=float)
    high = low + [draw(st.integers(0, 3)) for _ in range(n_columns)]
    costs = np.array(draw(st.lists(st.integers(-9, 9), min_size=n_columns, max_size=n_columns)))
    return CountedProgram(costs, IntegerRows(sparse.csr_array(matrix)), limits, (low, high))


def least_cost(program: CountedProgram) -> int | None:
    """Return the least cost of all solutions, None if there is none."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(*program.bounds, strict=True)]
    matrix, (low, high) = program.rows.matrix.toarray(), program.limits
    tried = np.array(list(itertools.product(*ranges)))
    within = ((tried @ matrix.T >= low) & (tried @ matrix.T <= high)).all(axis=1)
    return min((tried[within] @ program.costs).tolist(), default=None)


@given(program=counted(), room=st.none() | st.integers(-3, 3))
@examples(150)
def test_over_linear_programs_the_best_solution_is_that_of_trying_all(
    program: CountedProgram, room: int | None
) -> None:
    least = least_cost(program)
    most = None if room is None else (least or 0) + room

    found = best_by_branching(program, most=most, max_nodes=1000, budget=Budget())

    assert found.finished
    if least is None or (most is not None and least > most):
        assert found.values is None
        return
    assert found.values is not None
    assert int(program.costs @ found.values) == least
    here = found.values.astype(float)
    assert least_cost(CountedProgram(program.costs, program.rows, program.limits, (here, here))) == least


def covering(n_columns: int, seed: int) -> Program:
    """Return a program whose linear relaxation is far from its answer: cover triples, at two costs."""
    rng = np.random.default_rng(seed)
    triples = np.array([rng.choice(n_columns, 3, replace=False) for _ in range(3 * n_columns)])
    rows = np.zeros((len(triples), n_columns))
    rows[np.arange(len(triples))[:, None], triples] = 1
    goals = [
        LinearObjective(Objective(name), rng.integers(1, 20, n_columns).astype(float)) for name in ("a", "b")
    ]
    return make_program(
        rows, row_lower=1, row_upper=np.inf, column_lower=0, column_upper=1, integer=True, objectives=goals
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_is_that_of_a_solver(seed: int) -> None:
    program = covering(24, seed)
    integers = integer_objectives(program)
    weights, half = np.array([3, 1]), np.array([integers.upper[0], integers.upper[1] * 3 // 4])
    solved = BoundedSolves(program, solver="cpsat", budget=Budget(), stage="x").minimise(weights, half)
    zones = RelaxedZones(program, integers, Budget())

    found = zones.best_by_branching(weights, half, None, max_nodes=2000)

    assert found is not None
    assert found.finished
    assert (solved is None) == (found.values is None)
    if solved is not None and found.values is not None:
        vector = integers.vector(found.values.astype(float))
        assert (vector <= half).all()
        assert int(weights @ vector) == int(weights @ solved)


def test_it_gives_up_after_its_nodes_and_a_solver_answers() -> None:
    program = covering(24, 0)
    integers = integer_objectives(program)
    zones = RelaxedZones(program, integers, Budget())
    weights = np.ones(2, dtype=np.int64)

    found = zones.best_by_branching(weights, integers.upper, None, max_nodes=1)

    assert found is not None
    assert not found.finished


def test_an_answer_does_not_depend_on_earlier_ones() -> None:
    program = covering(24, 1)
    integers = integer_objectives(program)
    weights = np.ones(2, dtype=np.int64)
    alone = RelaxedZones(program, integers, Budget())
    later = RelaxedZones(program, integers, Budget())
    for first in ([5, 1], [1, 9]):
        later.best_by_branching(np.array(first), integers.upper, None, max_nodes=500)

    answers = [
        zones.best_by_branching(weights, integers.upper, None, max_nodes=500) for zones in (alone, later)
    ]

    assert answers[0] is not None
    assert answers[1] is not None
    assert answers[0].values is not None
    assert answers[0].values.tolist() == answers[1].values.tolist()  # type: ignore[union-attr]


def test_rows_of_decimals_are_left_to_a_solver() -> None:
    program = make_program(
        [[0.1, np.pi]], row_lower=1, row_upper=9, column_lower=0, column_upper=3, integer=True,
        objectives=[LinearObjective(Objective(name), np.array([1.0, 2.0])) for name in ("a", "b")],
    )  # fmt: skip
    integers = integer_objectives(program)
    zones = RelaxedZones(program, integers, Budget())
    assert zones.best_by_branching(np.ones(2, int), integers.upper, None, max_nodes=9) is None


LARGE = [
    pytest.param(
        [[0, -6, -1, -5, 9]], ([-np.inf], [8]), ([14, 0, 0, 0, 0], [14, 1, 1, 1, 1]),
        [[2**49 - 8, 1, 2, 1, -1], [2**49 - 7, 0, 1, 0, -1], [2**49 - 1, -1, -1, 2, 1]],
        id="costs",
    ),
    pytest.param(
        [[-1, 2], [-2, 2]], ([-(2**53) + 3, -(2**54) - 2], [-(2**53) + 3, -(2**54) - 2]),
        ([2**53, 0], [2**53 + 4, 3]), [[0, 1], [0, 3]],
        id="bounds",
    ),
    pytest.param(
        [[1, 1]], ([np.inf], [np.inf]), ([0, 0], [1, 1]), [[1, 0], [0, 1]], id="limits that HiGHS refuses"
    ),
    pytest.param([[1, 1]], ([0], [1]), ([0.3, 0], [0.7, 1]), [[1, 0], [0, 1]], id="bounds that cross"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "limits", "bounds", "costs"), LARGE)
def test_numbers_that_floats_round_are_left_to_a_solver(
    rows: list[list[int]],
    limits: tuple[list[float], list[float]],
    bounds: tuple[list[float], list[float]],
    costs: list[list[int]],
) -> None:
    goals = [LinearObjective(Objective(f"f{i}"), np.array(row, float)) for i, row in enumerate(costs)]
    program = make_program(
        rows, row_lower=limits[0], row_upper=limits[1], column_lower=bounds[0], column_upper=bounds[1],
        integer=True, objectives=goals,
    )  # fmt: skip
    integers = integer_objectives(program)
    zones = RelaxedZones(program, integers, Budget())
    weights = np.ones(len(costs), dtype=np.int64)
    assert zones.best_by_branching(weights, integers.upper, None, max_nodes=100) is None


def test_a_cancelled_search_ends() -> None:
    program = covering(24, 1)
    cancellation = Cancellation()
    cancellation.cancel()
    solves = LimitedSolves(program, solver="highs", budget=Budget(cancellation=cancellation), stage="x")
    with pytest.raises(LimitReachedError, match="interrupted"):
        solves.attempt(np.array([1, 1]), solves.integers.upper)


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_an_answer_that_integers_prove_counts_as_checked(solver: str) -> None:
    solves = LimitedSolves(covering(12, 3), solver=solver, budget=Budget(), stage="x")
    outcome = solves.attempt(np.array([1, 1]), solves.integers.upper)
    assert (outcome.status, outcome.checked) == (Status.OPTIMAL, solver == "highs")


def test_a_start_that_nothing_betters_is_the_answer() -> None:
    solves = LimitedSolves(covering(12, 3), solver="highs", budget=Budget(), stage="x")
    weights = np.array([1, 1])
    first = solves.attempt(weights, solves.integers.upper)
    again = solves.attempt(weights, solves.integers.upper, start=first.vector)
    assert first.vector is not None
    assert again.vector is not None
    assert again.vector.tolist() == first.vector.tolist()
    assert again.status is Status.OPTIMAL
