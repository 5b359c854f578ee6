"""Recheck of a model's claims about its recorded answers: value, limits and bound."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.evidence import Evidence, PrunedSelection, certified_by
from shortlist.ensembles.goals.diversity import DiversityLimits, diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import weights_of
from shortlist.ensembles.proofs.certificate import Certificate, plain_problem
from shortlist.ensembles.pruning.mean_problem import mean_goal, plain_mean_problem
from shortlist.ensembles.pruning.problems import PruningProblem, problem_of
from shortlist.ensembles.pruning.pruning import parse_objective
from shortlist.ensembles.verification.recheck_mean_certificate import (
    check_mean_certificate,
    count_mean_selection,
)
from shortlist.ensembles.verification.recheck_vote_certificate import (
    CertificateVerdict,
    check_certificate,
    count_selection,
)
from shortlist.ensembles.votes.hard_votes import (
    ClassCodes,
    ClassVotes,
    Votes,
    class_votes,
    merge_class_rows,
    merge_rows,
)
from shortlist.ensembles.votes.soft_votes import Shares, SoftVotes

MOST_OFF = 1e-8
"""Tolerance per row on values and bounds that are sums of logarithms and exponentials."""


def recheck_votes(chosen: Chosen, result: PrunedSelection, answers: NDArray[np.uint8]) -> dict[str, Any]:
    """Return the recomputed value, limits and bound of a vote, compared with the model.

    The dict holds fields of :class:`Verification`. The vote is with a threshold, or by plurality.
    """
    truth, n_classes = chosen.record.labels, len(chosen.classes_)
    two = chosen.terms.positive is not None
    problem = vote_problem(chosen, answers)
    weights = problem.weights
    claim = plain_problem(weights, problem.limits)
    claim |= {"members": np.flatnonzero(chosen.selection).tolist(), "threshold": result.threshold}
    certificate = result.certificate
    check, checked = (count_selection, claim) if certificate is None else (check_certificate, certificate)
    verdict = check(checked, answers.tolist(), truth.tolist(), None if two else n_classes)
    return as_claimed(chosen, result, verdict, certificate, claim, unit=weights.denominator)


def vote_problem(chosen: Chosen, answers: NDArray[np.uint8]) -> PruningProblem:
    """Return the problem that exact pruning solved, from all answers on the recorded rows."""
    terms, truth, n_classes = chosen.terms, chosen.record.labels, len(chosen.classes_)
    votes: Votes | ClassVotes = (
        merge_class_rows(class_votes(answers, truth, n_classes=n_classes))
        if terms.positive is None
        else merge_rows(answers, truth)
    )
    weights = weights_of(parse_objective(terms.goal, n_classes=n_classes), votes)
    limits = limits_of(chosen, votes.n_classifiers, diversity_limits(terms.diversity, votes))
    return problem_of(votes, weights, limits)


def recheck_means(
    chosen: Chosen, result: PrunedSelection, shares: Shares, truth: ClassCodes
) -> dict[str, Any]:
    """Return the recomputed value, limits and bound of a mean of probabilities, compared with the model.

    The dict holds fields of :class:`Verification`.
    """
    certificate, votes = result.certificate, SoftVotes(shares, truth)
    goal = mean_goal(chosen.terms.goal, votes, positive=chosen.positive_place)
    claim = plain_mean_problem(goal, limits_of(chosen, len(chosen.copies), None))
    claim |= {"members": np.flatnonzero(chosen.copies).tolist()}
    plain = votes.shares.tolist(), truth.tolist()
    if certificate is None:
        verdict = count_mean_selection(claim, *plain)
    else:
        verdict = check_mean_certificate(certificate, *plain)
        if isinstance(found := certificate.get("goal"), dict):  # 0.3.0 wrote more than is meant
            certificate = certificate | {"goal": {name: found.get(name) for name in claim["goal"]}}
    unit = -goal.denominator * 2**32
    return as_claimed(chosen, result, verdict, certificate, claim, unit=unit, most_off=MOST_OFF)


def limits_of(chosen: Chosen, n_classifiers: int, diversity: DiversityLimits | None) -> SelectionLimits:
    """Return the limits on a selection that follow from the options of a model."""
    terms = chosen.terms
    return selection_limits(
        n_classifiers,
        min_size=terms.min_size,
        max_size=terms.max_size,
        member_costs=None if terms.max_cost is None else terms.member_costs,  # a front has prices, no budget
        max_cost=terms.max_cost,
        diversity=diversity,
    )


def as_claimed(
    chosen: Chosen,
    result: PrunedSelection,
    verdict: CertificateVerdict,
    certificate: Certificate | None,
    meant: dict[str, Any],
    *,
    unit: int,
    most_off: float = 0.0,
) -> dict[str, Any]:
    """Return the comparison of recomputed numbers with a model's claims, as fields of :class:`Verification`.

    `certificate`: certificate of the model, if any. Each of its fields must agree with the problem in
    `meant`, as a proof of another problem proves nothing. `unit`: unit of totals, below 0 where the objective
    is a loss. `most_off`: tolerance on sums of logarithms.
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
    if not most_off and certified != bound:
        failures.append(f"the model says that its certificate proves {certified}, it proves {bound}")
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
    """Return a sentence that the value in the model differs from the value of its members."""
    return f"the model claims the value {claimed:g}, its members are worth {value:g}"


def recount_mean(
    claimed: float, values: NDArray[Any], evidence: Callable[[float], Evidence]
) -> dict[str, Any]:
    """Return the comparison of a recomputed mean over rows with the claimed one.

    A model of a rule, or of evolution, claims nothing but this mean.

    `values`, ``(n_rows,)``: whether each row is decided right, or the cost of its error.
    """
    value = float(values.sum()) / len(values)
    as_claimed = math.isclose(claimed, value, rel_tol=1e-9, abs_tol=1e-12)
    return {
        "failures": () if as_claimed else (other_value(claimed, value),),
        "value": value,
        "evidence": evidence(value) if as_claimed else None,
    }


def other_problem(certificate: Certificate, meant: dict[str, Any]) -> list[str]:
    """Return a sentence for each field of a certificate that differs from the problem of the model.

    A proof of another problem proves nothing. `certificate`: certificate from a model file, in which any
    field may be missing or of any type. `meant`: the fields that follow from the options of the model, by
    name.
    """
    return [
        f"the certificate is about other {field} than the model"
        for field, what in meant.items()
        if not _is_as_meant(certificate.get(field), what)
    ]


def _is_as_meant(found: Any, meant: Any) -> bool:
    """Return whether a field of a certificate has the expected value.

    Two budgets are equal limits if each is at least the sum of all costs.
    """
    if isinstance(found, dict) and isinstance(meant, dict) and "costs" in meant:
        all_cost, budget = sum(meant["costs"]), found.get("budget")
        if type(budget) is int and min(budget, meant["budget"]) >= all_cost:
            found, meant = found | {"budget": all_cost}, meant | {"budget": all_cost}
    return bool(found == meant)


def what_was_checked(certificate: Certificate | None) -> dict[str, Any]:
    """Return the certificate, with the name and the number of its parts, as fields of a verification."""
    parts = certified_by(certificate or {})
    found: Any = (certificate or {}).get(parts, ())
    n_parts = int(found) if parts == "selections" else len(found)
    return {"n_parts": n_parts, "parts": parts, "certificate": certificate}
