"""Which boxes of objective space may still hold non-dominated vectors, and how much may be missing there.

The zones ``{y : y < u}`` of :mod:`shortlist.methods.search_zones` cover all that no known vector dominates. Every solved
program says more: with weights w over ``{y : y < c}``, no feasible vector there has ``w @ y`` below its bound b. Inside a
zone u with ``u <= c`` every other component is at most ``u_i - 1``, so ``y_j >= (b - Σ_{i≠j} w_i (u_i - 1)) / w_j``. These
lower limits shrink each zone to a box, close it when the box is empty, and bound what may be missing.
"""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.methods.integer_objectives import Vector
from shortlist.methods.search_zones import split_zones

ROWS_AT_A_TIME = 2000


class UnexploredBoxes:
    """Boxes ``lower <= y < upper``; every feasible vector that no known vector dominates or equals is in one of them.

    Parameters
    ----------
    lower, upper : ndarray of int, shape (n_objectives,)
        Every feasible vector y has ``lower <= y < upper``.

    Examples
    --------
    >>> boxes = UnexploredBoxes(np.array([0, 0]), np.array([10, 10]))
    >>> boxes.add_vector(np.array([4, 3]))
    >>> boxes.add_bound(np.array([10, 10]), np.array([1, 1]), 7)
    >>> boxes.lower[boxes.open].tolist(), boxes.upper[boxes.open].tolist()
    ([[0, 4], [5, 0]], [[4, 10], [10, 3]])
    """

    def __init__(self, lower: Vector, upper: Vector) -> None:
        self._ideal = lower.copy()
        self._cuts: list[tuple[Vector, Vector, int]] = []
        self.upper: Points = upper[None, :].copy()
        self.lower: Points = lower[None, :].copy()
        self.given_up: Mask = np.zeros(1, dtype=bool)
        self.vectors: Points = np.empty((0, len(lower)), dtype=np.int64)

    @property
    def open(self) -> Mask:
        """Boxes that may hold a feasible vector."""
        filled: Mask = np.all(self.lower < self.upper, axis=1)
        return filled

    def add_bound(self, corner: Vector, weights: Vector, bound: int) -> None:
        """Note that every feasible vector below `corner` has weighted objectives of at least `bound`."""
        self._cuts.append((corner.copy(), weights.copy(), bound))
        inside = (self.upper <= corner).all(axis=1)
        self.lower[inside] = np.maximum(self.lower[inside], _raised(self.upper[inside], weights, bound))

    def add_vector(self, vector: Vector) -> None:
        """Note a feasible vector: what it dominates or equals is explored."""
        hit, fresh = split_zones(self.upper, vector)
        if not hit.any():
            return
        lower = np.tile(self._ideal, (len(fresh), 1))
        for corner, weights, bound in self._cuts:
            inside = (fresh <= corner).all(axis=1)
            lower[inside] = np.maximum(lower[inside], _raised(fresh[inside], weights, bound))
        self.upper = np.vstack([self.upper[~hit], fresh])
        self.lower = np.vstack([self.lower[~hit], lower])
        self.given_up = np.concatenate([self.given_up[~hit], np.zeros(len(fresh), dtype=bool)])
        self.vectors = np.vstack([self.vectors, vector])

    def give_up(self, index: int) -> None:
        """Do not offer a box again as long as nothing splits it."""
        self.given_up[index] = True

    def largest(self, ceiling: Vector) -> int | None:
        """Return the open box with the largest volume, counted below `ceiling` first (ties: the oldest); None if none.

        Sides are measured in ranges from the least values to `ceiling`. A box without volume below the ceiling comes
        after all others, by its whole volume.
        """
        offered = np.flatnonzero(self.open & ~self.given_up)
        if not len(offered):
            return None
        unit = np.maximum(ceiling - self._ideal, 1).astype(np.float64)
        low, high = self.lower[offered], self.upper[offered]
        below = np.clip(np.minimum(high, ceiling) - low, 0, None) / unit
        volumes = below.prod(axis=1)
        if not volumes.any():
            volumes = ((high - low) / unit).prod(axis=1)
        return int(offered[np.argmax(volumes)])

    def missing(self) -> Vector:
        """Return a bound on what the known vectors, at least one, lack.

        To every feasible vector there is a known one that is worse by at most this much in each objective. For each
        open box the known vector is chosen whose largest distance above the box's lower corner, in ranges of the known
        vectors, is least.
        """
        boxes = np.unique(self.lower[self.open], axis=0)
        worst: Vector = np.zeros(len(self._ideal), dtype=np.int64)
        unit = np.maximum(np.ptp(self.vectors, axis=0), 1)
        for start in range(0, len(boxes), ROWS_AT_A_TIME):
            lacks = np.maximum(self.vectors[None, :, :] - boxes[start : start + ROWS_AT_A_TIME, None, :], 0)
            nearest = np.argmin((lacks / unit).max(axis=2), axis=1)
            worst = np.maximum(worst, lacks[np.arange(len(nearest)), nearest].max(axis=0, initial=0))
        return worst


def _raised(upper: Points, weights: Vector, bound: int) -> NDArray[np.int64]:
    """Return the lower limits that a weighted bound implies in zones below `upper`."""
    terms = (upper - 1) * weights
    others = terms.sum(axis=1, keepdims=True) - terms
    limits: NDArray[np.int64] = -((others - bound) // weights)
    return limits
