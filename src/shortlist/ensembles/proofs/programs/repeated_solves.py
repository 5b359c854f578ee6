"""Solving an integer program again without the selections that it should not have allowed."""

from collections.abc import Callable, Iterator

import numpy as np

from shortlist.ensembles.proofs.programs.pruning_program import without_selection
from shortlist.milp import Limits, Program, Session
from shortlist.milp.solution import Solution
from shortlist.milp.watch import OnBound
from shortlist.runs.budget import Budget


def solutions_until_kept(
    program: Program,
    n_classifiers: int,
    opened: Callable[[Program], Session],
    budget: Budget,
    *,
    absolute_gap: float,
    on_bound: OnBound,
    least_seconds: float = 0.0,
) -> Iterator[Solution]:
    """Yield what a solver answers, each time without the selection that it proposed before.

    Solvers keep rows with fractions up to a tolerance only, so that a proposal may miss a limit on cost or
    diversity. Whoever asks stops at a proposal that keeps them all. The last answer is the first one
    without a proposal, and there is none at all where fewer than `least_seconds` are left.

    Parameters
    ----------
    program : Program
        Its first columns are the classifiers.
    n_classifiers : int
        How many these are.
    opened : callable
        Loads a program into a solver, with what is known already.
    budget : Budget
        The limits of every solve.
    absolute_gap : float
        Costs that differ by no more are equal.
    on_bound : callable
        Receives cost and bound as they get better.
    least_seconds : float
        With less time than this no solve is begun.
    """
    while not budget.stopped and budget.left >= least_seconds:
        solution = opened(program).solve(
            Limits(budget.left, budget.nodes, absolute_gap=absolute_gap),
            on_bound=on_bound,
            cancellation=budget.cancellation,
        )
        yield solution
        if solution.values is None:
            return
        program = without_selection(program, np.asarray(solution.values[:n_classifiers] > 0.5))


def limit_of(solution: Solution, budget: Budget) -> str:
    """Return what ended a solve, in the user's terms."""
    words = {"seconds": budget.time_text, "size": "what the solver can tell apart"}
    return words.get(solution.limit, solution.limit)
