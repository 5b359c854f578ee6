"""Growth of ensembles by margin histograms (Section 3.2 and Figure 1 of :cite:t:`Gagne2007`)."""

import hashlib
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Counts
from shortlist.ensembles.evolution import _margin_kernels
from shortlist.ensembles.rules._kernels import coded_rows
from shortlist.ensembles.votes.hard_votes import ClassCodes, ClassVotes, Members, no_votes

CRITERIA = ("histogram", "minimum")


def vote_digests(codes: ClassCodes) -> list[bytes]:
    """Return 16 bytes per classifier that tell its votes from others, but for a chance of 2^-128."""
    return [
        hashlib.blake2b(column.tobytes(), digest_size=16).digest() for column in np.ascontiguousarray(codes.T)
    ]


def distinct_classifiers(codes: ClassCodes, known: Collection[bytes] = ()) -> Members:
    """Return the indices of classifiers whose votes differ from all before them and from `known`."""
    seen = set(known)
    distinct = []
    for index, digest in enumerate(vote_digests(codes)):
        if digest not in seen:
            seen.add(digest)
            distinct.append(index)
    return np.array(distinct, dtype=np.int64)


def grow_by_margins(
    votes: ClassVotes, candidates: ArrayLike, start: NDArray[np.int32], *, criterion: str = "histogram"
) -> tuple[Members, Counts]:
    """Add candidates to a start ensemble, always the one with the best margins, until none is left.

    Step 2 of Figure 1 of :cite:t:`Gagne2007`; equal candidates go to the lowest index.

    O(n_candidates · n_rows · n_classes) time, plus counting only candidates that are still equal, from the
    lowest margin up; 12 bytes per row and class, and 24 per row, beside the votes.

    `candidates`: which classifiers may join, increasing. `start`: votes of the start ensemble for each class,
    ``(n_rows, n_classes)``; not modified. `criterion`, one of ``"histogram"`` and ``"minimum"``: ``minimum``
    compares smallest margins alone, which the paper tried first. `order`, which it returns: the candidates in
    the order in which they join, ``(n_candidates,)``. `right`, which it returns: samples decided right by the
    start and after every addition, ``(n_candidates + 1,)``.
    """
    as_choice(criterion, "criterion", CRITERIA)
    left = np.array(candidates, dtype=np.int64)
    n_rows, n_left = len(votes.labels), len(left)
    tally = no_votes(votes)
    tally[:, : votes.n_classes] += start
    order, right = np.empty(n_left, dtype=np.int64), np.empty(n_left + 1, dtype=np.int64)
    levels = 2 * (int(start.sum(axis=1).max()) + n_left) + 3
    by_margin = _margin_kernels.SortedRows(
        np.empty((3, n_rows), dtype=np.int64), *np.empty((3, levels), dtype=np.int64)
    )
    equal = np.empty((6, max(1, n_left)), dtype=np.int64)
    _margin_kernels.climb_by_margins(
        coded_rows(votes), criterion == "histogram", tally, left, by_margin, equal, order, right
    )
    return order, right
