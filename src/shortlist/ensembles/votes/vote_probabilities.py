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


def smoothed_shares(shares: NDArray[np.float64], n_members: int) -> NDArray[np.float64]:
    """Return shares of votes as if every class had one vote more (Laplace's rule of succession).

    Few votes that agree are not certain: as probabilities, shares of 0 and 1 cost an infinite log loss where
    they are wrong. The largest share stays the largest. Nobody's shares stay as they are.

    Examples
    --------
    >>> smoothed_shares(np.array([[1.0, 0.0], [0.5, 0.5]]), 2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    if not n_members:
        return shares
    return np.asarray((shares * n_members + 1) / (n_members + shares.shape[-1]))
