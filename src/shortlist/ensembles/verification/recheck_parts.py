"""Recheck of the other parts of a saved committee, which are made again from members and record."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._differences import differences
from shortlist._validation import AUTO
from shortlist.arrays import Labels
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.chosen import Chosen, member_answers, rows_counted_on
from shortlist.ensembles.committees.committee import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    MEAN,
    SHARES,
    Committee,
)
from shortlist.ensembles.committees.evidence import Evidence, PrunedSelection, cost_evidence, evidence_of_rule
from shortlist.ensembles.committees.probabilities import fit_probabilities
from shortlist.ensembles.estimators.base import HARD, SOFT
from shortlist.ensembles.pools.judges import columns_asked
from shortlist.ensembles.pools.members import AGAIN
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.mean_problem import MeanProblem, decision_gains, mean_goal, soft_metric
from shortlist.ensembles.pruning.mean_pruning import BRANCHES, TANGENTS
from shortlist.ensembles.pruning.pruning import (
    BEFORE_WALK,
    CHEAPER_WALK,
    COMMITTEE_WALK,
    WITHIN_LIMITS,
    evidence_of,
    selections_meant,
)
from shortlist.ensembles.verification.recheck_claims import limits_of, vote_problem
from shortlist.ensembles.verification.recheck_front import front_selection, recorded_shares
from shortlist.ensembles.verification.recorded_rows import find_recorded_rows
from shortlist.ensembles.votes.soft_votes import Calibration, mean_decisions, times_factors
from shortlist.guarantees.cells import reject_label_for
from shortlist.guarantees.guarantee import as_demand
from shortlist.guarantees.selective_classifier import promised_by
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.solvers import TITLES
from shortlist.tables.fit_inputs import take_rows

MOST_APART = 1e-3
"""Tolerance on power and factors of a calibration, as members' probabilities may be rounded differently on
another machine.
"""

CLOSE = 1e-9
"""Relative tolerance on the difference of two sums, due to rounding."""

PROVERS = {
    engines.CUTS, engines.CONFLICTS, engines.PAIRS, engines.WALK, engines.COUNT, BRANCHES, TANGENTS,
    COMMITTEE_WALK, CHEAPER_WALK, BEFORE_WALK, WITHIN_LIMITS, *TITLES.values(),
}  # fmt: skip
"""Names of the provers that may claim a bound."""

BY_CERTIFICATE = {engines.CUTS, engines.CONFLICTS, engines.PAIRS, engines.COUNT, TANGENTS}
"""Names of the provers whose bound the certificate proves."""


def other_parts(
    chosen: Chosen, rows: Any, truth: NDArray[np.integer], votes: NDArray[np.uint8] | None
) -> list[str]:
    """Return sentences on the parts of a model that do not follow from its members, record and terms.

    `rows`, ``(n_recorded, n_features)``: the recorded rows. `truth`: indices of the classes of these rows.
    `votes`, ``(n_recorded, n_candidates)``: answers of all candidates on these rows, if members were chosen
    by votes.
    """
    said = [*_other_members(chosen, rows), *_other_probabilities(chosen, rows, truth)]
    if said:
        return said
    meant = _made_again(chosen, truth, votes)
    names = dict.fromkeys(differences(_compared(chosen), _compared(meant), within=CLOSE))
    order = vars(chosen.committee).get("order")
    if order is not None:
        names |= dict.fromkeys(differences(order, meant.committee.order, "committee.order"))
    said += [f"`{name}` is not what the members, their record and the options give" for name in names]
    return said + list(_wrong_history(chosen))


def _compared(chosen: Chosen) -> dict[str, Any]:
    """Return the parts of a model that can be made again, by name."""
    return {
        "committee": chosen.committee,
        "copies": chosen.copies,
        "gains": chosen.gains,
        "result": chosen.result,
        "evidence": chosen.evidence,
        "refitted": chosen.refitted,
        "voting": chosen.voting,
        "pick": chosen.pick,
    }


def _made_again(chosen: Chosen, truth: NDArray[np.integer], votes: NDArray[np.uint8] | None) -> Chosen:
    result = None if chosen.result is None else _result(chosen, chosen.result, truth, votes)
    gains = _gains(chosen, truth)
    pick = (
        None
        if chosen.front is None or chosen.pick is None
        else chosen.front.point(chosen.pick.index, chosen.pick.rule)
    )
    return dataclasses.replace(
        chosen,
        committee=_committee(chosen, gains, None if result is None else result.threshold),
        copies=np.abs(chosen.copies),
        gains=gains,
        result=result,
        evidence=_evidence(chosen, result),
        refitted=_is_refitted(chosen),
        voting=chosen.voting if chosen.committee.ballot.by_mean == (chosen.voting != HARD) else "",
        pick=pick,
    )


def _as_pool(chosen: Chosen) -> Pool:
    crossed = chosen.as_chosen
    return crossed.pool if isinstance(crossed, CrossFittedPool) else crossed


def _is_refitted(chosen: Chosen) -> bool:
    pairs = zip(chosen.committee.members.classifiers, _as_pool(chosen).classifiers, strict=True)
    return any(one is not other for one, other in pairs)


def _committee(chosen: Chosen, gains: NDArray[np.int64], threshold: int | None) -> Committee:
    kept, pool = chosen.committee, _as_pool(chosen)
    weights = chosen.copies[chosen.selection]
    costs: Any = chosen.terms.member_costs
    if costs is not None:
        costs = np.asarray(costs, dtype=np.float64)[chosen.selection]
    elif pool.costs is not None:
        costs = np.asarray(pool.costs)[np.cumsum(weights) - weights]
    positive = chosen.positive_place
    reject_label = None
    if kept.promise is not None:
        reject_label = reject_label_for(chosen.terms.reject_label, chosen.classes_)
    return Committee(
        dataclasses.replace(pool, classifiers=kept.members.classifiers),
        weights,
        _ballot(chosen, gains, threshold, int(weights.sum())),
        probabilities=kept.probabilities,  # compared before
        calibration=kept.calibration,
        prices=costs,
        record=member_answers(chosen.record, chosen.selection, positive),
        promise=kept.promise,  # compared with what the calibration rows say
        reject_label=reject_label,
    )


def _ballot(chosen: Chosen, gains: NDArray[np.int64], threshold: int | None, n_members: int) -> Ballot:
    kept, positive = chosen.committee, chosen.positive_place
    if chosen.voting != HARD:
        shifts = kept.probabilities == CALIBRATED_MEAN and not _is_proved_mean(chosen)
        if shifts and kept.calibration is not None:
            gains = times_factors(gains, kept.calibration.factors)
        return Mean(gains)
    if threshold is None or positive is None:
        return Plurality(len(chosen.classes_))
    return Threshold(threshold, n_members, positive)


def _is_proved_mean(chosen: Chosen) -> bool:
    """Return whether the proved value counts decisions by the unweighted mean, as in fronts of losses."""
    return chosen.front is not None and chosen.voting == SOFT


def _gains(chosen: Chosen, truth: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the gain of a right decision on each class, before calibration, if means decide."""
    shares = chosen.record.shares
    if shares is None or chosen.voting == HARD or chosen.front is not None:
        return np.ones(len(chosen.classes_), dtype=np.int64)
    votes = recorded_shares(chosen, truth)
    positive, goal = chosen.positive_place, chosen.terms.goal
    if chosen.voting == SOFT:
        return mean_goal(goal, votes, positive=positive).gains
    return decision_gains(soft_metric(goal), votes, positive=positive)


def _result(
    chosen: Chosen, kept: PrunedSelection, truth: NDArray[np.integer], votes: NDArray[np.uint8] | None
) -> PrunedSelection:
    """Return the result made again, but with the model's value and bound, which are rechecked separately."""
    run = {name: getattr(kept, name) for name in RUN}
    if chosen.front is not None and chosen.pick is not None:
        return dataclasses.replace(front_selection(chosen), **run)
    gap = abs(kept.bound - kept.value)
    if chosen.voting == SOFT:
        soft = recorded_shares(chosen, truth)
        goal = mean_goal(chosen.terms.goal, soft, positive=chosen.positive_place)
        problem: Any = MeanProblem(soft, goal, limits_of(chosen, soft.n_classifiers, None))
        made = problem.result(chosen.selection, 0)
        ballot = chosen.committee.ballot
        if isinstance(ballot, Mean):
            made.keywords["decisions"] = mean_decisions(soft, chosen.selection, ballot.gains)
    else:
        assert votes is not None, "votes chose"
        problem = vote_problem(chosen, votes)
        made = problem.result(chosen.selection, kept.threshold or 0)
    optimal = gap <= problem.tolerance * (1 + CLOSE)
    proof = Proof(
        ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
        tolerances=(problem.tolerance,) if problem.tolerance else (),
        missing=(gap,),
        limit="" if optimal else kept.proof.limit,
    )
    found: PrunedSelection = made(
        objective=problem.objective,
        value=kept.value,
        bound=kept.bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=proof,
        **run,
    )
    return found


RUN = (
    "seconds", "history", "certificate", "certified_bound", "found_by", "proved_by", "why", "measured"
)  # fmt: skip
"""Names of the fields of a result that are rechecked elsewhere, or that describe the run and not the
selection.
"""


def _evidence(chosen: Chosen, result: PrunedSelection | None) -> Evidence:
    if result is None:
        source = "votes" if chosen.voting == HARD else "probabilities"
        if chosen.error_costs_ is not None:  # whose mean has been counted again
            return cost_evidence(chosen.evidence.value, "selection rows", counted_from=source)
        return evidence_of_rule(chosen.accuracy, counted_from=source)
    among = selections_meant(chosen.terms, result, len(chosen.copies), chosen.front)
    rows = rows_counted_on(chosen.record, out_of_fold=chosen.out_of_fold)
    return evidence_of(result, chosen.terms.solver, among, rows)


def _other_members(chosen: Chosen, rows: Any) -> Iterator[str]:
    """Yield sentences on members whose names, order or judges contradict the selection."""
    kept, pool = chosen.committee.members, _as_pool(chosen)
    copies = chosen.copies.tolist()
    wanted = [name + AGAIN * copy for name, n in zip(chosen.names, copies, strict=True) for copy in range(n)]
    if sorted(pool.names) != sorted(wanted) or kept.names != pool.names:
        yield "the members are not those of the selection"
    elif columns_asked(kept.classifiers):
        again = {judge.name: judge for judge in Pool.of_judges_again(rows, chosen.classes_).classifiers}
        silent = {judge.may_abstain for judge in kept.classifiers}
        for judge, name in zip(kept.classifiers, kept.names, strict=True):
            meant = again.get(name.removesuffix(AGAIN * name.count(AGAIN)))
            if meant is not None:
                meant = dataclasses.replace(meant, may_abstain=judge.may_abstain)
            if meant is None or len(silent) > 1 or [*differences(judge, meant)]:
                yield f"the judge {name} is not the one of the table"


def _other_probabilities(chosen: Chosen, rows: Any, truth: NDArray[np.integer]) -> Iterator[str]:
    """Yield sentences on a source of probabilities that was not requested, or on a different calibration."""
    committee, asked = chosen.committee, chosen.terms.probabilities
    if not len(committee.members):
        source, calibration = SHARES, None
    else:
        usual = CALIBRATED_SHARES
        if chosen.voting != HARD:
            usual = MEAN if _is_proved_mean(chosen) else CALIBRATED_MEAN
        wanted = usual if asked == AUTO else asked
        if asked is None or asked == "cross-validated":
            wanted = committee.probabilities  # files of earlier versions do not say, or asked in folds
        assert wanted is not None, "there is a source"
        source = wanted
        calibration = fit_probabilities(committee, chosen.as_chosen, rows, truth, source=source)
    if source != committee.probabilities:
        yield f"probabilities come from {committee.probabilities}, and should from {source}"
    elif not _is_close(committee.calibration, calibration):
        yield "the selection rows calibrate the probabilities otherwise than the model does"


def _is_close(kept: Calibration | None, found: Calibration | None) -> bool:
    return not [*differences(kept, found, within=MOST_APART)]


def other_promise(chosen: Chosen, X: Any, y: Any, chose: tuple[Any, Labels]) -> tuple[list[str], list[str]]:
    """Return sentences on differences of the recomputed promise, and on parts that were not rechecked.

    `X`, `y`: table that the model was made from. `chose`: the recorded rows and their classes.
    """
    promise, unknown = chosen.committee.promise, "what is promised was not rechecked, since {}"
    assert promise is not None, "something is promised, or not"
    if chosen.calibrated_on is None:
        return [], [unknown.format("the model does not say which rows calibrated")]
    record = dataclasses.replace(chosen.record, rows=chosen.calibrated_on)
    found = find_recorded_rows(record, X, y, called="calibration rows")
    if found.places is None or found.n_changed:
        return [], [unknown.format(f"of the calibration rows {found.difference}")]
    free = dataclasses.replace(chosen.committee, promise=None, reject_label=None)
    calibration = take_rows(X, found.places), np.asarray(y)[found.places]
    demand = as_demand(promise.accuracy, promise.confidence_level)
    again = promised_by(dataclasses.replace(chosen, committee=free), calibration, chose, demand)
    kept = (promise, chosen.promised_instead)
    said = "the calibration rows promise otherwise than the model does"
    return [said] if [*differences(kept, again, within=CLOSE)] else [], []


def _wrong_history(chosen: Chosen) -> Iterator[str]:
    """Yield sentences on impossible facts in the record of a run, such as the prover of its bound."""
    result = chosen.result
    if result is None:
        return
    if result.proved_by not in PROVERS and (result.proved_by or result.certificate is not None):
        yield f"the bound is said to be proved by {result.proved_by!r}, which there is not"
    beyond = result.certified_bound is None or result.bound != result.certified_bound
    if result.certificate is not None and beyond and result.proved_by in BY_CERTIFICATE:
        yield f"the bound is said to be proved by {result.proved_by}, and the certificate proves another"
    if result.history and result.history[-1][1:] != (result.value, result.bound):
        yield "the course of value and bound ends at others than those of the model"
