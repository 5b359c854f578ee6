"""Checking lines above the worth of margins of several classes: slow, plain, and apart from what made them.

As in :mod:`shortlist.ensembles.audit.line_check`, no number of the certificate is taken on trust.
"""

from collections.abc import Mapping
from typing import Any

from shortlist.ensembles.audit.line_check import Worths, whole

ClassTable = list[tuple[int, tuple[int, ...], int]]
"""True class, votes and samples of the distinct rows, in the order of class and votes."""


def worth_of_class_margins(
    claim: Mapping[str, Any], table: ClassTable, gains: list[int], members: list[int], n_classes: int
) -> int:
    """Return what the margins of some members' plurality vote are worth, in units of 1 / scale.

    The distance of a row is 1 plus its lead: the votes for the true class less those for the strongest
    rival, who counts one vote more where it comes first.
    """
    worths = Worths(claim["utility"], len(members), votes_per_distance=2)
    total = 0
    for label, votes, count in table:
        counts = votes_for_classes(votes, members, n_classes)
        lead = min(
            counts[label] - counts[rival] - (rival < label) for rival in range(n_classes) if rival != label
        )
        total += gains[label] * count * worths.at(lead + 1)
    return total


def votes_for_classes(votes: tuple[int, ...], members: list[int], n_classes: int) -> list[int]:
    """Count the members that vote for each class; `n_classes` is an abstention, and counts for none."""
    counts = [0] * (n_classes + 1)
    for k in members:
        counts[votes[k]] += 1
    return counts[:n_classes]


def bound_of_class_lines(
    certificate: Mapping[str, Any], table: ClassTable, gains: list[int], n_classes: int, failures: list[str]
) -> int:
    """Return what no selection of the certificate's sizes and affordable classifiers exceeds.

    A part has a size S. Each of its forms is a row and a rival, with a tilt of at least 0. The distance d of
    a row is the smallest of its distances to the rivals, so that d times the sum q of its tilts is at most
    the sum of each tilt times the distance to its rival. A row is worth at most ``worth · (q · d + max of
    (u(e) − q · e) over the distances e that S members allow)``. The sum of the right sides is linear in the
    members, so it is largest for the S classifiers that add most. Sizes without lines are noted.

    Takes O((n_forms + n_rows · n_classes) · n_classifiers) steps of Python for each part.
    """
    limits, forms = certificate["limits"], certificate["forms"]
    n_classifiers = len(table[0][1])
    allowed = [
        k for k in range(n_classifiers) if "budget" not in limits or limits["costs"][k] <= limits["budget"]
    ]
    for row, rival in forms:
        label = table[whole(row, "row", 0, len(table) - 1)][0]
        if whole(rival, "rival", 0, n_classes - 1) == label:
            raise ValueError(f"the rival of row {row} is its own class")
    voters = [[sum(votes[k] == c for k in allowed) for c in range(n_classes)] for _, votes, _ in table]
    missing = set(range(limits["min_size"], min(limits["max_size"], len(allowed)) + 1))
    largest = 0
    for part in certificate["lines"]:
        size = whole(part["size"], "size", limits["min_size"], min(limits["max_size"], len(allowed)))
        tilts = [whole(tilt, "tilt", 0, 2**62) for tilt in part["tilts"]]
        if len(tilts) != len(forms):
            raise ValueError(f"lines must have {len(forms)} tilts, one per form, got {len(tilts)}")
        missing -= {size}
        worths = Worths(certificate["utility"], size, votes_per_distance=2)
        of_row, adds, bound = [0] * len(table), [0] * n_classifiers, 0
        for (row, rival), tilt in zip(forms, tilts, strict=True):
            label, votes, count = table[row]
            steep = gains[label] * count * tilt
            of_row[row] += tilt
            bound += steep * (1 - (rival < label))
            for k in allowed:
                adds[k] += steep * ((votes[k] == label) - (votes[k] == rival))
        for (label, _, count), tilt, of_class in zip(table, of_row, voters, strict=True):
            low, high = _distances(label, of_class, size, len(allowed))
            above = max(worths.at(d) - tilt * d for d in range(low, high + 1))
            bound += gains[label] * count * above
        best = sorted((adds[k] for k in allowed), reverse=True)[:size]
        largest = max(largest, bound + sum(best))
    if missing:
        failures.append(f"{len(missing)} sizes have no lines, the first {min(missing)}")
    return largest


def _distances(label: int, voters: list[int], size: int, n_allowed: int) -> tuple[int, int]:
    """Return the least and the largest distance of a row with so many members."""
    own = voters[label]
    low, high = [], []
    for rival, other in enumerate(voters):
        if rival != label:
            tie = 1 - (rival < label)
            low.append(tie + max(0, size - (n_allowed - own)) - min(other, size))
            high.append(tie + min(own, size) - max(0, size - (n_allowed - other)))
    return min(low), min(high)
