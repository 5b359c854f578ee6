"""Recheck of an ensemble against its data: the rows, the votes, the value, and the proof of the bound."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows
from shortlist.ensembles.committees.evidence import Evidence, cost_evidence, evidence_of_rule
from shortlist.ensembles.estimators.base import SOFT
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.proofs.certificate import Certificate
from shortlist.ensembles.verification.recheck_claims import (
    recheck_means,
    recheck_votes,
    recount_mean,
)
from shortlist.ensembles.verification.recheck_front import check_front
from shortlist.ensembles.verification.recheck_parts import other_parts, other_promise
from shortlist.ensembles.verification.recheck_selections import MOST_SELECTIONS
from shortlist.ensembles.verification.recorded_rows import (
    PRUNED_ON,
    find_recorded_rows,
    other_probabilities,
    other_votes,
    unusable_answers,
    votes_of,
)
from shortlist.ensembles.verification.refitting import FitCheck, check_evolution, check_fits
from shortlist.errors import BadInputError
from shortlist.methods.front_check import FrontCheck
from shortlist.pickles import saved_from
from shortlist.results.front import Front
from shortlist.runs.budget import Budget
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import IN_NO_FOLD

if TYPE_CHECKING:  # their kernels take seconds to load
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.estimators.rule_pruners import RulePruner


Model: TypeAlias = "Chosen | ExactPruner | RulePruner | EvolutionaryEnsembleClassifier"
"""Model whose value can be counted again."""


BY_FOLDS = (
    "value and bound rest on out-of-fold answers{}; new rows are answered by members fitted on all rows"
)
"""Sentence on a model whose members were chosen out of fold; the gap in it is filled with the source of these
answers.
"""

UNFITTED = " that the model keeps; that each was given by a member not fitted on that row was not rechecked"
FITTED = " of members that were fitted again without each fold"

FITTED_AGAIN = (
    "value and bound are those of the members when they were chosen; new rows are answered by the same "
    "members fitted again on all rows"
)
"""Sentence on a model whose members were fitted again."""


EVOLVED_ON = "rows that it was evolved on"
"""Name of the training rows of an evolved ensemble, for sentences."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of a recheck of a model."""

    failures: tuple[str, ...] = ()
    """Sentences on differences from the model's claims; empty if there is no difference."""
    notes: tuple[str, ...] = ()
    """Sentences on a different order of the rows, or on a limit that was not checked."""
    value: float | None = None
    """Value recomputed from the votes; None if it could not be recomputed."""
    bound: float | None = None
    """Bound that the rechecked certificate proves; None without a certificate."""
    claimed_bound: float | None = None
    """Bound in the model. It is lower than `bound` if a solver, or branch and bound, claims more than the
    certificate proves. None if the model claims no bound.
    """
    evidence: Evidence | None = None
    """Evidence for the recomputed value and bound; None after a failure."""
    n_rows: int
    n_classifiers: int
    n_parts: int = 0
    """Number of parts that were checked: cuts, ranges of thresholds with lines, or all selections."""
    parts: str = ""
    """Name of the checked parts: ``"cuts"``, ``"lines"``, ``"tangents"`` or ``"selections"``; empty without a
    certificate.
    """
    all_votes: bool
    """Whether the whole pool answered again; otherwise the members alone answered."""
    certificate: Certificate | None = None
    """Certificate that was checked; None without one."""
    other_table: str = ""
    """Sentence on recorded rows whose values differ in this table, although the members' answers are as
    recorded; otherwise empty.
    """
    out_of_fold: bool = False
    """Whether value and bound are based on answers out of fold."""
    doubts: tuple[str, ...] = ()
    """Sentences on members that, fitted again, differ in numbers from the members of the model."""

    @property
    def valid(self) -> bool:
        """Whether there are no failures."""
        return not self.failures

    @property
    def status(self) -> str:
        """Outcome of the recheck: ``"valid"``, ``"partly"``, ``"counted"`` or ``"invalid"``.

        ``"valid"``: all claims are right. ``"partly"``: the value and a bound are right, but a solver or
        branch and bound claims a tighter bound, which is not rechecked. ``"counted"``: the value is right,
        but no bound is proved, or there are doubts about members. ``"invalid"``: a claim is wrong.
        """
        if self.failures:
            return "invalid"
        if self.doubts:
            return "counted"
        if self.bound is None or self.claimed_bound is None:
            return "valid" if self.claimed_bound is None else "counted"
        if self.evidence is not None and self.evidence.sense == "min":
            return "valid" if self.bound >= self.claimed_bound else "partly"
        return "valid" if self.bound <= self.claimed_bound else "partly"


def verify(model: Model, X: Any, y: Any, *, pool: Pool | CrossFittedPool | None = None) -> Verification:
    """Recheck the claims of a fitted ensemble on the table that it was made from.

    The recorded rows are found by their values, so the table may be in another order. The members then answer
    the recorded rows again. If members were chosen out of fold, members fitted without the fold of a row
    answer it. The new answers of the members must equal the recorded answers. The answers of other
    classifiers are taken from the record; if `pool` is given, all its classifiers answer again. A certificate
    must be for the objective and the limits of the model's options, and ``check_certificate`` of
    :mod:`shortlist.ensembles.verification.recheck_vote_certificate`, or its counterpart for means, recomputes
    value and bound from the votes alone. Without a certificate the value is counted, the limits are checked,
    and no bound is claimed.

    Parameters
    ----------
    model : Chosen, ExactPruner, RulePruner or EvolutionaryEnsembleClassifier
        Content of a saved model, or a fitted estimator with a selection.
    X : DataFrame or array of shape (n_samples, n_features)
        Table with the rows on the model's record.
    y : array-like of shape (n_samples,)
        Classes of the rows.
    pool : Pool or CrossFittedPool, optional
        All classifiers from which the members were chosen; a CrossFittedPool if the members were chosen out
        of fold.

    Raises
    ------
    BadInputError
        If `pool` has another number of classifiers or other folds than the pool of the choice, or if the
        model has no selection.
    """
    if not hasattr(model, "training_"):
        return _verify_chosen(_chosen(model), X, y, pool)
    evolved: Any = model
    record = evolved.training_
    table = _Recorded(record, evolved.classes_, None, EVOLVED_ON)

    def recheck(rows: Any, classes: Labels) -> dict[str, Any]:
        error, costs = evolved.result_.error, evolved.error_costs_
        right = evolved.predict(rows) == classes
        if costs is None:
            counted = recount_mean(1 - error, right, lambda value: evidence_of_rule(value, EVOLVED_ON))
        else:
            counted = recount_mean(error, np.where(right, 0, np.array(costs)[record.labels]), cost_evidence)
        if counted["failures"]:
            return counted
        found = check_evolution(evolved, rows, classes)
        evidence = None if found.failures else counted["evidence"]
        told = {"failures": found.failures, "doubts": found.doubts, "notes": found.notes}
        return counted | {"evidence": evidence} | told

    return _verify_rows(
        table,
        X,
        y,
        recheck,
        looked_at=Verification(n_rows=len(record.rows), n_classifiers=len(evolved.members_), all_votes=False),
    )


def _chosen(model: Any) -> Chosen:
    if isinstance(model, Chosen):
        return model
    if reason := getattr(getattr(model, "result_", None), "reason", ""):
        raise BadInputError(f"there is nothing to verify: {reason}. Relax the limits and prune again.")
    chosen: Chosen = model.chosen_
    return chosen


@dataclass(frozen=True)
class _Recorded:
    record: RecordedRows
    classes: Labels
    positive: Any
    called: str

    def codes(self, labels: Labels) -> NDArray[np.intp]:
        """Return classes in the code of the record, ``(n_rows,)``; -1 for a class unknown to the model."""
        if self.positive is not None:
            return np.asarray(labels == self.positive).astype(np.intp)
        places = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        return np.where(self.classes[places] == labels, places, -1)


def _verify_rows(
    table: _Recorded,
    X: Any,
    y: Any,
    recheck: Callable[[Any, Labels], dict[str, Any]],
    *,
    looked_at: Verification,
    judges: tuple[Any, ...] = (),
) -> Verification:
    """Find the recorded rows in a table, and recheck the claims about these rows.

    `recheck`: function from the recorded rows and their classes to fields of :class:`Verification`.
    """
    found = find_recorded_rows(table.record, X, y, called=table.called)
    not_the_rows = f"these are not the rows that the model was made from: {found.difference}"
    if found.places is None:
        return dataclasses.replace(looked_at, failures=(not_the_rows,))
    rows, classes = take_rows(X, found.places), np.asarray(y)[found.places]
    wrong = table.codes(classes) != table.record.labels
    failures = (
        [f"{wrong.sum():,} of {len(wrong):,} {table.called} have another class in this table"]
        if wrong.any()
        else []
    )
    if not failures and found.n_changed:
        failures = unusable_answers(judges, X)
    checked = {} if failures else recheck(rows, classes)
    failures = failures or list(checked.get("other_answers", ()))
    if failures:
        first = [not_the_rows] if found.n_changed else []
        return dataclasses.replace(looked_at, failures=(*first, *failures))
    note = (
        f"{found.difference}, and the members answer them as on record"
        if found.n_changed
        else found.difference
    )
    return dataclasses.replace(
        looked_at,
        **checked
        | {
            "notes": (*filter(None, [note, *looked_at.notes]), *checked.get("notes", ())),
            "other_table": found.difference if found.n_changed else "",
        },
    )


def _verify_chosen(
    chosen: Chosen, X: Any, y: Any, pool: Pool | CrossFittedPool | None, *, its_front: bool = True
) -> Verification:
    table = _Recorded(
        chosen.record, chosen.classes_, chosen.terms.positive,
        PRUNED_ON if chosen.out_of_fold else "selection rows",
    )  # fmt: skip
    if pool is not None:
        pool = _checked_pool(chosen, pool)
    asked = chosen.committee.members if pool is None or chosen.result is None else whole_pool(pool)

    def recheck(rows: Any, classes: Labels) -> dict[str, Any]:
        checked = _recheck_chosen(chosen, rows, classes, pool)
        failures, notes = list(checked.get("failures", ())), list(checked.get("notes", ()))
        if checked.get("evidence") is not None and chosen.committee.promise is not None:
            said, unknown = other_promise(chosen, X, y, (rows, classes))
            failures, notes = failures + said, notes + unknown
        if its_front and chosen.front is not None and checked.get("evidence") is not None:
            found = check_front(chosen, chosen.front, budget=Budget())
            failures += [f"of the front of the model {sentence}" for sentence in found.failures]
            notes += filter(None, [found.unasked])
        fits = FitCheck()
        if not failures and checked.get("evidence") is not None:
            fits = check_fits(chosen, X, y)
            failures, notes = [*failures, *fits.failures], [*notes, *fits.notes]
        notes = [*_about_members(chosen, fits), *notes]
        evidence = None if failures else checked.get("evidence")
        return checked | {
            "failures": tuple(failures),
            "notes": tuple(notes),
            "doubts": fits.doubts,
            "evidence": evidence,
        }

    looked_at = Verification(
        n_rows=len(chosen.record.rows),
        n_classifiers=len(chosen.copies),
        all_votes=pool is not None,
        out_of_fold=chosen.out_of_fold,
    )
    return _verify_rows(table, X, y, recheck, looked_at=looked_at, judges=tuple(asked.classifiers))


def _recheck_chosen(
    chosen: Chosen, rows: Any, classes: Labels, pool: Pool | CrossFittedPool | None
) -> dict[str, Any]:
    record, failures = chosen.record, list[str]()
    unknown = sorted({*map(str, classes)} - {*map(str, chosen.classes_)})
    if unknown:
        told = (
            f"the model tells {all_of(chosen.classes_)} apart, where the rows are of {all_of(unknown)}, too"
        )
        return {"other_answers": [told]}
    votes = None if chosen.result is None or chosen.voting == SOFT else votes_of(chosen, rows, pool)
    if votes is not None:
        failures = other_votes(chosen, votes, rows, pool)
    if record.shares is not None:
        failures = failures or other_probabilities(chosen, record.shares, rows, pool)
    if failures:
        return {"other_answers": failures}
    checked = _recheck_value(chosen, rows, classes, votes)
    if not checked["failures"]:
        failures = other_parts(chosen, rows, np.searchsorted(chosen.classes_, classes), votes)
    return checked | {"failures": tuple(failures), "evidence": None} if failures else checked


def _recheck_value(
    chosen: Chosen, rows: Any, classes: Labels, votes: NDArray[np.uint8] | None
) -> dict[str, Any]:
    record = chosen.record
    if chosen.result is None:
        counted_from = chosen.evidence.counted_from
        right = chosen.predict_as_chosen(rows)[0] == classes
        counted = recount_mean(
            chosen.accuracy, right, lambda value: evidence_of_rule(value, counted_from=counted_from)
        )
        if chosen.error_costs_ is None or counted["failures"]:
            return counted
        costs = np.array(chosen.error_costs_)[np.searchsorted(chosen.classes_, classes)]
        return recount_mean(
            chosen.evidence.value, np.where(right, 0, costs),
            lambda value: cost_evidence(value, "selection rows", counted_from=counted_from),
        )  # fmt: skip
    if votes is not None:
        return recheck_votes(chosen, chosen.result, votes)
    assert record.shares is not None, "soft votes are on record"
    truth = np.searchsorted(chosen.classes_, classes).astype(np.uint8)
    return recheck_means(chosen, chosen.result, record.shares, truth)


def recheck_committees(
    chosen: Chosen,
    front: Front,
    X: Any,
    y: Any,
    *,
    pool: Pool | CrossFittedPool | None = None,
    budget: Budget | None = None,
    most: int = MOST_SELECTIONS,
) -> FrontCheck:
    """Recheck a front of committees, and the model that was saved with the front.

    Raises BadInputError if the front is of other candidates than the model, or lacks the prices of its
    members.

    `chosen`: model with the selection rows and the answers of every candidate. `front`: front by
    :class:`~shortlist.ensembles.estimators.front_pruner.FrontPruner`. `X`, `y`: table that the model and the
    front were made from; the members of `chosen`, or all classifiers of `pool`, answer its rows again.
    `pool`: all candidates. `budget`, `most`: as for
    :func:`~shortlist.ensembles.verification.recheck_front.check_front`.
    """
    budget = budget or Budget()
    rows = _verify_chosen(chosen, X, y, pool, its_front=False)
    if rows.failures:
        facts = FrontCheck(rows.failures, len(front), front.proof.kind)
        return dataclasses.replace(facts, seconds=budget.elapsed)
    return check_front(chosen, front, budget=budget, most=most)


def _checked_pool(chosen: Chosen, pool: Pool | CrossFittedPool) -> Pool | CrossFittedPool:
    """Return the pool, after a check that it can answer the recorded rows as the pool of the choice.

    Raises BadInputError if the pool has another number of classifiers, or other folds.
    """
    if len(pool) != len(chosen.copies):
        raise BadInputError(
            f"the pool must hold the {len(chosen.copies)} classifiers that were chosen from, got {len(pool)}."
        )
    crossed = chosen.as_chosen
    if not isinstance(crossed, CrossFittedPool):
        return whole_pool(pool)
    if isinstance(pool, CrossFittedPool):
        pool = pool.of_rows(np.flatnonzero(pool.fold_of != IN_NO_FOLD))
        if np.array_equal(pool.fold_of, crossed.fold_of):
            return pool
    raise BadInputError(
        "members were chosen by answers out of fold, which the pool that was given cannot repeat. Leave pool "
        "out, or pass the CrossFittedPool that they were chosen from."
    )


def _about_members(chosen: Chosen, fits: FitCheck) -> Iterator[str]:
    if chosen.out_of_fold:
        yield BY_FOLDS.format(FITTED if fits.is_same else UNFITTED)
    elif chosen.refitted:
        yield FITTED_AGAIN
