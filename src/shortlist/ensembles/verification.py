"""Rechecking a pruned ensemble against its data: the rows, the votes, the value, and what proves the bound."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._fit_inputs import take_rows
from shortlist.ensembles.certificate import Certificate, plain_problem, plain_utility
from shortlist.ensembles.certificate_check import Verdict, check_certificate
from shortlist.ensembles.diversity import diversity_limits
from shortlist.ensembles.estimators import ExactPruner
from shortlist.ensembles.incumbent import EnsembleSelection
from shortlist.ensembles.limits import SelectionLimits, selection_limits
from shortlist.ensembles.margin_utility import MarginUtility, most_gain, utility_scale
from shortlist.ensembles.objectives import parse_objective
from shortlist.ensembles.pool import Pool, as_pool, positive_probabilities
from shortlist.ensembles.votes import Votes, merge_rows, round_votes
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
        What cuts or lines prove, recomputed; no selection of the pool within the limits is worth more.
    claimed_bound : float
        The model's own bound: lower than `bound` where a solver, or branch and bound, proved more than the certificate does.
    n_rows, n_classifiers, n_parts : int
        What was looked at; the parts are cuts, or ranges of thresholds with lines.
    parts : str
        ``"cuts"`` or ``"lines"``.
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
    n_parts: int
    parts: str
    all_votes: bool
    certificate: Certificate

    @property
    def valid(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def verify(pruner: ExactPruner, X: Any, y: Any, *, pool: Pool | None = None) -> Verification:
    """Recheck value and bound of a fitted pruner on the table that it was made from.

    The members answer the validation rows again, and their answers and the classes must be those on record. The votes of
    the classifiers that were left out are taken from the record, unless the whole `pool` is given. The certificate
    must be about the objective and the limits that the model's options mean. Then
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
            "none. Named solvers leave none, several classes neither, nor does a slope whose proof was stopped early or has too many "
            "lines to write down. Prune two classes with --solver auto and more time, or with a smaller --max-size."
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
    merged = merge_rows(votes, record.labels)
    weights = named_weights(parse_objective(pruner.objective)[0], merged)
    meant, unit = plain_problem(weights, _limits(pruner, pool, merged)), weights.denominator
    meant["utility"], utility = None, _utility(pruner)
    if utility is not None and utility.leads:
        scale = utility_scale(merged, weights)
        meant["utility"], unit = plain_utility(utility, scale), scale * most_gain(merged, weights)
    failures += _contradictions(pruner, result, result.certificate, meant)
    failures += _false_claims(result, unit, verdict)
    parts = "cuts" if meant["utility"] is None else "lines"
    return Verification(
        tuple(failures),
        None if verdict.value is None else verdict.value / unit,
        None if verdict.bound is None else verdict.bound / unit,
        result.bound,
        len(truth),
        n_classifiers,
        len(result.certificate.get(parts, ())),
        parts,
        pool is not None,
        result.certificate,
    )


def _contradictions(
    pruner: ExactPruner, result: EnsembleSelection, certificate: Certificate, meant: dict[str, Any]
) -> list[str]:
    """Say where the certificate is about something else than the model: a proof of another problem proves nothing."""
    failures = [
        f"the certificate is about other {field} than the model's options mean"
        for field, what in meant.items()
        if certificate.get(field) != what
    ]
    members = np.flatnonzero(pruner.selection_).tolist()
    if (members, pruner.threshold_) != (certificate.get("members"), certificate.get("threshold")):
        failures.append("the certificate is about other members or another threshold than the model's")
    if not result.bound >= result.value:
        failures.append(f"the model claims the bound {result.bound:g}, below its own value {result.value:g}")
    return failures


def _false_claims(result: EnsembleSelection, unit: int, verdict: Verdict) -> list[str]:
    """Say where value and bound are not what the check recomputed."""
    failures = []
    if verdict.value is not None and verdict.value / unit != result.value:
        failures.append(
            f"the model claims the value {result.value:g}, its members are worth {verdict.value / unit:g}"
        )
    if verdict.bound is not None and result.bound > verdict.bound / unit:
        failures.append(
            f"the model claims the bound {result.bound:g}, the certificate proves {verdict.bound / unit:g}"
        )
    return failures


def _utility(pruner: ExactPruner) -> MarginUtility | None:
    """Return the utility of the model's objective, its own choice included."""
    return parse_objective(pruner.objective)[1] if pruner.choice_ is None else pruner.choice_.setting.utility


def _limits(pruner: ExactPruner, pool: Pool | None, votes: Votes) -> SelectionLimits:
    """Return what the options of the model say that a selection must keep, with the sizes that it chose by itself."""
    costs = pruner.member_costs
    if costs is None and pruner.max_cost is not None:
        whole = pool if pool is not None or pruner.pool is None else as_pool(pruner.pool)
        if whole is None:
            raise BadInputError(
                "the model has a cost limit without the costs of its classifiers. Pass the whole pool (--pool)."
            )
        costs = None if whole.costs is None else whole.costs.tolist()
    limits = selection_limits(
        votes.n_classifiers,
        min_size=pruner.min_size,
        max_size=pruner.max_size,
        member_costs=costs,
        max_cost=pruner.max_cost,
        diversity=diversity_limits(pruner.diversity, votes),
    )
    if pruner.choice_ is None:
        return limits
    chosen = pruner.choice_.setting
    return dataclasses.replace(limits, min_size=chosen.min_size, max_size=chosen.max_size)
