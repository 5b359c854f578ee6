"""Boxes of objective space that may hold further non-dominated vectors, and a bound on their gain.

The zones ``{y : y < u}`` of :mod:`shortlist.methods.integer.search_zones` cover all vectors that no known
one dominates. Every solved program gives a further bound: with weights w over ``{y : y < c}``, no feasible
vector there has ``w @ y`` below its bound b. Inside a zone u with ``u <= c`` every other component is at
most ``u_i - 1``, so ``y_j >= (b - Σ_{i≠j} w_i (u_i - 1)) / w_j``. These lower limits, and those of relaxed
programs, shrink each zone to a box, close it if the box is empty, and bound the possible loss. A vector y
of the box adds at least ``Π (u_i - y_i)`` to the hypervolume, because no known vector is below u; so the
volume of the box bounds this term, and the largest box comes first.
"""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.methods.integer.integer_objectives import Vector
from shortlist.methods.integer.search_zones import split_zones

ROWS_AT_A_TIME = 2000


class UnexploredBoxes:
    """Boxes ``lower <= y < upper`` of vectors that are not explored.

    Every feasible vector that no known vector dominates or equals is in a box.

    The region below the ceiling is kept apart from regions that exceed the ceiling in an objective, because
    only the region below the ceiling counts for a hypervolume measured from the ceiling.

    `lower`, `upper`: corners of the boxes, closed boxes included, ``(n_boxes, n_objectives)``. `relaxed`,
    `tried`, `given_up`: masks, ``(n_boxes,)``: boxes with limits from the relaxation, boxes whose lower part
    is known to be empty, and boxes that are not offered any more. `vectors`: known vectors that explored
    something, ``(n_vectors, n_objectives)``. `lower`, `upper`: every feasible vector y has ``lower <= y <
    upper``, ``(n_objectives,)``. `ceiling`: corner of the region that is explored first, ``(n_objectives,)``;
    `upper` if not given.

    >>> boxes = UnexploredBoxes(np.array([0, 0]), np.array([10, 10]))
    >>> boxes.add_vector(np.array([4, 3]))
    >>> boxes.add_bound(np.array([10, 10]), np.array([1, 1]), 7)
    >>> boxes.lower[boxes.open].tolist(), boxes.upper[boxes.open].tolist()
    ([[0, 4], [5, 0]], [[4, 10], [10, 3]])
    """

    def __init__(self, lower: Vector, upper: Vector, ceiling: Vector | None = None) -> None:
        inner = upper if ceiling is None else np.minimum(ceiling, upper)
        beyond = np.flatnonzero(inner < upper)
        n_boxes = 1 + len(beyond)
        self._corners: Points = np.empty((0, len(lower)), dtype=np.int64)
        self._weighted: list[tuple[Vector, int]] = []  # weights and bound below each corner
        self._unit = np.maximum(inner - lower, 1).astype(np.float64)
        self._region = np.arange(n_boxes)  # 0 below the ceiling; others beyond it in one objective
        self.upper: Points = np.vstack([inner, np.tile(upper, (len(beyond), 1))])
        self.lower: Points = np.tile(lower, (n_boxes, 1))
        self.lower[1 + np.arange(len(beyond)), beyond] = inner[beyond]
        self.relaxed: Mask = np.zeros(n_boxes, dtype=bool)
        self.tried: Mask = np.zeros(n_boxes, dtype=bool)
        self.given_up: Mask = np.zeros(n_boxes, dtype=bool)
        self.vectors: Points = np.empty((0, len(lower)), dtype=np.int64)

    @property
    def open(self) -> Mask:
        """Mask of the boxes that may hold a feasible vector."""
        filled: Mask = np.all(self.lower < self.upper, axis=1)
        return filled

    def add_bound(self, corner: Vector, weights: Vector, bound: int) -> None:
        """Add a lower bound on the weighted objectives of every feasible vector below `corner`."""
        self._corners = np.vstack([self._corners, corner])
        self._weighted.append((weights.copy(), bound))
        inside = (self.upper <= corner).all(axis=1)
        self.lower[inside] = np.maximum(self.lower[inside], _raised(self.upper[inside], weights, bound))

    def add_vector(self, vector: Vector) -> None:
        """Add a feasible vector: the region that it dominates or equals is explored."""
        touched = False
        for region in np.unique(self._region[(vector < self.upper).all(axis=1)]).tolist():
            touched = True
            own = self._region == region
            parted, fresh = split_zones(self.upper[own], vector)
            hit = own.copy()
            hit[own] = parted
            lower = _inherited(self.lower[hit], self.upper[hit], fresh)
            within: Mask = np.all(fresh[None, :, :] <= self._corners[:, None, :], axis=2)
            for number in np.flatnonzero(within.any(axis=1)).tolist():
                inside = within[number]
                raised = _raised(fresh[inside], *self._weighted[number])
                lower[inside] = np.maximum(lower[inside], raised)
            self.upper = np.vstack([self.upper[~hit], fresh])
            self.lower = np.vstack([self.lower[~hit], lower])
            self._region = np.concatenate([self._region[~hit], np.full(len(fresh), region)])
            untouched = np.zeros(len(fresh), dtype=bool)
            self.relaxed = np.concatenate([self.relaxed[~hit], untouched])
            self.tried = np.concatenate([self.tried[~hit], untouched])
            self.given_up = np.concatenate([self.given_up[~hit], untouched])
        if touched:
            self.vectors = np.vstack([self.vectors, vector])

    def raise_lower(self, index: int, lower: Vector) -> None:
        """Raise the lower corner of a box whose feasible vectors are all at least `lower`."""
        self.lower[index] = np.maximum(self.lower[index], lower)
        self.relaxed[index] = True

    def close(self, index: int) -> None:
        """Mark a box as empty."""
        self.lower[index] = np.maximum(self.lower[index], self.upper[index])
        self.relaxed[index] = True

    def largest(self) -> int | None:
        """Return the open box with the largest volume, below the ceiling first (ties: the oldest).

        Returns None if no box is open. Sides are measured in ranges from the least values to the ceiling. The
        empty lower part of a tried box does not count.
        """
        offered = np.flatnonzero(self.open & ~self.given_up)
        if not len(offered):
            return None
        inner = self._region[offered] == 0
        if inner.any():
            offered = offered[inner]
        return int(offered[np.argmax(self.volumes()[offered])])

    def volumes(self) -> NDArray[np.float64]:
        """Return the share of each box in the region below the ceiling, measured as in :meth:`largest`."""
        sides = np.clip(self.upper - self.lower, 0, None)
        whole = (sides / self._unit).prod(axis=1)
        held = ((inner_corner(self.lower, self.upper) - self.lower) / self._unit).prod(axis=1)
        volumes: NDArray[np.float64] = np.where(self.tried, whole - held, whole)
        return volumes

    def lacks(self, indices: NDArray[np.intp]) -> Points:
        """Return the largest loss, per objective, of a known vector against each of the boxes `indices`.

        Each box is compared with the known vector nearest to its lower corner. The distance is the largest
        excess over the corner, in ranges of the known vectors.
        """
        lower = self.lower[indices]
        found = np.zeros_like(lower)
        unit = np.maximum(np.ptp(self.vectors, axis=0), 1)
        for start in range(0, len(lower), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            distances = np.maximum(self.vectors[None, :, :] - lower[part, None, :], 0)
            nearest = np.argmin((distances / unit).max(axis=2), axis=1)
            found[part] = distances[np.arange(len(nearest)), nearest]
        return found

    def missing(self) -> Vector:
        """Return a bound on the loss, per objective, by taking only the known vectors, at least one.

        For every feasible vector, a known vector is worse by at most this much in each objective.
        """
        worst: Vector = self.lacks(np.flatnonzero(self.open)).max(axis=0, initial=0)
        return worst


def inner_corner(lower: Points, upper: Points) -> Points:
    """Return the corner two thirds of the way up in every box, above its lowest vector."""
    corner: Points = lower + 1 + 2 * np.maximum(upper - 1 - lower, 0) // 3
    return corner


def _inherited(lower: Points, upper: Points, fresh: Points) -> Points:
    """Return the largest lower limits of the boxes that contain the zone below each of `fresh`."""
    within: Mask = np.all(fresh[:, None, :] <= upper[None, :, :], axis=2)
    limits: Points = np.where(within[:, :, None], lower[None, :, :], lower.min(axis=0)).max(axis=1)
    return limits


def _raised(upper: Points, weights: Vector, bound: int) -> NDArray[np.int64]:
    """Return the lower limits in zones below `upper` that follow from a weighted bound."""
    terms = (upper - 1) * weights
    others = terms.sum(axis=1, keepdims=True) - terms
    limits: NDArray[np.int64] = -((others - bound) // weights)
    return limits
