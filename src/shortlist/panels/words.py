"""Panels in sentences: judges, figures, and the prices at which another panel is cheaper."""

import math
from collections.abc import Callable, Mapping, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from shortlist._words import all_of, any_of, counted
from shortlist.panels.answer_log import cases_in_words
from shortlist.panels.decisions import BY_CONFIDENCE, Heard, ScoreTable
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.objectives import ACCURACY, BALANCED, LATENCY, PRICE, figure_of, in_text, led_by
from shortlist.panels.policy import ANSWER, HAND_OVER, Panel, Stage
from shortlist.panels.router import Alone, columns_of
from shortlist.panels.verdict import Verdict, difference_in_words
from shortlist.results.intervals import Interval, with_interval
from shortlist.results.objective import Limit
from shortlist.results.verdicts import Word


def stages_in_words(panel: Panel) -> str:
    """Return the judges of each stage in a few words.

    An example is ``small, then large and other, then a person``.
    """
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
"""Largest number of a router's branches in sentences, and of letters in the condition of a branch."""


def _names(panel: Panel, stage: Stage) -> list[str]:
    if isinstance(stage.decision, Alone) and panel.router is None and stage.decision.code >= 0:
        return [f"{panel.classes[stage.decision.code]!r} to every case, {NO_JUDGE}"]
    return [panel.judges[judge] for judge in stage.asks] or [NO_JUDGE]


NO_JUDGE = "no judge"
"""Name, for sentences, of the judge in a branch that answers without any call."""


def _changed(panel: Panel, stage: Stage) -> str:
    """Return words for a stage of one judge if learned scores may overrule its answer; otherwise empty."""
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
    """Return sentences on the judges that a panel asks, and on the share of cases that each stage answers."""
    said = []
    if router is not None:
        said += _branch_sentences(router)
    is_reached = router is None or router["unrouted"] > 0
    shown = told_stages(stages) if is_reached else []
    said += [_stage_sentence(stage, last) for stage, last in zip(shown, [None, *shown], strict=False)]
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


def told_stages(stages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the stages that answer some case, joined with earlier stages that answer no case.

    A joined stage has its judges in ``groups``, which are asked one after the other, and all its judges in
    ``asks``. Its price and its seconds are sums. A last stage without answers is included if cases reach it,
    as its judges are paid.
    """
    told, idle = list[dict[str, Any]](), list[Mapping[str, Any]]()
    reached = [stage for stage in stages if stage["reached"] > 0] or list(stages[:1])
    for stage in reached:
        idle.append(stage)
        if stage["answered"] > 0 or stage is reached[-1]:
            seconds = [one["seconds"] for one in idle]
            told.append({
                **stage, "number": len(told) + 1, "groups": [one["asks"] for one in idle if one["asks"]],
                "asks": [name for one in idle for name in one["asks"]],
                "price": sum(one["price"] for one in idle),
                "seconds": None if None in seconds else sum(seconds),
            })  # fmt: skip
            idle = []
    return told


def _branch_sentences(router: Mapping[str, Any]) -> list[str]:
    branches = sorted(router["branches"], key=lambda branch: -branch["share"])
    branches = [branch for branch in branches if branch["share"] > 0]
    said = [f"Before the first call, a case is routed by {all_of(router['columns'])}:"]
    for branch in branches[: MOST_WAYS + (len(branches) == MOST_WAYS + 1)]:
        stages = told_stages(branch["stages"])
        asks = ", then ".join(f"ask {all_of(one)}" for stage in stages for one in stage["groups"])
        asks = asks or f"answer {stages[0]['answers']!r} without any call"
        when = shorten(branch["when"], MOST_LETTERS, placeholder=" ...")
        end = "" if when.endswith(" ...") else "."
        said.append(f"{_percent(branch['share'])} of the cases: {asks}. These are where {when}{end}")
    rest = branches[MOST_WAYS:]
    if len(rest) > 1:
        share = _percent(sum(branch["share"] for branch in rest))
        said.append(f"{share} of the cases: {len(rest):,} more branches, which the protocol lists.")
    if router["unrouted"] > 0:
        said.append(f"{_percent(router['unrouted'])} of the cases, where a value is missing or unknown:")
    return said


def _why_unanswered(panel: Panel, stages: Sequence[Mapping[str, Any]]) -> str:
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
    "dawid-skene": "how often each judge confuses one class with another (Dawid and Skene's model)",
}


def _combined(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    rules = dict.fromkeys(COMBINED[one["decides"]] for one in stages if one["decides"] in COMBINED)
    if not rules or len({name for one in stages for name in one["asks"]}) < 2:
        return []
    weighed = COMBINED["dawid-skene"]
    others = [rule for rule in rules if rule != weighed]
    said = [f"Each stage combines all answers so far by {all_of(others)}."] if others else []
    if weighed in rules:
        said.append(f"{'In other stages answers' if others else 'Answers'} are weighted by {weighed}.")
    return said


def _stage_sentence(stage: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return the sentence on a stage and its judges.

    `before`: the earlier stage that leaves cases to this stage, if any.
    """
    share = f"{_percent(stage['answered'])} of the cases" if stage["answered"] else "no case"
    ends = f"that answers {share}."
    if stage["votes"] is not None:
        ends += f" Votes: {all_of(f'{name} {votes}' for name, votes in stage['votes'].items())}."
    if not stage["asks"]:
        return f"Answer {stage['answers']!r} to every case, without any call: {ends}"
    by_confidence = stage["decides"] == BY_CONFIDENCE
    begin = "Ask" if before is None else "Else ask" if by_confidence else "Then ask"
    if before is not None and before["answer_from"] == 0 and len(before["asks"]) == stage["number"] - 1 == 1:
        begin = f"Where {before['asks'][0]} gives no answer, ask"
    groups = stage.get("groups", [stage["asks"]])
    whom = ", then ".join(all_of(one) + " at once" * (len(one) > 1) for one in groups)
    waits = "" if stage["seconds"] is None else f"{stage['seconds']:.3g} s"
    price = f"{stage['price']:.4g} a case" if stage["price"] else ""
    amounts = ", ".join(filter(None, (price, waits)))
    asks = f"{begin} {whom}{f' ({amounts})' if amounts else ''}"
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


NONE = "none"
"""Text for the share of right answers if there is no answer."""


def measured(own: Mapping[str, Any]) -> dict[str, str]:
    """Return the measures with intervals, as text by name: the objectives first, the price last."""
    if own["of_answers"]:
        names = led_by(BALANCED) if own["errors"] else ()
        told = {in_text(name): _with_interval(*figure_of(own, name)) for name in names}
        right = _with_interval(*figure_of(own, ACCURACY)) if own["answered"] else NONE
        told |= {
            "answered": _with_interval(own["answered"], own["answered_interval"]),
            "of these right": right,
        }
        return told | {PRICE: _with_interval(*figure_of(own, PRICE))}
    shown = dict.fromkeys((*led_by(own["objective"]), ACCURACY, PRICE))
    return {in_text(name): _with_interval(*figure_of(own, name)) for name in shown}


def _with_interval(value: float | None, interval: Interval | None) -> str:
    return "unknown" if value is None or interval is None else with_interval(value, interval)


def measured_in_words(figures: Mapping[str, Any]) -> str:
    """Return the measures in words, such as ``accuracy 0.9 (0.85 to 0.93), price 2 (1.8 to 2.2) a case``."""
    told = measured(figures)
    price = told.pop("price")
    words = [f"{name} {text}" for name, text in told.items() if text != NONE]
    words += [f"price {price} a case"] if figures["price"] else []
    words += [] if figures["latency"] is None else [f"latency {figures['latency']:.3g} s"]
    return ", ".join(words)


def measured_on(facts: Mapping[str, Any]) -> str:
    """Return words for the cases on which a panel was measured."""
    own = facts["held_out"]
    kind = "calibration " if facts["guarantee"] else "" if facts["n_parts"] else "hold-out "
    kind = "test " if facts["is_tested"] else kind
    cases = cases_in_words(own["n_cases"], own["n_different"], kind)
    if kind or not facts["n_parts"]:
        return cases
    return f"{cases}, by nested cross-validation{', with the price of this panel' if own['price'] else ''}"


def bound_sentence(bound: float, price: float, some_right: float, *, hands_over: bool) -> list[str]:
    """Return a sentence on an upper bound of the share of right cases at a price; empty if it is 1.

    `some_right`: share of the cases about which at least one judge is right. `hands_over`: whether a person
    decides open cases.
    """
    if bound == 1:
        return []
    most = f"{100 * bound:.1f} %"
    if bound == some_right and not hands_over:
        wrong = 100 - 100 * bound
        share = f"{wrong:.1f}" if wrong >= 0.05 else f"{wrong:.1g}"
        why = f"In {share} % of the training cases every judge is wrong"
        return [f"{why}, so choosing among their answers cannot exceed {most}."]
    begin = f"For {price:.4g} a case, choosing" if price else "Without a paid call, choosing"
    person = " or asking a person" if hands_over else ""
    return [
        f"{begin} among the answers of the judges{person} gets at most {most} of the training cases right."
    ]


def advice(facts: Mapping[str, Any]) -> str | None:
    """Return the recommendation: one answer to every case, the panel, or a single judge.

    None without a comparison: for a single judge, for a panel alone within the limits, and under a promise.
    """
    if facts["held_out"]["of_answers"]:
        return None
    constant, asks = facts["constant"], any(stage["asks"] for stage in _every_stage(facts))
    is_worse = facts["kind"] == Word.BETTER and facts["take"] == "single"
    if constant is not None and asks and not is_worse:
        label, what = constant["answer"], "judge" if facts["point"] is None else "panel"
        return (
            f"Answer {label!r} to every case, without asking: {in_text(facts['objective'])} "
            f"{constant['value']:.4g}. The {what} below is not better beyond chance."
        )
    is_compared = facts["point"] is not None and facts["kind"] not in {Word.ALONE, Word.UNRIVALLED}
    return facts["sentence"] if is_compared else None


def verdict_sentences(
    facts: Mapping[str, Any], told: Verdict, best: Verdict | None, limits: Sequence[Limit], promise: str
) -> list[str]:
    """Return sentences on the panel against the best single judge, and the evidence.

    `best`: verdict against the best of all judges, if limits exclude this judge.
    """
    said = [*_limits_exceeded(facts, limits), *filter(None, (facts["instead"],))]
    if facts["positive"] is not None:
        said.append(f"Recall is that of {facts['positive']!r}.")
    said.append(told.sentence())
    if best is not None:
        said.append(_best_of_all_sentence(best))
    if told.constant is not None:
        label, value = told.constant
        said.append(
            f"{'It is no' if told.is_judge else 'Neither is'} better beyond chance than the answer {label!r} "
            f"to every case: {in_text(told.panel_figures.objective)} {value:.4g}."
        )
    if told.n_more_cases is not None:
        said.append(
            f"About {told.n_more_cases:,} more {'test' if facts['is_tested'] else 'labelled'} cases"
            f"{_held_out_share(facts)} would tell the two apart, if the difference stays."
        )
    if told.n_independent is not None and told.correlation is not None:
        n_judges = len({name for stage in _every_stage(facts) for name in stage["asks"]})
        said.append(
            f"The errors of its {counted(n_judges, 'judge')} correlate by {told.correlation:.2f}, so they "
            f"are worth {told.n_independent:.1f} independent votes."
        )
    what = all_of(map(in_text, led_by(facts["objective"])))
    flips = break_even_sentence(
        facts["break_even"], f"{what} or latency" if LATENCY in facts["objectives"] else what
    )
    return [*said, *filter(None, (promise, flips))]


def _held_out_share(facts: Mapping[str, Any]) -> str:
    if facts["n_parts"] or facts["is_tested"]:
        return ""
    share = f"{100 * facts['n_test'] / (facts['n_test'] + facts['n_chosen']):.2g} %"
    return f" ({ {'25 %': 'a quarter', '50 %': 'half'}.get(share, share) } of them held out)"


def _every_stage(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    branches = (facts["router"] or {}).get("branches", ())
    return [*facts["stages"], *(one for branch in branches for one in branch["stages"])]


def _limits_exceeded(facts: Mapping[str, Any], limits: Sequence[Limit]) -> list[str]:
    own, said = facts["held_out"], list[str]()
    for limit in limits:
        value, interval = figure_of(own, limit.name)
        is_rechosen = facts["n_parts"] or own["of_answers"]  # other panels measure, or accuracy is of answers
        if value is None or interval is None or (is_rechosen and limit.name != PRICE):
            continue
        most, near = float(limit.value), 1e-9 * max(1.0, abs(float(limit.value)))
        if (limit.sign > 0 and interval[0] > most + near) or (limit.sign < 0 and interval[1] < most - near):
            said.append(
                f"The limit {limit} holds on the training cases, but not on the "
                f"{'test' if facts['is_tested'] else 'hold-out'} cases: "
                f"{limit.name} {value:.4g} ({interval[0]:.3g} to {interval[1]:.3g}). Ask for a stricter one, "
                "or add cases."
            )
    return said


def _best_of_all_sentence(best: Verdict) -> str:
    own, whom = best.single_figures, "it" if best.rechosen_figures is None else best.against
    return (
        f"The best of all judges on the training cases, {best.single!r}, does not keep the limits: "
        f"{own.objective} {own.value:.4g} for {own.price:.4g} a case. Against {whom} this panel has "
        f"{difference_in_words(best)}, {'within' if best.within_chance else 'beyond'} chance."
    )


MOST_PRICES = 6
"""Largest number of reported prices at which another panel would be the cheapest."""


def break_even_sentence(prices: Mapping[str, Mapping[str, Any]], what: str) -> str:
    """Return a sentence on the prices at which another, equally good panel or judge is the cheapest.

    Prices with the smallest change come first. Without prices the sentence is empty.
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


def budget_table(told: Mapping[str, Any]) -> tuple[str, list[tuple[str, ...]]]:
    """Return the title of the table of budgets, and its rows, the first of which is the header.

    `told`: facts of :class:`shortlist.panels.facts.PanelReport`.
    """
    names = led_by(told["objective"])
    of_two, seconds = bool(told["cascades_of_two"]), ["seconds"] * (LATENCY in told["objectives"])
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
    """Return a function from an objective to its title on the training cases.

    Under a promise the title of accuracy is "right of all cases", since a missing answer is not right.
    """
    renamed = {ACCURACY: "right of all cases"} if told["guarantee"] else {}
    return lambda name: renamed.get(name, name)
