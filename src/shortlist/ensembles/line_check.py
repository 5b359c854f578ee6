"""Checking what proves a bound on the worth of margins: slow, plain, and apart from everything that made it.

Like :mod:`shortlist.ensembles.certificate_check`, whose table of distinct vote vectors it is given, this imports nothing of the
library and takes no number of the certificate on trust.
"""

from collections.abc import Iterator, Mapping
from math import exp, floor
from typing import Any

Table = list[tuple[tuple[int, ...], int, int]]


def worth_of_margins(certificate: Mapping[str, Any], table: Table) -> int:
    """Return what the members and threshold of a certificate are worth, in units of 1 / scale."""
    members, threshold = certificate["members"], certificate["threshold"]
    worths = _Worths(certificate["utility"], len(members))
    total = 0
    for row, worth, is_positive in _rows(certificate["weights"], table):
        tally = sum(row[k] for k in members)
        total += worth * worths.at(tally - threshold if is_positive else 1 - tally + threshold)
    return total + _cancelled(certificate, table)


def bound_of_lines(
    certificate: Mapping[str, Any], table: Table, n_classifiers: int, failures: list[str]
) -> int:
    """Return what no selection of the certificate's sizes and affordable classifiers exceeds; note thresholds without lines.

    For a size S and thresholds from `first` to `last` a row with t votes has the distance d = t − L, or 1 − t + L on the negative
    side, and lies between the votes that S members can give it at least and at most. With a slope q per row,
    ``worth · u(d) <= worth · (q · d + max of (u(e) − q · e) over these distances e)``, and the sum of the right sides is linear
    in members and threshold: the S classifiers that add most, and the better end of the thresholds.
    """
    limits, rows = certificate["limits"], list(_rows(certificate["weights"], table))
    allowed = [
        k for k in range(n_classifiers) if "budget" not in limits or limits["costs"][k] <= limits["budget"]
    ]
    missing = {
        (size, threshold)
        for size in range(limits["min_size"], limits["max_size"] + 1)
        if size <= len(allowed)
        for threshold in range(size + 1)
    }
    largest = 0
    for part in certificate["lines"]:
        size, first, last = int(part["size"]), int(part["first"]), int(part["last"])
        slopes = [int(slope) for slope in part["slopes"]]
        if len(slopes) != len(rows):
            raise ValueError(f"lines must have {len(rows)} slopes, one per row, got {len(slopes)}")
        missing -= {(size, threshold) for threshold in range(first, last + 1)}
        worths = _Worths(certificate["utility"], size)
        gains = [0] * n_classifiers
        bound = per_threshold = 0
        for (row, worth, is_positive), slope in zip(rows, slopes, strict=True):
            voters = sum(row[k] for k in allowed)
            least, most = max(0, size - (len(allowed) - voters)), min(size, voters)
            low, high = (least - last, most - first) if is_positive else (1 - most + first, 1 - least + last)
            above = max(worths.at(d) - slope * d for d in range(low, high + 1))
            sign = 1 if is_positive else -1
            bound += worth * (above if is_positive else above + slope)
            per_threshold -= sign * worth * slope
            for k in allowed:
                gains[k] += sign * worth * slope * row[k]
        best = sorted((gains[k] for k in allowed), reverse=True)[:size]
        largest = max(largest, bound + sum(best) + max(first * per_threshold, last * per_threshold))
    if missing:
        size, threshold = min(missing)
        failures.append(f"{len(missing)} thresholds have no lines, the first {threshold} of {size} members")
    return largest + _cancelled(certificate, table)


class _Worths:
    """What distances are worth for selections of one size: a sigmoid of (d − 1/2) / size, rounded to 1 / scale."""

    def __init__(self, utility: Mapping[str, Any], size: int) -> None:
        self._slope, self._scale, self._size = float(utility["slope"]), int(utility["scale"]), max(1, size)
        self._known: dict[int, int] = {}

    def at(self, d: int) -> int:
        """Return the worth of a distance; those of d and 1 − d add to the scale."""
        if d < 1:
            return self._scale - self.at(1 - d)
        if d not in self._known:
            margin = min((2 * d - 1) / (2 * self._size), 1.5)
            self._known[d] = floor(self._scale * (1 / (1 + exp(-self._slope * margin))) + 0.5)
        return self._known[d]


def _rows(weights: Mapping[str, Any], table: Table) -> Iterator[tuple[tuple[int, ...], int, bool]]:
    """Yield vote vectors with what right decisions on them add, and whether being positive is right; those of 0 are left out."""
    for row, positives, negatives in table:
        gain = (weights["tp"] - weights["fn"]) * positives - (weights["tn"] - weights["fp"]) * negatives
        if gain:
            yield row, abs(gain), gain > 0


def _cancelled(certificate: Mapping[str, Any], table: Table) -> int:
    """Return what samples add whose gain their opposites with the same votes take away: one of each two is right."""
    weights = certificate["weights"]
    left = 0
    for _, positives, negatives in table:
        one, other = (weights["tp"] - weights["fn"]) * positives, -(weights["tn"] - weights["fp"]) * negatives
        left += abs(one) + abs(other) - abs(one + other)
    return left // 2 * int(certificate["utility"]["scale"])
