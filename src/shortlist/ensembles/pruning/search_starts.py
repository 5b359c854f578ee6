"""Starts of the search: the best ensemble within the limits that each pruning rule passes."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Mask, VoteMatrix
from shortlist.ensembles import _rule_kernels as _kernels
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.rules import backfit, reduced_error, single_right
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, from_binary, no_votes
from shortlist.runs.budget import Budget

BACKFITTING = "backfitting"

START_RULES = ("full", "reduced-error", BACKFITTING)
"""Names of the rules that choose well and take little time."""

_GREEDY = {"reduced-error", BACKFITTING}
"""Names of the rules that count right rows, and that can also weigh rows by their gains."""

BACKFITTING_WORK = 10**9
"""Product of rows and squared classifiers above which backfitting takes longer than a second or two."""

_WORK = 2 * 10**7
"""Number of votes above which only the order by accuracy is tried, as each further rule takes seconds."""


def rules_for(votes: Votes | ClassVotes) -> tuple[str, ...]:
    """Return the names of the rules that take about a second or less on these votes.

    The names depend only on the size of the table, so that a search with more time starts from the same
    selections.
    """
    n_rows, n_classifiers = len(votes.labels), votes.n_classifiers
    if n_rows * n_classifiers > _WORK:
        return START_RULES[:1]
    slow = n_rows * n_classifiers**2 > BACKFITTING_WORK
    return tuple(rule for rule in START_RULES if not (slow and rule == BACKFITTING))


def rule_starts(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    limits: SelectionLimits,
    budget: Budget,
    *,
    rules: Sequence[str] | None = None,
) -> Iterator[tuple[str, Mask]]:
    """Yield the name of each rule with its best start: an ensemble on the rule's way within the limits.

    The ensembles on the way of a rule are the prefixes of its order, or its members of each size. A rule that
    climbs by right decisions is also run with decisions weighed by `weights`, if the weights differ. With all
    of :data:`START_RULES`, the best start has at least the value of each rule's own choice. A rule without an
    ensemble within the limits is left out. Raises BadInputError if a rule is unknown.

    `votes`, `weights`, `limits`: as for the search. `budget`: at its end no further rule is started. `rules`:
    names in :data:`START_RULES`; default the result of :func:`rules_for`.

    Takes O(n_rows · n_classifiers) time for each rule, besides the time of the rule itself.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> limits = selection_limits(3, min_size=3)
    >>> list(rule_starts(votes, named_weights("accuracy", votes), limits, Budget(), rules=["full"]))
    [('full', array([ True,  True,  True]))]
    """
    rules = rules_for(votes) if rules is None else rules
    for rule in rules:
        as_choice(rule, "rule", START_RULES)
    rated = _Rated(votes, weights)
    for rule in rules:
        for counted in rated.counted_for(rule):
            if budget.stopped:
                return
            best = rated.best_prefix(_orders(counted, rule, limits), limits)
            if best is not None:
                yield rule, best


def prefix_totals(
    votes: Votes, weights: Weights, order: ArrayLike, columns: VoteMatrix | None = None
) -> NDArray[np.int64]:
    """Return the gain of every prefix of an order over answering negative on every row, ``(n_order,)``.

    The gain of a prefix is that with its best threshold.

    `columns`: the votes transposed, ``(n_classifiers, n_rows)``; computed here unless given.
    """
    columns = np.ascontiguousarray(votes.votes.T) if columns is None else columns
    gains = weights.signed_gains(votes)
    tallies = np.zeros(len(gains), dtype=np.int64)
    totals = []
    for k in np.asarray(order):
        tallies += columns[k]
        per_tally = np.bincount(tallies, weights=gains)  # exact below 2^53
        totals.append(int(max(0.0, per_tally[:0:-1].cumsum().max(initial=0.0))))
    return np.array(totals, dtype=np.int64)


Order = tuple[NDArray[np.int64], range]
"""Indices of classifiers in the order in which they join, and the sizes of the prefixes to compare."""


class _Rated:
    def __init__(self, votes: Votes | ClassVotes, weights: Weights | ClassWeights) -> None:
        self.votes, self.weights = votes, weights
        if isinstance(votes, Votes):
            assert isinstance(weights, Weights), "weights are of the votes"
            self.read = from_binary(votes)
            gains = weights.signed_gains(votes)
            self.worth = dataclasses.replace(
                self.read, labels=(gains > 0).astype(np.uint8), counts=np.abs(gains).astype(np.int64)
            )
        else:
            assert isinstance(weights, ClassWeights), "weights are of the votes"
            self.read = votes
            self.worth = dataclasses.replace(votes, counts=weights.row_gains(votes))

    def counted_for(self, rule: str) -> list[ClassVotes]:
        if rule not in _GREEDY:
            return [self.read]
        each = np.unique(self.worth.counts // self.read.counts)  # what a sample is worth
        same = len(each) == 1 and np.array_equal(self.read.labels, self.worth.labels)
        return [self.read] if same or not self.worth.counts.any() else [self.read, self.worth]

    def best_prefix(self, orders: Iterator[Order], limits: SelectionLimits) -> Mask | None:
        """Return the mask of the best prefix within the limits, over all orders; the first of equals."""
        found = []
        for order, sizes in orders:
            totals = self._totals(order)
            found += [(-int(totals[size - 1]), size, order) for size in sizes]
        for _, size, order in sorted(found, key=lambda one: one[:2]):
            mask = np.zeros(self.votes.n_classifiers, dtype=bool)
            mask[order[:size]] = True
            if limits.satisfied_by(mask):
                return mask
        return None

    def _totals(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        if isinstance(self.votes, Votes):
            assert isinstance(self.weights, Weights), "weights are of the votes"
            return prefix_totals(self.votes, self.weights, order, self.read.columns)
        totals = np.empty(len(order), dtype=np.int64)
        order = np.require(order, np.int64, ["C", "W"])
        _kernels.count_prefixes(_kernels.coded_rows(self.worth), no_votes(self.worth), order, totals)
        return totals


def _orders(votes: ClassVotes, rule: str, limits: SelectionLimits) -> Iterator[Order]:
    if rule == BACKFITTING:
        most = min(limits.max_size, votes.n_classifiers)
        for members in backfit(votes, sizes=range(1, most + 1)).members_by_size if most else ():
            yield members, range(len(members), len(members) + 1)
        return
    by_accuracy = rule == "full"  # its prefixes count too
    order = np.argsort(-single_right(votes), kind="stable") if by_accuracy else reduced_error(votes).order
    yield order, range(1, len(order) + 1)
