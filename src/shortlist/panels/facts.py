"""Everything that is told of a panel, once: a dict that JSON, text and page read."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist._words import all_of, counted
from shortlist.guarantees.guarantee import Guarantee
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.budgets import break_even_prices, break_even_sentence, what_one_gets
from shortlist.panels.choice import PanelChoice
from shortlist.panels.decisions import Decision, Votes
from shortlist.panels.envelope import BesideTwo, beside_two, best_of_two
from shortlist.panels.panel_options import ACCURACY, BALANCED, ERROR_COST, LATENCY, PRICE, RECALL, SPECIFICITY
from shortlist.panels.policy import ANSWER, HAND_OVER, NEVER, Panel, Stage
from shortlist.panels.recipes import Found
from shortlist.panels.router import Alone, columns_of
from shortlist.panels.two_errors import recall_and_specificity
from shortlist.panels.verdict import (
    Figures,
    Verdict,
    best_single,
    difference_in_words,
    measured_panel,
    single_found,
    single_panel,
    verdict,
)
from shortlist.results.objective import Limit


@dataclass(frozen=True, eq=False)
class PanelReport:
    """A panel, the front that it is from, and what was measured.

    `point`: its number on the front. `objective`: what the front has besides price: ``accuracy``,
    ``error-cost``, or ``balanced-accuracy``, the mean of recall and specificity, where the front has both of
    them. `front`: for each point ``number``, its value of the objective by name, ``price``, ``latency`` or
    None, ``promised`` or None, and ``stages`` in words; on the training cases. `judges`: for each judge
    ``name``, its value of the objective by name, and ``price``, on the same cases. `verdict`: the panel and
    the best single judge, on hold-out cases. `ways`: what becomes of these cases: of those that a router
    cannot tell, or of all without one, and of those of each branch. `two`: for each policy of at most two
    judges that no other such one beats its value of the objective by name, ``price``, ``latency`` and
    ``stages``, as in `front`. `beside`: the panel and the best of these for no more, on hold-out cases.
    `break_even`: as :func:`shortlist.panels.budgets.break_even_prices` returns it. `notes`: what was
    searched, and what was missing in the log. `best_of_all`: the panel and the best of all single judges,
    where that judge does not keep the limits of the panel. `errors`: where recall and specificity are
    objectives: the ``positive`` class, and both of the ``panel`` and of the best ``single`` judge on the
    hold-out cases, as `recall_and_specificity` returns them. `n_parts`: into how many parts the cases are
    cut, where all of them choose; 0 where some are held out. `limits`: what was asked for. `with_latency`:
    whether latency is an objective.
    """

    panel: Panel
    point: int
    objective: str
    front: Sequence[Mapping[str, Any]]
    judges: Sequence[Mapping[str, Any]]
    verdict: Verdict
    ways: "Sequence[Way]"
    two: Sequence[Mapping[str, Any]] = ()
    beside: BesideTwo | None = None
    guarantee: Guarantee | None = None
    break_even: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    best_of_all: Verdict | None = None
    errors: Mapping[str, Any] | None = None
    n_parts: int = 0
    limits: Sequence[Limit] = ()
    with_latency: bool = False


def panel_report(
    choice: PanelChoice, point: int, notes: Sequence[str] = (), limits: Sequence[Limit] = ()
) -> PanelReport:
    """Return what is told of a point of a front of panels, which was picked within some limits."""
    panel = choice.panel(point)
    objective = BALANCED if RECALL in choice.front.names else choice.front.names[0]
    measured = measured_panel(choice, point)
    found, with_latency = choice.found[point], LATENCY in choice.front.names
    two = best_of_two(choice.of_two, found.price, found.seconds if with_latency else math.inf)
    asks = "" if two is None else stages_in_words(choice.of_recipe(two.recipe))
    told = verdict(choice, measured, limits=limits)
    return PanelReport(
        panel=panel,
        point=point,
        objective=objective,
        front=[_front_row(choice, number) for number in range(len(choice.found))],
        judges=_judge_rows(choice),
        verdict=told,
        ways=ways_of(panel, choice.test),
        two=_rows_of_two(choice),
        beside=None if two is None else beside_two(choice, point, two, asks),
        guarantee=choice.guarantees[point] if choice.guarantees else None,
        break_even=break_even_prices(choice, point),
        notes=[*choice.claims, *notes],
        best_of_all=None if told.is_best else verdict(choice, measured),
        errors=_held_out_errors(choice, panel, limits) if objective == BALANCED else None,
        n_parts=len(choice.parts),
        limits=limits,
        with_latency=with_latency,
    )


def _held_out_errors(choice: PanelChoice, panel: Panel, limits: Sequence[Limit]) -> dict[str, Any]:
    """Return recall and specificity of a panel and of the best single judge on the hold-out cases."""
    positive, alone = choice.cases.positive, single_panel(choice, best_single(choice, limits))
    both = {"panel": panel, "single": alone}
    told = {name: recall_and_specificity(one, choice.test, positive) for name, one in both.items()}
    return {"positive": choice.chosen.classes[positive], **told}


class Way(NamedTuple):
    """What becomes of the cases that go one way, in shares of all cases.

    `share`: the cases that go this way. `reached`, `answered`: by stage: the cases that reach it, and those
    that it answers.
    """

    share: float
    reached: tuple[float, ...]
    answered: tuple[float, ...]


def ways_of(panel: Panel, log: AnswerLog) -> tuple[Way, ...]:
    """Return what becomes of the cases of a log, for each of the ways of a panel."""
    outcome = panel.run(log)
    ways = []
    for number, stages in enumerate(panel.ways):
        here = outcome.way == number
        at = [here & (outcome.stage >= stage) for stage in range(len(stages))]
        ends = [here & (outcome.stage == stage) & (outcome.codes >= 0) for stage in range(len(stages))]
        reached, answered = (tuple(float(one.mean()) for one in masks) for masks in (at, ends))
        ways.append(Way(float(here.mean()), reached, answered))
    return tuple(ways)


def _front_row(choice: PanelChoice, number: int) -> dict[str, Any]:
    return {
        "number": number,
        **_values(choice, choice.found[number]),
        "promised": choice.guarantees[number].promised if choice.guarantees else None,
        "stages": stages_in_words(choice.panel(number)),
    }


def _values(choice: PanelChoice, found: Found) -> dict[str, Any]:
    """Return what a policy reaches on the training cases, its price, and its latency or None."""
    values: dict[str, Any] = choice.values_of(found)
    if RECALL in values:
        values[BALANCED] = (values[RECALL] + values[SPECIFICITY]) / 2
    return values | {LATENCY: None if math.isnan(found.seconds) else found.seconds}


def _rows_of_two(choice: PanelChoice) -> list[dict[str, Any]]:
    """Return what the best policies of at most two judges reach on the training cases."""
    return [
        {**_values(choice, one), "stages": stages_in_words(choice.of_recipe(one.recipe))}
        for one in choice.of_two
    ]


def _judge_rows(choice: PanelChoice) -> list[dict[str, Any]]:
    prices = choice.chosen.prices.mean(axis=0).tolist()
    return [
        {"name": name, **_values(choice, single_found(choice, judge)), "price": prices[judge]}
        for judge, name in enumerate(choice.chosen.judges)
    ]


def stages_in_words(panel: Panel) -> str:
    """Say in a few words who is asked, such as ``small, then large and other, then a person``."""
    ways = panel.ways[1:] if panel.router is not None else panel.ways
    person = ["a person"] * (panel.final.kind == HAND_OVER)
    told = [", then ".join([all_of(_names(panel, stage)) for stage in stages] + person) for stages in ways]
    if panel.router is None:
        return told[0]
    return f"by {all_of(columns_of(panel.router))}: {' | '.join(told)}"


def _names(panel: Panel, stage: Stage) -> list[str]:
    return [panel.judges[judge] for judge in stage.asks] or ["nobody"]


def panel_facts(report: PanelReport) -> dict[str, Any]:
    """Return what is told of a panel, as plain values that JSON takes."""
    told, panel = report.verdict, report.panel
    stages = _stages_facts(report, 0)
    left = max(0.0, round(1 - sum(sum(way.answered) for way in report.ways), 9))
    found, router, rechosen = report.guarantee, _router_facts(report), told.rechosen_figures
    return {
        "point": report.point,
        "objective": report.objective,
        "classes": list(panel.classes),
        "stages": stages,
        "router": router,
        "final": {"kind": panel.final.kind, "price": panel.final.price, "share": left},
        "held_out": dataclasses.asdict(told.panel_figures),
        "n_parts": report.n_parts,
        "measured_on": _measured_on(report),
        "single": {"name": told.single, "title": told.title, **dataclasses.asdict(told.single_figures)},
        "single_rechosen": None if rechosen is None else dataclasses.asdict(rechosen),
        "best_of_all": _best_of_all(report),
        "two_judges": None if report.beside is None else report.beside.facts(),
        "difference": told.difference,
        "difference_interval": list(told.difference_interval),
        "p_value": told.p_value,
        "within_chance": told.within_chance,
        "recommended": told.recommended,
        "n_more_cases": told.n_more_cases,
        "correlation": told.correlation,
        "n_independent": told.n_independent,
        "guarantee": None if found is None else found.as_dict(),
        "front": [dict(row) for row in report.front],
        "judges": [dict(row) for row in report.judges],
        "cascades_of_two": [dict(row) for row in report.two],
        "budgets": what_one_gets(report),
        "limits": [str(limit) for limit in report.limits],
        "break_even": {name: dict(prices) for name, prices in report.break_even.items()},
        "errors": report.errors,
        "advice": advice(report),
        "verdict": verdict_sentences(report),
        "in_words": in_words(stages, router, panel, left),
        "notes": list(report.notes),
    }


def _measured_on(report: PanelReport) -> str:
    n_cases = f"{report.verdict.panel_figures.n_cases:,}"
    if not report.n_parts:
        return f"{n_cases} hold-out cases"
    return f"{n_cases} cases, by panels chosen in the same way without them"


def _best_of_all(report: PanelReport) -> dict[str, Any] | None:
    best = report.best_of_all
    if best is None:
        return None
    beside = {"difference": best.difference, "difference_interval": list(best.difference_interval)}
    return {"name": best.single, **dataclasses.asdict(best.single_figures), **beside, "p_value": best.p_value}


def _router_facts(report: PanelReport) -> dict[str, Any] | None:
    """Return the branches of a router; the stages of a case that it cannot tell are those of the panel."""
    router = report.panel.router
    if router is None:
        return None
    conditions = router.conditions()
    branches = [
        {
            "number": number,
            "when": conditions[number],
            "share": report.ways[number].share,
            "stages": _stages_facts(report, number),
        }
        for number in range(1, len(report.panel.ways))
        if number in conditions
    ]
    return {"columns": columns_of(router), "unrouted": report.ways[0].share, "branches": branches}


def _stages_facts(report: PanelReport, way: int) -> list[dict[str, Any]]:
    shares, stages = report.ways[way], report.panel.ways[way]
    return [
        _stage_facts(report.panel, stage, number, is_last=number == len(stages))
        | {"reached": shares.reached[number - 1], "answered": shares.answered[number - 1]}
        for number, stage in enumerate(stages, start=1)
    ]


def _stage_facts(panel: Panel, stage: Stage, number: int, *, is_last: bool) -> dict[str, Any]:
    seconds = max((panel.latencies[judge] for judge in stage.asks), default=0.0)
    always = (is_last and panel.final.kind == ANSWER) or isinstance(stage.decision, Alone)
    least = None if always or stage.answer_from == NEVER else stage.answer_from
    return {
        "number": number,
        "asks": [panel.judges[judge] for judge in stage.asks],
        "price": sum(panel.prices[judge] for judge in stage.asks),
        "seconds": None if math.isnan(seconds) else seconds,
        "decides": stage.decision.plain()["rule"],
        "votes": _unequal_votes(panel, stage.decision),
        "answers": panel.classes[stage.decision.code] if isinstance(stage.decision, Alone) else None,
        "always": always,
        "answer_from": least,
    }


def _unequal_votes(panel: Panel, decision: Decision) -> dict[str, int] | None:
    """Return how many votes each judge has so far, where not all have one."""
    if not isinstance(decision, Votes) or {*decision.votes} <= {1} or len(decision.judges) < 2:
        return None
    pairs = zip(decision.judges, decision.votes, strict=False)
    return {panel.judges[judge]: votes for judge, votes in pairs}


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
    if final.kind == HAND_OVER:
        others = f"the other {_percent(left)}" if left else "a case that nobody answers"
        said.append(f"A person decides about {others}, for {final.price:.4g} each, and counts as right.")
    elif left:
        why = _why_unanswered(panel, every) if final.kind == ANSWER else ""
        said.append(f"The other {_percent(left)} get no answer{why}.")
    return said


def _why_unanswered(panel: Panel, stages: Sequence[Mapping[str, Any]]) -> str:
    """Say why a panel that answers whatever it decides leaves cases without an answer."""
    if panel.least == NEVER:
        return ", as nothing can be promised about any"
    what = "a class" if panel.classes else "an answer"
    equal = "classes were equal" if panel.classes else "answers were given equally often"
    if any(one["decides"] == "majority" for one in stages):
        equal = "none had more than half of the votes"
    unsure = ", or the answer was less sure than the promise needs" if panel.least else ""
    return f", where nobody gave {what}{'' if unsure else ' or'}{', ' if unsure else ' '}{equal}{unsure}"


COMBINED = {
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


def advice(report: PanelReport) -> str | None:
    """Say that a single judge is what to take, where the panel is not worth more than it."""
    told = report.verdict
    if told.recommended:
        return None
    how = "not better beyond chance" if told.within_chance else "worse beyond chance"
    return f"Ask {told.single} alone: the panel below is {how}."


def verdict_sentences(report: PanelReport) -> list[str]:
    """Say what the panel is worth beside the best single judge, and what that rests on."""
    told, n_judges = report.verdict, len(report.panel.judges)
    beside = "" if report.beside is None else report.beside.sentence()
    said = [told.sentence(), *([beside] if beside else [])]
    if told.constant is not None:
        label, value = told.constant
        said.insert(
            1,
            f"{'It is no' if told.is_judge else 'Neither is'} better beyond chance than answering {label!r} "
            "in every case without asking anybody: "
            f"{told.panel_figures.objective.replace('-', ' ')} {value:.4g}.",
        )
    if report.best_of_all is not None:
        said.insert(1, _best_of_all_sentence(report.best_of_all))
    if report.errors is not None:
        said.insert(0, f"Recall is that of {report.errors['positive']!r}.")
    if told.n_more_cases is not None:
        said.append(
            f"About {told.n_more_cases:,} more labelled cases"
            f"{'' if report.n_parts else ', of which as large a share is held out,'} would tell the two "
            "apart, if the difference stays."
        )
    if told.n_independent is not None and told.correlation is not None:
        said.append(
            f"The errors of its {counted(n_judges, 'judge')} correlate by {told.correlation:.2f}: they "
            f"amount to {told.n_independent:.1f} independent votes."
        )
    if report.guarantee is not None:
        said.append(report.guarantee.sentence())
    what = "recall and specificity" if report.errors else told.panel_figures.objective.replace("-", " ")
    flips = break_even_sentence(report.break_even, f"{what} or latency" if report.with_latency else what)
    return [*_limits_exceeded(report), *said, *([flips] if flips else [])]


def _limits_exceeded(report: PanelReport) -> list[str]:
    """Say which limits on price or accuracy do not hold beyond the training cases, by more than chance."""
    own = report.verdict.panel_figures
    intervals = {PRICE: (own.price, own.price_interval), ACCURACY: (own.accuracy, own.accuracy_interval)}
    said = []
    for limit in report.limits:
        value, (low, high) = intervals.get(limit.name, (0.0, (-math.inf, math.inf)))
        most, near = float(limit.value), 1e-9 * max(1.0, abs(float(limit.value)))
        if report.n_parts and limit.name != PRICE:
            continue  # panels that were chosen anew, for the same price, measure
        if (limit.sign > 0 and low > most + near) or (limit.sign < 0 and high < most - near):
            said.append(
                f"The limit {limit} holds on the cases that chose, and not on those that measured: "
                f"{limit.name} {value:.4g} ({low:.3g} to {high:.3g}). Ask for a stricter one, or add cases."
            )
    return said


def _best_of_all_sentence(best: Verdict) -> str:
    """Say what the most accurate judge does, which exceeds what the user allows."""
    own, whom = best.single_figures, "it" if best.rechosen_figures is None else best.against
    return (
        f"The best of all judges on the training cases, {best.single!r}, does not keep the limits: "
        f"{own.objective} {own.value:.4g} for {own.price:.4g} a case. This panel differs from {whom} by "
        f"{difference_in_words(best)}, "
        f"{'which may be chance' if best.within_chance else 'beyond chance'}."
    )


def measured(figures: Figures | Mapping[str, Any], errors: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return what was measured with intervals, as text by name: the objective first, the price last.

    `figures`: figures or mapping. `errors`: recall and specificity, as :func:`recall_and_specificity` returns
    them.
    """
    own = dataclasses.asdict(figures) if isinstance(figures, Figures) else figures
    told = {name: _with_interval(errors, name) for name in (RECALL, SPECIFICITY) if errors is not None}
    if own["objective"] == ERROR_COST:
        told["error cost"] = _with_interval(own, "value")
    return told | {name: _with_interval(own, name) for name in ("accuracy", "price")}


def _with_interval(own: Mapping[str, Any], name: str) -> str:
    if own[name] is None:
        return "unknown"
    return f"{own[name]:.4g} ({own[f'{name}_interval'][0]:.3g} to {own[f'{name}_interval'][1]:.3g})"


def measured_in_words(figures: Mapping[str, Any], errors: Mapping[str, Any] | None = None) -> str:
    """Say what was measured, such as ``accuracy 0.9 (0.85 to 0.93), price 2 (1.8 to 2.2) a case``."""
    told = measured(figures, errors)
    price = told.pop("price")
    words = [f"{name} {text}" for name, text in told.items()]
    words += [f"price {price} a case"] if figures["price"] else []
    words += [] if figures["latency"] is None else [f"latency {figures['latency']:.3g} s"]
    return ", ".join(words)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
