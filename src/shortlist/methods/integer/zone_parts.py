"""Search for the best point of a zone, within the columns that reduced costs leave open.

A linear program with weights that balance the sides of the zone gives a bound and reduced costs. The weight
is first limited to little more than the bound: an answer within this limit is best, and few columns are open.
Without an answer the limit rises, at last to the limit of the zone itself.

The open columns are searched in integers (:mod:`shortlist.methods.integer.branching`). If the search takes
too many decisions, the zone is nearly always empty, but the weights do not show this: the sides of the zone
were measured from the ideal point, and one objective has far less room than another. Then one linear program
for each objective measures the sides anew, each fixing columns for the next, and the new weights bound the
zone again. Only zones that are still undecided go to a solver. On assignment of three objectives, 50 x 50,
one of 50 zones needs the second weights and one of 1,000 a solver; with a solver for all zones a point took
six times as long.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Points
from shortlist.methods.integer.bounded_solves import BoundedSolves, Box
from shortlist.methods.integer.integer_objectives import UNLIMITED, Vector
from shortlist.methods.integer.recorded_solves import Solved
from shortlist.methods.integer.relaxed_zones import Narrowed, Relaxed, RelaxedZones

LIMITS = 2.0, 8.0
"""Limits above the bound of a linear program, in multiples of the mean excess of earlier answers."""
LARGEST_RATIO = 1000.0
FEW_NODES, MANY_NODES = 1000, 5000
"""Most decisions of the search in integers, with the first weights, and with the second weights."""
N_BY_SOLVER = 25
"""Number of programs that go to a solver before the compiled search is loaded: loading takes about as long as
these programs, half a second.
"""


@dataclass(frozen=True, eq=False)
class Answer:
    """Best point of a zone, None if the zone is empty, and the weights whose sum is least at the point."""

    weights: Vector
    point: Vector | None


class ZoneParts:
    """Search of one zone after the other, which learns the mean excess of answers over their bounds.

    `solves`: sessions with the solver, and the answers. `relaxed`: the linear program. `n_by_solver`:
    number of programs of `solves` after which zones are searched in integers first.
    """

    def __init__(self, solves: BoundedSolves, relaxed: RelaxedZones, *, n_by_solver: int) -> None:
        self._solves, self._relaxed, self._n_by_solver = solves, relaxed, n_by_solver
        self._mean_excess = 1.0

    def answer(self, zone: Vector, least: Vector, found: Points) -> Answer | None:
        """Return the best point of the open zone below `zone`; None if the linear program proves nothing.

        `least` holds the least value of each objective, `found` the points found before.
        """
        upper = zone - 1
        reach = 2 * (found.max(axis=0) - least)
        relaxed = self._relaxed.relax(_balanced(zone - least, reach), upper)
        if not self.ready:
            return self._search(relaxed, upper, solver=True)
        return self._search(relaxed, upper, solver=False) or self._search(
            self._sharper(upper, least, reach), upper, solver=True
        )

    def _sharper(self, upper: Vector, least: Vector, reach: Vector) -> Relaxed | None:
        """Return the bound with weights that balance the remaining sides; None if the zone is empty.

        Before, one linear program per objective narrows the columns, and so the sides.
        """
        bounds, sides = self._relaxed.bounds, upper + 1 - least
        for index, unit in enumerate(np.eye(len(upper), dtype=np.int64)):
            relaxed = self._relaxed.relax(unit, upper, bounds)
            narrowed = None if relaxed is None else relaxed.within(int(upper[index]))
            if relaxed is None or narrowed is None:
                return None
            bounds = narrowed.bounds
            if relaxed.least is not None:
                sides[index] = upper[index] + 1 - relaxed.least
        return self._relaxed.relax(_balanced(sides, reach), upper, bounds)

    def best(
        self, relaxed: Relaxed, box: Box, most: int, *, rising: bool = True, max_nodes: int = MANY_NODES
    ) -> Answer | None:
        """Return the best point in a box, of weight up to `most`, by the search in integers.

        Returns None if the search does not suit the program, or gives up. `relaxed`: bound of the linear
        program in the box. `rising`: whether weights little above the bound are searched first.
        """
        weights = relaxed.weights
        if not self.ready or relaxed.least is None:
            return None
        for limit in self._limits(weights, relaxed.least, most) if rising else (most,):
            left = relaxed.within(limit)
            if left is None:
                continue
            asked = np.array([limit, max_nodes]), *relaxed.bounds, *left.bounds
            key, solved = self._solves.recorded.known(weights, box, *asked)
            if solved is None:
                searched = self._relaxed.best_within(relaxed, left, box[1], limit, max_nodes=max_nodes)
                solved = Solved(None, finished=False)
                if searched is not None and searched.finished:
                    solved = Solved(searched.values)
                self._solves.recorded.add(key, solved)
            if not solved.finished:
                return None
            point = self._solves.keep_searched(solved.values, box)
            if point is not None:
                return self._learned(relaxed, point)
        return Answer(weights, None)

    @property
    def ready(self) -> bool:
        """Whether a search in integers comes before the solver."""
        return self._solves.n_programs >= self._n_by_solver

    def _learned(self, relaxed: Relaxed, point: Vector) -> Answer:
        """Return an answer, and update the mean excess over the bound of the linear program."""
        weights = relaxed.weights
        excess = weight_of(weights, point) - (relaxed.least or 0)
        self._mean_excess += (excess / int(weights.sum()) - self._mean_excess) / 16
        return Answer(weights, point)

    def _search(self, relaxed: Relaxed | None, upper: Vector, *, solver: bool) -> Answer | None:
        """Return the best point within rising limits of the weight; None if nothing is proved."""
        if relaxed is None:
            return Answer(np.ones_like(upper), None)
        weights = relaxed.weights
        if relaxed.least is None:
            return None
        box = np.full_like(upper, -UNLIMITED), upper
        most = int(weights @ upper)
        if not solver:
            return self.best(relaxed, box, most, max_nodes=FEW_NODES)
        for limit in self._limits(weights, relaxed.least, most):
            left = relaxed.within(limit)
            if left is None:
                continue
            answer = self.best(relaxed, box, limit, rising=False) or self._solved(relaxed, left, box, limit)
            if answer is None or answer.point is not None:
                return answer
        return Answer(weights, None)

    def _solved(self, relaxed: Relaxed, left: Narrowed, box: Box, most: int) -> Answer | None:
        """Return the best point of weight up to `most` by a solver; None if no solver can decide."""
        part = self._solves.part_within(box, left.bounds, relaxed.weights, left.duals)
        if not self._solves.tells_apart(part) and not self._solves.in_integers(part):
            return None
        point = self._solves.minimise_part(relaxed.weights, box, part, most=most)
        return Answer(relaxed.weights, None) if point is None else self._learned(relaxed, point)

    def _limits(self, weights: Vector, least: int, most: int) -> Iterator[int]:
        """Yield rising limits of the weight, from a little above `least` to `most`."""
        total = int(weights.sum())
        for factor in LIMITS:
            limit = least + max(1, int(factor * self._mean_excess * total))
            if limit < most:
                yield limit
        yield most


def weight_of(weights: Vector, vector: Vector) -> int:
    """Return the weight of a vector, without overflow."""
    return sum(w * v for w, v in zip(weights.tolist(), vector.tolist(), strict=True))


def _balanced(sides: Vector, reach: Vector) -> Vector:
    """Return weights of at most `reach` that balance the sides of all objectives."""
    lengths = np.clip(sides, 1, np.maximum(reach, 1)).astype(np.float64)
    ratios = np.rint(np.minimum(lengths.max() / lengths, LARGEST_RATIO))
    weights: Vector = np.maximum(1, ratios).astype(np.int64)
    return weights
