"""Looking at every selection again, where there are so few that this proves what the best is worth.

Rows are bits of Python's whole numbers. A selection grows by one classifier at a time, and carries with it
which rows have at least one vote, at least two, and so on.
"""

from collections.abc import Callable, Iterator, Mapping
from math import comb, inf
from typing import Any, TypeAlias

MOST_SELECTIONS = 2**17
"""Selections that are looked at in a few seconds; of more no such proof is accepted."""

VoteTable = list[tuple[tuple[int, ...], int, int]]
"""Distinct vote vectors in lexicographic order, with their positive and negative samples."""

Levels: TypeAlias = list[int]
"""For each number of votes, the rows that have at least as many, as bits; the first are all rows."""


def whole(number: Any, what: str, least: int, most: float = inf) -> int:
    """Return a number of a certificate that must be whole and in a range; ValueError if it is not."""
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most}, got {number!r}")
    return number


def n_selections(n_classifiers: int, limits: Mapping[str, Any]) -> int:
    """Count the selections within the sizes; ValueError where they are too many to look at."""
    found = sum(comb(n_classifiers, size) for size in range(limits["min_size"], limits["max_size"] + 1))
    if found > MOST_SELECTIONS:
        raise ValueError(f"there must be at most {MOST_SELECTIONS:,} selections to look at, got {found:,}")
    return found


def best_with_threshold(
    votes: list[tuple[int, ...]],
    gains: list[int],
    limits: Mapping[str, Any],
    is_allowed: Callable[[list[int]], bool],
) -> int | None:
    """Return the largest sum of the gains of rows above a threshold, over all selections and thresholds.

    `votes`: distinct rows. `gains`: what answering positive instead of negative adds on each, of any sign.
    `limits`: ``min_size`` and ``max_size``, perhaps ``costs`` and ``budget``. `is_allowed`: says whether
    members keep the limits beyond size and cost.
    """
    n_classifiers = len(votes[0]) if votes else 0
    columns = [_bits(row[k] for row in votes) for k in range(n_classifiers)]
    planes = _planes(gains)
    best: int | None = None
    for members, (levels,) in _selections([columns], len(votes), n_classifiers, limits):
        value = max(_sum(above, planes) for above in [*levels[1:], 0])
        if (best is None or value > best) and is_allowed(members):
            best = value
    return best


def best_by_plurality(
    votes: list[tuple[int, ...]],
    labels: list[int],
    gains: list[int],
    limits: Mapping[str, Any],
    is_allowed: Callable[[list[int]], bool],
    *,
    n_classes: int,
) -> int | None:
    """Return the largest gain of any selection by plurality, where ties go to the first class."""
    of_class = [_bits(label == one for label in labels) for one in range(n_classes)]
    planes = _planes(gains)
    best: int | None = None
    for members, levels in _plurality_levels(votes, n_classes, limits):
        value = _sum(_right_by_plurality(levels, of_class, len(members)), planes)
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
    """Yield every committee of the sizes with each threshold, and how many rows of each class it is right on.

    `answers`: the class that each classifier answers; `n_classes` is an abstention. `limits`: ``min_size``
    and ``max_size``. `by_threshold`: whether class 1 is answered where more than a threshold of members say
    so, else by plurality.

    >>> sizes = {"min_size": 1, "max_size": 1}
    >>> list(every_committee([(1, 0), (0, 0)], [1, 0], sizes, n_classes=2, by_threshold=True))
    [([1], 0, [1, 0]), ([1], 1, [1, 0]), ([0], 0, [1, 1]), ([0], 1, [1, 0])]
    """
    of_class = [_bits(label == one for label in labels) for one in range(n_classes)]
    if by_threshold:
        columns = [_bits(row[k] == 1 for row in answers) for k in range(len(answers[0]))]
        for members, (levels,) in _selections([columns], len(answers), len(columns), limits):
            for threshold in range(len(members) + 1):
                above = _at(levels, threshold + 1)
                yield (
                    members,
                    threshold,
                    [(of_class[0] & ~above).bit_count(), (of_class[1] & above).bit_count()],
                )
        return
    for members, plurality in _plurality_levels(answers, n_classes, limits):
        right = _right_by_plurality(plurality, of_class, len(members))
        yield members, 0, [(right & rows).bit_count() for rows in of_class]


def _plurality_levels(
    answers: list[tuple[int, ...]], n_classes: int, limits: Mapping[str, Any]
) -> Iterator[tuple[list[int], list[Levels]]]:
    n_classifiers = len(answers[0]) if answers else 0
    columns = [
        [_bits(row[k] == label for row in answers) for k in range(n_classifiers)]
        for label in range(n_classes)
    ]
    return _selections(columns, len(answers), n_classifiers, limits)


def _right_by_plurality(levels: list[Levels], of_class: list[int], size: int) -> int:
    """Return the rows that the class with most votes is right on; ties go to the first class."""
    right = 0
    for label, rows in enumerate(of_class):
        # at least `votes_for` votes, and no rival with more, or as many before it
        for votes_for in range(size + 1):
            here = _at(levels[label], votes_for) & rows
            for rival in range(len(of_class)):
                if rival != label:
                    here &= ~_at(levels[rival], votes_for + (rival > label))
            right |= here
    return right


def _selections(
    columns: list[list[int]], n_rows: int, n_classifiers: int, limits: Mapping[str, Any]
) -> Iterator[tuple[list[int], list[Levels]]]:
    """Yield every selection within size and cost, with its levels for each kind of vote."""
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


def _planes(numbers: list[int]) -> list[tuple[int, int]]:
    """Return what each bit of the numbers stands for, with the rows that have it."""
    planes = []
    for sign in (1, -1):
        for bit in range(max(map(abs, numbers), default=0).bit_length()):
            rows = _bits(sign * number > 0 and abs(number) >> bit & 1 for number in numbers)
            if rows:
                planes.append((sign << bit, rows))
    return planes


def _sum(rows: int, planes: list[tuple[int, int]]) -> int:
    return sum(worth * (rows & marked).bit_count() for worth, marked in planes)
