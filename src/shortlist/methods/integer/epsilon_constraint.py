"""Complete fronts by the ε-constraint method: one objective minimised, bounds on all others."""

from collections.abc import Sequence

import numpy as np

from shortlist.errors import BadInputError
from shortlist.methods.integer.bound_sweep import Ends, bounds_by_solves, sweep_all, sweep_order
from shortlist.methods.integer.bounded_solves import BoundedSolves
from shortlist.methods.integer.integer_objectives import UNLIMITED
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver
from shortlist.pareto import nondominated
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget


def epsilon_constraint(
    program: Program,
    *,
    true_bounds: bool = False,
    order: Sequence[str] | None = None,
    solver: str | Solver = "highs",
    max_solves: int | None = None,
    candidates: Sequence[str] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return the complete front of a program with two or more linear objectives.

    Algorithm 1 of Xue and Li (2018) for any number of objectives: the bounds of all objectives but one run
    through their ranges in nested loops, and the remaining one is minimised. A bound falls by one step, the
    greatest common divisor of the objective's scaled costs, below the largest value met, and a program whose
    answer follows from an earlier one is left out
    (:class:`shortlist.methods.integer.bound_sweep.BoundSweep`). What is dominated among the answers is
    dropped in the end.

    `program`: objectives must be exact integers after scaling; see
    :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `true_bounds`: find the least and
    largest value of every bounded objective by two more programs each, instead of taking what follows from
    the bounds of the columns. `order`: names of all objectives: the minimised one, then the bounded ones from
    the innermost to the outermost loop. By default from the widest range to the narrowest. `solver`,
    `max_solves`, `candidates`, `budget`: as in :func:`shortlist.methods.integer.search_zones.search_zones`.

    `front`, which it returns: COMPLETE when it finished. When a limit ended it: APPROXIMATE, because an
    answer with a free choice among equal values of the minimised objective may be dominated, with the number
    of loops that were not finished. `extras` holds `n_programs` and `n_skipped`.

    Raises BadInputError if the objectives are no exact integers or are unbounded.

    The number of programs grows with the number of different values of the bounded objectives, in the worst
    case with their product.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price", scale=None), np.array([1.25, 3.5]))
    >>> chosen = LinearObjective(Objective("chosen", "max"), np.array([1.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, chosen]
    ... )
    >>> epsilon_constraint(shop).values.tolist()
    [[1.25, 1.0], [4.75, 2.0]]
    """
    solves = BoundedSolves(
        program, solver=solver, budget=budget or Budget(), max_solves=max_solves, stage="ε-constraint"
    )
    numbers = sweep_order(solves.integers, order)
    only_first = np.zeros(len(numbers), dtype=np.int64)
    only_first[numbers[0]] = 1
    find_ends = bounds_by_solves if true_bounds else _bounds_by_columns
    swept = sweep_all(
        numbers,
        lambda: find_ends(solves, numbers[1:]),
        lambda _, bounds: solves.minimise(only_first, bounds),
    )
    marks = nondominated(np.array(swept.answers)) if swept.answers else ()
    return solves.front(
        [answer for answer, kept in zip(swept.answers, marks, strict=True) if kept],
        swept.proof(ProofKind.APPROXIMATE),
        method="epsilon_constraint",
        candidates=candidates,
        n_skipped=swept.n_skipped,
    )


def _bounds_by_columns(solves: BoundedSolves, bounded: Sequence[int]) -> Ends:
    """Return the limits of the objectives that follow from the bounds of the columns."""
    integers = solves.integers
    for number in bounded:
        if max(-integers.lower[number], integers.upper[number]) >= UNLIMITED:
            raise BadInputError(
                f"the columns must bound objective {integers.names[number]!r}, but one of them is "
                "unbounded. Bound it, or pass `true_bounds=True`."
            )
    return integers.lower, integers.upper
