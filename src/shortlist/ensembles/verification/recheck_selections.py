"""Recheck of selections: the limits of one selection, and as a proof the values of all, if there are few.

Sets of rows are bits of Python's integers. A selection grows by one classifier at a time, together with the
sets of rows that have at least one vote, at least two, and so on.
"""

from collections.abc import Callable, Iterator, Mapping
from math import comb, inf
from typing import Any, TypeAlias

MOST_SELECTIONS = 2**17
"""Largest number of selections that are all evaluated, which takes a few seconds; a proof by more selections
is not accepted.
"""

UNITS = 10**9
SLACK = 1000
MOST = 2**62

VoteTable = list[tuple[tuple[int, ...], int, int]]
"""Distinct vote vectors in lexicographic order, each with its number of positive and of negative samples."""

Levels: TypeAlias = list[int]
"""Set of rows with at least k votes, as bits, for each number k; the first has all rows."""


def whole(number: Any, what: str, least: int, most: float = inf) -> int:
    """Return a number of a certificate; raise ValueError unless it is an integer from `least` to `most`."""
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most}, got {number!r}")
    return number


def checked_members(claim: Mapping[str, Any], n_classifiers: int, failures: list[str]) -> list[int]:
    """Return the members in a claim; append a text to `failures` for each broken limit on size or cost.

    Raises ValueError if a field is no integer where one is needed, or if a size exceeds the number of
    classifiers.
    """
    limits = claim["limits"]
    most = whole(limits["max_size"], "max_size", 0, n_classifiers)
    whole(limits["min_size"], "min_size", 0, most)
    for name in {"budget", "each", "mean"} & limits.keys():
        whole(limits[name], name, 0, MOST)
    costs = [whole(cost, "cost", 0, MOST) for cost in limits.get("costs", ())]
    if "budget" in limits and len(costs) != n_classifiers:
        raise ValueError(f"costs must be one for each of {n_classifiers} classifiers, got {len(costs)}")
    members = [whole(k, "member", 0, n_classifiers - 1) for k in claim["members"]]
    if sorted(set(members)) != members:
        raise ValueError(f"members must be increasing indices of classifiers, got {members}")
    if not limits["min_size"] <= len(members) <= limits["max_size"]:
        failures.append(f"{len(members)} members break the size limits")
    if "budget" in limits and sum(costs[k] for k in members) > limits["budget"]:
        failures.append("the members cost more than the budget")
    return members


def is_diverse(table: VoteTable, members: list[int], limits: Mapping[str, Any]) -> bool:
    """Return whether the credit of members is at least ``each`` per member and ``mean`` over pairs.

    Credits and limits are in billionths.
    """
    size = len(members)
    if size < 2 or "each" not in limits:
        return True
    measure = limits.get("measure", "pfc")
    fails = {k: [negatives if row[k] else positives for row, positives, negatives in table] for k in members}
    n = sum(positives + negatives for _, positives, negatives in table)
    credit = dict.fromkeys(members, 0)
    for a in members:
        for b in members:
            if a == b:
                continue
            in_both = sum(fails[a][i] if table[i][0][a] == table[i][0][b] else 0 for i in range(len(table)))
            credit[a] += _pair_credit(measure, in_both, sum(fails[a]), sum(fails[b]), n)
    if min(credit.values()) < limits["each"] * (size - 1) - SLACK:
        return False
    return bool(sum(credit.values()) // 2 >= limits["mean"] * (size * (size - 1) // 2) - SLACK)


def _pair_credit(measure: str, in_both: int, ours: int, theirs: int, n: int) -> int:
    """Return the credit of a pair of classifiers in billionths, from numbers of rows.

    The numbers are of rows on which both fail, on which the first fails, on which the second fails, and of
    all rows. Raises ValueError if the measure is unknown.
    """
    only_ours, only_theirs = ours - in_both, theirs - in_both
    differing = only_ours + only_theirs
    if measure == "pfc":
        over, under = differing, ours + theirs
    elif measure == "disagreement":
        over, under = differing, n
    elif measure == "double-fault":
        over, under = n - in_both, n
    elif measure == "q":
        over = only_ours * only_theirs
        under = over + in_both * (n - in_both - differing)
        if under == 0 and differing > 0:  # Q is 0 then
            over, under = 1, 2
    else:
        raise ValueError(f"the measure of diversity is not known: {measure!r}")
    return (2 * UNITS * over + under) // max(2 * under, 1)


def n_selections(n_classifiers: int, limits: Mapping[str, Any]) -> int:
    """Return the number of selections within the sizes.

    Raises ValueError if there are too many selections to evaluate.
    """
    found = sum(comb(n_classifiers, size) for size in range(limits["min_size"], limits["max_size"] + 1))
    if found > MOST_SELECTIONS:
        raise ValueError(f"there must be at most {MOST_SELECTIONS:,} selections to look at, got {found:,}")
    return found


def best_gain(
    answers: list[tuple[int, ...]],
    labels: list[int],
    gains: list[int],
    limits: Mapping[str, Any],
    is_allowed: Callable[[list[int]], bool],
    *,
    n_classes: int,
    by_threshold: bool,
) -> int | None:
    """Return the largest sum of the gains of right rows, over all selections and thresholds.

    None if no selection is allowed.

    `answers`, `labels`, `n_classes`, `by_threshold`: as for :func:`every_committee`. `gains`: gain of each
    row, at least 0. `limits`: ``min_size`` and ``max_size``, perhaps ``costs`` and ``budget``. `is_allowed`:
    function that tells whether members keep the limits beyond size and cost.
    """
    planes = [
        (1 << bit, _bits(gain >> bit & 1 for gain in gains))
        for bit in range(max(gains, default=0).bit_length())
    ]
    best: int | None = None
    for members, _, right in _decided(answers, labels, limits, n_classes, by_threshold=by_threshold):
        value = sum(worth * (right & rows).bit_count() for worth, rows in planes)
        if (best is None or value > best) and is_allowed(members):
            best = value
    return best


def every_committee(
    answers: list[tuple[int, ...]],
    labels: list[int],
    limits: Mapping[str, Any],
    *,
    n_classes: int,
    by_threshold: bool,
) -> Iterator[tuple[list[int], int, list[int]]]:
    """Yield every committee of an allowed size with each threshold, and its number of right rows by class.

    `answers`: index of the class that each classifier answers; `n_classes` is an abstention. `limits`:
    ``min_size`` and ``max_size``. `by_threshold`: whether class 1 is answered where more members than a
    threshold answer it; otherwise by plurality. By plurality a row without a vote is wrong, but a committee
    without members answers the first class, if no classifier abstains.

    >>> sizes = {"min_size": 1, "max_size": 1}
    >>> list(every_committee([(1, 0), (0, 0)], [1, 0], sizes, n_classes=2, by_threshold=True))
    [([1], 0, [1, 0]), ([1], 1, [1, 0]), ([0], 0, [1, 1]), ([0], 1, [1, 0])]
    """
    of_class = [_bits(label == one for label in labels) for one in range(n_classes)]
    for members, threshold, right in _decided(answers, labels, limits, n_classes, by_threshold=by_threshold):
        yield members, threshold, [(right & rows).bit_count() for rows in of_class]


def _decided(
    answers: list[tuple[int, ...]],
    labels: list[int],
    limits: Mapping[str, Any],
    n_classes: int,
    *,
    by_threshold: bool,
) -> Iterator[tuple[list[int], int, int]]:
    """Yield every selection with each threshold, and the set of rows that it decides right, as bits."""
    of_class = [_bits(label == one for label in labels) for one in range(n_classes)]
    n_classifiers = len(answers[0]) if answers else 0
    columns = [
        [_bits(row[k] == answer for row in answers) for k in range(n_classifiers)]
        for answer in ([1] if by_threshold else range(n_classes))
    ]
    all_vote = by_threshold or not any(n_classes in row for row in answers)
    for members, levels in _selections(columns, len(answers), n_classifiers, limits):
        if not by_threshold:
            right = of_class[0] if all_vote else 0  # of an empty selection
            yield members, 0, _right_by_plurality(levels, of_class, len(members)) if members else right
            continue
        for threshold in range(len(members) + 1):
            above = _at(levels[0], threshold + 1)
            yield members, threshold, of_class[0] ^ above


def _right_by_plurality(levels: list[Levels], of_class: list[int], size: int) -> int:
    """Return the set of rows on which the class with most votes is right, as bits.

    Ties go to the first class.
    """
    right = 0
    for label, rows in enumerate(of_class):
        # at least `votes_for` votes, of which there must be one, and no rival with more, or as many before it
        for votes_for in range(1, size + 1):
            here = _at(levels[label], votes_for) & rows
            for rival in range(len(of_class)):
                if rival != label:
                    here &= ~_at(levels[rival], votes_for + (rival > label))
            right |= here
    return right


def _selections(
    columns: list[list[int]], n_rows: int, n_classifiers: int, limits: Mapping[str, Any]
) -> Iterator[tuple[list[int], list[Levels]]]:
    """Yield every selection within the limits on size and cost, with its levels for each class of votes."""
    costs, budget = limits.get("costs"), limits.get("budget", 0)
    every = (1 << n_rows) - 1
    stack: list[tuple[list[int], int, list[Levels]]] = [([], 0, [[every] for _ in columns])]
    while stack:
        members, cost, levels = stack.pop()
        if limits["min_size"] <= len(members) and (costs is None or cost <= budget):
            yield members, levels
        if len(members) == limits["max_size"]:
            continue
        for k in range(members[-1] + 1 if members else 0, n_classifiers):
            if len(members) + n_classifiers - k < limits["min_size"]:
                break
            grown = [_with(of_kind, column[k]) for of_kind, column in zip(levels, columns, strict=True)]
            stack.append(([*members, k], cost + (costs[k] if costs is not None else 0), grown))


def _with(levels: Levels, column: int) -> Levels:
    return [
        levels[0],
        *(here | (below & column) for below, here in zip(levels, [*levels[1:], 0], strict=True)),
    ]


def _at(levels: Levels, votes: int) -> int:
    return levels[votes] if votes < len(levels) else 0


def _bits(flags: Any) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)
