"""Front of panels, and the policy behind each of its points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from shortlist.guarantees.guarantee import Guarantee
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.decisions import ConfidenceScale, heard
from shortlist.panels.figures import Rechosen, possible_prices
from shortlist.panels.objectives import ERROR_COST, RECALL, Scoring, classes_of, scoring_on, values_of
from shortlist.panels.policy import HAND_OVER, Panel, Question
from shortlist.panels.recipes import Candidate, Cases, Recipe, candidate_of, stages_of
from shortlist.results.front import Front
from shortlist.results.objective import Limit


@dataclass(frozen=True, eq=False)
class PanelChoice:
    """Front of panels, the policy behind each of its points, and the cases of each kind.

    `front`: accuracy, or the cost of errors, and price and perhaps latency, on the training cases, out of
    fold for learned decisions. The decision vector of a point holds, for each judge, the stage that asks the
    judge; 0 if none does. `found`: policy of each point. `chosen`, `test`, `calibration`: training cases,
    cases that measure, and cases that set thresholds of promises, if any. The calibration cases have one row
    of each group, as the tests behind a promise need independent rows. `claims`: sentences on complete and
    incomplete searches. `of_two`: policies of at most two judges that no other such policy dominates.
    `of_two_values`: first objective of the policies in `of_two`, minus its optimism. `guarantees`: guarantee
    of each point, under a promise. `steps`: steps of price per unit. `parts`: if all cases choose, one choice
    for each part of the cases. The choice is made without the part, and the part is its `test`. `is_tested`:
    whether `test` has cases of another log.
    """

    front: Front
    found: tuple[Candidate, ...]
    cases: Cases
    scale: ConfidenceScale
    chosen: AnswerLog
    test: AnswerLog
    calibration: AnswerLog | None
    claims: tuple[str, ...]
    of_two: tuple[Candidate, ...] = ()
    of_two_values: tuple[float, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
    steps: int = 1
    parts: tuple["PanelChoice", ...] = ()
    is_tested: bool = False

    def panel(self, point: int) -> Panel:
        """Return the panel of a point; it contains only the judges that the panel asks."""
        return _panel(self, self.found[point], self.guarantees[point] if self.guarantees else None)

    def values_of(self, found: Candidate) -> dict[str, float]:
        """Return the objectives of any policy of the search, means per case, by name."""
        return values_of(self.front.names, found, self.cases.truth == self.cases.positive, self.steps)

    def scoring(self, log: AnswerLog) -> Scoring:
        """Return the costs of mistakes on a log under the objectives of the front."""
        losses = self.cases.losses.astype(np.float64)
        return scoring_on(log, self.front.names, losses, self.cases.positive)

    def of_recipe(self, recipe: Recipe) -> Panel:
        """Return the panel of any recipe, such as the recipe of a single judge."""
        return _panel(self, Candidate(0, 0, math.nan, recipe), None)


def _panel(choice: PanelChoice, found: Candidate, guarantee: Guarantee | None) -> Panel:
    log = choice.chosen
    members, recipe = list(found.recipe.judges), found.recipe
    classes = () if log.is_open else log.classes
    places = {judge: place for place, judge in enumerate(members)}
    latency = np.full(len(members), np.nan)
    if log.latency is not None:
        latency = log.latency[:, members].mean(axis=0)
    panel = Panel(
        tuple(log.judges[judge] for judge in members),
        classes,
        stages_of(recipe, choice.cases.decisions, places),
        tuple(log.prices[:, members].mean(axis=0).tolist()),
        choice.scale.at(members),
        tuple(latency.tolist()),
        choice.cases.final,
        router=recipe.router,
        branches=tuple(stages_of(way, choice.cases.decisions, places) for way in recipe.branches),
        question=_question(choice),
        folds_case=log.folds_case,
        folds_punctuation=log.folds_punctuation,
    )
    return panel if guarantee is None else replace(panel, promise=guarantee.sentence("cases"))


def _question(choice: PanelChoice) -> Question:
    names, cases = choice.front.names, choice.cases
    costs = tuple(map(tuple, cases.losses.tolist())) if ERROR_COST in names else ()
    positive = choice.chosen.classes[cases.positive] if RECALL in names else None
    demand: tuple[float, float] | None = choice.guarantees[0].demand if choice.guarantees else None
    return Question(tuple(names), costs, positive, demand)


def single_found(choice: PanelChoice, judge: int) -> Candidate:
    """Return the policy that asks one judge and gives its answer, with its costs on the training cases."""
    cases = choice.cases
    words = cases.answers.words[:, judge]
    codes = np.where(words == cases.answers.n_classes, -1, words)
    recipe = Recipe(((judge,),), (0.0,), "votes")
    seconds = float(cases.latency[:, judge].mean())
    found = Candidate(int(cases.losses_of(codes).sum()), int(cases.prices[:, judge].sum()), seconds, recipe)
    if not classes_of(choice.front.names):
        return found
    told = candidate_of(cases, recipe, choice.front.names)
    return found._replace(loss=told.loss, errors=told.errors)


def keeps(choice: PanelChoice, found: Candidate, limits: Sequence[Limit]) -> bool:
    """Return whether a policy keeps limits on the objectives, on the training cases."""
    values = choice.values_of(found)
    return all(limit.met_by(np.array([values[limit.name]]), None).all() for limit in limits)


def best_single(choice: PanelChoice, limits: Sequence[Limit] = ()) -> int:
    """Return the index of the judge with the least loss on the training cases; of equals the cheapest.

    A judge outside the limits is returned only if no judge is within the limits.
    """
    found = [single_found(choice, judge) for judge in range(choice.cases.n_judges)]
    price = choice.cases.prices.mean(axis=0)
    sizes = np.bincount(choice.cases.truth == choice.cases.positive, minlength=2)[::-1]

    def loss(one: Candidate) -> float:
        return float((np.array(one.errors) / np.maximum(1, sizes)).sum()) if one.errors else one.loss

    def order(judge: int) -> tuple[Any, ...]:
        return not keeps(choice, found[judge], limits), loss(found[judge]), price[judge], judge

    return min(range(len(found)), key=order)


def single_panel(choice: PanelChoice, judge: int) -> Panel:
    """Return the panel that asks one judge and gives its answer."""
    return choice.of_recipe(Recipe(((judge,),), (0.0,), "votes"))


def surest(choice: PanelChoice, judge: int, log: AnswerLog, n_answers: int) -> Panel:
    """Return the panel that gives only the `n_answers` surest answers of a judge on a log.

    A judge without confidences gives all its answers. A person who decides the other cases is paid.
    """
    panel = single_panel(choice, judge)
    if not choice.scale.told[judge]:
        return panel
    outcome = panel.run(log)
    sure = np.where(outcome.codes >= 0, heard(log, choice.scale).confidence[:, judge], -np.inf)
    codes = outcome.codes.copy()
    codes[np.argsort(-sure, kind="stable")[n_answers:]] = -1
    left = (codes < 0) & (outcome.codes >= 0)
    outcome = outcome._replace(
        codes=codes,
        price=outcome.price + panel.final.price * left,
        handed_over=outcome.handed_over | (left & (panel.final.kind == HAND_OVER)),
    )
    known = {one.name: getattr(panel, one.name) for one in fields(panel)}
    return Rechosen(**known, outcome=outcome, possible_prices=possible_prices(panel, log))
