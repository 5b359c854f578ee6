"""What a panel does in sentences: whom it asks, how answers are combined, and what becomes of the rest."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._words import all_of
from shortlist.panels.decisions import Heard, ScoreTable
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.policy import ANSWER, HAND_OVER, Panel, Stage
from shortlist.panels.router import columns_of


def stages_in_words(panel: Panel) -> str:
    """Say in a few words who is asked, such as ``small, then large and other, then a person``."""
    ways = panel.ways[1:] if panel.router is not None else panel.ways
    person = ["a person"] * (panel.final.kind == HAND_OVER)
    told = [
        ", then ".join([all_of(_names(panel, stage)) + _changed(panel, stage) for stage in stages] + person)
        for stages in ways
    ]
    if panel.router is None:
        return told[0]
    return f"by {all_of(columns_of(panel.router))}: {' | '.join(told)}"


def _names(panel: Panel, stage: Stage) -> list[str]:
    return [panel.judges[judge] for judge in stage.asks] or ["nobody"]


def _changed(panel: Panel, stage: Stage) -> str:
    """Say it where one judge decides, and learned scores may answer otherwise than it does."""
    decision = stage.decision
    if not isinstance(decision, ScoreTable) or len(decision.judges) != 1:
        return ""
    curve, k = panel.scale.curves[decision.judges[0]], decision.n_classes
    ends = [0.0] if curve is None else [*curve.values, curve.usual]  # scores are linear between the ends
    words = np.repeat(np.arange(k), 2)[:, None]
    confidence = np.tile([min(ends), max(ends)], k)[:, None]
    says = decision.decide(Heard(words, confidence, k)).codes
    return "" if (says == words[:, 0]).all() else ", with answers re-weighed by the learned scores"


def in_words(
    stages: Sequence[Mapping[str, Any]], router: Mapping[str, Any] | None, panel: Panel, left: float
) -> list[str]:
    """Say in sentences whom a panel asks, and how many cases each stage answers."""
    said = []
    if router is not None:
        said.append(f"By {all_of(router['columns'])} a case goes one of these ways before anybody is asked.")
        for branch in router["branches"]:
            said.append(f"Where {branch['when']} ({_percent(branch['share'])} of the cases):")
            said += [_stage_sentence(stage) for stage in branch["stages"]]
        said.append(f"Where a value is missing or unknown ({_percent(router['unrouted'])} of the cases):")
    said += [_stage_sentence(stage) for stage in stages]
    final = panel.final
    every = [*stages, *(one for branch in (router or {}).get("branches", ()) for one in branch["stages"])]
    said += _combined(every)
    if any(_changed(panel, stage) for way in panel.ways for stage in way):
        said.append("Where one judge decides alone, its answers are re-weighed by the learned scores.")
    if final.kind == HAND_OVER:
        others = f"the other {_percent(left)}" if left else "a case that nobody answers"
        said.append(f"A person decides about {others}, for {final.price:.4g} each, and counts as right.")
    elif left:
        why = _why_unanswered(panel, every) if final.kind == ANSWER else ""
        said.append(f"The other {_percent(left)} get no answer{why}.")
    return said


def _why_unanswered(panel: Panel, stages: Sequence[Mapping[str, Any]]) -> str:
    """Say why a panel that answers whatever it decides leaves cases without an answer."""
    what = "a class" if panel.classes else "an answer"
    equal = "classes were equal" if panel.classes else "answers were given equally often"
    if any(one["decides"] == "majority" for one in stages):
        equal = "none had more than half of the votes"
    return f", where nobody gave {what} or {equal}"


COMBINED = {
    AGREEMENT: "agreement: what two judges agree on, or else what the judge asked last says",
    "plurality": "votes, where the most votes win",
    "majority": "votes, where more than half of them win",
    "logistic": "logistic regression",
    "dawid-skene": "the model of Dawid and Skene",
}


def _combined(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how answers are combined, where there are several."""
    rules = dict.fromkeys(COMBINED[one["decides"]] for one in stages if one["decides"] in COMBINED)
    if len({name for one in stages for name in one["asks"]}) < 2:
        return []
    return [f"The answers so far are combined by {all_of(rules)}."]


def _stage_sentence(stage: Mapping[str, Any]) -> str:
    ends = f"that answers {_percent(stage['answered'])} of the cases."
    if stage["votes"] is not None:
        ends += f" Votes: {all_of(f'{name} {votes}' for name, votes in stage['votes'].items())}."
    if not stage["asks"]:
        return f"Answer {stage['answers']} without asking anybody: {ends}"
    begin = "Ask" if stage["number"] == 1 else "Then ask"
    once = " at once" if len(stage["asks"]) > 1 else ""
    waits = "" if stage["seconds"] is None else f"{stage['seconds']:.3g} s"
    price = f"{stage['price']:.4g} a case" if stage["price"] else ""
    amounts = ", ".join(filter(None, (price, waits)))
    return f"{begin} {all_of(stage['asks'])}{once}{f' ({amounts})' if amounts else ''}: {ends}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
