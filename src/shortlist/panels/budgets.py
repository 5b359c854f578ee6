"""What each budget buys, and at which price of a judge another policy would be the better choice."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from shortlist._words import all_of, any_of
from shortlist.arrays import Floats
from shortlist.panels.panel_choice import PanelChoice, single_found
from shortlist.panels.panel_options import ACCURACY, ERROR_COST, LATENCY, PRICE
from shortlist.panels.policy import Outcome, Panel
from shortlist.panels.recipes import Candidate
from shortlist.results.objective import Limit

Row: TypeAlias = Mapping[str, Any]
"""A point, a judge, or a policy of two, as :class:`shortlist.panels.facts.PanelReport` has it."""

MOST_BUDGETS = 10
MOST_PRICES = 6
"""Prices that are told of those that would make another panel the cheapest."""


def calls_of(panel: Panel, outcome: Outcome, judges: tuple[str, ...]) -> Floats:
    """Return the share of the cases about which each judge of a log is asked, ``(n_judges,)``."""
    shares = np.zeros(len(judges))
    for way, stages in enumerate(panel.ways):
        for number, stage in enumerate(stages):
            share = float(((outcome.way == way) & (outcome.stage >= number)).mean())
            for judge in stage.asks:
                shares[judges.index(panel.judges[judge])] += share
    return shares


def break_even_prices(choice: PanelChoice, own: Candidate) -> dict[str, dict[str, Any]]:
    """Return at which price of each judge another policy would take the place of one.

    Other policies are those of the front, single judges, and those of at most two judges that no other such
    one dominates; not all that the search has tried. Where latency is an objective, they are no slower. Under
    a promise they are the policies of the front that keep it.

    `prices`, which it returns: ``now`` and ``up_to``: the price now, and the one from which on another policy
    that loses no more is cheaper; None where none ever is. Of a judge that is not asked: ``below``, the price
    under which such a policy that asks it is cheaper. Empty where nothing has a price.
    """
    now = choice.chosen.prices.mean(axis=0)
    if not now.any():
        return {}
    rivals = _calls_of_rivals(choice, own)
    calls = _calls_on_training_cases(choice, choice.of_recipe(own.recipe))
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


def _calls_of_rivals(choice: PanelChoice, own: Candidate) -> list[Floats]:
    """Return how often the policies that lose no more than one call each judge."""
    judges = range(choice.cases.n_judges)
    others = (
        [*choice.of_two, *(single_found(choice, judge) for judge in judges)] if not choice.guarantees else []
    )
    promised = [one.promised for one in choice.guarantees] or [True] * len(choice.found)
    panels = [
        (one, choice.panel(place))
        for place, one in enumerate(choice.found)
        if one is not own and promised[place]
    ]
    panels += [(one, choice.of_recipe(one.recipe)) for one in others if one.recipe != own.recipe]
    with_latency = LATENCY in choice.front.names
    return [
        _calls_on_training_cases(choice, panel)
        for one, panel in panels
        if _loses_no_more(one, own) and not (with_latency and one.seconds > own.seconds)
    ]


def _loses_no_more(one: Candidate, other: Candidate) -> bool:
    both = zip(one.errors or (one.loss,), other.errors or (other.loss,), strict=True)
    return all(own <= limit for own, limit in both)


def _calls_on_training_cases(choice: PanelChoice, panel: Panel) -> Floats:
    return calls_of(panel, panel.run(choice.chosen), choice.chosen.judges)


def break_even_sentence(prices: Mapping[str, Mapping[str, Any]], what: str) -> str:
    """Say at which prices another panel or judge that was found would be the cheapest that is as good.

    The prices that have to change least come first; without any the sentence is empty.
    """
    told: list[tuple[float, str]] = []
    for name, one in prices.items():
        side, bound = ("above", one.get("up_to")) if "up_to" in one else ("below", one.get("below"))
        if bound is not None:
            change = abs(math.log(bound / one["now"])) if bound and one["now"] else math.inf
            told.append((change, f"{name} {side} {bound:.4g} (now {one['now']:.4g})"))
    if not told:
        return ""
    nearest = any_of([text for _, text in sorted(told, key=lambda one: one[0])], most=MOST_PRICES)
    return (
        f"This choice changes if a price does: {nearest}. Another panel or judge that was found is cheaper "
        f"then, and no worse in {what} on the training cases."
    )


def what_one_gets(
    front: Sequence[Row], judges: Sequence[Row], of_two: Sequence[Row], *,
    price: float, objective: str, limits: Sequence[Limit],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return for round budgets a case the best point of the front, and the best judge alone.

    They keep the limits that were asked for, but for those on the price. The budgets go up to about twice
    the price of the panel, and the last one pays for the dearest point. A budget that buys the same point as
    the one before is left out.
    """
    rows: list[dict[str, Any]] = []
    kept = [limit for limit in limits if limit.name != PRICE]
    front, judges, of_two = (_within(each, kept) for each in (front, judges, of_two))
    if not front:
        return []
    most = max(row["price"] for row in front)
    near = round_budgets([min(most, 2 * price) if price else most])
    for budget in (*near, *(one for one in round_budgets([most])[-1:] if one > near[-1])):
        point, judge = (_best(among, objective, budget) for among in (front, judges))
        if point is not None and not (rows and rows[-1]["number"] == point["number"]):
            two = _best(of_two, objective, budget)
            single = None if judge is None else {"name": judge["name"], objective: judge[objective]}
            rows.append({"budget": budget, **point, "single": single, "two_judges": two})
    return rows


def budget_table(told: Mapping[str, Any], *, with_latency: bool) -> tuple[str, list[tuple[str, ...]]]:
    """Return the title of the table of budgets, and its rows, of which the first is the header.

    `told`: as :func:`shortlist.panels.facts.panel_facts` returns it.
    """
    names = ["recall", "specificity"] if told["errors"] else [told["objective"]]
    of_two, seconds = bool(told["cascades_of_two"]), ["seconds"] * with_latency
    alone = ["best alone"] * (told["guarantee"] is None)  # of a judge nothing is promised
    header = ("at most", *map(title_of(told), names), "price", *seconds, *["of two judges"] * of_two)
    rows = [(*header, *alone, "panel")]
    for row in told["budgets"]:
        single, two = row["single"], row["two_judges"]
        rows.append(
            (
                f"{row['budget']:g}",
                *(f"{row[name]:.4f}" for name in names),
                f"{row['price']:.3g}",
                *("unknown" if row["latency"] is None else f"{row['latency']:.3g}" for _ in seconds),
                *["none" if two is None else f"{two[names[0]]:.4f}"] * of_two,
                *(
                    "none" if single is None else f"{single['name']} {single[told['objective']]:.4f}"
                    for _ in alone
                ),
                f"{row['number']}: {row['stages']}",
            )
        )
    kept = [limit for limit in told["limits"] if not limit.startswith(PRICE)]
    return (
        f"The best panel found at each mean price of a case{f', with {all_of(kept)}' if kept else ''}",
        rows,
    )


def title_of(told: Mapping[str, Any]) -> Callable[[str], str]:
    """Return what an objective on the training cases is called; under a promise no answer is not right."""
    renamed = {ACCURACY: "right of all cases"} if told["guarantee"] else {}
    return lambda name: renamed.get(name, name)


def _within(rows: Sequence[Mapping[str, Any]], limits: Sequence[Limit]) -> list[Mapping[str, Any]]:
    """Return the rows that keep limits."""
    return [row for row in rows if all(one.met_by(np.array([row[one.name]]), None).all() for one in limits)]


def _best(rows: Sequence[Mapping[str, Any]], objective: str, budget: float) -> Mapping[str, Any] | None:
    sign = 1 if objective == ERROR_COST else -1
    within = [row for row in rows if row["price"] <= budget]
    return min(within, key=lambda row: (sign * row[objective], row["price"])) if within else None


def round_budgets(prices: Sequence[float]) -> list[float]:
    """Return at most ten budgets a case: the multiples of 1, 2 or 5 times a power of ten up to a price.

    >>> round_budgets([0.4, 17.0]), round_budgets([0.0])
    ([2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0], [])
    """
    most = max(prices, default=0.0)
    if most <= 0:
        return []
    power = math.floor(math.log10(most)) - 1
    sizes = (size * 10.0 ** (power + more) for more in (0, 1, 2) for size in (1, 2, 5))
    step = next(size for size in sizes if math.ceil(most / size - 1e-9) <= MOST_BUDGETS)
    return [float(f"{step * n:.12g}") for n in range(1, math.ceil(most / step - 1e-9) + 1)]
