"""Best selection found so far, counted from the votes, with the bound on all selections."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.errors import SolverError
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget
from shortlist.runs.study import StageNote

NONE_FEASIBLE = "no selection keeps all the limits together"
"""Reason for having no selection, where infeasibility is proved."""


WITHOUT_IDLE = ", without members that changed nothing"
"""Suffix to the name of the finder of a selection, if members without an effect on its value were left out.
"""


class _Counting(Protocol):
    """Interface of a problem for :class:`Incumbent`: sums of answers over members, and their value.

    The implementations are :class:`shortlist.ensembles.pruning.problems.VoteProblem` for votes and
    :class:`shortlist.ensembles.pruning.mean_problem.MeanProblem` for probabilities.
    """

    @property
    def limits(self) -> SelectionLimits: ...
    @property
    def n_classifiers(self) -> int: ...
    @property
    def objective(self) -> Objective: ...
    @property
    def first_bound(self) -> int: ...
    @property
    def slack(self) -> int: ...
    @property
    def tolerance(self) -> float: ...
    def tally(self, mask: Mask) -> NDArray[Any]: ...
    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]: ...
    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]: ...
    def value(self, total: int) -> float: ...
    def rounded(self, bound: int) -> int: ...
    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]: ...


class Incumbent:
    """Best selection found so far, with an upper bound on all selections, in integers of the problem."""

    def __init__(self, problem: _Counting) -> None:
        self.problem = problem
        self.mask: Mask | None = None
        self.threshold = 0
        self.total = 0
        self.bound = problem.first_bound
        self.bound_by = ""
        self.finder = "the best classifier alone or all of them"  # what offers now
        self.found_by = ""
        self.history: list[tuple[float, float | None, float]] = []

    @property
    def proved(self) -> bool:
        """Whether value and bound are equal, up to the slack of the problem."""
        return self.mask is not None and self.bound - self.total <= self.problem.slack

    @property
    def value(self) -> float | None:
        """Value of the best selection in the user's unit; None without a selection."""
        return None if self.mask is None else self.problem.value(self.total)

    def rate(self, mask: Mask) -> tuple[int, int]:
        """Return the weighted sum of a selection, and its threshold."""
        return self.problem.rate(self.problem.tally(mask), int(mask.sum()))

    def offer_simple_selections(self) -> None:
        """Try the full ensemble, the empty one and every single classifier."""
        full = np.ones(self.problem.n_classifiers, dtype=bool)
        for mask in [full, ~full, *np.eye(len(full), dtype=bool)]:
            self.offer(mask)

    def offer(self, mask: Mask) -> int | None:
        """Keep a selection if it is within the limits and better than the best one.

        Returns the weighted sum of the selection; None if it is outside the limits.
        """
        if not self.problem.limits.satisfied_by(mask):
            return None
        total, threshold = self.rate(mask)
        self.take(mask, threshold, total)
        return total

    def take(self, mask: Mask, threshold: int, total: int) -> None:
        """Keep a selection if it is better than the best one.

        The selection must be within the limits. `total`: its weighted sum.
        """
        if self.mask is None or total > self.total:
            self.mask, self.threshold, self.total = mask, threshold, total
            self.found_by = self.finder

    def offer_without_idle_members(self) -> None:
        """Offer the best selection without idle members; it replaces the best one if its value is larger."""
        if self.mask is not None and self.rate(without_idle_members(self.problem, self.mask))[0] > self.total:
            self.drop_idle_members()

    def drop_idle_members(self) -> None:
        """Remove members of the best selection that do not change its value, and note that in `found_by`."""
        assert self.mask is not None, "there is a selection"
        fewer = without_idle_members(self.problem, self.mask)
        if fewer.sum() < self.mask.sum() and not self.found_by.endswith(WITHOUT_IDLE):
            self.found_by += WITHOUT_IDLE
        self.mask = fewer
        self.total, self.threshold = self.rate(fewer)

    def lower_bound_to(self, bound: int, by: str) -> None:
        """Set the bound if the new one is lower, and remember its prover."""
        lower = self.problem.rounded(bound)
        if lower < self.bound or not self.bound_by:
            self.bound, self.bound_by = min(lower, self.bound), by

    def record(self, seconds: float, *, every: float = 0.0) -> bool:
        """Append value and bound to the history if one of them changed; return whether they were appended.

        A change of the bound alone is appended only after `every` seconds.
        """
        now = (self.value, self.problem.value(self.bound))
        news = not self.history or self.history[-1][1:] != now
        if news and self.history and now[0] == self.history[-1][1]:
            news = seconds - self.history[-1][0] >= every
        if news:
            self.history.append((seconds, *now))
        return news

    def selection(self, *, limit: str, seconds: float) -> PrunedSelection:
        """Return the best selection with its proof.

        Raises SolverError if the bound is below the value, as the proof of the bound is then wrong.
        """
        assert self.mask is not None, "without a selection there is no answer; see no_selection"
        problem = self.problem
        self.drop_idle_members()
        if self.bound < self.total - problem.slack:
            raise SolverError(
                f"the solver's bound {problem.value(self.bound):g} is below the value "
                f"{problem.value(self.total):g} of a selection that keeps every limit. Try another solver."
            )
        self.bound = max(self.bound, self.total)
        self.record(seconds)
        optimal = self.proved
        proof = Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            tolerances=(problem.tolerance,) if problem.tolerance else (),
            missing=(abs(problem.value(self.bound - self.total)),),
            limit="" if optimal else limit,
        )
        return self._answer(
            self.mask, self.threshold, proof=proof, status=Status.OPTIMAL if optimal else Status.FEASIBLE,
            value=problem.value(self.total), bound=problem.value(self.bound), seconds=seconds,
        )  # fmt: skip

    def no_selection(
        self, status: Status, *, limit: str, seconds: float, reason: str = ""
    ) -> PrunedSelection:
        """Return a result without a selection, with the reason.

        The result has the bound, unless no selection is feasible.
        """
        infeasible = status is Status.INFEASIBLE
        why = f"no selection was found before the limit ({limit or 'the solver gave up'})"
        reason = reason or (NONE_FEASIBLE if infeasible else why)
        proof = Proof(ProofKind.COMPLETE if infeasible else ProofKind.APPROXIMATE, limit=limit)
        bound = math.nan if infeasible else self.problem.value(self.bound)
        nothing = np.zeros(self.problem.n_classifiers, dtype=bool)
        return self._answer(
            nothing, -1, proof=proof, status=status, value=math.nan, bound=bound, seconds=seconds,
            reason=reason,
        )  # fmt: skip

    def _answer(self, mask: Mask, threshold: int, **known: Any) -> PrunedSelection:
        make, history = self.problem.result(mask, threshold), tuple(self.history)
        return make(objective=self.problem.objective, history=history, proved_by=self.bound_by, **known)


def without_idle_members(problem: _Counting, mask: Mask) -> Mask:
    """Return the mask without idle members, which do not change the value; later members are dropped first.

    The remaining selection keeps the limits and has at least the same value. Idle members are dropped because
    they cost calls.

    Takes O(n_rows · n_members²) time at most, usually O(n_rows · n_members).
    """
    kept, tally = mask.copy(), problem.tally(mask)
    size = int(mask.sum())
    worth, _ = problem.rate(tally, size)
    dropped = True
    while dropped:
        dropped = False
        for k in np.flatnonzero(kept)[::-1]:
            kept[k] = False
            fewer = problem.without(tally, int(k))
            left, _ = problem.rate(fewer, size - 1)
            if left >= worth and problem.limits.satisfied_by(kept):
                tally, worth, size, dropped = fewer, left, size - 1, True
            else:
                kept[k] = True
    return kept


PROOF = "proof"
"""Name of the unit of a study that stands for a run; its state is the best members so far."""


@dataclass(frozen=True, eq=False)
class KeptBest:
    """Best selection of this run, together with the best selection that an earlier run left in the study."""

    best: Incumbent
    """Best selection and bound of this run."""
    budget: Budget
    """Budget of the run, with its study."""

    def take(self) -> None:
        """Offer the best selection of an earlier run from the study, if the clock ended this run.

        A proof that ends before the clock does not use the earlier run, so its result is that of a single
        run.
        """
        if not self.best.proved and not self.budget.is_counted:
            kept = self.budget.study.kept(PROOF)
            if kept is not None:
                self.best.offer(self._members(kept))

    def keep(self) -> None:
        """Save the best selection in the study, if enough time has passed since it was last saved."""
        self.budget.study.keep(PROOF, self._best_known, stage=self._note)

    def note_end(self) -> None:
        """Note in the study that nothing is left to prove, so that no later run continues from this one."""
        self.budget.study.drop([PROOF])
        self.budget.study.tell(dataclasses.replace(self._note(), done=1, running=0))

    def _best_known(self) -> list[int]:
        best, kept = self.best, self.budget.study.kept(PROOF)
        if best.mask is None:
            return kept or []
        if kept is not None and best.rate(self._members(kept))[0] > best.total:
            return list(kept)
        return [int(number) for number in np.flatnonzero(best.mask)]

    def _members(self, numbers: Sequence[int]) -> Mask:
        mask = np.zeros(self.best.problem.n_classifiers, dtype=bool)
        mask[list(numbers)] = True
        return mask

    def _note(self) -> StageNote:
        best = self.best
        side = "at least" if best.problem.objective.sense == "min" else "at most"
        bound = f"{side} {best.problem.value(best.bound):g}"
        return StageNote(PROOF, 1, 0, 1, bound if best.value is None else f"{best.value:g}, {bound}")
