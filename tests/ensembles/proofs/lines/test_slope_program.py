"""Solvers' programs for slopes, against all selections."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.ensembles.goals.margin_worth import (
    utility_scale,
    utility_total,
)
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines import slope_program
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.pruning.slope_problem import SlopeProblem
from shortlist.ensembles.votes.binary_votes import merge_rows
from shortlist.milp import Limits, open_solver
from shortlist.results.proof import Status
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.slope_oracles import (
    SLOPES,
    all_masks,
    every_total,
    limits_of,
    sigmoid,
    slope_problem,
    small_problem,
)
from tests.milp.solvers import installed_solvers


def solved(
    problem: SlopeProblem, solver: str, budget: Budget | None = None, settings: SlopeSettings | None = None
) -> tuple[Incumbent, str]:
    best = Incumbent(problem)
    limit = solve_slope_programs(
        problem.rows, best, open_solver(solver), budget or Budget(), settings=settings
    )
    return best, limit


def test_a_program_that_is_too_large_is_not_built() -> None:
    problem = small_problem()
    small = SlopeSettings(most_binaries=100)
    best, limit = solved(problem, "highs", settings=small)
    assert (best.mask, best.bound) == (None, problem.first_bound)
    assert limit == "100 binaries in an integer program"


@pytest.mark.parametrize("solver", list(installed_solvers()))
@settings(max_examples=15)
@given(
    rows=strategies.labelled_votes(max_classifiers=4, max_rows=6),
    slope=SLOPES,
    sizes=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    limited=st.sampled_from(["", "cost", "average", "each"]),
)
def test_solvers_programs_equal_brute_force(
    solver: str, rows: oracles.Rows, slope: float, sizes: tuple[int, int], limited: str
) -> None:
    votes, utility = merge_rows(*oracles.as_arrays(rows)), sigmoid(slope)
    weights, n = named_weights("balanced-accuracy", votes), votes.n_classifiers
    limits = limits_of(votes, sizes, limited)
    if limits.conflict():
        return
    problem = slope_problem(votes, weights, utility, limits)
    answer, limit = solved(problem, solver)

    masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
    if not len(masks):
        assert answer.mask is None
        assert limit == ""
        return
    best = every_total(votes, weights, slope, masks).max()
    assert answer.mask is not None
    assert answer.total == utility_total(votes, weights, utility, answer.mask, answer.threshold)
    # solvers are believed up to this
    assert best - answer.total <= 1e-8 * utility_scale(votes, weights) * problem.rows.worth.sum()
    assert answer.bound == answer.total


def test_the_cost_of_a_solution_is_what_the_selection_is_worth() -> None:
    problem = small_problem(6, 12)
    assert isinstance(problem.of, ThresholdProblem)
    votes, weights, rows = problem.of.votes, problem.of.weights, problem.rows
    for size in (1, 3, 6):
        built = slope_program.slope_program(rows, size)
        solution = open_solver("cpsat").open(built.program).solve(Limits(absolute_gap=100))
        assert solution.values is not None
        mask = built.members(solution.values)
        assert mask.sum() == size
        best = max(
            utility_total(votes, weights, sigmoid(8.0), one, level)
            for one in all_masks(6)
            if one.sum() == size
            for level in range(size + 1)
        )
        assert solution.status is Status.OPTIMAL
        assert -(solution.objective + built.offset) == best


def test_a_solver_that_is_stopped_leaves_the_first_bounds() -> None:
    problem = small_problem(20, 80)
    cancellation = Cancellation()
    cancellation.cancel()
    stopped, limit = solved(problem, "highs", Budget(cancellation=cancellation))
    assert (stopped.mask, stopped.bound, limit) == (None, problem.first_bound, "interrupted")

    counted, limit = solved(problem, "cpsat", Budget(nodes=1))
    assert limit == "nodes"
    assert counted.total < counted.bound <= problem.first_bound
