"""Selection from a pool by margin histograms."""

import numpy as np

from shortlist.ensembles.evolution.training_rows import distinct_classifiers, grow_by_margins
from shortlist.ensembles.rules import Ordering, single_right
from shortlist.ensembles.votes.hard_votes import ClassVotes, class_tally


def select_by_margins(votes: ClassVotes, *, criterion: str = "histogram") -> Ordering:
    """Order a pool by margins from its most accurate classifier on, and keep the prefix with fewest errors.

    Figure 1 of :cite:t:`Gagne2007` with L0 the classifier with fewest errors (Section 3.3). Classifiers with
    the same votes are duplicates: the first stays, and none votes twice, so the order holds distinct
    classifiers only. Equal prefixes go to the smallest.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]], [1, 1, 1, 0])
    >>> select_by_margins(votes).order.tolist()
    [1, 2, 0]
    """
    first = int(single_right(votes).argmax())
    distinct = distinct_classifiers(votes.codes)
    start = class_tally(votes.codes[:, [first]], votes.n_classes)
    order, right = grow_by_margins(votes, distinct[distinct != first], start, criterion=criterion)
    return Ordering(np.concatenate([[first], order]), right, None, int(right.argmax()) + 1)
