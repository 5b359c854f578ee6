"""Verdict on a choice against the simplest alternative, in three words, and the sentence of the verdict.

*Better*: the interval of the difference excludes zero. *As good*: the choice is worse by at most the margin,
and cheaper, smaller, or favoured by the estimate if nothing has a price. *Undecided*: any other difference.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shortlist.results.intervals import MARGIN, Difference


class Word(StrEnum):
    """Verdict on two rules."""

    BETTER = "better"
    AS_GOOD = "as-good"
    UNDECIDED = "undecided"
    ALONE = "alone"
    """The choice is the alternative itself."""
    UNRIVALLED = "unrivalled"
    """No alternative keeps the limits."""


@dataclass(frozen=True)
class RuleVerdict:
    """Recommended rule, and the certainty of the recommendation."""

    word: Word
    takes_first: bool
    """Whether the first rule is recommended."""
    because: str = ""
    """Reason besides the difference: ``cheaper``, ``smaller``, ``favoured`` or ``usual``; else empty."""


def decide(
    difference: Difference,
    *,
    spent: tuple[float, float],
    priced: bool,
    margin: float = MARGIN,
    leans: bool = False,
) -> RuleVerdict:
    """Return the verdict on two rules.

    A smaller single classifier is not recommended if the estimate favours the committee and nothing has a
    price.

    `difference`: first rule minus second rule. `spent`: price per row of each rule, or number of members
    asked if nothing has a price. `priced`: whether `spent` are prices. `margin`: margin in the objective
    within which a worse value counts as good. `leans`: whether the first rule is recommended in an undecided
    case without prices, whatever the estimate; in such a case a committee of a pool is more often the better
    rule (decision 149).

    >>> told = Difference(0.013, (0.007, 0.02), 0.001)
    >>> decide(told, spent=(3.4, 1.0), priced=False).word.value
    'better'
    >>> told = Difference(-0.001, (-0.006, 0.004), 0.7)
    >>> decide(told, spent=(3.4, 1.0), priced=False)
    RuleVerdict(word=<Word.AS_GOOD: 'as-good'>, takes_first=False, because='smaller')
    """
    low, high = difference.interval
    if not difference.within_chance and (low > 0 or high < 0):
        return RuleVerdict(Word.BETTER, low > 0)
    gain = difference.gain
    within = (low >= -margin, high <= margin)  # whether the first, and the second, is no worse by the margin
    cheaper = spent[0] < spent[1] if spent[0] != spent[1] else None
    less = "cheaper" if priced else "smaller"
    if cheaper is not None and within[not cheaper] and (priced or (gain >= 0 if cheaper else gain <= 0)):
        return RuleVerdict(Word.AS_GOOD, cheaper, less)
    favoured = gain > 0 or (gain == 0 and bool(cheaper))
    if not priced and within[not favoured]:
        return RuleVerdict(Word.AS_GOOD, favoured, "favoured")
    if leans and not priced and not favoured:
        return RuleVerdict(Word.UNDECIDED, True, "usual")
    return RuleVerdict(Word.UNDECIDED, favoured, "favoured" if gain else less)


def sentence(
    verdict: RuleVerdict,
    names: tuple[str, str],
    told: str,
    *,
    verb: str = "Use",
    margin: str = "a point",
    costs: str = "",
    more: str = "",
) -> str:
    """Return the first line: the recommended rule, and the reason.

    An undecided verdict without a reason recommends the rule that needs no evidence.

    `names`: names of the first rule and the alternative. `told`: the difference with its interval. `margin`:
    the margin in words. `costs`: cost of the rejected rule in words, for an undecided verdict. `more`: number
    of further rows that decide.

    >>> names = ("the committee of 5", "tree-1 alone")
    >>> sentence(RuleVerdict(Word.BETTER, True), names, "+1.3 points (0.7 to 2)")
    'Better: use the committee of 5, +1.3 points (0.7 to 2) beside tree-1 alone.'
    """
    use, other = names if verdict.takes_first else names[::-1]
    start = f"{verb.lower()} {use}"
    match verdict.word:
        case Word.ALONE:
            return f"{verb} {use}: no other member was chosen."
        case Word.UNRIVALLED:
            return f"{verb} {use}: no single one keeps the limit on cost."
        case Word.BETTER:
            return f"Better: {start}, {told} beside {other}."
        case Word.AS_GOOD:
            why = "the estimate favours it" if verdict.because == "favoured" else verdict.because
            return f"As good: {start}, no worse than {other} by more than {margin}, and {why}."
    if not verdict.because:
        return f"Undecided: {start}, {told} beside {other}{costs}: too few cases to tell them apart{more}."
    why = UNDECIDED.get(verdict.because, f"which is {verdict.because}")
    return f"Undecided: {start}, {why}, {told} beside {other}{costs}{more}."


UNDECIDED = {
    "favoured": "which the estimate favours",
    "usual": "which is more often the better one on new rows",
}
"""Reasons for recommending a rule in an undecided case."""


def other_cost(spent: tuple[float, float], verdict: RuleVerdict, *, priced: bool) -> str:
    """Return the price per row of the rejected rule in words, if it is lower; else empty.

    >>> other_cost((3.4, 1.0), RuleVerdict(Word.UNDECIDED, True), priced=True)
    ', which costs 1 in place of 3.4'
    """
    use, other = spent if verdict.takes_first else spent[::-1]
    if other >= use:
        return ""
    return f", which costs {other:.4g} in place of {use:.4g}" if priced else f", which asks {other:.3g}"


def margin_in_words(margin: float, *, of_shares: bool) -> str:
    """Return the margin in words; `of_shares`: whether it is in points, else in the objective's unit.

    >>> margin_in_words(0.01, of_shares=True), margin_in_words(0.025, of_shares=True)
    ('a point', '2.5 points')
    """
    if not of_shares:
        return f"{margin:g} a case"
    return "a point" if margin == MARGIN else f"{100 * margin:g} points"


def verdict_facts(verdict: RuleVerdict) -> dict[str, Any]:
    """Return plain data for JSON."""
    return {"verdict": verdict.word.value, "because": verdict.because or None}
