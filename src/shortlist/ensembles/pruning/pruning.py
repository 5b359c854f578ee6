"""From the name of an objective to a selection, by weighted sums, margins, slopes, or a choice."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

from shortlist._validation import as_choice
from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.committees.probability_sources import AUTO
from shortlist.ensembles.committees.selections import PrunedSelection
from shortlist.ensembles.goals.class_weights import CLASS_OBJECTIVES, ClassWeights, weights_of
from shortlist.ensembles.goals.margin_worth import MarginUtility, split_objective
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import PRUNING_OBJECTIVES, Weights
from shortlist.ensembles.pruning.engine import prove
from shortlist.ensembles.pruning.evidence import solver_name
from shortlist.ensembles.pruning.objective_choice import Choice, choose_objective
from shortlist.ensembles.pruning.problems import PluralityProblem, ThresholdProblem, problem_of
from shortlist.ensembles.pruning.slope_problem import SlopeProblem, named
from shortlist.ensembles.search.tabu_search import search_selection
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes, merge_class_rows
from shortlist.errors import BadInputError
from shortlist.milp import SOLVERS, Solver, open_solver
from shortlist.results.proof import ProofKind, Status
from shortlist.runs.budget import Budget

ObjectiveName: TypeAlias = str | Mapping[Any, float]
"""``accuracy``, ``accuracy+margin``, ``accuracy+slope-8``, ``accuracy+auto``, weights, and so on; ``auto``
alone is of accuracy.
"""

CHOICE_SHARE = 0.3
"""Part of the time limit that choosing an objective may take."""

PROOF_SHARE = 0.85
"""Part of the time limit after which the proof gives way to the search for margins."""

UTILITY_STEPS = 10_000
"""Moves of the search for margins."""

CLASS_UTILITY_STEPS = 600
"""The same for several classes, where each move looks at all rows."""


def parse_objective(
    objective: ObjectiveName, *, n_classes: int = 2
) -> tuple[ObjectiveName, MarginUtility | None, bool]:
    """Split an objective into the weighted sum, the margin utility, and whether to choose the latter.

    Parameters
    ----------
    objective : str or mapping
        As of :func:`prune_for`.
    n_classes : int, default=2
        How many classes there are, which says what names there are.

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
    known = PRUNING_OBJECTIVES if n_classes == 2 else CLASS_OBJECTIVES
    if first not in known:
        of_classes = f" with {n_classes} classes" if n_classes > 2 else ""
        raise BadInputError(
            "objective",
            (
                f"must be auto, {any_of(sorted(known))}{of_classes}, perhaps followed by +margin, "
                "+slope-A or +auto, or weights"
            ),
            repr(objective),
            did_you_mean(first, known),
        )
    if second == AUTO:
        return first, None, True
    return first, split_objective(name)[1], False


def prune_for(
    votes: Votes | ClassVotes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str | Solver = AUTO,
) -> tuple[Any, Choice | None]:
    """Return the selection for an objective, and the choice that was made where it is ``auto``.

    Parameters
    ----------
    votes : Votes or ClassVotes
        Validation rows.
    objective : str or mapping
        A weighted sum: :func:`prune_exactly`. With ``+margin``: the same, and among the selections worth as
        much the one with the best concave utility of margins that a search finds; value and bound are those
        of the weighted sum. With ``+slope-A``: the best sum of sigmoids of margins
        (:mod:`shortlist.ensembles.pruning.slope_problem`). With ``+auto``, or ``auto``: one of these and a
        largest size, by cross-validation on `votes`. Weights of several classes are by their index.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        For all of it; default no limit. See :func:`prune_exactly`.
    solver : str or Solver
        As of that function; alone, a slope has a program for every size
        (:mod:`shortlist.ensembles.proofs.lines.slope_program`).

    Returns
    -------
    EnsembleSelection or ClassSelection
        As of :func:`shortlist.ensembles.pruning.engine.prove`.
    Choice or None

    Raises
    ------
    BadInputError
        If the objective or the solver is unknown.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[0, 0, 2], [2, 1, 1], [0, 2, 2], [1, 2, 0]], [0, 1, 2, 2])
    >>> result, _ = prune_for(votes, "accuracy", selection_limits(3))
    >>> result.mask.tolist(), result.value, result.bound
    ([False, True, False], 1.0, 1.0)
    """
    budget = budget or Budget()
    if isinstance(votes, ClassVotes):
        votes = merge_class_rows(votes)
    n_classes = votes.n_classes if isinstance(votes, ClassVotes) else 2
    first, utility, by_choice = parse_objective(objective, n_classes=n_classes)
    choice = None
    if by_choice and not limits.conflict():
        choice = choose_objective(votes, first, limits, budget.until(CHOICE_SHARE))
        utility = choice.setting.utility
        limits = dataclasses.replace(
            limits, min_size=choice.setting.min_size, max_size=choice.setting.max_size
        )
    weights = weights_of(first, votes)
    share = budget.share(1.0 if utility is None or utility.leads else PROOF_SHARE)
    leading = utility if utility is not None and utility.leads else None
    result = prune_exactly(votes, weights, limits, share, solver=solver, slope=leading)
    if utility is not None and not utility.leads and not result.reason:
        result = _with_better_margins(result, problem_of(votes, weights, limits), utility, budget)
    return dataclasses.replace(result, seconds=budget.elapsed), choice


def prune_exactly(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str | Solver = AUTO,
    slope: MarginUtility | None = None,
) -> Any:
    """Return the selection within limits that maximises Eq. 1 of :cite:t:`Bastos2022`, or a sum of sigmoids.

    Parameters
    ----------
    votes : Votes or ClassVotes
        Validation rows; those of several classes merged.
    weights : Weights or ClassWeights
        What decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        Its limit in nodes does not depend on the clock and is in the solver's unit (see
        :class:`shortlist.milp.Limits`), for ``"auto"`` in that of CP-SAT or the branch and bound; with one
        thread and no other limit the answer is reproducible. Progress is told with value and bound in the
        user's unit. Default no limit.
    solver : str or Solver, default="auto"
        ``"auto"``: :func:`shortlist.ensembles.pruning.engine.prove` by itself. The name of a backend, or a
        backend: that one alone, on the paper's program as it stands, or that of
        :mod:`shortlist.ensembles.proofs.programs.plurality_program`.
    slope : MarginUtility, optional
        One that leads: what is summed up instead.

    Returns
    -------
    EnsembleSelection or ClassSelection
        Value and decisions are computed from the votes, whatever the solver says. OPTIMAL: the value equals
        the bound, both integers before they are scaled, up to the tolerance in the proof, if any; a solver's
        bound is its word. INFEASIBLE and UNKNOWN carry a reason and choose nothing.

    Raises
    ------
    BadInputError
        If the solver is unknown.
    SolverError
        If the solver's bound is below the value of a selection that keeps the limits: then it is wrong.
    """
    if isinstance(solver, str):
        as_choice(solver, "solver", [AUTO, *SOLVERS])
    backend = None if solver == AUTO else open_solver(solver) if isinstance(solver, str) else solver
    problem = problem_of(votes, weights, limits)
    return prove(
        problem if slope is None else SlopeProblem(problem, slope),
        budget or Budget(),
        solver=backend,
        solver_name=solver_name(solver),
    )


def _with_better_margins(
    result: PrunedSelection,
    of: ThresholdProblem | PluralityProblem,
    utility: MarginUtility,
    budget: Budget,
) -> PrunedSelection:
    """Replace the selection by one that is worth at least as much and has better margins."""
    by_threshold = isinstance(of, ThresholdProblem)
    better = search_selection(
        of.votes, of.weights, of.limits, budget, starts=[result.mask], utility=utility,
        max_steps=UTILITY_STEPS if by_threshold else CLASS_UTILITY_STEPS,
    )  # fmt: skip
    objective = named(of.objective, utility)
    if better is None:
        return dataclasses.replace(result, objective=objective)
    mask, total, threshold = better.mask, better.total, better.threshold
    value = of.value(total)
    optimal = result.bound - value <= of.tolerance
    certificate = result.certificate
    if certificate is not None:
        certificate = certificate | of.claim(mask, threshold) | {"value": total}
    return of.result(mask, threshold)(
        objective=objective,
        value=value,
        bound=result.bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=dataclasses.replace(
            result.proof,
            kind=ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            missing=(result.bound - value,),
        ),
        seconds=result.seconds,
        history=result.history,
        certificate=certificate,
        certified_bound=result.certified_bound,
        proved_by=result.proved_by,
    )
