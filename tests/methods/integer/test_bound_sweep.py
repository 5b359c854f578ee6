"""CWMOIP and the ε-constraint method, and every exact method against every other."""

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.methods.integer import bounded_solves
from shortlist.methods.integer.bound_sweep import BoundSweep, cwmoip, epsilon_constraint, sweep_all
from shortlist.methods.integer.bounded_solves import LimitReachedError, safe_weights
from shortlist.methods.integer.integer_objectives import Vector, integer_objectives
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.pareto import nondominated
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind
from tests.methods import oracles
from tests.methods.random_programs import KINDS, listed_front, random_program


def test_a_sweep_asks_nothing_twice_and_meets_every_minimum() -> None:
    points = np.array([[5, 0, 3], [4, 1, 1], [3, 3, 0], [4, 0, 2], [2, 2, 2]])
    asked: list[tuple[int, ...]] = []

    def solve(_: Vector, bounds: Vector) -> Vector | None:
        asked.append(tuple(bounds.tolist()))
        within = points[(points <= bounds).all(axis=1)]
        return within[np.argmin(within[:, 0])] if len(within) else None

    sweep = BoundSweep(solve, [0, 1, 2], points.min(axis=0), points.max(axis=0))
    sweep.run()

    found = {tuple(answer) for answer in sweep.answers.vectors[nondominated(sweep.answers.vectors)].tolist()}
    assert found == {(4, 1, 1), (3, 3, 0), (4, 0, 2), (2, 2, 2)}
    assert len(asked) == len(set(asked))
    assert sweep.n_skipped > 0
    assert sweep.n_open == 0


def test_a_sweep_that_a_limit_ends_keeps_its_answers_and_says_how_many_loops_are_open() -> None:
    points = np.array([[3, 0], [2, 1], [1, 2]])
    asked: list[Vector] = []

    def solve(_: Vector, bounds: Vector) -> Vector:
        if len(asked) == 2:
            raise LimitReachedError("60 s")
        asked.append(bounds)
        within = points[(points <= bounds).all(axis=1)]
        return np.asarray(within[np.argmin(within[:, 0])])

    swept = sweep_all([0, 1], lambda: (points.min(axis=0), points.max(axis=0)), solve)
    proof = swept.proof(ProofKind.APPROXIMATE)

    assert swept.answers.tolist() == [[1, 2], [2, 1]]
    assert (proof.kind, proof.n_unresolved, proof.limit) == (ProofKind.APPROXIMATE, 1, "60 s")


def test_without_a_solution_there_is_nothing_to_sweep() -> None:
    swept = sweep_all([0, 1], lambda: None, lambda *_: None)

    assert (len(swept.answers), swept.proof(ProofKind.APPROXIMATE).kind) == (0, ProofKind.COMPLETE)


def ties(n_items: int = 5) -> Program:
    """Choose two of the items, all equal in the first objective."""
    rng = np.random.default_rng(1)
    costs = [np.ones(n_items), *rng.integers(0, 5, (2, n_items))]
    return make_program(
        np.ones((1, n_items)),
        row_lower=2,
        row_upper=2,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(name), row.astype(float))
            for name, row in zip(("flat", "b", "c"), costs, strict=True)
        ],
    )


def test_ties_of_the_first_objective_never_give_a_dominated_answer() -> None:
    program = ties()
    expected = oracles.front(program)

    for max_solves in range(1, 30):
        front = cwmoip(program, order=["flat", "b", "c"], max_solves=max_solves)
        assert oracles.as_set(front) <= expected
        if front.proof.kind is ProofKind.COMPLETE:
            break
        assert front.proof.kind is ProofKind.NONDOMINATED
    assert oracles.as_set(front) == expected


def test_two_programs_replace_weights_that_a_solver_could_not_resolve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = ties()
    by_weights = cwmoip(program, order=["b", "c", "flat"])
    monkeypatch.setattr(bounded_solves, "largest_objective", lambda _tolerance: 1)
    by_pairs = cwmoip(program, order=["b", "c", "flat"])

    np.testing.assert_array_equal(by_weights.values, by_pairs.values)
    assert by_pairs.extras["n_programs"] > by_weights.extras["n_programs"]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_one_step_of_the_first_objective_outweighs_all_ranges(first: int) -> None:
    integers = integer_objectives(ties())

    weights, decides = safe_weights(integers, first, integers.lower, integers.upper, 10**6)

    others = np.arange(3) != first
    assert decides
    assert (weights[others] == 1).all()
    assert weights[first] == 1 + (integers.upper - integers.lower)[others].sum()


def test_weights_say_when_they_do_not_decide() -> None:
    integers = integer_objectives(ties())

    weights, decides = safe_weights(integers, 1, integers.lower, integers.upper, 20)

    assert not decides
    assert (weights >= 1).all()


def test_the_true_bounds_take_two_programs_for_each_objective_but_the_first() -> None:
    front = cwmoip(ties(), max_solves=4)

    assert front.extras["n_programs"] == 4
    assert len(front) == 0


@pytest.mark.parametrize("method", [cwmoip, epsilon_constraint, search_zones], ids=lambda one: one.__name__)
def test_numbers_that_highs_refuses_are_decided_by_cp_sat(method: Callable[..., Front]) -> None:
    program = ties(3)
    large = np.array([10**15, 10**15 + 1, 10**15 + 3], dtype=float)
    first = dataclasses.replace(program.objectives[0], costs=large)
    program = dataclasses.replace(program, objectives=(first, *program.objectives[1:]))
    front = method(program, solver="highs")

    assert front.proof.kind is ProofKind.COMPLETE
    assert front.extras["solver"] == "cpsat"
    assert oracles.as_set(front) == oracles.front(program)


def staircase(n_steps: int) -> Program:
    """Choose one of `n_steps` items, each dearer and better than the one before by 10."""
    dear = LinearObjective(Objective("dear"), np.arange(0.0, 10.0 * n_steps, 10.0))
    bad = LinearObjective(Objective("bad"), np.arange(0.0, 10.0 * n_steps, 10.0)[::-1])
    return make_program(
        np.ones((1, n_steps)),
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[dear, bad],
    )


def test_the_step_is_the_common_divisor_so_two_objectives_need_one_program_for_each_point() -> None:
    front = epsilon_constraint(staircase(6))

    assert len(front) == 6
    assert front.extras["n_programs"] == 6


def test_true_bounds_cost_two_programs_for_each_bounded_objective() -> None:
    front = epsilon_constraint(staircase(6), true_bounds=True)

    assert len(front) == 6
    assert front.extras["n_programs"] == 8


def test_any_objective_may_be_minimised() -> None:
    program = staircase(4)

    for order in (["dear", "bad"], ["bad", "dear"]):
        assert oracles.as_set(epsilon_constraint(program, order=order)) == oracles.front(program)


@pytest.mark.parametrize(
    ("order", "message"),
    [(["dear"], "each of"), (["dear", "dear"], "each of"), (["dear", "cheap"], "order must be one of")],
)
def test_an_order_that_does_not_name_every_objective_once_is_refused(order: list[str], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        epsilon_constraint(staircase(3), order=order)


def test_a_bounded_objective_without_limits_needs_true_bounds() -> None:
    program = make_program(
        [[1, 1], [1, -1]],
        row_lower=[0, -1],
        row_upper=[3, 1],
        column_lower=0,
        column_upper=np.inf,
        integer=True,
        objectives=[
            LinearObjective(Objective("a"), np.array([1.0, 0.0])),
            LinearObjective(Objective("b", Sense.MAX), np.array([1.0, 1.0])),
        ],
    )

    with pytest.raises(BadInputError, match="true_bounds=True"):
        epsilon_constraint(program)
    front = epsilon_constraint(program, true_bounds=True)
    assert front.values.tolist() == [[0.0, 1.0], [1.0, 3.0]]


def test_a_stopped_run_claims_only_that_its_points_were_found() -> None:
    front = epsilon_constraint(staircase(6), max_solves=3)

    assert front.proof.kind is ProofKind.APPROXIMATE
    assert len(front) == 3


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
