"""Comparison of a saved panel with a new panel, by figures and promise, and the facts on both panels."""

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.figures import PanelFigures, figures
from shortlist.panels.objectives import ACCURACY, accuracy_scoring
from shortlist.panels.panel_choice import PanelChoice, best_single, single_panel
from shortlist.panels.policy import Panel
from shortlist.panels.verdict import (
    Verdict,
    compared,
    decide_alike,
    difference_in_words,
    measured_panel,
    promised_share,
    rechosen,
    verdict,
)
from shortlist.panels.words import stages_in_words
from shortlist.results.intervals import MARGIN, Difference, by_case, sign_flip_p
from shortlist.results.objective import Limit, read_limit
from shortlist.results.verdicts import RuleVerdict, Word, decide, verdict_facts

NEW, SINGLE = "new", "single"
"""Rules to use in place of a saved panel: the new panel, or a single judge."""
CHEAPER = 0.01
"""Least relative saving for which a new panel is worth the change."""


class Standing(StrEnum):
    """Result of the comparison of a saved panel with a new panel."""

    BEATEN = "beaten"
    AS_GOOD = "as-good"
    BETTER = "better"
    OPEN = "open"
    """Undecided.

    The new panel is cheaper, and the interval does not exclude that the new panel is worse. Under a promise,
    one panel answers more cases beyond chance, and price speaks for the other panel.
    """


class Kept(StrEnum):
    """Evidence on whether a panel keeps its promise on some cases."""

    KEPT = "kept"
    MISSED = "missed"
    """Fewer answers are right than promised, perhaps by chance."""
    BROKEN = "broken"
    """Fewer answers are right than promised, beyond chance."""


PROMISED_RULES = {
    Standing.BEATEN: RuleVerdict(Word.BETTER, takes_first=True),
    Standing.BETTER: RuleVerdict(Word.BETTER, takes_first=False),
    Standing.AS_GOOD: RuleVerdict(Word.AS_GOOD, takes_first=False),
    Standing.OPEN: RuleVerdict(Word.UNDECIDED, takes_first=False),
}
"""Verdict for each standing under a promise, by the cases answered and the price."""


def coverage_of(new: Panel, old: Panel, log: AnswerLog) -> Difference:
    """Return the share of cases that a new panel answers, minus the share that an old panel answers."""
    gains = (new.run(log).codes >= 0).astype(float) - (old.run(log).codes >= 0)
    interval = accuracy_scoring(log).interval_of_gain(gains, log)
    return Difference(float(gains.mean()), interval, sign_flip_p(by_case(gains, log.groups)))


def kept_promise(of_answers: PanelFigures, accuracy: float) -> Kept:
    """Return whether a promised share of right answers is kept; without any answer it counts as kept."""
    if not of_answers.answered or of_answers.accuracy >= accuracy:
        return Kept.KEPT
    return Kept.BROKEN if of_answers.accuracy_interval[1] < accuracy else Kept.MISSED


def rule_of(told: Verdict) -> RuleVerdict:
    """Return the policy to use: the new or a saved panel, or the single judge of the verdict.

    Nearly equal prices count as equal. If the comparison is undecided, the saved panel stays.
    """
    spent = (told.panel_figures.price, told.single_figures.price)
    if spent[0] < spent[1] and not is_cheaper(told):
        spent = (spent[1], spent[1])
    rule = decide(told.gained, spent=spent, priced=True, margin=told.margin)
    return rule if rule.word is not Word.UNDECIDED else RuleVerdict(Word.UNDECIDED, takes_first=False)


def standing(told: Verdict) -> Standing:
    """Return the standing of a saved panel (the verdict's single policy) against a new panel."""
    rule = rule_of(told)
    if rule.takes_first:
        return Standing.BEATEN
    if rule.word is Word.BETTER:
        return Standing.BETTER
    return Standing.OPEN if rule.word is Word.UNDECIDED and is_cheaper(told) else Standing.AS_GOOD


def promised_standing(told: Verdict, coverage: Difference, kept: Kept, *, is_promised: bool) -> Standing:
    """Return the standing of a saved panel under a promise, by the cases answered and the price.

    Shares of right answers are not compared, since the two panels answer different cases. `is_promised`:
    whether the new panel makes the promise; a new panel without the promise does not replace the saved panel.
    """
    if not is_promised:
        return Standing.OPEN if kept is Kept.BROKEN else Standing.AS_GOOD
    if kept is Kept.BROKEN:
        return Standing.BEATEN
    if coverage.within_chance:
        return Standing.BEATEN if is_cheaper(told) else Standing.AS_GOOD
    if coverage.gain > 0:
        return Standing.BEATEN if is_cheaper(told) else Standing.OPEN
    return Standing.OPEN if is_cheaper(told) else Standing.BETTER


def is_cheaper(told: Verdict) -> bool:
    """Return whether a new panel is cheaper than the saved panel by enough to be worth the change."""
    return told.panel_figures.price < (1 - CHEAPER) * told.single_figures.price


def compared_facts(
    choice: PanelChoice,
    old: Panel,
    known: AnswerLog,
    beside: tuple[int, float | None, Sequence[Limit]],
    *,
    margin: float = MARGIN,
) -> dict[str, Any]:
    """Return the facts on a saved panel: on all new cases, and against a new panel and the best judge.

    `known`: all cases of known truth. `beside`: point of the new panel, with the promise of the saved panel
    if any; largest price of a case in the search for the new panel; all other limits. `margin`: largest
    difference in the objective at which a new panel that is worse counts as equally good.
    """
    point, most, others = beside
    new, log, scoring = choice.panel(point), choice.test, choice.scoring(choice.test)
    limits = [*others, *([] if most is None else [read_limit(f"price<={most!r}")])]
    beside_single = verdict(choice, measured_panel(choice, point), limits=limits, margin=margin)
    promised = promised_share(choice, new) if scoring.objective == ACCURACY else None
    against, rival, measured = SINGLE, *_single_beside(choice, limits)
    if choice.guarantees or beside_single.rule.takes_first:
        against, rival, measured = NEW, new, measured_panel(choice, point)
    if decide_alike(rival, old) or _act_alike(rival, old, log):
        measured = rival  # chosen again without a part of the cases it would be another one
    told = compared("the saved panel", old, measured, log, scoring, promised=promised)
    told = replace(told, margin=margin)
    of_new = told.panel_figures
    if against != NEW:
        of_new = compared("", old, measured_panel(choice, point), log, scoring).panel_figures
    found, share, kept, rule = standing(told), None if promised is None else 0.0, None, rule_of(told)
    of_all = None if known.is_open else choice.scoring(known)  # free text is right or wrong
    every = figures(old, known, of_all, promised=share)
    difference, interval, p = told.difference, told.difference_interval, told.p_value
    words, of_what = difference_in_words(told), scoring.objective
    first = words if rule.takes_first else difference_in_words(told, turned=True)
    if old.question is not None and old.question.promise is not None:
        kept = kept_promise(figures(old, known, promised=0.0), old.question.promise[0])
    if promised is not None:
        coverage, of_what = coverage_of(new, old, log), "answered"
        difference, interval, p = coverage.gain, coverage.interval, coverage.p_value
        words = first = coverage.in_points("share answered")
        is_promised = choice.guarantees[point].promised
        found = promised_standing(told, coverage, kept or Kept.KEPT, is_promised=is_promised)
        rule = PROMISED_RULES[found]
    return {
        "saved_on_all": dataclasses.asdict(every),
        "promise": _promise_facts(old, kept),
        "saved": {"asks": stages_in_words(old), **dataclasses.asdict(told.single_figures)},
        "new": {
            "asks": stages_in_words(new), "point": point,
            "promised": choice.guarantees[point].promised if choice.guarantees else None,
            **dataclasses.asdict(of_new),
        },
        "single": {
            "name": beside_single.single, "is_best": beside_single.is_best,
            **dataclasses.asdict(beside_single.single_figures),
        },
        **verdict_facts(rule),
        "take": against if rule.takes_first else "saved",
        "against": against,
        "first_in_words": first,
        "new_beside_single": beside_single.sentence("the new panel"),
        "n_parts": len(choice.parts),
        "at_most": most,
        "limits": [str(limit) for limit in others],
        "prices_changed": _prices_changed(old, log),
        "difference_of": of_what,
        "difference": difference,
        "difference_interval": list(interval),
        "difference_in_words": words,
        "p_value": p,
        "cheaper": is_cheaper(told),
        "margin": margin,
        "same": decide_alike(new, old),
        "alike": _act_alike(new, old, known),
        "standing": found.value,
        "still_best": found is not Standing.BEATEN,
    }  # fmt: skip


def _single_beside(choice: PanelChoice, limits: Sequence[Limit]) -> tuple[Panel, Panel]:
    """Return the best single judge within limits as a panel, and the panel that measures this judge."""
    alone = single_panel(choice, best_single(choice, limits))
    return alone, rechosen(choice, alone, lambda part: single_panel(part, best_single(part, limits)))


def _act_alike(one: Panel, other: Panel, log: AnswerLog) -> bool:
    """Return whether two panels, on each case of a log, ask the same judges and end with the same outcome."""
    if stages_in_words(one) != stages_in_words(other):
        return False
    first, second = one.run(log), other.run(log)
    parts = ("codes", "stage", "price", "handed_over")
    return all(np.array_equal(getattr(first, part), getattr(second, part)) for part in parts)


CHANGED = 0.1
"""Relative difference of prices; a smaller difference only reflects that the cases are others."""


def _prices_changed(old: Panel, log: AnswerLog) -> dict[str, list[float]]:
    now = log.prices.mean(axis=0)[[log.judges.index(name) for name in old.judges]]
    pairs = zip(old.judges, old.prices, now.tolist(), strict=True)
    return {name: [one, price] for name, one, price in pairs if abs(price - one) > CHANGED * max(price, one)}


def _promise_facts(old: Panel, kept: Kept | None) -> dict[str, Any] | None:
    if kept is None or old.question is None or old.question.promise is None:
        return None
    accuracy, level = old.question.promise
    return {"accuracy": accuracy, "confidence_level": level, "kept": kept.value}
