"""Complete fronts by sweeping bounds on all objectives but one: CWMOIP and the ε-constraint method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist._validation import as_choice
from shortlist._words import all_of
from shortlist.arrays import Points
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError, safe_weights
from shortlist.methods.integer.integer_objectives import UNLIMITED, Archive, IntegerObjectives, Vector
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.zone_parts import N_BY_SOLVER, ZoneParts, weight_of
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver
from shortlist.pareto import nondominated
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget

SolveBounded: TypeAlias = Callable[[Vector, Vector], Vector | None]
"""Function that returns the objectives of a best solution between least values and bounds; None if there is
no solution.
"""

Ends: TypeAlias = tuple[Vector, Vector]
"""Least and largest value of each objective, between which the bounds are swept."""


class BoundSweep:
    """Nested loops over integer bounds, one for each objective but the minimised one.

    The innermost loop solves a program, lowers its bound to one step below the answer, and ends when no
    solution is left. An outer loop lowers its bound to one step below the largest value that its inner loops
    met. This skips no answer: while every answer of the inner loops stays within the outer bound, the inner
    loops would repeat their answers. Programs are skipped by the same reasoning across loops (Özlen, Burton,
    MacRae 2014). An answer to looser bounds that meets tighter bounds also answers the tighter ones. A
    program infeasible under looser bounds is infeasible under tighter bounds.

    `answers`: every different answer. `n_skipped`: number of skipped programs. `n_open`: number of
    unfinished loops.
    """

    def __init__(self, solve: SolveBounded, order: Sequence[int], lower: Vector, upper: Vector) -> None:
        self.answers = Archive(len(lower))
        self.n_skipped = 0
        self.n_open = len(order) - 1
        self._solve = solve
        self._swept = list(order[1:])
        self._lower = lower
        self._upper = upper
        self._bounds = upper.copy()
        self._bounds[order[0]] = UNLIMITED
        self._asked = np.empty((0, len(lower)), dtype=np.int64)
        self._answered = np.empty((0, len(lower)), dtype=np.int64)  # -UNLIMITED everywhere: nothing
        self._numbers: list[int | None] = []

    def run(self) -> None:
        """Sweep all bounds; `answers` collects the answers."""
        self._sweep(len(self._swept))
        self.n_open = 0

    def _sweep(self, depth: int) -> set[int]:
        """Return the numbers of the answers within the current bounds of the outer loops."""
        if depth == 0:
            number = self._answer()
            return set() if number is None else {number}
        objective = self._swept[depth - 1]
        met: set[int] = set()
        self._bounds[objective] = self._upper[objective]
        while self._bounds[objective] >= self._lower[objective]:
            inner = self._sweep(depth - 1)
            if not inner:
                break
            met |= inner
            self._bounds[objective] = int(self.answers.vectors[list(inner), objective].max()) - 1
        self._bounds[objective] = self._upper[objective]
        return met

    def _answer(self) -> int | None:
        """Return the number of the answer to the current bounds; a known answer is not solved for again."""
        bounds = self._bounds
        known = (bounds <= self._asked).all(axis=1) & (self._answered <= bounds).all(axis=1)
        if known.any():
            self.n_skipped += 1
            return self._numbers[int(np.argmax(known))]
        answer = self._solve(self._lower, bounds.copy())
        number = None if answer is None else self.answers.add(answer)
        self._asked = np.vstack([self._asked, bounds])
        self._answered = np.vstack(
            [self._answered, np.full_like(bounds, -UNLIMITED) if answer is None else answer]
        )
        self._numbers.append(number)
        return number


@dataclass(frozen=True, eq=False)
class Swept:
    """Answers of a sweep, and the limit that ended it, if any."""

    answers: Points
    n_skipped: int = 0
    n_open: int = 0
    limit: str = ""

    def proof(self, stopped: ProofKind) -> Proof:
        """Return the proof of the answers: complete, or `stopped` with the number of unfinished loops."""
        if self.limit:
            return Proof(stopped, n_unresolved=self.n_open, limit=self.limit)
        return Proof(ProofKind.COMPLETE)


def sweep_all(order: Sequence[int], find_ends: Callable[[], Ends | None], solve: SolveBounded) -> Swept:
    """Find the ends of the bounds, and sweep all bounds until no solution is left or a limit is reached.

    `find_ends` returns None if the program is infeasible.
    """
    sweep: BoundSweep | None = None
    limit = ""
    try:
        if (ends := find_ends()) is not None:
            sweep = BoundSweep(solve, order, *ends)
            sweep.run()
    except LimitReachedError as stop:
        limit = stop.limit
    if sweep is None:
        return Swept(np.empty((0, len(order)), dtype=np.int64), n_open=len(order) - 1, limit=limit)
    return Swept(sweep.answers.vectors, sweep.n_skipped, sweep.n_open, limit)


def bounds_by_solves(solves: BoundedSolves, bounded: Sequence[int]) -> Ends | None:
    """Return the exact least and largest values of the `bounded` objectives.

    Returns None if the program is infeasible.
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


def sweep_order(integers: IntegerObjectives, order: Sequence[str] | None) -> list[int]:
    """Return the indices of the objectives: the minimised one, then from the inner to the outer loop.

    Without a user's `order`, the widest range comes first: the fewer values the bounds can have, the fewer
    programs.
    """
    if order is None:
        ranges = integers.upper - integers.lower
        return [int(number) for number in np.argsort(-ranges, kind="stable")]
    names = integers.names
    for name in order:
        as_choice(name, "order", names)
    if len(set(order)) != len(names) or len(order) != len(names):
        raise BadInputError("order", f"must name each of {all_of(names)} once", all_of(order))
    return [names.index(name) for name in order]


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

    The method of Özlen and Azizoğlu (2009), Algorithm 2 of Xue and Li (2018), starts with true bounds of all
    objectives but the first. Objective after objective is turned into a bound. It is also added to the
    minimised function, with a weight so small that the objective only breaks ties. Every answer is therefore
    non-dominated. The paper's weights ``1 / (product of the ranges)`` vanish in a solver's tolerance. Here
    the weights are integers: the weight of the first objective exceeds the sum of the ranges that the bounds
    leave to the other objectives, which weigh 1 each. A search in integers takes the columns left open by
    reduced costs (:mod:`shortlist.methods.integer.zone_parts`). Weights too large for a solver's arithmetic
    are replaced by two programs; the second one minimises the other objectives at the best value of the first
    objective. Programs whose answer follows from an earlier answer are skipped, as Özlen, Burton and MacRae
    (2014) propose.

    `program`: objectives must be exact integers after scaling; see
    :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `order`: names of all objectives:
    the first one, then the bounded objectives, from the innermost to the outermost level of the recursion. By
    default from the widest range to the narrowest. `solver`, `max_solves`, `candidates`, `budget`: as in
    :func:`shortlist.methods.integer.search_zones.search_zones`. The front returned is COMPLETE if the search
    finished. If a limit ended it, the front is NONDOMINATED, with the number of unfinished levels. `extras`
    holds `n_programs` and `n_skipped`.

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
    budget = budget or Budget()
    solves = BoundedSolves(
        program, solver=solver, budget=budget, max_solves=max_solves, stage="CWMOIP", study=budget.study
    )
    numbers = sweep_order(solves.integers, order)
    relaxed = RelaxedZones(program, solves.integers, solves.budget)
    parts = ZoneParts(solves, relaxed, n_by_solver=N_BY_SOLVER if solver == "highs" else UNLIMITED)
    best = Lexicographic(solves, relaxed, parts, numbers[0])
    swept = sweep_all(numbers, lambda: bounds_by_solves(solves, numbers[1:]), best)
    return solves.front(
        list(swept.answers), swept.proof(ProofKind.NONDOMINATED), method="cwmoip",
        candidates=candidates, n_skipped=swept.n_skipped,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lexicographic:
    """Minimise the `first` objective and, among its best solutions, the sum of all other objectives."""

    solves: BoundedSolves
    relaxed: RelaxedZones
    parts: ZoneParts
    first: int

    def __call__(self, lower: Vector, bounds: Vector) -> Vector | None:
        """Return the best objectives within `bounds` and none below `lower`; None if there are none."""
        solves, integers = self.solves, self.solves.integers
        weights, decides = safe_weights(integers, self.first, lower, bounds, LARGEST_INTEGER // 4)
        if decides and self.parts.ready:
            proved = self.relaxed.relax(weights, bounds)
            if proved is None:
                return None
            box = np.full_like(bounds, -UNLIMITED), bounds
            most = weight_of(weights, np.minimum(bounds, integers.upper))
            found = self.parts.best(proved, box, most)
            if found is not None:
                return found.point
        weights, decides = safe_weights(integers, self.first, lower, bounds, solves.largest_objective)
        if decides:
            return solves.minimise(weights, bounds)
        unit = np.eye(len(weights), dtype=np.int64)[self.first]
        best = solves.minimise(unit, bounds)
        if best is None:
            return None
        at_best = bounds.copy()
        at_best[self.first] = best[self.first]
        return solves.minimise(1 - unit, at_best)


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
    greatest common divisor of the objective's scaled costs, below the largest value met. A program whose
    answer follows from an earlier one is skipped (:class:`BoundSweep`). Dominated answers are dropped in
    the end.

    `true_bounds`: find the least and largest value of every bounded objective by two more programs each,
    instead of deriving them from the bounds of the columns. All other parameters: as in :func:`cwmoip`. The
    front returned is COMPLETE if the search finished. If a limit ended it, the front is APPROXIMATE, with the
    number of unfinished loops: an answer with ties in the minimised objective may be dominated. `extras`
    holds `n_programs` and `n_skipped`.

    Raises BadInputError if the objectives are no exact integers or are unbounded.

    The number of programs grows with the numbers of different values of the bounded objectives, in the worst
    case with the product of these numbers.

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
    budget = budget or Budget()
    solves = BoundedSolves(
        program, solver=solver, budget=budget, max_solves=max_solves, stage="ε-constraint", study=budget.study
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
    return solves.front(
        list(swept.answers[nondominated(swept.answers)]),
        swept.proof(ProofKind.APPROXIMATE), method="epsilon_constraint",
        candidates=candidates, n_skipped=swept.n_skipped,
    )  # fmt: skip


def _bounds_by_columns(solves: BoundedSolves, bounded: Sequence[int]) -> Ends:
    integers = solves.integers
    for number in bounded:
        if max(-integers.lower[number], integers.upper[number]) >= UNLIMITED:
            raise BadInputError(
                f"the columns must bound objective {integers.names[number]!r}, but one of them is "
                "unbounded. Bound it, or pass `true_bounds=True`."
            )
    return integers.lower, integers.upper
