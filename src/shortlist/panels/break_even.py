"""At which price of a judge another policy would take the place of a panel."""

from typing import Any

import numpy as np

from shortlist.arrays import Floats
from shortlist.panels.choice import PanelChoice
from shortlist.panels.panel_options import LATENCY
from shortlist.panels.policy import Outcome, Panel
from shortlist.panels.recipes import Found
from shortlist.panels.verdict import single_found


def calls_of(panel: Panel, outcome: Outcome, judges: tuple[str, ...]) -> Floats:
    """Return the share of the cases about which each judge of a log is asked, ``(n_judges,)``."""
    shares = np.zeros(len(judges))
    for way, stages in enumerate(panel.ways):
        for number, stage in enumerate(stages):
            share = float(((outcome.way == way) & (outcome.stage >= number)).mean())
            for judge in stage.asks:
                shares[judges.index(panel.judges[judge])] += share
    return shares


def break_even_prices(choice: PanelChoice, point: int) -> dict[str, dict[str, Any]]:
    """Return at which price of each judge another policy would take the place of a point.

    Other policies are those of the front, single judges, and those of at most two judges that no other such
    one dominates; not all that the search has tried. Where latency is an objective, they are no slower.

    `prices`, which it returns: ``now`` and ``up_to``: the price now, and the one from which on another policy
    that loses no more is cheaper; None where none ever is. Of a judge that is not asked: ``below``, the price
    under which such a policy that asks it is cheaper. Empty where nothing has a price. `point`: the number of
    the point.
    """
    now = choice.chosen.prices.mean(axis=0)
    if not now.any():
        return {}
    rivals = _calls_of_rivals(choice, point)
    calls = _calls_on_training_cases(choice, choice.panel(point))
    told: dict[str, dict[str, Any]] = {}
    for judge, name in enumerate(choice.chosen.judges):
        here = calls[judge]
        prices = []
        for rival in rivals:
            less = here - rival[judge]
            gap = float((rival - calls) @ now)
            if (less > 1e-12 and here > 0) or (here == 0 and less < -1e-12):
                prices.append(float(now[judge] + gap / less))
        if here > 0:
            dearer = [price for price in prices if price >= now[judge]]
            told[name] = {"now": float(now[judge]), "up_to": min(dearer) if dearer else None}
        elif prices and max(prices) > 0:
            told[name] = {"now": float(now[judge]), "below": max(prices)}
    return told


def _calls_of_rivals(choice: PanelChoice, point: int) -> list[Floats]:
    """Return whom the policies call that lose no more than a point."""
    own = choice.found[point]
    judges = range(choice.cases.n_judges)
    others = [*choice.of_two, *(single_found(choice, judge) for judge in judges)]
    panels = [(one, choice.panel(place)) for place, one in enumerate(choice.found) if place != point]
    panels += [(one, choice.of_recipe(one.recipe)) for one in others if one.recipe != own.recipe]
    with_latency = LATENCY in choice.front.names
    return [
        _calls_on_training_cases(choice, panel)
        for one, panel in panels
        if _loses_no_more(one, own) and not (with_latency and one.seconds > own.seconds)
    ]


def _loses_no_more(one: Found, other: Found) -> bool:
    both = zip(one.errors or (one.loss,), other.errors or (other.loss,), strict=True)
    return all(own <= limit for own, limit in both)


def _calls_on_training_cases(choice: PanelChoice, panel: Panel) -> Floats:
    return calls_of(panel, panel.run(choice.chosen), choice.chosen.judges)
