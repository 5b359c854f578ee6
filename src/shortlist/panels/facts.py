"""Everything that is told of a panel, once: a dict that JSON, text and page read."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist._words import counted
from shortlist.guarantees.guarantee import Guarantee
from shortlist.panels.answer_log import AnswerLog, cases_in_words
from shortlist.panels.budgets import break_even_prices, break_even_sentence, what_one_gets
from shortlist.panels.decisions import LATEST, JudgesDecision, JudgeVotes, LatestAnswer
from shortlist.panels.figures import PanelFigures
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.panel_choice import PanelChoice, best_single, single_found, single_panel
from shortlist.panels.panel_options import ACCURACY, BALANCED, ERROR_COST, LATENCY, PRICE, RECALL, SPECIFICITY
from shortlist.panels.policy import ANSWER, NEVER, Panel, Stage
from shortlist.panels.recipes import Candidate
from shortlist.panels.router import Alone, columns_of
from shortlist.panels.verdict import Verdict, difference_in_words, measured_panel, rechosen, verdict
from shortlist.panels.words import in_words, stages_in_words
from shortlist.results.intervals import MARGIN, Kind, with_interval
from shortlist.results.objective import Limit


@dataclass(frozen=True, eq=False)
class PanelReport:
    """A panel, the front that it is from, and what was measured.

    `point`: its number on the front; None of the best single judge. `price`: its mean price on the training
    cases. `objective`: ``accuracy``, ``error-cost``, or ``balanced-accuracy``, the mean of recall and
    specificity. `front`: for each point ``number``, its value of the objective by name, ``price``,
    ``latency`` or None, ``promised`` or None, and ``stages`` in words; on the training cases. `judges`,
    `two`: the same of each judge by ``name``, and of each policy of at most two judges that no other such one
    beats. `verdict`: the panel beside the best single judge, on hold-out cases. `ways`: what becomes of these
    cases: of those that a router cannot tell, or of all without one, and of those of each branch.
    `break_even`: see :func:`shortlist.panels.budgets.break_even_prices`. `notes`: what was searched, and what
    was missing in the log. `best_of_all`: the panel beside the best of all judges, where that one does not
    keep the limits. `positive`: the class that recall is of, where it is an objective. `n_parts`: of nested
    cross-validation; 0 where cases are held out. `limits`: what was asked for. `instead`: of a single judge:
    what the panel is worth that was picked. `with_latency`: whether latency is an objective.
    """

    panel: Panel
    point: int | None
    price: float
    objective: str
    front: Sequence[Mapping[str, Any]]
    judges: Sequence[Mapping[str, Any]]
    verdict: Verdict
    ways: "Sequence[Way]"
    two: Sequence[Mapping[str, Any]] = ()
    guarantee: Guarantee | None = None
    break_even: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    best_of_all: Verdict | None = None
    positive: str | None = None
    n_parts: int = 0
    limits: Sequence[Limit] = ()
    with_latency: bool = False
    instead: str = ""


def panel_report(
    choice: PanelChoice,
    point: int | None,
    notes: Sequence[str] = (),
    limits: Sequence[Limit] = (),
    *,
    margin: float = MARGIN,
) -> PanelReport:
    """Return what is told of a point of a front of panels, which was picked within some limits.

    `point`: None for the best single judge within the limits, which may be on the front or not. `margin`: how
    much worse than that judge still is as good, in the objective.
    """
    if point is None:
        found = single_found(choice, best_single(choice, limits))
        panel = choice.of_recipe(found.recipe)
        measured = rechosen(choice, panel, lambda part: single_panel(part, best_single(part, limits)))
    else:
        found, panel, measured = choice.found[point], choice.panel(point), measured_panel(choice, point)
    objective = BALANCED if RECALL in choice.front.names else choice.front.names[0]
    told = verdict(choice, measured, limits=limits, margin=margin)
    return PanelReport(
        panel=panel,
        point=point,
        price=found.price / (len(choice.cases.truth) * choice.steps),
        objective=objective,
        front=[_front_row(choice, number) for number in range(len(choice.found))],
        judges=_judge_rows(choice),
        verdict=told,
        ways=ways_of(panel, choice.test),
        two=_rows_of_two(choice),
        guarantee=choice.guarantees[point] if choice.guarantees and point is not None else None,
        break_even=break_even_prices(choice, found),
        notes=[*choice.claims, *notes],
        best_of_all=None if told.is_best else verdict(choice, measured, margin=margin),
        positive=choice.chosen.classes[choice.cases.positive] if objective == BALANCED else None,
        n_parts=len(choice.parts),
        limits=limits,
        with_latency=LATENCY in choice.front.names,
    )


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


def _values(choice: PanelChoice, found: Candidate) -> dict[str, Any]:
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
        "difference": told.difference,
        "difference_interval": list(told.difference_interval),
        "p_value": told.p_value,
        "within_chance": told.within_chance,
        "kind": told.kind.value,
        "margin": told.margin,
        "recommended": told.recommended,
        "instead": report.instead,
        "n_more_cases": told.n_more_cases,
        "correlation": told.correlation,
        "n_independent": told.n_independent,
        "guarantee": None if found is None else found.as_dict("cases"),
        "front": [dict(row) for row in report.front],
        "judges": [dict(row) for row in report.judges],
        "cascades_of_two": [dict(row) for row in report.two],
        "budgets": what_one_gets(
            report.front,
            report.judges,
            report.two,
            price=report.price,
            objective=report.objective,
            limits=report.limits,
        ),
        "limits": [str(limit) for limit in report.limits],
        "break_even": {name: dict(prices) for name, prices in report.break_even.items()},
        "errors": None
        if report.positive is None
        else {
            "positive": report.positive,
            "panel": told.panel_figures.errors,
            "single": told.single_figures.errors,
        },
        "advice": advice(report),
        "verdict": verdict_sentences(report),
        "in_words": in_words(stages, router, panel, left),
        "notes": list(report.notes),
    }


def _measured_on(report: PanelReport) -> str:
    own = report.verdict.panel_figures

    def cases(kind: str) -> str:
        return cases_in_words(own.n_cases, own.n_different, kind)

    if report.guarantee is not None:
        return cases("calibration ")
    if not report.n_parts:
        return cases("hold-out ")
    price = ", with the price of this panel" if own.price else ""
    return f"{cases('')}, by nested cross-validation{price}"


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
    if least and isinstance(stage.decision, LatestAnswer):
        least = panel.scale.told_as(stage.decision.judges[-1], least)
    return {
        "number": number,
        "asks": [panel.judges[judge] for judge in stage.asks],
        "price": sum(panel.prices[judge] for judge in stage.asks),
        "seconds": None if math.isnan(seconds) else seconds,
        "decides": AGREEMENT if _is_agreement(stage.decision) else stage.decision.plain()["rule"],
        "votes": _unequal_votes(panel, stage.decision),
        "answers": panel.classes[stage.decision.code] if isinstance(stage.decision, Alone) else None,
        "always": always,
        "answer_from": least,
    }


def _is_agreement(decision: JudgesDecision) -> bool:
    return isinstance(decision, JudgeVotes) and decision.ties == LATEST


def _unequal_votes(panel: Panel, decision: JudgesDecision) -> dict[str, int] | None:
    """Return how many votes each judge has so far, where not all have one."""
    if not isinstance(decision, JudgeVotes) or {*decision.votes} <= {1} or len(decision.judges) < 2:
        return None
    pairs = zip(decision.judges, decision.votes, strict=False)
    return {panel.judges[judge]: votes for judge, votes in pairs}


def advice(report: PanelReport) -> str | None:
    """Say that a single judge is what to take, where the panel is not worth more than it."""
    told = report.verdict
    if told.recommended or told.panel_figures.of_answers:
        return None
    if told.kind is Kind.CHEAPER:
        what = report.objective.replace("-", " ")
        return (
            f"Ask {told.single} alone where {what} counts most: this panel is cheaper, and these cases "
            "do not tell how much worse."
        )
    how = "not better beyond chance" if told.within_chance else "worse beyond chance"
    return f"Ask {told.single} alone: this panel is {how}."


def verdict_sentences(report: PanelReport) -> list[str]:
    """Say what the panel is worth beside the best single judge, and what that rests on."""
    told, n_judges = report.verdict, len(report.panel.judges)
    said = [*filter(None, (report.instead,)), told.sentence()]
    if told.constant is not None:
        label, value = told.constant
        said.insert(
            1,
            f"{'It is no' if told.is_judge else 'Neither is'} better beyond chance than the answer {label!r} "
            "to every case: "
            f"{told.panel_figures.objective.replace('-', ' ')} {value:.4g}.",
        )
    if report.best_of_all is not None:
        said.insert(1, _best_of_all_sentence(report.best_of_all))
    if report.positive is not None:
        said.insert(0, f"Recall is that of {report.positive!r}.")
    if told.n_more_cases is not None:
        said.append(
            f"About {told.n_more_cases:,} more labelled cases"
            f"{'' if report.n_parts else ', of which as large a share is held out,'} would tell the two "
            "apart, if the difference stays."
        )
    if told.n_independent is not None and told.correlation is not None:
        said.append(
            f"The errors of its {counted(n_judges, 'judge')} correlate by {told.correlation:.2f}, so they "
            f"are worth {told.n_independent:.1f} independent votes."
        )
    if report.guarantee is not None:
        said.append(report.guarantee.sentence("cases"))
    what = "recall and specificity" if report.positive else told.panel_figures.objective.replace("-", " ")
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
        if (report.n_parts or own.of_answers) and limit.name != PRICE:
            continue  # panels that were chosen anew measure, or accuracy is of answers
        if (limit.sign > 0 and low > most + near) or (limit.sign < 0 and high < most - near):
            said.append(
                f"The limit {limit} holds on the training cases, but not on the hold-out cases: "
                f"{limit.name} {value:.4g} ({low:.3g} to {high:.3g}). Ask for a stricter one, or add cases."
            )
    return said


def _best_of_all_sentence(best: Verdict) -> str:
    """Say what the most accurate judge does, which exceeds what the user allows."""
    own, whom = best.single_figures, "it" if best.rechosen_figures is None else best.against
    return (
        f"The best of all judges on the training cases, {best.single!r}, does not keep the limits: "
        f"{own.objective} {own.value:.4g} for {own.price:.4g} a case. Against {whom} this panel has "
        f"{difference_in_words(best)}, {'within' if best.within_chance else 'beyond'} chance."
    )


NONE = "none"
"""Share of right answers where there is no answer."""


def measured(figures: PanelFigures | Mapping[str, Any]) -> dict[str, str]:
    """Return what was measured with intervals, as text by name: the objective first, the price last."""
    own = dataclasses.asdict(figures) if isinstance(figures, PanelFigures) else figures
    errors = own["errors"] or {}
    told = {name: _with_interval(errors, name) for name in (RECALL, SPECIFICITY) if name in errors}
    if own["of_answers"]:
        told |= {
            "answered": _with_interval(own, "answered"),
            "right of answers": _with_interval(own, "accuracy") if own["answered"] else NONE,
        }
        return told | {"price": _with_interval(own, "price")}
    if own["objective"] == ERROR_COST:
        told["error cost"] = _with_interval(own, "value")
    return told | {name: _with_interval(own, name) for name in ("accuracy", "price")}


def _with_interval(own: Mapping[str, Any], name: str) -> str:
    if own[name] is None:
        return "unknown"
    return with_interval(own[name], own[f"{name}_interval"])


def measured_in_words(figures: Mapping[str, Any]) -> str:
    """Say what was measured, such as ``accuracy 0.9 (0.85 to 0.93), price 2 (1.8 to 2.2) a case``."""
    told = measured(figures)
    price = told.pop("price")
    words = [f"{name} {text}" for name, text in told.items() if text != NONE]
    words += [f"price {price} a case"] if figures["price"] else []
    words += [] if figures["latency"] is None else [f"latency {figures['latency']:.3g} s"]
    return ", ".join(words)
