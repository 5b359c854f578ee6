"""Panel as a protocol for pen and paper: the judges to ask, how to count, and the answer."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from shortlist._words import all_of
from shortlist.export.protocol_scores import START, plain, score_limit
from shortlist.export.protocols import Amount, Line, Protocol, Route, Rule, Step, Wording
from shortlist.panels.decisions import (
    COUNTED,
    FIRST,
    LATEST,
    MAJORITY,
    JudgesDecision,
    JudgeVotes,
    LatestAnswer,
    ScoreTable,
)
from shortlist.panels.policy import ANSWER, HAND_OVER, NEVER, Final, Panel, Stage
from shortlist.panels.router import Alone
from shortlist.panels.words import NO_JUDGE

if TYPE_CHECKING:
    from shortlist.panels.facts import Way

DIGITS = 6
"""Number of significant digits of a printed number."""
MOST_COLUMNS = 12
"""Largest number of classes whose scores are printed; with more classes the policy file has to answer."""
NO_ANSWER = "(no answer)"
BEGINNING = (
    "Begin with step 1. Ask all judges of a step at once; then answer or go on as the step says. Answers of "
    "earlier steps count in later ones."
)
GAPS = (
    "A missing answer, a failed call and a word that is no class have no vote. A step does not answer if no "
    "judge has answered so far, or if two classes are tied."
)
SCORED_GAPS = (
    "A missing answer, a failed call and a word that is no class count as (no answer). A step does not "
    "answer if no judge has answered so far, or if two classes are tied."
)
OPEN_GAPS = (
    "A missing answer and a failed call have no vote. Answers are the same if all letters are, but for white "
    "space around them, or if they are the same number. A step does not answer if no judge has answered so "
    "far, or if two answers are tied."
)

CONFIDENCE_GAPS = (
    "A failed call counts as no answer. Where a confidence is asked for, a missing one is not enough. Where "
    "the judge of the last step gives no answer, the latest one of an earlier step counts."
)


def panel_protocol(panel: Panel, *, target: str = "a panel", ways: Sequence["Way"] | None = None) -> Protocol:
    """Return a panel as a protocol.

    `target`: name of the answer, for the title. `ways`: shares of the cases on record, for each way that a
    case may take.
    """
    conditions = {0: "a value is missing or unknown"} | (panel.router.conditions() if panel.router else {})
    order = [*range(1, len(panel.ways)), 0]
    steps, routes = list[Step](), list[Route]()
    for way in order:
        first = len(steps) + 1
        for place in range(len(panel.ways[way])):
            share = None if ways is None else ways[way].answered[place]
            steps.append(_step(panel, panel.ways[way], place, first, share))
        routes.append(
            Route(
                plain(conditions.get(way, "never")),
                first,
                len(steps),
                None if ways is None else ways[way].share,
            )
        )
    checked = "Votes are counted, and nothing is rounded."
    if _by_confidence(panel):
        checked = f"Thresholds of confidence have {DIGITS} significant digits."
    if any(step.sums for step in steps):
        checked = f"Scores have {DIGITS} significant digits."
    elif any(step.classifier for step in steps):
        checked = "No score can be added up by hand; the policy file answers."
    promise = panel.promise or "Nothing is promised about new cases."
    routed = tuple(routes) if panel.router is not None else ()
    return Protocol(
        plain(target), tuple(steps), promise, checked, DIGITS, 0, 0, _wording(panel), routes=routed
    )


def _step(panel: Panel, stages: tuple[Stage, ...], place: int, first: int, share: float | None) -> Step:
    """Return one step of a way; `first` is the number of the first step of the way."""
    stage, score = stages[place], _score(panel, stages[place].decision)
    is_last = place == len(stages) - 1
    codes = [stage.decision.code] if isinstance(stage.decision, Alone) else range(len(panel.classes) or 1)
    rules = tuple(
        _rule(panel, stage, code, score, always=is_last and panel.final.kind == ANSWER) for code in codes
    )
    if len(rules) > 1 and not score.sums and len({rule[1:] for rule in rules}) == 1:
        rules = (rules[0]._replace(answer="a class"),)
    return Step(
        first + place,
        tuple(plain(panel.judges[judge]) for judge in stage.asks) or (NO_JUDGE,),
        tuple(_amounts(panel, stages[: place + 1])),
        score.sums,
        score.lines,
        score.classifier,
        rules,
        share,
    )


def _by_confidence(panel: Panel) -> bool:
    return any(isinstance(stage.decision, LatestAnswer) for stages in panel.ways for stage in stages)


def _amounts(panel: Panel, stages: tuple[Stage, ...]) -> Iterator[Amount]:
    """Yield the price of the last of `stages` in money and, if known for all its judges, in time."""
    asks = [stage.asks for stage in stages]
    prices = [sum(panel.prices[judge] for judge in judges) for judges in asks]
    seconds = [max((panel.latencies[judge] for judge in judges), default=0.0) for judges in asks]
    yield Amount("price", f"{prices[-1]:.6g}", f"{sum(prices):.6g}")
    if not any(map(math.isnan, panel.latencies)):
        yield Amount("seconds", f"{seconds[-1]:.6g}", f"{sum(seconds):.6g}")


def final_words(final: Final) -> str:
    """Return a sentence on a case that no stage answers."""
    if final.kind == HAND_OVER:
        return f"A person decides, for {final.price:.6g}"
    return "No answer is given"


def _wording(panel: Panel) -> Wording:
    last = final_words(panel.final)
    end = (
        f"{last}, about a case that no step answers."
        if panel.final.kind == HAND_OVER
        else f"{last} about a case that no step answers."
    )
    is_scored = any(isinstance(stage.decision, ScoreTable) for stages in panel.ways for stage in stages)
    gaps = (SCORED_GAPS if is_scored else GAPS) if panel.classes else OPEN_GAPS
    if _by_confidence(panel):
        gaps = CONFIDENCE_GAPS
    if any(getattr(stage.decision, "ties", "") == FIRST for stages in panel.ways for stage in stages):
        gaps = GAPS.replace(", or if two classes are tied", "")
        gaps += f" The list of classes is {all_of(map(plain, panel.classes), most=8)}."
    if panel.folds_case:
        gaps += " Capital letters make no difference."
    if panel.folds_punctuation:
        gaps += " Punctuation, quotes and blanks around an answer make no difference."
    beginning = BEGINNING if panel.router is None else f"Begin as listed here. {BEGINNING.split('. ', 1)[1]}"
    return Wording("ask", beginning, last, end, gaps, "policy file")


class _Score(NamedTuple):
    """Sums that are added at a step, if they can be added by hand."""

    sums: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    classifier: str = ""


def _score(panel: Panel, decision: JudgesDecision) -> _Score:
    if not isinstance(decision, ScoreTable):
        return _Score()
    classes = tuple(map(plain, panel.classes))
    if any(panel.scale.told[judge] for judge in decision.judges) or len(classes) > MOST_COLUMNS:
        return _Score(classifier=f"{decision.rule} model")
    table = decision.plain()
    lines = [Line(START, "", _adds(table["bias"]))]
    for judge, rows in zip(decision.judges, table["labels"], strict=True):
        name = plain(panel.judges[judge])
        for word, row in zip([*classes, NO_ANSWER], rows, strict=True):
            lines.append(Line(name, word, _adds(row)))
    return _Score(("score",) if len(classes) == 2 else classes, tuple(lines))


def _adds(scores: Sequence[float]) -> tuple[str, ...]:
    """Return the numbers to add, in digits; with two classes the second score minus the first."""
    numbers = [scores[1] - scores[0]] if len(scores) == 2 else scores
    return tuple(f"{number:.{DIGITS}g}" for number in numbers)


def _rule(panel: Panel, stage: Stage, code: int, score: _Score, *, always: bool) -> Rule:
    answer = plain(panel.classes[code]) if panel.classes else "what was said"
    least = 0.0 if always else stage.answer_from
    if isinstance(stage.decision, Alone):
        return Rule(answer, "the case goes this way", "")
    if isinstance(stage.decision, JudgeVotes | LatestAnswer):
        return Rule(answer, _votes_condition(panel, stage, least), "")
    probability = "" if least > 1 else f"{least:.{DIGITS}g}"
    limit = score_limit(least, len(panel.classes)) if least > 0 else 0.0
    if not probability or limit == math.inf:
        return Rule(answer, "", "")
    if score.classifier:
        from_ = f", with {probability} at least" if least > 0 else ""
        return Rule(answer, f"the model finds it most probable{from_}", probability if least > 0 else "")
    if len(panel.classes) == 2:
        number = f"{limit:.{DIGITS}g}"
        beyond = ("below 0" if code == 0 else "above 0") if not limit else ""
        ends = f"at least {number}" if code == 1 else f"at most -{number}"
        return Rule(answer, f"the score is {beyond or ends}", probability if limit else "")
    total = f" and the total is at most {limit:.{DIGITS}g}" if limit else ""
    return Rule(answer, f"its sum is the largest{total}", probability if limit else "")


def _confidence_condition(panel: Panel, latest: LatestAnswer, least: float) -> str:
    judge = latest.judges[-1]
    if least == NEVER:
        return ""
    name, told = plain(panel.judges[judge]), panel.scale.told_as(judge, least)
    sure = f" with a confidence of at least {told:.{DIGITS}g}" if least > 0 else ""
    return f"{name} says so{sure}"


def _votes_condition(panel: Panel, stage: Stage, least: float) -> str:
    votes = stage.decision
    if isinstance(votes, LatestAnswer):
        return _confidence_condition(panel, votes, least)
    assert isinstance(votes, JudgeVotes)
    if least == NEVER or not any(votes.votes):
        return ""
    if len(votes.judges) == 1:
        return f"{plain(panel.judges[votes.judges[0]])} says so"
    if votes.ties == LATEST:
        return _agreement_condition(panel, votes, least)
    all_votes = f"all {sum(votes.votes)} votes" if votes.missing == COUNTED else "the votes cast"
    needs = ["more votes than any other"]
    if votes.ties == FIRST:
        needs = ["more votes than any class before it in the list, and no fewer than any other"]
    if votes.rule == MAJORITY:
        needs.append(f"more than half of {all_votes}")
    if least > (0.5 if votes.rule == MAJORITY else 0):
        needs.append(f"at least {_least_votes(votes, least)} of {all_votes}")
    told = "" if {*votes.votes} == {1} else f" ({_weights(panel, votes)})"
    return f"it has {' and '.join(needs)}{told}"


def _agreement_condition(panel: Panel, votes: JudgeVotes, least: float) -> str:
    names, n_agreeing = (
        all_of(plain(panel.judges[judge]) for judge in votes.judges),
        _least_votes(votes, least),
    )
    if least <= 1 / len(votes.judges):
        return f"it has the most votes, and among equal ones was given last, in the order {names}"
    if len(votes.judges) == 2:
        return f"both {names} say so"
    return f"{n_agreeing} of {names} say so"


def _least_votes(votes: JudgeVotes, least: float) -> str:
    """Return the least votes in words: a number if all votes count, or else a percentage, not rounded up."""
    total = sum(votes.votes)
    if votes.missing == COUNTED:
        enough = (n for n in range(total + 1) if n / max(1, total) >= least)
        return f"{next(enough, total + 1)}"
    return f"{math.floor(1e4 * least) / 1e2:.4g} %"


def _weights(panel: Panel, votes: JudgeVotes) -> str:
    pairs = zip(votes.judges, votes.votes, strict=False)
    return all_of(f"{plain(panel.judges[judge])} has {n}" for judge, n in pairs)
