"""Problems of exact pruning by votes, for two classes and for several, with a common interface.

For bounds, each problem is a set of rows with forms (:mod:`shortlist.ensembles.proofs.row_forms`). The two
kinds of problem differ in the count of votes, and in the plain integer program.
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
"""Function that receives a selection, and returns its weighted sum; None if it is outside the limits."""


V = TypeVar("V", Votes, ClassVotes)
W = TypeVar("W", Weights, ClassWeights)


@dataclass(frozen=True, eq=False)
class VoteProblem(Generic[V, W]):
    """Pruning by votes: rows, weights of decisions, and limits of a selection."""

    votes: V
    """Validation rows; for several classes, identical rows are merged."""
    weights: W
    """Weights of decisions."""
    limits: SelectionLimits
    """Limits on size, cost and diversity."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.votes.n_classifiers

    @property
    def objective(self) -> Objective:
        """Objective that the weights measure."""
        return self.weights.objective

    @property
    def slack(self) -> int:
        """Difference up to which two weighted sums count as equal."""
        return self.weights.slack

    @property
    def tolerance(self) -> float:
        """Difference up to which two values count as equal."""
        return self.weights.tolerance

    @property
    @abstractmethod
    def rows(self) -> RightRows:
        """Rows whose decision depends on the selection: right for some allowed selections, wrong for some."""

    def certificate(self, bound: CutBound | int, mask: Mask, threshold: int, total: int) -> Certificate:
        """Return the certificate of a selection, with the cuts that prove the bound."""
        return vote_certificate(
            self.votes, self.weights, self.rows, bound, mask=mask, threshold=threshold, value=total
        )

    def tight_program(self, cuts: Sequence[Cut]) -> PruningProgram:
        """Return the integer program of the rows that matter, with the cuts as constraints."""
        return tight_program(self.rows, cuts, slack=self.slack)

    def plain_program(self) -> PruningProgram:
        """Return the plain integer program, without cuts.

        With two classes it is the program of Eqs. 1 to 20 of the paper.
        """
        return self.tight_program(())

    def rule_starts(self, budget: Budget) -> Iterator[tuple[str, Mask]]:
        """Yield the name of each pruning rule, with the best ensemble among the prefixes of its order."""
        return rule_starts(self.votes, self.weights, self.limits, budget)

    def search(
        self, budget: Budget, offer: Offer, starts: Sequence[Mask], *, target: int, max_steps: int
    ) -> None:
        """Search by tabu walks, and offer the selections found; the first walks begin at `starts`."""
        found = search_selection(
            self.votes, self.weights, self.limits, budget, starts=starts, max_steps=max_steps,
            on_better=lambda better: offer(better.mask), settings=TabuSettings(target=target),
        )  # fmt: skip
        if found is not None:
            offer(found.mask)

    @property
    def first_bound(self) -> int:
        """Weighted sum if every row is right that some selection is right on."""
        return self.rows.weighted_sum(self.rows.total_gain)

    def value(self, total: int) -> float:
        """Return a weighted sum in the user's unit."""
        return self.weights.value(total)

    def rounded(self, bound: int) -> int:
        """Return the largest possible weighted sum that is at most `bound`."""
        return self.rows.offset + (bound - self.rows.offset) // self.rows.step * self.rows.step


class ThresholdProblem(VoteProblem[Votes, Weights]):
    """Pruning with two classes: a row is positive if more members than a threshold vote so.

    The threshold is chosen together with the members.
    """

    @cached_property
    def rows(self) -> RightRows:
        """Distinct vote vectors as rows, each on the positive or the negative side."""
        return normalise(self.votes, self.weights, self.limits)

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Return the number of positive votes of the members on every row, ``(n_rows,)``."""
        return np.asarray(self._columns[mask].sum(axis=0, dtype=np.int64))

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the numbers of positive votes in `tally` without the votes of member k."""
        return np.asarray(tally - self._columns[k])

    @cached_property
    def _columns(self) -> NDArray[np.uint8]:
        """Transposed votes, ``(n_classifiers, n_rows)``, which are faster to read for a large table."""
        return np.ascontiguousarray(self.votes.votes.T)

    @cached_property
    def _signed_gains(self) -> NDArray[np.int64]:
        return self.weights.signed_gains(self.votes)

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return the weighted sum with the best threshold, and this threshold."""
        threshold, gain = threshold_of(tally, self._signed_gains, size)
        return self.weights.all_negative(self.votes) + gain, threshold

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return a function that builds the result for these members.

        A threshold below 0 stands for a result without a selection.
        """
        counts = Confusion(0, 0, 0, 0) if threshold < 0 else confusion(self.votes, mask, threshold)
        return functools.partial(EnsembleSelection, mask=mask, threshold=max(0, threshold), confusion=counts)

    def plain_program(self) -> PruningProgram:
        """Return the program of Eqs. 1 to 20 of the paper."""
        return pruning_program(self.votes, self.weights, self.limits)


class PluralityProblem(VoteProblem[ClassVotes, ClassWeights]):
    """Pruning with several classes: the class with most votes wins, the first of equals.

    A row without a vote is wrong.
    """

    @cached_property
    def rows(self) -> RightRows:
        """Rows as forms, one form for every rival that can win."""
        return class_rows(self.votes, self.weights, self.limits)

    @cached_property
    def _row_gains(self) -> NDArray[np.int64]:
        return self.weights.row_gains(self.votes)

    def tally(self, mask: Mask) -> NDArray[np.int32]:
        """Return the number of votes of the members for each class on every row, ``(n_rows, n_answers)``."""
        return class_tally(self.votes.codes[:, mask], self.votes.n_classes)

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the numbers of votes in `tally` without the votes of member k."""
        fewer, codes = tally.copy(), self.votes.columns[k]
        voted = np.flatnonzero(codes < self.votes.n_classes)
        fewer[voted, codes[voted]] -= 1
        return fewer

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:  # noqa: ARG002  # for two classes
        """Return the weighted sum, and the threshold, which is always 0."""
        right = plurality(tally) == self.votes.labels
        if not self.votes.all_vote:
            right &= tally.any(axis=1)
        return int(self._row_gains[right].sum()), 0

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return a function that builds the result for these members.

        A threshold below 0 stands for a result without a selection.
        """
        n = self.votes.n_classes
        decisions = np.zeros((n, n), dtype=np.int64) if threshold < 0 else decision_table(self.votes, mask)
        return functools.partial(ClassSelection, mask=mask, decisions=decisions)


PruningProblem: TypeAlias = ThresholdProblem | PluralityProblem
"""Problem of exact pruning by votes, with a threshold or by plurality."""


def problem_of(
    votes: Votes | ClassVotes, weights: Weights | ClassWeights, limits: SelectionLimits
) -> PruningProblem:
    """Return the pruning problem for votes of two classes, or of several classes."""
    if isinstance(votes, Votes):
        assert isinstance(weights, Weights), "weights are of the votes"
        return ThresholdProblem(votes, weights, limits)
    assert isinstance(weights, ClassWeights), "weights are of the votes"
    return PluralityProblem(votes, weights, limits)
