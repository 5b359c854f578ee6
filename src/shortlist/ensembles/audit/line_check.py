"""Checking what proves a bound on the worth of margins: slow, plain, and apart from everything that made it.

Like :mod:`shortlist.ensembles.audit.cut_check`, whose table of distinct vote vectors it is given, this
imports nothing of the library and takes no number of the certificate on trust.
"""

from collections.abc import Iterator, Mapping
from math import exp, floor, inf
from typing import Any

VoteTable = list[tuple[tuple[int, ...], int, int]]
"""Distinct vote vectors in lexicographic order, with their positive and negative samples."""


def whole(number: Any, what: str, least: int, most: float = inf) -> int:
    """Return a number of a certificate that must be whole and in a range; ValueError if it is not."""
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most}, got {number!r}")
    return number


def worth_of_margins(certificate: Mapping[str, Any], table: VoteTable) -> int:
    """Return what the members and threshold of a certificate are worth, in units of 1 / scale."""
    members = certificate["members"]
    threshold = whole(certificate["threshold"], "threshold", 0, len(members))
    worths = Worths(certificate["utility"], len(members))
    total = 0
    for row, worth, is_positive in _rows(certificate["weights"], table):
        tally = sum(row[k] for k in members)
        total += worth * worths.at(tally - threshold if is_positive else 1 - tally + threshold)
    return total + _cancelled(certificate, table)


def bound_of_lines(
    certificate: Mapping[str, Any], table: VoteTable, n_classifiers: int, failures: list[str]
) -> int:
    """Return what no selection of the certificate's sizes and affordable classifiers exceeds.

    Thresholds without lines are noted.

    A part has a size S and thresholds from `first` to `last`. A row with t votes has the distance d = t − L,
    or 1 − t + L on the negative side, and t lies between the least and the most votes of S members. With a
    tilt q per row, ``worth · u(d) <= worth · (q · d + max of (u(e) − q · e) over these distances e)``. The
    sum of the right sides is linear in members and threshold, so it is largest for the S classifiers that
    add most and the better end of the thresholds.

    Takes O(n_rows · (n_classifiers + S)) steps of Python for each part of the lines: some 60 s for a million
    tilts and 100 classifiers.
    """
    limits, rows = certificate["limits"], list(_rows(certificate["weights"], table))
    allowed = [
        k for k in range(n_classifiers) if "budget" not in limits or limits["costs"][k] <= limits["budget"]
    ]
    voters = [sum(row[k] for k in allowed) for row, _, _ in rows]
    missing = {
        (size, threshold)
        for size in range(limits["min_size"], limits["max_size"] + 1)
        if size <= len(allowed)
        for threshold in range(size + 1)
    }
    largest = 0
    for part in certificate["lines"]:
        size = whole(part["size"], "size", limits["min_size"], min(limits["max_size"], len(allowed)))
        first = whole(part["first"], "first", 0, size)
        last = whole(part["last"], "last", first, size)
        tilts = [whole(tilt, "tilt", -(2**62), 2**62) for tilt in part["tilts"]]
        if len(tilts) != len(rows):
            raise ValueError(f"lines must have {len(rows)} tilts, one per row, got {len(tilts)}")
        missing -= {(size, threshold) for threshold in range(first, last + 1)}
        worths = Worths(certificate["utility"], size)
        gains = [0] * n_classifiers
        bound = per_threshold = 0
        for (row, worth, is_positive), tilt, voting in zip(rows, tilts, voters, strict=True):
            least, most = max(0, size - (len(allowed) - voting)), min(size, voting)
            low, high = (least - last, most - first) if is_positive else (1 - most + first, 1 - least + last)
            above = max(worths.at(d) - tilt * d for d in range(low, high + 1))
            sign = 1 if is_positive else -1
            bound += worth * (above if is_positive else above + tilt)
            per_threshold -= sign * worth * tilt
            for k in allowed:
                gains[k] += sign * worth * tilt * row[k]
        best = sorted((gains[k] for k in allowed), reverse=True)[:size]
        largest = max(largest, bound + sum(best) + max(first * per_threshold, last * per_threshold))
    if missing:
        size, threshold = min(missing)
        failures.append(f"{len(missing)} thresholds have no lines, the first {threshold} of {size} members")
    return largest + _cancelled(certificate, table)


class Worths:
    """Return what distances are worth for one size: a sigmoid of (d − 1/2) / size, rounded to 1 / scale.

    With `votes_per_distance` of 2, as of plurality votes, the margin is half of that.
    """

    def __init__(self, utility: Mapping[str, Any], size: int, votes_per_distance: int = 1) -> None:
        slope = utility["slope"]
        if utility["shape"] != "sigmoid" or type(slope) not in {int, float} or not 0 < slope <= 100:
            raise ValueError(f"utility must be a sigmoid of a slope in (0, 100], got {dict(utility)}")
        self._slope, self._size = float(slope), votes_per_distance * max(1, size)
        self._scale = whole(utility["scale"], "scale", 1, 2**62)
        self._known: dict[int, int] = {}

    def at(self, d: int) -> int:
        """Return the worth of a distance; those of d and 1 − d add to the scale."""
        if d < 1:
            return self._scale - self.at(1 - d)
        if d not in self._known:
            margin = min((2 * d - 1) / (2 * self._size), 1.5)
            self._known[d] = floor(self._scale * (1 / (1 + exp(-self._slope * margin))) + 0.5)
        return self._known[d]


def _rows(weights: Mapping[str, Any], table: VoteTable) -> Iterator[tuple[tuple[int, ...], int, bool]]:
    """Yield vote vectors with what right decisions on them add, and whether being positive is right.

    Those of 0 are left out.
    """
    for row, positives, negatives in table:
        gain = (weights["tp"] - weights["fn"]) * positives - (weights["tn"] - weights["fp"]) * negatives
        if gain:
            yield row, abs(gain), gain > 0


def _cancelled(certificate: Mapping[str, Any], table: VoteTable) -> int:
    """Return what samples add whose gain their opposites with the same votes take away.

    One of each two is right.
    """
    weights = certificate["weights"]
    left = 0
    for _, positives, negatives in table:
        one, other = (weights["tp"] - weights["fn"]) * positives, -(weights["tn"] - weights["fp"]) * negatives
        left += abs(one) + abs(other) - abs(one + other)
    return left // 2 * int(certificate["utility"]["scale"])
