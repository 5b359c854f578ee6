"""What votes say as probabilities: their shares, about a threshold or for each class, with one vote more."""

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.votes.class_votes import ClassCodes, class_tally


def vote_shares(codes: ClassCodes, n_classes: int) -> NDArray[np.float64]:
    """Return the share of votes for each class, or all for the first where nobody votes."""
    return tally_shares(class_tally(codes, n_classes))


def tally_shares(tally: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the share of each class among counted votes, ``(..., n_classes)``; all for the first of none.

    Examples
    --------
    >>> tally_shares(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [1.0, 0.0]]
    """
    counted = tally.copy()
    counted[..., 0] += ~counted.any(axis=-1)
    return np.asarray(counted / counted.sum(axis=-1, keepdims=True))


def stretched(votes: NDArray[np.int64], threshold: int, size: int) -> NDArray[np.float64]:
    """Map votes of `size` members to [0, 1] by two straight lines that meet at (threshold + ½, ½)."""
    middle = threshold + 0.5
    below = votes / (2 * middle)
    above = 0.5 + (votes - middle) / (2 * max(0.5, size - middle))
    return np.where(votes <= threshold, below, above)


def undecided_about(
    votes: NDArray[np.int64], n_silent: NDArray[np.int64] | int, threshold: int, size: int
) -> NDArray[np.float64]:
    """Return :func:`stretched` positive votes where some of the members are silent, who count against both.

    A class is more probable than the other only where it is so whatever the silent would have voted; it is
    then as probable as if they had all voted against it. Otherwise both are one half.

    Examples
    --------
    >>> undecided_about(np.array([3, 0, 1]), np.array([0, 3, 2]), 1, 3).tolist()
    [1.0, 0.5, 0.5]
    """
    least, most = (stretched(votes + more, threshold, size) for more in (0, n_silent))
    return np.maximum(least, np.minimum(0.5, most))


def smoothed_shares(shares: NDArray[np.float64], n_votes: int | NDArray[np.integer]) -> NDArray[np.float64]:
    """Return shares of votes as if every class had one vote more (Laplace's rule of succession).

    Few votes that agree are not certain: as probabilities, shares of 0 and 1 cost an infinite log loss where
    they are wrong. The largest share stays the largest. Of a row without votes all classes are equal; the
    shares of a committee of nobody stay as they are.

    Parameters
    ----------
    shares : ndarray of float, shape (n_rows, n_classes)
    n_votes : int, or ndarray of shape (n_rows,)
        How many votes were cast, of all rows or of each.

    Examples
    --------
    >>> smoothed_shares(np.array([[1.0, 0.0], [0.5, 0.5]]), 2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    >>> smoothed_shares(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1, 0])).tolist()
    [[0.6666666666666666, 0.3333333333333333], [0.5, 0.5]]
    """
    if np.ndim(n_votes) == 0 and not n_votes:
        return shares
    cast = np.asarray(n_votes)[..., None]
    return np.asarray((shares * cast + 1) / (cast + shares.shape[-1]))
