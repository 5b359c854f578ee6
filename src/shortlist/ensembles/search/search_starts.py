"""Where the search begins: the best prefixes of the orders of the pruning rules."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Mask, VoteMatrix
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.margin_selection import select_by_margins
from shortlist.ensembles.rules.orderings import RULES, order_classifiers, single_right
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes, from_binary
from shortlist.runs.budget import Budget

START_RULES = (*(rule for rule in RULES if rule != "random"), "margin", "backfitting")
"""Every rule of step by step pruning, by name."""

QUICK_RULES = ("full", "orientation", "uwa", "concurrency", "complementariness", "reduced-error")
"""Those that cost little beside the search, from the cheapest on."""

BACKFITTING_WORK = 10**9
"""Rows times squared classifiers beyond which backfitting would take too long to start from."""

_WORK = 2 * 10**7
"""Votes beyond which hill climbing costs more than it gives, and an order by accuracy alone is taken."""


def ordering_starts(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    budget: Budget,
    *,
    rules: Sequence[str] | None = None,
) -> list[Mask]:
    """Return for each rule the prefix within the limits that is worth most, best first.

    With all of :data:`START_RULES` the first is worth at least what any of these rules chooses by itself.
    Raises BadInputError if a rule is unknown.

    `votes`, `weights`, `limits`: of the search. `budget`: once it is over, no further rule is begun. `rules`:
    names in :data:`START_RULES`; default :data:`QUICK_RULES`, and for more than 20 million votes the first of
    them. `starts`, which it returns: different selections, ``(n_classifiers,)``; none when no prefix keeps
    the limits.

    Beside the rules, O(n_rows · n_classifiers) time for each.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> limits = selection_limits(3, min_size=3)
    >>> ordering_starts(votes, named_weights("accuracy", votes), limits, Budget(), rules=["full"])
    [array([ True,  True,  True])]
    """
    if rules is None:
        rules = QUICK_RULES if votes.votes.size <= _WORK else QUICK_RULES[:1]
    for rule in rules:
        as_choice(rule, "rule", START_RULES)
    class_votes = from_binary(votes)
    found: list[tuple[int, Mask]] = []
    for rule in rules:
        if budget.stopped:
            break
        for total, mask in _best_prefix(
            votes, weights, limits, _orders(class_votes, rule), class_votes.columns
        ):
            if not any(np.array_equal(mask, other) for _, other in found):
                found.append((total, mask))
    return [mask for _, mask in sorted(found, key=lambda pair: -pair[0])]


def prefix_totals(
    votes: Votes, weights: Weights, order: ArrayLike, columns: VoteMatrix | None = None
) -> NDArray[np.int64]:
    """Return what every prefix of an order adds, with its best threshold, to answering negative everywhere.

    `columns` is the votes transposed, ``(n_classifiers, n_rows)``, made here unless given.
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


def _orders(votes: ClassVotes, rule: str) -> Iterator[tuple[NDArray[np.int64], range]]:
    """Yield orders, and the prefix sizes that are meant."""
    if rule == "backfitting":
        for members in backfit(votes).members_by_size:
            yield members, range(len(members), len(members) + 1)
        return
    # both take the most accurate alone first; their own prefixes are not asked for
    if rule in {"full", "best-single"}:
        order = np.argsort(-single_right(votes), kind="stable")
    elif rule == "margin":
        order = select_by_margins(votes).order
    else:
        order = order_classifiers(votes, rule).order
    yield order, range(1, len(order) + 1)


def _best_prefix(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    orders: Iterator[tuple[NDArray[np.int64], range]],
    columns: VoteMatrix,
) -> list[tuple[int, Mask]]:
    """Return the best prefix of all orders that keeps the limits with its total, or nothing."""
    candidates = []
    for order, sizes in orders:
        totals = prefix_totals(votes, weights, order, columns)
        candidates += [(-int(totals[size - 1]), size, order) for size in sizes]
    for loss, size, order in sorted(candidates, key=lambda candidate: candidate[:2]):
        mask = np.zeros(votes.n_classifiers, dtype=bool)
        mask[order[:size]] = True
        if limits.satisfied_by(mask):
            return [(-loss, mask)]
    return []


def rule_selections(votes: ClassVotes, limits: SelectionLimits, budget: Budget) -> Iterator[Mask]:
    """Yield what the rules of pruning choose: every prefix of every ordering, and the subsets of backfitting.

    Only sizes within the limits; cost and diversity are the caller's to check. Ends early with the budget.

    The rules stop between each other only. Backfitting is left out beyond :data:`BACKFITTING_WORK`.
    """
    n_classifiers = votes.n_classifiers
    least, most = max(1, limits.min_size), limits.max_size

    for rule in RULES:
        if budget.stopped:
            return
        order = order_classifiers(votes, rule).order
        for size in range(least, min(most, len(order)) + 1):
            yield _mask_of(order[:size], n_classifiers)
    if least <= most and not budget.stopped and len(votes.labels) * n_classifiers**2 <= BACKFITTING_WORK:
        for members in backfit(votes, sizes=range(least, most + 1)).members_by_size:
            yield _mask_of(members, n_classifiers)


def _mask_of(members: NDArray[np.intp], n_classifiers: int) -> Mask:
    mask = np.zeros(n_classifiers, dtype=bool)
    mask[members] = True
    return mask
