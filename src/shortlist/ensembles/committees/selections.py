"""What exact pruning found: the members, their value, and what is proved of it."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.votes.binary_votes import Confusion
from shortlist.pickles import saved_from
from shortlist.results.selection import Selection

History: TypeAlias = tuple[tuple[float, float | None, float], ...]
"""Seconds, best value (None before the first) and bound, in the user's unit, as they got better.
"""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrunedSelection(Selection):
    """The members of a pruned ensemble, and what is proved of them.

    Attributes
    ----------
    reason : str
        Why there is no selection, for people; empty when there is one.
    history : tuple of (float, float or None, float)
        Seconds, value and bound as they got better, see :data:`History`; value None before a selection was
        found.
    certificate : dict or None
        What proves the bound as far as cuts prove it, as plain data that
        :func:`shortlist.ensembles.audit.cut_check.check_certificate` rechecks.
    certified_bound : float or None
        The bound that the certificate proves, in the user's unit; `bound` may be lower, by the word of
        `proved_by`.
    proved_by : str
        Who claims `bound`: ``"cuts"``, ``"branch and bound"``, ``"a walk over all selections"``
        or the name of a solver; empty where nothing was bounded.
    counted_from : str
        What the value is counted from: ``"votes"`` or ``"probabilities"``.
    threshold : int or None
        Above how many votes the positive class wins; None where no threshold decides.
    """

    reason: str = ""
    history: History = ()
    certificate: dict[str, Any] | None = None
    certified_bound: float | None = None
    proved_by: str = ""
    counted_from: str = "votes"
    threshold: int | None = None


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EnsembleSelection(PrunedSelection):
    """The members of an ensemble for two classes, and what they decide on the validation rows.

    Attributes
    ----------
    threshold : int
        L: positive where more than this many members vote so.
    confusion : Confusion
        Decisions on the validation rows, counted from the votes.
    """

    threshold: int
    confusion: Confusion


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClassSelection(PrunedSelection):
    """The members of an ensemble, and what their plurality vote, or the mean of their probabilities, decides.

    Attributes
    ----------
    decisions : ndarray of int64, shape (n_classes, n_classes)
        Samples of the validation rows by true class and decision, counted from the votes; right ones stand on
        the diagonal. All zero when there is no selection.
    """

    decisions: NDArray[np.int64]

    @property
    def right(self) -> NDArray[np.int64]:
        """Right decisions by true class, ``(n_classes,)``."""
        return np.diag(self.decisions)
