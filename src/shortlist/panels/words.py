"""A panel in sentences: which judges it asks, how it combines answers, what happens to other cases."""

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from shortlist._words import all_of
from shortlist.panels.decisions import BY_CONFIDENCE, Heard, ScoreTable
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
    different = [*dict.fromkeys(told)]
    left = len(different) - MOST_WAYS
    shown = different if left <= 1 else [*different[:MOST_WAYS], f"{left:,} more"]
    return f"by {all_of(columns_of(panel.router))}: {' | '.join(shown)}"


MOST_WAYS, MOST_LETTERS = 5, 150
"""Branches of a router that are told in sentences, and letters of the condition of each."""


def _names(panel: Panel, stage: Stage) -> list[str]:
    return [panel.judges[judge] for judge in stage.asks] or [NO_JUDGE]


NO_JUDGE = "no judge"
"""Who is asked in a branch that answers without any call."""


def _changed(panel: Panel, stage: Stage) -> str:
    """Say where one judge decides, but learned scores may overrule its answer."""
    decision = stage.decision
    if not isinstance(decision, ScoreTable) or len(decision.judges) != 1:
        return ""
    curve, k = panel.scale.curves[decision.judges[0]], decision.n_classes
    ends = [0.0] if curve is None else [*curve.values, curve.usual]  # scores are linear between the ends
    words = np.repeat(np.arange(k), 2)[:, None]
    confidence = np.tile([min(ends), max(ends)], k)[:, None]
    says = decision.decide(Heard(words, confidence, k)).codes
    return "" if (says == words[:, 0]).all() else " (re-weighed by learned scores)"


def in_words(
    stages: Sequence[Mapping[str, Any]], router: Mapping[str, Any] | None, panel: Panel, left: float
) -> list[str]:
    """Say in sentences which judges a panel asks, and what share of the cases each stage answers."""
    said = []
    if router is not None:
        said += _branch_sentences(router)
    said += [_stage_sentence(stage) for stage in stages]
    final = panel.final
    every = [*stages, *(one for branch in (router or {}).get("branches", ()) for one in branch["stages"])]
    said += _combined(every)
    if any(_changed(panel, stage) for way in panel.ways for stage in way):
        said.append(
            "Where one judge decides alone, learned scores re-weigh its answers and may overrule them."
        )
    if final.kind == HAND_OVER:
        others = f"the other {_percent(left)}" if left else "cases without an answer"
        said.append(f"A person decides about {others}, for {final.price:.4g} each, and counts as right.")
    elif left:
        why = _why_unanswered(panel, every) if final.kind == ANSWER else ""
        said.append(f"The other {_percent(left)} get no answer{why}.")
    return said


def _branch_sentences(router: Mapping[str, Any]) -> list[str]:
    """Say which way most cases go behind a router, the most frequent ways first."""
    branches = sorted(router["branches"], key=lambda branch: -branch["share"])
    said = [f"Before the first call, a case is routed by {all_of(router['columns'])}:"]
    for branch in branches[: MOST_WAYS + (len(branches) == MOST_WAYS + 1)]:
        stages = branch["stages"]
        asks = ", then ".join(f"ask {all_of(stage['asks'])}" for stage in stages if stage["asks"])
        asks = asks or f"answer {stages[0]['answers']!r} without any call"
        when = shorten(branch["when"], MOST_LETTERS, placeholder=" ...")
        end = "" if when.endswith(" ...") else "."
        said.append(f"{_percent(branch['share'])} of the cases: {asks}. These are where {when}{end}")
    rest = branches[MOST_WAYS:]
    if len(rest) > 1:
        share = _percent(sum(branch["share"] for branch in rest))
        said.append(f"{share} of the cases: {len(rest):,} more branches, which the page lists.")
    said.append(f"{_percent(router['unrouted'])} of the cases, where a value is missing or unknown:")
    return said


def _why_unanswered(panel: Panel, stages: Sequence[Mapping[str, Any]]) -> str:
    """Say why cases get no answer although the last stage always answers."""
    what = "a class" if panel.classes else "an answer"
    if stages and all(one["decides"] == BY_CONFIDENCE for one in stages):
        return f": no judge gave {what}"
    tied = "the vote was tied"
    if any(one["decides"] == "majority" for one in stages):
        tied = "none had more than half of the votes"
    return f": no judge gave {what}, or {tied}"


COMBINED = {
    AGREEMENT: "agreement: the answer that two judges share, or else that of the judge asked last",
    "plurality": "votes, where the most votes win",
    "majority": "votes, where more than half of them win",
    "logistic": "logistic regression",
    "dawid-skene": "the model of Dawid and Skene",
}


def _combined(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how several answers are combined."""
    rules = dict.fromkeys(COMBINED[one["decides"]] for one in stages if one["decides"] in COMBINED)
    if not rules or len({name for one in stages for name in one["asks"]}) < 2:
        return []
    return [f"Each stage combines all answers so far by {all_of(rules)}."]


def _stage_sentence(stage: Mapping[str, Any]) -> str:
    share = f"{_percent(stage['answered'])} of the cases" if stage["answered"] else "no case"
    ends = f"that answers {share}."
    if stage["votes"] is not None:
        ends += f" Votes: {all_of(f'{name} {votes}' for name, votes in stage['votes'].items())}."
    if not stage["asks"]:
        return f"Answer {stage['answers']!r} without any call: {ends}"
    by_confidence = stage["decides"] == BY_CONFIDENCE
    begin = "Ask" if stage["number"] == 1 else "Else ask" if by_confidence else "Then ask"
    once = " at once" if len(stage["asks"]) > 1 else ""
    waits = "" if stage["seconds"] is None else f"{stage['seconds']:.3g} s"
    price = f"{stage['price']:.4g} a case" if stage["price"] else ""
    amounts = ", ".join(filter(None, (price, waits)))
    asks = f"{begin} {all_of(stage['asks'])}{once}{f' ({amounts})' if amounts else ''}"
    if by_confidence and stage["answer_from"] is not None:
        least = stage["answer_from"]
        asks += (
            f"; take its answer where its confidence is at least {least:.4g}"
            if least
            else "; take the latest answer, if any"
        )
    return f"{asks}: {ends}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
