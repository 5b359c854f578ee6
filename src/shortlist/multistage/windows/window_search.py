"""A search for wide tables: local, in windows of features within which it is exact."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Values
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED
from shortlist.multistage.search.enumeration import front_order
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.windows.climbing import WindowClimber, WindowOptions
from shortlist.multistage.windows.window import Promise
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Progress
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import StageNote

STEEPEST = 16.0
"""Largest weight; the smallest is 1 divided by it."""
WEIGHT_DIGITS = 9
"""Decimals of a weight: the last bits of a power differ from processor to processor."""
KICKING_SHARE = 0.5
"""Part of the time limit after which no kick begins."""
LOOKING_THROUGH = "looking through windows"


@dataclass(frozen=True)
class _Place:
    """How far a search is: finished rounds, climbs of this round, whether it ended, and where it was.

    That is the best sum by each weighting when the round began.
    """

    n_rounds: int
    n_climbs: int
    ended: bool
    bests: Values

    def after(self, bests: Values) -> "_Place":
        """Return the place after one more climb; a round in which no best sum rose is the last."""
        if self.n_climbs + 1 < len(bests):
            return dataclasses.replace(self, n_climbs=self.n_climbs + 1)
        return _Place(self.n_rounds + 1, 0, not (bests > self.bests).any(), bests)


def search_windows(
    problem: StageProblem, options: WindowOptions | None = None, *, budget: Budget | None = None
) -> StageResult:
    """Search for non-dominated stage assignments of a wide table, from window to window.

    A large-neighbourhood search :cite:p:`Pisinger2010` that feeds one archive of non-dominated assignments.
    For each of several weightings of the objectives it takes the best assignment known, tries every move of
    one feature, and looks through windows around it: up to `width` items, which are features or groups of
    features that stay together, and *every* stage assignment of these. What gains by the weighting is the
    next start, and after `tries` windows without gain comes the next weighting. The first weighting, all
    alike, is kicked out of its local optimum as well :cite:p:`Lourenco2003`: a few features change at
    random, moves of one feature mend that, until `kicks` in a row gain nothing. Kicks begin in the first
    half of a time limit only, so that the other weightings have their turn. The search ends with a round
    over all weightings that gains nothing.

    That end is a local optimum: no move of one feature betters the best assignment of any weighting, and no
    window that was looked through has an assignment that is missing and that nothing dominates. Where one
    window holds all features the front is complete. Nothing else is claimed.

    `budget`: time limit, seed of the weightings, and progress. The first assignment,
    one stage with everything, is measured whatever the time. Its study keeps what was found after every
    climb, so that a search that was killed goes on to the same front. One that was stopped goes on from all
    that it had found, which may lead to another front.

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
            stage = f"{LOOKING_THROUGH}, round {place.n_rounds + 1}"
            budget.report(Progress(stage, place.n_climbs, len(weightings), more_follows=True))
            if whole:
                climber.look_through(everything)
            else:
                climber.climb(weightings[place.n_climbs])
                if place.n_climbs == 0:
                    draws = np.random.default_rng([budget.seed, place.n_rounds])
                    _kick(climber, weightings[0], draws, budget.until(KICKING_SHARE))
            place = place.after(climber.bests(weightings))
            place = dataclasses.replace(place, ended=place.ended or whole)
            _keep(checkpoint, climber, place, budget)
    except FitsStoppedError:  # the archive has what was found before
        checkpoint.keep(lambda: _state(climber, place), now=True)
    proof = Proof(ProofKind.APPROXIMATE, limit="" if place.ended else budget.limit_text)
    if whole and place.ended and problem.rules is None:
        proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.names))
    archive = climber.archive
    order = front_order(problem, archive.measures)
    return StageResult(
        problem, archive.assignments[order], archive.measures[order], "windows", proof, budget.elapsed,
        {"n_windows": climber.n_windows, "n_rounds": place.n_rounds},
    )  # fmt: skip


def _kick(climber: WindowClimber, weights: Values, draws: np.random.Generator, budget: Budget) -> None:
    """Kick the best by the weights again and again, until that was in vain often enough or time is over."""
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
    """Return what the search begins with beside one stage of everything, ``(n_assignments, n_features)``.

    Where features may be left out: one stage of the features that tell most, 1, 2, 4 of them and so on.
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
    """Go on where a study is; else measure one stage of everything, whatever the time."""
    fits = climber.problem.decisions.subclassifiers
    fits.budget = budget
    if (kept := checkpoint.last()) is not None:
        climber.archive.restore(kept.arrays["assignments"], kept.arrays["measures"])
        if len(kept.arrays["bests"]) != len(weightings):  # of windows as they were in another version
            return _Place(0, 0, ended=False, bests=climber.bests(weightings))
        return _Place(**kept.facts, bests=kept.arrays["bests"])
    fits.budget = dataclasses.replace(budget, seconds=math.inf)
    climber.measure(np.zeros((1, climber.problem.n_features), dtype=np.int8))
    fits.budget = budget
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
