"""Checking a pruning certificate: slow, plain, and apart from everything that made it.

Nothing but `selection_check.py`, of the same kind, is imported from the rest of the library, and no number of
the certificate is taken on trust: an auditor can read these loops, or write others like them.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from shortlist.ensembles.verification.certificates.selection_check import (
    VoteTable,
    best_with_threshold,
    n_selections,
    whole,
)

UNITS = 10**9
SLACK = 1000
MOST = 2**62


@dataclass(frozen=True)
class CutVerdict:
    """What a check found."""

    valid: bool
    """Whether the data, the selection, its value and the bound are all as claimed."""
    failures: tuple[str, ...]
    """A sentence for each part that is not; empty when valid."""
    value: int | None
    bound: int | None
    """As recomputed, in the integers of the certificate; None where that was not possible."""


def check_certificate(
    certificate: Mapping[str, Any], votes: Iterable[Iterable[int]], labels: Iterable[int]
) -> CutVerdict:
    """Recompute value and bound from the data and the cuts, in Python's integers.

    1. The data has the SHA-256 of the certificate.
    2. The members keep the limits, and with the threshold are worth the value.
    3. Every cut is true. Let y be multipliers with sum P over positive and N over negative rows. The largest
       ``Σ y · votes (positive) − Σ y · votes (negative) + max(0, N − P) · size`` of a selection within the
       sizes is below P. It would have to reach P if all rows of the cut were right.
    4. With weights λ / denominator >= 0 of the cuts, no selection gains more than
       ``Σ λ (rows of the cut − 1) + Σ over rows of max(0, gain − Σ of λ of its cuts)``: a set of right rows
       misses one row of every cut.
    5. A cut with ``kept`` classifiers is no such cut, but an inequality in members and right rows
       (:func:`kept_terms`). Its λ counts as often as it reaches, and in 4 the largest sum of what λ gives to
       the members of a selection within the sizes is added.

    Where the certificate has ``selections`` in place of cuts, so few that each can be looked at, the best of
    them is the bound (:mod:`shortlist.ensembles.verification.certificates.selection_check`).

    Takes O(n_samples · n_classifiers + entries of the cuts · n_classifiers) steps of Python.

    `certificate`: as :mod:`shortlist.ensembles.proofs.certificate` writes it. `votes`: the validation rows,
    in any order, ``(n_samples, n_classifiers)``; NumPy arrays do. `labels`, ``(n_samples,)``.
    """
    table = _distinct([[int(v) for v in row] for row in votes], [int(label) for label in labels])
    n_classifiers = len(table[0][0]) if table else 0
    failures: list[str] = []
    if _sha256(table, n_classifiers) != certificate.get("data"):
        failures.append("the data is not what the certificate was made for")
    value = bound = None
    try:
        _check_problem(certificate, n_classifiers)
        value = _value(certificate, table, n_classifiers, failures)
        if value != certificate["value"]:
            failures.append(f"the selection is worth {value}, not {certificate['value']}")
        proof, proved = "cuts", _bound
        if "selections" in certificate:
            proof, proved = "selections", _best
        bound = proved(certificate, table, n_classifiers, failures)
        if bound != certificate["bound"]:
            failures.append(f"the {proof} prove the bound {bound}, not {certificate['bound']}")
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        failures.append(f"the certificate is not readable: {error!r}")
    return CutVerdict(not failures, tuple(failures), value, bound)


def count_selection(
    claim: Mapping[str, Any], votes: Iterable[Iterable[int]], labels: Iterable[int]
) -> CutVerdict:
    """Recompute what a selection is worth, and whether it keeps its limits, where nothing proves a bound.

    `claim`: the fields ``members``, ``threshold``, ``weights`` and ``limits`` of a certificate. `votes`,
    `labels`: of 0 and 1, as of :func:`check_certificate`.
    """
    table = _distinct([[int(v) for v in row] for row in votes], [int(label) for label in labels])
    failures: list[str] = []
    value = None
    try:
        value = _value(claim, table, len(table[0][0]) if table else 0, failures)
    except ValueError as error:
        failures.append(f"the members and their limits cannot be read: {error}")
    return CutVerdict(not failures, tuple(failures), value, None)


def _distinct(votes: list[list[int]], labels: list[int]) -> VoteTable:
    """Count the samples of each class for each vote vector."""
    samples: dict[tuple[int, ...], list[int]] = {}
    for row, label in zip(votes, labels, strict=True):
        samples.setdefault(tuple(row), [0, 0])[0 if label == 1 else 1] += 1
    return [(row, samples[row][0], samples[row][1]) for row in sorted(samples)]


def _sha256(table: VoteTable, n_classifiers: int) -> str:
    text = f"{n_classifiers};".encode()
    for row, positives, negatives in table:
        text += bytes(row) + f"{positives},{negatives};".encode()
    return hashlib.sha256(text).hexdigest()


def _check_problem(certificate: Mapping[str, Any], n_classifiers: int) -> None:
    """Check that weights and limits are whole numbers, and sizes not beyond the classifiers.

    A ValueError says which are not.
    """
    for name, weight in certificate["weights"].items():
        whole(weight, f"weight {name}", -MOST, MOST)
    _check_limits(certificate["limits"], n_classifiers)


def _check_limits(limits: Mapping[str, Any], n_classifiers: int) -> None:
    """Check that limits are whole numbers, and sizes not beyond the classifiers.

    A ValueError says which are not.
    """
    most = whole(limits["max_size"], "max_size", 0, n_classifiers)
    whole(limits["min_size"], "min_size", 0, most)
    for name in {"budget", "each", "mean"} & limits.keys():
        whole(limits[name], name, 0, MOST)
    costs = [whole(cost, "cost", 0, MOST) for cost in limits.get("costs", ())]
    if "budget" in limits and len(costs) != n_classifiers:
        raise ValueError(f"costs must be one for each of {n_classifiers} classifiers, got {len(costs)}")


def _value(certificate: Mapping[str, Any], table: VoteTable, n_classifiers: int, failures: list[str]) -> int:
    """Return the weighted sum of the selection, and note what it breaks."""
    members = checked_members(certificate, n_classifiers, failures)
    threshold = whole(certificate["threshold"], "threshold", -n_classifiers, n_classifiers)
    limits, weights = certificate["limits"], certificate["weights"]
    if "each" in limits and not is_diverse(table, members, limits):
        failures.append("the members break the diversity limits")
    if not 0 <= threshold <= len(members):
        failures.append(f"the threshold {threshold} is not between 0 and the number of members")
    total = 0
    for row, positives, negatives in table:
        if sum(row[k] for k in members) > threshold:
            total += weights["tp"] * positives + weights["fp"] * negatives
        else:
            total += weights["fn"] * positives + weights["tn"] * negatives
    return int(total)


def checked_members(certificate: Mapping[str, Any], n_classifiers: int, failures: list[str]) -> list[int]:
    """Return the members, and note where they break the limits on size and cost.

    ValueError where something is no whole number.
    """
    limits = certificate["limits"]
    _check_limits(limits, n_classifiers)
    members = [whole(k, "member", 0, n_classifiers - 1) for k in certificate["members"]]
    if sorted(set(members)) != members:
        raise ValueError(f"members must be increasing places of classifiers, got {members}")
    if not limits["min_size"] <= len(members) <= limits["max_size"]:
        failures.append(f"{len(members)} members break the size limits")
    if "budget" in limits and sum(limits["costs"][k] for k in members) > limits["budget"]:
        failures.append("the members cost more than the budget")
    return members


def is_diverse(table: VoteTable, members: list[int], limits: Mapping[str, Any]) -> bool:
    """Whether credit is at least ``each`` for every member and ``mean`` over pairs, in billionths."""
    size = len(members)
    if size < 2:
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
    """Return the credit of a pair in billionths, from the rows on which both fail, one fails, and all rows.

    ValueError if the measure is not known.
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


def _bound(certificate: Mapping[str, Any], table: VoteTable, n_classifiers: int, failures: list[str]) -> int:
    """Return the weighted sum that the cuts prove to be the largest, leaving out cuts that are not true."""
    weights, denominator = certificate["weights"], whole(certificate["denominator"], "denominator", 1)
    # what deciding positive instead of negative adds; the empty vector is never decided positive
    gains = [
        (weights["tp"] - weights["fn"]) * positives - (weights["tn"] - weights["fp"]) * negatives
        if any(row)
        else 0
        for row, positives, negatives in table
    ]
    floor = sum(weights["fn"] * positives + weights["tn"] * negatives for _, positives, negatives in table)
    floor += sum(gain for gain in gains if gain < 0)
    step = gcd(*gains) or 1
    left = [abs(gain) // step * denominator for gain in gains]
    spent, members, limits = 0, [0] * n_classifiers, certificate["limits"]
    for number, cut in enumerate(certificate["cuts"]):
        places = [whole(i, "row", 0, len(table) - 1) for i in cut["rows"]]
        weight = whole(cut["weight"], "weight", -MOST, MOST)
        summed = _summed(cut, table, gains, n_classifiers)
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
    return int(floor + step * ((spent + sum(max(0, gain) for gain in left)) // denominator))


def _best(certificate: Mapping[str, Any], table: VoteTable, n_classifiers: int, failures: list[str]) -> int:
    weights, limits = certificate["weights"], certificate["limits"]
    found = n_selections(n_classifiers, limits)
    if found != certificate["selections"]:
        failures.append(f"there are {found} selections, not {certificate['selections']}")
    gains = [
        (weights["tp"] - weights["fn"]) * positives - (weights["tn"] - weights["fp"]) * negatives
        for _, positives, negatives in table
    ]
    floor = sum(weights["fn"] * positives + weights["tn"] * negatives for _, positives, negatives in table)

    def is_allowed(members: list[int]) -> bool:
        return "each" not in limits or is_diverse(table, members, limits)

    best = best_with_threshold([row for row, _, _ in table], gains, limits, is_allowed)
    if best is None:
        raise ValueError("no selection keeps the limits")
    return int(floor + best)


def _summed(
    cut: Mapping[str, Any], table: VoteTable, gains: list[int], n_classifiers: int
) -> tuple[list[int], int] | None:
    """Return what the rows of a cut, if all are right, ask of the members, and how much; None if not true.

    The sum of their votes by the multipliers, the threshold at its most, reaches the positive ones.
    """
    places, multipliers = cut["rows"], [whole(y, "multiplier", -MOST, MOST) for y in cut["multipliers"]]
    if cut["weight"] < 0 or len(set(places)) != len(places) or len(places) != len(multipliers):
        return None
    if min(multipliers, default=0) < 1 or not all(gains[i] for i in places):
        return None
    coefficients = [0] * n_classifiers
    positive = negative = 0
    for i, y in zip(places, multipliers, strict=True):
        sign = 1 if gains[i] > 0 else -1
        positive, negative = positive + y * (sign > 0), negative + y * (sign < 0)
        for k in range(n_classifiers):
            coefficients[k] += sign * y * table[i][0][k]
    return [c + max(0, negative - positive) for c in coefficients], positive


def checked_terms(
    cut: Mapping[str, Any], coefficients: list[int], wanted: int, limits: Mapping[str, Any]
) -> tuple[list[int], int] | None:
    """Return what a cut adds for members, and how much its rows reach together; None if it is not true.

    If its rows are all right, the coefficients of the members add up to `wanted`. Without ``kept`` that must
    be more than any selection within the sizes has: one row is wrong, and members add nothing.

    With ``kept``, the others add at most what they have above 0. Then what the kept ones have above 0, of
    members, and below 0, its sign changed, of those that are none, is at least `reach`. It is never below 0,
    which is all that is asked where a row is wrong, and more than `reach` of one classifier is not needed.
    """
    if "kept" not in cut:
        return ([0] * len(coefficients), 1) if largest_sum(coefficients, limits) < wanted else None
    kept = {whole(k, "classifier", 0, len(coefficients) - 1) for k in cut["kept"]}
    reach, terms = wanted, [0] * len(coefficients)
    for k, coefficient in enumerate(coefficients):
        if not _is_affordable(k, limits):
            continue
        if k in kept:
            terms[k] = coefficient
            reach += max(0, -coefficient)
        else:
            reach -= max(0, coefficient)
    return ([max(-reach, min(reach, term)) for term in terms], reach) if reach >= 1 else None


def largest_sum(coefficients: list[int], limits: Mapping[str, Any]) -> int:
    """Return the largest sum of a selection within the sizes, of classifiers that the budget allows alone."""
    allowed = [c for k, c in enumerate(coefficients) if _is_affordable(k, limits)]
    best = sorted(allowed, reverse=True)
    largest = sum(best[: limits["min_size"]])
    return int(largest + sum(max(0, c) for c in best[limits["min_size"] : limits["max_size"]]))


def _is_affordable(k: int, limits: Mapping[str, Any]) -> bool:
    return "budget" not in limits or bool(limits["costs"][k] <= limits["budget"])
