"""Search for a promise: the panels to test on the calibration cases, their order, and the result.

A candidate is a way to ask with one threshold for all its stages: a less confident answer leads to the next
stage, and in the end to a person, or to no answer. The points of the front without a promise are candidates
unchanged, each with the thresholds of its stages. The training cases choose the candidates, their price bands
and the order of the tests. The probability that any test passes wrongly is at most the error of the demand
(:func:`shortlist.guarantees.promise.passing`), whichever passing candidate is picked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.guarantees.guarantee import Demand, Guarantee
from shortlist.guarantees.promise import (
    AnswerCounts,
    chances,
    count_answers,
    guarantee_from,
    p_values,
    passing,
    possible_thresholds,
)
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.candidates import pairs_of, stage_sets
from shortlist.panels.decisions import heard
from shortlist.panels.learning import VOTING, learned_by
from shortlist.panels.policy import NEVER
from shortlist.panels.recipes import (
    Cases,
    Judges,
    Recipe,
    fitted_on_others,
    measured_cases,
    stage_says,
)
from shortlist.pareto import nondominated_unique
from shortlist.runs.budget import Budget, Progress

if TYPE_CHECKING:
    from shortlist.panels.panel_choice import PanelChoice

LIVES, BANDS = 2, 3
"""Number of failures at which a chain of tests ends; number of price bands, with about equal numbers of
candidates.
"""
SURE_ENOUGH = 0.9
"""Least chance of passing for the first candidate of each price band; if one has less, no bands are used.

The chance is computed for the share of the demand's error that the candidate's test may use.
"""
LEAST_CHANCE = 0.05
"""Least chance of passing at which a candidate is tested."""
PRIOR_ANSWERS, N_COVERAGES = 50, 20
"""Number of answers that the prior of a candidate counts as; number of groups of candidates by share of
answered cases.
"""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ways to ask with thresholds, one row per candidate.

    `recipes`: ways to ask. `ways`, ``(n_candidates,)``: index in `recipes`. `thresholds`,
    ``(n_candidates,)``. `chosen`: counts on the training cases, out of fold. `calibration`: counts on the
    calibration cases. Prices are in steps.
    """

    recipes: Sequence[Recipe]
    ways: NDArray[np.int64]
    thresholds: Floats
    chosen: AnswerCounts
    calibration: AnswerCounts


def ways_to_ask(cases: Cases, max_stages: int) -> Iterator[Recipe]:
    """Yield sets of judges asked at once, and chains of two such sets, by every learner."""
    is_silent = (cases.answers.words == cases.answers.n_classes).any(axis=0)
    for name in (*VOTING, *learned_by(cases.decisions)):
        if name not in cases.decisions:  # agreement is the same as votes with a threshold
            continue
        sets = stage_sets(cases, name)
        for judges in sets:
            yield Recipe((judges,), (0.0,), name)
        if max_stages > 1 and cases.n_judges > 1:
            for first, second in pairs_of(cases, name, sets, []):
                if name in VOTING and len(first) == 1 and not is_silent[first[0]]:
                    continue  # one vote is always sure
                yield Recipe((first, second), (0.0, 0.0), name)


def with_least(recipe: Recipe, least: float) -> Recipe:
    """Return a recipe whose stages all require at least this confidence."""
    return replace(
        recipe,
        thresholds=tuple(max(one, least) for one in recipe.thresholds),
        branches=tuple(with_least(way, least) for way in recipe.branches),
    )


def calibration_cases(choice: "PanelChoice") -> Cases:
    """Return the calibration cases, decided by the fits on all training cases."""
    log, cases = choice.calibration, choice.cases
    assert log is not None
    answers = heard(log, choice.scale)
    latency = np.full(log.prices.shape, np.nan) if log.latency is None else log.latency
    decisions = {name: fitted_on_others(one, answers) for name, one in cases.decisions.items()}
    prices = np.rint(log.paid * choice.steps).astype(np.int64)
    return replace(
        cases, answers=answers, truth=log.truth, prices=prices, latency=latency, decisions=decisions,
        right=log.right, folds=None,
    )  # fmt: skip


class KnownAnswers:
    """Answers of stages about cases; a stage is computed once for all ways to ask that contain it."""

    def __init__(self, cases: Cases, log: AnswerLog | None) -> None:
        self._cases, self._log = cases, log
        self._known: dict[Any, tuple[Floats, Mask]] = {}
        self._prices: dict[Judges, NDArray[np.int64]] = {}

    def of(self, recipe: Recipe) -> tuple[Floats, Mask, NDArray[np.int64]]:
        """Return the confidences, the mask of right answers, and the prices of the stages of a way to ask.

        Each array has the shape ``(n_stages, n_cases)``; the confidence is -1 where a stage does not answer
        the case.
        """
        tables = [self._straight(one) for one in recipe.ways]
        if recipe.router is None:
            return tables[0]
        assert self._log is not None
        way = recipe.router.branches(self._log.features)
        shape = max(len(one[0]) for one in tables), len(way)
        whole = np.full(shape, -1.0), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64)
        for number, table in enumerate(tables):
            for every, own in zip(whole, table, strict=True):
                every[: len(own), way == number] = own[:, way == number]
        return whole

    def counts(self, recipe: Recipe, thresholds: Floats) -> AnswerCounts:
        """Return the counts of a way to ask at falling thresholds; open cases pay the final price."""
        scores, right, prices = self.of(recipe)
        counts = count_answers(scores, right, thresholds, prices)
        left = counts.n_rows - counts.answered
        return counts._replace(price=counts.price + self._cases.final_price * left)

    def _straight(self, recipe: Recipe) -> tuple[Floats, Mask, NDArray[np.int64]]:
        told, prices, asked = [], [], set[int]()
        for number, judges in enumerate(recipe.sets):
            key = recipe.learner, recipe.alone, judges, recipe.thresholds[number]
            if key not in self._known:
                said, sure, ends = stage_says(self._cases, recipe, number)
                scores = np.where(ends & (said >= 0), sure, -1.0)
                self._known[key] = scores, self._cases.scored(said) == self._cases.truth
            told.append(self._known[key])
            new = tuple(judge for judge in judges if judge not in asked)
            if new not in self._prices:
                self._prices[new] = self._cases.price_of(new)
            prices.append(self._prices[new])
            asked.update(judges)
        return np.array([one for one, _ in told]), np.array([one for _, one in told]), np.array(prices)


def candidates_of(
    choice: "PanelChoice", recipes: Sequence[Recipe], budget: Budget, *, n_points: int = 0
) -> Candidates:
    """Return recipes with each threshold that the training cases suggest, until a limit comes.

    `n_points`: number of first recipes that are points of the front without a promise. These recipes are
    candidates unchanged, with the least threshold alone, and no limit leaves them out.
    """
    chosen = KnownAnswers(measured_cases(choice.cases), choice.chosen)
    ordering = KnownAnswers(choice.cases, choice.chosen)
    calibration = KnownAnswers(calibration_cases(choice), choice.calibration)
    ways, thresholds, own, new = [], [], list[AnswerCounts](), list[AnswerCounts]()
    for place, recipe in enumerate(recipes):
        surest = (ordering if recipe.router is None else chosen).of(recipe)[0].max(axis=0)
        least = possible_thresholds(surest[surest >= 0])
        if place < n_points:
            least = least[-1:]
        own.append(chosen.counts(recipe, least))
        new.append(calibration.counts(recipe, least))
        ways.append(np.full(len(least), place))
        thresholds.append(least)
        budget.report(Progress("ways to ask", place + 1, len(recipes)))
        if budget.stopped and place + 1 >= n_points:
            break
    whole = [
        AnswerCounts(told[0].n_rows, *map(np.concatenate, list(zip(*told, strict=True))[1:]))
        for told in (own, new)
    ]
    return Candidates(recipes[: len(ways)], np.concatenate(ways), np.concatenate(thresholds), *whole)


def chains_of(found: Candidates, demand: Demand) -> list[list[int]]:
    """Return the candidates to test: chains of indices in the order of the tests, by rising price.

    A candidate is left out if another candidate has at least its chance to pass (in whole per cent), is right
    about at least as many training cases, and costs no more. Within a chain candidates are sorted by falling
    chance, and at equal chance by rising price.
    """
    for n_bands in (BANDS, 1):
        error = demand.error / n_bands / LIVES
        chance = chances_of(found, Demand(demand.accuracy, 1 - error))
        likely = np.flatnonzero(chance >= min(LEAST_CHANCE, chance.max(initial=0.0)))
        per_cent = np.rint(100 * chance[likely]).astype(np.int64)
        points = np.column_stack([-per_cent, -found.chosen.right[likely], found.chosen.price[likely]])
        kept = nondominated_unique(points) if len(points) else np.zeros(0, dtype=bool)
        places, per_cent = likely[kept], per_cent[kept]
        price = found.chosen.price[places]
        order = np.lexsort((price, -per_cent))
        ends = np.quantile(price, np.arange(1, n_bands) / n_bands) if len(price) else np.zeros(n_bands - 1)
        band = np.searchsorted(ends, price[order], side="left")
        chains = [places[order[band == one]].tolist() for one in range(n_bands)]
        if all(chain and chance[chain[0]] >= SURE_ENOUGH for chain in chains):
            break
    return chains


def chances_of(found: Candidates, demand: Demand) -> Floats:
    """Return the probability that each candidate passes, ``(n_candidates,)``.

    The prior of a candidate's share of wrong answers counts as :data:`PRIOR_ANSWERS` answers. The prior's
    share of wrong answers is the share over all candidates with the same learner and about as many answered
    training cases. Without a prior, the best of thousands of candidates would look better than they are.
    """
    answered, wrong = found.chosen.answered, found.chosen.answered - found.chosen.right
    learners = np.unique([recipe.learner for recipe in found.recipes], return_inverse=True)[1]
    kind = (N_COVERAGES + 1) * learners[found.ways] + N_COVERAGES * answered // found.chosen.n_rows
    of_kind = [np.bincount(kind, weights=counts) for counts in (wrong, answered)]
    usual = (of_kind[0] + 1) / (of_kind[1] + 2)
    rows = np.column_stack([answered, wrong, kind])
    different, places = np.unique(rows, axis=0, return_inverse=True)
    share = found.calibration.n_rows / found.chosen.n_rows
    told = chances(
        different[:, 0], different[:, 1], share, demand, usual=usual[different[:, 2]], weight=PRIOR_ANSWERS
    )
    return np.asarray(told[places.ravel()])


def promised(found: Candidates, demand: Demand) -> list[tuple[int, Guarantee]]:
    """Return the indices of the candidates that keep the demand, each with its guarantee."""
    passed = passing(p_values(found.calibration, demand), chains_of(found, demand), demand.error, lives=LIVES)
    return [(place, guarantee_from(found.thresholds, found.calibration, place, demand)) for place in passed]


def most_likely(found: Candidates, demand: Demand) -> int:
    """Return the index of the candidate most likely to keep the demand if it alone is tested."""
    return int(chances_of(found, demand).argmax())


def recipe_of(found: Candidates, place: int, *, is_promised: bool) -> Recipe:
    """Return the recipe of a candidate; if it is not promised, no answer of it has enough confidence."""
    recipe = found.recipes[found.ways[place]]
    return with_least(recipe, float(found.thresholds[place]) if is_promised else NEVER)
