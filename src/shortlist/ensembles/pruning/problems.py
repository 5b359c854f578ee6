"""Exact pruning as a problem that one engine solves: what two classes and several have of their own.

Both are rows with forms (:mod:`shortlist.ensembles.proofs.row_forms`) for everything that bounds. They differ
in how votes are counted, and in the integer program as it is printed.
"""

import functools
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
from shortlist.ensembles.proofs.certificate import Certificate, Cut, CutBound, vote_certificate
from shortlist.ensembles.proofs.pruning_program import PruningProgram, pruning_program, tight_program
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows, normalise
from shortlist.ensembles.pruning.search_starts import rule_starts
from shortlist.ensembles.pruning.tabu_search import TabuSettings, search_selection
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Confusion,
    Votes,
    class_tally,
    confusion,
    plurality,
)
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget

Offer: TypeAlias = Callable[[Mask], int | None]
"""Receives selections, and returns what they are worth, None where they do not keep the limits."""


V = TypeVar("V", Votes, ClassVotes)
W = TypeVar("W", Weights, ClassWeights)


@dataclass(frozen=True, eq=False)
class VoteProblem(Generic[V, W]):
    """Votes on rows, what decisions on them are worth, and what a selection must keep."""

    votes: V
    """Validation rows; those of several classes merged."""
    weights: W
    """Weights of decisions."""
    limits: SelectionLimits
    """Size, cost and diversity."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.votes.n_classifiers

    @property
    def objective(self) -> Objective:
        """Objective that names the value."""
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

    def certificate(self, bound: CutBound | int, mask: Mask, threshold: int, total: int) -> Certificate:
        """Write down what is claimed of a selection, and the cuts that prove the bound."""
        return vote_certificate(
            self.votes, self.weights, self.rows, bound, mask=mask, threshold=threshold, value=total
        )

    def tight_program(self, cuts: Sequence[Cut]) -> PruningProgram:
        """Return the integer program of the rows that matter, with cuts."""
        return tight_program(self.rows, cuts, slack=self.slack)

    def plain_program(self) -> PruningProgram:
        """Return the program as printed: of two classes Eqs. 1 to 20 of the paper, else without cuts."""
        return self.tight_program(())

    def rule_starts(self, budget: Budget) -> Iterator[tuple[str, Mask]]:
        """Yield pruning rules, each with the best ensemble on its way."""
        return rule_starts(self.votes, self.weights, self.limits, budget)

    def search(
        self, budget: Budget, offer: Offer, starts: Sequence[Mask], *, target: int, max_steps: int
    ) -> None:
        """Offer what tabu walks find, first from these starts."""
        found = search_selection(
            self.votes, self.weights, self.limits, budget, starts=starts, max_steps=max_steps,
            on_better=lambda better: offer(better.mask), settings=TabuSettings(target=target),
        )  # fmt: skip
        if found is not None:
            offer(found.mask)

    @property
    def first_bound(self) -> int:
        """Weighted sum if all rows that can be right are right."""
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
        """Return the weighted sum with the best threshold, and the threshold."""
        threshold, gain = threshold_of(tally, self._signed_gains, size)
        return self.weights.all_negative(self.votes) + gain, threshold

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return the maker of a result of these members; a threshold below 0 says that there are none."""
        counts = Confusion(0, 0, 0, 0) if threshold < 0 else confusion(self.votes, mask, threshold)
        return functools.partial(EnsembleSelection, mask=mask, threshold=max(0, threshold), confusion=counts)

    def plain_program(self) -> PruningProgram:
        """Return the program of Eqs. 1 to 20 of the paper."""
        return pruning_program(self.votes, self.weights, self.limits)


class PluralityProblem(VoteProblem[ClassVotes, ClassWeights]):
    """Several classes: the class with most votes, of equals the first; a row without a vote is wrong."""

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
        right = plurality(tally) == self.votes.labels
        if not self.votes.all_vote:
            right &= tally.any(axis=1)
        return int(self._row_gains[right].sum()), 0

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return the maker of a result of these members; a threshold below 0 says that there are none."""
        n = self.votes.n_classes
        decisions = np.zeros((n, n), dtype=np.int64) if threshold < 0 else decision_table(self.votes, mask)
        return functools.partial(ClassSelection, mask=mask, decisions=decisions)


PruningProblem: TypeAlias = ThresholdProblem | PluralityProblem
"""Problem that the engine solves."""


def problem_of(
    votes: Votes | ClassVotes, weights: Weights | ClassWeights, limits: SelectionLimits
) -> PruningProblem:
    """Return the problem of a weighted sum."""
    if isinstance(votes, Votes):
        assert isinstance(weights, Weights), "weights are of the votes"
        return ThresholdProblem(votes, weights, limits)
    assert isinstance(weights, ClassWeights), "weights are of the votes"
    return PluralityProblem(votes, weights, limits)
