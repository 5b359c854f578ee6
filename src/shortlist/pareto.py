"""Dominance and indicators of vectors."""

from collections.abc import Sequence

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._words import all_of
from shortlist.arrays import Mask
from shortlist.errors import BadInputError


def nondominated(points: ArrayLike) -> Mask:
    """Mark the points that no other point dominates.

    Point `a` dominates point `b` if `a` is at least as good in every objective and better in at least one
    (Ehrgott 2005, Section 2.1). Equal points do not dominate each other, so duplicates of a marked point are
    all marked.

    Raises BadInputError if `points` is not two-dimensional, holds NaN or infinity, or an integer that a
    double cannot represent.

    `points`: objective vectors, every objective minimised, in any unit, ``(n_points, n_objectives)``;
    integers must stay below 2^53. Not modified.

    By moocore, in O(n log n) time up to three objectives and O(n log^(m - 2) n) beyond (Kung, Luccio &
    Preparata 1975). The mask, ``(n_points,)``, is true where the point is non-dominated.

    >>> nondominated([[1, 4], [2, 2], [3, 3], [2, 2]])
    array([ True,  True, False,  True])
    """
    return _marked(points, keep_equal=True)


def nondominated_unique(points: ArrayLike) -> Mask:
    """Mark the points that no other point dominates; of equal points only the first is marked.

    For parameters, errors and time see :func:`nondominated`.

    >>> nondominated_unique([[1, 4], [2, 2], [3, 3], [2, 2]])
    array([ True,  True, False, False])
    """
    return _marked(points, keep_equal=False)


def as_exact_doubles(points: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Return `points` as doubles, ``(n_points, n_objectives)``, if that changes no value."""
    given = np.asarray(points)
    if given.ndim != 2:
        raise BadInputError(
            argument,
            "must have shape (n_points, n_objectives)",
            given.shape,
            f"Pass a single point as {argument}[None, :].",
        )
    if given.dtype.kind in "iu" and len(given) and max(int(given.max()), -int(given.min())) >= 2**53:
        raise BadInputError(f"{argument} must stay below 2^53 to be compared exactly. Use a coarser scale.")
    doubles: NDArray[np.float64] = given.astype(np.float64)
    if not np.isfinite(doubles).all():
        raise BadInputError(argument, "must be finite numbers", "NaN or infinity", "Drop those points.")
    return doubles


def _marked(points: ArrayLike, *, keep_equal: bool) -> Mask:
    """Call moocore, which requires at least one point and one objective."""
    doubles = as_exact_doubles(points, "points")
    marked: Mask
    if not doubles.size:
        marked = np.ones(len(doubles), dtype=bool)
        marked[1:] = keep_equal
    elif doubles.shape[1] == 1:
        marked = doubles[:, 0] == doubles.min()
        if not keep_equal:
            marked &= np.arange(len(doubles)) == marked.argmax()
    else:
        marked = np.asarray(moocore.is_nondominated(doubles, keep_weakly=keep_equal), dtype=bool)
    return marked


def scaled(points: ArrayLike, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """Scale each objective so that `low` becomes 0 and `high` becomes 1.

    An objective without range becomes 0.

    Compare sets only with the same `low` and `high`, and state these: the range of the complete front, if it
    is known.

    >>> scaled([[2, 7], [4, 7]], low=[2, 7], high=[6, 7]).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    doubles = as_exact_doubles(points, "points")
    bottom, top = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if bottom.shape != top.shape or bottom.shape != (doubles.shape[1],) or (top < bottom).any():
        raise BadInputError(
            f"low and high must be {doubles.shape[1]} values each, low at most high, got {bottom} and {top}."
        )
    extent = np.where(top > bottom, top - bottom, 1.0)
    return np.where(top > bottom, (doubles - bottom) / extent, 0.0)


def hypervolume(points: ArrayLike, reference: ArrayLike) -> float:
    """Return the volume that the points dominate below a reference point (Zitzler & Thiele 1998), by moocore.

    `points`: objective vectors, minimised, ``(n_points, n_objectives)``; a point adds nothing unless it is
    better than the reference in every objective. `reference`: the corner that bounds the volume,
    ``(n_objectives,)``.

    The volume, in the product of the objectives' units; 0 without points.

    >>> hypervolume([[0, 1], [1, 0]], reference=[2, 2])
    3.0
    """
    doubles = as_exact_doubles(points, "points")
    corner = np.asarray(reference, dtype=np.float64)
    if corner.shape != (doubles.shape[1],):
        raise BadInputError("reference", f"must be {doubles.shape[1]} values", f"shape {corner.shape}")
    if not len(doubles):
        return 0.0
    if doubles.shape[1] == 1:
        return float(max(corner[0] - doubles.min(), 0.0))
    return float(moocore.hypervolume(doubles, ref=corner))


def spread(
    points: ArrayLike, *, order: Sequence[int] | None = None, reference: ArrayLike | None = None
) -> float:
    """Return the unevenness of neighbouring points: 0 when all distances to the next point are equal.

    The spread Δ of Deb, Pratap, Agarwal & Meyarivan (2002), as jMetal computes it for points sorted
    lexicographically: (e + Σ |d_i − d̄|) / (e + (n − 1) · d̄), where d_i is the Euclidean distance from point
    i to the next one and d̄ the mean of these n − 1 distances. The extreme term e is the distance of the
    first point to the first reference point, plus the distance of the last point to the last reference point;
    0 if the points are their own reference.

    `points`: objective vectors, usually :func:`scaled`, ``(n_points, n_objectives)``. `order`: the objectives
    to sort by, first to last. Default: the order of the columns. `reference`: the front that the ends of the
    points are compared with, ``(n_reference, n_objectives)``. Default: the points.

    The spread; 0 with fewer than three points or when all are equal.

    >>> spread([[0, 4], [1, 3], [4, 0]])
    0.5
    >>> spread([[0, 4], [3, 0]], reference=[[0, 4], [3, 0], [6, -4]])
    0.5
    """
    doubles = as_exact_doubles(points, "points")
    columns = list(range(doubles.shape[1])) if order is None else list(order)
    if sorted(columns) != list(range(doubles.shape[1])):
        raise BadInputError(
            "order",
            f"must name each of the {doubles.shape[1]} objectives once",
            all_of(columns),
            "Count from 0.",
        )
    ranked = doubles[np.lexsort(doubles.T[columns[::-1]])]
    distances = np.linalg.norm(np.diff(ranked, axis=0), axis=1)
    extremes = 0.0
    if reference is not None and len(ranked):
        others = as_exact_doubles(reference, "reference")
        others = others[np.lexsort(others.T[columns[::-1]])]
        extremes = float(np.linalg.norm(ranked[[0, -1]] - others[[0, -1]], axis=1).sum())
    total = extremes + distances.sum()
    mean = distances.mean() if len(distances) else 0.0
    return float((extremes + np.abs(distances - mean).sum()) / total) if total > 0 else 0.0


def additive_epsilon(points: ArrayLike, reference: ArrayLike) -> float:
    """Return the least ε such that every reference point has a point worse by at most ε in each objective.

    The additive ε-indicator of Zitzler, Thiele, Laumanns, Fonseca & Grunert da Fonseca (2003), by moocore:
    not above zero when `points` covers all of `reference`.

    >>> additive_epsilon([[1, 3]], reference=[[0, 3], [1, 1]])
    2.0
    """
    return float(moocore.epsilon_additive(*_both(points, reference)))


def igd_plus(points: ArrayLike, reference: ArrayLike) -> float:
    """Return IGD+, by moocore: the mean distance by which `points` miss the reference points.

    The modified inverted generational distance of Ishibuchi, Masuda, Tanigaki & Nojima (2015): for each
    reference point the least Euclidean length of the part by which a point is worse. Zero when `points`
    covers all of `reference`.

    >>> igd_plus([[1, 3]], reference=[[0, 3], [1, 1]])
    1.5
    """
    return float(moocore.igd_plus(*_both(points, reference)))


def _both(points: ArrayLike, reference: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = as_exact_doubles(points, "points"), as_exact_doubles(reference, "reference")
    if not len(first) or not len(second) or first.shape[1] != second.shape[1]:
        raise BadInputError(
            "points and reference must hold points with the same number of objectives, "
            f"got shapes {first.shape} and {second.shape}."
        )
    return first, second
