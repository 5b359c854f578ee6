"""Facts about a panel, collected once in a dict for JSON, text and page."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shortlist.arrays import Floats
from shortlist.guarantees.guarantee import Guarantee
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.decisions import LATEST, JudgesDecision, JudgeVotes, LatestAnswer
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.log_checks import words_note
from shortlist.panels.objectives import BALANCED, LATENCY, PRICE, led_by, measure_of, no_worse, sign_of
from shortlist.panels.panel_choice import PanelChoice, best_single, single_found, single_panel
from shortlist.panels.policy import ANSWER, HAND_OVER, NEVER, Outcome, Panel, Stage
from shortlist.panels.recipes import Candidate, bound_at
from shortlist.panels.router import Alone, columns_of
from shortlist.panels.routing import NO_ROUTER, UNFINISHED_ROUTER
from shortlist.panels.verdict import Verdict, measured_panel, one_answer, rechosen, verdict
from shortlist.panels.words import (
    advice,
    bound_sentence,
    in_words,
    measured_on,
    stages_in_words,
    verdict_sentences,
)
from shortlist.results.intervals import MARGIN
from shortlist.results.objective import Limit

Row = Mapping[str, Any]
"""Facts about a point, a judge, or a policy of at most two judges, as in :class:`PanelReport`."""

MOST_BUDGETS = 10


class Way(NamedTuple):
    """Cases that take one way through a panel, as shares of all cases.

    `share`: share of cases on this way. `reached`: share of cases that reach each stage. `answered`: share of
    cases that each stage answers.
    """

    share: float
    reached: tuple[float, ...]
    answered: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PanelReport:
    """Panel with the facts about it.

    `ways`: shares of the measuring cases on each way: first the way of cases outside every branch (all cases
    if there is no router), then each branch. `verdict`: the panel against the best single judge on the
    measuring cases. `facts`: plain values for JSON, text and page.

    Some of the facts: `point`: number of the panel on the front; None for the best single judge. `front`: for
    each point ``number``, its objectives by name, ``latency`` or None, ``promised`` or None, and ``stages``
    in words. Points are measured on the training cases; the first objective is reduced by its optimism
    (:mod:`shortlist.panels.optimism`). `judges`: the facts of a point, for each judge by ``name``.
    `cascades_of_two`: the facts of a point, for each policy of at most two judges that no other such policy
    beats. `is_corrected`: whether optimism was subtracted from the front. `router_refused`: reason why there
    is no router although columns were named.

    `held_out`: :class:`shortlist.panels.figures.PanelFigures`. `single`: figures of the best single judge
    within the limits. `best_of_all`: figures of the best of all judges, if limits exclude this judge.
    `n_parts`: number of parts of nested cross-validation; 0 where other cases measure. `is_tested`: whether
    the measuring cases are of another log. `instead`: for a single judge, the sentence about the panel that
    it replaces. `break_even`: see :func:`break_even_prices`. `notes`: missing values in the log. `claims`:
    the searched policies. `bound`: see :func:`shortlist.panels.recipes.bound_at`.
    """

    panel: Panel
    ways: tuple[Way, ...]
    verdict: Verdict
    guarantee: Guarantee | None
    facts: dict[str, Any]


def panel_report(
    choice: PanelChoice,
    point: int | None,
    notes: Sequence[str] = (),
    limits: Sequence[Limit] = (),
    *,
    margin: float = MARGIN,
    instead: str = "",
) -> PanelReport:
    """Return the facts about a point of a front; the point was picked within `limits`.

    `point`: None for the best single judge within the limits; this judge need not be on the front. `margin`:
    largest difference in the objective at which a panel that is worse than that judge counts as equally good.
    `instead`: sentence about the panel that a single judge replaces.
    """
    if point is None:
        found = single_found(choice, best_single(choice, limits))
        panel = choice.of_recipe(found.recipe)
        measured = rechosen(choice, panel, lambda part: single_panel(part, best_single(part, limits)))
    else:
        found, panel, measured = choice.found[point], choice.panel(point), measured_panel(choice, point)
    told = verdict(choice, measured, limits=limits, margin=margin)
    best = None if told.is_best else verdict(choice, measured, margin=margin)
    guarantee = choice.guarantees[point] if choice.guarantees and point is not None else None
    ways, is_balanced = ways_of(panel, choice.test), measure_of(choice.front.names) == BALANCED
    facts = _facts(choice, panel, found, told, limits) | _way_facts(panel, ways)
    asks = all(way.alone is None for way in found.recipe.ways)  # somebody about every case
    bound = bound_at(choice.cases, facts["price"] * choice.steps) if asks else 1.0
    some_right = float(choice.cases.is_right.any(axis=1).mean())
    hands_over = choice.cases.final.kind == HAND_OVER
    facts |= {
        "point": point,
        "best_of_all": None if best is None else _best_of_all(best),
        "guarantee": None if guarantee is None else guarantee.as_dict("cases"),
        "n_parts": len(choice.parts),
        "is_tested": choice.is_tested,
        "positive": choice.chosen.classes[choice.cases.positive] if is_balanced else None,
        "instead": instead,
        "bound": bound,
        "claims": [*choice.claims, *bound_sentence(bound, facts["price"], some_right, hands_over=hands_over)],
        "notes": [*choice.claims, *notes],
        "unknown": "".join(words_note(choice.chosen.unknown_words)),
    }
    facts |= {"measured_on": measured_on(facts), "advice": advice(facts)}
    promise = "" if guarantee is None else guarantee.sentence("cases")
    facts["verdict"] = verdict_sentences(facts, told, best, limits, promise)
    return PanelReport(panel, ways, told, guarantee, facts)


def _facts(
    choice: PanelChoice, panel: Panel, found: Candidate, told: Verdict, limits: Sequence[Limit]
) -> dict[str, Any]:
    """Return the facts about a panel and its rivals, on the training and the hold-out cases."""
    price = found.price / (len(choice.cases.truth) * choice.steps)
    objective, rechosen = measure_of(choice.front.names), told.rechosen_figures
    front = [_front_row(choice, number) for number in range(len(choice.found))]
    judges = _judge_rows(choice)
    of_two = [
        {**_values(choice, one), "stages": stages_in_words(choice.of_recipe(one.recipe))}
        for one in choice.of_two
    ]
    for row, value in zip(of_two, choice.of_two_values, strict=False):  # none of what is not corrected
        row[choice.front.names[0]] = value
    return {
        "objective": objective,
        "objectives": list(choice.front.names),
        "price": price,
        "classes": list(panel.classes),
        "n_judges": len(choice.chosen.judges),
        "n_chosen": len(choice.chosen.truth),
        "n_test": 0 if choice.parts else len(choice.test.truth),
        "n_calibration": 0 if choice.calibration is None else len(choice.calibration.truth),
        "held_out": dataclasses.asdict(told.panel_figures),
        "single": {"name": told.single, "title": told.title, **dataclasses.asdict(told.single_figures)},
        "single_rechosen": None if rechosen is None else dataclasses.asdict(rechosen),
        "difference": told.difference,
        "difference_interval": list(told.difference_interval),
        "p_value": told.p_value,
        "within_chance": told.within_chance,
        "kind": told.rule.word.value,
        "because": told.rule.because or None,
        "take": "panel" if told.rule.takes_first else "single",
        "one_answer": _one_answer(choice, told),
        "constant": None
        if told.constant is None
        else dict(zip(("answer", "value"), told.constant, strict=True)),
        "margin": told.margin,
        "recommended": told.recommended,
        "sentence": told.sentence(),
        "n_more_cases": told.n_more_cases,
        "correlation": told.correlation,
        "n_independent": told.n_independent,
        "front": front,
        "judges": judges,
        "router_refused": next(
            (one for one in choice.claims if one.startswith((NO_ROUTER, UNFINISHED_ROUTER))), ""
        ),
        "is_corrected": "on_training_cases" in choice.front.extras,
        "cascades_of_two": of_two,
        "budgets": what_one_gets(front, judges, of_two, price=price, objective=objective, limits=limits),
        "limits": [str(limit) for limit in limits],
        "break_even": break_even_prices(choice, found),
        "errors": None
        if told.panel_figures.errors is None
        else {
            "positive": choice.chosen.classes[choice.cases.positive],
            "panel": told.panel_figures.errors,
            "single": told.single_figures.errors,
        },
    }


def _one_answer(choice: PanelChoice, told: Verdict) -> dict[str, Any] | None:
    """Return the best constant answer if it beats the single judge on the hold-out cases; otherwise None."""
    if choice.cases.is_open or choice.guarantees:
        return None
    scoring = choice.scoring(choice.test)
    label, lost = one_answer(choice, choice.test, scoring)
    value = scoring.value(float(lost.mean()))
    is_better = scoring.sign * value > scoring.sign * told.single_figures.value
    return {"answer": label, "value": value} if is_better else None


def _way_facts(panel: Panel, ways: Sequence[Way]) -> dict[str, Any]:
    """Return the stages, the router and the final treatment of cases of a panel, with shares of the cases."""
    left = max(0.0, round(1 - sum(sum(way.answered) for way in ways), 9))
    stages, router = [_stages_facts(panel, number, way) for number, way in enumerate(ways)], None
    if panel.router is not None:
        conditions = panel.router.conditions()
        branches = [
            {"number": number, "when": conditions[number], "share": ways[number].share, "stages": own}
            for number, own in enumerate(stages)
            if number in conditions
        ]
        router = {"columns": columns_of(panel.router), "unrouted": ways[0].share, "branches": branches}
    return {
        "stages": stages[0],
        "router": router,
        "final": {"kind": panel.final.kind, "price": panel.final.price, "share": left},
        "in_words": in_words(stages[0], router, panel, left),
    }


def ways_of(panel: Panel, log: AnswerLog) -> tuple[Way, ...]:
    """Return the ways of a panel, with the shares of a log's cases at each stage."""
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
        **dict(zip(choice.front.names, choice.front.values[number].tolist(), strict=True)),
        "promised": choice.guarantees[number].promised if choice.guarantees else None,
        "stages": stages_in_words(choice.panel(number)),
    }


def _values(choice: PanelChoice, found: Candidate) -> dict[str, Any]:
    """Return the objectives of a policy on the training cases, its price, and its latency or None."""
    values: dict[str, Any] = choice.values_of(found)
    if measure_of(choice.front.names) == BALANCED:
        values[BALANCED] = sum(values[name] for name in led_by(BALANCED)) / 2
    return values | {LATENCY: None if math.isnan(found.seconds) else found.seconds}


def _judge_rows(choice: PanelChoice) -> list[dict[str, Any]]:
    prices = choice.chosen.prices.mean(axis=0).tolist()
    return [
        {"name": name, **_values(choice, single_found(choice, judge)), "price": prices[judge]}
        for judge, name in enumerate(choice.chosen.judges)
    ]


def _best_of_all(best: Verdict) -> dict[str, Any]:
    beside = {"difference": best.difference, "difference_interval": list(best.difference_interval)}
    return {"name": best.single, **dataclasses.asdict(best.single_figures), **beside, "p_value": best.p_value}


def _stages_facts(panel: Panel, number: int, way: Way) -> list[dict[str, Any]]:
    stages = panel.ways[number]
    return [
        _stage_facts(panel, stage, place + 1, is_last=place + 1 == len(stages))
        | {"reached": way.reached[place], "answered": way.answered[place]}
        for place, stage in enumerate(stages)
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
    """Return the number of votes of each judge so far; None if no judge has more than one vote."""
    if not isinstance(decision, JudgeVotes) or {*decision.votes} <= {1} or len(decision.judges) < 2:
        return None
    pairs = zip(decision.judges, decision.votes, strict=False)
    return {panel.judges[judge]: votes for judge, votes in pairs}


def calls_of(panel: Panel, outcome: Outcome, judges: tuple[str, ...]) -> Floats:
    """Return the share of the cases about which each judge of a log is asked, ``(n_judges,)``."""
    shares = np.zeros(len(judges))
    for way, stages in enumerate(panel.ways):
        for number, stage in enumerate(stages):
            share = float(((outcome.way == way) & (outcome.stage >= number)).mean())
            for judge in stage.asks:
                shares[judges.index(panel.judges[judge])] += share
    return shares


def break_even_prices(choice: PanelChoice, own: Candidate) -> dict[str, dict[str, Any]]:
    """Return for each judge, by name, the price at which another policy would replace `own`.

    Other policies are the points of the front, the single judges, and undominated policies of at most two
    judges, but not every policy of the search. If latency is an objective, slower policies are left out.
    Under a promise only points of the front that keep the promise count.

    The facts of a judge are ``now``, its price now, and ``up_to``: above this price another policy with no
    more loss is cheaper; None if no policy ever is. A judge that `own` does not ask has ``below`` instead of
    ``up_to``: under this price a policy that asks the judge is cheaper. The result is empty if nothing has a
    price.
    """
    now = choice.chosen.prices.mean(axis=0)
    if not now.any():
        return {}
    rivals = np.array(_calls_of_rivals(choice, own)).reshape(-1, len(now))
    calls = _calls_on_training_cases(choice, choice.of_recipe(own.recipe))
    gaps = (rivals - calls) @ now
    told: dict[str, dict[str, Any]] = {}
    for judge, name in enumerate(choice.chosen.judges):
        here, less = calls[judge], calls[judge] - rivals[:, judge]
        differ = less > 1e-12 if here > 0 else less < -1e-12
        prices = (now[judge] + gaps[differ] / less[differ]).tolist()
        if here > 0:
            dearer = [price for price in prices if price >= now[judge]]
            told[name] = {"now": float(now[judge]), "up_to": min(dearer) if dearer else None}
        elif prices and max(prices) > 0:
            told[name] = {"now": float(now[judge]), "below": max(prices)}
    return told


def _calls_of_rivals(choice: PanelChoice, own: Candidate) -> list[Floats]:
    """Return the calls of each judge per case, for each policy that loses no more than `own`."""
    judges = range(choice.cases.n_judges)
    others = (
        [*choice.of_two, *(single_found(choice, judge) for judge in judges)] if not choice.guarantees else []
    )
    promised = [one.promised for one in choice.guarantees] or [True] * len(choice.found)
    panels = [
        (one, choice.panel(place))
        for place, one in enumerate(choice.found)
        if one is not own and promised[place]
    ]
    panels += [(one, choice.of_recipe(one.recipe)) for one in others if one.recipe != own.recipe]
    names = [name for name in choice.front.names if name != PRICE]
    return [_calls_on_training_cases(choice, panel) for one, panel in panels if no_worse(one, own, names)]


def _calls_on_training_cases(choice: PanelChoice, panel: Panel) -> Floats:
    return calls_of(panel, panel.run(choice.chosen), choice.chosen.judges)


def what_one_gets(
    front: Sequence[Row], judges: Sequence[Row], of_two: Sequence[Row], *,
    price: float, objective: str, limits: Sequence[Limit],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the best point of the front, and the best single judge, for round budgets per case.

    Points and judges keep the requested limits, except limits on the price. The budgets go up to about twice
    the price of the panel; the last budget pays for the dearest point. A budget is left out if it buys the
    same point as the budget before.
    """
    rows: list[dict[str, Any]] = []
    kept = [limit for limit in limits if limit.name != PRICE]
    front, judges, of_two = (_within(each, kept) for each in (front, judges, of_two))
    if not front:
        return []
    most = max(row["price"] for row in front)
    near = round_budgets([min(most, 2 * price) if price else most])
    for budget in (*near, *(one for one in round_budgets([most])[-1:] if one > near[-1])):
        point, judge = (_best(among, objective, budget) for among in (front, judges))
        if point is not None and not (rows and rows[-1]["number"] == point["number"]):
            two = _best(of_two, objective, budget)
            single = None if judge is None else {"name": judge["name"], objective: judge[objective]}
            rows.append({"budget": budget, **point, "single": single, "two_judges": two})
    return rows


def _within(rows: Sequence[Mapping[str, Any]], limits: Sequence[Limit]) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(one.met_by(np.array([row[one.name]]), None).all() for one in limits)]


def _best(rows: Sequence[Mapping[str, Any]], objective: str, budget: float) -> Mapping[str, Any] | None:
    within = [row for row in rows if row["price"] <= budget]
    return (
        min(within, key=lambda row: (-sign_of(objective) * row[objective], row["price"])) if within else None
    )


def round_budgets(prices: Sequence[float]) -> list[float]:
    """Return at most ten budgets per case: multiples of 1, 2 or 5 times a power of ten, up to `prices`.

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
