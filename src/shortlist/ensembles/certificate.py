"""Certificates of pruning: the value and the bound of a selection, and the cuts that prove the bound, as plain data."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.cuts import CutBound
from shortlist.ensembles.incumbent import best_threshold
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.margin_utility import MarginUtility, utility_scale
from shortlist.ensembles.right_rows import RightRows, distinct_votes
from shortlist.ensembles.slope_proof import SlopeAnswer
from shortlist.ensembles.slope_rows import SlopeRows
from shortlist.ensembles.votes import Votes, confusion
from shortlist.ensembles.weights import Weights
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_bytes, write_text

FORMAT = "shortlist pruning certificate 1"
"""What the first field of a certificate says."""

Certificate = dict[str, Any]
"""Names, whole numbers and lists only, so that JSON holds it and any program can read it."""


def make_certificate(
    votes: Votes,
    weights: Weights,
    rows: RightRows,
    bound: CutBound,
    mask: Mask,
    *,
    threshold: int | None = None,
) -> Certificate:
    """Write down what is claimed of a selection, and what proves the bound.

    Rows are named by their place among all distinct vote vectors in lexicographic order. All sums are in the
    integers of `weights`. :func:`shortlist.ensembles.certificate_check.check_certificate` says how it is checked.

    Parameters
    ----------
    votes, weights
        The validation rows, and what decisions are worth.
    rows : RightRows
        From :func:`shortlist.ensembles.right_rows.normalise`, without fixed members.
    bound : CutBound
        Of `rows`.
    mask : ndarray of bool, shape (n_classifiers,)
        The selection.
    threshold : int, optional
        L; default the best one.

    Raises
    ------
    BadInputError
        If members of `rows` are fixed: the bound would hold for their completions only.
    """
    if rows.included.any():
        raise BadInputError(
            "rows must have no fixed members for a certificate, got some. Take the rows of normalise."
        )
    best = best_threshold(votes, weights, mask)[0] if threshold is None else threshold
    return {
        "format": FORMAT,
        "data": fingerprint(votes),
        **plain_problem(weights, rows.limits),
        "members": np.flatnonzero(mask).tolist(),
        "threshold": int(best),
        "value": weights.total(confusion(votes, mask, best)),
        "bound": rows.weighted_sum(bound.bound),
        "denominator": bound.denominator,
        "cuts": [
            {
                "rows": rows.places[list(cut.rows)].tolist(),
                "multipliers": list(cut.multipliers),
                "weight": int(weight),
            }
            for cut, weight in zip(bound.cuts, bound.multipliers, strict=True)
        ],
    }


def make_line_certificate(
    votes: Votes, weights: Weights, utility: MarginUtility, rows: SlopeRows, answer: SlopeAnswer
) -> Certificate:
    """Write down what is claimed of the worth of a selection's margins, and the lines that prove a bound.

    ``lines`` has tilts for the distinct vote vectors in lexicographic order, those left out of which samples of both classes
    are worth as much. Value and bound are in units of 1 / scale of ``utility``.

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
    """Return the SHA-256 of the validation rows: number of classifiers, then each distinct vote vector with its samples.

    Vectors come in lexicographic order, one byte per vote, each followed by ``positives,negatives;``.
    """
    distinct, of_row = distinct_votes(votes.votes)
    samples = np.zeros((len(distinct), 2), dtype=np.int64)
    np.add.at(samples, (of_row, 1 - votes.labels.astype(np.int64)), votes.counts)
    digest = hashlib.sha256(f"{votes.n_classifiers};".encode())
    for vector, (positives, negatives) in zip(distinct, samples.tolist(), strict=True):
        digest.update(vector.tobytes() + f"{positives},{negatives};".encode())
    return digest.hexdigest()


def write_certificate(certificate: Certificate, path: str | Path) -> None:
    """Write a certificate as JSON, whole or not at all."""
    write_text(path, json.dumps(certificate, indent=1) + "\n")


def read_certificate(path: str | Path) -> Certificate:
    """Read a certificate.

    Raises
    ------
    BadFileError
        If the file is no certificate.
    """
    try:
        content = json.loads(read_bytes(path))
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFileError(
            f"{path} must be a certificate in JSON, with the format {FORMAT!r}. Write it anew."
        )
    return content


def plain_utility(utility: MarginUtility, scale: int) -> dict[str, Any]:
    """Return the field ``utility`` of a certificate."""
    return {"shape": utility.shape, "slope": utility.slope, "scale": scale}


def plain_problem(weights: Weights, limits: SelectionLimits) -> dict[str, Any]:
    """Return the fields ``weights`` and ``limits`` of a certificate: what it is a certificate of, beside the data."""
    plain: dict[str, Any] = {"min_size": limits.min_size, "max_size": limits.max_size}
    if limits.costs is not None:
        plain |= {"costs": limits.costs.tolist(), "budget": limits.budget}
    if limits.diversity is not None:
        plain |= {"each": limits.diversity.each, "mean": limits.diversity.mean}
    sums = {"tp": weights.tp, "fn": weights.fn, "tn": weights.tn, "fp": weights.fp}
    return {"weights": sums, "limits": plain}
