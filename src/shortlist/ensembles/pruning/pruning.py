"""From the name of an objective to a selection."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from shortlist._validation import AUTO, as_choice
from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.goals.class_weights import CLASS_OBJECTIVES, ClassWeights, weights_of
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import PRUNING_OBJECTIVES, Weights
from shortlist.ensembles.pruning.engine import prove
from shortlist.ensembles.pruning.evidence import solver_name
from shortlist.ensembles.pruning.problems import problem_of
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes, merge_class_rows
from shortlist.errors import BadInputError
from shortlist.milp import SOLVERS, Solver, open_solver
from shortlist.runs.budget import Budget

ObjectiveName: TypeAlias = str | Mapping[Any, float]
"""``accuracy``, ``balanced-accuracy`` and so on, ``auto`` for accuracy, or weights."""


def parse_objective(objective: ObjectiveName, *, n_classes: int = 2) -> ObjectiveName:
    """Return an objective of votes by its name, or weights as they are.

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

    Parameters
    ----------
    votes : Votes or ClassVotes
        Validation rows.
    objective : str or mapping
        A weighted sum, by name or by its weights; ``auto`` is accuracy. Weights of several classes are by
        their index.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        Default no limit. See :func:`prune_exactly`.
    solver : str or Solver
        As of that function.

    Returns
    -------
    EnsembleSelection or ClassSelection
        As of :func:`shortlist.ensembles.pruning.engine.prove`.

    Raises
    ------
    BadInputError
        If the objective or the solver is unknown.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.class_votes import class_votes
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
        :class:`shortlist.milp.Limits`), for ``"auto"`` in that of CP-SAT; with one
        thread and no other limit the answer is reproducible. Progress is told with value and bound in the
        user's unit. Default no limit.
    solver : str or Solver, default="auto"
        ``"auto"``: :func:`shortlist.ensembles.pruning.engine.prove` by itself. The name of a backend, or a
        backend: that one alone, on the paper's program as it stands, or that of
        :mod:`shortlist.ensembles.proofs.programs.plurality_program`.

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
    return prove(
        problem_of(votes, weights, limits),
        budget or Budget(),
        solver=backend,
        solver_name=solver_name(solver),
    )
