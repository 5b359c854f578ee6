"""Local search for wide tables, from window to window of features; within a window the search is exact."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import counted
from shortlist.arrays import Values
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED, acquired
from shortlist.multistage.search.enumeration import front_order
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult, worths
from shortlist.multistage.search.window import (
    Promise,
    Window,
    gains_of_features,
    interleaved,
    is_late,
    kicked,
    mended,
    single_moves,
    walk_window,
    window_items,
)
from shortlist.multistage.subclassifiers.subclassifiers import STOPPED
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Progress
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint, StageNote


class StageArchive:
    """Non-dominated assignments found so far; for each objective vector the assignment found first.

    `assignments`, ``(n_points, n_features)``. `measures`, ``(n_points, n_measures)``.
    """

    def __init__(self, problem: StageProblem) -> None:
        self.problem = problem
        self.assignments = np.empty((0, problem.n_features), dtype=np.int8)
        self.measures = np.empty((0, problem.n_measures), dtype=np.int64)

    def add(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> int:
        """Add measured assignments; return the number of added assignments that stay."""
        before = len(self.measures)
        together = np.concatenate([self.measures, measures])
        best = self.problem.best(together)
        self.assignments = np.concatenate([self.assignments, assignments])[best]
        self.measures = together[best]
        return int((best >= before).sum())

    def restore(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> None:
        """Continue with the content of an archive of the same problem."""
        self.assignments, self.measures = assignments, measures

    def best(self, weights: Values) -> tuple[float, int]:
        """Return the largest weighted sum of merits, and the index of the first assignment with it."""
        sums = worths(self.problem, self.measures, weights)
        place = int(np.argmax(sums))
        return float(sums[place]), place


STEP_BACK = 0.001
"""Largest loss of worth at which the search continues from a worse assignment, as a share of the sum of
weights.
"""
MEASURING = "measuring stage assignments"
MOVES_AT_ONCE = 500
"""Number of stage assignments measured between two checks of the clock."""


@dataclass(frozen=True)
class WindowOptions:
    """Settings of a search in windows."""

    width: int = 8
    """Number of items of a window, from 2 to 12; a window takes up to ``2**width`` fits."""
    n_new: int = 4
    """Number of items that are late features, less than `width`; a late feature is bought in the last stage
    or never.
    """
    n_weightings: int = 31
    """Number of weightings of the objectives; the first weighting has equal weights."""
    tries: int = 2
    """Number of windows in a row without gain around an assignment before the next weighting."""
    kicks: int = 12
    """Number of kicks in a row without gain before the first weighting ends; 0: no kicks."""
    changed: int = 3
    """Number of features that a kick changes."""

    def __post_init__(self) -> None:
        as_count(self.width, "width", at_least=2, at_most=12)
        for name in ("n_new", "n_weightings", "tries", "changed"):
            as_count(getattr(self, name), name)
        as_count(self.kicks, "kicks", at_least=0)
        if self.n_new >= self.width:
            raise BadInputError("n_new", f"must be below width, {self.width}", self.n_new, "Lower it.")


class WindowClimber:
    """Search for the largest weighted sum by each weighting, which adds to the archive.

    For each weighting the search starts from the best assignment of the archive.

    `archive`: non-dominated assignments found so far. `n_windows`: number of windows searched.
    """

    def __init__(self, problem: StageProblem, options: WindowOptions, budget: Budget) -> None:
        self.problem, self.options, self.budget = problem, options, budget
        self.archive = StageArchive(problem)
        self.n_windows = 0
        self._n_measured = 0
        self._promise = Promise(problem.decisions.subclassifiers.rows)
        self._prices = np.maximum(1, problem.costs.price(np.eye(problem.n_features, dtype=bool)))
        self._scans: dict[bytes, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._looked: set[bytes] = set()

    def measure(self, assignments: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Return assignments with their measures, and add them to the archive.

        Raises FitsStoppedError if the budget ends before all are fitted; the archive then has the fitted
        assignments.
        """
        self.budget.report(Progress(MEASURING, self._n_measured))
        self._n_measured += len(assignments)
        try:
            measures = self.problem.measures(assignments)
        except FitsStoppedError:
            ready = self.problem.fitted(assignments)
            self.archive.add(ready, self.problem.measures(ready))
            raise
        self.archive.add(assignments, measures)
        return assignments, measures

    def bests(self, weightings: Values) -> Values:
        """Return the best weighted sum of the archive by each weighting."""
        return np.array([self.archive.best(weights)[0] for weights in weightings])

    def top(self, weights: Values) -> NDArray[np.int8]:
        """Return the best assignment of the archive by the weights."""
        best: NDArray[np.int8] = self.archive.assignments[self.archive.best(weights)[1]]
        return best

    def climb(self, weights: Values) -> bool:
        """Search until no move or window improves the weighted sum; return whether the sum improved at all.

        Raises FitsStoppedError if the budget ends before; the archive has the assignments found so far.
        """
        start, _ = self.archive.best(weights)
        best, failures = start, 0
        while failures < self.options.tries:
            _, place = self.archive.best(weights)
            assignment = self.archive.assignments[place]
            order = self._order(assignment, weights, failures)
            if self.archive.best(weights)[0] <= best:  # else a move of one feature gains, and is taken first
                self.look_through(self._items(assignment, order, failures))
            worth, _ = self.archive.best(weights)
            failures = 0 if worth > best else failures + 1
            best = worth
        return best > start

    def kick(
        self, weights: Values, here: NDArray[np.int8], rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], bool]:
        """Kick an assignment and mend it; return the next start, and whether the best weighted sum rose.

        The mended assignment is the next start if its sum is at most :data:`STEP_BACK` worse, so that kicks
        in a row leave a local optimum. Raises FitsStoppedError if the budget ends before; the archive has the
        assignments found so far.
        """
        k, removal = self.problem.max_stages, self.problem.removal

        def rate(assignments: NDArray[np.int8]) -> tuple[NDArray[np.int8], Values]:
            if self.budget.stopped:
                raise FitsStoppedError(STOPPED)
            valid, measures = self.measure(assignments)
            return valid, worths(self.problem, measures, weights)

        best, _ = self.archive.best(weights)
        (here,), (worth,) = rate(here[None, :])
        changed = kicked(here, self.options.changed, k, rng, removal=removal)
        there, found = mended(changed, rate, k, rng, removal=removal)
        return there if found >= worth - STEP_BACK * weights.sum() else here, found > best

    def look_through(self, items: NDArray[np.bool_]) -> None:
        """Add the best assignments of a window, unless it was searched before."""
        key = np.packbits(items[np.lexsort(items.T)], axis=None).tobytes()
        if key in self._looked:
            return
        found, whole = walk_window(Window(self.problem, items), self.archive.measures, self.budget)
        if len(found):
            self.measure(found)
        if not whole:
            raise FitsStoppedError(STOPPED)
        self.n_windows += 1
        self._looked.add(key)

    def _scan(self, assignment: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the feature of each single move, and the move's measures."""
        key = assignment.tobytes()
        if key not in self._scans:
            moves, moved = single_moves(assignment, self.problem.max_stages, removal=self.problem.removal)
            parts = [np.empty((0, self.archive.measures.shape[1]), dtype=np.int64)]
            for start in range(0, len(moves), MOVES_AT_ONCE):
                if self.budget.stopped:
                    raise FitsStoppedError(STOPPED)
                parts.append(self.measure(moves[start : start + MOVES_AT_ONCE])[1])
            self._scans[key] = moved, np.concatenate(parts)
        return self._scans[key]

    def _order(self, assignment: NDArray[np.int8], weights: Values, turn: int) -> NDArray[np.int64]:
        """Return features in the order in which windows take them.

        Two orders are interleaved: by the gains of the features' moves, and by the features' pulls beyond a
        stage's set, per price.
        """
        moved, measures = self._scan(assignment)
        gains = gains_of_features(worths(self.problem, measures, weights), moved, len(assignment))
        sets = acquired(assignment[None, :], int(assignment.max()) + 1)[0, :-1]
        bought = sets[turn % len(sets)] if len(sets) else np.zeros(len(assignment), dtype=bool)
        return interleaved(gains, self._promise.beyond(bought) / self._prices)

    def _items(self, assignment: NDArray[np.int8], order: NDArray[np.int64], turn: int) -> NDArray[np.bool_]:
        """Return the items of a window; each turn takes the next late features of `order`."""
        late = is_late(assignment, removal=self.problem.removal)[order]
        shifted = np.roll(order[late], -turn * self.options.n_new)
        return window_items(
            assignment, np.concatenate([order[~late], shifted]), n_new=self.options.n_new,
            width=self.options.width, removal=self.problem.removal,
        )  # fmt: skip


STEEPEST = 16.0
"""Largest weight; the smallest is 1 divided by it."""
WEIGHT_DIGITS = 9
"""Number of decimals of a weight; the last bits of a power differ between processors."""
KICKING_SHARE = 0.5
"""Share of the time limit after which no kick begins."""
LOOKING_THROUGH = "looking through windows"
"""Name of a progress stage that is complete after a climb by every weighting."""


@dataclass(frozen=True)
class _Place:
    """State of a search: finished rounds, climbs of this round, an end mark, and best values.

    The best values are the best weighted sums at the beginning of the round.
    """

    n_rounds: int
    n_climbs: int
    ended: bool
    bests: Values

    def after(self, bests: Values) -> "_Place":
        """Return the state after one more climb; a round in which no best sum rose is the last."""
        if self.n_climbs + 1 < len(bests):
            return dataclasses.replace(self, n_climbs=self.n_climbs + 1)
        return _Place(self.n_rounds + 1, 0, not (bests > self.bests).any(), bests)


def search_windows(
    problem: StageProblem, options: WindowOptions | None = None, *, budget: Budget | None = None
) -> StageResult:
    """Search for non-dominated stage assignments of a wide table, from window to window.

    This is a large-neighbourhood search :cite:p:`Pisinger2010` with one archive of non-dominated assignments.
    For each of several weightings of the objectives the search takes the best assignment known, tries every
    move of one feature, and searches windows around the assignment. A window has up to `width` items, which
    are features or groups of features that stay together, and *every* stage assignment of the items is
    searched. The best assignment by the weighting is the next start; after `tries` windows without gain comes
    the next weighting. The first weighting, with equal weights, also kicks its local optimum
    :cite:p:`Lourenco2003`. A kick changes a few features at random, and moves of one feature improve the
    result, until `kicks` in a row gain nothing. Kicks begin in the first half of a time limit only, so that
    time is left for the other weightings. The search ends with a round over all weightings that gains
    nothing.

    That end is a local optimum: no move of one feature improves the best assignment of any weighting, and no
    searched window has a further non-dominated assignment. Where one window holds all features the front is
    complete. Nothing else is claimed.

    `budget`: time limit, seed of the weightings, and progress. The first assignment, one stage with
    everything, is measured whatever the time. The budget's study keeps the archive after every climb, so a
    killed search continues to the same front. A search stopped on request continues from all assignments
    found, which may lead to another front.

    A window takes up to ``2**width`` fits and a walk over its assignments. The moves of one feature take
    about one fit per feature and stage. No set of features is fitted twice.
    """
    options, budget = options or WindowOptions(), budget or Budget()
    climber = WindowClimber(problem, options, budget)
    checkpoint = Checkpoint("windows", budget.study)
    everything = np.eye(problem.n_features, dtype=bool)
    whole = len(everything) <= options.width
    weightings = drawn_weightings(len(problem.names), 1 if whole else options.n_weightings, budget.seed)
    place = _opened(checkpoint, climber, weightings, budget)
    try:
        if place.n_rounds == place.n_climbs == 0:
            climber.measure(first_assignments(problem))
        while not place.ended:
            _tell(budget, place.n_rounds, place.n_climbs, len(weightings))
            if whole:
                climber.look_through(everything)
            else:
                climber.climb(weightings[place.n_climbs])
                if place.n_climbs == 0:
                    draws = np.random.default_rng([budget.seed, place.n_rounds])
                    _kick(climber, weightings[0], draws, budget.until(KICKING_SHARE))
            before, place = place, place.after(climber.bests(weightings))
            place = dataclasses.replace(place, ended=place.ended or whole)
            if place.ended or place.n_rounds > before.n_rounds:
                _tell(budget, before.n_rounds, len(weightings), len(weightings))
            _keep(checkpoint, climber, place, budget)
    except FitsStoppedError:  # the archive has what was found before
        checkpoint.keep(lambda: _state(climber, place), now=True)
        _tell(budget, place.n_rounds, len(weightings), len(weightings))
    proof = Proof(ProofKind.APPROXIMATE, limit="" if place.ended else budget.limit_text)
    if whole and place.ended:
        proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.names))
    archive = climber.archive
    order = front_order(problem, archive.measures)
    return StageResult(
        problem, archive.assignments[order], archive.measures[order], "windows", proof, budget.elapsed,
        {"n_windows": climber.n_windows, "n_rounds": place.n_rounds},
    )  # fmt: skip


def _tell(budget: Budget, n_rounds: int, done: int, total: int) -> None:
    stage = f"{LOOKING_THROUGH}, round {n_rounds + 1}"
    budget.report(Progress(stage, done, total, outer=True, more_follows=True))


def _kick(climber: WindowClimber, weights: Values, draws: np.random.Generator, budget: Budget) -> None:
    """Kick the best assignment by the weights, until too many kicks in a row gain nothing or time is over."""
    here, in_vain = climber.top(weights), 0
    while in_vain < climber.options.kicks and not budget.expired:
        here, gained = climber.kick(weights, here, draws)
        in_vain = 0 if gained else in_vain + 1


def drawn_weightings(n_objectives: int, n_weightings: int, seed: int) -> Values:
    """Return weightings, ``(n_weightings, n_objectives)``: equal ones, then logarithms drawn uniformly."""
    rng = np.random.default_rng(seed)
    drawn = np.round(STEEPEST ** rng.uniform(-1.0, 1.0, (n_weightings, n_objectives)), WEIGHT_DIGITS)
    drawn[0] = 1.0
    return drawn


def first_assignments(problem: StageProblem) -> NDArray[np.int8]:
    """Return the starts of the search besides one stage of everything, ``(n_assignments, n_features)``.

    Where features may be left out, the starts are one stage of the 1, 2, 4 and so on features with the most
    information. Otherwise there are none.
    """
    n = problem.n_features
    starts = np.full(((n - 1).bit_length() if problem.removal else 0, n), REMOVED, dtype=np.int8)
    if not len(starts):
        return starts
    promise = Promise(problem.decisions.subclassifiers.rows)
    order = np.argsort(-promise.beyond(np.zeros(n, dtype=bool)), kind="stable")
    for place, start in enumerate(starts):
        start[order[: 1 << place]] = 0
    return starts


def _opened(checkpoint: Checkpoint, climber: WindowClimber, weightings: Values, budget: Budget) -> _Place:
    """Return the state of a study; without a state, measure one stage of everything, whatever the time."""
    fits = climber.problem.decisions.subclassifiers
    fits.serve(budget)
    if (kept := checkpoint.last()) is not None:
        climber.archive.restore(kept.arrays["assignments"], kept.arrays["measures"])
        if len(kept.arrays["bests"]) != len(weightings):  # of windows as they were in another version
            return _Place(0, 0, ended=False, bests=climber.bests(weightings))
        return _Place(**kept.facts, bests=kept.arrays["bests"])
    fits.serve(dataclasses.replace(budget, seconds=math.inf))
    climber.measure(np.zeros((1, climber.problem.n_features), dtype=np.int8))
    fits.serve(budget)
    return _Place(0, 0, ended=False, bests=climber.bests(weightings))


def _keep(checkpoint: Checkpoint, climber: WindowClimber, place: _Place, budget: Budget) -> None:
    points = counted(len(climber.archive.measures), "point")
    n_weightings = len(place.bests)
    done = n_weightings if place.ended else place.n_climbs
    note = StageNote(LOOKING_THROUGH, n_weightings, done, 1, points)
    if place.ended:
        checkpoint.finish(lambda: _state(climber, place), budget.elapsed, stage=note)
    else:
        checkpoint.keep(lambda: _state(climber, place), stage=lambda: note)


def _state(climber: WindowClimber, place: _Place) -> KeptState:
    archive = climber.archive
    arrays: dict[str, NDArray[Any]] = {
        "assignments": archive.assignments, "measures": archive.measures, "bests": place.bests,
    }  # fmt: skip
    facts = {name: getattr(place, name) for name in ("n_rounds", "n_climbs", "ended")}
    return KeptState(arrays, facts)
