"""The climb of one weighting: the moves of one feature, the windows, and kicks from its best assignment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Values, products_in_order
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED, acquired, compress
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.subclassifiers import STOPPED
from shortlist.multistage.windows.window import (
    Promise,
    Window,
    gains_of_features,
    interleaved,
    is_late,
    single_moves,
    walk_window,
    window_items,
)
from shortlist.runs import Budget

MOST_MOVED = 64
"""Features whose moves are looked at in one pass of mending; of more, as many drawn at random."""

Rate: TypeAlias = Callable[[NDArray[np.int8]], tuple[NDArray[np.int8], Values]]
"""Makes assignments, ``(n, n_features)``, valid, and returns them with what each is worth, ``(n,)``."""


def kicked(
    assignment: NDArray[np.int8], n_changed: int, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> NDArray[np.int8]:
    """Return an assignment where `n_changed` features, drawn at random, have stages drawn at random."""
    features = rng.choice(len(assignment), size=min(n_changed, len(assignment)), replace=False)
    changed = assignment.copy()
    changed[features] = rng.integers(REMOVED if removal else 0, max_stages, len(features))
    return compress(changed) if (changed != REMOVED).any() else assignment


def mended(
    assignment: NDArray[np.int8], rate: Rate, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> tuple[NDArray[np.int8], float]:
    """Take moves of one feature that gain, until a pass over the features finds none.

    Each feature in turn, in random order, makes its best move if that gains: with few fits this goes
    further than the best move of all.

    `assignment`, which it returns, ``(n_features,)``.
    """
    tried, worths = rate(assignment[None, :])
    assignment, worth = tried[0], float(worths[0])
    before = -np.inf
    while worth > before:
        before = worth
        for feature in rng.permutation(len(assignment))[:MOST_MOVED]:
            moves, _ = single_moves(
                assignment, max_stages, removal=removal, features=np.array([feature], dtype=np.int64)
            )
            if len(moves):
                tried, worths = rate(moves)
                place = int(worths.argmax())
                if worths[place] > worth:
                    assignment, worth = tried[place], float(worths[place])
    return assignment, worth


class StageArchive:
    """The non-dominated assignments so far, one for each objective vector, the earliest.

    `assignments`, ``(n_points, n_features)``. `measures`, ``(n_points, n_measures)``.
    """

    def __init__(self, problem: StageProblem) -> None:
        self.problem = problem
        self.assignments = np.empty((0, problem.n_features), dtype=np.int8)
        self.measures = np.empty((0, problem.n_measures), dtype=np.int64)

    def add(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> int:
        """Add measured assignments; return how many stay."""
        before = len(self.measures)
        together = np.concatenate([self.measures, measures])
        best = self.problem.best(together)
        self.assignments = np.concatenate([self.assignments, assignments])[best]
        self.measures = together[best]
        return int((best >= before).sum())

    def restore(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> None:
        """Go on with what an archive of the same problem held."""
        self.assignments, self.measures = assignments, measures

    def best(self, weights: Values) -> tuple[float, int]:
        """Return the greatest weighted sum of merits, and the place of the first assignment that has it."""
        sums = worths(self.problem, self.measures, weights)
        place = int(np.argmax(sums))
        return float(sums[place]), place


def worths(problem: StageProblem, measures: NDArray[np.int64], weights: Values) -> Values:
    """Return the weighted sums of merits, ``(n_assignments,)``, each the same whatever else was measured."""
    return products_in_order(fixed_merits(problem, measures), weights)


def fixed_merits(problem: StageProblem, measures: NDArray[np.int64]) -> Values:
    """Return each objective as a number in [0, 1] to maximise, whatever else was measured.

    Coverage and accuracy as they are, a rate r as 1 - r, and a cost c as 1 - c / the most it can be. For the
    usual objectives the sum of a row is the paper's sum.
    """
    most = {
        "stages": problem.max_stages,
        "acquisition_cost": problem.costs.total / problem.costs.scale,
        "worst_case_cost": problem.costs.total / problem.costs.scale,
        "evaluation_cost": problem.max_stages * problem.most_call_price / problem.call_scale,
        "false_positive_rate": 1.0,
        **{one.name: problem.most_taken(one) / one.scale for one in problem.attributes},
    }
    columns = [
        1.0 - value / (most[name] or 1.0) if name in most else value
        for name, value in zip(problem.names, problem.values(measures).T, strict=True)
    ]
    return np.column_stack(columns)


STEP_BACK = 0.001
"""By how much of the sum of the weights an assignment may be worse than the last and is gone on from."""
MOVES_AT_ONCE = 500
"""Stage assignments that are measured between two looks at the clock."""


@dataclass(frozen=True)
class WindowOptions:
    """How a search in windows goes."""

    width: int = 8
    """Items of a window, from 2 to 12; a window takes up to ``2**width`` fits."""
    n_new: int = 4
    """How many of these are features that are bought last or never so far, less than `width`."""
    n_weightings: int = 31
    """How many weightings of the objectives are climbed; the first one weighs all alike."""
    tries: int = 2
    """Windows around an assignment that gain nothing before it is left."""
    kicks: int = 12
    """How many kicks in a row gain nothing by the first weighting before it is left; 0: no kicks."""
    changed: int = 3
    """Features that a kick changes."""

    def __post_init__(self) -> None:
        as_count(self.width, "width", at_least=2, at_most=12)
        for name in ("n_new", "n_weightings", "tries", "changed"):
            as_count(getattr(self, name), name)
        as_count(self.kicks, "kicks", at_least=0)
        if self.n_new >= self.width:
            raise BadInputError("n_new", f"must be below width, {self.width}", self.n_new, "Lower it.")


class WindowClimber:
    """Climbs by weightings, from the best assignment that the archive has for each, and feeds the archive.

    `archive`: all that was found and that nothing dominates. `n_windows`: windows that were looked through.
    """

    def __init__(self, problem: StageProblem, options: WindowOptions, budget: Budget) -> None:
        self.problem, self.options, self.budget = problem, options, budget
        self.archive = StageArchive(problem)
        self.n_windows = 0
        self._promise = Promise(problem.decisions.subclassifiers.rows)
        self._prices = np.maximum(1, problem.costs.price(np.eye(problem.n_features, dtype=bool)))
        self._scans: dict[bytes, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._looked: set[bytes] = set()

    def measure(self, assignments: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Make assignments valid, measure them, and offer them to the archive; return both.

        Raises FitsStoppedError if the budget ends before all are fitted; the archive has those that are.
        """
        rules, removal = self.problem.rules, self.problem.removal
        if rules is not None:
            assignments = np.stack([rules.repaired(row, removal=removal) for row in assignments])
        try:
            measures = self.problem.measures(assignments)
        except FitsStoppedError:
            ready = self.problem.fitted(assignments)
            self.archive.add(ready, self.problem.measures(ready))
            raise
        self.archive.add(assignments, measures)
        return assignments, measures

    def bests(self, weightings: Values) -> Values:
        """Return the best sum by each weighting."""
        return np.array([self.archive.best(weights)[0] for weights in weightings])

    def top(self, weights: Values) -> NDArray[np.int8]:
        """Return the best assignment by the weights."""
        best: NDArray[np.int8] = self.archive.assignments[self.archive.best(weights)[1]]
        return best

    def climb(self, weights: Values) -> bool:
        """Search until no move or window improves the weighted sum; return whether any did.

        Raises FitsStoppedError if the budget ends before; the archive has what was found.
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
        """Kick an assignment and mend it; return where to go on, and whether the best by the weights rose.

        What is mended is gone on from where it is not much worse, so that kicks in a row get out of a local
        optimum. Raises FitsStoppedError if the budget ends before; the archive has what was found.
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
        """Add what is best in a window, unless it was looked through before."""
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
        """Measure all moves of one feature; return which one each moves, and the measures."""
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
        """Order features by what their moves gain, and by what they tell beyond one of the stages' sets."""
        moved, measures = self._scan(assignment)
        gains = gains_of_features(worths(self.problem, measures, weights), moved, len(assignment))
        sets = acquired(assignment[None, :], int(assignment.max()) + 1)[0, :-1]
        bought = sets[turn % len(sets)] if len(sets) else np.zeros(len(assignment), dtype=bool)
        return interleaved(gains, self._promise.beyond(bought) / self._prices)

    def _items(self, assignment: NDArray[np.int8], order: NDArray[np.int64], turn: int) -> NDArray[np.bool_]:
        """Choose a window; each turn takes the next of the features that are bought last or never."""
        late = is_late(assignment, removal=self.problem.removal)[order]
        shifted = np.roll(order[late], -turn * self.options.n_new)
        return window_items(
            assignment, np.concatenate([order[~late], shifted]), n_new=self.options.n_new,
            width=self.options.width, removal=self.problem.removal,
        )  # fmt: skip
