"""Complete fronts by constraint-weighted multi-objective integer programming (CWMOIP)."""

from collections.abc import Sequence

import numpy as np

from shortlist.methods.integer.bound_sweep import bounds_by_solves, sweep_all, sweep_order
from shortlist.methods.integer.bounded_solves import BoundedSolves, safe_weights
from shortlist.methods.integer.integer_objectives import Vector
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget


def cwmoip(
    program: Program,
    *,
    order: Sequence[str] | None = None,
    solver: str | Solver = "highs",
    max_solves: int | None = None,
    candidates: Sequence[str] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return the complete front of a program with two or more linear objectives.

    The method of Özlen and Azizoğlu (2009), Algorithm 2 of Xue and Li (2018): true bounds of all objectives
    but the first, then objective after objective is turned into a bound and also added to the minimised
    function with a weight so small that it only decides between equals; every answer is therefore
    non-dominated. The paper's weights ``1 / (product of the ranges)`` drown in a solver's tolerance. Here the
    weights are integers: the first objective's exceeds the sum of the ranges that the bounds leave to the
    others, which weigh 1 each; and where that is too large for a solver's arithmetic, two programs are
    solved, the second one for the others at the first one's best value. Programs whose answer follows from an
    earlier one are left out, as Özlen, Burton and MacRae (2014) propose.

    `program`: objectives must be exact integers after scaling; see
    :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `order`: names of all objectives:
    the first one, then the bounded ones from the innermost to the outermost level of the recursion. By
    default from the widest range to the narrowest. `solver`, `max_solves`, `candidates`, `budget`: as in
    :func:`shortlist.methods.integer.search_zones.search_zones`.

    `front`, which it returns: COMPLETE when it finished. When a limit ended it: NONDOMINATED, with the number
    of levels that were not finished. `extras` holds `n_programs` and `n_skipped`.

    Raises BadInputError if the objectives are no exact integers or are unbounded.

    The number of programs grows with the number of different values of the bounded objectives on the front.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price", scale=None), np.array([1.25, 3.5]))
    >>> chosen = LinearObjective(Objective("chosen", "max"), np.array([1.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, chosen]
    ... )
    >>> cwmoip(shop).values.tolist()
    [[1.25, 1.0], [4.75, 2.0]]
    """
    solves = BoundedSolves(
        program, solver=solver, budget=budget or Budget(), max_solves=max_solves, stage="CWMOIP"
    )
    numbers = sweep_order(solves.integers, order)

    def solve(lower: Vector, bounds: Vector) -> Vector | None:
        return _lexicographic(solves, numbers[0], lower, bounds)

    swept = sweep_all(numbers, lambda: bounds_by_solves(solves, numbers[1:]), solve)
    return solves.front(
        swept.answers,
        swept.proof(ProofKind.NONDOMINATED),
        method="cwmoip",
        candidates=candidates,
        n_skipped=swept.n_skipped,
    )


def _lexicographic(solves: BoundedSolves, first: int, lower: Vector, bounds: Vector) -> Vector | None:
    """Minimise the first objective and, among its best, the sum of all others, within `bounds`."""
    weights, decides = safe_weights(solves.integers, first, lower, bounds, solves.largest_objective)
    if decides:
        return solves.minimise(weights, bounds)
    unit = np.zeros(len(weights), dtype=np.int64)
    unit[first] = 1
    best = solves.minimise(unit, bounds)
    if best is None:
        return None
    at_best = bounds.copy()
    at_best[first] = best[first]
    return solves.minimise(1 - unit, at_best)
