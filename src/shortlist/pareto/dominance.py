"""Which vectors no other vector dominates."""

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError


def nondominated(points: ArrayLike) -> Mask:
    """Mark the points that no other point dominates.

    Point `a` dominates point `b` when it is no worse in every objective and better in at least one (Ehrgott
    2005, Section 2.1). Equal points do not dominate each other, so duplicates of a marked point are all
    marked.

    Parameters
    ----------
    points : array-like of shape (n_points, n_objectives)
        Objective vectors, every objective minimised, in any unit; integers must stay below 2^53. Not
        modified.

    Returns
    -------
    ndarray of bool, shape (n_points,)
        True where the point is non-dominated.

    Raises
    ------
    BadInputError
        If `points` is not two-dimensional, holds NaN or infinity, or an integer that a double cannot tell
        from its neighbours.

    Notes
    -----
    By moocore, in O(n log n) time up to three objectives and O(n log^(m - 2) n) beyond (Kung, Luccio &
    Preparata 1975).

    Examples
    --------
    >>> nondominated([[1, 4], [2, 2], [3, 3], [2, 2]])
    array([ True,  True, False,  True])
    """
    return _marked(points, keep_equal=True)


def nondominated_unique(points: ArrayLike) -> Mask:
    """Mark the points that no other point dominates, and of equal ones the first only.

    As :func:`nondominated` otherwise.

    Examples
    --------
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
    """Call moocore, which wants at least one point and one objective."""
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
