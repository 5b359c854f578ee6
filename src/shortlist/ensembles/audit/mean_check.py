"""Checking tangents above the worth of mean probabilities: slow, plain, and apart from what made them.

Nothing but :mod:`shortlist.ensembles.audit.cut_check` and another check of its kind is imported from the rest
of the library, and no number of the certificate is taken on trust.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.ensembles.audit.cut_check import Verdict, checked_members
from shortlist.ensembles.audit.selection_check import whole

PROBABILITY_ONE = 2**15 - 1
"""What probability 1 is."""

SCALE = 2**32
"""What worth 1 is, but of right rows, which are counted."""

FLOAT_ERROR = 1e-6
"""By how much sums of floats may be off that stand for whole numbers."""

ShareTable = Sequence[Sequence[Sequence[int]]]
"""Probabilities in parts of :data:`PROBABILITY_ONE`: rows of classifiers of classes."""


@dataclass(frozen=True)
class Term:
    """A summand: its worth, and its forms, each with what classifiers add to it and its aim."""

    worth: int
    forms: list[tuple[list[int], float]]


def check_mean_certificate(
    certificate: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]
) -> Verdict:
    """Recompute value and bound from the probabilities and the tangents.

    1. The data has the SHA-256 of the certificate.
    2. The members keep the limits, and are worth the value.
    3. A part is of ``first`` to ``last`` members, and has for every summand a form ``s``, which is a sum over
       the members, and a tilt q. The summand is at most ``q · s + max of (g(e) − q · e)`` over all e that
       so many affordable classifiers reach. All right sides together are linear in the members, and so
       largest for the ``first`` classifiers that add most; a mean of more members is a mean of such means.
    4. The parts leave out no size. The largest of their bounds is the bound.

    Logarithms and sums are those of floats: values and bounds may differ by the slack, which is about half a
    billionth of a row.

    `certificate`: as :mod:`shortlist.ensembles.averaging.mean_problem` writes it. `shares`: probabilities in
    parts of :data:`PROBABILITY_ONE`. `labels`: index of the true class of each row.

    Takes O(n_forms · n_classifiers · log n_classifiers) steps of Python for each part.
    """
    failures: list[str] = []
    if mean_sha256(shares, labels) != certificate.get("data"):
        failures.append("the data is not what the certificate was made for")
    value = bound = None
    try:
        terms = _terms(certificate["goal"], shares, labels)
        slack = _slack(certificate["goal"], terms)
        value = _value(certificate, terms, len(shares[0]), failures)
        if not abs(value - certificate["value"]) <= slack:
            failures.append(f"the selection is worth {value}, not {certificate['value']}")
        bound = _bound(certificate, terms, failures)
        far = bound - certificate["bound"] if slack == 0 else abs(bound - certificate["bound"])
        if not far <= slack:
            failures.append(f"the tangents prove the bound {bound}, not {certificate['bound']}")
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        failures.append(f"the certificate is not readable: {error!r}")
    return Verdict(not failures, tuple(failures), value, bound)


def count_mean_selection(claim: Mapping[str, Any], shares: ShareTable, labels: Sequence[int]) -> Verdict:
    """Recompute what a selection is worth, and whether it keeps its limits, where nothing proves a bound."""
    failures: list[str] = []
    value = None
    try:
        value = _value(claim, _terms(claim["goal"], shares, labels), len(shares[0]), failures)
    except ValueError as error:
        failures.append(f"the members and their limits cannot be read: {error}")
    return Verdict(not failures, tuple(failures), value, None)


def mean_sha256(shares: ShareTable, labels: Sequence[int]) -> str:
    """Return the SHA-256 of the rows.

    Hashed are the numbers of classifiers and classes, then of each row its class and all probabilities.
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
    kind, gains = goal["kind"], goal["gains"]
    n_classes, terms = len(shares[0][0]), []
    for row, label in zip(shares, labels, strict=True):
        if kind == "log-loss":
            terms.append(Term(1, [([max(1, answer[label]) for answer in row], 0.0)]))
        elif kind == "brier":
            of = [label] if n_classes == 2 else range(n_classes)
            terms += [Term(1, [([answer[c] for answer in row], float(c == label))]) for c in of]
        elif gains[label]:
            weighed = [[_weighed(s, g, gains) for s, g in zip(one, gains, strict=True)] for one in row]
            rivals = [c for c in range(n_classes) if c != label]
            forms = [([one[label] - one[c] for one in weighed], float(c < label)) for c in rivals]
            terms.append(Term(gains[label], forms))
    return terms


def _weighed(share: int, gain: int, gains: Sequence[int]) -> int:
    return share if all(one == gains[0] for one in gains) else round(share * (gain / max(gains)))


def _slack(goal: Mapping[str, Any], terms: list[Term]) -> int:
    return 0 if goal["kind"] == "right" else 2 * sum(term.worth for term in terms) + 4


def _g(goal: Mapping[str, Any], aim: float, reach: float, unit: float) -> float:
    if goal["kind"] == "right":
        return float(reach >= aim)
    if goal["kind"] == "log-loss":
        return math.log(reach / unit)
    if goal["kind"] == "brier":
        return -((reach / unit - aim) ** 2)
    return 1 / (1 + math.exp(-goal["slope"] * reach / unit / 2))


def _value(claim: Mapping[str, Any], terms: list[Term], n_classifiers: int, failures: list[str]) -> int:
    """Return the total of the members, and note where they break a limit."""
    goal = claim["goal"]
    members = checked_members(claim, n_classifiers, failures)
    if not members:
        failures.append("an empty committee has no mean")
    unit, total = max(1, len(members)) * PROBABILITY_ONE, goal["offset"] if goal["kind"] == "right" else 0
    for term in terms:
        worth = min(_g(goal, aim, sum(adds[k] for k in members), unit) for adds, aim in term.forms)
        total += term.worth * (int(worth) if goal["kind"] == "right" else round(SCALE * worth))
    return total


def _bound(certificate: Mapping[str, Any], terms: list[Term], failures: list[str]) -> int:
    """Return what no selection of the certificate's sizes and affordable classifiers exceeds."""
    goal, limits = certificate["goal"], certificate["limits"]
    n_classifiers = len(terms[0].forms[0][0]) if terms else 0
    allowed = [
        k for k in range(n_classifiers) if "budget" not in limits or limits["costs"][k] <= limits["budget"]
    ]
    most = min(limits["max_size"], len(allowed))
    missing = set(range(limits["min_size"], most + 1))
    bounds = [-math.inf]
    for part in certificate["tangents"]:
        first = whole(part["first"], "first", limits["min_size"], most)
        last = whole(part["last"], "last", first, most)
        missing -= set(range(first, last + 1))
        bounds.append(_part_bound(goal, part, terms, allowed, first / last))
    if missing:
        failures.append(f"{len(missing)} sizes have no tangents, the first {min(missing)}")
    if goal["kind"] != "right":
        slack = _slack(goal, terms)
        return math.ceil(max(bounds) * SCALE) + slack // 4 + 1
    step = math.gcd(*(term.worth for term in terms))
    error = max(FLOAT_ERROR, 2.0**-50 * sum(term.worth for term in terms))
    return int(goal["offset"] + math.floor(max(bounds) + error) // step * step)


def _part_bound(
    goal: Mapping[str, Any], part: Mapping[str, Any], terms: list[Term], allowed: list[int], aim_share: float
) -> float:
    size = part["first"]
    adds, constants = {k: [0.0] for k in allowed}, []
    for term, place, tilt in zip(terms, part["forms"], part["tilts"], strict=True):
        form, aim = term.forms[whole(place, "form", 0, len(term.forms) - 1)]
        if not math.isfinite(tilt):  # what is no number is above nothing and below nothing
            raise ValueError(f"a tilt must be a finite number, got {tilt}")
        ranked = sorted(form[k] for k in allowed)
        low, high = sum(ranked[:size]), sum(ranked[len(ranked) - size :])
        share = aim_share if goal["kind"] == "right" else 1.0
        constants.append(term.worth * _highest(goal, aim * share, (low, high), size * PROBABILITY_ONE, tilt))
        for k in allowed:
            adds[k].append(term.worth * tilt * form[k])
    best = sorted((math.fsum(adds[k]) for k in allowed), reverse=True)[:size]
    bound = math.fsum(constants + best)
    if not math.isfinite(bound):
        raise ValueError(f"the tangents of {size} members prove no finite bound")
    return bound


def _highest(goal: Mapping[str, Any], aim: float, ends: tuple[int, int], unit: int, tilt: float) -> float:
    """Return the largest ``g(e) - tilt · e`` between two ends: at one of them, or where g is as steep."""
    low, high = ends
    places: list[float] = [low, high]
    if goal["kind"] == "log-loss" and tilt > 0:
        places.append(1 / tilt)
    elif goal["kind"] == "brier":
        places.append((aim - tilt * unit / 2) * unit)
    elif goal["kind"] == "right":
        places.append(aim)
    elif goal["kind"] == "slope":
        steep = goal["slope"] / 2 / unit
        if 0 < tilt < steep / 4:
            value = (1 + math.sqrt(1 - 4 * tilt / steep)) / 2
            if value < 1:
                places.append(math.log(value / (1 - value)) / steep)
    return max(_g(goal, aim, e, unit) - tilt * e for e in places if low <= e <= high)
