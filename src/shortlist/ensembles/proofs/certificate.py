"""Cuts: sets of rows that cannot all be right, with integers that prove it; bounds and certificates."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.proofs.row_forms import RightRows, distinct_votes
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes
from shortlist.files import write_text

_EXACT = 2**62


@dataclass(frozen=True)
class Cut:
    """Condition on the members that follows if certain rows are right; often no selection fulfils it.

    The forms of the rows R are added up with positive integers y as multipliers. In the sum, the threshold is
    replaced by the largest amount that it can add. So if all rows in R are right, ``w @ x >= P`` holds.
    Without `kept` no selection reaches P, so at least one row is wrong: ``Σ_R t <= |R| − 1``. With `kept` the
    cut is an inequality in x and t, see :class:`CutTerms`. :func:`proves` checks both kinds of cut.
    """

    rows: tuple[int, ...]
    """Indices of the rows in :class:`RightRows`, increasing."""
    forms: tuple[int, ...]
    """Indices of forms of these rows that cannot all hold, increasing, at least one for each row."""
    multipliers: tuple[int, ...]
    """Multipliers y, one for each of `forms`."""
    kept: tuple[int, ...] | None = None
    """Indices of the classifiers kept in the inequality, increasing; None for a cut without an inequality."""


@dataclass(frozen=True, eq=False)
class CutTerms:
    """Cut with kept classifiers as ``c @ x + against >= reach · τ``, where τ = Σ_R t − |R| + 1.

    Let C be the kept classifiers with w > 0 and D those with w < 0. If all rows are right, τ is 1 and ``w @ x
    >= P``. A classifier that is not kept adds at most its w if w is positive, else at most 0. So ``Σ_C w x +
    Σ_D |w| (1 − x)`` is at least ``P − Σ_{w > 0, not in C} w + Σ_D |w|``, which is `reach`. If a row is
    wrong, τ is at most 0; the inequality then holds, as its left side is never below 0. A coefficient above
    `reach` has the same effect as `reach`.
    """

    coefficients: NDArray[np.int64]
    """Coefficients c: above 0 in C, below 0 in D, 0 elsewhere, ``(n_classifiers,)``."""
    reach: int
    """Factor of τ on the right side; if it is below 1, the inequality always holds."""
    against: int
    """Sum of the coefficients of D, with its sign changed."""


@dataclass(frozen=True, eq=False)
class CutBound:
    """Bound on the gain of the right rows, proved by cuts."""

    bound: int
    """Bound in units of ``rows.step``: no selection within the limits gains more."""
    cuts: tuple[Cut, ...]
    """Cuts that prove the bound."""
    multipliers: NDArray[np.int64]
    """Multipliers λ of the cuts, ``(n_cuts,)``, as integers to be divided by a denominator."""
    denominator: int
    pool: tuple[Cut, ...] = ()
    """Cuts of more than two rows for later steps of the search, whether they are in the proof or not."""
    exhausted: bool = False
    """Whether the last search for more cuts found none."""


def make_cut(rows: RightRows, forms: Sequence[int], multipliers: Sequence[int]) -> Cut:
    """Return the cut from the forms with these indices and multipliers, and from the rows of these forms.

    :func:`proves` checks whether the cut is valid.
    """
    return Cut(tuple(np.unique(rows.row_of[list(forms)]).tolist()), tuple(forms), tuple(multipliers))


def proves(rows: RightRows, cut: Cut) -> bool:
    """Return whether the multipliers show that the rows of a cut cannot all be right, decided in integers.

    If all rows were right, ``signs @ x + level · L >= least`` would hold for every form. So would the sum of
    the forms with multipliers y, which is ``c @ x + l · L >= P``. L is from 0 to the number of members. So
    the left side is at most the largest ``(c + max(0, l)) @ x`` over the selections within the sizes. If that
    is below P, the forms cannot all hold. This is Farkas' lemma, the alternative system of
    :cite:t:`Gleeson1990`, with the largest value taken over selections and not over all x.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.proofs.row_forms import normalise
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> merged = merge_rows([[1, 0], [0, 1], [1, 1]], [1, 0, 0])
    >>> rows = normalise(merged, named_weights("accuracy", merged), selection_limits(2))
    >>> rows.votes.tolist()
    [[0, 1], [1, 0], [1, 1]]
    >>> proves(rows, make_cut(rows, (1, 2), (1, 1))), proves(rows, make_cut(rows, (0, 1), (1, 1)))
    (True, False)
    """
    forms = np.array(cut.forms, dtype=np.int64)
    if not len(forms) or min(cut.multipliers) < 1 or sum(cut.multipliers) >= 2**31:
        return False
    if tuple(np.unique(rows.row_of[forms]).tolist()) != cut.rows:
        return False
    if cut.kept is not None:
        return cut_terms(rows, cut).reach >= 1
    w, wanted = _added_up(rows, cut)
    return rows.largest(w) < wanted


def cut_terms(rows: RightRows, cut: Cut) -> CutTerms:
    """Return the inequality of a cut with kept classifiers."""
    w, wanted = _added_up(rows, cut)
    w[~rows.affordable] = 0
    kept = np.zeros(len(w), dtype=bool)
    kept[list(cut.kept or ())] = True
    reach = wanted - int(w[(w > 0) & ~kept].sum()) - int(w[(w < 0) & kept].sum())
    coefficients = np.where(kept, np.clip(w, -max(0, reach), max(0, reach)), 0)
    return CutTerms(coefficients, reach, -int(coefficients[coefficients < 0].sum()))


def _added_up(rows: RightRows, cut: Cut) -> tuple[NDArray[np.int64], int]:
    """Return w and P of a cut: the forms times their multipliers, added up.

    The threshold is replaced by the largest amount that it can add.
    """
    forms, y = list(cut.forms), np.array(cut.multipliers, dtype=np.int64)
    level = max(0, int(y @ rows.levels[forms].astype(np.int64)))
    return y @ rows.signs[forms].astype(np.int64) + level, int(y @ rows.least[forms])


def dual_bound(
    rows: RightRows,
    supports: Sequence[NDArray[np.int64]],
    multipliers: NDArray[np.int64],
    denominator: int,
    terms: Sequence[CutTerms] | None = None,
) -> int:
    """Return the bound on the gain that cuts prove, as an integer in units of ``rows.step``.

    `supports`: rows of each cut. `multipliers`, ``(n_cuts,)``: multipliers of the cuts, over `denominator`.
    `terms`: the cuts as inequalities.
    """
    sizes = np.array([len(support) for support in supports], dtype=np.int64)
    reach = np.ones_like(sizes) if terms is None else np.array([one.reach for one in terms], dtype=np.int64)
    coefficients = np.zeros((len(sizes), 0), dtype=np.int64)
    if terms:
        coefficients = np.array([one.coefficients for one in terms])
    against = np.maximum(0, -coefficients).sum(axis=1)
    weights = np.abs(coefficients).sum(axis=1) + sizes * reach
    entries = float(multipliers.astype(np.float64) @ weights) + float(denominator) * rows.total_gain
    # Python integers where 64 bits may not do
    whole = np.int64 if entries < _EXACT else object
    used = np.zeros(rows.n_rows, dtype=whole)
    exact = multipliers.astype(whole)
    if len(supports):
        np.add.at(used, np.concatenate(supports), np.repeat(exact * reach, sizes))
    left = rows.gains.astype(whole) * denominator - used
    spent = (exact * ((sizes - 1) * reach + against)).sum() if len(supports) else 0
    members = rows.largest(exact @ coefficients) if terms else 0
    return int(int(spent) + members + int(left[left > 0].sum())) // denominator


def denominator_for(rows: RightRows) -> int:
    """Return a power of two as the denominator of multipliers, which keeps their sums small integers."""
    bits = 50 - math.frexp(float(max(1, rows.total_gain)))[1]
    return 1 << min(24, max(0, bits))


FORMAT = "shortlist pruning certificate 1"
"""Value of the first field of a certificate."""


Certificate = dict[str, Any]
"""Certificate as a dict of text, whole numbers and lists only, so that any program can read it from JSON."""


def vote_certificate(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    rows: RightRows,
    bound: CutBound | int,
    *,
    mask: Mask,
    threshold: int,
    value: int,
) -> Certificate:
    """Return the certificate of a selection: its problem, its value, and the proof of the bound.

    With two classes, a row is named by its index among all distinct vote vectors in lexicographic order. With
    several classes, a row is named by its index among the merged rows in the order of true class, then votes;
    a cut then has a rival class and a multiplier for each of its forms. All sums are integers in the unit of
    the weights. ``check_certificate`` of :mod:`shortlist.ensembles.verification.recheck_vote_certificate`
    describes the check.

    `votes`, `weights`: the validation rows, merged for several classes, and the weights of decisions. `rows`:
    the validation rows with the limits, from :func:`shortlist.ensembles.proofs.row_forms.normalise` or
    :func:`shortlist.ensembles.proofs.row_forms.class_rows`. `bound`: bound for `rows`; or the number of all
    selections, if every selection was evaluated. `mask`, ``(n_classifiers,)``, `threshold`: the selection.
    `value`: its weighted sum.
    """
    claim = {
        "format": FORMAT,
        "data": fingerprint(votes) if isinstance(votes, Votes) else class_fingerprint(votes),
        **plain_problem(weights, rows.limits),
        "members": np.flatnonzero(mask).tolist(),
        **({"threshold": int(threshold)} if isinstance(votes, Votes) else {}),
        "value": value,
    }
    if isinstance(bound, int):
        return claim | {"bound": value, "selections": bound}
    return claim | {
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

    It covers the number of classifiers, then each distinct vote vector with its samples.

    Vectors are in lexicographic order with one byte per vote; each vector is followed by
    ``positives,negatives;``.
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

    It covers the numbers of classifiers and classes, then each row with its samples.

    Rows are in the order of true class, then votes, with one byte for the class and one byte per vote; each
    row is followed by ``samples;``.
    """
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    for label, codes, count in zip(votes.labels, votes.codes, votes.counts.tolist(), strict=True):
        digest.update(bytes([label]) + codes.tobytes() + f"{count};".encode())
    return digest.hexdigest()


def write_certificate(certificate: Certificate, path: str | Path) -> None:
    """Write a certificate as JSON, completely or not at all."""
    write_text(path, json.dumps(certificate, indent=1) + "\n")


def plain_problem(weights: Weights | ClassWeights, limits: SelectionLimits) -> dict[str, Any]:
    """Return the fields that describe a certificate's problem: ``limits``, and ``weights`` or ``gains``."""
    if isinstance(weights, ClassWeights):
        return {"gains": weights.gains.tolist(), "limits": limits.plain()}
    sums = {"tp": weights.tp, "fn": weights.fn, "tn": weights.tn, "fp": weights.fp}
    return {"weights": sums, "limits": limits.plain()}
