"""Recheck of a front of committees: every point from the recorded answers, and possibly missing points."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._differences import differences
from shortlist._words import all_of, number_text
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.chosen import Chosen, member_answers
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.estimators.as_good import RecordedAnswers, beside_single, votes_on_record
from shortlist.ensembles.estimators.base import SOFT
from shortlist.ensembles.fronts.committee_problem import (
    CommitteeProblem,
    MeanFrontProblem,
    committee_problem,
    mean_front_problem,
)
from shortlist.ensembles.fronts.front_claims import mean_selection, vote_selection
from shortlist.ensembles.fronts.objectives import MEMBER_OBJECTIVES, SIZE
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pruning.mean_problem import mean_goal, plain_mean_problem, soft_metric
from shortlist.ensembles.verification.recheck_claims import MOST_OFF
from shortlist.ensembles.verification.recheck_mean_certificate import count_mean_selection
from shortlist.ensembles.verification.recheck_selections import MOST_SELECTIONS, every_committee
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.exact import seen
from shortlist.methods.front_check import (
    FrontCheck,
    dominated_points,
    other_objectives,
)
from shortlist.results.front import Front
from shortlist.results.picking import AS_GOOD, BESIDE_SINGLE
from shortlist.results.proof import ProofKind, proof_conflict
from shortlist.runs.budget import Budget

CLOSE = 1e-9
"""Relative tolerance on mean calls and mean prices, due to rounding."""

MOST_SLOW = 2**12
"""Largest number of committees to count one by one if means decide, as counting means is slow."""

BY_CASE = (
    "Points were compared with the best single classifier by cases of several rows, which the file does not "
    "name: that was not asked again."
)

Point: TypeAlias = list[int]
"""Objectives of one committee as integers to minimise, in the units of the front."""


def check_front(
    chosen: Chosen,
    front: Front,
    *,
    budget: Budget,
    most: int = MOST_SELECTIONS,
) -> FrontCheck:
    """Recount every committee of a front, and all other committees if there are few.

    Raises BadInputError if the front is of other candidates than the model, or lacks the prices of its
    members.

    `chosen`: model whose record has been checked. `budget`: its clock limits the recount. `most`: largest
    number of committees that are all counted; with more committees, the front's claims about other committees
    are not proved again.
    """
    count = _count_of(chosen, front)
    facts = FrontCheck((), len(front), front.proof.kind)
    failures = (
        _other_prices(chosen, front)
        or tuple(_wrong_points(front, count))
        or dominated_points(front, front.points)
        or tuple(_other_facts(chosen, front))
    )
    if failures:
        return dataclasses.replace(facts, failures=failures, seconds=budget.elapsed)
    proof, n_committees = front.proof, count.n_committees
    if n_committees <= (min(most, MOST_SLOW) if count.slow else most):
        failures = _missing(front, count)
        facts = dataclasses.replace(facts, failures=failures, n_tried=0 if failures else n_committees)
    else:
        unasked = (
            f"There are {n_committees:,} committees, too many to count them all: what the front claims of "
            "others was not proved again."
        )
        facts = dataclasses.replace(facts, unasked=unasked)
    if not facts.failures and proof.kind is ProofKind.APPROXIMATE and proof.missing is None:
        facts = dataclasses.replace(
            facts, n_tried=0, unasked="The front claims nothing about other committees."
        )
    if not facts.failures and front.extras.get(BESIDE_SINGLE, {}).get("by_case"):
        facts = dataclasses.replace(facts, n_tried=0, unasked=f"{facts.unasked} {BY_CASE}".strip())
    return dataclasses.replace(facts, seconds=budget.elapsed)


def front_selection(chosen: Chosen) -> PrunedSelection:
    """Return the committee picked from a front as a selection, with its value and the bound on this value."""
    front, pick = chosen.front, chosen.pick
    assert front is not None, "the committee is of a front"
    assert pick is not None, "the committee is of a front"
    problem = _problem(chosen, front)
    if isinstance(problem, MeanFrontProblem):
        return mean_selection(problem, front, pick.index)
    return vote_selection(problem.votes, chosen.terms.goal, front, pick.index)


def recorded_shares(chosen: Chosen, truth: NDArray[np.integer]) -> SoftVotes:
    """Return the recorded probabilities of all candidates, with the true classes and the abstentions."""
    answers = member_answers(chosen.record, np.ones(len(chosen.names), dtype=bool), None)
    assert answers.shares is not None, "soft votes are on record"
    return SoftVotes(answers.shares, truth.astype(np.uint8), answers.silent)


def _classes(chosen: Chosen) -> NDArray[np.uint8]:
    """Return the index of the true class of each recorded row.

    The record has 1 for a positive class, whatever its index.
    """
    labels = chosen.record.labels
    return 1 - labels if chosen.positive_place == 0 else labels


def _problem(chosen: Chosen, front: Front) -> CommitteeProblem | MeanFrontProblem:
    """Return the problem of a front, with the answers from the record of the model."""
    record, truth = _on_record(chosen), _classes(chosen)
    return _problem_of(chosen, front, _votes_on(chosen, record, truth, np.arange(len(truth))))


def _on_record(chosen: Chosen) -> dict[str, NDArray[Any]]:
    """Return the recorded answers by name, as pruners store them."""
    record = chosen.record
    known = {name: getattr(record, name) for name in ("packed_votes", "codes", "shares", "silent")}
    return {name: own for name, own in known.items() if own is not None}


def _votes_on(
    chosen: Chosen, record: dict[str, NDArray[Any]], truth: NDArray[np.integer], kept: NDArray[np.intp]
) -> Votes | ClassVotes | SoftVotes:
    how: dict[str, Any] = {"n_classes": len(chosen.classes_), "positive": chosen.positive_place}
    return votes_on_record(record, truth, kept, len(chosen.names), **how)


def _problem_of(
    chosen: Chosen, front: Front, votes: Votes | ClassVotes | SoftVotes
) -> CommitteeProblem | MeanFrontProblem:
    """Return the problem of a front, with the given votes."""
    terms, n = chosen.terms, len(chosen.names)
    texts = [f"{one.sense} {one.name}" for one in front.objectives]
    given: dict[str, Any] = {
        "costs": {name: np.asarray(own) for name, own in _given_prices(front).items()},
        "classes": _class_names(chosen),
        "limits": selection_limits(n, min_size=terms.min_size, max_size=terms.max_size),
    }
    if isinstance(votes, SoftVotes):
        return mean_front_problem(votes, texts, **given)
    return committee_problem(votes, texts, **given)


def _class_names(chosen: Chosen) -> list[str]:
    """Return the names of the classes; with two classes, the positive class is the last."""
    names = [str(one) for one in chosen.classes_]
    if chosen.record.packed_votes is None:
        return names
    positive = str(chosen.terms.positive)
    return [*(one for one in names if one != positive), positive]


def _other_facts(chosen: Chosen, front: Front) -> Iterator[str]:
    """Yield the names of the facts of a front that contradict its points or its problem."""
    problem, extras = _problem(chosen, front), front.extras
    yield from other_objectives(front, [problem.objectives[place] for place in problem.asked])
    if said := proof_conflict(front):
        yield said
    if extras.get("max_size", problem.limits.max_size) != problem.limits.max_size:
        most = problem.limits.max_size
        yield f"the front is of at most {extras['max_size']} members, and should be of {most}"
    proved, complete = extras.get("proved", []), front.proof.kind is ProofKind.COMPLETE
    if len(proved) != len(front) or not (all(proved) or front.proof.kind is ProofKind.APPROXIMATE):
        yield "the front does not say of each point that it is proved, as its proof does"
    if complete and extras.get("n_candidates", len(front.candidates)) != len(front.candidates):
        yield "the front is called complete, and was searched among some candidates only"
    told = {name: extras.get(name) for name in ("calls", "price_paid")}
    if told["calls"] is not None and [*differences(told, _paid(chosen, front), within=CLOSE)]:
        yield "asking one member after the other takes other calls, or costs otherwise, than the front says"
    if BESIDE_SINGLE in extras:
        yield from _other_standing(chosen, front)


def _other_standing(chosen: Chosen, front: Front) -> Iterator[str]:
    """Yield sentences on differences from a repeated comparison with the best single classifier.

    The front's margin and pick are compared with those of the model, its gains with those of repeated choice.
    """
    known, pick = front.extras[BESIDE_SINGLE], chosen.pick
    own = known if chosen.front is None else chosen.front.extras.get(BESIDE_SINGLE, known)
    if known["margin"] != own["margin"]:
        yield "the margin is not that of the model"
    elif pick is not None and pick.rule == AS_GOOD and front.pick(AS_GOOD).index != pick.index:
        yield "`as-good` takes another point than that of the model"
    if not known.get("by_case"):
        again = _beside_single(chosen, front, float(known["margin"]))
        for part in differences(known, again, BESIDE_SINGLE, within=CLOSE):
            yield f"`{part}` is not what repeated choice gives"


def _beside_single(chosen: Chosen, front: Front, margin: float) -> dict[str, Any]:
    """Return the repeated comparison of a front's points with the best single classifier."""
    record, truth, positive = _on_record(chosen), _classes(chosen).astype(np.int64), chosen.positive_place
    worth = worth_of_right(soft_metric(chosen.terms.goal), truth, len(chosen.classes_), positive)[1]

    def is_right(mask: NDArray[np.bool_], threshold: int | None) -> NDArray[np.bool_]:
        ballot = _ballot(chosen, int(mask.sum()), threshold)
        return np.asarray(member_answers(chosen.record, mask, positive).decided(ballot) == truth)

    answers = RecordedAnswers(
        chosen.names, truth, worth, is_right,
        lambda kept: _votes_on(chosen, record, truth, kept),
        lambda votes: _problem_of(chosen, front, votes),
        chosen.voting == SOFT,
    )  # fmt: skip
    told = beside_single(answers, front, cases=None, seed=(chosen.seed or 0) % 2**31, margin=margin)
    return dict(told[BESIDE_SINGLE])


def _ballot(chosen: Chosen, n_members: int, threshold: int | None) -> Ballot:
    """Return the ballot by which a committee of a front decides."""
    if chosen.voting == SOFT:
        return Mean(np.ones(len(chosen.classes_), dtype=np.int64))
    if threshold is not None:
        return Threshold(threshold, n_members, chosen.positive_place or 0)
    return Plurality(len(chosen.classes_))


def _paid(chosen: Chosen, front: Front) -> dict[str, list[float] | None]:
    """Return the mean calls and price per row of each committee with early exit, by name; None if unknown."""
    costs, found = chosen.terms.member_costs, []
    for point, mask in enumerate(front.decisions.astype(bool)):
        n, thresholds = int(mask.sum()), front.extras["thresholds"]
        names = tuple(name for name, one in zip(front.candidates, mask, strict=True) if one)
        ballot = _ballot(chosen, n, None if thresholds is None else thresholds[point])
        alone = Pool((None,) * n, chosen.classes_, names, names)  # answers are on record
        found.append(
            exit_report(
                Committee(
                    alone,
                    np.ones(n, dtype=np.int64),
                    ballot,
                    prices=None if costs is None else np.asarray(costs, dtype=np.float64)[mask],
                    record=member_answers(chosen.record, mask, chosen.positive_place),
                )
            )
        )
    told = [one for one in found if one is not None]
    paid = [one.mean_cost for one in told if one.mean_cost is not None]
    return {"calls": [one.mean_calls for one in told], "price_paid": paid or None}


@dataclass(frozen=True, eq=False)
class _Count:
    """Values of committees on the recorded rows, counted by loops over plain numbers.

    If means decide, ``goals`` has for each objective its goal, as in a certificate, and the value of a unit.
    """

    answers: list[Any]
    labels: list[int]
    n_classes: int
    by_threshold: bool
    limits: SelectionLimits
    n_candidates: int
    names: tuple[str, ...]
    gains: dict[str, list[int]]
    prices: dict[str, list[int]]
    goals: dict[str, tuple[dict[str, Any], Fraction]]

    @property
    def slow(self) -> bool:
        return bool(self.goals)

    @property
    def n_committees(self) -> int:
        return sum(math.comb(self.n_candidates, size) for size in self.sizes)

    @property
    def sizes(self) -> range:
        return range(self.limits.min_size, self.limits.max_size + 1)

    def point(self, members: Sequence[int], right: Sequence[int]) -> Point:
        return [self._objective(name, members, right) for name in self.names]

    def _objective(self, name: str, members: Sequence[int], right: Sequence[int]) -> int:
        if name in self.goals:
            goal, unit = self.goals[name]
            counted = count_mean_selection({**goal, "members": list(members)}, self.answers, self.labels)
            assert counted.value is not None, "sizes have been looked at"
            return round(counted.value * unit)
        if name in self.gains:
            return -sum(gain * n for gain, n in zip(self.gains[name], right, strict=True))
        return sum(self.prices[name][k] for k in members)

    def right(self, members: Sequence[int], threshold: int) -> list[int]:
        right = [0] * self.n_classes
        for row, label in zip(self.answers, self.labels, strict=True) if not self.goals else ():
            votes = [sum(row[k] == one for k in members) for one in range(self.n_classes)]
            decided = int(votes[1] > threshold) if self.by_threshold else votes.index(max(votes))
            answered = self.by_threshold or any(votes)
            right[label] += answered and decided == label
        return right

    def every(self) -> Iterator[tuple[list[int], int, Point]]:
        if self.goals:
            for size in self.sizes:
                for some in itertools.combinations(range(self.n_candidates), size):
                    yield list(some), 0, self.point(some, ())
            return
        limits = {"min_size": self.limits.min_size, "max_size": self.limits.max_size}
        found = every_committee(
            [tuple(row) for row in self.answers], self.labels, limits, n_classes=self.n_classes,
            by_threshold=self.by_threshold,
        )  # fmt: skip
        for members, threshold, right in found:
            yield members, threshold, self.point(members, right)


def _count_of(chosen: Chosen, front: Front) -> _Count:
    """Return the counter of committee values for a front, on the recorded answers of a model's candidates."""
    if front.candidates != chosen.names:
        raise BadInputError(
            f"the front must be of this model's candidates, whose {len(chosen.names):,} names differ from "
            f"the {len(front.candidates):,} of the front. Name the model that was written with it."
        )
    record, terms = chosen.record, chosen.terms
    n, labels = len(chosen.names), record.labels.tolist()
    limits = selection_limits(n, min_size=terms.min_size, max_size=front.extras.get("max_size"))
    values = [one.name for one in front.objectives if one.name not in MEMBER_OBJECTIVES]
    prices = _prices(front, n)
    if chosen.voting == SOFT:
        assert record.shares is not None, "soft votes are on record"
        labels = _classes(chosen).tolist()
        votes, goals = recorded_shares(chosen, _classes(chosen)), {}
        for one in front.objectives:
            if one.name in values:  # what the check counts, and what its unit is in the front's
                goal = mean_goal(one.name, votes)
                unit = Fraction(-(one.scale or 1), goal.denominator * 2**32)
                goals[one.name] = plain_mean_problem(goal, limits), unit
        return _Count(
            record.shares.tolist(), labels, votes.n_classes, False, limits, n, tuple(front.names), {}, prices,
            goals,
        )  # fmt: skip
    two = record.packed_votes is not None
    n_classes = 2 if two else len(chosen.classes_)
    answers = (
        np.unpackbits(record.packed_votes, axis=1, count=n)
        if record.packed_votes is not None
        else record.codes
    )
    assert answers is not None, "votes are on record"
    names = _class_names(chosen)
    gains = {
        one.name: _gains(one.name, one.scale or 1, [labels.count(c) for c in range(n_classes)], names)
        for one in front.objectives
        if one.name in values
    }
    return _Count(
        answers.tolist(), labels, n_classes, two, limits, n, tuple(front.names), gains, prices, {},
    )  # fmt: skip


def _gains(name: str, scale: int, sizes: Sequence[int], classes: Sequence[str]) -> list[int]:
    """Return the gain of a right row of each class for an objective, as integers."""
    shares = {
        "accuracy": [Fraction(1, sum(sizes))] * len(sizes),
        "balanced-accuracy": [Fraction(1, max(1, n) * sum(map(bool, sizes))) for n in sizes],
    }
    place, whole = {
        "true-positives": (1, True), "recall": (1, False),
        "true-negatives": (0, True), "specificity": (0, False),
    }.get(name, (-1, False))  # fmt: skip
    if name not in shares:
        place = classes.index(name.partition(":")[2]) if place < 0 else place
        worth = Fraction(1, 1 if whole else max(1, sizes[place]))
        shares[name] = [worth * (c == place) for c in range(len(sizes))]
    return [int(share * scale) for share in shares[name]]


def _given_prices(front: Front) -> dict[str, list[float]]:
    return dict(front.extras.get("prices") or {})


def _prices(front: Front, n: int) -> dict[str, list[int]]:
    given, prices = _given_prices(front), {}
    for one in front.objectives:
        if one.name == SIZE:
            prices[one.name] = [1] * n
        elif one.name in MEMBER_OBJECTIVES:
            own = given.get(one.name)
            if own is None or len(own) != n:
                raise BadInputError(
                    f"the front must hold what each candidate adds to {one.name}, which files of earlier "
                    "versions lack. Make it again with shortlist prune."
                )
            prices[one.name] = [round(seen(price) * (one.scale or 1)) for price in own]
    return prices


def _other_prices(chosen: Chosen, front: Front) -> tuple[str, ...]:
    told, known = _given_prices(front).get("cost"), chosen.terms.member_costs
    same = told is None or known is None or told == list(known)
    return () if same else ("the front has other costs of its candidates than the model",)


def _wrong_points(front: Front, count: _Count) -> Iterator[str]:
    """Yield sentences on points whose committee is outside the limits on size, or whose values are wrong."""
    thresholds = front.extras.get("thresholds") if count.by_threshold else [0] * len(front)
    if not isinstance(thresholds, list) or len(thresholds) != len(front):
        yield "the front does not have a threshold for each committee"
        return
    points = front.points.tolist()
    for number, (mask, threshold) in enumerate(zip(front.decisions.tolist(), thresholds, strict=True)):
        members = [k for k, one in enumerate(mask) if one]
        size = len(members)
        if any(one not in (0, 1) for one in mask) or not (
            size in count.sizes and threshold in range(size + 1)
        ):
            yield f"the committee of point {number} has a size or threshold that it may not have"
            continue
        counted = count.point(members, count.right(members, threshold))
        factors = [one.sign * (one.scale or 1) for one in front.objectives]
        off = [
            objective.name
            for objective, mine, told, factor, value in zip(
                front.objectives, counted, points[number], factors, front.values[number].tolist(), strict=True
            )
            if abs(mine - told) > _slack(objective.name, objective.scale or 1, count)
            or told / factor != value
        ]
        if off:
            yield f"point {number} has another {all_of(off)} than its committee"


def _slack(name: str, scale: int, count: _Count) -> int:
    """Return the tolerance on the integers of an objective; it is above 0 only for sums of logarithms."""
    return int(MOST_OFF * scale) if name in count.goals else 0


def _missing(front: Front, count: _Count) -> tuple[str, ...]:
    """Recount every committee, and return sentences on the committees that contradict the front.

    Such a committee is missing from a complete front, dominates a point that is called proved, or is better
    than a bound. Or it is missing within the size or cost up to which the front is called final.
    """
    names, scales = front.names, np.array([one.scale or 1 for one in front.objectives])
    slack = np.array([_slack(one.name, one.scale or 1, count) for one in front.objectives])
    points, missing = front.points, front.proof.missing
    covers = points if front.proof.kind is ProofKind.COMPLETE else None
    if missing is not None:
        covers = points - np.floor(np.array(missing, dtype=np.float64) * scales + 1e-9).astype(np.int64)
    proved = points[np.array(front.extras.get("proved", [True] * len(front)), dtype=bool)]
    bounds = [
        (names.index(one["name"]), -one["at_most"] if "at_most" in one else one["at_least"])
        for one in front.extras.get("bounds", ())
    ]
    final = [(names.index(name), most) for name, most in front.extras.get("final_to", {}).items()]
    known: set[tuple[int, ...]] = set()
    for members, threshold, found in count.every():
        if tuple(found) in known:
            continue
        known.add(tuple(found))
        own = np.array(found)
        wrong = ((own <= proved).all(axis=1) & (own < proved - slack).any(axis=1)).any()
        looked_at = any(own[place] <= most * scales[place] for place, most in final)
        for cover in ([covers] if covers is not None else []) + [points] * looked_at:
            wrong = wrong or not (cover <= own + slack).all(axis=1).any()
        if wrong:
            return (_told(front, count, members, threshold, found),)
        if any(own[place] < least * scales[place] - slack[place] - CLOSE for place, least in bounds):
            return (_told(front, count, members, threshold, found) + ", better than the bound of the front",)
    return ()


def _told(front: Front, count: _Count, members: Sequence[int], threshold: int, point: Point) -> str:
    values = ", ".join(
        f"{one.name} {number_text(value * one.sign / (one.scale or 1))}"
        for one, value in zip(front.objectives, point, strict=True)
    )
    voted = f" with a threshold of {threshold}" if count.by_threshold else ""
    worse = (np.array(point) <= front.points).all(axis=1)
    what = f"which dominates point {int(np.argmax(worse))}" if worse.any() else "which no point dominates"
    return f"the committee of {all_of([front.candidates[k] for k in members])}{voted} has {values}, {what}"
