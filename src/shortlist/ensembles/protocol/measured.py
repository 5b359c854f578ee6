"""What a rule does on rows that it was not made on: shares, intervals and differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from shortlist.arrays import Labels, Mask
from shortlist.ensembles.votes.binary_votes import Confusion
from shortlist.guarantees.intervals import CONFIDENCE, Interval, wilson_interval


def mean_share_interval(n_right: Sequence[int], n_rows: Sequence[int]) -> Interval:
    """Return an interval, at 95 %, of the mean of independent shares, such as the recalls of the classes.

    Square and add (Newcombe, 1998; MOVER of Zou and Donner, 2008): the distances of each share from the ends
    of its Wilson interval are squared and added; their root, divided by the number of shares, is the distance
    of the mean from its ends.

    Parameters
    ----------
    n_right, n_rows : sequence of int
        By class; every class has at least one row.

    Examples
    --------
    >>> [round(end, 3) for end in mean_share_interval([9, 45], [10, 50])]
    [0.738, 0.95]
    """
    shares = [right / rows for right, rows in zip(n_right, n_rows, strict=True)]
    ends = [wilson_interval(right, rows) for right, rows in zip(n_right, n_rows, strict=True)]
    mean = sum(shares) / len(shares)
    below = math.hypot(*(share - low for share, (low, _) in zip(shares, ends, strict=True))) / len(shares)
    above = math.hypot(*(high - share for share, (_, high) in zip(shares, ends, strict=True))) / len(shares)
    return mean - below, mean + above


@dataclass(frozen=True)
class Difference:
    """How two rules differ on the same rows.

    Attributes
    ----------
    only_first, only_second : int
        Rows that only one of them gets right.
    """

    only_first: int
    only_second: int

    @property
    def p_value(self) -> float:
        """The two-sided p-value of McNemar's exact test.

        It is how often a fair coin parts those rows as unevenly, or more so.
        """
        discordant = self.only_first + self.only_second
        return min(1.0, 2 * float(bdtr(min(self.only_first, self.only_second), discordant, 0.5)))

    @property
    def within_chance(self) -> bool:
        """Whether the p-value is above 0.05."""
        return self.p_value > 1 - CONFIDENCE


@dataclass(frozen=True, eq=False)
class Measured:
    """What a rule does on the test rows.

    Attributes
    ----------
    decisions : ndarray of int, shape (n_classes, n_classes)
        Rows of each true class (first axis) by the class decided.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    positive : int
        Index of the positive class; means something with two classes only.
    size : int
        Number of members.
    ms_per_1000_rows : float
        Wall-clock time of 1,000 answers.
    right : ndarray of bool, shape (n_rows,)
        Which rows are right, so that rules can be compared row by row.
    price : float or None
        What asking all members costs for a row; None where they have no prices.
    """

    decisions: NDArray[np.int64]
    classes: Labels
    positive: int
    size: int
    ms_per_1000_rows: float
    right: Mask
    price: float | None = None

    @property
    def accuracy(self) -> float:
        """Share of the rows that are right."""
        return float(np.trace(self.decisions) / self.decisions.sum())

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval of the accuracy, at 95 %."""
        return wilson_interval(int(np.trace(self.decisions)), int(self.decisions.sum()))

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share of their rows that are right."""
        rows = self.decisions.sum(axis=1)
        return float(np.mean(np.diag(self.decisions)[rows > 0] / rows[rows > 0]))

    @property
    def balanced_accuracy_interval(self) -> Interval:
        """Interval of the balanced accuracy, at 95 %; see :func:`mean_share_interval`."""
        rows = self.decisions.sum(axis=1)
        there = rows > 0
        return mean_share_interval(np.diag(self.decisions)[there].tolist(), rows[there].tolist())

    @property
    def confusion(self) -> Confusion | None:
        """The four kinds of decision; None with more than two classes."""
        if len(self.classes) > 2:
            return None
        one, other = self.positive, 1 - self.positive
        cases = ((one, one), (one, other), (other, other), (other, one))
        return Confusion(*(int(self.decisions[case]) for case in cases))

    @property
    def only_answer(self) -> str | None:
        """The class that every row is given; None where there are several."""
        return only_answer(self.decisions.sum(axis=0), self.classes)

    def against(self, other: "Measured") -> Difference:
        """Return how this rule and another one differ on the same rows."""
        return Difference(int((self.right & ~other.right).sum()), int((other.right & ~self.right).sum()))

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics for JSON; with more than two classes the decisions by true and decided class."""
        counts = self.confusion
        names = [str(label) for label in self.classes]
        by_case: dict[str, Any] = {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, self.decisions.tolist(), strict=True)
        }
        if counts is not None:
            by_case = {
                "true_positive": counts.true_positive,
                "false_negative": counts.false_negative,
                "true_negative": counts.true_negative,
                "false_positive": counts.false_positive,
            }
        return {
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_interval": list(self.balanced_accuracy_interval),
            "confusion": by_case,
            "size": self.size,
            "ms_per_1000_predictions": self.ms_per_1000_rows,
            "price": self.price,
        }


def only_answer(n_decided: NDArray[np.int64], classes: Labels) -> str | None:
    """Return the one class that rows were decided for, None where there are several or no rows.

    Examples
    --------
    >>> healthy = only_answer(np.array([0, 7]), np.array(["ill", "well"]))
    >>> healthy, only_answer(np.array([1, 6]), np.array([0, 1]))
    ('well', None)
    """
    chosen = np.flatnonzero(n_decided)
    return str(classes[chosen[0]]) if len(chosen) == 1 else None
