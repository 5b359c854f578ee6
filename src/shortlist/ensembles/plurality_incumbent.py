"""The best selection for several classes so far: counted from the votes, whatever found it, and what is proved of it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.incumbent import History
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.plurality import ClassVotes, class_tally, plurality
from shortlist.ensembles.plurality_weights import ClassWeights, decision_table
from shortlist.errors import SolverError
from shortlist.front import Proof, ProofKind, Selection, Status


@dataclass(frozen=True, eq=False, repr=False)
class ClassSelection(Selection):
    """The members of an ensemble pruned for several classes, and what their plurality vote decides.

    Attributes
    ----------
    decisions : ndarray of int64, shape (n_classes, n_classes)
        Samples of the validation rows by true class and decision, counted from the votes; right ones stand on the
        diagonal. All zero when there is no selection.
    reason : str
        Why there is no selection, for people; empty when there is one.
    history : tuple of (float, float or None, float)
        Seconds, value and bound whenever one of the latter got better; value None before a selection was found.
    """

    decisions: NDArray[np.int64]
    reason: str = ""
    history: History = ()

    @property
    def right(self) -> NDArray[np.int64]:
        """Right decisions by true class, ``(n_classes,)``."""
        return np.diag(self.decisions)


class ClassIncumbent:
    """The best selection so far, and a bound that none can exceed; both in the integers of :class:`ClassWeights`."""

    def __init__(
        self, votes: ClassVotes, weights: ClassWeights, limits: SelectionLimits, *, bound: int
    ) -> None:
        self.votes, self.weights, self.limits = votes, weights, limits
        self.mask: Mask | None = None
        self.total = 0
        self.bound = bound
        self.history: list[tuple[float, float | None, float]] = []

    @property
    def proved(self) -> bool:
        """Whether value and bound are equal, up to the tolerance of the weights."""
        return self.mask is not None and self.bound - self.total <= self.weights.slack

    @property
    def value(self) -> float | None:
        """The best value in the user's unit."""
        return None if self.mask is None else self.weights.value(self.total)

    def offer_simple_selections(self) -> None:
        """Try the full ensemble, the empty one and every single classifier."""
        n_classifiers = self.votes.n_classifiers
        full = np.ones(n_classifiers, dtype=bool)
        for mask in [full, ~full, *np.eye(n_classifiers, dtype=bool)]:
            self.offer(mask)

    def offer(self, mask: Mask) -> int | None:
        """Take a selection if it keeps the limits and is better; return what it is worth, None outside the limits."""
        if not self.limits.satisfied_by(mask):
            return None
        total = self.weights.total(self.votes, mask)
        if self.mask is None or total > self.total:
            self.mask, self.total = mask, total
        return total

    def lower_bound_to(self, bound: int) -> None:
        """Take a bound if it is lower."""
        self.bound = min(self.bound, bound)

    def record(self, seconds: float) -> None:
        """Add to the history if value or bound changed."""
        now = (self.value, self.weights.value(self.bound))
        if not self.history or self.history[-1][1:] != now:
            self.history.append((seconds, *now))

    def drop_idle_members(self) -> None:
        """Leave out members that add nothing."""
        if self.mask is not None:
            fewer = without_idle_voters(self.votes, self.weights, self.limits, self.mask)
            self.mask, self.total = fewer, self.weights.total(self.votes, fewer)

    def selection(self, *, limit: str, seconds: float) -> ClassSelection:
        """Return the best selection with its proof.

        Raises
        ------
        SolverError
            If the bound is below the value: then whoever proved it is wrong.
        """
        assert self.mask is not None, "without a selection there is no answer; see no_selection"
        weights = self.weights
        self.drop_idle_members()
        if self.bound < self.total - weights.slack:
            raise SolverError(
                f"the solver's bound {weights.value(self.bound):g} is below the value "
                f"{weights.value(self.total):g} of a selection that keeps every limit. Try another solver."
            )
        self.bound = max(self.bound, self.total)
        self.record(seconds)
        optimal = self.proved
        return ClassSelection(
            mask=self.mask,
            objective=weights.objective,
            value=weights.value(self.total),
            bound=weights.value(self.bound),
            status=Status.OPTIMAL if optimal else Status.FEASIBLE,
            proof=Proof(
                ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
                tolerances=(weights.tolerance,) if weights.tolerance else (),
                missing=(weights.value(self.bound - self.total),),
                limit="" if optimal else limit,
            ),
            seconds=seconds,
            decisions=decision_table(self.votes, self.mask),
            history=tuple(self.history),
        )

    def no_selection(self, status: Status, *, limit: str, seconds: float, reason: str = "") -> ClassSelection:
        """Return a result that chooses nothing and says why; the bound stands unless nothing is feasible."""
        infeasible = status is Status.INFEASIBLE
        if not reason:
            reason = (
                "no selection keeps the size, cost and diversity limits together"
                if infeasible
                else f"no selection was found before the limit ({limit or 'the solver gave up'})"
            )
        n_classes = self.votes.n_classes
        return ClassSelection(
            mask=np.zeros(self.votes.n_classifiers, dtype=bool),
            objective=self.weights.objective,
            value=math.nan,
            bound=math.nan if infeasible else self.weights.value(self.bound),
            status=status,
            proof=Proof(ProofKind.COMPLETE if infeasible else ProofKind.APPROXIMATE, limit=limit),
            seconds=seconds,
            decisions=np.zeros((n_classes, n_classes), dtype=np.int64),
            reason=reason,
            history=tuple(self.history),
        )


def without_idle_voters(
    votes: ClassVotes, weights: ClassWeights, limits: SelectionLimits, mask: Mask
) -> Mask:
    """Drop members, the last first, as long as the plurality of the rest is worth as much and keeps the limits.

    Notes
    -----
    Takes O(n_rows · n_classes · n_members²) time at most, usually one factor n_members less.
    """
    kept = mask.copy()
    tally = class_tally(votes.codes[:, kept], votes.n_classes)
    gains, every = weights.row_gains(votes), np.arange(len(votes.labels))
    worth = weights.total(votes, kept)
    dropped = True
    while dropped:
        dropped = False
        for k in np.flatnonzero(kept)[::-1]:
            kept[k] = False
            tally[every, votes.columns[k]] -= 1
            left = int(gains[plurality(tally) == votes.labels].sum())
            if left >= worth and limits.satisfied_by(kept):
                worth, dropped = left, True
            else:
                kept[k] = True
                tally[every, votes.columns[k]] += 1
    return kept
