"""Claims on a front of committees, and the part of them that a study keeps.

What a walk has passed is final. The proof says how far any committee can be ahead of the points that are
there.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.ensembles.committees.evidence import ClassSelection, EnsembleSelection, PrunedSelection
from shortlist.ensembles.fronts.committee_problem import FrontProblem, MeanFrontProblem
from shortlist.ensembles.fronts.front_walk import Caps, FoundCommittee
from shortlist.ensembles.fronts.objectives import MEMBER_OBJECTIVES
from shortlist.ensembles.goals.weights import decision_table, weights_of
from shortlist.ensembles.pruning.pruning import CHEAPER_WALK, COMMITTEE_WALK, ObjectiveName, bound_of_front
from shortlist.ensembles.votes.hard_votes import ClassVotes, Confusion, Votes, confusion
from shortlist.pareto import nondominated_unique
from shortlist.results.front import COMMITTEES, Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState

SAME_QUOTIENT = 1e-9
"""Value and bound that are closer are equal: both are quotients of whole numbers."""


def best_at_its_price(front: Front, index: int) -> tuple[float, bool] | None:
    """Return the best first value of all committees that cost no more in each objective of members.

    With it comes whether the point has that value itself.
    A complete front tells that of each of its points: whatever is better there would be dominated by a point,
    or be one, that is as cheap and is as good. None of other fronts, and where no objective is of members.
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
    """Return a committee of a front as a selection, with a value and what `by` proves that none exceeds."""
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
        proved_by=by if by == CHEAPER_WALK else bound_of_front(by),
    )


def mean_selection(problem: MeanFrontProblem, front: Front, index: int) -> PrunedSelection:
    """Return a committee of a front as a selection, with its first value and what none can exceed."""
    value, mask = problem.values[0], front.decisions[index].astype(bool)
    total, known = value.rate(value.tally(mask), int(mask.sum()))[0], front.extras["bounds"][0]
    shown = value.value(total)
    bound = float(known.get("at_most", known.get("at_least")))
    near, by = max(value.tolerance, 1e-9), known["proved_by"]
    optimal, at_its_price = abs(bound - shown) <= near, best_at_its_price(front, index)
    if not optimal and at_its_price is not None and abs(bound - at_its_price[0]) > near:
        (bound, optimal), by = at_its_price, CHEAPER_WALK
    return as_selection(
        front, value.result(mask, 0), objective=value.objective, value=shown, bound=bound, optimal=optimal,
        by=by, tolerance=value.tolerance,
    )  # fmt: skip


def vote_selection(
    votes: Votes | ClassVotes, goal: ObjectiveName, front: Front, index: int
) -> PrunedSelection:
    """Return a committee of a front as a selection, with its value by a goal and what none can exceed."""
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
    """Return the price of early exit at each point, as far as it is known."""
    known = {"calls": front.extras.get("calls"), "price-paid": front.extras.get("price_paid")}
    return {name: paid for name, paid in known.items() if paid}


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """Bounds that no committee can exceed, and committees found on the way."""

    highest: Caps
    """See :data:`shortlist.ensembles.fronts.front_walk.Caps`, ``(n_values + 1,)``."""
    proved_by: tuple[str, ...]
    """Prover of each bound."""
    found: list[FoundCommittee]
    """None of them dominates another."""


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Committees that were looked at."""

    problem: FrontProblem
    """Objectives and rows of the search."""
    bounds: ValueBounds
    """Bounds that no committee can exceed."""
    final: dict[int, int]
    """Value of each objective of members up to which every committee was looked at, or left out with a
    reason.
    """
    complete: bool
    """Whether all committees were."""
    nodes: int
    """Nodes of the last walk."""

    def front(self, known: Sequence[FoundCommittee], budget: Budget, names: Sequence[str] | None) -> Front:
        """Return the known committees as a front, in the order of the objectives that were requested."""
        problem = self.problem
        points = np.array([one.point for one in known]).reshape(len(known), len(problem.objectives))
        order = np.lexsort(points[:, problem.asked].T[::-1])
        known, points = [known[i] for i in order.tolist()], points[order]
        missing = self._missing(points)
        complete = self.complete or (missing is not None and not missing.any())
        proved = np.full(len(known), complete)
        for price, final_to in self.final.items():
            proved |= points[:, problem.n_values + price] <= final_to
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

    def _final_facts(self) -> dict[str, float]:
        objectives = self.problem.objectives[self.problem.n_values :]
        return {
            objectives[price].name: final_to / (objectives[price].scale or 1)
            for price, final_to in self.final.items()
        }

    def _bound_facts(self, points: Points | None) -> list[dict[str, Any]]:
        highest, all_right = self.bounds.highest, self.problem.highest()
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
                    "proved_by": COMMITTEE_WALK if walked else self.bounds.proved_by[value],
                }
            )
        return facts

    def _proof(
        self, missing: NDArray[np.int64] | None, budget: Budget, *, complete: bool, proved: bool
    ) -> Proof:
        problem = self.problem
        if complete:
            return Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.objectives))
        limit = budget.limit_text
        if not limit and not math.isinf(budget.seconds):
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
        """Bound by how much a committee that was not looked at can be ahead in each value, ``(n_values,)``.

        Such a committee costs more than the searches are final to in every objective of members. The points
        that cost no more than that are no worse there, and values are bounded. None where there is no such
        point, or where no walk has begun for an objective.
        """
        n_values, highest = self.problem.n_values, self.bounds.highest
        within = np.full(len(points), len(self.final) == len(self.problem.prices))
        for price, final_to in self.final.items():
            within &= points[:, n_values + price] <= final_to + 1
        if not within.any():
            return None
        values = -points[within, :n_values]
        missing = np.zeros(n_values, dtype=np.int64)
        for best in _corners(highest, n_values):
            ahead = np.maximum(0, best - values)
            furthest = (ahead / np.maximum(1, highest[:n_values])).max(axis=1, initial=0)
            missing = np.maximum(missing, ahead[np.argmin(furthest)])
        return missing


def _corners(highest: Caps, n_values: int) -> NDArray[np.int64]:
    """Return values of which some are as large as any committee's, ``(n, n_values)``."""
    if n_values != 2:
        return highest[None, :n_values]
    excess = max(0, int(highest[0] + highest[1] - highest[2]))
    given_up = np.arange(excess + 1)
    return np.column_stack([highest[0] - given_up, highest[1] - excess + given_up])


def committee_arrays(committees: Sequence[FoundCommittee], n_classifiers: int) -> dict[str, NDArray[Any]]:
    """Return members and thresholds of committees, as a state holds them."""
    masks = np.array([one.mask for one in committees], dtype=bool)
    return {
        "members": masks.reshape(-1, n_classifiers),
        "thresholds": np.array([one.threshold for one in committees], dtype=np.int64),
    }


def kept_committees(state: KeptState, problem: FrontProblem) -> list[FoundCommittee]:
    """Undo :func:`committee_arrays`, with points that are counted anew."""
    return [
        FoundCommittee(mask, threshold, problem.point(mask, threshold))
        for mask, threshold in zip(state.arrays["members"], state.arrays["thresholds"].tolist(), strict=True)
    ]


def only_best(committees: Sequence[FoundCommittee]) -> list[FoundCommittee]:
    """Return those that no other dominates, of equal ones the first."""
    if not committees:
        return []
    kept = nondominated_unique(np.array([committee.point for committee in committees]))
    return [committees[i] for i in np.flatnonzero(kept).tolist()]
