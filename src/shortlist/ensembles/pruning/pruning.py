"""From the name of an objective to a selection."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO, as_choice
from shortlist._words import any_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    PRUNING_OBJECTIVES,
    ClassWeights,
    Weights,
    weights_of,
)
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, Incumbent, KeptBest
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import EngineSettings, Run
from shortlist.ensembles.pruning.evidence import solver_name
from shortlist.ensembles.pruning.mean_problem import MeanGoal, asks_for_choice, mean_goal
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.pruning.problems import PruningProblem, problem_of
from shortlist.ensembles.pruning.vote_steps import VoteSteps
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, merge_class_rows
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError, SolverError
from shortlist.milp import SOLVERS, Solver, open_solver
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


def prove(
    problem: PruningProblem,
    budget: Budget,
    *,
    solver: Solver | None = None,
    solver_name: str = "",
    settings: EngineSettings | None = None,
) -> PrunedSelection:
    """Look for the best selection and bound what any can be worth, until the two meet or a limit is hit.

    Raises SolverError if a solver contradicts a selection or a bound that is proved.

    `budget`: with more than one thread CP-SAT looks for selections beside its proof. A limit in nodes is in
    thousandths of CP-SAT's deterministic time; unless the time limit ends a step first, the answer then does
    not depend on the clock, nor on the threads. `solver`: a backend: that one alone, on the plain program, in
    place of the engine. A limit in nodes is then in its unit.

    OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, with the history of value and bound. OPTIMAL where both are the
    same integer.
    """
    best = Incumbent(problem)
    if conflict := problem.limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    run = Run(best, budget, settings or EngineSettings(), solver, solver_name)
    best.offer_simple_selections()
    steps = VoteSteps(run, problem)
    steps.run_all()
    kept = KeptBest(best, budget)
    if run.is_open:
        kept.take()
    if not run.is_open:
        kept.note_end()
    limit = "" if best.proved or run.infeasible else budget.limit_text or run.last_limit or steps.no_limit
    if best.mask is not None:
        if run.infeasible:
            raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
        result = best.selection(limit=limit, seconds=budget.elapsed)
        result = dataclasses.replace(result, found_by=best.found_by)
        if solver is not None:
            return dataclasses.replace(result, why="it was asked for")
        turn = run.turn
        why, measured = (engines.NOTHING_LOWER, "") if turn is None else (turn.why, turn.measured)
        result = dataclasses.replace(
            result, why="" if best.proved and turn is None else why, measured=measured
        )
        return steps.certified(result)
    status = Status.INFEASIBLE if run.infeasible else Status.UNKNOWN
    reason = f"{NONE_FEASIBLE}, says {run.infeasible_by}" if run.infeasible and run.infeasible_by else ""
    return best.no_selection(status, limit=limit, seconds=budget.elapsed, reason=reason)


ObjectiveName: TypeAlias = str | Mapping[Any, float]
"""``accuracy``, ``balanced-accuracy`` and so on, ``auto`` for accuracy, or weights."""


def parse_objective(objective: ObjectiveName, *, n_classes: int = 2) -> ObjectiveName:
    """Return an objective of votes by its name, or weights as they are.

    Raises BadInputError if the name is unknown.

    `objective`: as of :func:`prune_for`. `n_classes`: how many classes there are, which says what names there
    are.

    >>> parse_objective("auto"), parse_objective("balanced_accuracy")
    ('accuracy', 'balanced-accuracy')
    """
    if isinstance(objective, Mapping):
        return objective
    name = str(objective).replace("_", "-")
    if name == AUTO:
        return "accuracy"
    known = PRUNING_OBJECTIVES if n_classes == 2 else CLASS_OBJECTIVES
    if name not in known:
        of_classes = f" with {n_classes} classes" if n_classes > 2 else ""
        raise BadInputError(
            "objective",
            f"must be auto, {any_of(sorted(known))}{of_classes}, or weights",
            repr(objective),
            did_you_mean(name.partition("+")[0], known),
        )
    return name


def prune_for(
    votes: Votes | ClassVotes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str | Solver = AUTO,
) -> Any:
    """Return the selection that is worth most by a named objective.

    Raises BadInputError if the objective or the solver is unknown.

    `objective`: a weighted sum, by name or by its weights; ``auto`` is accuracy. Weights of several classes
    are by their index. `budget`: default no limit. See :func:`prune_exactly`. `solver`: as of that function.

    As of :func:`shortlist.ensembles.pruning.pruning.prove`.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[0, 0, 2], [2, 1, 1], [0, 2, 2], [1, 2, 0]], [0, 1, 2, 2])
    >>> result = prune_for(votes, "accuracy", selection_limits(3))
    >>> result.mask.tolist(), result.value, result.bound
    ([False, True, False], 1.0, 1.0)
    """
    if isinstance(votes, ClassVotes):
        votes = merge_class_rows(votes)
    n_classes = votes.n_classes if isinstance(votes, ClassVotes) else 2
    weights = weights_of(parse_objective(objective, n_classes=n_classes), votes)
    return prune_exactly(votes, weights, limits, budget, solver=solver)


def prune_exactly(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str | Solver = AUTO,
) -> Any:
    """Return the selection within limits that maximises Eq. 1 of :cite:t:`Bastos2022`.

    Raises BadInputError if the solver is unknown. Raises SolverError if the solver's bound is below the value
    of a selection that keeps the limits: then it is wrong.

    `votes`: validation rows; those of several classes merged. `budget`: its limit in nodes does not depend on
    the clock and is in the solver's unit (see :class:`shortlist.milp.Limits`), for ``"auto"`` in that of
    CP-SAT; with one thread and no other limit the answer is reproducible. Progress has value and
    bound in the user's unit. Default no limit. `solver`: ``"auto"``:
    :func:`shortlist.ensembles.pruning.pruning.prove` by itself. The name of a backend, or a backend: that one
    alone, on the paper's program as it stands, or that of :mod:`shortlist.ensembles.proofs.pruning_program`.

    Value and decisions are computed from the votes, whatever the solver says. OPTIMAL: the value equals the
    bound, both integers before they are scaled, up to the tolerance in the proof, if any; a solver's bound is
    its word. INFEASIBLE and UNKNOWN carry a reason and choose nothing.
    """
    if isinstance(solver, str):
        as_choice(solver, "solver", [AUTO, *SOLVERS])
    problem, budget = problem_of(votes, weights, limits), budget or Budget()
    if solver == AUTO:
        return prove(problem, budget)
    backend = open_solver(solver) if isinstance(solver, str) else solver
    return prove(problem, budget, solver=backend, solver_name=solver_name(solver))


FEW = 10
"""``auto`` takes one classifier of this number."""

FEWEST = 5
"""But not fewer than these, nor more than half of a small pool."""

WHY_FEW = "on other tables, a tenth of the pool chosen by log loss did best"


def prune_soft(
    votes: SoftVotes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    positive: int | None = None,
    max_copies: int = 1,
) -> tuple[PrunedSelection, MeanGoal, SelectionLimits]:
    """Return the selection whose mean probabilities are best, the goal, and the limits that it keeps.

    Raises BadInputError if the objective cannot be used.

    `objective`: as of :func:`shortlist.ensembles.pruning.mean_problem.mean_goal`; what ends in ``auto`` chooses
    as many members as :func:`few_members` says. `limits`: size and cost; a member that is taken twice counts
    twice. `positive`: with two classes the index of the positive one. `max_copies`: how often a classifier
    may be taken, which weighs it so. The selection is then of such copies of the pool, one after the
    other, the first ones first; proof and certificate are of that pool.
    """
    budget = budget or Budget()
    if asks_for_choice(objective):
        limits = few_members(limits, votes.n_classifiers)
    goal = mean_goal(objective, votes, positive=positive)
    result = prune_means(votes.repeated(max_copies), goal, limits, budget)
    return result if max_copies == 1 else _first_copies_first(result, max_copies), goal, limits


def taken_copies(mask: Mask, max_copies: int) -> NDArray[np.int64]:
    """Return how often each classifier is taken, from a selection of copies of the pool."""
    return np.asarray(mask.reshape(max_copies, -1).sum(axis=0), dtype=np.int64)


def _first_copies_first(result: PrunedSelection, max_copies: int) -> PrunedSelection:
    """Exchange copies, which are equal, for those that come first."""
    mask = (taken_copies(result.mask, max_copies) > np.arange(max_copies)[:, None]).ravel()
    certificate = result.certificate
    if certificate is not None:
        certificate = certificate | {"members": np.flatnonzero(mask).tolist()}
    return dataclasses.replace(result, mask=mask, certificate=certificate)


def few_members(limits: SelectionLimits, n_classifiers: int) -> SelectionLimits:
    """Return limits for a tenth of a pool, at least five members, of a small pool half, within those given.

    The mean of few members that are best together is worse on new rows than that of some more, as the study
    of voting found; more than a tenth did no better. Where a budget allows fewer than twice as many of the
    cheapest, half of those are the least number, so that there is something to choose.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> [few_members(selection_limits(n), n).max_size for n in (1, 4, 10, 40, 100)]
    [1, 2, 5, 5, 10]
    """
    if limits.conflict():
        return limits
    few = max(-(-n_classifiers // FEW), min(FEWEST, -(-n_classifiers // 2)))
    most = max(limits.min_size, min(few, limits.max_size))
    least = most
    if limits.costs is not None:
        affordable = int((np.cumsum(np.sort(limits.costs)) <= limits.budget).sum())
        least = max(limits.min_size, min(most, affordable // 2), 1)
    return dataclasses.replace(limits, min_size=min(least, most), max_size=most)
