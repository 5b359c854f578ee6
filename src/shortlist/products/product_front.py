"""From a feature model and what matters to the front of its products, every point checked against the model."""

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_positive_seconds
from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError, SolverError
from shortlist.front import Front, Proof, ProofKind, Status
from shortlist.logic.diagram import Diagram
from shortlist.products.attributes import Attribute, chosen_attributes, model_attributes
from shortlist.products.evaluation import are_valid
from shortlist.products.feasibility import NO_REQUIREMENTS, check_feasibility, conflicting_limits
from shortlist.products.front_search import (
    Question,
    configurations_by_diagram,
    configurations_by_program,
    diagram_of,
    front_by_diagram,
    front_by_program,
)
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.products.objectives import (
    FeatureObjective,
    limit_name,
    objective_names,
    parse_limit,
    parse_objectives,
)
from shortlist.products.requirements import Requirements
from shortlist.runs import Cancellation, Report, silent

SOLVER_NAMES = ("highs", "cpsat", "scip")
"""The solvers, named here so that a question answered by the diagram loads none."""

METHODS = ("auto", "diagram", "exact", "cwmoip", "epsilon-constraint")
"""Names of the methods; ``exact`` is the search of zones."""


@dataclass(frozen=True, eq=False)
class Configured:
    """What :func:`configure` answers with.

    Attributes
    ----------
    status : Status
        OPTIMAL: the front is complete. FEASIBLE: points, with a weaker proof. INFEASIBLE: no product meets what is
        asked. UNKNOWN: a limit was hit before anything was found.
    front : Front
        The points; without any if there is no product, or none was found.
    reason : str
        Why there are no points, or why this method was taken.
    conflict : tuple of str
        Without a product: constraints, requirements and limits that contradict each other, none of which can be left out.
    implied : Requirements
        Features that the requirements imply, beyond those that every product of the model has or lacks.
    question : Question
        The model and what was asked.
    diagram : Diagram or None
        The decision diagram, where one was made.
    """

    status: Status
    front: Front
    reason: str
    conflict: tuple[str, ...]
    implied: Requirements
    question: Question
    diagram: Diagram | None = None

    def configurations(self, index: int) -> Iterator[Mask]:
        """Yield every product that has point number `index` of the front, one at a time, as a mask of the features.

        From the diagram where there is one, otherwise by one integer program for each product.

        Raises
        ------
        BadInputError
            If there is no such point.
        """
        as_count(index, "index", at_least=0, at_most=len(self.front) - 1)
        point = self.front.points[index]
        if self.diagram is not None:
            return configurations_by_diagram(self.question, self.diagram, point)
        return configurations_by_program(self.question, point)


def configure(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective],
    *,
    attributes: Mapping[str, Attribute] | None = None,
    limits: Sequence[str | Constraint] = (),
    requirements: Requirements = NO_REQUIREMENTS,
    method: str = "auto",
    tolerance: Mapping[str, float] | None = None,
    time_limit_s: float | None = None,
    max_nodes: int = 500_000,
    max_bytes: int = 2_000_000_000,
    solver: str = "highs",
    seed: int = 0,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Configured:
    """Find the non-dominated products of a feature model.

    Requirements are checked for contradiction first. Then either a decision diagram of all products is made and its
    front computed from the bottom up (:func:`shortlist.methods.diagram_front.diagram_front`), or integer programs are
    solved (:mod:`shortlist.methods`). Every product of the answer is checked against the rules of the model as read,
    and its objectives are added up again from the attributes, in integers.

    Parameters
    ----------
    model : FeatureModel
        What may be configured.
    objectives : str or sequence of FeatureObjective
        What matters, for instance ``"min deselected, min cost"``.
    attributes : mapping of str to Attribute, optional
        For objectives and limits given as text. Default: those that came with the model.
    limits : sequence of str or Constraint
        Limits such as ``"cost<=120"``. A limit on an objective in its better direction keeps a part of the front, so
        the diagram answers it without a clause; any other takes part in the clauses.
    requirements : Requirements, optional
        Features that must be in, and features that must be out.
    method : {"auto", "diagram", "exact", "cwmoip", "epsilon-constraint"}, default="auto"
        ``auto`` takes the diagram if it compiles within `max_nodes`, else ``exact``; ``front.extras["why"]`` says which
        and why.
    tolerance : mapping of str to float, optional
        By objective, in its unit: points may be left out as long as each product has a point that is worse by at most this.
        For the diagram only; integer programs give every point.
    time_limit_s : float, optional
        Wall-clock limit. Compiling the diagram, the last program, and the witnesses may pass it a little.
    max_nodes : int, default=500_000
        Budget of the diagram's compilation, in nodes of about 32 bytes.
    max_bytes : int, default=2e9
        Memory for the diagram's sets of vectors.
    solver : str, default="highs"
        Backend of the integer programs.
    seed : int, default=0
        Seed of variable orders and of the solver.
    report, cancellation
        As everywhere: progress, and stopping with what there is.

    Returns
    -------
    Configured
        A contradiction is a status, with the constraints that make it, and no error. The front's candidates are the
        features, its decisions 0 or 1: one product for each point; :meth:`Configured.configurations` gives the others.

    Raises
    ------
    BadInputError
        If an objective, limit, tolerance or method is unknown, or the diagram is asked for and does not fit.
    SolverError
        If a product found does not stand the check.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1], "optional"), make_group(0, [2], "optional")])
    >>> cost = Attribute("cost", np.array([100, 25, 5]), 10)
    >>> answer = configure(phone, "min deselected, min cost", attributes={"cost": cost}, limits=["cost < 13"])
    >>> answer.front.values.tolist(), answer.front.method
    ([[1.0, 10.5], [2.0, 10.0]], 'diagram')
    """
    started = time.perf_counter()
    as_choice(method, "method", METHODS)
    as_choice(solver, "solver", SOLVER_NAMES)
    as_positive_seconds(time_limit_s, "time_limit_s")
    goals, bounds = _parsed(model, objectives, limits, attributes)
    allowed = _tolerances(goals, tolerance, method)
    feasibility = check_feasibility(model, requirements)
    fixed = feasibility.fixed or requirements.literals
    question = Question(model, goals, bounds, requirements, fixed)
    if feasibility.conflict:
        seconds = time.perf_counter() - started
        reason = "the constraints contradict each other" + (
            " and the requirements" if requirements.literals else ""
        )
        return _infeasible(question, reason, feasibility.conflict, seconds)
    diagram, why = None, f"asked for {method}"
    if method in {"auto", "diagram"}:
        diagram, why = diagram_of(question, max_nodes=max_nodes, rng=np.random.default_rng(seed))
        if diagram is None and method == "diagram":
            raise BadInputError(f"method 'diagram' needs a diagram, but {why}. Take 'auto' or 'exact'.")
    left = None if time_limit_s is None else max(1e-3, time_limit_s - (time.perf_counter() - started))
    if diagram is not None:
        found = front_by_diagram(
            question,
            diagram,
            tolerance=allowed,
            max_bytes=max_bytes,
            time_limit_s=left,
            report=report,
            cancellation=cancellation,
        )
    else:
        found = front_by_program(
            question,
            method=method,
            time_limit_s=left,
            solver=solver,
            seed=seed,
            report=report,
            cancellation=cancellation,
        )
    front = _checked(question, found)
    front = dataclasses.replace(
        front,
        proof=_in_whole(front.proof, left, time_limit_s),
        seconds=time.perf_counter() - started,
        extras={**front.extras, "why": why},
    )
    implied = Requirements(
        tuple(v - 1 for v in feasibility.implied if v > 0),
        tuple(-v - 1 for v in feasibility.implied if v < 0),
    )
    if len(front):
        complete = front.proof.kind is ProofKind.COMPLETE
        status = Status.OPTIMAL if complete else Status.FEASIBLE
        return Configured(status, front, why, (), implied, question, diagram)
    if front.proof.kind is not ProofKind.COMPLETE:
        reason = f"no point of the front was found within {front.proof.limit or 'the limits'}"
        return Configured(Status.UNKNOWN, front, reason, (), implied, question, diagram)
    conflict = conflicting_limits(model, bounds, requirements, solver=solver) if bounds else ()
    reason = "no product is within the limits" if bounds else "the constraints contradict each other"
    return _infeasible(question, reason, conflict, time.perf_counter() - started, implied)


def _parsed(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective],
    limits: Sequence[str | Constraint],
    attributes: Mapping[str, Attribute] | None,
) -> tuple[tuple[FeatureObjective, ...], tuple[Constraint, ...]]:
    """Return objectives and limits, reading those that are text."""
    if attributes is None:
        names = [name for _, name in objective_names(objectives)] if isinstance(objectives, str) else []
        names += [limit_name(limit) for limit in limits if isinstance(limit, str)]
        attributes = chosen_attributes(names, [model_attributes(model)], model)
    goals = (
        parse_objectives(objectives, model, attributes) if isinstance(objectives, str) else tuple(objectives)
    )
    if not goals:
        raise BadInputError("objectives must name at least one, got none. Say for instance 'min deselected'.")
    bounds = tuple(
        parse_limit(limit, model, attributes) if isinstance(limit, str) else limit for limit in limits
    )
    return goals, bounds


def _tolerances(
    goals: Sequence[FeatureObjective], tolerance: Mapping[str, float] | None, method: str
) -> tuple[float, ...] | None:
    """Return one tolerance per objective, or None for an exact front."""
    if not tolerance:
        return None
    names = [goal.objective.name for goal in goals]
    for name, value in tolerance.items():
        if name not in names:
            raise BadInputError(f"tolerance names the objective {name!r}, but there are {names}.")
        if not 0 <= value < np.inf:
            raise BadInputError(f"tolerance of {name!r} must be a number of at least 0, got {value}.")
    if method not in {"auto", "diagram"}:
        raise BadInputError(f"tolerance works with the diagram only, got method {method!r}. Take 'diagram'.")
    return tuple(float(tolerance.get(name, 0.0)) for name in names)


def _checked(question: Question, found: Front) -> Front:
    """Return the front of the products that were found, its points added up again; raise if one breaks a rule.

    Products outside the soft limits are dropped: the diagram leaves those to this check.
    """
    model = with_constraints(question.model, question.hard_limits)
    selections: NDArray[np.uint8] = found.decisions[:, : model.n_features].astype(np.uint8)
    if not are_valid(model, selections).all() or not question.meets_requirements(selections).all():
        raise SolverError(
            f"method {found.method!r} found a configuration that breaks a rule of the model. "
            "Use another method or solver."
        )
    points: Points = question.points(selections)
    if not np.array_equal(points, found.points):
        raise SolverError(
            f"method {found.method!r} found a configuration whose objectives are not those of its point. "
            "Use another method or solver."
        )
    within = np.ones(len(found), dtype=bool)
    proof = found.proof
    if proof.kind is ProofKind.COMPLETE:
        proof = dataclasses.replace(proof, missing=(0.0,) * len(question.objectives))
    if soft := question.soft_limits:
        within = are_valid(with_constraints(model, soft), selections)
        if (
            proof.kind is ProofKind.APPROXIMATE
        ):  # what stands in for a missing point may be outside the limits
            proof = dataclasses.replace(proof, missing=None)
    return _front(
        question, points[within], selections[within], proof, method=found.method, extras=dict(found.extras)
    )


def _in_whole(proof: Proof, left: float | None, time_limit_s: float | None) -> Proof:
    """Name the user's time limit in a proof, instead of what was left of it for the method."""
    if left is None or not proof.limit:
        return proof
    whole = f"{time_limit_s:g} s"
    return dataclasses.replace(
        proof, limit=proof.limit.replace(f"{left:g} s", whole).replace("time limit", whole)
    )


def _front(
    question: Question, points: Points, selections: NDArray[np.uint8], proof: Proof, **facts: Any
) -> Front:
    """Return a front over the features of the model."""
    kinds = [goal.objective for goal in question.objectives]
    return Front.from_points(kinds, points, selections, question.model.labels, proof, **facts)


def _infeasible(
    question: Question,
    reason: str,
    conflict: tuple[str, ...],
    seconds: float,
    implied: Requirements = NO_REQUIREMENTS,
) -> Configured:
    """Return the answer that there is no product."""
    n = len(question.objectives)
    front = _front(
        question,
        np.empty((0, n), np.int64),
        np.empty((0, question.model.n_features), np.uint8),
        Proof(ProofKind.COMPLETE, missing=(0.0,) * n),
        method="contradiction",
        seconds=seconds,
    )
    return Configured(Status.INFEASIBLE, front, reason, conflict, implied, question)
