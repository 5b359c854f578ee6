"""One classifier of a pool: an estimator that sees some columns and answers class indices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.metaestimators import available_if

from shortlist.arrays import Labels
from shortlist.pickles import saved_from


def _gives_probabilities(member: "Member") -> bool:
    return hasattr(member.estimator, "predict_proba")


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Member:
    """A fitted classifier whose estimator answers indices into `classes_`, perhaps not all of them.

    Parameters
    ----------
    estimator : classifier
        Fitted on class indices.
    classes_ : ndarray of shape (n_classes,)
        What the indices stand for.
    columns : ndarray of int or None
        The columns that the estimator sees, in its order; None: it sees the rows as they come, whatever their
        type.
    """

    estimator: Any
    classes_: Labels
    columns: NDArray[np.intp] | None = None

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return one column per class of `classes_`, ``(n_samples, n_classes)``.

        Classes never seen have 0.
        """
        answers = self.estimator.predict_proba(self._seen(X))
        probabilities = np.zeros((len(answers), len(self.classes_)))
        probabilities[:, np.asarray(self.estimator.classes_).astype(np.intp)] = answers
        return probabilities

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``."""
        indices = np.asarray(self.estimator.predict(self._seen(X))).astype(np.intp)
        return np.asarray(self.classes_[indices])

    def _seen(self, X: Any) -> Any:
        if self.columns is None:
            return X
        return (X if issparse(X) else np.asarray(X))[:, self.columns]
