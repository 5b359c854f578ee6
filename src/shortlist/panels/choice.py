"""From a log to a front of panels: which cases choose, which measure, and what each point does on them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, decimal_steps
from shortlist.guarantees.guarantee import Demand, Guarantee
from shortlist.guarantees.thresholds import (
    Trial,
    count_answers,
    most_that_holds,
    possible_thresholds,
    promise_each,
)
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.decisions import IGNORED, PLURALITY, ConfidenceScale, confidence_scale, heard
from shortlist.panels.learning import DAWID_SKENE, LOGISTIC, VOTES, OutOfFold, folds_of
from shortlist.panels.policy import ANSWER, Final, Outcome, Panel
from shortlist.panels.recipes import Cases, Found, Recipe, right_or_wrong, stages_of
from shortlist.panels.routing import routed_policies
from shortlist.panels.search import find_policies
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget

AUTO = "auto"
ACCURACY, PRICE, LATENCY, ERROR_COST = "accuracy", "price", "latency", "error-cost"
OBJECTIVES = {ACCURACY: "max", ERROR_COST: "min", PRICE: "min", LATENCY: "min"}
"""What a front of panels may be of, each with its sense."""

FEWEST_CASES = 20
"""Fewer cases of known truth choose nothing."""
FINEST_STEPS = 10**9
"""Prices that are no decimals are rounded to this part of the largest one."""


@dataclass(frozen=True)
class PanelOptions:
    """What panels may do, and how they are chosen.

    Attributes
    ----------
    decide : {"auto", "logistic", "dawid-skene", "votes"}
        How answers of several judges are decided; votes are always candidates. ``auto`` is logistic
        regression for up to five judges or where they tell how sure they are, and otherwise the model of
        Dawid and Skene.
    votes : {"plurality", "majority"}
        Which class wins votes: the one with most, or the one with more than half; equal classes are never
        decided.
    missing : {"ignored", "counted"}
        Whether the votes of the silent count in the denominator.
    final : Final
        What the last stage does where it is not sure.
    max_stages : int
        From 1 to 3.
    error_costs : mapping of (str, str) to int
        What answering the first class costs where the second is right; 1 for every mistake by default.
    test_share : float
        The share of the cases that measures and chooses nothing.
    demand : Demand or None
        What is to be promised, on calibration cases: as many as those that measure.
    n_folds : int
    seed : int
    router : tuple of str
        Features of the log, which cost nothing, that may choose among panels before anybody is asked, or
        answer alone.
    """

    decide: str = AUTO
    votes: str = PLURALITY
    missing: str = IGNORED
    final: Final = field(default_factory=Final)
    max_stages: int = 2
    error_costs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    test_share: float = 0.25
    demand: Demand | None = None
    n_folds: int = 5
    seed: int = 0
    router: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PanelChoice:
    """A front of panels, with all that makes each of its points a policy, and the cases of each kind.

    Attributes
    ----------
    front : Front
        Accuracy, or the cost of errors, and price and perhaps latency, on the cases that choose, out of fold
        wherever something was learned. The decisions are the stage in which each judge is asked, 0: never.
    found : tuple of Found
        The policy of each point.
    cases : Cases
    scale : ConfidenceScale
    chosen, test, calibration : AnswerLog
        The cases that choose, those that measure, and those that set thresholds of promises, if any.
    claims : tuple of str
        What was searched completely, and what was not.
    guarantees : tuple of Guarantee
        Of each point, where something is to be promised.
    """

    front: Front
    found: tuple[Found, ...]
    cases: Cases
    scale: ConfidenceScale
    chosen: AnswerLog
    test: AnswerLog
    calibration: AnswerLog | None
    claims: tuple[str, ...]
    guarantees: tuple[Guarantee, ...] = ()

    def panel(self, point: int) -> Panel:
        """Return the panel of a point, with the judges that it asks."""
        return _panel(self, self.found[point], self.guarantees[point] if self.guarantees else None)

    def of_recipe(self, recipe: Recipe) -> Panel:
        """Return the panel of any recipe, such as that of a single judge."""
        return _panel(self, Found(0, 0, math.nan, recipe), None)


def choose_panels(
    log: AnswerLog,
    options: PanelOptions | None = None,
    *,
    objectives: Sequence[str] = (ACCURACY, PRICE),
    budget: Budget | None = None,
) -> PanelChoice:
    """Find the front of panels over the judges of a log.

    A quarter of the cases is held out and measures. Cases of one group stay together.

    Parameters
    ----------
    log : AnswerLog
    options : PanelOptions, optional
    objectives : sequence of str
        Out of :data:`OBJECTIVES`; the first is accuracy or the cost of errors, and price is among them.
    budget : Budget, optional
        Its limit, or Ctrl-C, ends the search with the panels found so far.

    Raises
    ------
    BadInputError
        If fewer than 20 cases of known truth, or one class, are there; or latency is an objective and no log
        tells it.
    """
    options, budget = options or PanelOptions(), budget or Budget()
    _check(log, options, objectives)
    known = log.at(log.truth >= 0)
    chosen, test, calibration = _split(known, options)
    scale = confidence_scale(chosen)
    cases, steps = cases_of(chosen, scale, options)
    with_latency = LATENCY in objectives
    searched = find_policies(cases, max_stages=options.max_stages, with_latency=with_latency, budget=budget)
    found, claims = searched.found, searched.claims
    if options.router:
        features, halves = chosen.features[list(options.router)], folds_of(chosen, 2, options.seed)
        found, said = routed_policies(
            searched, cases, features, halves, with_latency=with_latency, budget=budget
        )
        claims = [*claims, *said]
    every = len(log.judges) <= ALL_SETS_UP_TO and options.max_stages < 3 and not budget.limit_text
    every &= not options.router
    complete = every and options.final.kind == ANSWER and LATENCY not in objectives
    proof = Proof(ProofKind.COMPLETE if complete else ProofKind.APPROXIMATE, limit=budget.limit_text)
    front = _front(found, cases, objectives, steps=steps, judges=log.judges, proof=proof)
    front = replace(front, seconds=budget.elapsed, extras={"claims": claims, "n_cases": len(cases.truth)})
    choice = PanelChoice(front, tuple(found), cases, scale, chosen, test, calibration, tuple(claims))
    ordered = _ordered(choice, objectives, steps)
    return ordered if options.demand is None else with_promises(ordered, options.demand)


def _check(log: AnswerLog, options: PanelOptions, objectives: Sequence[str]) -> None:
    known = log.truth[log.truth >= 0]
    if len(known) < FEWEST_CASES:
        raise BadInputError(
            "log", f"must have at least {FEWEST_CASES} cases of known truth", f"{len(known)}", "Add cases."
        )
    if len(np.unique(known)) < 2:
        label = log.classes[known[0]]
        raise BadInputError("log", "must have at least two classes as truth", f"{label!r} in every case")
    if options.max_stages not in {1, 2, 3}:
        raise BadInputError("max_stages", "must be 1, 2 or 3", repr(options.max_stages))
    unknown = [name for name in objectives if name not in OBJECTIVES]
    if unknown or PRICE not in objectives or objectives[0] not in {ACCURACY, ERROR_COST}:
        raise BadInputError(
            "objectives",
            "must be accuracy or error-cost, then price, and perhaps latency",
            str(list(objectives)),
        )
    if options.error_costs and ERROR_COST not in objectives:
        raise BadInputError(
            "error_costs", "must come with the objective min error-cost", "other objectives", "Name it first."
        )
    for name in options.router:
        if name not in log.features.columns or name in log.judges:
            raise BadInputError("router", "must name features of the log that are no judges", repr(name))
    if LATENCY in objectives and (log.latency is None or np.isnan(log.latency).any()):
        raise BadInputError("latency", "must be known for every call to be an objective", "gaps")


def _split(log: AnswerLog, options: PanelOptions) -> tuple[AnswerLog, AnswerLog, AnswerLog | None]:
    """Return the cases that choose, those that measure, and those that calibrate."""
    n_parts = max(2, round(1 / options.test_share))
    parts = folds_of(log, n_parts, options.seed)
    if options.demand is None:
        return log.at(parts != 0), log.at(parts == 0), None
    return log.at(parts > 1), log.at(parts == 0), log.at(parts == 1)


def cases_of(log: AnswerLog, scale: ConfidenceScale, options: PanelOptions) -> tuple[Cases, int]:
    """Return the cases that choose in whole steps, and how many steps of price one unit has."""
    answers = heard(log, scale)
    prices, steps = _in_steps(log.prices, options.final.price)
    learner = options.decide
    if learner == AUTO:
        few = len(log.judges) <= ALL_SETS_UP_TO
        learner = LOGISTIC if few or scale.told.any() else DAWID_SKENE
    folds = folds_of(log, options.n_folds, options.seed)
    without = [  # as they are where a fold has no say in what confidence is worth
        heard(log, confidence_scale(log.at(folds != fold))) if scale.told.any() else answers
        for fold in np.unique(folds)
    ]
    decisions = {} if learner == VOTES else {learner: OutOfFold(answers, log.truth, folds, learner, without)}
    latency = np.full(prices.shape, np.nan) if log.latency is None else log.latency
    cases = Cases(
        answers, log.truth, prices, latency, _losses(log, options), options.final,
        round(options.final.price * steps), decisions, options.votes, options.missing,
    )  # fmt: skip
    return cases, steps


def _in_steps(prices: NDArray[np.float64], final: float) -> tuple[NDArray[np.int64], int]:
    """Return prices as integers, and how many steps one unit has; sums of all stay below 2^53."""
    flat = np.append(prices.ravel(), final)
    scaled, scales, decimal = decimal_steps(flat, np.array([0, len(flat)]))
    if decimal[0] and np.abs(scaled).sum(dtype=float) < LARGEST_INTEGER:
        return scaled[:-1].reshape(prices.shape), int(scales[0])
    steps = 10 ** max(0, int(math.log10(FINEST_STEPS / max(float(flat.max()), 1e-300))))
    while flat.sum() * steps >= LARGEST_INTEGER:
        steps //= 10
    return np.rint(prices * steps).astype(np.int64), max(1, steps)


def _losses(log: AnswerLog, options: PanelOptions) -> NDArray[np.int64]:
    losses = right_or_wrong(len(log.classes))
    for (said, true), cost in options.error_costs.items():
        for label in (said, true):
            if label not in (*log.classes, ""):
                raise BadInputError(
                    "error_costs", f"must name classes, {', '.join(log.classes)}", repr(label)
                )
        row = len(log.classes) if not said else log.classes.index(said)
        losses[row, log.classes.index(true)] = cost
    return losses


def _values(cases: Cases, found: Found, objectives: Sequence[str], steps: int) -> list[float]:
    """Return the objectives of a policy, of one case in the mean."""
    n = len(cases.truth)
    told = {
        ACCURACY: 1 - found.loss / n, ERROR_COST: found.loss / n,
        PRICE: found.price / (n * steps), LATENCY: found.seconds,
    }  # fmt: skip
    return [told[name] + 0.0 for name in objectives]


def _front(
    found: Sequence[Found],
    cases: Cases,
    objectives: Sequence[str],
    *,
    steps: int,
    judges: Sequence[str],
    proof: Proof,
) -> Front:
    made = [Objective(name, Sense(OBJECTIVES[name]), scale=None) for name in objectives]
    decisions = np.array([_asked_at(one.recipe, cases.n_judges) for one in found]).reshape(-1, cases.n_judges)
    values = np.array([_values(cases, one, objectives, steps) for one in found]).reshape(-1, len(made))
    return Front.from_values(made, values, decisions, judges, proof, method="panel")


def _asked_at(recipe: Recipe, n_judges: int) -> list[int]:
    """Return the first stage, from 1, in which each judge is asked; 0: never."""
    stages = [0] * n_judges
    longest = max(len(way.sets) for way in recipe.ways)
    for number in range(longest, 0, -1):
        for way in recipe.ways:
            for judge in way.sets[number - 1] if number <= len(way.sets) else ():
                stages[judge] = number
    return stages


def _ordered(choice: PanelChoice, objectives: Sequence[str], steps: int) -> PanelChoice:
    """Bring the policies into the order of the points of the front."""
    place: dict[tuple[float, ...], Found] = {}
    for one in choice.found:
        place.setdefault(tuple(_values(choice.cases, one, objectives, steps)), one)
    return replace(choice, found=tuple(place[tuple(row)] for row in choice.front.values.tolist()))


def _panel(choice: PanelChoice, found: Found, guarantee: Guarantee | None) -> Panel:
    log = choice.chosen
    members, recipe, n_classes = list(found.recipe.judges), found.recipe, len(log.classes)
    places = {judge: place for place, judge in enumerate(members)}
    latency = np.full(len(members), np.nan)
    if log.latency is not None:
        latency = log.latency[:, members].mean(axis=0)
    panel = Panel(
        tuple(log.judges[judge] for judge in members),
        log.classes,
        stages_of(recipe, choice.cases.decisions, n_classes, places),
        tuple(log.prices[:, members].mean(axis=0).tolist()),
        choice.scale.at(members),
        tuple(latency.tolist()),
        choice.cases.final,
        router=recipe.router,
        branches=tuple(stages_of(way, choice.cases.decisions, n_classes, places) for way in recipe.branches),
    )
    return (
        panel
        if guarantee is None
        else replace(panel, least=guarantee.threshold, promise=guarantee.sentence())
    )


def with_promises(choice: PanelChoice, demand: Demand) -> PanelChoice:
    """Test on the calibration cases what can be promised about each point, all points at once."""
    assert choice.calibration is not None
    trials = []
    for point in range(len(choice.found)):
        panel = _panel(choice, choice.found[point], None)
        own, new = panel.run(choice.chosen), panel.run(choice.calibration)
        thresholds = possible_thresholds(own.sure)
        trials.append(
            Trial(
                thresholds,
                count_answers(*_scored(own, choice.chosen), thresholds),
                count_answers(*_scored(new, choice.calibration), thresholds),
            )
        )
    guarantees, _ = promise_each(trials, demand)
    instead = None if any(one.promised for one in guarantees) else most_that_holds(trials, demand)
    extras = {
        **choice.front.extras,
        "promises": [_fields(one) for one in guarantees],
        "promised": [one.promised for one in guarantees],
        "promised_instead": None if instead is None else _fields(instead),
    }
    return replace(choice, front=replace(choice.front, extras=extras), guarantees=guarantees)


def _scored(outcome: Outcome, log: AnswerLog) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return how sure the answers are, less than any threshold where there is none, and which are right."""
    answered = outcome.codes >= 0
    return np.where(answered, outcome.sure, -1.0), np.asarray(answered & (outcome.codes == log.truth))


def _fields(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "accuracy": guarantee.accuracy, "confidence_level": guarantee.confidence_level,
        "threshold": guarantee.threshold, "n_rows": guarantee.n_rows,
        "n_answered": guarantee.n_answered, "n_right": guarantee.n_right,
    }  # fmt: skip


def told_notes(log: AnswerLog, choice: PanelChoice) -> list[str]:
    """Return what is to be said about the cases: how many choose and measure, and what was missing."""
    said = [*log.notes]
    parts = f"{counted(len(choice.chosen.truth), 'case')} choose, {len(choice.test.truth):,} measure"
    if choice.calibration is not None:
        parts += f", {len(choice.calibration.truth):,} calibrate"
    return [*said, parts + "."]
