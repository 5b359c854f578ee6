"""The search for a promise: which panels are tested on the calibration cases, in which order, and what holds.

A candidate is a way to ask with one threshold for all its stages: an answer that is less sure goes on to the
next stage, and in the end to a person or to nobody. The points of the front without a promise are candidates
as they are, each with the thresholds of its stages. The training cases choose the candidates, their price
bands and the order of the tests. So the tests of all candidates together are wrong with the error of the
demand at most (:func:`shortlist.guarantees.sequences.passing`), whatever is picked of those that pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.guarantees.guarantee import Demand, Guarantee, tail
from shortlist.guarantees.sequences import chances, passing
from shortlist.guarantees.thresholds import possible_thresholds, reaching
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.candidates import pairs_of, stage_sets
from shortlist.panels.decisions import heard
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.panel_options import RECALL
from shortlist.panels.policy import NEVER
from shortlist.panels.recipes import Cases, FittedDecisions, Found, Recipe, followed, stage_says
from shortlist.panels.two_errors import with_errors
from shortlist.pareto import nondominated_unique
from shortlist.runs.budget import Budget, Progress

if TYPE_CHECKING:
    from shortlist.panels.choice import PanelChoice

LIVES, BANDS = 2, 3
"""A chain of tests ends at its second failure, and candidates have price bands of about equal size."""
SURE_ENOUGH = 0.9
"""Prices have bands if a candidate of each passes with this chance, at its share of the error."""
LEAST_CHANCE = 0.05
"""Candidates that are less likely to pass are not tested."""


class Counts(NamedTuple):
    """What a way to ask does on some cases with each of several thresholds, ``(n_thresholds,)``.

    `answered`, `right`: cases that judges answer, and those that they answer rightly. `price`: in steps, of
    all cases together.
    """

    answered: NDArray[np.int64]
    right: NDArray[np.int64]
    price: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ways to ask with thresholds, a row each.

    `recipes`: the ways. `ways`, `thresholds`, ``(n_candidates,)``: the place of the way, and the threshold.
    `chosen`, `calibration`: counts on the training cases, out of fold, and on the calibration cases.
    `n_chosen`, `n_calibration`: how many there are.
    """

    recipes: Sequence[Recipe]
    ways: NDArray[np.int64]
    thresholds: Floats
    chosen: Counts
    calibration: Counts
    n_chosen: int
    n_calibration: int


def ways_to_ask(cases: Cases, max_stages: int) -> Iterator[Recipe]:
    """Yield sets of judges asked at once, and chains of two of them, by every way to decide."""
    for name in cases.decisions:
        if name == AGREEMENT:  # votes with a threshold are the same sets that agree
            continue
        sets = stage_sets(cases, name)
        for judges in sets:
            yield Recipe((judges,), (0.0,), name)
        if max_stages > 1 and cases.n_judges > 1:
            for first, second in pairs_of(cases, name, sets, []):
                yield Recipe((first, second), (0.0, 0.0), name)


def with_least(recipe: Recipe, least: float) -> Recipe:
    """Return a recipe whose stages are all at least so sure of what they answer."""
    return replace(
        recipe,
        thresholds=tuple(max(one, least) for one in recipe.thresholds),
        branches=tuple(with_least(way, least) for way in recipe.branches),
    )


def calibration_cases(choice: "PanelChoice") -> Cases:
    """Return the calibration cases, decided by what was fitted on all training cases."""
    log, cases = choice.calibration, choice.cases
    assert log is not None
    answers = heard(log, choice.scale)
    latency = np.full(log.prices.shape, np.nan) if log.latency is None else log.latency
    decisions: Any = {name: FittedDecisions(one, answers) for name, one in cases.decisions.items()}
    prices = np.rint(log.paid * choice.steps).astype(np.int64)
    return replace(
        cases, answers=answers, truth=log.truth, prices=prices, latency=latency, decisions=decisions,
        right=log.right,
    )  # fmt: skip


class StageAnswers(NamedTuple):
    """What a stage would answer, ``(n_cases,)``.

    `scores`: how sure it is; -1 where it does not answer. `right`: whether it would be right. `price`: what
    asking its judges costs, in steps.
    """

    scores: Floats
    right: Mask
    price: NDArray[np.int64]


def stage_answers(cases: Cases, recipe: Recipe) -> list[StageAnswers]:
    """Return what each stage of a recipe without a router would answer, about all cases."""
    found = []
    asked: set[int] = set()
    for number, judges in enumerate(recipe.sets):
        said, sure, ends = stage_says(cases, recipe, number)
        price = cases.price_of(tuple(judge for judge in judges if judge not in asked))
        found.append(
            StageAnswers(np.where(ends & (said >= 0), sure, -1.0), cases.scored(said) == cases.truth, price)
        )
        asked.update(judges)
    return found


def count_staged(stages: Sequence[StageAnswers], thresholds: Floats, final_price: int) -> Counts:
    """Count what stages do with each threshold; a case that none answers pays the final price."""
    surest = np.full(len(stages[0].scores), -1.0)
    answered, right, price = (np.zeros(len(thresholds), dtype=np.int64) for _ in range(3))
    for number, stage in enumerate(stages):
        reached = stage.price.sum() - (_weighted(surest, stage.price, thresholds) if number else 0)
        price += reached
        before = np.minimum(stage.scores, surest)
        answered += reaching(stage.scores, thresholds)
        right += reaching(stage.scores[stage.right], thresholds)
        if number:
            answered -= reaching(before, thresholds)
            right -= reaching(before[stage.right], thresholds)
        surest = np.maximum(surest, stage.scores)
    price += final_price * (len(surest) - answered)
    return Counts(answered, right, price)


def _weighted(scores: Floats, weights: NDArray[np.int64], thresholds: Floats) -> NDArray[np.int64]:
    """Return the sum of the weights whose score reaches each threshold."""
    order = np.argsort(scores, kind="stable")
    sums = np.append(0, np.cumsum(weights[order][::-1]))
    first = np.searchsorted(scores[order], thresholds, side="left")
    return np.asarray(sums[len(scores) - first])


def candidates_of(
    choice: "PanelChoice", recipes: Sequence[Recipe], budget: Budget, *, n_points: int = 0
) -> Candidates:
    """Return recipes with each of the thresholds that the training cases suggest, until a limit comes.

    `n_points`: so many of the first recipes are points of the front without a promise. They are candidates as
    they are, with the least threshold alone, and no limit leaves them out.
    """
    chosen, calibration = choice.cases, calibration_cases(choice)
    ways, thresholds, own, new = [], [], list[Counts](), list[Counts]()
    for place, recipe in enumerate(recipes):
        answers = [stage_answers(cases, one) for one, cases in _branches(recipe, choice.chosen, chosen)]
        surest = np.concatenate([np.max([stage.scores for stage in one], axis=0) for one in answers])
        least = possible_thresholds(surest[surest >= 0])
        if place < n_points:
            least = least[-1:]
        others = (
            stage_answers(cases, one) for one, cases in _branches(recipe, choice.calibration, calibration)
        )
        for told, into in ((answers, own), (others, new)):
            counts = [count_staged(one, least, chosen.final_price) for one in told]
            into.append(Counts(*(np.sum(column, axis=0) for column in zip(*counts, strict=True))))
        ways.append(np.full(len(least), place))
        thresholds.append(least)
        budget.report(Progress("ways to ask", place + 1, len(recipes)))
        if budget.stopped and place + 1 >= n_points:
            break
    whole = [Counts(*(np.concatenate(column) for column in zip(*told, strict=True))) for told in (own, new)]
    return Candidates(
        recipes[: len(ways)],
        np.concatenate(ways),
        np.concatenate(thresholds),
        chosen=whole[0],
        calibration=whole[1],
        n_chosen=len(chosen.truth),
        n_calibration=len(calibration.truth),
    )


def _branches(recipe: Recipe, log: AnswerLog | None, cases: Cases) -> list[tuple[Recipe, Cases]]:
    """Return each way of a recipe with the cases that go there."""
    if recipe.router is None:
        return [(recipe, cases)]
    assert log is not None
    way = recipe.router.branches(log.features)
    return [(one, cases.at(np.flatnonzero(way == number))) for number, one in enumerate(recipe.ways)]


def chains_of(found: Candidates, demand: Demand) -> list[list[int]]:
    """Return which candidates are tested, in which order: chains of places, by rising price.

    Left out are those than which another is as likely to pass, by whole per cent, is right about as many of
    the training cases, and costs no more. Within a chain the most likely come first, and of equal ones the
    cheapest.
    """
    for n_bands in (BANDS, 1):
        error = demand.error / n_bands / LIVES
        chance = _chances(found, Demand(demand.accuracy, 1 - error))
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


def _chances(found: Candidates, demand: Demand) -> Floats:
    """Return how likely candidates are to pass; those that do the same are counted once."""
    pairs = np.column_stack([found.chosen.answered, found.chosen.answered - found.chosen.right])
    different, places = np.unique(pairs, axis=0, return_inverse=True)
    share = found.n_calibration / found.n_chosen
    return np.asarray(chances(different[:, 0], different[:, 1], share, demand)[places.ravel()])


def promised(found: Candidates, demand: Demand) -> list[tuple[int, Guarantee]]:
    """Return the candidates about which the demand is promised, each with its guarantee."""
    new = found.calibration
    p_values = tail(new.answered, new.answered - new.right, demand)
    passed = passing(p_values, chains_of(found, demand), demand.error, lives=LIVES)
    return [(place, _guarantee(found, place, demand)) for place in passed]


def _guarantee(found: Candidates, place: int, demand: Demand) -> Guarantee:
    n_answered, n_right = int(found.calibration.answered[place]), int(found.calibration.right[place])
    return Guarantee(*demand, float(found.thresholds[place]), found.n_calibration, n_answered, n_right)


def most_likely(found: Candidates, demand: Demand) -> int:
    """Return the candidate that is most likely to keep the demand by itself."""
    return int(_chances(found, demand).argmax())


def recipe_of(found: Candidates, place: int, *, is_promised: bool) -> Recipe:
    """Return the recipe of a candidate; of one about which nothing is promised, no answer is sure enough."""
    recipe = found.recipes[found.ways[place]]
    return with_least(recipe, float(found.thresholds[place]) if is_promised else NEVER)


def found_of(choice: "PanelChoice", recipe: Recipe) -> Found:
    """Return a recipe with what it costs out of fold on the training cases."""
    cases = choice.cases
    told = followed(cases, recipe, choice.chosen.features)
    loss, seconds = int(cases.loss_of(told).sum()), float(told.latency.mean())
    found = Found(loss, int(told.price.sum()), seconds, recipe)
    return with_errors(cases, found) if RECALL in choice.front.names else found
