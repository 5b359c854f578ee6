"""Reference points in the utopia plane by hit-and-run (lines 4 to 12 of Algorithm 3 of :cite:t:`Xue2018`).

The anchors are one non-dominated vector for the least value of each objective; the plane through them is the
utopia plane of the normal-constraint methods (Messac, Ismail-Yahaya & Mattson 2003). The walk stays in that
plane, and within what the constraints of the products allow without integrality, beyond the anchors' convex
hull too. Anchors that repeat or lie on a line span a plane of fewer dimensions.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Points
from shortlist.runs.progress import Progress, Report, silent

WALK = "random walk"
"""The stage that is told of while reference points are drawn."""

FLAT = 1e-9
"""Singular values below this part of the largest one count as zero: that direction has no extent."""

PLACE_STEP = 2.0**-40
"""Points of the walk are rounded to multiples of this, in ranges of the anchors, so that the last digit of a
product does not decide where the walk goes."""

Between: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[float, float]]
"""Returns how far a jump may go from a place in a direction: backwards, at most 0, and forwards, at least 0;
see :meth:`shortlist.methods.solrep.jump_limits.JumpLimits.between`.
"""


def plane_scales(anchors: Points) -> NDArray[np.float64]:
    """Return the unit of each objective: the range of the anchors, 1 where they agree."""
    extent = np.ptp(anchors, axis=0).astype(np.float64)
    return np.where(extent > 0, extent, 1.0)


def plane_dimension(anchors: Points) -> int:
    """Return the dimension of the plane through some vectors: 0 when all are equal.

    Examples
    --------
    >>> plane_dimension(np.array([[0, 0, 5], [4, 0, 5], [0, 8, 5], [0, 8, 5]]))
    2
    """
    steps = (anchors - anchors[0]) / plane_scales(anchors)
    return int(np.linalg.matrix_rank(steps, tol=FLAT * max(1.0, float(np.abs(steps).max(initial=0)))))


def hit_and_run(
    anchors: Points, n_points: int, between: Between, *, rng: np.random.Generator, report: Report = silent
) -> NDArray[np.float64]:
    """Return a random walk in the plane through `anchors`: a point in their hull, and one after each step.

    A step takes a random direction in the plane, from `between` the limits of the jump, and a length uniform
    between these (Smith 1984). The limit of the walk is the uniform distribution over what `between` allows.

    Parameters
    ----------
    anchors : ndarray of int, shape (n_anchors, n_objectives)
        Vectors in steps, possibly repeated or affinely dependent.
    n_points : int
        How many points.
    between : callable
        Takes a place, measured from the first anchor in :func:`plane_scales`, and a direction.
    rng : numpy.random.Generator
        The only source of randomness.
    report : callable, optional
        Told after every step.

    Returns
    -------
    ndarray of float, shape (n_points, n_objectives)
        Points in the plane, in steps, up to rounding. All are equal if the anchors are.

    Notes
    -----
    As in the paper every step gives a point, the first one included: nothing is thinned out or left out at
    the beginning. Directions are sums of the edges from each anchor to the last one, each of length 1 in the
    ranges of the anchors, with normal multipliers; the authors' program draws the multipliers from [0, 1].
    Both have the same limit.

    Examples
    --------
    >>> segment = np.array([[0, 4], [4, 0]])
    >>> def allowed(place, direction):
    ...     return tuple(sorted(((0.0 - place[0]) / direction[0], (1.0 - place[0]) / direction[0])))
    >>> walk = hit_and_run(segment, 3, allowed, rng=np.random.default_rng(1))
    >>> bool(np.allclose(walk.sum(axis=1), 4) and (walk >= -1e-9).all())
    True
    """
    n_points = as_count(n_points, "n_points", at_least=0)
    scales = plane_scales(anchors)
    corners = (anchors - anchors[0]) / scales  # exact, where the vectors are too large for their distances
    edges = corners[-1] - corners[:-1]
    lengths = np.sqrt((edges**2).sum(axis=1, keepdims=True))
    edges = edges / np.where(lengths > 0, lengths, 1.0)
    shares = rng.dirichlet(np.ones(len(corners)))
    place = _rounded((shares[:, None] * corners).sum(axis=0))
    walk = np.tile(place, (n_points, 1))
    moves = bool(edges.any())
    for number in range(1, n_points if moves else 0):
        report(Progress(WALK, number, n_points))
        multipliers = rng.standard_normal(len(edges))
        direction = (multipliers[:, None] * edges).sum(axis=0)
        direction = direction / np.sqrt((direction**2).sum())
        low, high = between(place, direction)
        place = _rounded(place + (low + rng.random() * (high - low)) * direction)
        walk[number] = place
    points: NDArray[np.float64] = anchors[0] + walk * scales
    return points


def _rounded(place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a place in multiples of :data:`PLACE_STEP`."""
    rounded: NDArray[np.float64] = np.rint(place / PLACE_STEP) * PLACE_STEP
    return rounded


def neighbour_order(points: Points) -> list[int]:
    """Return an order in which each point is followed by the nearest one left, in ranges of the coordinates.

    Starts at the smallest point; ties go to the smaller index, so the order depends on the points only.
    """
    if not len(points):
        return []
    extent = np.ptp(points, axis=0).astype(np.float64)
    places = points / np.where(extent > 0, extent, 1.0)
    left = np.ones(len(points), dtype=bool)
    order = [int(np.lexsort(points.T[::-1])[0])]
    left[order[0]] = False
    for _ in range(len(points) - 1):
        distances = ((places - places[order[-1]]) ** 2).sum(axis=1)
        order.append(int(np.argmin(np.where(left, distances, np.inf))))
        left[order[-1]] = False
    return order
