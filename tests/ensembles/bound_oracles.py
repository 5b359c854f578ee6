"""Slow and plain: what selections can be right on, by going through all of them."""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.proofs.certificate import Certificate, CutBound, cut_terms, proves, vote_certificate
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, confusion


def selections(rows: RightRows) -> Iterator[NDArray[np.bool_]]:
    """Every selection within the limits."""
    for bits in itertools.product([False, True], repeat=rows.n_classifiers):
        mask = np.array(bits, dtype=bool)
        if rows.limits.satisfied_by(mask):
            yield mask


def right_sets(rows: RightRows) -> list[NDArray[np.bool_]]:
    """Masks of the right rows, for every selection and threshold."""
    return [
        right_rows(rows, mask, threshold)
        for mask in selections(rows)
        for threshold in range(int(mask.sum()) + 1 if rows.has_threshold else 1)
    ]


def right_rows(rows: RightRows, mask: NDArray[np.bool_], threshold: int) -> NDArray[np.bool_]:
    """Rows of which every form holds, added up sign by sign."""
    right = [True] * rows.n_rows
    for form in range(rows.n_forms):
        reached = int(rows.levels[form]) * threshold
        for k in range(rows.n_classifiers):
            reached += int(rows.signs[form, k]) if mask[k] else 0
        if reached < rows.least[form]:
            right[int(rows.row_of[form])] = False
    return np.array(right, dtype=bool)


def best_gain(rows: RightRows) -> int | None:
    """The largest gain; None where nothing keeps the limits."""
    return max((sum(int(g) for g in rows.gains[right]) for right in right_sets(rows)), default=None)


def conflicts(rows: RightRows) -> tuple[set[tuple[int, int]], set[int]]:
    """Of two classes: pairs that are never both right and positives never right, going by sizes and single prices alone."""
    masks = [
        mask
        for bits in itertools.product([False, True], repeat=rows.n_classifiers)
        if rows.least_members <= sum(bits) <= rows.most_members
        and not (~rows.affordable & (mask := np.array(bits, dtype=bool))).any()
    ]
    tallies = [[int(row[mask].sum()) for row in rows.votes] for mask in masks]
    positive = [i for i in range(rows.n_rows) if rows.is_positive[i]]
    negative = [i for i in range(rows.n_rows) if not rows.is_positive[i]]
    never = {p for p in positive if all(tally[p] == 0 for tally in tallies)}
    pairs = {
        (p, q)
        for p in positive
        for q in negative
        if p not in never and all(tally[p] <= tally[q] for tally in tallies)
    }
    return pairs, never


def threshold_certificate(
    votes: Votes, weights: Weights, rows: RightRows, bound: CutBound | int, *, mask: Mask, threshold: int
) -> Certificate:
    value = weights.total(confusion(votes, mask, threshold))
    return vote_certificate(votes, weights, rows, bound, mask=mask, threshold=threshold, value=value)


def class_certificate(
    votes: ClassVotes, weights: ClassWeights, rows: RightRows, bound: CutBound | int, mask: Mask
) -> Certificate:
    value = weights.total(votes, mask)
    return vote_certificate(votes, weights, rows, bound, mask=mask, threshold=0, value=value)


def certified_bound(rows: RightRows, bound: CutBound) -> int:
    """Bound that the cuts prove, each of them true, added up in Python's integers."""
    left = [int(gain) * bound.denominator for gain in rows.gains]
    spent, members = 0, np.zeros(rows.n_classifiers, dtype=np.int64)
    for cut, weight in zip(bound.cuts, bound.multipliers.tolist(), strict=True):
        assert proves(rows, cut)
        assert weight >= 0
        reach, against = 1, 0
        if cut.kept is not None:
            terms = cut_terms(rows, cut)
            reach, against, members = terms.reach, terms.against, members + weight * terms.coefficients
        spent += weight * ((len(cut.rows) - 1) * reach + against)
        for row in cut.rows:
            left[row] -= weight * reach
    return (spent + rows.largest(members) + sum(max(0, one) for one in left)) // bound.denominator
