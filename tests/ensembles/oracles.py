"""Slow and plain: pruning by brute force over all subsets and thresholds."""

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Rows = list[tuple[tuple[int, ...], int]]
"""(votes, label) of every sample, not merged."""


def subsets(n_classifiers: int) -> Iterator[tuple[int, ...]]:
    """Every subset of the classifiers, the empty one first."""
    for size in range(n_classifiers + 1):
        yield from itertools.combinations(range(n_classifiers), size)


def decisions(rows: Rows, members: tuple[int, ...], threshold: int) -> list[int]:
    """1 where more than `threshold` members vote positive."""
    return [int(sum(votes[k] for k in members) > threshold) for votes, _ in rows]


def confusion(rows: Rows, members: tuple[int, ...], threshold: int) -> tuple[int, int, int, int]:
    """(TP, FN, TN, FP)."""
    pairs = [
        (label, said) for (_, label), said in zip(rows, decisions(rows, members, threshold), strict=True)
    ]
    return pairs.count((1, 1)), pairs.count((1, 0)), pairs.count((0, 0)), pairs.count((0, 1))


def weighted_sum(
    rows: Rows, members: tuple[int, ...], threshold: int, weights: tuple[int, int, int, int]
) -> int:
    """Eq. 1 with weights in the order (W_T+, W_F-, W_T-, W_F+)."""
    return sum(w * c for w, c in zip(weights, confusion(rows, members, threshold), strict=True))


def failure_credit(rows: Rows, k: int, m: int) -> Fraction:
    """FC by the paper's words: Hamming distance of the failure patterns over the failures of both."""
    fp_k = [int(votes[k] == label) for votes, label in rows]
    fp_m = [int(votes[m] == label) for votes, label in rows]
    distance = sum(a != b for a, b in zip(fp_k, fp_m, strict=True))
    failures = fp_k.count(0) + fp_m.count(0)
    return Fraction(distance, failures) if failures else Fraction(0)


def pair_measure(name: str, rows: Rows, k: int, m: int) -> Fraction:
    """Disagreement, double fault or Q of a pair, by their words."""
    right = [(votes[k] == label, votes[m] == label) for votes, label in rows]
    a, b, c, d = (right.count(one) for one in ((True, True), (True, False), (False, True), (False, False)))
    if name == "disagreement":
        return Fraction(b + c, len(rows))
    if name == "double-fault":
        return Fraction(d, len(rows))
    if a * d + b * c == 0:
        return Fraction(0) if b + c else Fraction(1)
    return Fraction(a * d - b * c, a * d + b * c)


def pfc(rows: Rows, members: tuple[int, ...]) -> list[Fraction]:
    """PFC of every member; 0 for a single one."""
    if len(members) < 2:
        return [Fraction(0)] * len(members)
    return [
        sum((failure_credit(rows, k, m) for m in members if m != k), Fraction(0)) / (len(members) - 1)
        for k in members
    ]


def diverse(rows: Rows, members: tuple[int, ...], each: Fraction, mean: Fraction, slack: Fraction) -> bool:
    """Eqs. 18 and 20, each sum allowed to miss its limit by `slack`."""
    size = len(members)
    if size < 2:
        return True
    shares = pfc(rows, members)
    pairs = Fraction(size * (size - 1), 2)
    return all(p * (size - 1) >= each * (size - 1) - slack for p in shares) and (
        sum(shares, Fraction(0)) / size * pairs >= mean * pairs - slack
    )


def best_value(
    rows: Rows,
    n_classifiers: int,
    weights: tuple[int, int, int, int],
    allowed: list[tuple[int, ...]] | None = None,
) -> int | None:
    """The largest weighted sum over all allowed subsets and thresholds 0..S; None when nothing is allowed."""
    candidates = list(subsets(n_classifiers)) if allowed is None else allowed
    if not candidates:
        return None
    votes, labels = as_arrays(rows)
    members = np.array([[k in chosen for k in range(n_classifiers)] for chosen in candidates], dtype=np.int64)
    tallies = members @ votes.T.astype(np.int64)
    tp, fn, tn, fp = weights
    best = []
    for threshold in range(n_classifiers + 1):
        said = tallies > threshold
        worth = np.where(labels == 1, np.where(said, tp, fn), np.where(said, fp, tn)).sum(axis=1)
        best.append(np.where(threshold <= members.sum(axis=1), worth, worth.min()).max())
    return int(max(best))


def as_arrays(rows: Rows) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Votes and labels as arrays."""
    return np.array([votes for votes, _ in rows], dtype=np.uint8), np.array(
        [label for _, label in rows], np.uint8
    )
