"""Certificates of means of probabilities: value and bound of a selection, and the tangents that prove it."""

import hashlib
from collections.abc import Sequence

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_problem import MeanProblem
from shortlist.ensembles.averaging.mean_tree import Tangents
from shortlist.ensembles.goals.mean_goals import MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.certificate import FORMAT, Certificate, plain_limits
from shortlist.ensembles.votes.soft_votes import SoftVotes


def mean_certificate(problem: MeanProblem, mask: Mask, total: int, cover: Sequence[Tangents]) -> Certificate:
    """Write down what is claimed of a selection, and the tangents that prove a bound.

    Value and bound are totals: of right rows sums of gains, otherwise in parts of 2^32, a loss with minus.
    :func:`shortlist.ensembles.audit.mean_check.check_mean_certificate` says how they are checked.

    Parameters
    ----------
    problem : MeanProblem
        Of what.
    mask : ndarray of bool, shape (n_classifiers,)
        The selection.
    total : int
        What it is worth.
    cover : sequence of Tangents
        Of every size.
    """
    starts = problem.terms.starts[:-1]
    return {
        "format": FORMAT,
        "data": mean_fingerprint(problem.votes),
        **plain_mean_problem(problem.goal, problem.limits),
        "members": np.flatnonzero(mask).tolist(),
        "value": total,
        "bound": max(problem.whole_bound(part.bound) for part in cover),
        "tangents": [
            {
                "first": part.first,
                "last": part.last,
                "forms": (part.forms - starts).tolist(),
                "tilts": part.tilts.tolist(),
            }
            for part in cover
        ],
    }


def plain_mean_problem(goal: MeanGoal, limits: SelectionLimits) -> Certificate:
    """Return the fields ``goal`` and ``limits``, which say what a certificate is of."""
    plain = {
        "kind": goal.kind,
        "slope": goal.slope,
        "gains": goal.gains.tolist(),
        "offset": goal.offset,
    }
    return {"goal": plain, "limits": plain_limits(limits)}


def mean_fingerprint(votes: SoftVotes) -> str:
    """Return the SHA-256 of the rows, as the audit defines it."""
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    little = votes.shares.astype("<i2")
    for label, row in zip(votes.labels.tolist(), little, strict=True):
        digest.update(bytes([label]) + row.tobytes())
    return digest.hexdigest()
