"""What a method finds for a question, within its time, every product checked."""

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.errors import BadInputError, SolverError
from shortlist.logic.diagram import Diagram
from shortlist.methods.integer.engines import DIAGRAM, ProgramShape, engine_for
from shortlist.methods.program_methods import ProgramOptions, SearchOptions
from shortlist.pareto import nondominated_unique
from shortlist.products.configuration.front_search import (
    ProductQuestion,
    diagram_of,
    front_by_diagram,
    front_by_program,
)
from shortlist.products.configuration.search_options import AutoOptions, DiagramOptions
from shortlist.products.feature_models.evaluation import are_valid
from shortlist.products.feature_models.model import with_constraints
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget

DIAGRAM_SHARE = 0.3
"""Part of a time limit that ``auto`` spends on making the diagram, and of the rest on its front. A diagram
that is of use is mostly there within seconds; what is left must do for integer programs.
"""


@dataclass(frozen=True, eq=False)
class FoundFront:
    """A checked front, and the diagram it came from, if any."""

    front: Front
    diagram: Diagram | None = None


def find_front(question: ProductQuestion, method: str, options: SearchOptions, budget: Budget) -> FoundFront:
    """Return what a method finds for a question whose requirements contradict nothing, every product checked.

    ``front.extras["why"]`` says which engine answered and why. See
    :func:`shortlist.products.configuration.product_front.configure` for the rest.
    """
    diagram = None
    if isinstance(options, AutoOptions):
        front, diagram, why = _by_auto(question, options, budget)
    elif isinstance(options, DiagramOptions):
        front, diagram, why = _by_diagram_alone(question, options, budget)
    else:
        front = _by_method(question, method, options, budget)
        why = _reason(f"asked for {method}", front)
    extras = {**front.extras, "why": why}
    return FoundFront(dataclasses.replace(front, seconds=budget.elapsed, extras=extras), diagram)


Searched: TypeAlias = tuple[Front, Diagram | None, str]
"""A checked front, the diagram it came from, if any, and why it came from there."""


def _by_auto(question: ProductQuestion, options: AutoOptions, budget: Budget) -> Searched:
    """Take the diagram, and integer programs where it does not end within its share of the time."""
    diagram, why = diagram_of(question, max_nodes=options.max_nodes, budget=budget.share(DIAGRAM_SHARE))
    shape = ProgramShape(
        n_objectives=len(question.objectives),
        n_columns=question.model.n_features,
        n_rows=question.model.n_rules,
        has_diagram=diagram is not None,
    )
    if diagram is None or engine_for(shape).name != DIAGRAM:
        front = _by_method(question, "exact", options, budget)
        return front, None, _reason(why, front)
    front = _by_diagram(question, diagram, options, budget.share(DIAGRAM_SHARE))
    if budget.cancellation.cancelled or budget.time_text not in front.proof.limit:
        return front, diagram, why
    exact = _by_method(question, "exact", options, budget)
    why += ", but its front did not finish within its share of the time"
    return _better(question, front, exact), diagram, _reason(why, exact)


def _reason(why: str, front: Front) -> str:
    """Return why there are integer programs, and which engine solved them."""
    return "; ".join([why, *filter(None, [front.extras.get("why")])])


def _by_diagram_alone(question: ProductQuestion, options: DiagramOptions, budget: Budget) -> Searched:
    """Take the diagram, and nothing else where there is none in time."""
    diagram, why = diagram_of(question, max_nodes=options.max_nodes, budget=budget)
    if diagram is not None:
        return _by_diagram(question, diagram, options, budget), diagram, "asked for diagram"
    if budget.stopped:
        return _nothing(question, budget.limit_text), None, why
    raise BadInputError(f"method 'diagram' needs a diagram, but {why}. Take 'auto' or 'exact'.")


def _by_method(question: ProductQuestion, name: str, options: SearchOptions, budget: Budget) -> Front:
    assert isinstance(options, ProgramOptions), f"{name} needs its own options, got {options!r}"
    front = front_by_program(question, method=name, options=options, budget=budget)
    return checked_front(question, front, name)


def _by_diagram(
    question: ProductQuestion, diagram: Diagram, options: DiagramOptions, budget: Budget
) -> Front:
    tolerance = options.tolerance
    names = [goal.objective.name for goal in question.objectives]
    front = front_by_diagram(
        question,
        diagram,
        tolerance=[float(tolerance.get(name, 0.0)) for name in names] if tolerance else None,
        max_bytes=options.max_bytes,
        budget=budget,
    )
    return checked_front(question, front, "diagram")


def _better(question: ProductQuestion, rough: Front, exact: Front) -> Front:
    """Return the exact front if it is complete.

    Otherwise the points of both, with what is proved of the rough one.
    """
    if exact.proof.kind is ProofKind.COMPLETE or not len(rough):
        return exact
    points = np.vstack([rough.points, exact.points])
    selections = np.vstack([rough.decisions, exact.decisions]).astype(np.uint8)
    kept = nondominated_unique(points)
    return products_front(
        question,
        points[kept],
        selections[kept],
        rough.proof,
        method=rough.method,
        extras={**rough.extras, **exact.extras},
    )


def _nothing(question: ProductQuestion, limit: str) -> Front:
    """Return a front without points, because a limit came before the first."""
    n = len(question.objectives)
    return products_front(
        question,
        np.empty((0, n), np.int64),
        np.empty((0, question.model.n_features), np.uint8),
        Proof(ProofKind.NONDOMINATED, limit=limit),
        method="diagram",
    )


def checked_front(question: ProductQuestion, found: Front, method: str) -> Front:
    """Return the front of the products that `method` found, each checked and its points added up again.

    Judged are the rules of the model as read; neither clauses nor inequalities made from it take part.
    Products outside the soft limits are dropped: the diagram leaves those to this check. Raises
    SolverError if a product breaks a rule, or its objectives are not those of its point.
    """
    model = with_constraints(question.model, question.hard_limits)
    selections: NDArray[np.uint8] = found.decisions[:, : model.n_features].astype(np.uint8)
    if not are_valid(model, selections).all() or not question.meets_requirements(selections).all():
        raise SolverError(
            f"method {method!r} found a configuration that breaks a rule of the model. "
            "Use another method or solver."
        )
    points: Points = question.points(selections)
    if not np.array_equal(points, found.points):
        raise SolverError(
            f"method {method!r} found a configuration whose objectives are not those of its point. "
            "Use another method or solver."
        )
    within = np.ones(len(found), dtype=bool)
    proof = found.proof
    if proof.kind is ProofKind.COMPLETE:
        proof = dataclasses.replace(proof, missing=(0.0,) * len(question.objectives))
    if soft := question.soft_limits:
        within = are_valid(with_constraints(model, soft), selections)
        # what stands in for a missing point may be outside the limits
        if proof.kind is ProofKind.APPROXIMATE:
            proof = dataclasses.replace(proof, missing=None)
    return products_front(
        question, points[within], selections[within], proof, method=method, extras=dict(found.extras)
    )


def products_front(
    question: ProductQuestion, points: Points, selections: NDArray[np.uint8], proof: Proof, **facts: Any
) -> Front:
    """Return a front over the features of the model."""
    kinds = [goal.objective for goal in question.objectives]
    return Front.from_points(kinds, points, selections, question.model.labels, proof, **facts)
