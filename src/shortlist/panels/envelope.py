"""What the best cascades of at most two judges reach for the same price, as longer chains rarely gain more.

Bounds on what longer cascades add are in arXiv 2605.06350.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.panels.choice import PanelChoice
from shortlist.panels.losses import scoring_of
from shortlist.panels.panel_options import LATENCY
from shortlist.panels.policy import Panel
from shortlist.panels.recipes import Found
from shortlist.panels.verdict import (
    Verdict,
    compared,
    difference_in_words,
    measured_panel,
    price_in,
    rechosen,
)


def best_of_two(found: Sequence[Found], price: int, seconds: float = math.inf) -> Found | None:
    """Return the policy of at most two judges that loses least for a price, and is no slower than so.

    None where none is so cheap and so fast.
    """
    within = (one for one in found if one.price <= price and not one.seconds > seconds)
    return min(within, key=lambda one: one.loss, default=None)


@dataclass(frozen=True)
class BesideTwo:
    """A panel beside the best cascade of at most two judges that costs no more on the training cases.

    Where latency is an objective, the cascade is no slower either.

    `asks`: whom that cascade asks. `is_itself`: whether it loses as much on the training cases, so that
    neither a longer chain nor a router gains. `verdict`: both on cases that chose neither; the cascade is
    what it calls the single judge. `is_anew`: whether such cascades were chosen anew without each part of the
    cases. `is_such`: whether the panel is itself a cascade of at most two judges. `is_fast`: whether latency
    is an objective.
    """

    asks: str
    is_itself: bool
    verdict: Verdict
    is_anew: bool
    is_such: bool
    is_fast: bool = False

    def sentence(self) -> str:
        """Say whether a longer chain or a router gains anything; nothing where the panel is neither."""
        if self.is_such:
            return ""
        no_more = "for no more and no slower" if self.is_fast else "for no more"
        if self.is_itself:
            return (
                f"A cascade of at most two judges is as good on the training cases, {no_more}: {self.asks}."
            )
        told = self.verdict
        chance = "which may be chance" if told.within_chance else "beyond chance"
        own = told.single_figures
        price = f" for {own.price:.4g} a case" if own.price else ""
        reached = f"{own.objective.replace('-', ' ')} {own.value:.4g}{price}"
        begin = f"The best cascade of at most two judges {no_more} is {self.asks}"
        differs = f"{difference_in_words(told)}, {chance}."
        if self.is_anew:
            return (
                f"{begin}. Cascades of at most two judges chosen in the same way reach {reached} on cases "
                f"that did not choose them; panels chosen like this one differ from them by {differs}"
            )
        return f"{begin}: {reached} on cases that chose neither. This panel differs from it by {differs}"

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        told = self.verdict
        return {
            "asks": self.asks,
            "is_itself": self.is_itself,
            "objective": told.single_figures.objective,
            "of_answers": told.single_figures.of_answers,
            "value": told.single_figures.value,
            "value_interval": list(told.single_figures.value_interval),
            "accuracy": told.single_figures.accuracy,
            "accuracy_interval": list(told.single_figures.accuracy_interval),
            "price": told.single_figures.price,
            "price_interval": list(told.single_figures.price_interval),
            "latency": told.single_figures.latency,
            "difference": told.difference,
            "difference_interval": list(told.difference_interval),
            "p_value": told.p_value,
            "within_chance": told.within_chance,
        }


def beside_two(choice: PanelChoice, point: int, two: Found, asks: str) -> BesideTwo:
    """Return a point of a front beside a cascade of at most two judges, who are told in `asks`."""
    scoring = scoring_of(choice, choice.test)

    def again(part: PanelChoice) -> Panel:
        within = best_of_two(part.of_two, price_in(choice, point, part))
        return part.of_recipe((within or min(part.of_two, key=lambda one: one.price)).recipe)

    cascade = rechosen(choice, choice.of_recipe(two.recipe), again, two.recipe)
    verdict = compared(asks, cascade, measured_panel(choice, point), choice.test, scoring)
    found = choice.found[point]
    return BesideTwo(
        asks,
        is_itself=two.loss <= found.loss,
        verdict=verdict,
        is_anew=bool(choice.parts),
        is_such=found.recipe.router is None and len(found.recipe.judges) <= 2,
        is_fast=LATENCY in choice.front.names,
    )
