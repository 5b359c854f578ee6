"""Everything that is told of a panel, once: a dict that JSON, text and page read."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist._words import all_of, counted
from shortlist.guarantees.guarantee import Guarantee
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.choice import ACCURACY, PanelChoice
from shortlist.panels.decisions import Votes
from shortlist.panels.policy import ANSWER, HAND_OVER, NEVER, Final, Panel
from shortlist.panels.verdict import Figures, Verdict, break_even_prices, verdict

MOST_BUDGETS = 10
"""So many budgets at most are told what one gets for them."""


@dataclass(frozen=True, eq=False)
class PanelReport:
    """A panel, the front that it is from, and what was measured.

    Attributes
    ----------
    panel : Panel
    point : int
        Its number on the front.
    objective : str
        What the front has besides price: ``accuracy``, or ``error-cost``.
    front : sequence of mapping
        For each point ``number``, its value of the objective by name, ``price``, ``latency`` or None,
        ``promised`` or None, and ``stages`` in words; on the cases that choose.
    judges : sequence of mapping
        For each judge ``name``, its value of the objective by name, and ``price``, on the same cases.
    verdict : Verdict
        The panel and the best single judge, on cases that chose neither.
    answered : sequence of float
        The share of these cases that each stage answers.
    guarantee : Guarantee, optional
    break_even : mapping
        As :func:`shortlist.panels.verdict.break_even_prices` returns it.
    notes : sequence of str
        What was searched, and what was missing in the log.
    """

    panel: Panel
    point: int
    objective: str
    front: Sequence[Mapping[str, Any]]
    judges: Sequence[Mapping[str, Any]]
    verdict: Verdict
    answered: Sequence[float]
    guarantee: Guarantee | None = None
    break_even: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def panel_report(choice: PanelChoice, point: int, notes: Sequence[str] = ()) -> PanelReport:
    """Return what is told of a point of a front of panels."""
    panel, objective = choice.panel(point), choice.front.names[0]
    return PanelReport(
        panel=panel,
        point=point,
        objective=objective,
        front=[_front_row(choice, number) for number in range(len(choice.found))],
        judges=_judge_rows(choice, objective),
        verdict=verdict(choice, panel),
        answered=answered_shares(panel, choice.test),
        guarantee=choice.guarantees[point] if choice.guarantees else None,
        break_even=break_even_prices(choice, point),
        notes=[*choice.claims, *notes],
    )


def answered_shares(panel: Panel, log: AnswerLog) -> tuple[float, ...]:
    """Return the share of the cases of a log that each stage answers."""
    outcome = panel.run(log)
    stages = outcome.stage[outcome.codes >= 0]
    return tuple((np.bincount(stages, minlength=len(panel.stages)) / len(outcome.codes)).tolist())


def _front_row(choice: PanelChoice, number: int) -> dict[str, Any]:
    values = dict(zip(choice.front.names, choice.front.values[number].tolist(), strict=True))
    seconds = choice.found[number].seconds
    return {
        "number": number,
        choice.front.names[0]: values[choice.front.names[0]],
        "price": values["price"],
        "latency": None if math.isnan(seconds) else seconds,
        "promised": choice.guarantees[number].promised if choice.guarantees else None,
        "stages": stages_in_words(choice.panel(number)),
    }


def _judge_rows(choice: PanelChoice, objective: str) -> list[dict[str, Any]]:
    cases, log = choice.cases, choice.chosen
    words = np.where(cases.answers.words == cases.answers.n_classes, -1, cases.answers.words)
    rows = []
    for judge, name in enumerate(log.judges):
        loss = float(cases.losses_of(words[:, judge]).mean())
        value = 1 - loss if objective == ACCURACY else loss
        rows.append({"name": name, objective: value, "price": float(log.prices[:, judge].mean())})
    return rows


def stages_in_words(panel: Panel) -> str:
    """Say in a few words who is asked, such as ``small, then large and other, then a person``."""
    asked = [all_of(panel.judges[judge] for judge in stage.asks) for stage in panel.stages]
    return ", then ".join(asked + ["a person"] * (panel.final.kind == HAND_OVER))


def panel_facts(report: PanelReport) -> dict[str, Any]:
    """Return what is told of a panel, as plain values that JSON takes."""
    told, panel = report.verdict, report.panel
    stages = [_stage_facts(report, number) for number in range(len(panel.stages))]
    left = max(0.0, round(1 - sum(report.answered), 9))
    found = report.guarantee
    return {
        "point": report.point,
        "objective": report.objective,
        "classes": list(panel.classes),
        "stages": stages,
        "final": {"kind": panel.final.kind, "price": panel.final.price, "share": left},
        "held_out": dataclasses.asdict(told.panel_figures),
        "single": {"name": told.single, **dataclasses.asdict(told.single_figures)},
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
        "budgets": what_one_gets(report),
        "break_even": {name: dict(prices) for name, prices in report.break_even.items()},
        "verdict": verdict_sentences(report),
        "in_words": in_words(stages, panel.final, left),
        "notes": list(report.notes),
    }


def _stage_facts(report: PanelReport, number: int) -> dict[str, Any]:
    panel, stage = report.panel, report.panel.stages[number]
    is_last = number == len(panel.stages) - 1
    least = [None if one == NEVER else one for one in stage.answer_from]
    seconds = max((panel.latencies[judge] for judge in stage.asks), default=0.0)
    return {
        "number": number + 1,
        "asks": [panel.judges[judge] for judge in stage.asks],
        "price": sum(panel.prices[judge] for judge in stage.asks),
        "seconds": None if math.isnan(seconds) else seconds,
        "decides": stage.decision.rule
        if isinstance(stage.decision, Votes)
        else stage.decision.plain()["rule"],
        "settled": stage.settled,
        "answer_from": None
        if stage.settled or (is_last and panel.final.kind == ANSWER)
        else dict(zip(panel.classes, least, strict=True)),
        "reached": 1.0 if not number else max(0.0, 1 - sum(report.verdict.panel_figures.ended[:number])),
        "answered": report.answered[number],
    }


def in_words(stages: Sequence[Mapping[str, Any]], final: Final, left: float) -> list[str]:
    """Say in sentences whom a panel asks, and how many cases each stage answers."""
    said = []
    for stage in stages:
        begin = "Ask" if stage["number"] == 1 else "Then ask"
        once = " at once" if len(stage["asks"]) > 1 else ""
        waits = "" if stage["seconds"] is None else f", {stage['seconds']:.3g} s"
        said.append(
            f"{begin} {all_of(stage['asks'])}{once} ({stage['price']:.4g} a case{waits}): that answers "
            f"{_percent(stage['answered'])} of the cases."
        )
    if final.kind == HAND_OVER:
        others = f"the other {_percent(left)}" if left else "a case that nobody answers"
        said.append(f"A person decides about {others}, for {final.price:.4g} each.")
    elif left:
        said.append(f"The other {_percent(left)} get no answer.")
    return said


def verdict_sentences(report: PanelReport) -> list[str]:
    """Say what the panel is worth beside the best single judge, and what that rests on."""
    told, n_judges = report.verdict, len(report.panel.judges)
    said = [told.sentence()]
    if told.n_more_cases is not None:
        said.append(
            f"About {told.n_more_cases:,} more labelled cases would tell the two apart, if the difference "
            "stays."
        )
    if told.n_independent is not None and told.correlation is not None:
        said.append(
            f"The errors of its {counted(n_judges, 'judge')} correlate by {told.correlation:.2f}: they "
            f"amount to {told.n_independent:.1f} independent votes."
        )
    if report.guarantee is not None:
        said.append(report.guarantee.sentence())
    return said + break_even_sentences(report.break_even)


def break_even_sentences(prices: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say at which prices another panel would be the cheapest that is as good."""
    said = []
    for name, one in prices.items():
        if one.get("up_to") is not None:
            said.append(
                f"Another panel is cheaper if {name} costs more than {one['up_to']:.4g}; now "
                f"{one['now']:.4g}."
            )
        elif one.get("below") is not None:
            said.append(
                f"Another panel, with {name}, is cheaper if {name} costs less than {one['below']:.4g}; now "
                f"{one['now']:.4g}."
            )
    return said


def what_one_gets(report: PanelReport) -> list[dict[str, Any]]:
    """Return for round budgets a case the best point of the front, and the best judge alone.

    A budget that buys the same point as the one before is left out.
    """
    rows: list[dict[str, Any]] = []
    for budget in round_budgets([row["price"] for row in report.front]):
        point, judge = (_best(among, report.objective, budget) for among in (report.front, report.judges))
        if point is not None and not (rows and rows[-1]["number"] == point["number"]):
            single = (
                None if judge is None else {"name": judge["name"], report.objective: judge[report.objective]}
            )
            rows.append({"budget": budget, **point, "single": single})
    return rows


def _best(rows: Sequence[Mapping[str, Any]], objective: str, budget: float) -> Mapping[str, Any] | None:
    sign = -1 if objective == ACCURACY else 1
    within = [row for row in rows if row["price"] <= budget]
    return min(within, key=lambda row: (sign * row[objective], row["price"])) if within else None


def round_budgets(prices: Sequence[float]) -> list[float]:
    """Return at most ten budgets a case: the multiples of 1, 2 or 5 times a power of ten up to a price.

    Examples
    --------
    >>> round_budgets([0.4, 17.0]), round_budgets([0.0])
    ([2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0], [])
    """
    most = max(prices, default=0.0)
    if most <= 0:
        return []
    power = math.floor(math.log10(most)) - 1
    sizes = (size * 10.0 ** (power + more) for more in (0, 1, 2) for size in (1, 2, 5))
    step = next(size for size in sizes if math.ceil(most / size - 1e-9) <= MOST_BUDGETS)
    return [float(f"{step * n:.12g}") for n in range(1, math.ceil(most / step - 1e-9) + 1)]


def measured(figures: Figures | Mapping[str, Any]) -> tuple[str, str]:
    """Return accuracy and price with their intervals, as text."""
    own = dataclasses.asdict(figures) if isinstance(figures, Figures) else figures
    texts = (
        f"{own[name]:.4g} ({own[f'{name}_interval'][0]:.3g} to {own[f'{name}_interval'][1]:.3g})"
        for name in ("accuracy", "price")
    )
    accuracy, price = texts
    return accuracy, price


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
