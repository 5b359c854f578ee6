"""Rechecking what the exact step of an evolved ensemble claims of its candidates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.ensembles.audit.class_cut_check import check_class_certificate
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import class_weights
from shortlist.ensembles.proofs.certificate import plain_class_problem
from shortlist.ensembles.pruning.evidence import evidence_of_step
from shortlist.ensembles.verification.mean_recheck import other_problem, what_was_checked
from shortlist.ensembles.votes.class_votes import class_votes, merge_class_rows

if TYPE_CHECKING:  # its kernels take seconds to load
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


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
    meant = plain_class_problem(class_weights("accuracy", votes), limits)
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
