"""From the name of an objective to a selection, by weighted sums, margins, slopes, or a choice."""

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.goals.margin_worth import MarginUtility, split_objective
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import OBJECTIVES, Weights, named_weights
from shortlist.ensembles.proofs.certificate import Certificate
from shortlist.ensembles.proofs.incumbent import EnsembleSelection
from shortlist.ensembles.pruning.objective_choice import Choice, choose_objective
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.pruning.slope_pruning import named, prune_by_slope
from shortlist.ensembles.pruning.weighted_pruning import AUTO, prune_exactly, solver_name
from shortlist.ensembles.search.tabu_search import FoundSelection, search_selection
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.errors import BadInputError
from shortlist.milp import open_solver
from shortlist.results.proof import ProofKind, Status
from shortlist.runs.budget import Budget

ObjectiveName: TypeAlias = str | Mapping[str, float]
"""``accuracy``, ``accuracy+margin``, ``accuracy+slope-8``, ``accuracy+auto``, weights, and so on; ``auto``
alone is of accuracy.
"""

CHOICE_SHARE = 0.3
"""Part of the time limit that choosing an objective may take."""

PROOF_SHARE = 0.85
"""Part of the time limit after which the proof gives way to the search for margins."""

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
            f"objective must be auto, {any_of(sorted(OBJECTIVES))}, perhaps followed by +margin, +slope-A "
            f"or +auto, or weights, got {objective!r}.{did_you_mean(first, OBJECTIVES)}"
        )
    if second == AUTO:
        return first, None, True
    return first, split_objective(name)[1], False


def prune_for(
    votes: Votes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str = AUTO,
) -> tuple[EnsembleSelection, Choice | None]:
    """Return the selection for an objective, and the choice that was made where it is ``auto``.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    objective : str or mapping
        A weighted sum: :func:`shortlist.ensembles.pruning.weighted_pruning.prune_exactly`. With ``+margin``:
        the same, and among the selections worth as much the one with the best concave utility of margins that
        a search finds; value and bound are those of the weighted sum. With ``+slope-A``: the best sum of
        sigmoids of margins, see :func:`shortlist.ensembles.pruning.slope_pruning.prune_by_slope`. With
        ``+auto``, or ``auto``: one of these and a largest size, by cross-validation on `votes`.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        For all of it; default no limit. See
        :func:`shortlist.ensembles.pruning.weighted_pruning.prune_exactly`.
    solver : str
        As of that function.

    Raises
    ------
    BadInputError
        If the objective is unknown.
    """
    budget = budget or Budget()
    first, utility, by_choice = parse_objective(objective)
    choice = None
    if by_choice and not limits.conflict():
        choice = choose_objective(
            votes,
            first,
            limits,
            budget.until(CHOICE_SHARE),
        )
        utility = choice.setting.utility
        limits = dataclasses.replace(
            limits, min_size=choice.setting.min_size, max_size=choice.setting.max_size
        )
    weights = named_weights(first, votes)
    if utility is not None and utility.leads:
        slope = prune_by_slope(
            ThresholdProblem(votes, weights, limits),
            utility,
            budget.share(1.0),
            solver=None if solver == AUTO else open_solver(solver),
            solver_name="" if solver == AUTO else solver_name(solver),
        )
        assert isinstance(slope, EnsembleSelection), "slopes are of two classes"
        return slope, choice
    share = budget.share(1.0 if utility is None else PROOF_SHARE)
    result = prune_exactly(votes, weights, limits, share, solver=solver)
    if utility is not None and not result.reason:
        found = search_selection(
            votes,
            weights,
            limits,
            budget,
            starts=[result.mask],
            utility=utility,
            max_steps=UTILITY_STEPS,
        )
        if found is not None:
            result = _with(result, votes, weights, utility, found)
    return dataclasses.replace(result, seconds=budget.elapsed), choice


def _with(
    result: EnsembleSelection, votes: Votes, weights: Weights, utility: MarginUtility, found: FoundSelection
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
        objective=named(weights, utility),
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=dataclasses.replace(
            result.proof,
            kind=ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            missing=(result.bound - value,),
        ),
        confusion=confusion(votes, found.mask, found.threshold),
        certificate=certificate,
    )
