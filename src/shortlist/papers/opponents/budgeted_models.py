"""What every opponent is once it is fitted: class probabilities, and the features that each row bought."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.multistage.predict.prediction import StagedModel, decide_known
from shortlist.pickles import saved_from


class BudgetedModel(Protocol):
    """A fitted classifier that knows what it reads of each row."""

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the features that each encoded row needs, ``(n_rows, n_features)``."""


@saved_from("shortlist.papers")
@dataclass(frozen=True, eq=False)
class OneSubset:
    """One classifier that reads the same features of every row.

    Attributes
    ----------
    subset : ndarray of bool, shape (n_features,)
        Features that every row buys.
    model : LogisticModel
        What predicts from them.
    """

    subset: Mask
    model: Any

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``."""
        return np.asarray(self.model.probabilities(rows))

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the subset, once per row."""
        return np.broadcast_to(self.subset, (len(rows), len(self.subset)))


@saved_from("shortlist.papers")
@dataclass(frozen=True, eq=False)
class FixedStages:
    """Stages in a fixed order; a row pays for those that it reaches."""

    staged: StagedModel

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities at the stage that each row reached, ``(n_rows, n_classes)``."""
        reached = decide_known(self.staged, rows).stages
        probabilities = np.empty((len(rows), len(self.staged.rule.thresholds)))
        for number, stage in enumerate(self.staged.stages, start=1):
            here = np.flatnonzero(reached == number)
            if len(here):
                probabilities[here] = stage.model.probabilities(rows[here])
        return probabilities

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the features of every stage up to the one that each row reached."""
        known = np.array([stage.subset for stage in self.staged.stages])
        return np.asarray(known[decide_known(self.staged, rows).stages - 1])


def indicator_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn least-squares estimates of class indicators into probabilities.

    The mean of a 0/1 indicator is a probability, so its estimate is one after it was cut to [0, 1]. Several
    classes are then divided by their sum; where every estimate is 0 or less, all classes are equal.

    Parameters
    ----------
    scores : ndarray of float, shape (n_rows, n_outputs)
        One output: the estimate for the second of two classes. Otherwise one per class.

    Examples
    --------
    >>> indicator_probabilities(np.array([[0.25], [1.5]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    >>> indicator_probabilities(np.array([[0.5, 0.5, -1.0], [-1.0, -1.0, -1.0]])).round(2).tolist()
    [[0.5, 0.5, 0.0], [0.33, 0.33, 0.33]]
    """
    if scores.shape[1] == 1:
        second = np.clip(scores[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - second, second])
    positive = np.clip(scores, 0.0, None)
    sums = positive.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), 1.0 / scores.shape[1]))
