"""The best selection so far: counted from the votes, whatever found it, and what is proved of it."""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.votes import Confusion, Votes, confusion, tally
from shortlist.ensembles.weights import Weights
from shortlist.errors import SolverError
from shortlist.front import Proof, ProofKind, Selection, Status

History: TypeAlias = tuple[tuple[float, float | None, float], ...]
"""Seconds, best value (None before the first) and bound, in the user's unit, as they got better.

Of bounds that fall without a pause, as those of slopes do, about ten a second are kept.
"""


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleSelection(Selection):
    """The members of a pruned ensemble, its threshold, and what they decide on the validation rows.

    Attributes
    ----------
    threshold : int
        L: positive where more than this many members vote so.
    confusion : Confusion
        Decisions on the validation rows, counted from the votes.
    reason : str
        Why there is no selection, for people; empty when there is one.
    history : tuple of (float, float or None, float)
        Seconds, value and bound as they got better, see :data:`History`; value None before a selection was found.
    certificate : dict or None
        What proves the bound as far as cuts, or the lines of a slope, prove it, as plain data that
        :func:`shortlist.ensembles.certificate_check.check_certificate` rechecks; `bound` may be lower by the word of a solver or
        of branch and bound.
    certified_bound : float or None
        The bound that the certificate proves, in the user's unit.
    """

    threshold: int
    confusion: Confusion
    reason: str = ""
    history: History = ()
    certificate: dict[str, Any] | None = None
    certified_bound: float | None = None


def best_threshold(votes: Votes, weights: Weights, mask: Mask) -> tuple[int, int]:
    """Return the threshold that makes the members in `mask` worth most, and that weighted sum.

    Among equally good thresholds the one nearest to half the members, then the lower one, is taken.

    Notes
    -----
    Takes O(n_rows · n_members) time.
    """
    threshold, gain = _threshold_of(tally(votes.votes, mask), weights.signed_gains(votes), int(mask.sum()))
    return threshold, gain + _all_negative(votes, weights)


def without_idle_members(votes: Votes, weights: Weights, limits: SelectionLimits, mask: Mask) -> Mask:
    """Drop members, the last first, as long as the rest is worth as much and keeps the limits.

    Many selections are worth the same; whoever pays per call wants few members.

    Notes
    -----
    Takes O(n_rows · n_members²) time at most, usually O(n_rows · n_members).
    """
    kept = mask.copy()
    tallies, gains = tally(votes.votes, kept), weights.signed_gains(votes)
    worth = _threshold_of(tallies, gains, int(kept.sum()))[1]
    dropped = True
    while dropped:
        dropped = False
        for k in np.flatnonzero(kept)[::-1]:
            kept[k] = False
            fewer = tallies - votes.votes[:, k]
            left = _threshold_of(fewer, gains, int(kept.sum()))[1]
            if left >= worth and limits.satisfied_by(kept):
                tallies, worth, dropped = fewer, left, True
            else:
                kept[k] = True
    return kept


def _all_negative(votes: Votes, weights: Weights) -> int:
    """Return the weighted sum of answering negative everywhere."""
    return weights.fn * votes.n_positive + weights.tn * votes.n_negative


def _threshold_of(tallies: NDArray[np.int64], gains: NDArray[np.int64], size: int) -> tuple[int, int]:
    """Return the best threshold for these tallies, and what it adds to answering negative everywhere."""
    per_tally = np.bincount(tallies, weights=gains, minlength=size + 1)  # exact below 2^53
    # with threshold L the rows with more than L votes are positive
    above = per_tally[::-1].cumsum()[::-1]
    gain = np.append(above[1:], 0.0)
    best = np.flatnonzero(gain == gain.max())
    return int(best[np.argmin(np.abs(2 * best - size))]), int(gain.max())


class Incumbent:
    """The best selection so far, and a bound that none can exceed; both in the integers of :class:`Weights`."""

    def __init__(self, votes: Votes, weights: Weights, limits: SelectionLimits) -> None:
        self.votes, self.weights, self.limits = votes, weights, limits
        self.mask: Mask | None = None
        self.threshold = 0
        self.total = 0
        self.bound = weights.floor(votes) + (
            max(0, weights.gain_positive) * votes.n_positive
            + max(0, weights.gain_negative) * votes.n_negative
        )
        self.history: list[tuple[float, float | None, float]] = []

    @property
    def proved(self) -> bool:
        """Whether value and bound are equal."""
        return self.mask is not None and self.total == self.bound

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

    def offer(self, mask: Mask) -> None:
        """Take a selection if it keeps the limits and is better."""
        if not self.limits.satisfied_by(mask):
            return
        threshold, total = best_threshold(self.votes, self.weights, mask)
        if self.mask is None or total > self.total:
            self.mask, self.threshold, self.total = mask, threshold, total

    def lower_bound_to(self, bound: int) -> None:
        """Take a bound if it is lower; rounded down to what a weighted sum can be."""
        floor, step = self.weights.floor(self.votes), self.weights.step
        self.bound = min(self.bound, floor + (bound - floor) // step * step)

    def record(self, seconds: float) -> None:
        """Add to the history if value or bound changed."""
        now = (self.value, self.weights.value(self.bound))
        if not self.history or self.history[-1][1:] != now:
            self.history.append((seconds, *now))

    def drop_idle_members(self) -> None:
        """Leave out members that add nothing."""
        if self.mask is not None:
            fewer = without_idle_members(self.votes, self.weights, self.limits, self.mask)
            threshold, total = best_threshold(self.votes, self.weights, fewer)
            if total >= self.total:
                self.mask, self.threshold, self.total = fewer, threshold, total

    def selection(self, *, limit: str, seconds: float) -> EnsembleSelection:
        """Return the best selection with its proof.

        Raises
        ------
        SolverError
            If the bound is below the value: then whoever proved it is wrong.
        """
        assert self.mask is not None, "without a selection there is no answer; see without_selection"
        weights = self.weights
        self.drop_idle_members()
        if self.bound < self.total:
            raise SolverError(
                f"the solver's bound {weights.value(self.bound):g} is below the value "
                f"{weights.value(self.total):g} of a selection that keeps every limit. Try another solver."
            )
        self.record(seconds)
        optimal = self.bound == self.total
        return EnsembleSelection(
            mask=self.mask,
            objective=weights.objective,
            value=weights.value(self.total),
            bound=weights.value(self.bound),
            status=Status.OPTIMAL if optimal else Status.FEASIBLE,
            proof=Proof(
                ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
                missing=(weights.value(self.bound - self.total),),
                limit="" if optimal else limit,
            ),
            seconds=seconds,
            threshold=self.threshold,
            confusion=confusion(self.votes, self.mask, self.threshold),
            history=tuple(self.history),
        )

    def no_selection(
        self, status: Status, *, limit: str, seconds: float, reason: str = ""
    ) -> EnsembleSelection:
        """Return a result that chooses nothing and says why; the bound stands unless nothing is feasible."""
        infeasible = status is Status.INFEASIBLE
        if not reason:
            reason = (
                "no selection keeps the size, cost and diversity limits together"
                if infeasible
                else f"no selection was found before the limit ({limit or 'the solver gave up'})"
            )
        return EnsembleSelection(
            mask=np.zeros(self.votes.n_classifiers, dtype=bool),
            objective=self.weights.objective,
            value=math.nan,
            bound=math.nan if infeasible else self.weights.value(self.bound),
            status=status,
            proof=Proof(ProofKind.COMPLETE if infeasible else ProofKind.APPROXIMATE, limit=limit),
            seconds=seconds,
            threshold=0,
            confusion=Confusion(0, 0, 0, 0),
            reason=reason,
            history=tuple(self.history),
        )
