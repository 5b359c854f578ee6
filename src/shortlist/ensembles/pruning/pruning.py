"""Exact pruning of votes, by the name of an objective or by weights."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from shortlist._validation import AUTO, as_choice
from shortlist._words import all_of, any_of, counted, did_you_mean
from shortlist.ensembles.committees.chosen import Terms
from shortlist.ensembles.committees.evidence import Evidence, PrunedSelection, certified_by
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    PRUNING_OBJECTIVES,
    ClassWeights,
    Weights,
    weights_of,
)
from shortlist.ensembles.pruning.mean_problem import MEAN_LOSSES
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, merge_class_rows
from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.objective import Sense
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget
from shortlist.solvers import TITLES

if TYPE_CHECKING:
    from shortlist.milp import Solver

ObjectiveName: TypeAlias = str | Mapping[Any, float]
"""Objective of votes: a name such as ``accuracy`` or ``balanced-accuracy``, ``auto`` for accuracy, or
weights.
"""


def parse_objective(objective: ObjectiveName, *, n_classes: int = 2) -> ObjectiveName:
    """Return the checked name of an objective of votes; weights are returned unchanged.

    Raises BadInputError if the name is unknown.

    `objective`: as for :func:`prune_for`. `n_classes`: number of classes, on which the valid names depend.

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
    solver: "str | Solver" = AUTO,
    proves: bool = True,
) -> Any:
    """Return the selection with the largest weighted sum of a named objective.

    Raises BadInputError if the objective or the solver is unknown.

    `objective`: a weighted sum, by name or by its weights; ``auto`` is accuracy. Weights of more than two
    classes are by the index of the class. `budget`: default no limit. `solver`, `proves`: as for
    :func:`prune_exactly`.

    The result is described in :func:`shortlist.ensembles.pruning.vote_steps.prove`.

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
    return prune_exactly(votes, weights, limits, budget, solver=solver, proves=proves)


def prune_exactly(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: "str | Solver" = AUTO,
    proves: bool = True,
) -> Any:
    """Return the selection within limits that maximises Eq. 1 of :cite:t:`Bastos2022`.

    Raises BadInputError if the solver is unknown. Raises SolverError if the solver's bound is below the value
    of a selection within the limits, as the bound is then wrong.

    `votes`: validation rows; merged for several classes. `budget`: limits of the run; default none. A limit
    in nodes does not depend on the clock; it is in the unit of the solver (see
    :class:`shortlist.milp.Limits`), for ``"auto"`` in the unit of CP-SAT. With one thread and a limit in
    nodes alone, the answer is reproducible. Progress events have value and bound in the user's unit.
    `solver`: ``"auto"`` runs :func:`shortlist.ensembles.pruning.vote_steps.prove`; a backend, or its name,
    solves the plain program of :mod:`shortlist.ensembles.proofs.pruning_program` alone. `proves`: whether
    engines prove bounds after the search.

    Value and decisions are computed from the votes, whatever the solver returns. OPTIMAL: value and bound are
    equal as integers, before they are scaled, or differ by at most the tolerance in the proof. A bound by a
    solver is not checked. INFEASIBLE and UNKNOWN have a reason and no selection.
    """
    from shortlist.ensembles.pruning.engines import SEARCH_ALONE, EngineSettings
    from shortlist.ensembles.pruning.problems import problem_of
    from shortlist.ensembles.pruning.vote_steps import prove
    from shortlist.milp import SOLVERS, open_solver

    if isinstance(solver, str):
        as_choice(solver, "solver", [AUTO, *SOLVERS])
    problem, budget = problem_of(votes, weights, limits), budget or Budget()
    if not proves:
        return prove(problem, budget, settings=EngineSettings(turns=SEARCH_ALONE))
    if solver == AUTO:
        return prove(problem, budget)
    backend = open_solver(solver) if isinstance(solver, str) else solver
    return prove(problem, budget, solver=backend, solver_name=solver_name(solver))


COMMITTEE_WALK = "full search of all committees"
"""Name of the step that proved the bound of a complete front."""

CHEAPER_WALK = "full search of all committees that cost no more"
"""Name of the step that proved the bound of a point of a complete front, among committees that cost no more.
"""

BEFORE_WALK = "exact pruning before the full search"
"""Name of the step that proved the bound of a front that is not complete."""


WITHIN_LIMITS = "exact pruning within each limit"
"""Name of the step that proved the bounds of a front of one loss."""


def bound_of_front(proved_by: str) -> str:
    """Return the name of the step that proved the bound of a front, in place of a certificate."""
    return COMMITTEE_WALK if proved_by == COMMITTEE_WALK else BEFORE_WALK


def solver_name(solver: "str | Solver") -> str:
    """Return the name of a solver; empty for the engine ``auto``, whose steps have names of their own."""
    if solver == AUTO:
        return ""
    name = solver if isinstance(solver, str) else solver.name
    return TITLES.get(name, name)


def sizes_in_words(least: int, most: int, n_classifiers: int) -> str:
    """Return the limits on size as text; empty if any size is allowed.

    >>> sizes_in_words(10, 10, 100), sizes_in_words(1, 10, 100), sizes_in_words(3, 10, 100)
    ('of exactly 10 members', 'of at most 10 members', 'of 3 to 10 members')
    >>> sizes_in_words(3, 100, 100), sizes_in_words(1, 100, 100)
    ('of at least 3 members', '')
    """
    if least == most:
        return f"of exactly {counted(most, 'member')}"
    if most < n_classifiers:
        return f"of at most {counted(most, 'member')}" if least <= 1 else f"of {least} to {most} members"
    return f"of at least {least} members" if least > 1 else ""


def selections_meant(
    terms: Terms, result: PrunedSelection, n_classifiers: int, front: Front | None = None
) -> str:
    """Return the text on the selections that were compared, to follow "selection"; empty for all selections.

    `terms`: the request. `result`: the result, with the prover of its bound. `n_classifiers`: size of the
    pool. `front`: front from which the result was picked, or None.
    """
    least, most = terms.min_size, terms.max_size
    most = n_classifiers if most is None else most
    if front is not None:  # the price that is paid is known of committees of few members
        most = min(most, front.extras.get("max_size", most))
    sizes = sizes_in_words(least, most, n_classifiers)
    if least == most and terms.why_sizes:
        sizes = f"of {counted(most, 'member')}, a size that auto chose"
    limits = ["cost"] if terms.max_cost is not None else []
    limits += ["diversity"] if terms.diversity != "none" else []
    within = f"within the limits on {all_of(limits)}" if limits else ""
    cheaper = ""
    if front is not None and result.proved_by == CHEAPER_WALK:
        prices = [
            one.name for one in front.objectives if one.sense is Sense.MIN and one.name not in MEAN_LOSSES
        ]
        cheaper = f"within its own {all_of(prices)}"
    return " ".join(filter(None, [sizes, within, cheaper]))


def evidence_of(
    result: PrunedSelection, solver: str, among: str = "", rows: str = "selection rows"
) -> Evidence:
    """Return the evidence in a result of exact pruning.

    `result`: result with a selection. `solver`: option `solver` of the run. `among`: text by
    :func:`selections_meant`. `rows`: name of the rows on which the value is counted.
    """
    certified = getattr(result, "certified_bound", None)
    parts, why = "", ""
    if certified is None:
        why = _why_none(solver) if result.counted_from == "votes" else "its tangents are too many to recheck"
        if result.proved_by in {COMMITTEE_WALK, CHEAPER_WALK, BEFORE_WALK}:
            why = "a full search of committees writes none"
        elif result.proved_by == WITHIN_LIMITS:
            why = "a front of committees writes none"
    else:
        parts = certified_by(result.certificate or {})
    largest = result.objective.sense is Sense.MAX
    beyond = certified is None or (result.bound < certified if largest else result.bound > certified)
    return Evidence(
        objective=result.objective.name,
        value=result.value,
        certified_bound=certified,
        certified_by=parts,
        no_certificate=why,
        bound=result.bound,
        bound_by=result.proved_by if beyond else parts,
        rows=rows,
        within_tolerance=result.status is Status.OPTIMAL,
        sense=str(result.objective.sense),
        counted_from=result.counted_from,
        among=among,
    )


def _why_none(solver: str) -> str:
    if solver != AUTO:
        return f"{solver_name(solver)} alone writes none"
    return "the proof was stopped early"
