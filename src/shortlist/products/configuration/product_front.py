"""Fronts of the products of a feature model by objectives, checked against the model."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._validation import as_count, as_positive_seconds
from shortlist._words import all_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.diagram import Diagram
from shortlist.pickles import saved_from
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import (
    NO_REQUIREMENTS,
    some_products,
)
from shortlist.products.configuration.front_search import (
    configurations_by_diagram,
    configurations_by_program,
    find_front,
    no_products,
    products_front,
)
from shortlist.products.configuration.question import (
    DiagramOptions,
    FeatureObjective,
    ProductQuestion,
    make_question,
    parse_question,
    search_options,
)
from shortlist.products.configuration.requirements import Requirements, from_literals
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs import Cancellation, Report, silent
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.products.configuration.relaxations import Relaxations

GRACE_S = 1.0
"""Seconds of a last search for one product, if none was found within the time limit."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Configured:
    """Answer of :func:`configure`: a front, its status and method."""

    status: Status
    """OPTIMAL: the front is complete. FEASIBLE: points, with a weaker proof. INFEASIBLE: no product meets
    the requirements. UNKNOWN: a limit ended the search before anything was found.
    """
    front: Front
    """Front with its points; without points if there is no product, or none was found."""
    reason: str
    """Reason why there are no points, or why the method was chosen."""
    conflict: tuple[str, ...]
    """Sentences for the parts of a contradiction of rules, requirements and limits, with the values that the
    other parts leave to each limit; empty if there is a product. No part can be left out, unless the time
    ended first.
    """
    implied: Requirements
    """Features that the requirements imply, without the core and dead features of the model."""
    question: ProductQuestion
    """Model, objectives, limits and requirements."""
    diagram: Diagram | None = None
    """Decision diagram, if one was made."""
    relaxations: "Relaxations | None" = None
    """Changes of limits and requirements that make a product possible; None if there is a product."""

    def configurations(self, index: int) -> Iterator[Mask]:
        """Yield every product at point `index` of the front, as a mask of the features.

        Products come from the diagram if there is one, otherwise from one integer program each. Raises
        BadInputError if there is no such point.
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
    time_limit_s: float | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    **options: Any,
) -> Configured:
    """Find the non-dominated products of a feature model.

    Requirements are checked for contradiction first. Then a decision diagram of all products is made and its
    front computed from the bottom up (:func:`shortlist.methods.diagram.diagram_front.diagram_front`), or
    integer programs are solved (:mod:`shortlist.methods`). Every product of the answer is
    checked against the rules of the model as read, and its objectives are added up again from the attributes,
    in integers.

    Parameters
    ----------
    model : FeatureModel
        Model of the product line.
    objectives : str or sequence of FeatureObjective
        Objectives, such as ``"min deselected, min cost"``.
    attributes : mapping of str to Attribute, optional
        Attributes for objectives and limits given as text. Default: those of the model.
    limits : sequence of str or Constraint
        Limits such as ``"cost<=120"``. A limit that bounds an objective in its better direction, such as
        ``cost<=120`` for ``min cost``, keeps a part of the front: the diagram needs no clauses for it. Other
        limits become clauses.
    requirements : Requirements, optional
        Features that must be selected, and features that must be deselected.
    method : str, default="auto"
        ``auto`` takes ``diagram`` if it compiles within `max_nodes`, else ``exact``; ``front.extras["why"]``
        says which and why. ``exact``, ``cwmoip`` and ``epsilon-constraint`` find complete fronts by integer
        programs, and ``solrep`` a representation of proved points.
    time_limit_s : float, optional
        Wall-clock limit of the whole run, the check of the requirements and compilation included. ``auto``
        spends a part of it on the diagram and keeps the rest for integer programs. The last program and the
        witnesses may exceed the limit a little. If nothing was found, a search for one product takes a
        further second.
    report, cancellation
        Receiver of progress reports, and switch that ends the run with the points found.
    **options
        The fields of the method's class in :mod:`~shortlist.products.configuration.question`.

    Returns
    -------
    Configured
        A contradiction is a status, with its parts, and no error. The candidates of the front are the
        features, its decisions 0 or 1: one product for each point; ``Configured.configurations`` gives all
        products of a point. If the method finds nothing in time, the front's only point is a product found by
        satisfiability, if this product is within the limits.

    Raises
    ------
    BadInputError
        If an objective, limit, option or method is unknown, an option is not for the method, or the diagram
        is requested and does not fit.
    MissingDependencyError
        If the solver is not installed.
    SolverError
        If a product found fails the check.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
    >>> groups = [make_group(0, [1], "optional"), make_group(0, [2], "optional")]
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=groups)
    >>> cost = Attribute("cost", np.array([100, 25, 5]), 10)
    >>> answer = configure(phone, "min deselected, min cost", attributes={"cost": cost}, limits=["cost < 13"])
    >>> answer.front.values.tolist(), answer.front.method
    ([[1.0, 10.5], [2.0, 10.0]], 'diagram')
    """
    chosen = search_options(method, **options)
    budget = Budget(
        as_positive_seconds(time_limit_s, "time_limit_s"),
        seed=chosen.seed,
        report=report,
        cancellation=cancellation or Cancellation(),
    )
    goals, bounds = parse_question(model, objectives, limits, attributes)
    if isinstance(chosen, DiagramOptions) and chosen.tolerance:
        _check_tolerance(goals, chosen.tolerance)
    question, feasibility = make_question(model, goals, bounds, requirements, budget=budget)
    if feasibility.conflict:
        from shortlist.products.configuration.relaxations import find_relaxations

        reason = "the constraints contradict each other" + (
            " and the requirements" if requirements.literals else ""
        )
        changes = find_relaxations(
            model,
            question.limits,
            requirements.literals,
            among=feasibility.required,
            places=(),
            budget=budget,
        )
        return _infeasible(question, reason, feasibility.conflict, budget.elapsed, relaxations=changes)
    front, diagram = find_front(question, method, chosen, budget)
    why = str(front.extras["why"])
    implied = from_literals(model, feasibility.implied)
    if not len(front) and front.proof.kind is ProofKind.COMPLETE:
        from shortlist.products.configuration.contradictions import told_contradiction
        from shortlist.products.configuration.relaxations import find_relaxations

        literals = requirements.literals
        found, conflict = told_contradiction(model, question.limits, literals, budget=budget)
        changes = find_relaxations(
            model, question.limits, literals, among=found.literals, places=found.limits, budget=budget
        )
        reason = "no product is within the limits" if bounds else "the constraints contradict each other"
        return _infeasible(question, reason, conflict, budget.elapsed, relaxations=changes, implied=implied)
    if not len(front):
        why = (
            f"no point of the front was found within {front.proof.limit}"
            if front.proof.limit
            else "no product within the limits was found"
        )
        front = dataclasses.replace(_first_product(question, front), method=method, seconds=budget.elapsed)
        if len(front):
            why += "; this is the product that shows that there is one"
    status = Status.OPTIMAL if front.proof.kind is ProofKind.COMPLETE else Status.FEASIBLE
    return Configured(status if len(front) else Status.UNKNOWN, front, why, (), implied, question, diagram)


def _check_tolerance(goals: Sequence[FeatureObjective], tolerance: Mapping[str, float]) -> None:
    names = [goal.objective.name for goal in goals]
    for name, value in tolerance.items():
        if name not in names:
            raise BadInputError(
                f"`tolerance` names the objective {name!r}, but there are "
                f"{all_of(names)}.{did_you_mean(name, names)}"
            )
        if not 0 <= value < np.inf:
            raise BadInputError(f"tolerance of {name!r} must be a number of at least 0, got {value}.")


def _first_product(question: ProductQuestion, empty: Front) -> Front:
    """Return a front of one product from satisfiability; the empty front if it is beyond the limits."""
    products = some_products(question.model, question.requirements, budget=Budget(GRACE_S)).astype(np.uint8)
    within = are_valid(with_constraints(question.model, question.limits), products)
    proof = dataclasses.replace(empty.proof, kind=ProofKind.APPROXIMATE, missing=None)
    return products_front(
        question,
        question.points(products[within]),
        products[within],
        proof if within.any() else empty.proof,
        method=empty.method,
        extras=dict(empty.extras),
    )


def _infeasible(
    question: ProductQuestion,
    reason: str,
    conflict: tuple[str, ...],
    seconds: float,
    *,
    relaxations: "Relaxations",
    implied: Requirements = NO_REQUIREMENTS,
) -> Configured:
    proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(question.objectives))
    front = dataclasses.replace(no_products(question, proof, "contradiction"), seconds=seconds)
    return Configured(Status.INFEASIBLE, front, reason, conflict, implied, question, relaxations=relaxations)
