"""Single judges beside panels: which is best, what it costs, and its surest answers."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.decisions import heard
from shortlist.panels.figures import Rechosen, possible_prices
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import RECALL
from shortlist.panels.policy import HAND_OVER, Panel
from shortlist.panels.recipes import Candidate, Recipe
from shortlist.panels.two_errors import with_errors
from shortlist.results.objective import Limit


def single_found(choice: PanelChoice, judge: int) -> Candidate:
    """Return the policy that answers what one judge says, with what it costs on the training cases."""
    cases = choice.cases
    words = cases.answers.words[:, judge]
    codes = np.where(words == cases.answers.n_classes, -1, words)
    recipe = Recipe(((judge,),), (0.0,), "votes")
    seconds = float(cases.latency[:, judge].mean())
    found = Candidate(int(cases.losses_of(codes).sum()), int(cases.prices[:, judge].sum()), seconds, recipe)
    return with_errors(cases, found) if RECALL in choice.front.names else found


def keeps(choice: PanelChoice, found: Candidate, limits: Sequence[Limit]) -> bool:
    """Whether a policy keeps limits on the objectives, on the training cases."""
    values = choice.values_of(found)
    return all(limit.met_by(np.array([values[limit.name]]), None).all() for limit in limits)


def best_single(choice: PanelChoice, limits: Sequence[Limit] = ()) -> int:
    """Return the judge that loses least as it answers, on the training cases; the cheapest of equals.

    Judges that keep the limits come before all others.
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
    """Return the panel that asks one judge and answers what it says."""
    return choice.of_recipe(Recipe(((judge,),), (0.0,), "votes"))


def surest(choice: PanelChoice, judge: int, log: AnswerLog, n_answers: int) -> Panel:
    """Return the panel of a judge that gives only its `n_answers` surest answers on a log.

    A judge that does not tell how sure it is gives all its answers. A person who takes the others is paid.
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
