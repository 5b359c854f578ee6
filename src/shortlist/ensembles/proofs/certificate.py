"""Certificates of pruning: value and bound of a selection, and the cuts that prove it, as plain data."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.proofs.cuts import Cut, CutBound
from shortlist.ensembles.proofs.row_forms import RightRows, distinct_votes
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes
from shortlist.files import write_text

FORMAT = "shortlist pruning certificate 1"
"""What the first field of a certificate says."""

Certificate = dict[str, Any]
"""Names, whole numbers and lists only, so that JSON holds it and any program can read it."""


def threshold_claim(
    votes: Votes, weights: Weights, limits: SelectionLimits, mask: Mask, threshold: int
) -> Certificate:
    """Write down what a selection for two classes is, and of which problem.

    `votes`, `weights`, `limits`: the validation rows, what decisions are worth, and what a selection must
    keep. `mask`, ``(n_classifiers,)``: the selection.
    """
    return {
        "format": FORMAT,
        "data": fingerprint(votes),
        **plain_problem(weights, limits),
        "members": np.flatnonzero(mask).tolist(),
        "threshold": int(threshold),
    }


def class_claim(votes: ClassVotes, weights: ClassWeights, limits: SelectionLimits, mask: Mask) -> Certificate:
    """Write down the same for several classes, whose rows are merged."""
    return {
        "format": FORMAT,
        "data": class_fingerprint(votes),
        **plain_problem(weights, limits),
        "members": np.flatnonzero(mask).tolist(),
    }


def vote_certificate(claim: Certificate, rows: RightRows, bound: CutBound | int, value: int) -> Certificate:
    """Add to a claim what the selection is worth, and what proves the bound.

    Rows are named by their place among all distinct vote vectors in lexicographic order; of several classes
    among the merged rows in the order of true class and votes, and a cut has a rival class and a multiplier
    for each of its forms. All sums are in the integers of the weights.
    :func:`shortlist.ensembles.verification.recheck_certificate.check_certificate` says how it is checked.

    `claim`: from :func:`threshold_claim` or :func:`class_claim`. `rows`: from
    :func:`shortlist.ensembles.proofs.row_forms.normalise` or `class_rows` there. `bound`: of `rows`; or how
    many selections there are, each of which was looked at, so that the selection is the best. `value`:
    weighted sum of the selection.
    """
    if isinstance(bound, int):
        return claim | {"value": value, "bound": value, "selections": bound}
    return claim | {
        "value": value,
        "bound": rows.weighted_sum(bound.bound),
        "denominator": bound.denominator,
        "cuts": [
            _plain_cut(rows, cut) | {"weight": int(weight)}
            for cut, weight in zip(bound.cuts, bound.multipliers, strict=True)
        ],
    }


def _plain_cut(rows: RightRows, cut: Cut) -> dict[str, Any]:
    forms = list(cut.forms)
    plain: dict[str, Any] = {"rows": rows.places[rows.row_of[forms]].tolist()}
    if not rows.has_threshold and rows.n_rows:
        plain["rivals"] = rows.rivals[forms].tolist()
    kept = {} if cut.kept is None else {"kept": list(cut.kept)}
    return plain | {"multipliers": list(cut.multipliers)} | kept


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


def plain_problem(weights: Weights | ClassWeights, limits: SelectionLimits) -> dict[str, Any]:
    """Return the fields ``limits``, and ``weights`` or ``gains``, which say what a certificate is of."""
    if isinstance(weights, ClassWeights):
        return {"gains": weights.gains.tolist(), "limits": limits.plain()}
    sums = {"tp": weights.tp, "fn": weights.fn, "tn": weights.tn, "fp": weights.fp}
    return {"weights": sums, "limits": limits.plain()}
