"""Exact pruning: the engine made for the problem, or the paper's program in one solver."""

from collections.abc import Mapping

import numpy as np

from shortlist._validation import as_choice
from shortlist.ensembles.goals.class_weights import class_weights
from shortlist.ensembles.goals.diversity import DiversityLimits, diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.incumbent import ClassSelection, EnsembleSelection
from shortlist.ensembles.pruning.engine import prove
from shortlist.ensembles.pruning.problems import PluralityProblem, ThresholdProblem
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes, merge_class_rows
from shortlist.milp import SOLVERS, Solver, open_solver
from shortlist.runs.budget import Budget

AUTO = "auto"
"""The engine of :mod:`shortlist.ensembles.pruning.engine`, which takes solvers to its last step only."""


SOLVER_TITLES = {"cpsat": "CP-SAT", "highs": "HiGHS", "scip": "SCIP"}
"""What solvers call themselves."""


def solver_name(solver: str | Solver) -> str:
    """Return what a solver calls itself; nothing for the engine, which names its steps."""
    if solver == AUTO:
        return ""
    name = solver if isinstance(solver, str) else solver.name
    return SOLVER_TITLES.get(name, name)


def prune_exactly(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str | Solver = AUTO,
) -> EnsembleSelection:
    """Return the members and the threshold that maximise Eq. 1 of :cite:t:`Bastos2022` within limits.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    weights : Weights
        What decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        Its limit in nodes does not depend on the clock and is in the solver's unit (see
        :class:`shortlist.milp.Limits`), for ``"auto"`` in that of CP-SAT; with one thread and no other
        limit the answer is reproducible. Progress is told with value and bound in the user's unit. Default
        no limit.
    solver : str or Solver, default="auto"
        ``"auto"``: :func:`shortlist.ensembles.pruning.engine.prove`. The name of a backend, or a backend:
        that one alone, on the paper's program as it stands.

    Returns
    -------
    EnsembleSelection
        Threshold, value and confusion are computed from the votes, whatever the solver says. OPTIMAL: the
        value equals the bound, both integers before they are scaled; a solver's bound is its word. INFEASIBLE
        and UNKNOWN carry a reason and choose nothing.

    Raises
    ------
    SolverError
        If the solver's bound is below the value of a selection that keeps the limits: then it is wrong.
    """
    backend = None if solver == AUTO else open_solver(solver) if isinstance(solver, str) else solver
    result = prove(
        ThresholdProblem(votes, weights, limits),
        budget or Budget(),
        solver=backend,
        solver_name=solver_name(solver),
    )
    assert isinstance(result, EnsembleSelection), "two classes have a threshold"
    return result


def prune_plurality_exactly(
    votes: ClassVotes,
    objective: str,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    solver: str = AUTO,
) -> ClassSelection:
    """Return the members whose plurality vote is right most, and a bound on what others reach.

    Parameters
    ----------
    votes : ClassVotes
        Validation rows, merged or not.
    objective : str
        A name in :data:`shortlist.ensembles.goals.class_weights.CLASS_OBJECTIVES`.
    limits : SelectionLimits
        Size, cost and diversity; for the latter see :func:`class_diversity_limits`.
    budget : Budget, optional
        Its limit in nodes does not depend on the clock and is in the solver's unit (see
        :class:`shortlist.milp.Limits`), for ``"auto"`` in that of CP-SAT; with one thread and no other
        limit the answer is reproducible. Progress is told with value and bound in the user's unit. Default
        no limit.
    solver : str, default="auto"
        As in :func:`prune_exactly`; a backend alone gets the program of
        :mod:`shortlist.ensembles.proofs.programs.plurality_program`.

    Returns
    -------
    ClassSelection
        Value and decisions are computed from the votes, whatever a solver says. OPTIMAL: the value equals the
        bound, both integers before they are scaled, up to the tolerance in the proof, if any; a solver's
        bound is its word. INFEASIBLE and UNKNOWN carry a reason and choose nothing.

    Raises
    ------
    BadInputError
        If the objective or the solver is unknown.
    SolverError
        If a solver's bound is below the value of a selection that keeps the limits: then it is wrong.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[0, 0, 2], [2, 1, 1], [0, 2, 2], [1, 2, 0]], [0, 1, 2, 2])
    >>> result = prune_plurality_exactly(votes, "accuracy", selection_limits(3))
    >>> result.mask.tolist(), result.value, result.bound
    ([False, True, False], 1.0, 1.0)
    """
    as_choice(solver, "solver", [AUTO, *SOLVERS])
    merged = merge_class_rows(votes)
    result = prove(
        PluralityProblem(merged, class_weights(objective, merged), limits),
        budget or Budget(),
        solver=None if solver == AUTO else open_solver(solver),
        solver_name=solver_name(solver),
    )
    assert isinstance(result, ClassSelection), "plurality decides for classes"
    return result


def class_diversity_limits(setting: str | Mapping[str, float], votes: ClassVotes) -> DiversityLimits | None:
    """Return the diversity limits for several classes.

    They are those of :func:`~shortlist.ensembles.goals.diversity.diversity_limits`.

    Failure credit asks only who is right and who fails, so it is that of votes "right" on rows that are all
    positive.

    Examples
    --------
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> class_diversity_limits("average", class_votes([[0, 2], [1, 1]], [0, 1])).credit.tolist()
    [[0, 1000000000], [1000000000, 0]]
    """
    right = (votes.codes == votes.labels[:, None]).astype(np.uint8)
    return diversity_limits(setting, Votes(right, np.ones(len(right), dtype=np.uint8), votes.counts))
