"""Exact pruning as a problem that one engine solves: what two classes and several have of their own.

Both are rows with forms (:mod:`shortlist.ensembles.proofs.row_forms`) for everything that bounds. They differ
in how votes are counted, in the search for good selections, and in the integer program that a solver gets.
"""

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import ClassSelection, EnsembleSelection, PrunedSelection
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights, decision_table, threshold_of
from shortlist.ensembles.proofs.certificate import Certificate, class_claim, threshold_claim, vote_certificate
from shortlist.ensembles.proofs.cuts import Cut, CutBound
from shortlist.ensembles.proofs.pruning_program import (
    as_votes,
    plurality_program,
    pruning_program,
    tight_program,
)
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows, normalise
from shortlist.ensembles.pruning.search_starts import rule_starts
from shortlist.ensembles.pruning.tabu_search import FoundSelection, TabuSettings, search_selection
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Confusion,
    Votes,
    class_tally,
    confusion,
    plurality,
)
from shortlist.milp import Program
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget

Offer: TypeAlias = Callable[[Mask], int | None]
"""Receives selections, and returns what they are worth, None where they do not keep the limits."""


@dataclass(frozen=True, eq=False)
class SolverProgram:
    """An integer program, and what its solutions mean."""

    program: Program
    """To be minimised; its first columns are the classifiers."""
    total_of: Callable[[float], float]
    """Turns a cost, or a bound on it, into a weighted sum, fractions included."""
    encode: Callable[[Mask, int], NDArray[np.float64]]
    """Writes members and threshold as a solution."""
    absolute_gap: float = 1 - 1e-6
    """Costs that differ by no more are equal."""

    def members(self, values: NDArray[np.float64], n_classifiers: int) -> Mask:
        """Read the selection from a solution."""
        return np.asarray(values[:n_classifiers] > 0.5)

    def total_bound(self, bound: float, otherwise: int) -> int:
        """Turn a bound on the cost into one on the weighted sum."""
        return otherwise if math.isinf(bound) else math.floor(self.total_of(bound) + 1e-6)


V = TypeVar("V", Votes, ClassVotes)
W = TypeVar("W", Weights, ClassWeights)


@dataclass(frozen=True, eq=False)
class VoteProblem(Generic[V, W]):
    """Votes on rows, what decisions on them are worth, and what a selection must keep."""

    votes: V
    """Validation rows; those of several classes merged."""
    weights: W
    """What decisions are worth."""
    limits: SelectionLimits
    """Size, cost and diversity."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.votes.n_classifiers

    @property
    def objective(self) -> Objective:
        """What the value is called."""
        return self.weights.objective

    @property
    def slack(self) -> int:
        """Weighted sums that differ by no more are equal."""
        return self.weights.slack

    @property
    def tolerance(self) -> float:
        """The same as a difference of values."""
        return self.weights.tolerance

    @property
    @abstractmethod
    def rows(self) -> RightRows:
        """Rows that some allowed selections are right on and others are not."""

    @abstractmethod
    def claim(self, mask: Mask, threshold: int) -> Certificate:
        """Write down what a selection is, and of which problem."""

    def certificate(self, bound: CutBound | int, mask: Mask, threshold: int, total: int) -> Certificate:
        """Write down what is claimed of a selection, and the cuts that prove the bound."""
        return vote_certificate(self.claim(mask, threshold), self.rows, bound, total)

    def rule_starts(self, budget: Budget) -> Iterator[tuple[str, Mask]]:
        """Yield pruning rules, each with the best ensemble on its way."""
        return rule_starts(self.votes, self.weights, self.limits, budget)

    def search(
        self, budget: Budget, offer: Offer, starts: Sequence[Mask], *, target: int, max_steps: int
    ) -> None:
        """Offer what tabu walks find, first from these starts."""

        def on_better(found: FoundSelection) -> None:
            offer(found.mask)

        found = search_selection(
            self.votes, self.weights, self.limits, budget, starts=starts, max_steps=max_steps,
            on_better=on_better, settings=TabuSettings(target=target),
        )  # fmt: skip
        if found is not None:
            offer(found.mask)

    @property
    def first_bound(self) -> int:
        """The weighted sum when every row is right that can be."""
        return self.rows.weighted_sum(self.rows.total_gain)

    def value(self, total: int) -> float:
        """Turn a weighted sum into the user's unit."""
        return self.weights.value(total)

    def rounded(self, bound: int) -> int:
        """Return the largest weighted sum that is possible and no larger than `bound`."""
        return self.rows.offset + (bound - self.rows.offset) // self.rows.step * self.rows.step


class ThresholdProblem(VoteProblem[Votes, Weights]):
    """Two classes: positive where more members than a threshold vote so, and the threshold is chosen too."""

    @cached_property
    def rows(self) -> RightRows:
        """The distinct rows, each on one side."""
        return normalise(self.votes, self.weights, self.limits)

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Count the positive votes on every row."""
        return np.asarray(self._columns[mask].sum(axis=0, dtype=np.int64))

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the counts without one of the members."""
        return np.asarray(tally - self._columns[k])

    @cached_property
    def _columns(self) -> NDArray[np.uint8]:
        """The votes by classifier, which a large table is read by faster than by row."""
        return np.ascontiguousarray(self.votes.votes.T)

    @cached_property
    def _signed_gains(self) -> NDArray[np.int64]:
        return self.weights.signed_gains(self.votes)

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return the weighted sum with the best threshold, and that one."""
        threshold, gain = threshold_of(tally, self._signed_gains, size)
        return self.weights.all_negative(self.votes) + gain, threshold

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return what makes a result of these members; a threshold below 0 says that there are none."""
        counts = Confusion(0, 0, 0, 0) if threshold < 0 else confusion(self.votes, mask, threshold)
        return functools.partial(EnsembleSelection, mask=mask, threshold=max(0, threshold), confusion=counts)

    def tight_program(self, cuts: Sequence[Cut]) -> SolverProgram:
        """Return the program of the normalised rows."""
        built, votes = tight_program(self.rows, cuts), as_votes(self.rows)
        return SolverProgram(
            built.program,
            lambda cost: self.rows.offset - self.rows.step * (cost + built.offset),
            lambda mask, threshold: built.encode(votes, mask, threshold),
        )

    def plain_program(self) -> SolverProgram:
        """Return the program of Eqs. 1 to 20 of the paper."""
        built = pruning_program(self.votes, self.weights, self.limits)
        return SolverProgram(
            built.program,
            lambda cost: -(cost + built.offset),
            lambda mask, threshold: built.encode(self.votes, mask, threshold),
            self.weights.step * (1 - 1e-6),
        )

    def claim(self, mask: Mask, threshold: int) -> Certificate:
        """Write down what a selection is, and of which problem."""
        return threshold_claim(self.votes, self.weights, self.limits, mask, threshold)


class PluralityProblem(VoteProblem[ClassVotes, ClassWeights]):
    """Several classes: the class with most votes, of equals the first."""

    @cached_property
    def rows(self) -> RightRows:
        """The rows, with a form for every rival that can win."""
        return class_rows(self.votes, self.weights, self.limits)

    @cached_property
    def _row_gains(self) -> NDArray[np.int64]:
        return self.weights.row_gains(self.votes)

    def tally(self, mask: Mask) -> NDArray[np.int32]:
        """Count the votes for each class on every row."""
        return class_tally(self.votes.codes[:, mask], self.votes.n_classes)

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the counts without one of the members."""
        fewer, codes = tally.copy(), self.votes.columns[k]
        voted = np.flatnonzero(codes < self.votes.n_classes)
        fewer[voted, codes[voted]] -= 1
        return fewer

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:  # noqa: ARG002  # for two classes
        """Return the weighted sum; the threshold is always 0."""
        return int(self._row_gains[plurality(tally) == self.votes.labels].sum()), 0

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return what makes a result of these members; a threshold below 0 says that there are none."""
        n = self.votes.n_classes
        decisions = np.zeros((n, n), dtype=np.int64) if threshold < 0 else decision_table(self.votes, mask)
        return functools.partial(ClassSelection, mask=mask, decisions=decisions)

    def tight_program(self, cuts: Sequence[Cut]) -> SolverProgram:
        """Return the program of the rows that matter."""
        built = plurality_program(self.rows, cuts)
        return SolverProgram(
            built.program,
            lambda cost: self.rows.offset - self.rows.step * cost,
            lambda mask, _: built.encode(mask),
            max(self.slack / self.rows.step, 1 - 1e-6),
        )

    def plain_program(self) -> SolverProgram:
        """Return the same without cuts."""
        return self.tight_program(())

    def claim(self, mask: Mask, threshold: int) -> Certificate:  # noqa: ARG002  # there is none
        """Write down what a selection is, and of which problem."""
        return class_claim(self.votes, self.weights, self.limits, mask)


PruningProblem: TypeAlias = ThresholdProblem | PluralityProblem
"""What the engine solves."""


def problem_of(
    votes: Votes | ClassVotes, weights: Weights | ClassWeights, limits: SelectionLimits
) -> PruningProblem:
    """Return the problem of a weighted sum."""
    if isinstance(votes, Votes):
        assert isinstance(weights, Weights), "weights are of the votes"
        return ThresholdProblem(votes, weights, limits)
    assert isinstance(weights, ClassWeights), "weights are of the votes"
    return PluralityProblem(votes, weights, limits)
