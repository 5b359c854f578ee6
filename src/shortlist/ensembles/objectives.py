"""From the name of an objective to a selection: weighted sums, margins among equals, slopes, and a choice among them."""

import dataclasses
import math
import time
from collections.abc import Mapping
from typing import TypeAlias

from shortlist.ensembles.certificate import Certificate
from shortlist.ensembles.conflicts import find_conflicts
from shortlist.ensembles.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.exact import AUTO, prune_exactly
from shortlist.ensembles.incumbent import EnsembleSelection, Incumbent
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.local_search import Found, search_selection
from shortlist.ensembles.margin_utility import (
    MarginUtility,
    split_objective,
    utility_bound,
    utility_scale,
)
from shortlist.ensembles.objective_choice import Choice, choose_objective
from shortlist.ensembles.right_rows import normalise
from shortlist.ensembles.votes import Votes, confusion
from shortlist.ensembles.weights import OBJECTIVES, Weights, named_weights
from shortlist.errors import BadInputError
from shortlist.front import Objective, Proof, ProofKind, Sense, Status
from shortlist.runs import Cancellation, Progress, Report, silent

ObjectiveName: TypeAlias = str | Mapping[str, float]
"""``accuracy``, ``accuracy+margin``, ``accuracy+slope-8``, ``accuracy+auto``, weights, and so on; ``auto`` alone is of accuracy."""

CHOICE_SHARE = 0.3
"""Part of the time limit that choosing an objective may take."""

PROOF_SHARE = 0.85
"""Part of the time limit after which the proof gives way to the search for margins."""

BOUND_SHARE, BOUND_ROUNDS = 0.2, 30
"""Part of the time limit, and rounds of cuts, for the bound of a utility that leads."""

UTILITY_STEPS = 10_000
"""Moves of the search for margins."""


def parse_objective(objective: ObjectiveName) -> tuple[ObjectiveName, MarginUtility | None, bool]:
    """Split an objective into the weighted sum, the margin utility, and whether to choose the latter.

    Raises
    ------
    BadInputError
        If the name is unknown.

    Examples
    --------
    >>> parse_objective("auto"), parse_objective("balanced-accuracy+auto")[0]
    (('accuracy', None, True), 'balanced-accuracy')
    """
    if isinstance(objective, Mapping):
        return objective, None, False
    name = str(objective).replace("_", "-")
    first, _, second = name.partition("+")
    if name == AUTO:
        first, second = "accuracy", AUTO
    if first not in OBJECTIVES:
        raise BadInputError(
            f"objective must be auto, one of {sorted(OBJECTIVES)}, perhaps followed by +margin, +slope-A or +auto, "
            f"or weights, got {objective!r}."
        )
    if second == AUTO:
        return first, None, True
    return first, split_objective(name)[1], False


def prune_for(
    votes: Votes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    *,
    solver: str = AUTO,
    time_limit_s: float = math.inf,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> tuple[EnsembleSelection, Choice | None]:
    """Return the selection for an objective, and the choice that was made where it is ``auto``.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    objective : str or mapping
        A weighted sum: :func:`shortlist.ensembles.exact.prune_exactly`. With ``+margin``: the same, and among the
        selections worth as much the one with the best concave utility of margins that a search finds; value and bound are
        those of the weighted sum. With ``+slope-A``: the best sum of sigmoids of margins that a search finds, with a
        bound from the margins that each row allows and from how many rows cuts let be right. With ``+auto``, or ``auto``: one of these and a largest size, by
        cross-validation on `votes`.
    limits : SelectionLimits
        Size, cost and diversity.
    solver, time_limit_s, node_limit, seed, threads, report, cancellation
        As of :func:`shortlist.ensembles.exact.prune_exactly`; the time limit is for all of it.

    Raises
    ------
    BadInputError
        If the objective is unknown.
    """
    start = time.monotonic()
    timeless = node_limit is not None
    first, utility, by_choice = parse_objective(objective)
    choice = None
    if by_choice and not limits.conflict():
        choice = choose_objective(
            votes,
            first,
            limits,
            seed=seed,
            deadline=math.inf if timeless else start + CHOICE_SHARE * time_limit_s,
            cancellation=cancellation,
            report=report,
        )
        utility = choice.setting.utility
        limits = dataclasses.replace(
            limits, min_size=choice.setting.min_size, max_size=choice.setting.max_size
        )
    weights = named_weights(first, votes)
    left = max(0.01, time_limit_s - (time.monotonic() - start))
    if utility is not None and utility.leads:
        result = _by_utility(
            Incumbent(votes, weights, limits),
            utility,
            seed=seed,
            deadline=start + time_limit_s,
            time_limit=f"{time_limit_s:g} s",
            timeless=timeless,
            report=report,
            cancellation=cancellation,
        )
        return dataclasses.replace(result, seconds=time.monotonic() - start), choice
    share = left if utility is None else PROOF_SHARE * left
    result = prune_exactly(
        votes,
        weights,
        limits,
        solver=solver,
        time_limit_s=share,
        node_limit=node_limit,
        seed=seed,
        threads=threads,
        report=report,
        cancellation=cancellation,
    )
    if result.proof.limit == f"{share:g} s":  # the proof knows only its part of the user's limit
        whole = f"{time_limit_s:g} s"
        result = dataclasses.replace(
            result,
            proof=dataclasses.replace(result.proof, limit=whole),
            reason=result.reason.replace(f"({share:g} s)", f"({whole})"),
        )
    if utility is not None and not result.reason:
        found = search_selection(
            votes,
            weights,
            limits,
            starts=[result.mask],
            utility=utility,
            max_steps=UTILITY_STEPS,
            seed=seed,
            deadline=start + time_limit_s,
            cancellation=cancellation,
        )
        if found is not None:
            result = _with(result, votes, weights, utility, found)
    return dataclasses.replace(result, seconds=time.monotonic() - start), choice


def _with(
    result: EnsembleSelection, votes: Votes, weights: Weights, utility: MarginUtility, found: Found
) -> EnsembleSelection:
    """Replace the selection by one that is worth at least as much and has better margins."""
    value = weights.value(found.total)
    optimal = value == result.bound
    certificate: Certificate | None = None
    if result.certificate is not None:
        certificate = result.certificate | {
            "members": [int(k) for k in found.mask.nonzero()[0]],
            "threshold": found.threshold,
            "value": found.total,
        }
    return dataclasses.replace(
        result,
        mask=found.mask,
        threshold=found.threshold,
        value=value,
        objective=_named(weights, utility),
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=dataclasses.replace(
            result.proof,
            kind=ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            missing=(result.bound - value,),
        ),
        confusion=confusion(votes, found.mask, found.threshold),
        certificate=certificate,
    )


def _by_utility(
    best: Incumbent,
    utility: MarginUtility,
    *,
    seed: int,
    deadline: float,
    time_limit: str,
    timeless: bool,
    report: Report,
    cancellation: Cancellation | None,
) -> EnsembleSelection:
    """Search for the best utility; the value is its share of what it would be if every row were worth 1."""
    start = time.monotonic()
    votes, weights, limits = best.votes, best.weights, best.limits
    if conflict := limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=0.0, reason=conflict)
    most = utility_scale(votes, weights) * (
        abs(weights.gain_positive) * votes.n_positive + abs(weights.gain_negative) * votes.n_negative
    )
    bound = utility_bound(votes, weights, utility, limits) / most

    def on_better(found: Found) -> None:
        assert found.utility is not None, "a search with a utility tells it"
        report(Progress("searching", time.monotonic() - start, None, found.utility / most, bound))

    found = search_selection(
        votes,
        weights,
        limits,
        utility=utility,
        max_steps=2 * UTILITY_STEPS,
        seed=seed,
        deadline=start + (1 - BOUND_SHARE) * (deadline - start),
        cancellation=cancellation,
        on_better=on_better,
    )
    seconds = time.monotonic() - start
    limit = f"{2 * UTILITY_STEPS:,} steps" if seconds < (1 - BOUND_SHARE) * (deadline - start) else time_limit
    if cancellation is not None and cancellation.cancelled:
        limit = "interrupted"
    if found is None or found.utility is None:
        return best.no_selection(Status.UNKNOWN, limit=limit, seconds=seconds)
    value = found.utility / most
    most_total = _quick_bound(
        best, seed=seed, deadline=math.inf if timeless else deadline, cancellation=cancellation
    )
    whole_bound = utility_bound(votes, weights, utility, limits, total_bound=most_total)
    optimal, bound = found.utility == whole_bound, whole_bound / most
    seconds = time.monotonic() - start
    return EnsembleSelection(
        mask=found.mask,
        objective=_named(weights, utility),
        value=value,
        bound=bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            missing=(bound - value,),
            limit="" if optimal else limit,
        ),
        seconds=seconds,
        threshold=found.threshold,
        confusion=confusion(votes, found.mask, found.threshold),
        history=((seconds, value, bound),),
    )


def _quick_bound(best: Incumbent, *, seed: int, deadline: float, cancellation: Cancellation | None) -> int:
    """Return a bound on the weighted sum of every selection, from the cuts that are found fast."""
    rows = normalise(best.votes, best.weights, best.limits)
    conflicts = find_conflicts(rows, deadline=deadline)
    first = min_cut_bound(rows, conflicts)
    bound = tighten_by_cuts(
        rows, conflicts, first, deadline=deadline, max_rounds=BOUND_ROUNDS, seed=seed, quick=True,
        cancellation=cancellation,
    )  # fmt: skip
    return rows.weighted_sum(bound.bound)


def _named(weights: Weights, utility: MarginUtility) -> Objective:
    """Return the objective with the utility in its name."""
    second = f"slope-{utility.slope:g}" if utility.leads else "margin"
    return Objective(f"{weights.objective.name}+{second}", Sense.MAX, scale=None)
