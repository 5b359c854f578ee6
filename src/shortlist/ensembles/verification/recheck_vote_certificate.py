"""Recheck of a certificate of pruning by votes, independent of the code that made the certificate.

The code is slow and plain. From the library it imports only `recheck_selections.py`, a recheck too. It trusts
no number of the certificate. An auditor can read these loops, or write similar ones.

With two classes a row is decided positive if more members than the threshold vote so. With several classes, a
row of true class c is right if c has a vote, and every rival class d has fewer votes, or as many votes if d
comes after c. If no classifier abstains, a selection without members is right on rows of the first class.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from shortlist.ensembles.verification.recheck_selections import (
    MOST,
    VoteTable,
    best_gain,
    checked_members,
    is_diverse,
    n_selections,
    whole,
)

ClassTable = list[tuple[int, tuple[int, ...], int]]
"""Distinct rows as true class, votes and number of samples, sorted by true class, then by votes."""


@dataclass(frozen=True)
class CertificateVerdict:
    """Result of a check of a certificate."""

    failures: tuple[str, ...]
    """Sentences on the parts of data, selection, value and bound that contradict the certificate; empty if no
    part does.
    """
    value: int | None
    bound: int | None
    """Recomputed bound, in the integers of the certificate; None if it could not be recomputed."""

    @property
    def valid(self) -> bool:
        """Whether no part contradicts the certificate."""
        return not self.failures


class ClaimedRows(ABC):
    """Rows with the claims of a certificate about these rows; base of the checks of votes and of means."""

    proof = "cuts"
    """Name of the proof of the bound in the certificate."""
    slack = 0
    """Tolerance on sums of logarithms, in the integers of the certificate."""

    def __init__(self, claim: Mapping[str, Any], n_classifiers: int) -> None:
        self.claim, self.n_classifiers, self.failures = claim, n_classifiers, list[str]()

    @abstractmethod
    def sha256(self) -> str:
        """SHA-256 of the rows, as hexadecimal text."""

    @abstractmethod
    def value(self, members: list[int]) -> int:
        """Return the value of the members; append broken limits, except on size and cost, to `failures`."""

    @abstractmethod
    def bound(self) -> int:
        """Return the bound that the proof gives for all selections; append its errors to `failures`."""

    def verdict(self, *, proved: bool = True) -> CertificateVerdict:
        """Return the recomputed value and bound.

        Without `proved` only the value is computed, and the limits are checked.
        """
        claim, failures = self.claim, self.failures
        value = bound = None
        if proved and self.sha256() != claim.get("data"):
            failures.append("the data is not what the certificate was made for")
        try:
            value = self.value(checked_members(claim, self.n_classifiers, failures))
            if proved:
                if not abs(value - claim["value"]) <= self.slack:
                    failures.append(f"the selection is worth {value}, not {claim['value']}")
                bound = self.bound()
                if not abs(bound - claim["bound"]) <= self.slack:
                    failures.append(f"the {self.proof} prove the bound {bound}, not {claim['bound']}")
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            what = "certificate is" if proved else "members and their limits are"
            failures.append(f"the {what} not readable: {error!r}")
        return CertificateVerdict(tuple(failures), value, bound)


def check_certificate(
    certificate: Mapping[str, Any],
    answers: Iterable[Iterable[int]],
    labels: Iterable[int],
    n_classes: int | None = None,
) -> CertificateVerdict:
    """Return value and bound, recomputed from the data and the cuts in Python's integers.

    1. The data has the SHA-256 in the certificate.
    2. The members keep the limits, and have the value, with the threshold if there are two classes.
    3. Every cut is true. With two classes, let y be multipliers with sum P over positive rows and N over
       negative rows. The largest ``Σ y · votes (positive) − Σ y · votes (negative) + max(0, N − P) · size``
       of a selection within the sizes is below P. It would have to reach P if all rows of the cut were
       right. With several classes, votes for the true class minus votes for the rival are summed with y.
       This sum would have to reach the sum of y over the rivals that come before the true class, and is
       below it. The number of classes as a rival stands for no vote at all: the true class needs one vote.
    4. With weights λ / denominator >= 0 of the cuts, no selection gains more than
       ``Σ λ (rows of the cut − 1) + Σ over rows of max(0, gain − Σ of λ of its cuts)``: a set of right rows
       misses one row of every cut. With several classes, rows that no selection within the sizes is right
       on are left out.
    5. A cut with ``kept`` classifiers is an inequality in members and right rows. Its λ counts as often as
       its reach, and the largest sum of what λ gives to the members of a selection within the sizes is
       added in 4.

    Where the certificate has ``selections`` in place of cuts, they are few enough to evaluate each, and the
    best of them is the bound (:mod:`shortlist.ensembles.verification.recheck_selections`).

    Takes O(n_samples · n_classifiers · n_classes + entries of the cuts · n_classifiers) steps of Python.

    `certificate`: dict as written by :mod:`shortlist.ensembles.proofs.certificate`. `answers`, ``(n_samples,
    n_classifiers)``: answers on the validation rows, in any order, as nested sequences or a NumPy array. They
    are votes of 0 and 1, or indices of classes, `n_classes` for an abstention. `labels`, ``(n_samples,)``:
    true classes. `n_classes`: number of classes; None: two classes, decided by a threshold.
    """
    return _claimed(certificate, answers, labels, n_classes).verdict()


def count_selection(
    claim: Mapping[str, Any],
    answers: Iterable[Iterable[int]],
    labels: Iterable[int],
    n_classes: int | None = None,
) -> CertificateVerdict:
    """Return the recomputed value of a selection, and whether it keeps its limits, without a proved bound.

    `claim`: the fields ``members`` and ``limits`` of a certificate, with ``threshold`` and ``weights`` or
    with ``gains``. Further arguments: as for :func:`check_certificate`.
    """
    return _claimed(claim, answers, labels, n_classes).verdict(proved=False)


def _claimed(
    claim: Mapping[str, Any], answers: Iterable[Iterable[int]], labels: Iterable[int], n_classes: int | None
) -> "_VotedRows":
    samples: dict[tuple[int, tuple[int, ...]], int] = {}
    for row, label in zip(answers, labels, strict=True):
        key = int(label), tuple(int(vote) for vote in row)
        samples[key] = samples.get(key, 0) + 1
    table = [(label, row, samples[label, row]) for label, row in sorted(samples)]
    return _ThresholdRows(claim, table) if n_classes is None else _ClassRows(claim, table, n_classes)


class _VotedRows(ClaimedRows):
    """Distinct rows of votes, with the gains of right decisions; base for two classes and for several."""

    votes: list[tuple[int, ...]]
    labels: list[int]
    n_classes: int
    by_threshold: bool

    @abstractmethod
    def gains(self) -> tuple[int, list[int]]:
        """Return the value that every selection has in common, and the gain of each row if it is right.

        The gain is 0 for a row that no selection is right on.
        """

    @abstractmethod
    def summed(self, cut: Mapping[str, Any], multipliers: list[int]) -> tuple[list[int], int] | None:
        """Return the coefficients of the members in a cut, and the reach of the cut.

        None if the cut is false.
        """

    @abstractmethod
    def is_diverse(self, members: list[int]) -> bool:
        """Return whether the members keep a limit on diversity."""

    def bound(self) -> int:
        limits, n = self.claim["limits"], self.n_classifiers
        floor, gains = self.gains()
        if "selections" in self.claim:
            self.proof = "selections"
            if (found := n_selections(n, limits)) != self.claim["selections"]:
                self.failures.append(f"there are {found} selections, not {self.claim['selections']}")
            best = best_gain(
                self.votes, self.labels, gains, limits, self.is_diverse, n_classes=self.n_classes,
                by_threshold=self.by_threshold,
            )  # fmt: skip
            if best is None:
                raise ValueError("no selection keeps the limits")
            return floor + best
        denominator, step = whole(self.claim["denominator"], "denominator", 1), gcd(*gains) or 1
        left = [gain // step * denominator for gain in gains]
        spent, members = 0, [0] * n
        for number, cut in enumerate(self.claim["cuts"]):
            places = {whole(i, "row", 0, len(gains) - 1) for i in cut["rows"]}
            weight = whole(cut["weight"], f"weight of cut {number}", 0, MOST)
            multipliers = [whole(y, f"multiplier of cut {number}", 1, MOST) for y in cut["multipliers"]]
            is_whole = bool(places) and len(cut["rows"]) == len(multipliers)
            summed = self.summed(cut, multipliers) if is_whole and all(gains[i] for i in places) else None
            terms = None if summed is None else _checked_terms(cut, *summed, limits)
            if terms is None:
                self.failures.append(f"cut {number} is not proved by its multipliers")
                continue
            coefficients, reach = terms
            spent += weight * (reach * (len(places) - 1) - sum(c for c in coefficients if c < 0))
            members = [total + weight * c for total, c in zip(members, coefficients, strict=True)]
            for i in places:
                left[i] -= weight * reach
        spent += _largest_sum(members, limits)
        return floor + step * ((spent + sum(max(0, gain) for gain in left)) // denominator)


class _ThresholdRows(_VotedRows):
    n_classes, by_threshold = 2, True

    def __init__(self, claim: Mapping[str, Any], table: ClassTable) -> None:
        samples: dict[tuple[int, ...], list[int]] = {}
        for label, row, count in table:
            samples.setdefault(row, [0, 0])[0 if label == 1 else 1] += count
        self.table: VoteTable = [(row, samples[row][0], samples[row][1]) for row in sorted(samples)]
        self.votes = [row for row, _, _ in self.table]
        super().__init__(claim, len(self.votes[0]) if self.votes else 0)

    def sha256(self) -> str:
        text = f"{self.n_classifiers};".encode()
        for row, positives, negatives in self.table:
            text += bytes(row) + f"{positives},{negatives};".encode()
        return hashlib.sha256(text).hexdigest()

    def value(self, members: list[int]) -> int:
        n = self.n_classifiers
        weights = {
            name: whole(one, f"weight {name}", -MOST, MOST) for name, one in self.claim["weights"].items()
        }
        threshold = whole(self.claim["threshold"], "threshold", -n, n)
        if not self.is_diverse(members):
            self.failures.append("the members break the diversity limits")
        if not 0 <= threshold <= len(members):
            self.failures.append(f"the threshold {threshold} is not between 0 and the number of members")
        total = 0
        for row, positives, negatives in self.table:
            if sum(row[k] for k in members) > threshold:
                total += weights["tp"] * positives + weights["fp"] * negatives
            else:
                total += weights["fn"] * positives + weights["tn"] * negatives
        return total

    def gains(self) -> tuple[int, list[int]]:
        weights = self.claim["weights"]
        floor = sum(
            weights["fn"] * positives + weights["tn"] * negatives for _, positives, negatives in self.table
        )
        # what deciding positive instead of negative adds; the empty vector is never decided positive
        signed = [
            (weights["tp"] - weights["fn"]) * positives - (weights["tn"] - weights["fp"]) * negatives
            if any(row)
            else 0
            for row, positives, negatives in self.table
        ]
        self.labels = [int(gain > 0) for gain in signed]
        return floor + sum(gain for gain in signed if gain < 0), [abs(gain) for gain in signed]

    def summed(self, cut: Mapping[str, Any], multipliers: list[int]) -> tuple[list[int], int] | None:
        """Return the coefficients of the members in a cut at the most favourable threshold, and its reach.

        The coefficients are sums of votes times multipliers. None if the cut is false.
        """
        coefficients = [0] * self.n_classifiers
        positive = negative = 0
        for i, y in zip(cut["rows"], multipliers, strict=True):
            sign = 1 if self.labels[i] else -1
            positive, negative = positive + y * (sign > 0), negative + y * (sign < 0)
            for k, vote in enumerate(self.votes[i]):
                coefficients[k] += sign * y * vote
        return [c + max(0, negative - positive) for c in coefficients], positive

    def is_diverse(self, members: list[int]) -> bool:
        return is_diverse(self.table, members, self.claim["limits"])


class _ClassRows(_VotedRows):
    by_threshold = False

    def __init__(self, claim: Mapping[str, Any], table: ClassTable, n_classes: int) -> None:
        self.table, self.n_classes = table, n_classes
        self.labels, self.votes = [label for label, _, _ in table], [row for _, row, _ in table]
        self.all_vote = not any(n_classes in row for row in self.votes)
        super().__init__(claim, len(self.votes[0]) if self.votes else 0)

    def sha256(self) -> str:
        digest = hashlib.sha256(f"{self.n_classifiers},{self.n_classes};".encode())
        for label, row, count in self.table:
            digest.update(bytes([label, *row]) + f"{count};".encode())
        return digest.hexdigest()

    def value(self, members: list[int]) -> int:
        gains = [whole(gain, "gain", 0, MOST) for gain in self.claim["gains"]]
        if not self.is_diverse(members):
            self.failures.append("the members break the diversity limits")
        total = 0
        for label, row, count in self.table:
            votes = [sum(row[k] == one for k in members) for one in range(self.n_classes)]
            answered = any(votes) or (self.all_vote and not members)
            total += gains[label] * count * (answered and votes.index(max(votes)) == label)
        return total

    def gains(self) -> tuple[int, list[int]]:
        own, floor, gains = self.claim["gains"], 0, []
        for label, row, count in self.table:
            rivals = [rival for rival in range(self.n_classes) if rival != label]
            n_silent = row.count(self.n_classes)
            if label == 0 and not self.all_vote and n_silent >= self.claim["limits"]["min_size"]:
                rivals.append(self.n_classes)  # no vote would win the tie
            leads = [self._extremes(label, rival, row) for rival in rivals]
            gain = own[label] * count
            if any(highest < least for _, highest, least in leads):
                gain = 0  # right on no selection
            elif all(lowest >= least for lowest, _, least in leads):
                floor, gain = floor + gain, 0  # and on every one
            gains.append(gain)
        return floor, gains

    def _extremes(self, label: int, rival: int, votes: tuple[int, ...]) -> tuple[int, int, int]:
        """Return the lowest and the highest lead over a rival within the sizes, and the least right lead."""
        own, limits = votes.count(label), self.claim["limits"]
        other = votes.count(rival) if rival < self.n_classes else 0
        most, forced = limits["max_size"], limits["min_size"] - len(votes)
        lowest = max(0, forced + own) - min(other, most)
        highest = min(own, most) - max(0, forced + other)
        return lowest, highest, self._wanted(label, rival)

    def _wanted(self, label: int, rival: int) -> int:
        return int(rival < label or rival == self.n_classes)

    def summed(self, cut: Mapping[str, Any], multipliers: list[int]) -> tuple[list[int], int] | None:
        rivals = [whole(rival, "rival", 0, self.n_classes) for rival in cut["rivals"]]
        coefficients, wanted = [0] * self.n_classifiers, 0
        for i, rival, y in zip(cut["rows"], rivals, multipliers, strict=True):
            label, votes, _ = self.table[i]
            if rival == label or (rival == self.n_classes and self.all_vote):
                return None
            wanted += y * self._wanted(label, rival)
            for k, vote in enumerate(votes):
                coefficients[k] += y * ((vote == label) - (vote == rival < self.n_classes))
        return coefficients, wanted

    def is_diverse(self, members: list[int]) -> bool:
        """Return whether the members keep a limit on diversity.

        Diversity depends only on right and wrong answers, so a right answer is taken as a vote on a positive
        row.
        """
        flags = [(tuple(int(vote == label) for vote in votes), n, 0) for label, votes, n in self.table]
        return is_diverse(flags, members, self.claim["limits"])


def _checked_terms(
    cut: Mapping[str, Any], coefficients: list[int], wanted: int, limits: Mapping[str, Any]
) -> tuple[list[int], int] | None:
    """Return the coefficients of the members in a cut, and the reach of the cut; None if it is false.

    If all its rows are right, the coefficients of the members add up to at least `wanted`. Without ``kept``,
    `wanted` must exceed this sum for every selection within the sizes: then one row is wrong, and all
    returned coefficients are 0.

    With ``kept``, classifiers that are not kept add at most their positive coefficients. So for kept
    classifiers, the positive coefficients of members, minus the negative coefficients of classifiers that are
    not members, add up to at least `reach`. This sum is never below 0, so the inequality also holds if a row
    is wrong. Coefficients are limited to the range from -`reach` to `reach`.
    """
    if "kept" not in cut:
        return ([0] * len(coefficients), 1) if _largest_sum(coefficients, limits) < wanted else None
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


def _largest_sum(coefficients: list[int], limits: Mapping[str, Any]) -> int:
    """Return the largest sum of coefficients of a selection within the sizes.

    Classifiers that exceed the budget alone are left out.
    """
    allowed = [c for k, c in enumerate(coefficients) if _is_affordable(k, limits)]
    best = sorted(allowed, reverse=True)
    largest = sum(best[: limits["min_size"]])
    return int(largest + sum(max(0, c) for c in best[limits["min_size"] : limits["max_size"]]))


def _is_affordable(k: int, limits: Mapping[str, Any]) -> bool:
    return "budget" not in limits or bool(limits["costs"][k] <= limits["budget"])
