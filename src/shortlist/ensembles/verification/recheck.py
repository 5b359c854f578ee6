"""Rechecking an ensemble against its data: the rows, the votes, the value, and what proves the bound."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.ensembles.audit.class_cut_check import check_class_certificate, count_class_selection
from shortlist.ensembles.audit.cut_check import Verdict, check_certificate, count_selection
from shortlist.ensembles.estimators.base import SOFT
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.recorded_rows import RecordedRows
from shortlist.ensembles.goals.class_weights import weights_of
from shortlist.ensembles.goals.diversity import DiversityLimits, class_diversity_limits, diversity_limits
from shortlist.ensembles.goals.margin_worth import MarginUtility, most_gain, utility_scale
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.pools.class_answers import class_answers
from shortlist.ensembles.pools.pool import Pool, positive_votes
from shortlist.ensembles.pools.refit import CrossFittedPool, out_of_fold, whole_pool
from shortlist.ensembles.proofs.certificate import (
    Certificate,
    plain_class_problem,
    plain_problem,
    plain_utility,
)
from shortlist.ensembles.proofs.incumbent import PrunedSelection
from shortlist.ensembles.pruning.evidence import (
    Evidence,
    certified_by,
    evidence_of,
    evidence_of_rule,
    selections_meant,
)
from shortlist.ensembles.pruning.pruning import parse_objective
from shortlist.ensembles.verification.calibration_recheck import other_calibration
from shortlist.ensembles.verification.evolved_recheck import recheck_step
from shortlist.ensembles.verification.mean_recheck import (
    as_chosen,
    other_probabilities,
    recheck_means,
    rows_of,
)
from shortlist.ensembles.verification.problem_check import other_problem
from shortlist.ensembles.verification.row_check import find_recorded_rows, unusable_answers
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.ensembles.votes.class_votes import ClassVotes, class_votes, merge_class_rows
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import IN_NO_FOLD

if TYPE_CHECKING:  # their kernels take seconds to load
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.estimators.rule_pruners import RulePruner

Model: TypeAlias = "ExactPruner | RulePruner | EvolutionaryEnsembleClassifier"
"""What has a value that can be counted again."""

BY_FOLDS = (
    "value and bound are of answers out of fold, by the members as they were fitted without each fold; the "
    "model keeps these, and that they saw no row of their fold was not rechecked; those that answer new rows "
    "were fitted on all rows"
)
"""What is said of models whose members were chosen so."""

FITTED_AGAIN = (
    "value and bound are of the members as they were chosen; those that answer new rows were fitted again on "
    "all rows"
)
"""What is said of models whose members were."""

EVOLVED_ON = "rows that it was evolved on"
"""What the rows of an evolved ensemble are called."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, kw_only=True)
class Verification:
    """What rechecking found.

    Attributes
    ----------
    failures : tuple of str
        A sentence for each thing that is not as the model claims; empty when all is.
    notes : tuple of str
        What should be known beside: another order of the rows, or a limit that was not checked.
    value : float or None
        Recomputed from the votes; None where that was not possible.
    bound : float or None
        What cuts or lines prove, recomputed; no selection of the pool within the limits is worth more. None
        without a certificate.
    claimed_bound : float or None
        The model's own bound: lower than `bound` where a solver, or branch and bound, claims more than the
        certificate proves. None where the model claims none.
    evidence : Evidence or None
        What is known in all, for the recomputed value and bound; None where something failed.
    n_rows, n_classifiers, n_parts : int
        What was looked at; the parts are cuts, ranges of thresholds with lines, or all selections.
    parts : str
        ``"cuts"``, ``"lines"``, ``"tangents"``, ``"selections"``, or empty without a certificate.
    all_votes : bool
        Whether the votes of the whole pool were asked for again, and not those of the members alone.
    certificate : dict or None
        What was checked.
    other_table : str
        Which recorded rows have other values in this table, though the members answer them as on record; else
        empty.
    out_of_fold : bool
        Whether value and bound are of answers out of fold.
    """

    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    value: float | None = None
    bound: float | None = None
    claimed_bound: float | None = None
    evidence: Evidence | None = None
    n_rows: int
    n_classifiers: int
    n_parts: int = 0
    parts: str = ""
    all_votes: bool
    certificate: Certificate | None = None
    other_table: str = ""
    out_of_fold: bool = False

    @property
    def valid(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def status(self) -> str:
        """What was rechecked: ``"valid"`` for all that is claimed, ``"invalid"`` where something is wrong.

        ``"partly"``: the value and a bound are right, and a solver or branch and bound claims more than that
        bound. ``"counted"``: the value is right, and nothing proves a bound.
        """
        if self.failures:
            return "invalid"
        if self.bound is None or self.claimed_bound is None:
            return "valid" if self.claimed_bound is None else "counted"
        if self.evidence is not None and self.evidence.sense == "min":
            return "valid" if self.bound >= self.claimed_bound else "partly"
        return "valid" if self.bound <= self.claimed_bound else "partly"


def verify(model: Model, X: Any, y: Any, *, pool: Pool | CrossFittedPool | None = None) -> Verification:
    """Recheck what a fitted ensemble claims on the table that it was made from.

    First the rows: a table in another order is no obstacle, as rows are found by their values. Then the
    members answer the recorded rows again, those that pruned out of fold by the members as fitted without
    their folds. With two classes their votes must be those on record; the votes of the classifiers that were
    left out are taken from the record, unless the whole `pool` is given. Where there is a certificate, it
    must be about the objective and the limits that the model's options mean, and
    :func:`shortlist.ensembles.audit.cut_check.check_certificate` recomputes value and bound from the votes
    alone. Where there is none, the value is counted and the limits are checked, and nothing is said of a
    bound. With several classes the same holds of the answers of all classifiers, and
    :func:`shortlist.ensembles.audit.class_cut_check.check_class_certificate` recomputes.

    Parameters
    ----------
    model : ExactPruner, RulePruner or EvolutionaryEnsembleClassifier
        Fitted, with a selection.
    X : DataFrame or array of shape (n_samples, n_features)
        The rows that the model's record counts in.
    y : array-like of shape (n_samples,)
        Their classes.
    pool : Pool or CrossFittedPool, optional
        All classifiers that were chosen from; the latter where rows pruned out of fold.

    Raises
    ------
    BadInputError
        If `pool` has another number of classifiers than were chosen from or other folds, or the model chose
        nothing.
    """
    if reason := getattr(getattr(model, "result_", None), "reason", ""):
        raise BadInputError(f"there is nothing to verify: {reason}. Relax the limits and prune again.")
    called, record, n_classifiers = _recorded(model)
    if pool is not None:
        pool = _checked_pool(model, pool, n_classifiers)
    found = find_recorded_rows(record, X, y, called=called)
    looked_at = Verification(
        n_rows=len(record.rows),
        n_classifiers=n_classifiers,
        all_votes=pool is not None,
        out_of_fold=getattr(model, "cross_fitted_", None) is not None,
    )
    not_the_rows = f"these are not the rows that the model was made from: {found.difference}"
    if found.places is None:
        return dataclasses.replace(looked_at, failures=(not_the_rows,))
    rows, classes = take_rows(X, found.places), np.asarray(y)[found.places]
    wrong = _class_of(model, classes) != record.labels
    failures = (
        [f"{wrong.sum():,} of {len(wrong):,} {called} have another class in this table"]
        if wrong.any()
        else []
    )
    if not failures and found.n_changed:
        failures = unusable_answers(_asked(model, pool), X)
    votes = None if failures else _votes_of(model, record, rows, pool)
    if not failures:
        failures = _other_answers(model, record, votes, rows, pool) or other_calibration(model, rows, classes)
    if failures:
        first = [not_the_rows] if found.n_changed else []
        return dataclasses.replace(looked_at, failures=(*first, *failures))
    if not isinstance(model, ExactPruner):
        checked = _recount_accuracy(model, rows, classes, called)
        if getattr(getattr(model, "result_", None), "error_bound", None) is not None:
            checked = recheck_step(model, rows, record.labels, checked)
    elif votes is None:
        assert record.shares is not None, "soft votes are on record"
        limits = _limits(model, pool, n_classifiers * model.max_copies, None)
        truth = np.searchsorted(model.classes_, classes).astype(np.uint8)
        checked = recheck_means(model, record.shares, truth, limits)
    else:
        checked = _recheck(model, votes, record.labels, pool)
    note = (
        f"{found.difference}, and the members answer them as on record"
        if found.n_changed
        else found.difference
    )
    return dataclasses.replace(
        looked_at,
        **checked
        | {
            "notes": (*filter(None, [note, *_about_members(model)]), *checked.get("notes", ())),
            "other_table": found.difference if found.n_changed else "",
        },
    )


def _checked_pool(model: "Model", pool: Pool | CrossFittedPool, n_classifiers: int) -> Pool | CrossFittedPool:
    """Return a pool that can answer the recorded rows as it did when members were chosen from it."""
    if len(pool) != n_classifiers:
        raise BadInputError(
            f"the pool must hold the {n_classifiers} classifiers that were chosen from, got {len(pool)}."
        )
    crossed: CrossFittedPool | None = getattr(model, "cross_fitted_", None)
    if crossed is None:
        return whole_pool(pool)
    if isinstance(pool, CrossFittedPool):
        pool = pool.of_rows(np.flatnonzero(pool.fold_of != IN_NO_FOLD))
        if np.array_equal(pool.fold_of, crossed.fold_of):
            return pool
    raise BadInputError(
        "members were chosen by answers out of fold, which the pool that was given cannot repeat. Leave pool "
        "out, or pass the CrossFittedPool that they were chosen from."
    )


def _asked(model: "Model", pool: Pool | CrossFittedPool | None) -> tuple[Any, ...]:
    """Return the classifiers that answer the rows again; none of an evolved ensemble, which has no pool."""
    if pool is None or not isinstance(model, ExactPruner):
        pool = getattr(model, "pool_", None)
    return () if pool is None else tuple(whole_pool(pool).classifiers)


def _about_members(model: "Model") -> Iterator[str]:
    """Say how the members that were checked differ from those that answer."""
    if not isinstance(model, ExactPruner):
        return
    chosen = as_chosen(model)
    if isinstance(chosen, CrossFittedPool):
        yield BY_FOLDS
    elif chosen is not model.pool_:
        yield FITTED_AGAIN


def _recorded(model: "Model") -> tuple[str, RecordedRows, int]:
    """Return the name of the model's rows, their record, and how many classifiers were chosen from."""
    if hasattr(model, "training_"):
        step = model.result_.exact_step
        return EVOLVED_ON, model.training_, len(model.members_ if step is None else step.candidates)
    return rows_of(model), model.validation_, len(model.selection_)


def _votes_of(
    model: "Model", record: RecordedRows, rows: Any, pool: Pool | CrossFittedPool | None
) -> NDArray[np.uint8] | None:
    """Return the votes, or the classes answered, that are on record; None where the value is not of votes."""
    if not isinstance(model, ExactPruner) or model.voting_ == SOFT:
        return None
    if record.packed_votes is not None:
        return np.unpackbits(record.packed_votes, axis=1, count=len(model.selection_))
    codes = record.codes
    if codes is None:
        if pool is None:
            raise BadInputError("the model has no record of the answers. Pass the whole pool as `pool=POOL`.")
        codes = out_of_fold(pool, rows, class_answers)
    return codes


def _other_answers(
    model: "Model",
    record: RecordedRows,
    votes: NDArray[np.uint8] | None,
    rows: Any,
    pool: Pool | CrossFittedPool | None,
) -> list[str]:
    """Say where the members, or the whole pool, answer otherwise than on record."""
    if not isinstance(model, ExactPruner):
        return []
    shares = record.shares
    failures = [] if votes is None else _other_votes(model, votes, rows, pool)
    return failures or ([] if shares is None else other_probabilities(model, shares, rows, pool))


def _class_of(model: "Model", classes: Labels) -> NDArray[np.intp]:
    """Return classes as a record has them; -1 for one that the model does not know."""
    if getattr(model, "positive_", None) is not None:
        return np.asarray(classes == model.positive_).astype(np.intp)
    known = model.classes_
    places = np.minimum(np.searchsorted(known, classes), len(known) - 1)
    return np.where(known[places] == classes, places, -1)


def _other_votes(
    pruner: ExactPruner, votes: NDArray[np.uint8], rows: Any, pool: Pool | CrossFittedPool | None
) -> list[str]:
    """Ask the members, or the whole pool, again; say where they vote otherwise than on record."""
    asked, recorded = (as_chosen(pruner), votes[:, pruner.selection_]) if pool is None else (pool, votes)
    again = recorded
    if len(asked):
        two = pruner.positive_ is not None
        ask = partial(positive_votes, positive=pruner.positive_) if two else class_answers
        again = out_of_fold(asked, rows, ask)
    changed = int((again != recorded).any(axis=1).sum())
    return (
        [f"on {changed:,} of {len(votes):,} {rows_of(pruner)} the classifiers vote otherwise"]
        if changed
        else []
    )


def _recheck(
    pruner: ExactPruner,
    answers: NDArray[np.uint8],
    truth: NDArray[np.uint8],
    pool: Pool | CrossFittedPool | None,
) -> dict[str, Any]:
    """Recompute value, limits and bound of a vote against a threshold, or of a plurality vote."""
    result, two = pruner.result_, pruner.positive_ is not None
    n_classes = len(pruner.classes_)
    votes: Votes | ClassVotes
    if two:
        votes = merge_rows(answers, truth)
        diversity = diversity_limits(pruner.diversity, votes)
    else:
        votes = merge_class_rows(class_votes(answers, truth, n_classes=n_classes))
        diversity = class_diversity_limits(pruner.diversity, votes)
    weights = weights_of(parse_objective(pruner.goal, n_classes=n_classes)[0], votes)
    limits = _limits(pruner, pool, votes.n_classifiers, diversity)
    meant = (
        plain_problem(weights, limits)
        if isinstance(weights, Weights)
        else plain_class_problem(weights, limits)
    )
    meant["utility"], utility, unit = None, _utility(pruner), weights.denominator
    if utility is not None and utility.leads:
        scale = utility_scale(votes, weights)
        meant["utility"], unit = plain_utility(utility, scale), scale * most_gain(votes, weights)
    certificate, plain = result.certificate, (answers.tolist(), truth.tolist())
    if certificate is None:
        chosen: dict[str, Any] = {"members": np.flatnonzero(pruner.selection_).tolist()}
        chosen |= {"threshold": result.threshold} if two else {}
        claim = chosen | {name: field for name, field in meant.items() if field is not None}
        verdict = count_selection(claim, *plain) if two else count_class_selection(claim, *plain, n_classes)
    elif two:
        verdict = check_certificate(certificate, *plain)
    else:
        verdict = check_class_certificate(certificate, *plain, n_classes)
    failures = list(verdict.failures)
    if certificate is not None:
        failures += _contradictions(pruner, certificate, meant)
    failures += _false_claims(result, unit, verdict)
    value, bound = (None if one is None else one / unit for one in (verdict.value, verdict.bound))
    return {
        "failures": tuple(failures),
        "value": value,
        "bound": bound,
        "claimed_bound": result.bound,
        "evidence": None
        if failures
        else _rechecked(
            evidence_of(result, pruner.solver, selections_meant(pruner), pruner.counted_on), value, bound
        ),
        "n_parts": _n_parts(certificate),
        "parts": certified_by(certificate or {}),
        "certificate": certificate,
    }


def _n_parts(certificate: Certificate | None) -> int:
    """Count what proves the bound of a certificate."""
    if certificate is None or not (parts := certified_by(certificate)):
        return 0
    return int(certificate[parts]) if parts == "selections" else len(certificate[parts])


def _recount_accuracy(model: Any, rows: Any, classes: Labels, called: str) -> dict[str, Any]:
    """Count how many rows the members decide right: all that a rule, or evolution, claims."""
    claimed = model.accuracy_ if hasattr(model, "accuracy_") else 1 - model.result_.error
    value = int(np.count_nonzero(model.predict(rows) == classes)) / len(classes)
    right = round(claimed * len(classes)) == round(value * len(classes))
    counted_from = "probabilities" if getattr(model, "averages", False) else "votes"
    return {
        "failures": () if right else (_other_value(claimed, value),),
        "value": value,
        "evidence": evidence_of_rule(value, called, counted_from=counted_from) if right else None,
    }


def _rechecked(claimed: Evidence, value: float | None, bound: float | None) -> Evidence:
    """Put what was recomputed in the place of what is claimed."""
    assert value is not None, "what nothing contradicts was counted"
    return dataclasses.replace(claimed, value=value, certified_bound=bound)


def _contradictions(pruner: ExactPruner, certificate: Certificate, meant: dict[str, Any]) -> list[str]:
    """Say where the certificate is about something else than the model.

    A proof of another problem proves nothing.
    """
    failures = other_problem(certificate, meant)
    members = np.flatnonzero(pruner.selection_).tolist()
    found = certificate.get("members"), certificate.get("threshold")
    if (members, getattr(pruner.result_, "threshold", None)) != found:
        failures.append("the certificate is about other members or another threshold than the model's")
    return failures


def _false_claims(result: PrunedSelection, unit: int, verdict: Verdict) -> list[str]:
    """Say where value and bound are not what the check recomputed."""
    failures = [] if result.bound >= result.value else [_low_bound(result)]
    if verdict.value is not None and verdict.value / unit != result.value:
        failures.append(_other_value(result.value, verdict.value / unit))
    if verdict.bound is not None and result.bound > verdict.bound / unit:
        failures.append(
            f"the model claims the bound {result.bound:g}, the certificate proves {verdict.bound / unit:g}"
        )
    return failures


def _other_value(claimed: float, value: float) -> str:
    return f"the model claims the value {claimed:g}, its members are worth {value:g}"


def _low_bound(result: PrunedSelection) -> str:
    return f"the model claims the bound {result.bound:g}, below its own value {result.value:g}"


def _utility(pruner: ExactPruner) -> MarginUtility | None:
    """Return the utility of the model's objective, its own choice included."""
    if pruner.choice_ is not None:
        return pruner.choice_.setting.utility
    return parse_objective(pruner.goal, n_classes=len(pruner.classes_))[1]


def _limits(
    pruner: ExactPruner,
    pool: Pool | CrossFittedPool | None,
    n_classifiers: int,
    diversity: DiversityLimits | None,
) -> SelectionLimits:
    """Return the limits that the model's options set, with the sizes that it chose by itself."""
    costs = pruner.member_costs
    if costs is None and pruner.max_cost is not None:
        whole = pool if pool is not None or pruner.pool is None else whole_pool(pruner.pool)
        if whole is None:
            raise BadInputError(
                "the model has a cost limit without the costs of its classifiers. Pass the whole "
                "pool as `pool=POOL`."
            )
        known = whole_pool(whole).costs
        costs = None if known is None else known.tolist()
    limits = selection_limits(
        n_classifiers,
        min_size=pruner.min_size,
        max_size=pruner.max_size,
        member_costs=costs,
        max_cost=pruner.max_cost,
        diversity=diversity,
    )
    if pruner.choice_ is None:
        return limits
    chosen = pruner.choice_.setting
    return dataclasses.replace(limits, min_size=chosen.min_size, max_size=chosen.max_size)
