"""Checking a certificate of pruning for several classes: slow, plain, and apart from everything that made it.

As in `cut_check.py`, no number of the certificate is taken on trust. A row of true class c is right where
every rival class d has fewer votes, or as many where d comes after c.
"""

import hashlib
from collections.abc import Iterable, Mapping
from math import gcd
from typing import Any

from shortlist.ensembles.verification.certificates.cut_check import (
    MOST,
    CutVerdict,
    checked_members,
    checked_terms,
    is_diverse,
    largest_sum,
)
from shortlist.ensembles.verification.certificates.selection_check import (
    best_by_plurality,
    n_selections,
    whole,
)

ClassTable = list[tuple[int, tuple[int, ...], int]]
"""True class, votes and samples of the distinct rows, in the order of class and votes."""


def check_class_certificate(
    certificate: Mapping[str, Any], codes: Iterable[Iterable[int]], labels: Iterable[int], n_classes: int
) -> CutVerdict:
    """Recompute value and bound from the data and the cuts, in Python's integers.

    1. The data has the SHA-256 of the certificate.
    2. The members keep the limits, and their plurality vote is worth the value.
    3. Every cut is true: its rows are right only where, for each of its rivals, the votes for the true class
       less those for the rival are at least 1, or 0 for a rival that comes after. For multipliers y the sum
       of these leads is ``c · x`` for members x, and would have to reach the sum of y over the rivals that
       come before; the largest ``c · x`` of a selection within the sizes is below that.
    4. With weights λ / denominator >= 0 of the cuts, no selection gains more than
       ``Σ λ (rows of the cut − 1) + Σ over rows of max(0, gain − Σ of λ of its cuts)``. Rows that no
       selection within the sizes is right on are left out. Cuts with ``kept`` classifiers are inequalities,
       as for two classes.

    Where the certificate has ``selections`` in place of cuts, the best of them is the bound.

    `certificate`: from :func:`shortlist.ensembles.proofs.certificate.vote_certificate` or `line_certificate`
    there, or read from JSON. `codes`: the class that each classifier answers on the validation rows, in any
    order, ``(n_samples, n_classifiers)``; `n_classes` where it abstains.

    Takes O(n_samples · n_classifiers · n_classes + entries of the cuts · n_classifiers) steps of Python.
    """
    table = _distinct([[int(v) for v in row] for row in codes], [int(label) for label in labels])
    n_classifiers = len(table[0][1]) if table else 0
    failures: list[str] = []
    if _sha256(table, n_classifiers, n_classes) != certificate.get("data"):
        failures.append("the data is not what the certificate was made for")
    value = bound = None
    try:
        value = _value(certificate, table, n_classes, failures)
        gains = certificate["gains"]
        if value != certificate["value"]:
            failures.append(f"the selection is worth {value}, not {certificate['value']}")
        proof, proved = "cuts", _bound
        if "selections" in certificate:
            proof, proved = "selections", _best
        bound = proved(certificate, table, gains, n_classes, failures)
        if bound != certificate["bound"]:
            failures.append(f"the {proof} prove the bound {bound}, not {certificate['bound']}")
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        failures.append(f"the certificate is not readable: {error!r}")
    return CutVerdict(not failures, tuple(failures), value, bound)


def count_class_selection(
    claim: Mapping[str, Any], codes: Iterable[Iterable[int]], labels: Iterable[int], n_classes: int
) -> CutVerdict:
    """Recompute what a selection is worth, and whether it keeps its limits, where nothing proves a bound.

    `claim`: the fields ``members``, ``gains`` and ``limits`` of a certificate. `codes`, `labels`,
    `n_classes`: as of :func:`check_class_certificate`.
    """
    table = _distinct([[int(v) for v in row] for row in codes], [int(label) for label in labels])
    failures: list[str] = []
    value = None
    try:
        value = _value(claim, table, n_classes, failures)
    except ValueError as error:
        failures.append(f"the members and their limits cannot be read: {error}")
    return CutVerdict(not failures, tuple(failures), value, None)


def _value(claim: Mapping[str, Any], table: ClassTable, n_classes: int, failures: list[str]) -> int:
    """Return what the selection is worth, and note what it breaks."""
    gains = [whole(gain, "gain", 0, MOST) for gain in claim["gains"]]
    members = checked_members(claim, len(table[0][1]) if table else 0, failures)
    if not _is_diverse(table, members, claim["limits"]):
        failures.append("the members break the diversity limits")
    right = (one for one in table if _is_right(one[0], one[1], members, n_classes))
    return sum(gains[label] * count for label, _, count in right)


def _distinct(codes: list[list[int]], labels: list[int]) -> ClassTable:
    samples: dict[tuple[int, tuple[int, ...]], int] = {}
    for row, label in zip(codes, labels, strict=True):
        samples[label, tuple(row)] = samples.get((label, tuple(row)), 0) + 1
    return [(label, row, samples[label, row]) for label, row in sorted(samples)]


def _sha256(table: ClassTable, n_classifiers: int, n_classes: int) -> str:
    digest = hashlib.sha256(f"{n_classifiers},{n_classes};".encode())
    for label, row, count in table:
        digest.update(bytes([label, *row]) + f"{count};".encode())
    return digest.hexdigest()


def _is_right(label: int, votes: tuple[int, ...], members: list[int], n_classes: int) -> bool:
    counts = votes_for_classes(votes, members, n_classes)
    return counts.index(max(counts)) == label


def _is_diverse(table: ClassTable, members: list[int], limits: Mapping[str, Any]) -> bool:
    """Whether the members keep a limit on diversity: who is right, as votes on rows that are all positive."""
    if "each" not in limits:
        return True
    flags = [(tuple(int(vote == label) for vote in votes), count, 0) for label, votes, count in table]
    return is_diverse(flags, members, limits)


def _best(
    certificate: Mapping[str, Any], table: ClassTable, gains: list[int], n_classes: int, failures: list[str]
) -> int:
    limits = certificate["limits"]
    found = n_selections(len(table[0][1]), limits)
    if found != certificate["selections"]:
        failures.append(f"there are {found} selections, not {certificate['selections']}")
    labels, votes, counts = (list(part) for part in zip(*table, strict=True))
    worths = [gains[label] * count for label, count in zip(labels, counts, strict=True)]

    def is_allowed(members: list[int]) -> bool:
        return _is_diverse(table, members, limits)

    best = best_by_plurality(votes, labels, worths, limits, is_allowed, n_classes=n_classes)
    if best is None:
        raise ValueError("no selection keeps the limits")
    return best


def _bound(
    certificate: Mapping[str, Any], table: ClassTable, gains: list[int], n_classes: int, failures: list[str]
) -> int:
    """Return the weighted sum that the cuts prove to be the largest, leaving out cuts that are not true."""
    limits, denominator = certificate["limits"], whole(certificate["denominator"], "denominator", 1)
    always, left = 0, {}
    for i, (label, votes, count) in enumerate(table):
        leads = [_extremes(label, rival, votes, limits) for rival in range(n_classes) if rival != label]
        if any(highest < least for _, highest, least in leads):
            continue  # right on no selection
        if all(lowest >= least for lowest, _, least in leads):
            always += gains[label] * count
        elif gains[label]:
            left[i] = gains[label] * count
    step = gcd(*left.values()) or 1
    left = {i: gain // step * denominator for i, gain in left.items()}
    spent, members = 0, [0] * len(table[0][1])
    for number, cut in enumerate(certificate["cuts"]):
        places = {whole(i, "row", 0, len(table) - 1) for i in cut["rows"]}
        weight = whole(cut["weight"], "weight", 0, MOST)
        summed = _summed(cut, table, n_classes) if places <= left.keys() else None
        terms = None if summed is None else checked_terms(cut, *summed, limits)
        if terms is None:
            failures.append(f"cut {number} is not proved by its multipliers")
            continue
        coefficients, reach = terms
        spent += weight * (reach * (len(places) - 1) - sum(c for c in coefficients if c < 0))
        members = [total + weight * c for total, c in zip(members, coefficients, strict=True)]
        for i in places:
            left[i] -= weight * reach
    spent += largest_sum(members, limits)
    return always + step * ((spent + sum(max(0, gain) for gain in left.values())) // denominator)


def _extremes(
    label: int, rival: int, votes: tuple[int, ...], limits: Mapping[str, Any]
) -> tuple[int, int, int]:
    """Return the lowest and highest lead over a rival within the sizes, and the least that is right."""
    own, other = votes.count(label), votes.count(rival)
    most, forced = limits["max_size"], limits["min_size"] - len(votes)
    lowest = max(0, forced + own) - min(other, most)
    highest = min(own, most) - max(0, forced + other)
    return lowest, highest, int(rival < label)


def _summed(cut: Mapping[str, Any], table: ClassTable, n_classes: int) -> tuple[list[int], int] | None:
    """Return what the rows of a cut, if all are right, ask of the members, and how much; None if not true."""
    multipliers = [whole(y, "multiplier", 1, MOST) for y in cut["multipliers"]]
    rivals = [whole(rival, "rival", 0, n_classes - 1) for rival in cut["rivals"]]
    coefficients, wanted = [0] * len(table[0][1]), 0
    for i, rival, y in zip(cut["rows"], rivals, multipliers, strict=True):
        label, votes, _ = table[i]
        if rival == label:
            return None
        wanted += y * (rival < label)
        for k, vote in enumerate(votes):
            coefficients[k] += y * ((vote == label) - (vote == rival))
    return (coefficients, wanted) if multipliers else None


def votes_for_classes(votes: tuple[int, ...], members: list[int], n_classes: int) -> list[int]:
    """Count the members that vote for each class; `n_classes` is an abstention, and counts for none."""
    counts = [0] * (n_classes + 1)
    for k in members:
        counts[votes[k]] += 1
    return counts[:n_classes]
