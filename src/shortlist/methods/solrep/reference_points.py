"""Reference points spread over the polytope of the anchors by hit-and-run (Xue & Li 2018, Algorithm 3).

The anchors are one non-dominated vector for the least value of each objective; the plane through them is the
utopia plane of the normal-constraint methods (Messac, Ismail-Yahaya & Mattson 2003). Anchors of product lines
often coincide, or lie on a line, because several objectives are best at once. Their convex hull then has a
smaller dimension, and the walk stays inside that: every reference point is a convex combination of the
anchors whatever their position.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Points
from shortlist.errors import BadInputError

FLAT = 1e-9
"""Singular values below this part of the largest one count as zero: that direction has no extent."""


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of some vectors in coordinates of its own, in which it is as round as possible.

    Attributes
    ----------
    origin : ndarray of float, shape (n_objectives,)
        The mean of the vectors.
    axes : ndarray of float, shape (dimension, n_objectives)
        A vector of the hull is ``origin + coordinates @ axes``.
    normals : ndarray of float, shape (n_facets, dimension)
        Coordinates inside satisfy ``normals @ coordinates <= limits``.
    limits : ndarray of float, shape (n_facets,)
        All above 0: the origin is inside.
    """

    origin: NDArray[np.float64]
    axes: NDArray[np.float64]
    normals: NDArray[np.float64]
    limits: NDArray[np.float64]

    @property
    def dimension(self) -> int:
        """Dimension of the hull: 0 when all vectors are equal."""
        return len(self.axes)


def hull_of(vectors: ArrayLike) -> Hull:
    """Return the convex hull of `vectors`, ``(n_vectors, n_objectives)``, of whatever dimension.

    In the coordinates of the left singular vectors, n affinely independent vectors are the corners of a
    regular simplex, so that a walk does not get stuck in the narrow corners of objectives with different
    units.

    Examples
    --------
    >>> hull_of([[0, 0, 5], [4, 0, 5], [0, 8, 5], [0, 8, 5]]).dimension
    2
    """
    corners = np.asarray(vectors, dtype=np.float64)
    if corners.ndim != 2 or not corners.size or not np.isfinite(corners).all():
        raise BadInputError(
            f"vectors must be finite numbers of shape (n_vectors, n_objectives), got {corners.shape}."
        )
    corners = np.unique(corners, axis=0)
    steps = (
        corners - corners[0]
    )  # exact, where the mean of large numbers would be rounded to more than their distances
    middle = steps.mean(axis=0)
    origin = corners[0] + middle
    extent = np.ptp(corners, axis=0)
    extent[extent == 0] = 1.0
    left, sizes, right = np.linalg.svd((steps - middle) / extent, full_matrices=False)
    kept = sizes > FLAT * max(1.0, sizes[0])
    coordinates, axes = left[:, kept], sizes[kept, None] * right[kept] * extent
    normals, limits = _facets(coordinates)
    return Hull(origin, axes, normals, limits)


def hit_and_run(
    vectors: ArrayLike, n_points: int, *, rng: np.random.Generator, thinning: int = 10, burn_in: int = 100
) -> NDArray[np.float64]:
    """Return points of a random walk whose limit is the uniform distribution over the hull of `vectors`.

    Each step takes a direction uniform on the sphere and a point uniform on the chord through the current
    point (Smith 1984).

    Parameters
    ----------
    vectors : array-like of shape (n_vectors, n_objectives)
        Corners, possibly repeated or affinely dependent.
    n_points : int
        How many points.
    rng : numpy.random.Generator
        The only source of randomness.
    thinning : int, default=10
        Steps from one returned point to the next; the paper takes every step, 1.
    burn_in : int, default=100
        Steps before the first returned point; the walk starts at the mean of the vectors.

    Returns
    -------
    ndarray of float, shape (n_points, n_objectives)
        Points inside the hull, up to rounding. All are equal if the vectors are.

    Notes
    -----
    Takes O((n_points · thinning + burn_in) · n_facets) time. Within a regular simplex of three dimensions
    neighbouring steps correlate by about 0.8 and points ten steps apart by about 0.1; :func:`autocorrelation`
    measures it.

    Examples
    --------
    >>> walk = hit_and_run([[0, 4], [4, 0]], 3, rng=np.random.default_rng(1))
    >>> np.allclose(walk.sum(axis=1), 4)
    True
    """
    n_points = as_count(n_points, "n_points", at_least=0)
    thinning = as_count(thinning, "thinning")
    burn_in = as_count(burn_in, "burn_in", at_least=0)
    hull = hull_of(vectors)
    if not hull.dimension:
        return np.tile(hull.origin, (n_points, 1))
    n_steps = burn_in + n_points * thinning
    directions = rng.standard_normal((n_steps, hull.dimension))
    lengths = rng.random(n_steps)
    speeds = directions @ hull.normals.T  # how fast each facet comes nearer
    jumps = _jumps(speeds, hull.limits, lengths)
    walk = np.cumsum(jumps[:, None] * directions, axis=0)
    kept = walk[burn_in + thinning - 1 :: thinning]
    return hull.origin + kept @ hull.axes


def _jumps(
    speeds: NDArray[np.float64], limits: NDArray[np.float64], lengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far each step goes: `lengths` says where on its chord it ends."""
    slacks = limits.tolist()  # distances to the facets; plain floats, as a hull has few facets
    jumps = []
    for rates, length in zip(speeds.tolist(), lengths.tolist(), strict=True):
        end = min(slack / rate for slack, rate in zip(slacks, rates, strict=True) if rate > 0)
        start = max(slack / rate for slack, rate in zip(slacks, rates, strict=True) if rate < 0)
        jump = start + length * (end - start)
        slacks = [slack - jump * rate for slack, rate in zip(slacks, rates, strict=True)]
        jumps.append(jump)
    return np.array(jumps)


def autocorrelation(walk: ArrayLike, lag: int = 1) -> float:
    """Return the mean over coordinates of the correlation between a walk and itself `lag` points later.

    Coordinates that do not change are left out; 0 if none changes or the walk is not longer than the lag.

    Examples
    --------
    >>> round(autocorrelation([[0.0], [1.0], [0.0], [1.0]]), 2)
    -0.75
    """
    points = np.asarray(walk, dtype=np.float64)
    lag = as_count(lag, "lag")
    if len(points) <= lag:
        return 0.0
    centred = points - points.mean(axis=0)
    variance = (centred**2).sum(axis=0)
    moving = variance > 1e-18 * max(1.0, float(np.abs(points).max())) ** 2
    shared = (centred[:-lag] * centred[lag:]).sum(axis=0)
    return float((shared[moving] / variance[moving]).mean()) if moving.any() else 0.0


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


def _facets(coordinates: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the half-spaces whose intersection is the hull of `coordinates`, which has full dimension."""
    dimension = coordinates.shape[1]
    if dimension == 0:
        return np.empty((0, 0)), np.empty(0)
    if dimension == 1:
        return np.array([[1.0], [-1.0]]), np.array([coordinates.max(), -coordinates.min()])
    from scipy.spatial import ConvexHull

    equations = np.unique(ConvexHull(coordinates).equations.round(12), axis=0)
    return equations[:, :-1], -equations[:, -1]
