"""Certificates of pruning: value and bound of a selection, and the cuts that prove it, as plain data."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.cuts.cuts import Cut, CutBound
from shortlist.ensembles.proofs.lines.slope_proof import SlopeAnswer
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows
from shortlist.ensembles.proofs.row_forms import RightRows, distinct_votes
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.ensembles.votes.class_votes import ClassVotes
from shortlist.files import write_text

FORMAT = "shortlist pruning certificate 1"
"""What the first field of a certificate says."""

Certificate = dict[str, Any]
"""Names, whole numbers and lists only, so that JSON holds it and any program can read it."""


def threshold_certificate(
    votes: Votes, weights: Weights, rows: RightRows, bound: CutBound | int, *, mask: Mask, threshold: int
) -> Certificate:
    """Write down what is claimed of a selection for two classes, and what proves the bound.

    Rows are named by their place among all distinct vote vectors in lexicographic order. All sums are in the
    integers of `weights`. :func:`shortlist.ensembles.audit.cut_check.check_certificate` says how it is
    checked.

    Parameters
    ----------
    votes, weights
        The validation rows, and what decisions are worth.
    rows : RightRows
        From :func:`shortlist.ensembles.proofs.row_forms.normalise`.
    bound : CutBound or int
        Of `rows`; or how many selections there are, each of which was looked at, so that the selection is the
        best.
    mask : ndarray of bool, shape (n_classifiers,)
        The selection.
    threshold : int
        L.
    """
    return {
        "format": FORMAT,
        "data": fingerprint(votes),
        **plain_problem(weights, rows.limits),
        "members": np.flatnonzero(mask).tolist(),
        "threshold": int(threshold),
        "value": (value := weights.total(confusion(votes, mask, threshold))),
        **_plain_bound(rows, bound, value),
    }


def class_certificate(
    votes: ClassVotes, weights: ClassWeights, rows: RightRows, bound: CutBound | int, mask: Mask
) -> Certificate:
    """Write down what is claimed of a selection for several classes, and what proves the bound.

    Rows are named by their place among the merged rows in the order of true class and votes; a cut has a
    rival class and a multiplier for each of its forms.
    :func:`shortlist.ensembles.audit.class_cut_check.check_class_certificate` says how it is checked.

    Parameters
    ----------
    votes : ClassVotes
        Merged.
    weights, rows, bound, mask
        As for two classes, with :func:`shortlist.ensembles.proofs.row_forms.class_rows`.
    """
    return {
        "format": FORMAT,
        "data": class_fingerprint(votes),
        **plain_class_problem(weights, rows.limits),
        "members": np.flatnonzero(mask).tolist(),
        "value": (value := weights.total(votes, mask)),
        **_plain_bound(rows, bound, value),
    }


def _plain_bound(rows: RightRows, bound: CutBound | int, value: int) -> dict[str, Any]:
    """Return the fields of a certificate that prove the bound."""
    if isinstance(bound, int):
        return {"bound": value, "selections": bound}
    return {
        "bound": rows.weighted_sum(bound.bound),
        "denominator": bound.denominator,
        "cuts": [
            _plain_cut(rows, cut) | {"weight": int(weight)}
            for cut, weight in zip(bound.cuts, bound.multipliers, strict=True)
        ],
    }


def _plain_cut(rows: RightRows, cut: Cut) -> dict[str, Any]:
    """Return a cut with the names of its rows, and of the rivals where there are several."""
    if rows.has_threshold or not rows.n_rows:
        return {"rows": rows.places[list(cut.rows)].tolist(), "multipliers": list(cut.multipliers)}
    forms = list(cut.forms)
    return {
        "rows": rows.places[rows.row_of[forms]].tolist(),
        "rivals": rows.rivals[forms].tolist(),
        "multipliers": list(cut.multipliers),
    }


def make_line_certificate(
    votes: Votes, weights: Weights, utility: MarginUtility, rows: SlopeRows, answer: SlopeAnswer
) -> Certificate:
    """Write down what is claimed of the worth of a selection's margins, and the lines that prove a bound.

    ``lines`` has tilts for the distinct vote vectors in lexicographic order, those left out of which samples
    of both classes are worth as much. Value and bound are in units of 1 / scale of ``utility``.

    Parameters
    ----------
    votes, weights, utility
        The problem.
    rows : SlopeRows
        Of the problem.
    answer : SlopeAnswer
        With a selection and a cover.
    """
    assert answer.mask is not None, "there is nothing to certify"
    return {
        "format": FORMAT,
        "data": fingerprint(votes),
        **plain_problem(weights, rows.limits),
        "utility": plain_utility(utility, utility_scale(votes, weights)),
        "members": np.flatnonzero(answer.mask).tolist(),
        "threshold": answer.threshold,
        "value": answer.total,
        "bound": max(one.bound for one in answer.cover),
        "lines": [
            {"size": one.size, "first": one.first, "last": one.last, "tilts": one.tilts.tolist()}
            for one in answer.cover
        ],
    }


def fingerprint(votes: Votes) -> str:
    """Return the SHA-256 of the validation rows.

    Hashed are the number of classifiers, then each distinct vote vector with its samples.

    Vectors come in lexicographic order, one byte per vote, each followed by ``positives,negatives;``.
    """
    distinct, of_row = distinct_votes(votes.votes)
    samples = np.zeros((len(distinct), 2), dtype=np.int64)
    np.add.at(samples, (of_row, 1 - votes.labels.astype(np.int64)), votes.counts)
    digest = hashlib.sha256(f"{votes.n_classifiers};".encode())
    for vector, (positives, negatives) in zip(distinct, samples.tolist(), strict=True):
        digest.update(vector.tobytes() + f"{positives},{negatives};".encode())
    return digest.hexdigest()


def class_fingerprint(votes: ClassVotes) -> str:
    """Return the SHA-256 of merged rows of several classes.

    Hashed are the numbers of classifiers and classes, then each row with its samples.

    Rows come in the order of true class and votes, one byte for the class and one per vote, each followed by
    ``samples;``.
    """
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    for label, codes, count in zip(votes.labels, votes.codes, votes.counts.tolist(), strict=True):
        digest.update(bytes([label]) + codes.tobytes() + f"{count};".encode())
    return digest.hexdigest()


def write_certificate(certificate: Certificate, path: str | Path) -> None:
    """Write a certificate as JSON, whole or not at all."""
    write_text(path, json.dumps(certificate, indent=1) + "\n")


def plain_utility(utility: MarginUtility, scale: int) -> dict[str, Any]:
    """Return the field ``utility`` of a certificate."""
    return {"shape": utility.shape, "slope": utility.slope, "scale": scale}


def plain_problem(weights: Weights, limits: SelectionLimits) -> dict[str, Any]:
    """Return the fields ``weights`` and ``limits`` , which say what a certificate is of."""
    sums = {"tp": weights.tp, "fn": weights.fn, "tn": weights.tn, "fp": weights.fp}
    return {"weights": sums, "limits": _plain_limits(limits)}


def plain_class_problem(weights: ClassWeights, limits: SelectionLimits) -> dict[str, Any]:
    """Return the same for several classes: what a right decision is worth in each."""
    return {"gains": weights.gains.tolist(), "limits": _plain_limits(limits)}


def _plain_limits(limits: SelectionLimits) -> dict[str, Any]:
    """Return limits as whole numbers by name."""
    plain: dict[str, Any] = {"min_size": limits.min_size, "max_size": limits.max_size}
    if limits.costs is not None:
        plain |= {"costs": limits.costs.tolist(), "budget": limits.budget}
    if limits.diversity is not None:
        plain |= {"each": limits.diversity.each, "mean": limits.diversity.mean}
    return plain
