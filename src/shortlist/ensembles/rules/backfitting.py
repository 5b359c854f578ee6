"""Greedy selection by accuracy whose members may be replaced later (Section 5.2 of :cite:t:`Bastos2022`)."""

from dataclasses import dataclass

import numpy as np

from shortlist._words import all_of
from shortlist.arrays import Counts
from shortlist.ensembles.rules import _kernels
from shortlist.ensembles.rules.orderings import single_right, sizes_to_try
from shortlist.ensembles.votes.class_votes import ClassVotes, Members, no_votes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Backfitted:
    """The members found for every size that was tried, and the best of them."""

    sizes: Members
    """The sizes M, increasing, ``(n_sizes,)``."""
    members_by_size: tuple[Members, ...]
    """The M classifiers of each."""
    right: Counts
    """Samples that their plurality vote decides right, ``(n_sizes,)``."""
    best: int
    """Where the most are right; the smallest size of equals."""

    @property
    def members(self) -> Members:
        """The members of the best size."""
        return self.members_by_size[self.best]


def backfit(votes: ClassVotes, *, sizes: range | None = None) -> Backfitted:
    """Add the classifier that helps accuracy most; after each addition replace members while that helps.

    Section 5.2 of :cite:t:`Bastos2022`, after Margineantu and Dietterich (1997). The revision goes through
    the members in the order of their places; one that can be replaced by a classifier left out so that more
    samples are right is replaced by the best such one, and the revision starts again. Of equal classifiers
    the more accurate one alone is taken, then the lowest index. Members for size M are a step on the way to M
    + 1, so all sizes come from one run. Raises BadInputError if `sizes` is empty or leaves that range.

    `votes`: rows that the classifiers were not fitted on. `sizes`: sizes M to choose from, within 1 and K;
    default from 20 % to 80 % of K, as in the paper.

    O(n_near · n_classifiers) time per replacement tried, n_near the rows whose vote is closer than two.

    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> backfit(votes, sizes=range(1, 4)).members.tolist()
    [1, 2, 0]
    """
    tried = sizes_to_try(votes.n_classifiers) if sizes is None else sizes
    if not tried or min(tried) < 1 or max(tried) > votes.n_classifiers:
        raise BadInputError(
            "sizes", f"must lie from 1 to {votes.n_classifiers}, the classifiers", all_of(tried)
        )
    most = max(tried)
    members = np.zeros((most, most), dtype=np.int64)
    right = np.empty(most, dtype=np.int64)
    n_rows = len(votes.labels)
    climb = _kernels.Climb(
        single_right(votes),
        no_votes(votes),
        np.empty(votes.n_classifiers, dtype=np.int64),
        np.ones(votes.n_classifiers, dtype=bool),
    )
    near = np.empty(n_rows, dtype=np.int64)
    _kernels.climb_with_backfitting(
        _kernels.coded_rows(votes), climb, np.arange(n_rows), near, members, right
    )
    right = right[np.array(tried) - 1]
    return Backfitted(
        np.array(tried), tuple(members[size - 1, :size] for size in tried), right, int(right.argmax())
    )
