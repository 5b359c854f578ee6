"""What is printed of panels."""

import dataclasses
from typing import Any

from shortlist.cli.text.front_text import contract
from shortlist.panels.bounds import bound_at
from shortlist.panels.choice import PanelChoice
from shortlist.panels.facts import PanelReport, measured, panel_facts, stages_in_words
from shortlist.panels.policy import Panel
from shortlist.panels.verdict import best_single, compared, figures, single_panel

MOST_ROWS = 12


def chosen_panel_facts(choice: PanelChoice, told: PanelReport) -> dict[str, Any]:
    """Return the JSON of a chosen panel."""
    return (
        contract(choice.front, "panel")
        | panel_facts(told)
        | {
            "claims": all_claims(choice, told.point),
            "bound": bound_of(choice, told.point),
            "n_chosen": len(choice.chosen.truth),
            "n_test": len(choice.test.truth),
            "n_calibration": 0 if choice.calibration is None else len(choice.calibration.truth),
        }
    )


def bound_of(choice: PanelChoice, point: int) -> float:
    """Return what share of the cases that choose a panel may get right at the price of a point."""
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
            f"{100 * bound:.1f} % of the cases that choose, at {price:.4g} a case."
        ),
    ]


def print_panel(choice: PanelChoice, told: PanelReport) -> None:
    """Print whom to ask, what that does on held-out cases, and what else the front has."""
    facts = panel_facts(told)
    if facts["advice"]:
        print(facts["advice"])
    print(f"Panel {told.point} of {len(choice.found):,} on the front:")
    for sentence in facts["in_words"]:
        print(f"  {sentence}")
    own = facts["held_out"]
    accuracy, price = measured(own)
    print(f"\nOn {own['n_cases']:,} held-out cases: accuracy {accuracy}, price {price} a case.")
    single = facts["single"]
    accuracy, price = measured(single)
    print(f"The best single judge, {single['name']}: accuracy {accuracy}, price {price}.\n")
    for sentence in facts["verdict"]:
        print(sentence)
    _print_budgets(facts)
    for claim in all_claims(choice, told.point):
        print(f"  {claim}")


def _print_budgets(facts: dict[str, Any]) -> None:
    """Print what one gets for each budget, on the cases that choose."""
    names = ["recall", "specificity"] if facts["errors"] else [facts["objective"]]
    of_two = ["of two judges"] * bool(facts["cascades_of_two"])
    rows = [
        [
            f"{row['budget']:g}",
            *(f"{row[name]:.4f}" for name in names),
            f"{row['price']:.4g}",
            *("none" if row["two_judges"] is None else f"{row['two_judges'][names[0]]:.4f}" for _ in of_two),
            row["stages"],
        ]
        for row in facts["budgets"][:MOST_ROWS]
    ]
    if not rows:
        return
    print("\nWhat you get for a mean price a case, out of fold on the cases that choose:")
    header = ["at most", *names, "price", *of_two, "asks"]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    for row in (header, *rows):
        cells = "  ".join(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True))
        print(f"  {cells}  {row[-1]}")
    print("\nWhat was searched:")


def compared_facts(choice: PanelChoice, old: Panel, point: int) -> dict[str, Any]:
    """Return a saved panel beside a new one and the best single judge, on the cases that measure."""
    new = choice.panel(point)
    judge = best_single(choice)
    alone = single_panel(choice, judge)
    told = compared("the saved panel", old, new, choice.test)
    return contract(choice.front, "panel compare") | {
        "saved": {"asks": stages_in_words(old), **dataclasses.asdict(figures(old, choice.test))},
        "new": {"asks": stages_in_words(new), "point": point, **dataclasses.asdict(told.panel_figures)},
        "single": {
            "name": choice.chosen.judges[judge], **dataclasses.asdict(figures(alone, choice.test))
        },
        "difference": told.difference,
        "difference_interval": list(told.difference_interval),
        "p_value": told.p_value,
        "still_best": told.within_chance and told.panel_figures.price >= told.single_figures.price,
    }  # fmt: skip


def print_compared(facts: dict[str, Any]) -> None:
    """Print whether a saved panel is still the best."""
    for name, title in (("saved", "Saved panel"), ("new", "New panel"), ("single", "Best single judge")):
        one = facts[name]
        accuracy, price = measured(one)
        print(f"{title} ({one.get('asks') or one['name']}): accuracy {accuracy}, price {price} a case.")
    low, high = facts["difference_interval"]
    print(
        f"New minus saved: {100 * facts['difference']:+.1f} points of accuracy ({100 * low:+.1f} to "
        f"{100 * high:+.1f}), p = {facts['p_value']:.3g}."
    )
    if facts["still_best"]:
        print("The saved panel is still the best: no panel is more accurate beyond chance, or cheaper.")
    elif facts["p_value"] <= 0.05 and facts["difference"] < 0:
        print("The saved panel is more accurate than the new one beyond chance; keep it.")
    else:
        print(
            "The saved panel is not the best any more: the new one is more accurate, or as accurate and "
            "cheaper."
        )
