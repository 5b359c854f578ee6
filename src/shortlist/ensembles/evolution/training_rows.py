"""Training rows of individuals, and the weight of each row (Section 3.1)."""

import dataclasses
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Counts, products_in_order
from shortlist.ensembles._rule_kernels import coded_rows, count_prefixes
from shortlist.ensembles.evolution import _margin_kernels
from shortlist.ensembles.evolution.settings import CRITERIA
from shortlist.ensembles.evolution.spaces import Population, SearchSpace
from shortlist.ensembles.votes.hard_votes import (
    ClassCodes,
    ClassVotes,
    Members,
    class_tally,
    class_votes,
    leads,
    no_votes,
    plurality,
)
from shortlist.errors import BadInputError


def vote_digests(codes: ClassCodes) -> list[bytes]:
    """Return a digest of 16 bytes of the votes of each classifier.

    Two classifiers with different votes have the same digest only with a chance of 2^-128.
    """
    return [
        hashlib.blake2b(column.tobytes(), digest_size=16).digest() for column in np.ascontiguousarray(codes.T)
    ]


def distinct_classifiers(codes: ClassCodes, known: Collection[bytes] = ()) -> Members:
    """Return the indices of classifiers whose votes differ from those of all earlier classifiers.

    `known`: digests of further votes that a classifier must differ from.
    """
    seen = set(known)
    distinct = []
    for index, digest in enumerate(vote_digests(codes)):
        if digest not in seen:
            seen.add(digest)
            distinct.append(index)
    return np.array(distinct, dtype=np.int64)


def grow_by_margins(
    votes: ClassVotes, candidates: ArrayLike, start: NDArray[np.int32], *, criterion: str = "histogram"
) -> tuple[Members, Counts]:
    """Return the order in which candidates join a start ensemble; each has the best margins of those left.

    This is step 2 of Figure 1 of :cite:t:`Gagne2007`. Of equal candidates the one with the lowest index
    joins.

    Takes O(n_candidates · n_rows · n_classes) time, plus the time to count candidates that are still equal,
    from the lowest margin up. Takes 12 bytes per row and class, and 24 bytes per row, beside the votes.

    `candidates`: increasing indices of the classifiers that may join. `start`: votes of the start ensemble
    for each class, ``(n_rows, n_classes)``; not modified. `criterion`: ``"histogram"``, or ``"minimum"``,
    which compares the smallest margins alone, as the paper tried first. Returns `order`, the candidates in
    the order of joining, ``(n_candidates,)``, and `right`, the number of samples decided right by the start
    and after every addition, ``(n_candidates + 1,)``.
    """
    as_choice(criterion, "criterion", CRITERIA)
    left = np.array(candidates, dtype=np.int64)
    n_rows, n_left = len(votes.labels), len(left)
    counted = no_votes(votes)
    counted[:, : votes.n_classes] += start
    tally = np.array(counted[:, : votes.n_answers], order="C")  # margins are ahead of rivals alone
    order, right = np.empty(n_left, dtype=np.int64), np.empty(n_left + 1, dtype=np.int64)
    levels = 2 * (int(start.sum(axis=1).max()) + n_left) + 3
    by_margin = _margin_kernels.SortedRows(
        np.empty((3, n_rows), dtype=np.int64), *np.empty((3, levels), dtype=np.int64)
    )
    equal = np.empty((6, max(1, n_left)), dtype=np.int64)
    _margin_kernels.climb_by_margins(
        coded_rows(votes), criterion == "histogram", tally, left, by_margin, equal, order, right
    )
    if not votes.all_vote:  # a row without a vote has no margin, and is wrong
        right[0] = votes.counts[leads(counted, votes.labels) >= 0].sum()
        count_prefixes(coded_rows(votes), counted, order, right[1:])
    return order, right


def row_weights(n_wrong: ArrayLike, gamma: float = 1.0) -> NDArray[Any]:
    """Return the weights n_i^γ of rows, where n_i classifiers of a reference set get row i wrong; 0^0 = 1.

    Section 3.1 of :cite:t:`Gagne2007` has the hardness of a row, (n_i / n)^γ with n classifiers in the
    reference set. The weight n_i^γ is the hardness times n^γ, a factor that changes no comparison. The
    weights are whole numbers if γ is one, so equal fitness is exactly equal. Where the reference set is right
    on every row, all weights are 1 instead, so that fitness becomes accuracy.

    `n_wrong`, ``(n_rows,)``: number of classifiers of the reference set that are wrong. `gamma`: γ, at least
    0; 0 makes every row equal.

    >>> row_weights([1, 0, 2], gamma=2).tolist(), row_weights([0, 0]).tolist()
    ([1, 0, 4], [1, 1])
    """
    wrong = np.asarray(n_wrong, dtype=np.int64)
    if not wrong.any():
        return np.ones(len(wrong), dtype=np.int64)
    if float(gamma).is_integer() and len(wrong) * int(wrong.max()) ** int(gamma) < 2**63:
        return np.asarray(wrong ** int(gamma))
    return np.asarray(wrong.astype(np.float64) ** gamma)


def errors_of(
    codes: NDArray[Any], labels: NDArray[Any], costs: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return the share of rows that each classifier gets wrong, or the mean cost of its errors.

    `codes`, ``(n_rows, n_classifiers)``: answers as class indices. `labels`, ``(n_rows,)``: true classes.
    `costs`, ``(n_rows,)``: cost of an error about each row, or None.

    >>> errors_of(np.array([[0, 1], [1, 1]]), np.array([0, 1]), np.array([1, 10])).tolist()
    [0.0, 0.5]
    """
    wrong = codes != labels[:, None]
    total = np.count_nonzero(wrong, axis=0) if costs is None else costs @ wrong
    return np.asarray(total / len(labels), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class GrownEnsemble:
    """Members of an ensemble, with the tally of their answers on the training rows.

    The votes of all members of a large ensemble would take too much memory.
    """

    genomes: Population
    tally: NDArray[np.int32]
    known: frozenset[bytes]

    def __len__(self) -> int:
        return len(self.genomes)


class TrainingRows:
    """Training rows, with methods for errors, weights and fitness on these rows.

    If costs are known, the cost of an error about a row is the weight of the row.
    """

    def __init__(
        self,
        space: SearchSpace,
        X: NDArray[np.float64],
        labels: NDArray[np.integer],
        n_classes: int,
        criterion: str,
        *,
        error_costs: Sequence[int] | None = None,
    ) -> None:
        if len(X) != len(labels) or not len(X):
            raise BadInputError(f"X and labels must have one entry per row, got {len(X)} and {len(labels)}.")
        self.space, self.X, self.n_classes, self.criterion = space, X, n_classes, criterion
        self.labels = class_votes(labels[:, None], labels, n_classes=n_classes).labels
        self.costs = None if error_costs is None else np.array(error_costs, dtype=np.int64)[self.labels]

    def codes(self, population: Population) -> ClassCodes:
        """Return the answers of individuals as class indices, ``(n_rows, n_individuals)``, after a check."""
        if not len(population):
            return np.empty((len(self.X), 0), dtype=np.uint8)
        codes = np.asarray(self.space.predict(population, self.X))
        wanted = (len(self.X), len(population))
        if codes.shape != wanted or codes.dtype.kind not in "biu":
            raise BadInputError(
                f"predict of the space must return class indices of shape {wanted}, got {codes.dtype} "
                f"{codes.shape}."
            )
        if codes.size and (codes.min() < 0 or codes.max() >= self.n_classes):
            raise BadInputError(
                f"predict of the space must return classes from 0 to {self.n_classes - 1}, got {codes.max()}."
            )
        return codes.astype(np.uint8, copy=False)

    def weights(
        self, mode: str, codes: ClassCodes, ensemble: GrownEnsemble, *, gamma: float, smoothing: int
    ) -> NDArray[Any]:
        """Return the weight of every row against the reference set of the mode, ``(n_rows,)``."""
        if mode == "single":
            return self._times_cost(np.ones(len(self.labels), dtype=np.int64))
        if mode == "offline":
            n_wrong = np.count_nonzero(codes != self.labels[:, None], axis=1)
        else:
            right = ensemble.tally[np.arange(len(self.labels)), self.labels]
            n_wrong = len(ensemble) - right + smoothing
        return self._times_cost(row_weights(n_wrong, gamma))

    def _times_cost(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return the weights of rows times the costs of their errors.

        The products are whole numbers as long as sums of them are exact.
        """
        if self.costs is None:
            return weights
        is_exact = len(weights) * float(weights.max()) * float(self.costs.max()) < 2**63
        return np.asarray(weights * (self.costs if is_exact else self.costs.astype(np.float64)))

    def fitness(self, codes: ClassCodes, weights: NDArray[Any]) -> NDArray[Any]:
        """Return F(h) = Σ_i w_i · 1[h(x_i) = y_i] of every individual, ``(n_individuals,)``.

        The fitness is a whole number if the weights are whole numbers.
        """
        levels, level_of = np.unique(weights, return_inverse=True)
        order = np.argsort(level_of, kind="stable")
        starts = np.searchsorted(level_of[order], np.arange(len(levels)))
        right = (codes == self.labels[:, None])[order]
        counts = np.add.reduceat(right, starts, axis=0, dtype=np.int64).T
        if levels.dtype.kind == "i":
            return np.asarray(counts @ levels)
        return products_in_order(counts, levels)  # so individuals right on equal weights are equal

    def single_best(self, population: Population, codes: ClassCodes) -> GrownEnsemble:
        """Return the ensemble of the one individual with the least error; the first of equals."""
        best = [int(self.errors(codes).argmin())]
        return self._joined(None, population[best], codes[:, best])

    def grown(
        self, ensemble: GrownEnsemble, population: Population, codes: ClassCodes, most: int | None
    ) -> GrownEnsemble:
        """Return the ensemble after the selection of Figure 1 from the population, up to `most` members."""
        room = codes.shape[1] if most is None else max(0, most - len(ensemble))
        if not room:
            return ensemble
        votes = class_votes(codes, self.labels, n_classes=self.n_classes)
        order, right = grow_by_margins(
            votes if self.costs is None else dataclasses.replace(votes, counts=self.costs),
            distinct_classifiers(codes, ensemble.known),
            ensemble.tally,
            criterion=self.criterion,
        )
        joined = order[: int(right[: room + 1].argmax())]
        return self._joined(ensemble, population[joined], codes[:, joined])

    def _joined(
        self, ensemble: GrownEnsemble | None, genomes: Population, codes: ClassCodes
    ) -> GrownEnsemble:
        tally, known = class_tally(codes, self.n_classes), frozenset(vote_digests(codes))
        if ensemble is None:
            return GrownEnsemble(genomes, tally, known)
        return GrownEnsemble(
            np.concatenate([ensemble.genomes, genomes]), ensemble.tally + tally, ensemble.known | known
        )

    def error(self, ensemble: GrownEnsemble) -> float:
        """Return the share of rows that the ensemble gets wrong, or the mean cost of its errors."""
        return float(self.errors(plurality(ensemble.tally)[:, None])[0])

    def errors(self, codes: ClassCodes) -> NDArray[np.float64]:
        """Return the share of rows that each classifier gets wrong, or the mean cost of its errors."""
        return errors_of(codes, self.labels, self.costs)
