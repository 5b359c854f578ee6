"""What is printed of panels."""

import dataclasses
from textwrap import shorten
from typing import Any

from shortlist.cli.text.front_text import contract
from shortlist.panels.budgets import budgets_title
from shortlist.panels.choice import PanelChoice
from shortlist.panels.facts import PanelReport, measured_in_words, panel_facts, stages_in_words
from shortlist.panels.losses import scoring_of
from shortlist.panels.panel_options import BALANCED
from shortlist.panels.policy import Panel
from shortlist.panels.recipes import bound_at
from shortlist.panels.two_errors import recall_and_specificity
from shortlist.panels.verdict import (
    CHANCE,
    Standing,
    best_single,
    compared,
    difference_in_words,
    figures,
    single_panel,
    standing,
)
from shortlist.results.objective import read_limit

MOST_ROWS = 12
MOST_LETTERS = 100
"""Of who is asked for a budget; the page has all."""


def chosen_panel_facts(choice: PanelChoice, told: PanelReport) -> dict[str, Any]:
    """Return the JSON of a chosen panel."""
    return (
        contract(choice.front, "panel")
        | panel_facts(told)
        | {
            "claims": all_claims(choice, told.point),
            "bound": bound_of(choice, told.point),
            "n_chosen": len(choice.chosen.truth),
            "n_test": 0 if choice.parts else len(choice.test.truth),
            "n_calibration": 0 if choice.calibration is None else len(choice.calibration.truth),
        }
    )


def bound_of(choice: PanelChoice, point: int) -> float:
    """Return what share of the training cases a panel may get right at the price of a point."""
    return bound_at(choice.cases, choice.found[point].price / len(choice.cases.truth))


def all_claims(choice: PanelChoice, point: int) -> list[str]:
    """Say what was searched, and what no panel exceeds at the price of a point, if that says anything."""
    bound = bound_of(choice, point)
    if bound == 1:
        return list(choice.claims)
    price = choice.front.values[point, choice.front.names.index("price")]
    return [
        *choice.claims,
        (
            f"No panel that answers as one of the judges that it asks is right about more than "
            f"{100 * bound:.1f} % of the training cases{f', at {price:.4g} a case' if price else ''}."
        ),
    ]


def print_panel(choice: PanelChoice, told: PanelReport) -> None:
    """Print whom to ask, what that does on hold-out cases, and what else the front has."""
    facts = panel_facts(told)
    if facts["advice"]:
        print(facts["advice"])
    print(f"Panel {told.point} of {len(choice.found):,} on the front:")
    for sentence in facts["in_words"]:
        print(f"  {sentence}")
    own, rechosen = facts["held_out"], facts["single_rechosen"]
    errors, single = facts["errors"] or {}, facts["single"]
    print(f"\nOn {facts['measured_on']}: {measured_in_words(own, errors.get('panel'))}.")
    on_what = "" if rechosen is None else ", on the cases that chose it, which is optimistic"
    alone = measured_in_words(single, errors.get("single"))
    print(f"The {single['title']}, {single['name']}: {alone}{on_what}.")
    if rechosen is not None:
        print(f"Single judges chosen in the same way: {measured_in_words(rechosen)}.")
    print()
    for sentence in facts["verdict"]:
        print(sentence)
    _print_budgets(told, facts)
    print("\nWhat was searched:")
    for claim in all_claims(choice, told.point):
        print(f"  {claim}")


def _print_budgets(told: PanelReport, facts: dict[str, Any]) -> None:
    """Print what one gets for each budget, on the training cases."""
    names = ["recall", "specificity"] if facts["errors"] else [facts["objective"]]
    of_two = ["of two judges"] * bool(facts["cascades_of_two"])
    seconds = ["seconds"] * told.with_latency
    rows = [
        [
            f"{row['budget']:g}",
            *(f"{row[name]:.4f}" for name in names),
            f"{row['price']:.4g}",
            *(f"{row['latency']:.3g}" for _ in seconds),
            *("none" if row["two_judges"] is None else f"{row['two_judges'][names[0]]:.4f}" for _ in of_two),
            shorten(row["stages"], MOST_LETTERS, placeholder=" ..."),
        ]
        for row in facts["budgets"][:MOST_ROWS]
    ]
    if not rows:
        return
    print(f"\n{budgets_title(told)}, out of fold on the training cases:")
    header = ["at most", *names, "price", *seconds, *of_two, "asks"]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    for row in (header, *rows):
        cells = "  ".join(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True))
        print(f"  {cells}  {row[-1]}")


def compared_facts(choice: PanelChoice, old: Panel, point: int, most: float | None = None) -> dict[str, Any]:
    """Return a saved panel beside a new one and the best single judge, on the hold-out cases.

    `point`: of the new panel. `most`: up to which price of a case the new panel was looked for.
    """
    new, log, scoring = choice.panel(point), choice.test, scoring_of(choice, choice.test)
    limits = [] if most is None else [read_limit(f"price<={most!r}")]
    judge = best_single(choice, limits)
    alone = single_panel(choice, judge)
    told = compared("the saved panel", old, new, log, scoring)
    positive = choice.cases.positive
    errors = {
        name: recall_and_specificity(one, log, positive)
        for name, one in (("saved", old), ("new", new), ("single", alone))
        if scoring.objective == BALANCED
    }
    found = standing(told)
    return contract(choice.front, "panel compare") | {
        "saved": {"asks": stages_in_words(old), **dataclasses.asdict(told.single_figures)},
        "new": {"asks": stages_in_words(new), "point": point, **dataclasses.asdict(told.panel_figures)},
        "single": {
            "name": choice.chosen.judges[judge], "is_best": judge == best_single(choice),
            **dataclasses.asdict(figures(alone, log, scoring)),
        },
        "errors": errors or None,
        "at_most": most,
        "difference": told.difference,
        "difference_interval": list(told.difference_interval),
        "difference_in_words": difference_in_words(told),
        "p_value": told.p_value,
        "standing": found.value,
        "still_best": found is not Standing.BEATEN,
    }  # fmt: skip


STANDING_WORDS = {
    Standing.BETTER: "The saved panel is still the best: it is better than the new one beyond chance.",
    Standing.AS_GOOD: (
        "The saved panel is still the best: the new one is neither better beyond chance nor cheaper."
    ),
    Standing.BEATEN: "The saved panel is not the best any more: the new one is better beyond chance.",
}
CHEAPER_WORDS = (
    "The saved panel is not the best any more: the new one is cheaper, and no worse beyond chance."
)


def print_compared(facts: dict[str, Any]) -> None:
    """Print whether a saved panel is still the best."""
    judge = "Best single judge" + ("" if facts["single"]["is_best"] else " for no more")
    for name, title in (("saved", "Saved panel"), ("new", "New panel"), ("single", judge)):
        one = facts[name]
        errors = (facts["errors"] or {}).get(name)
        print(f"{title} ({one.get('asks') or one['name']}): {measured_in_words(one, errors)}.")
    if facts["at_most"]:
        print(f"The new panel is the best found for at most {facts['at_most']:.4g} a case.")
    print(f"New minus saved: {facts['difference_in_words']}, p = {facts['p_value']:.3g}.")
    beaten = Standing(facts["standing"]) is Standing.BEATEN
    is_chance = beaten and facts["p_value"] > CHANCE
    print(CHEAPER_WORDS if is_chance else STANDING_WORDS[Standing(facts["standing"])])
    print("Some of these cases may have chosen the saved panel, which makes it look better than it is.")
