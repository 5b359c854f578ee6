"""Complete fronts of two objectives: the points on the lower hull, then the triangles between them.

Two neighbours a and b on the front leave one box in which further points can lie, ``a_1 < y_1 < b_1`` and
``b_2 < y_2 < a_2``. With the weights of the line through a and b, points below the line are searched first
(Aneja and Nair 1979). If no point is left below the line, the points above it lie in a triangle. Their weight
is at most the weight of the corner ``(b_1 - 1, a_2 - 1)`` (Ulungu and Teghem 1995). In both phases the weight
has an upper limit, so that reduced costs of one linear program fix columns
(:mod:`shortlist.methods.integer.relaxed_zones`), mostly nearly all of them. The rest is searched in integers,
as for zones of more objectives (:mod:`shortlist.methods.integer.zone_parts`). Undecided parts go to a solver.
In a triangle, the weights for the solver give one objective priority, and the other objective breaks ties.
Every answer cuts off the region that its weight proves empty.
"""

import math
from dataclasses import dataclass

import numpy as np

from shortlist.errors import SolverError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.bounded_solves import BoundedSolves, Box
from shortlist.methods.integer.dual_bounds import Interval
from shortlist.methods.integer.integer_objectives import Archive, Vector
from shortlist.methods.integer.program_parts import ProgramPart
from shortlist.methods.integer.relaxed_zones import Narrowed, RelaxedZones
from shortlist.methods.integer.zone_parts import ZoneParts, weight_of

WIDE = 4
"""Columns per row from which presolve is skipped, for more than :data:`SMALL` columns. Reduced costs leave
few columns of such programs, and presolve takes longer than it saves.
"""
SMALL = 30
LARGEST_WEIGHED = LARGEST_INTEGER // 4
"""Upper limit of weighted objectives, and of sums of weighted costs."""


@dataclass(frozen=True, eq=False)
class _Gap:
    """Open part of the front between two neighbours.

    `below`: whether points below their line are still to be searched. `bounds`: bounds of the columns in the
    gap, if they are known to be tighter than the bounds in the program.
    """

    left: Vector
    right: Vector
    below: bool
    bounds: Interval | None = None

    @property
    def box(self) -> Box:
        """Least and largest vectors strictly between the neighbours."""
        least = np.array([self.left[0], self.right[1]]) + 1
        return least, np.array([self.right[0], self.left[1]]) - 1

    @property
    def empty(self) -> bool:
        least, most = self.box
        return bool((least > most).any())

    @property
    def area(self) -> int:
        least, most = self.box
        return math.prod((most - least + 1).tolist())


class TwoPhases:
    """State of a search: points found, and open gaps between neighbours.

    `found`: non-dominated vectors. `least`, ``(2,)``: least values, proved for the first `n_known_ends`
    objectives.
    """

    def __init__(self, solves: BoundedSolves, relaxed: RelaxedZones, parts: ZoneParts) -> None:
        integers, program = solves.integers, solves.program
        self._solves, self._relaxed, self._parts = solves, relaxed, parts
        self._presolve = program.n_columns < max(SMALL, WIDE * program.n_rows)
        self._everything = integers.lower, integers.upper
        self._sizes = np.abs(integers.costs).sum(axis=1)
        self._gaps: list[_Gap] = []
        self._begun = False
        self.found = Archive(2)
        self.least = integers.lower.copy()
        self.n_known_ends = 0

    @property
    def n_open(self) -> int:
        """Number of gaps that may hold further points; 1 before both ends are known."""
        return len(self._gaps) if self._begun else 1

    @property
    def n_zones(self) -> int:
        """Number of zones left by the points found: the gaps, and the regions beyond the ends."""
        return len(self.found) + 1

    def run(self) -> None:
        """Search one gap after the other until none is left."""
        ends = self._ends()
        self._begun = True
        if ends is None:
            return
        self._open(_Gap(*ends, below=True))
        while self._gaps:
            gap = max(self._gaps, key=lambda gap: (gap.below, gap.area))  # ties: the oldest
            fresh = self._below(gap) if gap.below else self._triangle(gap)
            self._gaps.remove(gap)
            for each in fresh:
                self._open(each)

    def _open(self, gap: _Gap) -> None:
        if not gap.empty:
            self._gaps.append(gap)

    def _ends(self) -> tuple[Vector, Vector] | None:
        """Return the non-dominated vectors with the least value of each objective.

        Returns None if there is no solution.
        """
        ends = []
        for index in range(2):
            weights = np.eye(2, dtype=np.int64)[index]
            duals = self._relaxed.duals(weights, self._everything[1])
            part = self._solves.part_within(self._everything, self._relaxed.bounds, weights, duals)
            first = self._solves.minimise_part(weights, self._everything, part, presolve=self._presolve)
            if first is None and index:
                raise SolverError(
                    "the solver found no solution where it had found one before. Use another solver or seed."
                )
            if first is None:
                return None
            self.least[index] = first[index]
            self.n_known_ends = index + 1
            ends.append(self._end(first, index))
            self.found.add(ends[-1])  # at once, as a limit may come before the other end
        return ends[0], ends[1]

    def _end(self, first: Vector, index: int) -> Vector:
        """Return the best vector with the same value as `first` in one objective."""
        other = 1 - index
        least, most = self.least.copy(), first.copy()
        most[other] -= 1
        if least[other] > most[other]:
            return first
        own, weights = np.eye(2, dtype=np.int64)[[index, other]]
        narrowed = self._relaxed.narrow(own, most, int(most[index]))
        if narrowed is not None:
            narrowed = self._relaxed.narrow(weights, most, int(most[other]), narrowed.bounds)
        if narrowed is None:
            return first
        box = least, most
        part = self._solves.part_within(box, narrowed.bounds, weights, narrowed.duals)
        better = self._solves.minimise_part(weights, box, part, presolve=self._presolve)
        return first if better is None else better

    def _below(self, gap: _Gap) -> list[_Gap]:
        """Search for a point below the line through two neighbours; return the gaps that remain."""
        weights, box = self._line(gap), gap.box
        limit = min(weight_of(weights, gap.left), weight_of(weights, gap.right)) - 1
        relaxed = self._relaxed.relax(weights, box[1], gap.bounds)
        if relaxed is None:
            return []
        narrowed = relaxed.within(limit)
        if narrowed is not None:
            answer = self._parts.best(relaxed, box, limit, rising=False)
            if answer is not None:
                point = answer.point
            else:
                coarser, part = self._told_part(weights, box, narrowed)
                point = self._solves.minimise_part(coarser, box, part, presolve=self._presolve)
            # a solver's point beyond the limit may be dominated by one outside the part
            if point is not None and weight_of(weights, point) <= limit:
                self.found.add(point)
                return [_Gap(gap.left, point, below=True), _Gap(point, gap.right, below=True)]
        return [_Gap(gap.left, gap.right, below=False, bounds=gap.bounds)]

    def _triangle(self, gap: _Gap) -> list[_Gap]:
        """Search for a point in the triangle between two neighbours; return the gaps that remain."""
        weights, box = self._line(gap), gap.box
        most = weight_of(weights, box[1])
        relaxed = self._relaxed.relax(weights, box[1], gap.bounds)
        narrowed = None if relaxed is None else relaxed.within(most)
        if relaxed is None or narrowed is None:
            return []
        answer = self._parts.best(relaxed, box, most)
        if answer is not None:
            point = answer.point
        else:
            weights = self._deciding(gap)
            part = self._solves.part_within(box, narrowed.bounds, weights)
            if not self._solves.tells_apart(part) and not self._solves.in_integers(part):
                weights, part = self._told_part(weights, box, narrowed)
            point = self._solves.minimise_part(weights, box, part)
        if point is None:
            return []
        self.found.add(point)
        proved = weight_of(weights, point)
        sides = (
            _Gap(*pair, below=False, bounds=narrowed.bounds)
            for pair in ((gap.left, point), (point, gap.right))
        )
        return [side for side in sides if weight_of(weights, side.box[1]) >= proved]

    def _line(self, gap: _Gap) -> Vector:
        """Return weights with equal weighted sums at two neighbours.

        The sums are nearly equal if exact weights would be too large.
        """
        exact = gap.left[1] - gap.right[1], gap.right[0] - gap.left[0]
        sizes = np.maximum(self._sizes, np.abs([gap.left, gap.right]).max(axis=0)).tolist()
        total = sum(int(weight) * size for weight, size in zip(exact, sizes, strict=True))
        divisor = max(math.gcd(*map(int, exact)), -(-total // LARGEST_WEIGHED))
        weights: Vector = np.maximum(1, np.array(exact, dtype=np.int64) // divisor)
        return weights

    def _deciding(self, gap: _Gap) -> Vector:
        """Return weights that give the objective of the wider range priority."""
        least, most = gap.box
        ranges = most - least
        first = int(np.argmax(ranges))
        weights = np.ones(2, dtype=np.int64)
        room = LARGEST_WEIGHED // max(1, int(self._sizes[first]))
        weights[first] = max(1, min(int(ranges[1 - first]) + 1, room))
        return weights

    def _told_part(self, weights: Vector, box: Box, narrowed: Narrowed) -> tuple[Vector, ProgramPart]:
        """Return smaller weights, in about the same ratio, that the solver resolves, and their part."""
        solves = self._solves
        part = solves.part_within(box, narrowed.bounds, weights, narrowed.duals)
        while not solves.tells_apart(part) and weights.max() > 1:
            divisor = max(2, math.ceil(solves.excess(part)))
            weights = np.maximum(1, np.rint(weights / divisor)).astype(np.int64)
            duals = self._relaxed.duals(weights, box[1])
            part = solves.part_within(box, narrowed.bounds, weights, duals)
        return weights, part
