"""What is printed of panels."""

import dataclasses
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from shortlist._words import counted
from shortlist.cli.text.front_text import contract
from shortlist.cli.text.screen import WIDTH, print_lines
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.budgets import budgets_title
from shortlist.panels.choice import PanelChoice
from shortlist.panels.facts import PanelReport, measured_in_words, panel_facts
from shortlist.panels.figures import figures
from shortlist.panels.losses import scoring_of
from shortlist.panels.panel_options import ACCURACY, BALANCED
from shortlist.panels.policy import Panel
from shortlist.panels.recipes import bound_at
from shortlist.panels.shapes import shape_of
from shortlist.panels.single_judges import best_single, single_panel, surest
from shortlist.panels.standing import (
    Kept,
    Standing,
    coverage_of,
    is_cheaper,
    kept_promise,
    promised_standing,
    standing,
)
from shortlist.panels.two_errors import recall_and_specificity
from shortlist.panels.verdict import compared, difference_in_words, promised_share
from shortlist.panels.words import stages_in_words
from shortlist.results.objective import read_limit
from shortlist.results.proof import ProofKind
from shortlist.results.told import CHANCE, MARGIN

MOST_ROWS = 12
MOST_SENTENCES = 4
"""Sentences at most about whom to ask; --details has all."""
LIMIT_BROKEN = "The limit "
MOST_LETTERS = 100
"""Of who is asked for a budget; the page has all."""


def chosen_panel_facts(choice: PanelChoice, told: PanelReport) -> dict[str, Any]:
    """Return the JSON of a chosen panel."""
    return (
        contract(choice.front, "panel")
        | panel_facts(told)
        | {
            "claims": all_claims(choice, told),
            "bound": bound_of(choice, told),
            "n_chosen": len(choice.chosen.truth),
            "n_test": 0 if choice.parts else len(choice.test.truth),
            "n_calibration": 0 if choice.calibration is None else len(choice.calibration.truth),
        }
    )


def bound_of(choice: PanelChoice, told: PanelReport) -> float:
    """Return what share of the training cases a panel may get right at the price of this one."""
    return bound_at(choice.cases, told.price * choice.steps)


def all_claims(choice: PanelChoice, told: PanelReport) -> list[str]:
    """Say what was searched, and what no panel exceeds at the price of this one, if that says anything."""
    bound = bound_of(choice, told)
    if bound == 1:
        return list(choice.claims)
    return [
        *choice.claims,
        (
            f"No panel that answers as one of the judges that it asks is right about more than "
            f"{100 * bound:.1f} % of the training cases"
            f"{f', at {told.price:.4g} a case' if told.price else ''}."
        ),
    ]


def print_panel(choice: PanelChoice, told: PanelReport, *, details: bool = False) -> None:
    """Print whom to ask and how good that is; with details all that is known."""
    facts = panel_facts(told)
    head = [facts["advice"]] if facts["advice"] else []
    if told.point is None:
        head.append(f"Ask {facts['single']['name']} alone, a single judge of {len(choice.chosen.judges):,}:")
    else:
        head.append(f"Panel {told.point} of {len(choice.found):,} on the front:")
    asks = facts["in_words"] if details else _shortened(facts["in_words"])
    measured = _measured_lines(facts)
    said = facts["verdict"] if details else _first_sentences(told, facts)
    print_lines([*head, *(f"  {one}" for one in asks), "", *measured, "", *said])
    if not details:
        print_lines([_proof_line(choice)])
        return
    _print_budgets(told, facts)
    print("\nWhat was searched:")
    for claim in all_claims(choice, told):
        print(f"  {claim}")


def _shortened(sentences: Sequence[str]) -> list[str]:
    """Return the first sentences, each in two lines at most."""
    kept = [shorten(one, 2 * WIDTH - 20, placeholder=" ...") for one in sentences[:MOST_SENTENCES]]
    left = len(sentences) - len(kept)
    return [*kept, f"... and {counted(left, 'more sentence')}: --details"] if left else kept


def _measured_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return what was measured, of the panel and of the best single judge beside it."""
    rechosen, errors, single = facts["single_rechosen"], facts["errors"] or {}, facts["single"]
    lines = [f"On {facts['measured_on']}: {measured_in_words(facts['held_out'], errors.get('panel'))}."]
    on_what = "" if rechosen is None else ", on the cases that chose it, which is optimistic"
    if facts["point"] is not None or rechosen is not None:
        alone = measured_in_words(single, errors.get("single"))
        lines.append(f"The {single['title']}, {single['name']}: {alone}{on_what}.")
    if rechosen is not None:
        lines.append(f"Single judges chosen in the same way: {measured_in_words(rechosen)}.")
    return lines


def _first_sentences(told: PanelReport, facts: Mapping[str, Any]) -> list[str]:
    """Return the verdict and the promise, without what else is told beside them."""
    own = {told.instead, told.verdict.sentence(), "" if told.guarantee is None else told.guarantee.sentence()}
    sentences = [one for one in facts["verdict"] if one in own or one.startswith(LIMIT_BROKEN)]
    return [shorten(one, 3 * WIDTH - 20, placeholder=" ...") for one in sentences]


def _proof_line(choice: PanelChoice) -> str:
    """Say in one line what is proved about the front."""
    is_complete = choice.front.proof.kind is ProofKind.COMPLETE
    told = "complete, every best trade-off is listed" if is_complete else "not all panels"
    late = f", until {choice.front.proof.limit}" if choice.front.proof.limit else ""
    shape = "for the promise" if choice.guarantees else f"as for {shape_of(choice.cases).name}"
    return f"Searched {shape}: {told}{late}. Budgets, chance and what was searched: --details."


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


def compared_facts(
    choice: PanelChoice,
    old: Panel,
    known: AnswerLog,
    point: int,
    most: float | None = None,
    *,
    margin: float = MARGIN,
) -> dict[str, Any]:
    """Return a saved panel on all new cases, and beside a new one and the best single judge on some of them.

    `known`: all cases of known truth. `point`: of the new panel, with the promise of the saved one, if it has
    one. `most`: up to which price of a case the new panel was looked for. `margin`: how much worse the new
    panel may be and still be as good.
    """
    new, log, scoring = choice.panel(point), choice.test, scoring_of(choice, choice.test)
    limits = [] if most is None else [read_limit(f"price<={most!r}")]
    judge = best_single(choice, limits)
    alone, promised = single_panel(choice, judge), None
    if choice.guarantees and scoring.objective == ACCURACY:
        promised = promised_share(choice, new)
        alone = surest(choice, judge, log, int((new.run(log).codes >= 0).sum()))
    told = compared("the saved panel", old, new, log, scoring, promised=promised)
    told = dataclasses.replace(told, margin=margin)
    positive = choice.cases.positive
    errors = {
        name: recall_and_specificity(one, log, positive)
        for name, one in (("saved", old), ("new", new), ("single", alone))
        if scoring.objective == BALANCED
    }
    found, share, kept = standing(told), None if promised is None else 0.0, None
    every = figures(old, known, promised=share)
    difference, interval, p = told.difference, told.difference_interval, told.p_value
    words, of_what = difference_in_words(told), scoring.objective
    if old.question is not None and old.question.promise is not None:
        kept = kept_promise(figures(old, known, promised=0.0), old.question.promise[0])
    if promised is not None:
        coverage, of_what = coverage_of(new, old, log), "answered"
        difference, interval, p = coverage.gain, coverage.interval, coverage.p_value
        words = coverage.in_points("share answered")
        is_promised = choice.guarantees[point].promised
        found = promised_standing(told, coverage, kept or Kept.KEPT, is_promised=is_promised)
    return contract(choice.front, "panel compare") | {
        "saved_on_all": dataclasses.asdict(every),
        "promise": _promise_facts(old, kept),
        "saved": {"asks": stages_in_words(old), **dataclasses.asdict(told.single_figures)},
        "new": {
            "asks": stages_in_words(new), "point": point,
            "promised": choice.guarantees[point].promised if choice.guarantees else None,
            **dataclasses.asdict(told.panel_figures),
        },
        "single": {
            "name": choice.chosen.judges[judge], "is_best": judge == best_single(choice),
            **dataclasses.asdict(figures(alone, log, scoring, promised=share)),
        },
        "errors": errors or None,
        "at_most": most,
        "difference_of": of_what,
        "difference": difference,
        "difference_interval": list(interval),
        "difference_in_words": words,
        "p_value": p,
        "cheaper": is_cheaper(told),
        "margin": margin,
        "standing": found.value,
        "still_best": found is not Standing.BEATEN,
    }  # fmt: skip


def _promise_facts(old: Panel, kept: Kept | None) -> dict[str, Any] | None:
    """Return whether a saved panel keeps its promise on all cases: as far as they tell."""
    if kept is None or old.question is None or old.question.promise is None:
        return None
    accuracy, level = old.question.promise
    return {"accuracy": accuracy, "confidence_level": level, "kept": kept.value}


KEPT_WORDS = {
    "kept": "Its promise is kept on these cases",
    "missed": "Fewer answers are right than it promises, which may be chance",
    "broken": "Its promise is broken, beyond chance",
}

STANDING_WORDS = {
    Standing.BETTER: "The saved panel is still the best: it is better than the new one beyond chance.",
    Standing.AS_GOOD: (
        "The saved panel is still the best: the new one is neither better beyond chance nor cheaper."
    ),
    Standing.BEATEN: "The saved panel is not the best any more: the new one is better beyond chance.",
    Standing.OPEN: "The new panel is cheaper; how much worse, these cases cannot tell.",
}
CHEAPER_WORDS = "The saved panel is not the best any more: the new one is cheaper, and as good."


def _standing_words(facts: Mapping[str, Any]) -> str:
    """Say how the saved panel stands."""
    found = Standing(facts["standing"])
    if facts["new"]["promised"] is False:
        return "No new panel can make the promise of the saved one on these cases."
    if facts["difference_of"] != "answered":
        is_chance = found is Standing.BEATEN and facts["p_value"] > CHANCE
        return CHEAPER_WORDS if is_chance else STANDING_WORDS[found]
    if found is Standing.BEATEN and facts["promise"]["kept"] == Kept.BROKEN:
        return "The saved panel is not the best any more: the new one makes the promise that it breaks."
    if found is Standing.OPEN and not facts["cheaper"]:
        return "The new panel answers more cases, beyond chance, and is not cheaper."
    return PROMISED_WORDS[found]


PROMISED_WORDS = {
    Standing.BETTER: (
        "The saved panel is still the best: it answers more cases, beyond chance, and the new one is not "
        "cheaper."
    ),
    Standing.AS_GOOD: (
        "The saved panel is still the best: the new one neither answers more cases beyond chance nor is "
        "cheaper."
    ),
    Standing.BEATEN: (
        "The saved panel is not the best any more: the new one makes the same promise, is cheaper, and "
        "does not answer fewer cases beyond chance."
    ),
    Standing.OPEN: "The new panel is cheaper, and answers fewer cases, beyond chance.",
}
"""Of panels with the same promise."""


def print_compared(facts: dict[str, Any], *, details: bool = False) -> None:
    """Print whether a saved panel is still the best, and whether it keeps its promise."""
    lines, promise = list[str](), facts["promise"]
    lines.append(_standing_words(facts))
    every = facts["saved_on_all"]
    if promise is not None and not every["answered"]:
        lines.append("The saved panel answers no case, so these cases do not test its promise.")
    elif promise is not None:
        share = f"{100 * promise['accuracy']:g} % of the answers to be right"
        lines.append(f"{KEPT_WORDS[promise['kept']]}: it promises {share}.")
    lines += ["", f"Saved panel, on all {every['n_cases']:,} cases: {measured_in_words(every)}."]
    judge = "Best single judge" + ("" if facts["single"]["is_best"] else " for no more")
    which = "calibration" if promise is not None else "hold-out"
    lines.append(f"On the {facts['new']['n_cases']:,} {which} cases:")
    for name, title in (("saved", "Saved panel"), ("new", "New panel"), ("single", judge)):
        one = facts[name]
        who = one.get("asks") or one["name"]
        who = who if details else shorten(who, MOST_LETTERS, placeholder=" ...")
        lines.append(f"  {title} ({who}): {measured_in_words(one, (facts['errors'] or {}).get(name))}.")
    if facts["at_most"]:
        lines.append(f"The new panel is the best found for at most {facts['at_most']:.4g} a case.")
    p = "" if "p = " in facts["difference_in_words"] else f", p = {facts['p_value']:.2g}"
    lines.append(f"New minus saved: {facts['difference_in_words']}{p}.")
    lines.append("If some of these cases chose the saved panel, it looks better than it is.")
    print_lines(lines)
