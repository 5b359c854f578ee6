"""Sums of sigmoids of margins, row by row, and small problems for their proofs."""

import itertools
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.margin_worth import (
    MarginUtility,
    utility_scale,
)
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import Weights, named_weights
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines.slope_proof import Grown, prove_slope
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.pruning.slope_problem import SlopeProblem
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget
from tests.ensembles.strategies import hard_votes

SLOPES = st.sampled_from([0.5, 8.0, 60.0])


def sigmoid(slope: float) -> MarginUtility:
    return MarginUtility("sigmoid", slope, leads=True)


def weighted(numbers: tuple[int, int, int, int]) -> Weights:
    return Weights(Objective("weighted", Sense.MAX, scale=None), *numbers, denominator=1)


def all_masks(n_classifiers: int) -> NDArray[np.bool_]:
    return np.array(list(itertools.product([False, True], repeat=n_classifiers)))


def every_total(
    votes: Votes, weights: Weights, slope: float, masks: NDArray[np.bool_], levels: range | None = None
) -> NDArray[np.int64]:
    """Return the best worth of every selection over the thresholds, row by row from the sigmoid."""
    scale = utility_scale(votes, weights)
    gains = np.where(votes.labels == 1, weights.gain_positive, -weights.gain_negative) * votes.counts
    worths = {}
    for size in range(votes.n_classifiers + 1):
        for d in range(1, votes.n_classifiers + 2):
            margin = min((d - 0.5) / max(1, size), 1.5)
            worths[size, d] = math.floor(scale / (1 + math.exp(-slope * margin)) + 0.5)
            worths[size, 1 - d] = scale - worths[size, d]
    totals = []
    for mask in masks:
        size, tallies = int(mask.sum()), votes.votes[:, mask].sum(axis=1)
        best = -1
        for level in levels or range(size + 1):
            if level <= size:
                worth = [
                    abs(int(gain)) * worths[size, int(t) - level if gain > 0 else 1 - int(t) + level]
                    for gain, t in zip(gains, tallies, strict=True)
                ]
                best = max(best, sum(worth))
        totals.append(best)
    return np.array(totals, dtype=np.int64)


def slope_problem(
    votes: Votes, weights: Weights, utility: MarginUtility, limits: SelectionLimits
) -> SlopeProblem:
    return SlopeProblem(ThresholdProblem(votes, weights, limits), utility)


def proved(problem: SlopeProblem, budget: Budget | None = None, **more: Any) -> tuple[Incumbent, Grown]:
    """Return value and bound of a proof without a selection to begin with, and what it took."""
    best = Incumbent(problem)
    return best, prove_slope(problem.rows, best, budget or Budget(), **more)


def small_problem(n: int = 14, rows: int = 60) -> SlopeProblem:
    votes = hard_votes(rows, n)
    return slope_problem(votes, named_weights("accuracy", votes), sigmoid(8.0), selection_limits(n))


def limits_of(votes: Votes, sizes: tuple[int, int], limited: str) -> SelectionLimits:
    n = votes.n_classifiers
    diversity = diversity_limits(limited, votes) if limited in {"average", "each"} else None
    if limited == "cost":
        return selection_limits(
            n, min_size=min(sizes), max_size=max(sizes), member_costs=[1.0 + k % 3 for k in range(n)], max_cost=3.0
        )  # fmt: skip
    return selection_limits(n, min_size=min(sizes), max_size=max(sizes), diversity=diversity)
