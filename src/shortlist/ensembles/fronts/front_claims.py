"""Proof of a front of committees, and the bounds that a study keeps.

Committees up to the size that a walk has finished are final. The proof bounds by how much a missing committee
can be ahead of the known points.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.ensembles.committees.evidence import ClassSelection, EnsembleSelection, PrunedSelection
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, FrontProblem, MeanFrontProblem
from shortlist.ensembles.fronts.front_walk import Caps, FoundCommittee
from shortlist.ensembles.fronts.objectives import MEMBER_OBJECTIVES
from shortlist.ensembles.goals.weights import decision_table, weights_of
from shortlist.ensembles.pruning.pruning import (
    CHEAPER_WALK,
    COMMITTEE_WALK,
    WITHIN_LIMITS,
    ObjectiveName,
    bound_of_front,
)
from shortlist.ensembles.votes.hard_votes import ClassVotes, Confusion, Votes, confusion
from shortlist.pareto import nondominated_unique
from shortlist.results.front import COMMITTEES, Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState

SAME_QUOTIENT = 1e-9
"""Difference of a value and a bound below which they count as equal; value and bound are quotients of whole
numbers.
"""


def best_at_its_price(front: Front, index: int) -> tuple[float, bool] | None:
    """Return the best first value of committees within a point's cost, and whether the point attains it.

    None if the front is incomplete, or lacks an objective of members, or lacks an objective of values. In a
    complete front the best such committee is a point, or a point equals or dominates it.
    """
    prices = [place for place, one in enumerate(front.objectives) if one.name in MEMBER_OBJECTIVES]
    values = [place for place in range(len(front.objectives)) if place not in prices]
    if front.proof.kind is not ProofKind.COMPLETE or not values or not prices:
        return None
    within = (front.values[:, prices] <= front.values[index, prices]).all(axis=1)
    sign = front.objectives[values[0]].sign
    best = float((sign * front.values[within, values[0]]).min()) * sign
    return best, bool(best == front.values[index, values[0]])


def as_selection(
    front: Front,
    make: Callable[..., PrunedSelection],
    *,
    objective: Objective,
    value: float,
    bound: float,
    optimal: bool,
    by: str,
    tolerance: float = 0.0,
) -> PrunedSelection:
    """Return a committee of a front as a selection, with its value and a bound proved by `by`."""
    bound = value if optimal else bound
    return make(
        objective=objective,
        value=value,
        bound=bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            tolerances=(tolerance,) if tolerance else (),
            missing=(abs(bound - value),),
            limit="" if optimal else front.proof.limit,
        ),
        seconds=front.seconds,
        proved_by=by if by in {CHEAPER_WALK, WITHIN_LIMITS} else bound_of_front(by),
    )


def mean_selection(problem: MeanFrontProblem, front: Front, index: int) -> PrunedSelection:
    """Return a committee of a front as a selection, with its first value and the bound on this value."""
    value, mask = problem.values[0], front.decisions[index].astype(bool)
    total, known = value.rate(value.tally(mask), int(mask.sum()))[0], front.extras["bounds"][0]
    shown = value.value(total)
    bound = float(known.get("at_most", known.get("at_least")))
    near, all_seen = max(value.tolerance, 1e-9), known["proved_by"] == COMMITTEE_WALK
    by = COMMITTEE_WALK if all_seen else WITHIN_LIMITS
    optimal, at_its_price = abs(bound - shown) <= near, best_at_its_price(front, index)
    if not optimal and at_its_price is not None and abs(bound - at_its_price[0]) > near:
        (bound, optimal), by = at_its_price, CHEAPER_WALK if all_seen else WITHIN_LIMITS
    return as_selection(
        front, value.result(mask, 0), objective=value.objective, value=shown, bound=bound, optimal=optimal,
        by=by, tolerance=value.tolerance,
    )  # fmt: skip


def vote_selection(
    votes: Votes | ClassVotes, goal: ObjectiveName, front: Front, index: int
) -> PrunedSelection:
    """Return a committee of a front as a selection, with its value by a goal and the bound on this value."""
    mask = front.decisions[index].astype(bool)
    weights: Any = weights_of(goal, votes)
    make: Callable[..., PrunedSelection]
    if isinstance(votes, Votes):
        threshold = front.extras["thresholds"][index]
        counts = confusion(votes, mask, threshold)
        all_right = Confusion(votes.n_positive, 0, votes.n_negative, 0)
        total, everything = weights.total(counts), weights.total(all_right)
        make = functools.partial(EnsembleSelection, mask=mask, threshold=threshold, confusion=counts)
    else:
        total = weights.total(votes, mask)
        everything = int(weights.row_gains(votes).sum())
        make = functools.partial(ClassSelection, mask=mask, decisions=decision_table(votes, mask))
    value, bounds = weights.value(total), front.extras["bounds"]
    share, by = (bounds[0]["share"], bounds[0]["proved_by"]) if bounds else (1.0, "")
    bound = max(value, weights.value(everything) * share)
    optimal = bound - value < SAME_QUOTIENT
    at_its_price = best_at_its_price(front, index)
    if not optimal and at_its_price is not None and share > 0:
        # a share of the front may be a number of rows here
        of_all = at_its_price[0] / bounds[0]["at_most"] * share
        best = weights.value(round(of_all * everything))
        if best < bound:
            bound, optimal, by = best, at_its_price[1], CHEAPER_WALK
    return as_selection(
        front, make, objective=weights.objective, value=value, bound=bound, optimal=optimal, by=by
    )


def paid_columns(front: Front) -> dict[str, list[float]]:
    """Return the mean calls and the mean price of early exit at each point, by name, if known."""
    known = {"calls": front.extras.get("calls"), "price-paid": front.extras.get("price_paid")}
    return {name: paid for name, paid in known.items() if paid}


Limits: TypeAlias = tuple[int, ...]
"""Largest allowed sum of each objective of members, ``(n_prices,)``."""

NONE_WITHIN = -(2**60)
"""Bound that stands for "no committee keeps the limits"."""


class ProvedBounds:
    """Bounds on the values of all committees within limits; row-by-row bounds hold from the start."""

    def __init__(self, problem: FrontProblem) -> None:
        self._first = problem.highest()
        self._most = np.zeros((0, len(problem.prices)), dtype=np.int64)
        self._facts = np.zeros((0, 2), dtype=np.int64)  # value, bound
        self._proved_by = list[str]()

    def add(self, most: Limits, value: int, bound: int, proved_by: str) -> None:
        """Add a bound on a value within limits.

        `value`: index of the value; the number of values stands for the sum of two values.
        """
        self._most = np.vstack([self._most, np.array(most, dtype=np.int64)[None]])
        self._facts = np.vstack([self._facts, [[value, bound]]])
        self._proved_by.append(proved_by)

    def has(self, most: Limits, value: int) -> bool:
        """Return whether a bound on this value was added for exactly these limits."""
        return bool(((self._most == most).all(axis=1) & (self._facts[:, 0] == value)).any())

    def within(self, most: Sequence[int], value: int) -> int:
        """Return the best known bound on a value within limits, as an integer."""
        holds = (self._most >= np.array(most)).all(axis=1) & (self._facts[:, 0] == value)
        return int(self._facts[holds, 1].min(initial=self._first[value]))

    def highest(self, most: Sequence[int]) -> Caps:
        """Return the bound on each value within limits, then on the sum of values, ``(n_values + 1,)``."""
        highest = np.array([self.within(most, value) for value in range(len(self._first))])
        highest[-1] = min(highest[-1], highest[:-1].sum())
        return highest

    def prover(self, most: Sequence[int], value: int) -> str:
        """Return the prover of the bound on a value within limits; empty if the bound is row by row."""
        bound = self.within(most, value)
        holds = (self._most >= np.array(most)).all(axis=1) & (self._facts == [value, bound]).all(axis=1)
        return next((by for by, one in zip(self._proved_by, holds, strict=True) if one), "")

    def starts(self, price: int) -> set[int]:
        """Return the sums of an objective of members at which some bound ceases to hold."""
        return {most + 1 for most in self._most[:, price].tolist()}

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the bounds as the arrays and the facts of a kept state."""
        return {"most": self._most, "bounds": self._facts}, {"proved_by": self._proved_by}

    @classmethod
    def of_state(cls, state: KeptState, problem: FrontProblem) -> Self:
        """Return the bounds that :meth:`state` has stored."""
        bounds = cls(problem)
        bounds._most, bounds._facts = state.arrays["most"], state.arrays["bounds"]
        bounds._proved_by = list(state.facts["proved_by"])
        return bounds


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Result of a search for a front: problem, bounds, and the parts that are final."""

    problem: FrontProblem
    """Objectives and rows of the search."""
    bounds: ProvedBounds
    """Bounds that no committee can exceed."""
    final: dict[int, int]
    """Sum of an objective of members, by its index, up to which every committee was counted or ruled out."""
    complete: bool
    """Whether every committee was counted or ruled out."""
    is_cut: bool
    """Whether a limit on time or nodes left a question open."""
    nodes: int
    """Number of nodes of the last walk."""

    def front(self, known: Sequence[FoundCommittee], budget: Budget, names: Sequence[str] | None) -> Front:
        """Return the known committees as a front, with the objectives in the requested order."""
        problem = self.problem
        points = np.array([one.point for one in known]).reshape(len(known), len(problem.objectives))
        order = np.lexsort(points[:, problem.asked].T[::-1])
        known, points = [known[i] for i in order.tolist()], points[order]
        missing = None if self.complete else self._missing(points)
        complete = self.complete or (missing is not None and not missing.any())
        proved = np.array([complete or self._is_proved(point) for point in points], dtype=bool)
        masks = np.array([one.mask for one in known], dtype=np.int64)
        return Front.from_points(
            [problem.objectives[place] for place in problem.asked],
            points[:, problem.asked],
            masks.reshape(len(known), problem.n_classifiers),
            [str(number) for number in range(problem.n_classifiers)] if names is None else list(names),
            self._proof(missing, budget, complete=complete, proved=bool(len(points) and proved.all())),
            method=COMMITTEES,
            seconds=budget.elapsed,
            extras={
                "proved": proved.tolist(),
                "thresholds": [one.threshold for one in known] if problem.has_threshold else None,
                "final_to": self._final_facts(),
                "bounds": self._bound_facts(points if complete else None),
                "n_nodes": self.nodes,
                "max_size": problem.limits.max_size,
            },
        )

    def _is_proved(self, point: NDArray[np.int64]) -> bool:
        """Return whether it is proved that no committee dominates a point.

        A committee that dominates the point would keep the limits that the point keeps.
        """
        n_values, most = self.problem.n_values, point[self.problem.n_values :]
        if any(most[price] <= final_to for price, final_to in self.final.items()):
            return True
        if n_values != 1:
            return False
        value, less = -int(point[0]), most - np.eye(len(most), dtype=np.int64)
        return self.bounds.within(most.tolist(), 0) <= value and all(
            self.bounds.within(lower, 0) < value for lower in less.tolist()
        )

    def _final_facts(self) -> dict[str, float]:
        objectives = self.problem.objectives[self.problem.n_values :]
        return {
            objectives[price].name: final_to / (objectives[price].scale or 1)
            for price, final_to in self.final.items()
        }

    def _bound_facts(self, points: Points | None) -> list[dict[str, Any]]:
        everything, all_right = self.problem.everything, self.problem.highest()
        highest = self.bounds.highest(everything)
        # fronts of losses are proved limit by limit, but for several losses of few committees
        counted = self.complete and self.problem.n_values > 1
        all_seen = isinstance(self.problem, CommitteeProblem) or counted
        facts = []
        for value, objective in enumerate(self.problem.objectives[: self.problem.n_values]):
            walked = points is not None and len(points) > 0
            most = -int(points[:, value].min()) if points is not None and walked else int(highest[value])
            is_loss = objective.sense == "min"
            known = {
                "at_least" if is_loss else "at_most": (-most if is_loss else most) / (objective.scale or 1)
            }
            share = {} if is_loss else {"share": most / max(1, int(all_right[value]))}
            facts.append(
                {
                    "name": objective.name,
                    **known,
                    **share,
                    "proved_by": COMMITTEE_WALK
                    if walked and all_seen
                    else self.bounds.prover(everything, value),
                }
            )
        return facts

    def _proof(
        self, missing: NDArray[np.int64] | None, budget: Budget, *, complete: bool, proved: bool
    ) -> Proof:
        problem = self.problem
        if complete:
            return Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.objectives))
        limit = budget.limit_text if self.is_cut else ""
        if self.is_cut and not limit and not math.isinf(budget.seconds):
            limit = budget.time_text
        shown = None
        if missing is not None:
            scales = [problem.objectives[place].scale or 1 for place in problem.asked]
            gaps = np.zeros(len(problem.objectives), dtype=np.int64)
            gaps[: problem.n_values] = missing
            gaps = gaps[problem.asked]
            shown = tuple(float(gap / scale) for gap, scale in zip(gaps, scales, strict=True))
        return Proof(ProofKind.NONDOMINATED if proved else ProofKind.APPROXIMATE, missing=shown, limit=limit)

    def _missing(self, points: Points) -> NDArray[np.int64] | None:
        """Return the largest possible lead of an unknown committee in each value, ``(n_values,)``.

        The lead is over the known points that are no larger and cost no more than the unknown committee;
        bounds on values limit it. None if a committee may have no such point.
        """
        n_values = self.problem.n_values
        missing = np.zeros(n_values, dtype=np.int64)
        for least in self._open_limits():
            highest = self.bounds.highest(least)
            if (highest[:n_values] <= NONE_WITHIN).any():
                continue
            within = (points[:, n_values:] <= np.array(least)).all(axis=1)
            if not within.any():
                return None
            values = -points[within, :n_values]
            for best in _corners(highest, n_values):
                ahead = np.maximum(0, best - values)
                furthest = (ahead / np.maximum(1, np.abs(highest[:n_values]))).max(axis=1, initial=0)
                missing = np.maximum(missing, ahead[np.argmin(furthest)])
        return missing

    def _open_limits(self) -> Iterator[Limits]:
        """Yield vectors of limits that cover all committees that are not final.

        Each such committee is at least as large in every objective as one of these vectors. The bounds at a
        vector hold up to the next vectors.
        """
        problem, starts = self.problem, list[list[int]]()
        for price, most in enumerate(problem.everything):
            first = max(self.final.get(price, -1) + 1, problem.least(price, problem.limits.min_size))
            known = self.bounds.starts(price)
            starts.append(sorted({first, *(one for one in known if first < one <= most)}))
        sizes = [price for price in range(len(starts)) if problem.is_size(price)]
        for one in itertools.product(*starts):
            size = one[sizes[0]] if sizes else problem.limits.min_size
            least = tuple(max(own, problem.least(price, size)) for price, own in enumerate(one))
            if all(own <= most for own, most in zip(least, problem.everything, strict=True)):
                yield least


def _corners(highest: Caps, n_values: int) -> NDArray[np.int64]:
    """Return vectors of values, one of which is at least as good as any committee, ``(n, n_values)``."""
    if n_values != 2:
        return highest[None, :n_values]
    excess = max(0, int(highest[0] + highest[1] - highest[2]))
    given_up = np.arange(excess + 1)
    return np.column_stack([highest[0] - given_up, highest[1] - excess + given_up])


def committee_arrays(committees: Sequence[FoundCommittee], n_classifiers: int) -> dict[str, NDArray[Any]]:
    """Return the members and thresholds of committees as the arrays of a kept state."""
    masks = np.array([one.mask for one in committees], dtype=bool)
    return {
        "members": masks.reshape(-1, n_classifiers),
        "thresholds": np.array([one.threshold for one in committees], dtype=np.int64),
    }


def kept_committees(state: KeptState, problem: FrontProblem) -> list[FoundCommittee]:
    """Return the committees that :func:`committee_arrays` has stored, with their points counted again."""
    return [
        FoundCommittee(mask, threshold, problem.point(mask, threshold))
        for mask, threshold in zip(state.arrays["members"], state.arrays["thresholds"].tolist(), strict=True)
    ]


def only_best(committees: Sequence[FoundCommittee]) -> list[FoundCommittee]:
    """Return the non-dominated committees, the first of committees with equal points."""
    if not committees:
        return []
    kept = nondominated_unique(np.array([committee.point for committee in committees]))
    return [committees[i] for i in np.flatnonzero(kept).tolist()]
