"""Recheck of a certificate of pruning by mean probabilities, whose bound is proved by tangents.

The code is slow, plain, and independent of the code that makes certificates. From the library it imports only
modules of rechecks, such as `recheck_vote_certificate.py`. It trusts no number of the certificate.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from shortlist.ensembles.verification.recheck_selections import whole
from shortlist.ensembles.verification.recheck_vote_certificate import CertificateVerdict, ClaimedRows

PROBABILITY_ONE = 2**15 - 1
"""Integer that stands for probability 1."""

SCALE = 2**32
"""Integer that stands for value 1."""

ShareTable = Sequence[Sequence[Sequence[int]]]
"""Probabilities in parts of :data:`PROBABILITY_ONE`, by row, classifier and class."""


Term = tuple[list[int], float]
"""Summand of the value: the part of each classifier in its sum, and its aim."""


def check_mean_certificate(
    certificate: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]
) -> CertificateVerdict:
    """Return value and bound, recomputed from the probabilities and the tangents.

    1. The rows have the SHA-256 in the certificate.
    2. The members keep the limits, and have the value.
    3. A part is of ``first`` to ``last`` members, and has a tilt q for every summand g of a sum ``s`` over
       the members. The summand is at most ``q · s + max of (g(e) − q · e)`` over all e that
       affordable members of that number reach. All right sides together are linear in the members, and so
       largest for the ``first`` classifiers that add most; a mean of more members is a mean of such means.
    4. The parts leave out no size. The largest of their bounds is the bound.

    Logarithms and sums are in floating point, so values and bounds may differ by the slack, which is about
    half a billionth of a row.

    `certificate`: dict as written by :mod:`shortlist.ensembles.pruning.mean_problem`. `shares`: probabilities
    in parts of :data:`PROBABILITY_ONE`. `labels`: index of the true class of each row.

    Takes O(n_terms · n_classifiers · log n_classifiers) steps of Python for each part.
    """
    return _MeanRows(certificate, shares, labels).verdict()


def count_mean_selection(
    claim: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]
) -> CertificateVerdict:
    """Return the recomputed value of a selection, and whether it keeps its limits, without a proved bound."""
    return _MeanRows(claim, shares, labels).verdict(proved=False)


class _MeanRows(ClaimedRows):
    proof = "tangents"

    def __init__(self, claim: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]) -> None:
        super().__init__(claim, len(shares[0]))
        self.shares, self.labels = shares, labels

    def sha256(self) -> str:
        return mean_sha256(self.shares, self.labels)

    def value(self, members: list[int]) -> int:
        goal = self.claim["goal"]
        self.terms = _terms(goal, self.shares, self.labels)
        self.slack = 2 * len(self.terms) + 4
        if not members:
            self.failures.append("an empty committee has no mean")
        unit = max(1, len(members)) * PROBABILITY_ONE
        worths = (_g(goal, aim, sum(adds[k] for k in members), unit) for adds, aim in self.terms)
        return sum(round(SCALE * worth) for worth in worths)

    def bound(self) -> int:
        goal, limits = self.claim["goal"], self.claim["limits"]
        allowed = [
            k
            for k in range(self.n_classifiers)
            if "budget" not in limits or limits["costs"][k] <= limits["budget"]
        ]
        most = min(limits["max_size"], len(allowed))
        missing = set(range(limits["min_size"], most + 1))
        bounds = [-math.inf]
        for part in self.claim["tangents"]:
            first = whole(part["first"], "first", limits["min_size"], most)
            last = whole(part["last"], "last", first, most)
            missing -= set(range(first, last + 1))
            bounds.append(_part_bound(goal, part, self.terms, allowed))
        if missing:
            self.failures.append(f"{len(missing)} sizes have no tangents, the first {min(missing)}")
        return math.ceil(max(bounds) * SCALE) + self.slack // 4 + 1


def mean_sha256(shares: ShareTable, labels: Sequence[int]) -> str:
    """Return the SHA-256 of the rows.

    It covers the numbers of classifiers and classes, then the class and all probabilities of each row.
    """
    n_classifiers = len(shares[0])
    digest = hashlib.sha256(f"{n_classifiers},{len(shares[0][0])};".encode())
    for row, label in zip(shares, labels, strict=True):
        digest.update(bytes([label]))
        for answers in row:
            for share in answers:
                digest.update(int(share).to_bytes(2, "little"))
    return digest.hexdigest()


def _terms(goal: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]) -> list[Term]:
    n_classes, terms = len(shares[0][0]), list[Term]()
    if goal["kind"] not in {"log-loss", "brier"}:
        raise ValueError(f"the loss must be log-loss or brier, got {goal['kind']!r}")
    for row, label in zip(shares, labels, strict=True):
        if goal["kind"] == "log-loss":
            terms.append(([max(1, answer[label]) for answer in row], 0.0))
        else:
            of = [label] if n_classes == 2 else range(n_classes)
            terms += [([answer[c] for answer in row], float(c == label)) for c in of]
    return terms


def _g(goal: Mapping[str, Any], aim: float, reach: float, unit: float) -> float:
    return math.log(reach / unit) if goal["kind"] == "log-loss" else -((reach / unit - aim) ** 2)


def _part_bound(
    goal: Mapping[str, Any], part: Mapping[str, Any], terms: list[Term], allowed: list[int]
) -> float:
    size = part["first"]
    adds, constants = {k: [0.0] for k in allowed}, []
    for (form, aim), tilt in zip(terms, part["tilts"], strict=True):
        if not math.isfinite(tilt):  # what is no number is above nothing and below nothing
            raise ValueError(f"a tilt must be a finite number, got {tilt}")
        ranked = sorted(form[k] for k in allowed)
        low, high = sum(ranked[:size]), sum(ranked[len(ranked) - size :])
        constants.append(_highest(goal, aim, (low, high), size * PROBABILITY_ONE, tilt))
        for k in allowed:
            adds[k].append(tilt * form[k])
    best = sorted((math.fsum(adds[k]) for k in allowed), reverse=True)[:size]
    bound = math.fsum(constants + best)
    if not math.isfinite(bound):
        raise ValueError(f"the tangents of {size} members prove no finite bound")
    return bound


def _highest(goal: Mapping[str, Any], aim: float, ends: tuple[int, int], unit: int, tilt: float) -> float:
    """Return the largest ``g(e) - tilt · e`` between two ends.

    The largest value is at one of the ends, or at the point where the slope of g equals `tilt`.
    """
    low, high = ends
    places: list[float] = [low, high]
    if goal["kind"] == "log-loss" and tilt > 0:
        places.append(1 / tilt)
    elif goal["kind"] == "brier":
        places.append((aim - tilt * unit / 2) * unit)
    return max(_g(goal, aim, e, unit) - tilt * e for e in places if low <= e <= high)
