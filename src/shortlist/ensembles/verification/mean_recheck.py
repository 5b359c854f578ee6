"""Rechecking committees that average probabilities: the answers of their members, value, limits and bound."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.averaging.mean_problem import plain_mean_problem
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows
from shortlist.ensembles.committees.evidence import PrunedSelection, certified_by
from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import class_weights
from shortlist.ensembles.pools.answers import class_shares
from shortlist.ensembles.pools.judges import columns_asked
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.ensembles.proofs.certificate import Certificate, plain_problem
from shortlist.ensembles.pruning.evidence import evidence_of_step
from shortlist.ensembles.verification.certificates.class_cut_check import check_class_certificate
from shortlist.ensembles.verification.certificates.cut_check import CutVerdict
from shortlist.ensembles.verification.certificates.mean_check import (
    check_mean_certificate,
    count_mean_selection,
)
from shortlist.ensembles.votes.class_votes import ClassCodes, class_votes, merge_class_rows
from shortlist.ensembles.votes.soft_votes import Shares, SoftVotes
from shortlist.errors import BadInputError
from shortlist.tables.fingerprints import match_rows, table_fingerprint

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


MOST_NAMED = 5
"""How many rows a sentence names before it counts the rest."""


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Where the recorded rows are in a table."""

    places: NDArray[np.intp] | None
    """Their places in the table, ``(n_recorded,)``; None where some of them cannot be told."""
    difference: str = ""
    """What is different about the table; empty if it is the one that the model was made from."""
    n_changed: int = 0
    """How many recorded rows have other values in this table."""


def find_recorded_rows(record: RecordedRows, X: Any, y: Any, *, called: str) -> FoundRows:
    """Find recorded rows in a table.

    They are where they were, or found by value, or, in a table of as many rows, in the same place.
    """
    now = table_fingerprint(X, y)
    if now == record.table:
        return FoundRows(record.rows)
    match = match_rows(record.table, now)
    places = match.places[record.rows]
    lost = np.sort(record.rows[places < 0])
    n_before, n_now = len(record.table.rows), len(now.rows)
    if not len(lost):
        return FoundRows(
            places,
            f"{_other_table(match.missing, match.extra)}; all {len(places):,} {called} are in it, and were "
            "found by their values",
        )
    which = f"{len(lost):,} of the {len(places):,} {called}"
    if n_now == n_before and np.isin(lost, match.extra).all():
        places = np.where(places < 0, record.rows, places)
        return FoundRows(
            places, f"{which} have other values in this table ({_named(lost)}, counted from 1)", len(lost)
        )
    rows = "" if n_now == n_before else f"the table has {n_now:,} rows in place of {n_before:,}, and "
    return FoundRows(None, f"{rows}{which} are not in it ({_named(lost)} of the table that it was made from)")


def unusable_answers(classifiers: Sequence[Any], X: Any) -> list[str]:
    """Say which answer of judges in a table cannot be one, such as a class that there is not.

    Judges are asked about the table as it stands, so that the sentence names a row of the table.

    `classifiers`: of those who are no judges, nothing is said. `X`: the table, ``(n_samples, n_features)``;
    one that lacks columns of the judges is passed over.
    """
    columns = columns_asked(classifiers)
    if not columns or not set(columns) <= set(getattr(X, "columns", ())):
        return []
    try:
        for judge in classifiers:
            judge.class_codes(X)
    except BadInputError as error:
        return [str(error).rpartition(". ")[0]]  # what to do about it comes last
    return []


def _other_table(missing: NDArray[np.intp], extra: NDArray[np.intp]) -> str:
    if not len(missing) and not len(extra):
        return "the rows of the table are in another order"
    if np.array_equal(missing, extra):
        return (
            f"{_counted(missing, 'has', 'have')} other values in this table ({_named(missing)}, counted "
            "from 1)"
        )
    parts = []
    if len(missing):
        parts.append(f"{_counted(missing, 'is', 'are')} missing ({_named(missing)} of the old table)")
    if len(extra):
        parts.append(f"{_counted(extra, 'is', 'are')} new ({_named(extra)} of this one)")
    return "in this table " + " and ".join(parts)


def _counted(rows: NDArray[np.intp], one: str, several: str) -> str:
    return f"1 row {one}" if len(rows) == 1 else f"{len(rows):,} rows {several}"


def _named(rows: NDArray[np.intp]) -> str:
    return f"row{'s' if len(rows) > 1 else ''} {all_of((rows + 1).tolist(), most=MOST_NAMED)}"


def other_problem(certificate: Certificate, meant: dict[str, Any]) -> list[str]:
    """Say which fields of a certificate are about something else; a proof of that proves nothing.

    `certificate`: of the model, from a file, so that any field may be missing or of any type. `meant`: the
    fields that the model's options mean, by name.
    """
    return [
        f"the certificate is about other {field} than the model"
        for field, what in meant.items()
        if not _is_as_meant(certificate.get(field), what)
    ]


def _is_as_meant(found: Any, meant: Any) -> bool:
    """Whether a field is as meant; budgets from the sum of all costs on are one limit."""
    if isinstance(found, dict) and isinstance(meant, dict) and "costs" in meant:
        all_cost, budget = sum(meant["costs"]), found.get("budget")
        if type(budget) is int and min(budget, meant["budget"]) >= all_cost:
            found, meant = found | {"budget": all_cost}, meant | {"budget": all_cost}
    return bool(found == meant)


def what_was_checked(certificate: Certificate | None) -> dict[str, Any]:
    """Return the certificate, what its parts are called, and how many there are."""
    parts = certified_by(certificate or {})
    found: Any = (certificate or {}).get(parts, ())
    n_parts = int(found) if parts == "selections" else len(found)
    return {"n_parts": n_parts, "parts": parts, "certificate": certificate}


MOST_DIFFERENCE = 1
"""Parts of 2^15 - 1 by which another machine may round a probability otherwise."""

PRUNED_ON = "rows that it was pruned on"
"""What the rows are called that fitted the members too, which answered them out of fold."""

MOST_OFF = 1e-8
"""By how much values and bounds may differ that are sums of logarithms and exponentials, for each row."""


def other_probabilities(
    chosen: Chosen, shares: Shares, rows: Any, pool: Pool | CrossFittedPool | None
) -> list[str]:
    """Ask the members, or the whole pool, again; say where they answer otherwise than on record."""
    places = np.repeat(np.arange(shares.shape[1]), chosen.copies)
    asked, recorded = (chosen.as_chosen, shares[:, places]) if pool is None else (pool, shares)
    if len(asked) != recorded.shape[1]:
        return [f"the model has {len(asked)} members, and says that it has {recorded.shape[1]}"]
    again = out_of_fold(asked, rows, class_shares).astype(np.int64)
    changed = int((np.abs(again - recorded) > MOST_DIFFERENCE).any(axis=(1, 2)).sum())
    called = PRUNED_ON if chosen.out_of_fold else "selection rows"
    said = f"on {changed:,} of {len(shares):,} {called} the classifiers find other probabilities"
    return [said] if changed else []


def recheck_means(
    chosen: Chosen, result: PrunedSelection, shares: Shares, truth: ClassCodes, limits: SelectionLimits
) -> dict[str, Any]:
    """Recompute value, limits and bound of a mean of probabilities."""
    certificate, max_copies = result.certificate, chosen.terms.max_copies
    votes = SoftVotes(shares, truth)
    goal = mean_goal(chosen.terms.goal, votes, positive=chosen.positive_place)
    meant = plain_mean_problem(goal, limits)
    plain = (votes.repeated(max_copies).shares.tolist(), truth.tolist())
    members = np.flatnonzero(chosen.copies > np.arange(max_copies)[:, None]).tolist()
    if certificate is None:
        verdict = count_mean_selection(meant | {"members": members}, *plain)
    else:
        verdict = check_mean_certificate(certificate, *plain)
        if isinstance(found := certificate.get("goal"), dict):  # 0.3.0 wrote more than is meant
            certificate = certificate | {"goal": {name: found.get(name) for name in meant["goal"]}}
    return as_claimed(
        chosen, result, verdict, certificate, meant | {"members": members},
        unit=-goal.denominator * 2**32, most_off=MOST_OFF,
    )  # fmt: skip


def as_claimed(
    chosen: Chosen,
    result: PrunedSelection,
    verdict: CutVerdict,
    certificate: Certificate | None,
    meant: dict[str, Any],
    *,
    unit: int,
    most_off: float = 0.0,
) -> dict[str, Any]:
    """Compare what was recomputed with the claims of a model, and return fields of the verification.

    `certificate`: the model's, if any, which has to be about what is `meant`, by its fields: a proof of
    another problem proves nothing. `unit`: of totals, below 0 where the objective is a loss. `most_off`: by
    how much numbers that are sums of logarithms may differ.
    """
    failures = list(verdict.failures)
    if certificate is not None:
        failures += other_problem(certificate, meant)
    sign = 1 if unit > 0 else -1
    value, bound = (None if one is None else one / unit for one in (verdict.value, verdict.bound))
    if not sign * (result.bound - result.value) >= -most_off:
        side = "below" if sign > 0 else "above"
        failures.append(f"the model claims the bound {result.bound:g}, {side} its own value {result.value:g}")
    if value is not None and not abs(value - result.value) <= most_off:
        failures.append(other_value(result.value, value))
    elif value is not None:
        value = result.value
    if bound is not None and sign * (result.bound - bound) > most_off:
        failures.append(f"the model claims the bound {result.bound:g}, the certificate proves {bound:g}")
    certified = result.certified_bound
    if most_off and bound is not None:
        if certified is None or sign * (certified - bound) < -most_off:
            failures.append(f"the model says that the certificate proves {certified}, it proves {bound:g}")
        bound = bound if failures else certified
    evidence = None
    if not failures:
        assert value is not None, "what nothing contradicts was counted"
        evidence = dataclasses.replace(chosen.evidence, value=value, certified_bound=bound)
    return {
        "failures": tuple(failures),
        "value": value,
        "bound": bound,
        "claimed_bound": result.bound,
        "evidence": evidence,
        **what_was_checked(certificate),
    }


def other_value(claimed: float, value: float) -> str:
    """Say that a model claims another value than its members have."""
    return f"the model claims the value {claimed:g}, its members are worth {value:g}"


def recheck_step(
    model: "EvolutionaryEnsembleClassifier", rows: Any, truth: Any, counted: Mapping[str, Any]
) -> dict[str, Any]:
    """Recompute what no choice among the candidates of the last exact step exceeds.

    All candidates answer the rows again; the certificate has to be about these answers, accuracy and the most
    members that the model's options say.
    """
    result, step = model.result_, model.result_.exact_step
    assert result.error_bound is not None, "there is a bound to recheck"
    claimed = {"claimed_bound": 1 - result.error_bound}
    certificate = None if step is None else step.result.certificate
    if step is None or certificate is None:
        evidence = evidence_of_step(None, result.error, result.error_bound)
        return {**counted, **claimed, "evidence": evidence if counted["evidence"] else None}
    codes = model.space_.predict(step.candidates, model.encoder_.transform(rows)).astype(np.uint8)
    votes = merge_class_rows(class_votes(codes, truth, n_classes=len(model.classes_)))
    limits = selection_limits(len(step.candidates), max_size=model.max_members)
    meant = plain_problem(class_weights("accuracy", votes), limits)
    verdict = check_class_certificate(certificate, codes.tolist(), list(truth), len(model.classes_))
    failures = [*counted["failures"], *verdict.failures, *other_problem(certificate, meant)]
    n_rows, bound = len(codes), verdict.bound
    if bound is not None and bound < n_rows - round(result.error * n_rows):
        failures.append("the members are right on more rows than the certificate allows any choice")
    if step.error_bound(n_rows) != result.error_bound:
        failures.append("the model claims another bound than its exact step")
    return {
        **counted,
        **claimed,
        "failures": tuple(failures),
        "value": counted["value"] if counted["failures"] else 1 - result.error,
        "bound": None if bound is None else 1 - (n_rows - bound) / n_rows,
        "evidence": None if failures else evidence_of_step(step.result, result.error, result.error_bound),
        **what_was_checked(certificate),
        "all_votes": True,
    }
