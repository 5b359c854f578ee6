"""What a method finds for a question, within its time, every product checked."""

import dataclasses
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist.errors import BadInputError
from shortlist.logic.diagram import Diagram
from shortlist.methods.program_methods import ProgramOptions, SearchOptions
from shortlist.pareto import nondominated_unique
from shortlist.products.configuration.checked_front import checked_front, products_front
from shortlist.products.configuration.evolved_front import front_by_evolution
from shortlist.products.configuration.front_search import (
    Question,
    diagram_of,
    front_by_diagram,
    front_by_program,
)
from shortlist.products.configuration.search_options import AutoOptions, DiagramOptions, EvolutionOptions
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget

DIAGRAM_SHARE = 0.3
"""Part of a time limit that ``auto`` spends on making the diagram, and of the rest on its front. A diagram
that is of use is mostly there within seconds; what is left must do for integer programs.
"""


@dataclass(frozen=True, eq=False)
class Found:
    """A checked front, and the diagram it came from, if any."""

    front: Front
    diagram: Diagram | None = None


def find_front(question: Question, method: str, options: SearchOptions, budget: Budget) -> Found:
    """Return what a method finds for a question whose requirements contradict nothing, every product checked.

    ``front.extras["why"]`` says why this method was taken. See
    :func:`shortlist.products.configuration.product_front.configure` for the rest.
    """
    diagram = None
    if isinstance(options, AutoOptions):
        front, diagram, why = _by_auto(question, options, budget)
    elif isinstance(options, DiagramOptions):
        front, diagram, why = _by_diagram_alone(question, options, budget)
    else:
        front, why = _by_method(question, method, options, budget), f"asked for {method}"
    extras = {**front.extras, "why": why}
    return Found(dataclasses.replace(front, seconds=budget.elapsed, extras=extras), diagram)


Searched: TypeAlias = tuple[Front, Diagram | None, str]
"""A checked front, the diagram it came from, if any, and why it came from there."""


def _by_auto(question: Question, options: AutoOptions, budget: Budget) -> Searched:
    """Take the diagram, and integer programs where it does not end within its share of the time."""
    diagram, why = _diagram(question, options, budget.share(DIAGRAM_SHARE))
    if diagram is None:
        return _by_method(question, "exact", options, budget), None, why
    front = _by_diagram(question, diagram, options, budget.share(DIAGRAM_SHARE))
    if budget.cancellation.cancelled or budget.time_text not in front.proof.limit:
        return front, diagram, why
    exact = _by_method(question, "exact", options, budget)
    why += ", but its front did not come to an end within its share of the time"
    return _better(question, front, exact), diagram, why


def _by_diagram_alone(question: Question, options: DiagramOptions, budget: Budget) -> Searched:
    """Take the diagram, and nothing else where there is none in time."""
    diagram, why = _diagram(question, options, budget)
    if diagram is not None:
        return _by_diagram(question, diagram, options, budget), diagram, "asked for diagram"
    if budget.stopped:
        return _nothing(question, budget.limit_text), None, why
    raise BadInputError(f"method 'diagram' needs a diagram, but {why}. Take 'auto' or 'exact'.")


def _by_method(question: Question, name: str, options: SearchOptions, budget: Budget) -> Front:
    """Return what integer programs or evolution find."""
    if isinstance(options, EvolutionOptions):
        front = front_by_evolution(question, method=name, options=options, budget=budget)
    elif isinstance(options, ProgramOptions):
        front = front_by_program(question, method=name, options=options, budget=budget)
    else:
        raise TypeError(f"{name} needs its own options, got {options!r}")
    return checked_front(question, front, name)


def _diagram(question: Question, options: DiagramOptions, budget: Budget) -> tuple[Diagram | None, str]:
    """Return the diagram if it can be made, and why or why not."""
    rng = np.random.default_rng(budget.seed)
    return diagram_of(question, max_nodes=options.max_nodes, rng=rng, budget=budget)


def _by_diagram(question: Question, diagram: Diagram, options: DiagramOptions, budget: Budget) -> Front:
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


def _better(question: Question, rough: Front, exact: Front) -> Front:
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


def _nothing(question: Question, limit: str) -> Front:
    """Return a front without points, because a limit came before the first."""
    n = len(question.objectives)
    return products_front(
        question,
        np.empty((0, n), np.int64),
        np.empty((0, question.model.n_features), np.uint8),
        Proof(ProofKind.NONDOMINATED, limit=limit),
        method="diagram",
    )
