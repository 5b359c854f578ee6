"""How a saved panel stands beside a new one, and under a promise whether it keeps it."""

from enum import StrEnum

from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.figures import PanelFigures
from shortlist.panels.objectives import accuracy_scoring
from shortlist.panels.policy import Panel
from shortlist.panels.verdict import Verdict
from shortlist.results.intervals import Difference, by_case, sign_flip_p

CHEAPER = 0.01
"""Relative; a new panel that saves less is not worth the change."""


class Standing(StrEnum):
    """How a saved panel stands beside a new one."""

    BEATEN = "beaten"
    AS_GOOD = "as-good"
    BETTER = "better"
    OPEN = "open"
    """Neither: the new one is cheaper and the interval leaves open how much worse, or under a promise one
    answers more cases and the other is cheaper, or no dearer."""


class Kept(StrEnum):
    """Whether a panel keeps its promise on some cases."""

    KEPT = "kept"
    MISSED = "missed"
    """Fewer answers are right than promised, which may be chance."""
    BROKEN = "broken"
    """Beyond chance."""


def coverage_of(new: Panel, old: Panel, log: AnswerLog) -> Difference:
    """Return by how much more of the same cases a new panel answers."""
    gains = (new.run(log).codes >= 0).astype(float) - (old.run(log).codes >= 0)
    interval = accuracy_scoring(log).interval_of_gain(gains, log)
    return Difference(float(gains.mean()), interval, sign_flip_p(by_case(gains, log.groups)))


def kept_promise(of_answers: PanelFigures, accuracy: float) -> Kept:
    """Say whether a share of right answers is kept; no answer breaks none."""
    if not of_answers.answered or of_answers.accuracy >= accuracy:
        return Kept.KEPT
    return Kept.BROKEN if of_answers.accuracy_interval[1] < accuracy else Kept.MISSED


def standing(told: Verdict) -> Standing:
    """Say how a saved panel stands, the single one of the verdict, beside a new panel."""
    if not told.within_chance:
        return Standing.BEATEN if told.gain > 0 else Standing.BETTER
    if not is_cheaper(told):
        return Standing.AS_GOOD
    return Standing.BEATEN if told.least_gain >= -told.margin else Standing.OPEN


def promised_standing(told: Verdict, coverage: Difference, kept: Kept, *, is_promised: bool) -> Standing:
    """Say how a saved panel stands under a promise, by the cases answered and the price.

    Shares of right answers are not compared, since the two answer different cases. `is_promised`: whether
    the new panel makes the promise; it takes no place if it does not.
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
    """Whether a new panel is cheaper than the saved one by what is worth the change."""
    return told.panel_figures.price < (1 - CHEAPER) * told.single_figures.price
