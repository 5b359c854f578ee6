"""Algorithms 1 and 2 of :cite:t:`Xue2018` as printed: all loops, no program skipped, no second check."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.milp.program import Program
from shortlist.milp.session import open_solver
from shortlist.milp.solution import Limits
from shortlist.runs.budget import Budget
from shortlist.runs.progress import Progress

Point: TypeAlias = tuple[int, ...]
"""The objectives of a solution, scaled to integers, minimised."""

Minimise: TypeAlias = Callable[[Sequence[float], Sequence[float]], Point | None]
"""``bintpro``: receives a weight and the largest value allowed for each objective, and returns the objectives
of a solution with the least weighted sum, or None without a solution.
"""


@dataclass
class Printed:
    """How far an algorithm has come.

    Attributes
    ----------
    points : set of tuple of int
        Every different answer, dominated ones too: neither algorithm drops any.
    n_programs : int
        Calls of ``bintpro``.
    bound : int or None
        Of Algorithm 2, the bound of the outermost loop that comes next; None before the first.
    """

    points: set[Point] = field(default_factory=set)
    n_programs: int = 0
    bound: int | None = None


def epsilon_constraint_as_printed(
    minimise: Minimise, outermost: Iterable[int], largest: Sequence[int], found: Printed
) -> None:
    """Run Algorithm 1 for any number of objectives; `found` grows meanwhile.

    The bounds of all objectives but the last run through their ranges in nested loops, by steps of 1, and the
    last objective is minimised. No loop depends on another, so that parts of the outermost one may be run
    apart.

    Parameters
    ----------
    minimise : callable
        Solves one program.
    outermost : iterable of int
        Bounds of the first objective: from 0 to its theoretic upper bound, or a part of that.
    largest : sequence of int
        Theoretic upper bounds of the other bounded objectives.
    found : Printed
        What was found.
    """
    weights = [0.0] * (len(largest) + 1) + [1.0]
    for bounds in itertools.product(outermost, *(range(high + 1) for high in largest)):
        point = minimise(weights, [*bounds, math.inf])
        found.n_programs += 1
        if point is not None:
            found.points.add(point)


def cwmoip_as_printed(
    minimise: Minimise, n_objectives: int, found: Printed, *, reached: Callable[[], None] = lambda: None
) -> None:
    """Run Algorithm 2; `found` grows meanwhile, and `reached` is called after each outermost loop.

    First the true bounds of each objective but the first, then the recursion of lines 6 to 15 with the
    weights ``w_k = 1 / ((r_2 + 1) ... (r_k + 1))`` of the ranges r. The text at hand has lost the digits of
    line 5; these are the weights of Özlen and Azizoğlu (2009), whose method it is.
    """
    free = [math.inf] * n_objectives
    high, weights = [0] * n_objectives, [1.0] * n_objectives
    for k in range(1, n_objectives):
        unit = [float(j == k) for j in range(n_objectives)]
        least, most = minimise(unit, free), minimise([-one for one in unit], free)
        if least is None or most is None:
            found.n_programs = 2
            return
        high[k] = most[k]
        weights[k] = weights[k - 1] / (most[k] - least[k] + 1)
    found.n_programs = max(found.n_programs, 2 * (n_objectives - 1))

    def level(k: int, bounds: list[float]) -> set[Point]:
        if k == 0:
            found.n_programs += 1
            point = minimise(weights, bounds)
            return set() if point is None else {point}
        inside: set[Point] = set()
        bound = high[k]
        while met := level(k - 1, [*bounds[:k], bound, *bounds[k + 1 :]]):
            inside |= met
            bound = max(point[k] for point in met) - 1
        return inside

    last = n_objectives - 1
    bound = high[last] if found.bound is None else found.bound
    while met := level(last - 1, [*free[:last], bound]):
        bound = max(point[last] for point in met) - 1
        found.points, found.bound = found.points | met, bound
        reached()


class BintPro:
    """``bintpro`` by HiGHS, on one program that stays open while costs and bounds of objectives change.

    Each program is solved once, without a limit, and what the solver says is taken as it is.
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        integers, n = integer_objectives(program), len(program.objectives)
        self._integers, self._budget = integers, budget
        self._costs = integers.costs.astype(np.float64) * integers.steps[:, None]
        self._rows = program.n_rows + np.arange(n)
        free = np.full(n, math.inf)
        self._session = open_solver("highs").open(program.with_rows(self._costs, -free, free))
        self._n_programs = 0

    def minimise(self, weights: Sequence[float], upper: Sequence[float]) -> Point | None:
        """Solve one program; see :data:`Minimise`.

        Raises
        ------
        LimitReachedError
            If the budget has come to its end.
        """
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        self._budget.report(Progress("programs", self._n_programs))
        self._n_programs += 1
        self._session.set_costs(np.asarray(weights) @ self._costs)
        self._session.set_row_bounds(self._rows, -math.inf, np.asarray(upper) - self._integers.offsets)
        solution = self._session.solve(Limits().within(self._budget), cancellation=self._budget.cancellation)
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        if solution.values is None:
            return None
        point = self._integers.vector(solution.values) * self._integers.steps + self._integers.offsets
        return tuple(point.tolist())
