"""Complete fronts by the ε-constraint method: one objective minimised, bounds on all others."""

from collections.abc import Sequence

import numpy as np

from shortlist.errors import BadInputError
from shortlist.methods.integer.bound_sweep import BoundSweep, nondominated, sweep_order
from shortlist.methods.integer.bounded_solves import BoundedSolves, Budget, LimitReachedError
from shortlist.methods.integer.integer_objectives import UNLIMITED, Vector
from shortlist.milp.program import Program
from shortlist.milp.session import Solver
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.progress import Report, silent


def epsilon_constraint(
    program: Program,
    *,
    true_bounds: bool = False,
    order: Sequence[str] | None = None,
    solver: str | Solver = "highs",
    time_limit_s: float | None = None,
    max_solves: int | None = None,
    seed: int = 0,
    candidates: Sequence[str] | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Front:
    """Return the complete front of a program with two or more linear objectives.

    Algorithm 1 of Xue and Li (2018) for any number of objectives: the bounds of all objectives but one run
    through their ranges in nested loops, and the remaining one is minimised. A bound falls by one step, the
    greatest common divisor of the objective's scaled costs, below the largest value met, and a program whose
    answer follows from an earlier one is left out
    (:class:`shortlist.methods.integer.bound_sweep.BoundSweep`). What is dominated among the answers is
    dropped in the end.

    Parameters
    ----------
    program : Program
        Objectives must be exact integers after scaling; see
        :func:`shortlist.methods.integer.integer_objectives.integer_objectives`.
    true_bounds : bool, default=False
        Find the least and largest value of every bounded objective by two more programs each, instead of
        taking what follows from the bounds of the columns.
    order : sequence of str, optional
        Names of all objectives: the minimised one, then the bounded ones from the innermost to the outermost
        loop. By default from the widest range to the narrowest.
    solver, time_limit_s, max_solves, seed, candidates, report, cancellation
        As in :func:`shortlist.methods.integer.search_zones.search_zones`.

    Returns
    -------
    front : Front
        COMPLETE when it finished. When a limit ended it: APPROXIMATE, because an answer with a free choice
        among equal values of the minimised objective may be dominated, with the number of loops that were not
        finished. `extras` holds `n_programs` and `n_skipped`.

    Raises
    ------
    BadInputError
        If the objectives are no exact integers or are unbounded.

    Notes
    -----
    The number of programs grows with the number of different values of the bounded objectives, in the worst
    case with their product.

    Examples
    --------
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
    budget = Budget(time_limit_s, max_solves, report, cancellation)
    solves = BoundedSolves(program, solver=solver, seed=seed, budget=budget, stage="ε-constraint")
    numbers = sweep_order(solves.integers, order)
    only_first = np.zeros(len(numbers), dtype=np.int64)
    only_first[numbers[0]] = 1

    def solve(bounds: Vector) -> Vector | None:
        return solves.minimise(only_first, bounds)

    sweep: BoundSweep | None = None
    try:
        bounded = numbers[1:]
        limits = bounds_by_solves(solves, bounded) if true_bounds else _bounds_by_columns(solves, bounded)
        if limits is not None:
            sweep = BoundSweep(solve, numbers, *limits)
            sweep.run()
    except LimitReachedError as stop:
        n_open = len(bounded) if sweep is None else sweep.n_open
        proof = Proof(ProofKind.APPROXIMATE, n_unresolved=n_open, limit=stop.limit)
    else:
        proof = Proof(ProofKind.COMPLETE)
    answers = sweep.answers if sweep else []
    vectors = [answers[number] for number in nondominated(answers)]
    n_skipped = sweep.n_skipped if sweep else 0
    return solves.front(
        vectors, proof, method="epsilon_constraint", candidates=candidates, n_skipped=n_skipped
    )


def bounds_by_solves(solves: BoundedSolves, bounded: Sequence[int]) -> tuple[Vector, Vector] | None:
    """Return the true least and largest values of the `bounded` objectives.

    None if the program is infeasible.
    """
    integers = solves.integers
    lower, upper = integers.lower.copy(), integers.upper.copy()
    for number in bounded:
        unit = np.zeros(len(integers), dtype=np.int64)
        unit[number] = 1
        least, largest = solves.minimise(unit, integers.upper), solves.minimise(-unit, integers.upper)
        if least is None or largest is None:
            return None
        lower[number], upper[number] = least[number], largest[number]
    return lower, upper


def _bounds_by_columns(solves: BoundedSolves, bounded: Sequence[int]) -> tuple[Vector, Vector]:
    """Return the limits of the objectives that follow from the bounds of the columns."""
    integers = solves.integers
    for number in bounded:
        if max(-integers.lower[number], integers.upper[number]) >= UNLIMITED:
            raise BadInputError(
                f"the columns must bound objective {integers.names[number]!r}, but one of them is unbounded. "
                "Bound it, or pass true_bounds=True."
            )
    return integers.lower, integers.upper
