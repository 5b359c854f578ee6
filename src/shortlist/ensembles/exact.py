"""Exact pruning: solve the program, trust nothing of the answer but the bound."""

import dataclasses
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.pruning_program import PruningProgram, pruning_program
from shortlist.ensembles.votes import Confusion, Votes, confusion, tally
from shortlist.ensembles.weights import Weights
from shortlist.errors import SolverError
from shortlist.front import Proof, ProofKind, Selection, Status
from shortlist.milp import Limits, Program, Solver, open_solver
from shortlist.milp.solution import Solution
from shortlist.runs import Cancellation, Progress, Report, silent

DEFAULT_SOLVER = "highs"
"""Measured (benchmarks/results/pruning-proofs.csv): proves the paper's small sets soonest, with and without diversity."""


@dataclass(frozen=True, eq=False)
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
    """

    threshold: int
    confusion: Confusion
    reason: str = ""


def best_threshold(votes: Votes, weights: Weights, mask: Mask) -> tuple[int, int]:
    """Return the threshold that makes the members in `mask` worth most, and that weighted sum.

    Among equally good thresholds the one nearest to half the members, then the lower one, is taken.

    Notes
    -----
    Takes O(n_rows · n_members) time.
    """
    threshold, gain = _threshold_of(tally(votes.votes, mask), _gains(votes, weights), int(mask.sum()))
    return threshold, gain + _all_negative(votes, weights)


def without_idle_members(votes: Votes, weights: Weights, limits: SelectionLimits, mask: Mask) -> Mask:
    """Drop members, the last first, as long as the rest is worth as much and keeps the limits.

    Many selections are worth the same; whoever pays per call wants few members.

    Notes
    -----
    Takes O(n_rows · n_members²) time at most, usually O(n_rows · n_members).
    """
    kept = mask.copy()
    tallies, gains = tally(votes.votes, kept), _gains(votes, weights)
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


def _gains(votes: Votes, weights: Weights) -> NDArray[np.int64]:
    """Return what answering positive instead of negative adds on each row."""
    return np.where(votes.labels == 1, weights.gain_positive, -weights.gain_negative) * votes.counts


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


def prune_exactly(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    *,
    solver: str | Solver = DEFAULT_SOLVER,
    time_limit_s: float = math.inf,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> EnsembleSelection:
    """Return the members and the threshold that maximise Eq. 1 of :cite:t:`Bastos2022` within limits.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    weights : Weights
        What decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity.
    solver : str or Solver
        Name of a backend, or the backend.
    time_limit_s : float, default=inf
        Wall-clock limit of the solve, in seconds.
    node_limit : int, optional
        Limit that does not depend on the clock, in the solver's unit (see :class:`shortlist.milp.Limits`).
    seed, threads : int
        For the solver; with one thread and only a node limit the answer is reproducible.
    report : callable, optional
        Receives progress events with value and bound in the user's unit; done and total are seconds.
    cancellation : Cancellation, optional
        Stops the solve with the best selection found.

    Returns
    -------
    EnsembleSelection
        Threshold, value and confusion are computed from the votes, whatever the solver says. OPTIMAL: the value equals
        the bound, both integers before they are scaled; the bound is the solver's. INFEASIBLE and UNKNOWN carry a
        reason and choose nothing.

    Raises
    ------
    SolverError
        If the solver's bound is below the value of a selection that keeps the limits: then it is wrong.
    """
    start = time.monotonic()
    conflict = limits.conflict()
    if conflict:
        return _without_answer(
            votes, weights, Status.INFEASIBLE, reason=conflict, limit="", seconds=time.monotonic() - start
        )
    backend = open_solver(solver) if isinstance(solver, str) else solver
    built = pruning_program(votes, weights, limits)
    search = _Search(votes, weights, limits, built)
    search.offer_simple_selections()

    def on_bound(objective: float, bound: float) -> None:
        value, limit = search.reported_value(objective), weights.value(search.weighted_bound(bound))
        total = None if math.isinf(time_limit_s) else time_limit_s
        report(Progress("proving", time.monotonic() - start, total, value, limit))

    program = built.program
    while True:
        remaining = max(0.01, time_limit_s - (time.monotonic() - start))
        session = backend.open(program, seed=seed, threads=threads)
        session.set_start(search.start())
        solution = session.solve(
            Limits(remaining, node_limit, absolute_gap=weights.step * (1 - 1e-6)),
            on_bound=on_bound,
            cancellation=cancellation,
        )
        rejected = search.offer(solution)
        if rejected is None or time.monotonic() - start >= time_limit_s:
            break
        program = _without(program, rejected)
    return search.answer(solution, time_limit_s, time.monotonic() - start)


class _Search:
    """The best selection so far, counted from the votes."""

    def __init__(
        self, votes: Votes, weights: Weights, limits: SelectionLimits, built: PruningProgram
    ) -> None:
        self.votes, self.weights, self.limits, self.built = votes, weights, limits, built
        self.mask: Mask | None = None
        self.threshold = 0
        self.total = 0

    def offer_simple_selections(self) -> None:
        """Try the full ensemble, the empty one and every single classifier."""
        n_classifiers = self.votes.n_classifiers
        full = np.ones(n_classifiers, dtype=bool)
        for mask in [full, ~full, *np.eye(n_classifiers, dtype=bool)]:
            self._consider(mask)

    def offer(self, solution: Solution) -> Mask | None:
        """Take a solver's answer; return its mask if it breaks a limit by more than the slack."""
        if solution.values is None:
            return None
        mask = self.built.members(solution.values)
        if not self.limits.satisfied_by(mask):
            return mask
        self._consider(mask)
        return None

    def _consider(self, mask: Mask, *, ties: bool = False) -> None:
        if not self.limits.satisfied_by(mask):
            return
        threshold, total = best_threshold(self.votes, self.weights, mask)
        if self.mask is None or total > self.total or (ties and total == self.total):
            self.mask, self.threshold, self.total = mask, threshold, total

    def start(self) -> NDArray[np.float64] | None:
        """Return the best selection as a start for the solver."""
        return None if self.mask is None else self.built.encode(self.votes, self.mask, self.threshold)

    def reported_value(self, objective: float) -> float | None:
        """Return the best value so far in the user's unit, with what the solver says it has found meanwhile."""
        totals = [] if self.mask is None else [self.total]
        if not math.isnan(objective):
            totals.append(-round(objective + self.built.offset))
        return self.weights.value(max(totals)) if totals else None

    def weighted_bound(self, bound: float) -> int:
        """Turn a bound on the cost into one on the weighted sum, rounded to what a sum can be."""
        gains = self.weights
        floor, step = gains.floor(self.votes), gains.step
        all_right = (
            max(0, gains.gain_positive) * self.votes.n_positive
            + max(0, gains.gain_negative) * self.votes.n_negative
        )
        if math.isinf(bound):
            return floor + all_right
        above_floor = -(bound + self.built.offset) - floor
        return floor + min(all_right, step * math.floor(above_floor / step + 1e-6))

    def answer(self, solution: Solution, time_limit_s: float, seconds: float) -> EnsembleSelection:
        """Say what is chosen and what is proved of it."""
        limit = {"seconds": f"{time_limit_s:g} s"}.get(solution.limit, solution.limit)
        if self.mask is None:
            if solution.status is Status.INFEASIBLE:
                reason = "no selection keeps the size, cost and diversity limits together"
            else:
                reason = f"no selection was found before the limit ({limit or 'the solver gave up'})"
                solution = dataclasses.replace(solution, status=Status.UNKNOWN)
            nothing = _without_answer(
                self.votes, self.weights, solution.status, reason=reason, limit=limit, seconds=seconds
            )
            if solution.status is Status.INFEASIBLE:
                return nothing
            return dataclasses.replace(nothing, bound=self.weights.value(self.weighted_bound(solution.bound)))
        if solution.status is Status.INFEASIBLE:
            raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
        self._consider(without_idle_members(self.votes, self.weights, self.limits, self.mask), ties=True)
        bound = self.weighted_bound(solution.bound)
        if bound < self.total:
            raise SolverError(
                f"the solver's bound {self.weights.value(bound):g} is below the value "
                f"{self.weights.value(self.total):g} of a selection that keeps every limit. Try another solver."
            )
        optimal = bound == self.total
        return EnsembleSelection(
            mask=self.mask,
            objective=self.weights.objective,
            value=self.weights.value(self.total),
            bound=self.weights.value(bound),
            status=Status.OPTIMAL if optimal else Status.FEASIBLE,
            proof=Proof(
                ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
                missing=(self.weights.value(bound - self.total),),
                limit="" if optimal else limit,
            ),
            seconds=seconds,
            threshold=self.threshold,
            confusion=confusion(self.votes, self.mask, self.threshold),
        )


def _without(program: Program, mask: Mask) -> Program:
    """Return the program with one selection cut off."""
    row = np.zeros((1, program.n_columns))
    row[0, : len(mask)] = np.where(mask, 1.0, -1.0)
    return program.with_rows(row, -np.inf, mask.sum() - 1.0)


def _without_answer(
    votes: Votes, weights: Weights, status: Status, *, reason: str, limit: str, seconds: float
) -> EnsembleSelection:
    """Return a result that chooses nothing and says why."""
    return EnsembleSelection(
        mask=np.zeros(votes.n_classifiers, dtype=bool),
        objective=weights.objective,
        value=math.nan,
        bound=math.nan,
        status=status,
        proof=Proof(
            ProofKind.COMPLETE if status is Status.INFEASIBLE else ProofKind.APPROXIMATE, limit=limit
        ),
        seconds=seconds,
        threshold=0,
        confusion=Confusion(0, 0, 0, 0),
        reason=reason,
    )
