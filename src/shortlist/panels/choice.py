"""Fronts of panels from a log: training cases, hold-out cases, and the figures of each point."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from shortlist._words import all_of, counted
from shortlist.guarantees.guarantee import Demand, promise_facts
from shortlist.guarantees.promise import guarantee_from, most_that_holds
from shortlist.panels.answer_log import AnswerLog, by_agreement, can_agree, cases_in_words, n_different
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.decisions import confidence_scale
from shortlist.panels.learning import OutOfFold, folds_of
from shortlist.panels.objectives import (
    ACCURACY,
    BALANCED,
    OBJECTIVES,
    PRICE,
    measure_of,
    undominated,
    values_of,
)
from shortlist.panels.optimism import without_optimism
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import (
    PanelOptions,
    all_choose,
    cases_of,
    check_classes_of_parts,
    check_panel_options,
    fully_asked,
    split_cases,
)
from shortlist.panels.policy import ANSWER, NEVER, REJECT, Final
from shortlist.panels.promises import (
    Candidates,
    candidates_of,
    most_likely,
    promised,
    recipe_of,
    ways_to_ask,
)
from shortlist.panels.recipes import Candidate, Cases, Recipe, candidate_of, measured_cases
from shortlist.panels.routing import N_FOLDS, routed_policies
from shortlist.panels.search import Searched, find_policies
from shortlist.panels.unseen_cases import unseen_cases
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget, silent
from shortlist.runs.units import Work, run_units
from shortlist.runs.workers import Unit, Where

N_PARTS = 5
"""Number of parts into which few cases are split; each part measures panels chosen on the other parts."""
OWN_SHARE = 0.5
"""Share of a time limit for the search on all cases; the searches without each part share the remaining time.
"""


def choose_panels(
    log: AnswerLog,
    options: PanelOptions | None = None,
    *,
    objectives: Sequence[str] = (ACCURACY, PRICE),
    budget: Budget | None = None,
    test: AnswerLog | None = None,
    workers: Where = 1,
) -> PanelChoice:
    """Return the front of panels over the judges of a log.

    Either some cases are held out to measure panels, or panels are chosen anew without each part of the
    cases; see :func:`shortlist.panels.panel_options.all_choose`. Cases of one group stay together.

    `objectives`: names in :data:`shortlist.panels.objectives.OBJECTIVES`, price included; see `LEADING`
    there. `budget`: its limit, or Ctrl-C, ends the search with the panels found so far. `test`: another log,
    whose cases measure the panels. The cases of `log` then choose panels, except cases that calibrate a
    promise. `workers`: place of the repeated searches without each part of the cases; see
    :func:`shortlist.runs.units.open_workers`. The result does not depend on the place.

    Raises BadInputError if there are fewer than 20 cases of known truth, if there is only one class, or if
    latency is an objective and the log has none.
    """
    options, budget = options or PanelOptions(), budget or Budget()
    check_panel_options(log, options, objectives)
    known, gaps = fully_asked(log.at(log.truth >= 0))
    unseen = None if test is None else unseen_cases(test, log)
    known = by_agreement(known) if log.is_open else known
    if unseen is not None:
        found = _chosen(_beside(unseen, known, options), gaps, options, objectives, budget)
        return replace(without_optimism(found), is_tested=True)
    if not all_choose(n_different(known), options, objectives):
        return without_optimism(_chosen(split_cases(known, options), gaps, options, objectives, budget))
    part_of = folds_of(known, N_PARTS, options.seed)
    order = np.argsort(part_of, kind="stable")
    known, part_of = known.at(order), part_of[order]
    ends = [budget.until(OWN_SHARE + (1 - OWN_SHARE) * place / N_PARTS) for place in range(N_PARTS + 1)]
    every: list[_Parts] = [(known, known, None)]
    every += [(known.at(part_of != part), known.at(part_of == part), None) for part in range(N_PARTS)]
    if workers == 1:
        whole, *parts = [
            _with_few_decisions(_chosen(cases, [] if number else gaps, options, objectives, end))
            for number, (cases, end) in enumerate(zip(every, ends, strict=True))
        ]
    else:
        own = [(cases, [] if number else gaps, options, objectives) for number, cases in enumerate(every)]
        whole, *parts = _by_workers(own, budget, workers)
    late = "A limit ended the cross-validation early: its panels were searched for less time than this one."
    is_late = any("Not finished" in claim for part in parts for claim in part.claims)
    claims = (*whole.claims, late) if is_late or budget.stopped else whole.claims
    front = replace(
        whole.front, seconds=budget.elapsed, extras={**whole.front.extras, "claims": list(claims)}
    )
    return without_optimism(replace(whole, parts=tuple(parts), claims=claims, front=front))


_Parts: TypeAlias = tuple[AnswerLog, AnswerLog, AnswerLog | None]
"""Training cases, hold-out cases, and calibration cases."""

_Question: TypeAlias = tuple[_Parts, list[str], PanelOptions, Sequence[str]]


def _by_workers(asked: Sequence[_Question], budget: Budget, workers: Where) -> list[PanelChoice]:
    """Return the choice on all cases, then the choices without each part; workers make the choices.

    A choice has as much time as in one process.
    """
    share = (1 - OWN_SHARE) / N_PARTS
    limits = [
        replace(budget, report=silent).until(OWN_SHARE if not place else share) for place in range(len(asked))
    ]
    units = [
        Unit(f"part {place}", _chosen_there, (one, limit))
        for place, (one, limit) in enumerate(zip(asked, limits, strict=True))
    ]
    work = Work(workers, report=budget.report, cancellation=budget.cancellation)
    found = dict(run_units(units, work, stage="searches without each part of the cases"))
    # what a cancellation left out has single judges at least
    return [found.get(unit.key) or _chosen_there(*unit.arguments) for unit in units]


def _chosen_there(asked: _Question, budget: Budget) -> PanelChoice:
    return _with_few_decisions(_chosen(*asked, budget.begun()))


def _with_few_decisions(choice: PanelChoice) -> PanelChoice:
    """Return a choice with the decisions of its own policies alone; all decisions would fill the memory."""
    recipes = [one.recipe for one in (*choice.found, *choice.of_two)]
    sets = {one for recipe in recipes for way in recipe.ways for one in way.sets}
    for decision in choice.cases.decisions.values():
        if isinstance(decision, OutOfFold):
            decision.keep({*sets, *(tuple(sorted(one)) for one in sets)})
    return choice


def measured_on_unseen(choice: PanelChoice, log: AnswerLog, test: AnswerLog) -> PanelChoice:
    """Return a choice made on `log` with the cases of `test`, another log, to measure its panels."""
    return replace(choice, test=unseen_cases(test, log), parts=(), is_tested=True)


def _beside(
    unseen: AnswerLog, known: AnswerLog, options: PanelOptions
) -> tuple[AnswerLog, AnswerLog, AnswerLog | None]:
    """Return training cases, unseen cases to measure panels, and calibration cases of a promise if any."""
    if options.demand is None:
        return known, unseen, None
    chosen, _, calibration = split_cases(known, options)
    return chosen, unseen, calibration


def _chosen(
    parts: _Parts,
    gaps: list[str],
    options: PanelOptions,
    objectives: Sequence[str],
    budget: Budget,
) -> PanelChoice:
    chosen, test, calibration = parts
    check_classes_of_parts(chosen, test, objectives)
    scale = confidence_scale(chosen)
    cases, steps = cases_of(chosen, scale, options)
    n_judges = len(chosen.judges)  # each stage asks others
    every = n_judges <= ALL_SETS_UP_TO and min(options.max_stages, n_judges) < 3 and not budget.limit_text
    every &= not options.router and options.demand is None
    every &= all(OBJECTIVES[name].is_exhausted for name in objectives)
    found, claims, of_two = _searched(chosen, cases, options, objectives, budget)
    if options.demand is not None and options.final.kind == ANSWER:  # an answer has to be sure enough
        cases = replace(cases, final=Final(REJECT))
    complete = every and options.final.kind == ANSWER
    proof = Proof(ProofKind.COMPLETE if complete else ProofKind.APPROXIMATE, limit=budget.limit_text)
    front = _front(found, cases, objectives, steps=steps, judges=chosen.judges, proof=proof)
    choice = PanelChoice(
        front, tuple(found), cases, scale, chosen, test, calibration, (*claims, *gaps), tuple(of_two),
        steps=steps,
    )  # fmt: skip
    if options.demand is None:
        choice = _ordered(choice)
    else:
        choice = _promising(choice, options.demand, options.max_stages, budget)
    extras = {**choice.front.extras, "claims": list(choice.claims), "n_cases": len(cases.truth)}
    return replace(choice, front=replace(choice.front, seconds=budget.elapsed, extras=extras))


def _promising(choice: PanelChoice, demand: Demand, max_stages: int, budget: Budget) -> PanelChoice:
    """Return the front of policies that keep a promise.

    Candidates are the points of the front without a promise, and ways to ask whose thresholds are still open.
    """
    fronts = [one.recipe for one in choice.found]
    ways = [*ways_to_ask(choice.cases, max_stages), *(one for one in fronts if one.router is not None)]
    known = set(ways)
    points = [one for one in fronts if one not in known]
    found = candidates_of(choice, [*points, *ways], budget, n_points=len(points))
    told = (
        f"{counted(len(found.recipes), 'policy')} tested for the promise, with {len(found.ways):,} "
        "thresholds in all. These are policies of at most two stages, or on the front without a promise. "
        "Those most likely to keep the promise, by the training cases, are tested first."
    )
    measured = replace(choice, cases=measured_cases(choice.cases), claims=(*choice.claims, told))
    return with_promises(measured, demand, found)


def _searched(
    chosen: AnswerLog, cases: Cases, options: PanelOptions, objectives: Sequence[str], budget: Budget
) -> tuple[list[Candidate], list[str], list[Candidate]]:
    if measure_of(objectives) == BALANCED:
        found, claims = find_by_two_errors(cases, objectives, max_stages=options.max_stages, budget=budget)
        useful = [one for one in found if not _is_idle(one)] if options.demand is None else []
        return useful or found, claims, []
    searched = find_policies(cases, max_stages=options.max_stages, objectives=objectives, budget=budget)
    if options.demand is None:
        searched = _without_idle(searched, objectives)
    if not options.router:
        return searched.found, searched.claims, searched.of_two
    features, folds = chosen.features[list(options.router)], folds_of(chosen, N_FOLDS, options.seed)
    found, said = routed_policies(
        searched, cases, features, folds, groups=chosen.groups, objectives=objectives, budget=budget
    )
    return found, [*searched.claims, *said], searched.of_two


DOUBLINGS = 4
"""Number of doublings, and of halvings, of the balanced ratio of weights: a missed positive weighs from 1/16
to 16 times as much as in the balanced pair.
"""
FINEST_WEIGHT = 4
"""Value of the smaller of two weights; the larger weight is rounded to a whole number."""


def weights_of(n_positive: int, n_negative: int) -> list[tuple[int, int]]:
    """Return pairs of weights, of a missed positive and of a false alarm, beginning with the balanced pair.

    >>> weights_of(50, 100)[:3]
    [(8, 4), (4, 4), (16, 4)]
    """
    doublings = sorted(range(-DOUBLINGS, DOUBLINGS + 1), key=abs)
    ratios = [n_negative / n_positive * 2.0**one for one in doublings]
    return list(
        dict.fromkeys(
            (round(FINEST_WEIGHT * ratio), FINEST_WEIGHT)
            if ratio >= 1
            else (FINEST_WEIGHT, round(FINEST_WEIGHT / ratio))
            for ratio in ratios
        )
    )


def find_by_two_errors(
    cases: Cases, objectives: Sequence[str], *, max_stages: int, budget: Budget
) -> tuple[list[Candidate], list[str]]:
    """Return policies by missed positives, false alarms and price, and claims about the search.

    For each pair of weights of the two errors the front of loss and price is searched, completely or not.
    Then the policies of all weights are compared. So every policy found is best at some pair of weights and
    some price; other points are not searched. `cases`: of two classes.
    """
    n_positive = int((cases.truth == cases.positive).sum())
    weights = weights_of(n_positive, len(cases.truth) - n_positive)
    found: dict[Recipe, Candidate] = {}
    claims: list[str] = []
    n_done = 0
    for missed, alarm in weights:
        losses = cases.losses * np.where(np.arange(2) == cases.positive, missed, alarm)
        searched = find_policies(replace(cases, losses=losses), max_stages=max_stages, budget=budget)
        for one in searched.found:
            if one.recipe not in found:
                found[one.recipe] = candidate_of(cases, one.recipe, objectives)
        claims = claims or searched.claims
        if budget.stopped:
            break
        n_done += 1
    told = (
        f"For recall and specificity, all this is searched with {counted(n_done, 'weight')} of a missed "
        f"positive against a false alarm, from 1:{2**DOUBLINGS} to {2**DOUBLINGS}:1 in shares. Points that "
        "are best with none of these weights are not searched."
    )
    return undominated(list(found.values()), objectives), [*claims, told]


def _is_idle(found: Candidate) -> bool:
    """Return whether the last stage never decides, so that its judges are paid for nothing."""
    return found.recipe.thresholds[-1] == NEVER


def _without_idle(searched: Searched, objectives: Sequence[str]) -> Searched:
    """Return the result of a search without policies that pay for answers without effect.

    If a person decides every case that reaches the last stage, asking the judges of this stage gains nothing.
    """
    found, of_two, tried = (
        [one for one in every if not _is_idle(one)]
        for every in (searched.found, searched.of_two, searched.tried)
    )
    if len(found) < len(searched.found):
        found = undominated([*found, *of_two, *tried], objectives)
    return searched._replace(found=found, of_two=of_two, tried=tried)


def _front(
    found: Sequence[Candidate],
    cases: Cases,
    objectives: Sequence[str],
    *,
    steps: int,
    judges: Sequence[str],
    proof: Proof,
) -> Front:
    made = [Objective(name, Sense(OBJECTIVES[name].sense), scale=None) for name in objectives]
    decisions = np.array([_asked_at(one.recipe, cases.n_judges) for one in found]).reshape(-1, cases.n_judges)
    values = [[*values_of(objectives, one, cases.truth == cases.positive, steps).values()] for one in found]
    return Front.from_values(
        made, np.array(values).reshape(-1, len(made)), decisions, judges, proof, method="panel"
    )


def _asked_at(recipe: Recipe, n_judges: int) -> list[int]:
    """Return the number of the first stage that asks each judge, ``(n_judges,)``: from 1, or 0 for never."""
    stages = [0] * n_judges
    longest = max(len(way.sets) for way in recipe.ways)
    for number in range(longest, 0, -1):
        for way in recipe.ways:
            for judge in way.sets[number - 1] if number <= len(way.sets) else ():
                stages[judge] = number
    return stages


def _ordered(choice: PanelChoice) -> PanelChoice:
    place: dict[tuple[float, ...], Candidate] = {}
    for one in choice.found:
        place.setdefault(tuple(choice.values_of(one).values()), one)
    return replace(choice, found=tuple(place[tuple(row)] for row in choice.front.values.tolist()))


def with_promises(choice: PanelChoice, demand: Demand, found: Candidates) -> PanelChoice:
    """Return the front of the candidates that keep a demand, at one confidence level for all.

    If no candidate keeps the demand, the front is the most likely candidate alone, which then answers no
    case. `choice`: with the training and calibration cases; its own front is left out.
    """
    told = promised(found, demand)
    recipes = {recipe_of(found, place, is_promised=True): one for place, one in told}
    instead = None
    if not told:
        place = most_likely(found, demand)
        nothing = guarantee_from(found.thresholds, found.calibration, -1, demand)
        recipes = {recipe_of(found, place, is_promised=False): nothing}
        instead = most_that_holds(lambda one: [told for _, told in promised(found, one)], demand)
    names, features = choice.front.names, choice.chosen.features
    found_again = [candidate_of(choice.cases, recipe, names, features) for recipe in recipes]
    kept = _with_front(choice, undominated(found_again, names))
    guarantees = tuple(recipes[one.recipe] for one in kept.found)
    front = replace(kept.front, extras={**choice.front.extras, **promise_facts(guarantees, instead)})
    return replace(kept, front=front, guarantees=guarantees, of_two=())  # of these nothing is promised


def _with_front(choice: PanelChoice, found: list[Candidate]) -> PanelChoice:
    old = choice.front
    front = _front(
        found, choice.cases, old.names, steps=choice.steps, judges=choice.chosen.judges, proof=old.proof
    )
    return _ordered(replace(choice, front=front, found=tuple(found)))


def told_notes(log: AnswerLog, choice: PanelChoice) -> list[str]:
    """Return notes on the cases: the numbers of training and hold-out cases, and missing values."""
    said = [*log.notes]
    if log.is_open and can_agree(log):
        folds = {"capitals": log.folds_case, "punctuation": log.folds_punctuation}
        alike = (
            f"but for {all_of(one for one, is_on in folds.items() if is_on)}" if any(folds.values()) else ""
        )
        alike = alike or "letter by letter"
        said.append(
            "The answers are free text, as there are many different truths for so few cases. So panels "
            f"decide by votes on which answers are equal, {alike}, and know no classes."
        )
    costs = "" if log.is_open else "take the objective min error-cost with the cost of each mistake, or "
    if choice.cases.final.kind == REJECT and choice.front.names[0] == ACCURACY and not choice.guarantees:
        said.append(
            "A case without an answer counts as wrong, so panels answer all they can. To leave unsure cases "
            f"unanswered, {costs}promise a share of right answers."
        )
    if choice.parts:
        told = (
            f"All {_cases(choice.chosen)} are training cases, as they are few. Accuracy is measured by "
            f"nested cross-validation: on each of {len(choice.parts)} parts of the cases, the panel is "
            "chosen on the other parts."
        )
        return [*said, told]
    chosen = _cases(choice.chosen, "training ")
    measured = _cases(choice.test, "test " if choice.is_tested else "hold-out ")
    if choice.calibration is None:
        return [*said, f"{chosen}, {measured}."]
    once = (
        ", one row of each case that is there several times" if choice.calibration.groups is not None else ""
    )
    also = "" if choice.is_tested else ", which measure as well"
    told = f"{chosen}; {_cases(choice.calibration, 'calibration ')}{also}{once}"
    return [*said, f"{told}; {measured}." if choice.is_tested else f"{told}."]


def _cases(log: AnswerLog, kind: str = "") -> str:
    return cases_in_words(len(log.truth), n_different(log), kind)
