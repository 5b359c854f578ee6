"""Rechecking a pruned ensemble against its data: the rows, the votes, the value, and what proves the bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.ensembles.certificate import Certificate
from shortlist.ensembles.certificate_check import check_certificate
from shortlist.ensembles.estimators import ExactPruner
from shortlist.ensembles.fit_inputs import take_rows
from shortlist.ensembles.incumbent import EnsembleSelection
from shortlist.ensembles.objectives import parse_objective
from shortlist.ensembles.pool import Pool, positive_probabilities
from shortlist.ensembles.votes import merge_rows, round_votes
from shortlist.ensembles.weights import named_weights
from shortlist.errors import BadInputError


@dataclass(frozen=True)
class Verification:
    """What rechecking found.

    Attributes
    ----------
    failures : tuple of str
        A sentence for each thing that is not as the model claims; empty when all is.
    value : float or None
        Recomputed from the votes; None where that was not possible.
    bound : float or None
        What the cuts prove, recomputed; no selection of the pool is worth more.
    claimed_bound : float
        The model's own bound: lower than `bound` where a solver proved more than the cuts do.
    n_rows, n_classifiers, n_cuts : int
        What was looked at.
    all_votes : bool
        Whether the votes of the whole pool were asked for again, and not those of the members alone.
    certificate : dict
        What was checked.
    """

    failures: tuple[str, ...]
    value: float | None
    bound: float | None
    claimed_bound: float
    n_rows: int
    n_classifiers: int
    n_cuts: int
    all_votes: bool
    certificate: Certificate

    @property
    def valid(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def verify(pruner: ExactPruner, X: Any, y: Any, *, pool: Pool | None = None) -> Verification:
    """Recheck value and bound of a fitted pruner on the table that it was made from.

    The members answer the validation rows again, and their answers and the classes must be those on record. The votes of
    the classifiers that were left out are taken from the record, unless the whole `pool` is given. Then
    :func:`shortlist.ensembles.certificate_check.check_certificate` recomputes value and bound from the votes alone.

    Parameters
    ----------
    pruner : ExactPruner
        Fitted with ``solver="auto"``; others leave no certificate.
    X : DataFrame or array of shape (n_samples, n_features)
        The rows that ``validation_.rows`` counts in.
    y : array-like of shape (n_samples,)
        Their classes.
    pool : Pool, optional
        All classifiers that were chosen from.

    Raises
    ------
    BadInputError
        If there is no certificate, or the table has too few rows or the pool too few classifiers to be the ones meant.
    """
    result, record = pruner.result_, pruner.validation_
    if not isinstance(result, EnsembleSelection) or record is None or result.certificate is None:
        raise BadInputError(
            f"verify needs a certificate, but objective {result.objective.name!r} with solver {pruner.solver!r} leaves "
            "none. Prune two classes with --solver auto and an objective without a slope."
        )
    n_classifiers = len(pruner.selection_)
    if len(y) <= int(record.rows.max()):
        raise BadInputError(
            f"the table must be the one that the model was made from, with row {int(record.rows.max())}, got {len(y)} rows."
        )
    if pool is not None and len(pool) != n_classifiers:
        raise BadInputError(
            f"the pool must hold the {n_classifiers} classifiers that were chosen from, got {len(pool)}."
        )
    rows = take_rows(X, record.rows)
    votes = np.unpackbits(record.packed_votes, axis=1, count=n_classifiers)
    failures = []
    truth = np.asarray(np.asarray(y)[record.rows] == pruner.positive_).astype(np.uint8)
    if changed := int((truth != record.labels).sum()):
        failures.append(f"{changed} of {len(truth)} validation rows have another class in this table")
    asked, recorded = (pruner.pool_, votes[:, pruner.selection_]) if pool is None else (pool, votes)
    again = round_votes(positive_probabilities(asked, rows, pruner.positive_)) if len(asked) else recorded
    if changed := int((again != recorded).any(axis=1).sum()):
        failures.append(f"on {changed} of {len(truth)} validation rows the classifiers vote otherwise")
    verdict = check_certificate(result.certificate, votes.tolist(), truth.tolist())
    failures += verdict.failures
    weights = named_weights(parse_objective(pruner.objective)[0], merge_rows(votes, record.labels))
    if verdict.value is not None and weights.value(verdict.value) != result.value:
        failures.append(
            f"the model claims the value {result.value:g}, its members are worth {weights.value(verdict.value):g}"
        )
    members = np.flatnonzero(pruner.selection_).tolist()
    if (members, pruner.threshold_) != (result.certificate["members"], result.certificate["threshold"]):
        failures.append("the certificate is about other members or another threshold than the model's")
    if verdict.bound is not None and result.bound > weights.value(verdict.bound):
        failures.append(
            f"the model claims the bound {result.bound:g}, the cuts prove {weights.value(verdict.bound):g}"
        )
    return Verification(
        tuple(failures),
        None if verdict.value is None else weights.value(verdict.value),
        None if verdict.bound is None else weights.value(verdict.bound),
        result.bound,
        len(truth),
        n_classifiers,
        len(result.certificate["cuts"]),
        pool is not None,
        result.certificate,
    )
