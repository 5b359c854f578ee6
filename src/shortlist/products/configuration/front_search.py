"""Search for the front of a product line, by a decision diagram or integer programs, with checks."""

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError, SolverError
from shortlist.logic.clauses import Clauses
from shortlist.logic.diagram import Diagram
from shortlist.methods.integer.engines import DIAGRAM, ProgramShape, engine_for
from shortlist.methods.program_methods import ProgramOptions, SearchOptions, integer_method
from shortlist.pareto import nondominated_unique
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.question import AutoOptions, DiagramOptions, ProductQuestion
from shortlist.products.formulas import Linear
from shortlist.products.model import Constraint, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.milp.program import LinearObjective, Program

DIAGRAM_SHARE = 0.3
"""Share of a time limit that ``auto`` spends on making the diagram; also the share of the remaining time for
the diagram's front. A useful diagram is mostly complete within seconds; the rest of the time is for integer
programs.
"""


def find_front(
    question: ProductQuestion, method: str, options: SearchOptions, budget: Budget
) -> tuple[Front, Diagram | None]:
    """Find the front of a question, which has no contradiction, by a method; return its diagram too, if any.

    Every product is checked. ``front.extras["why"]`` names the engine and the reason for it. For `question`,
    `method` and `options` see :func:`shortlist.products.configuration.product_front.configure`.
    """
    diagram, why = None, f"asked for {method}"
    if isinstance(options, AutoOptions):
        front, diagram, why = _by_auto(question, options, budget)
    elif isinstance(options, DiagramOptions):
        diagram, none = diagram_of(question, max_nodes=options.max_nodes, budget=budget)
        if diagram is not None:
            front = front_by_diagram(question, diagram, options, budget)
        elif budget.stopped:
            front = no_products(question, Proof(ProofKind.NONDOMINATED, limit=budget.limit_text), "diagram")
            why = none
        else:
            raise BadInputError(f"method 'diagram' needs a diagram, but {none}. Take 'auto' or 'exact'.")
    else:
        front = front_by_program(question, method, options, budget)
        why = _reason(why, front)
    return dataclasses.replace(front, seconds=budget.elapsed, extras={**front.extras, "why": why}), diagram


def _by_auto(
    question: ProductQuestion, options: AutoOptions, budget: Budget
) -> tuple[Front, Diagram | None, str]:
    """Use the diagram, or integer programs if the diagram does not end within its share of the time."""
    diagram, why = diagram_of(question, max_nodes=options.max_nodes, budget=budget.share(DIAGRAM_SHARE))
    shape = ProgramShape(
        n_objectives=len(question.objectives),
        n_columns=question.model.n_features,
        n_rows=question.model.n_rules,
        has_diagram=diagram is not None,
    )
    if diagram is None or engine_for(shape).name != DIAGRAM:
        front = front_by_program(question, "exact", options, budget)
        return front, None, _reason(why, front)
    front = front_by_diagram(question, diagram, options, budget.share(DIAGRAM_SHARE))
    if budget.cancellation.cancelled or budget.time_text not in front.proof.limit:
        return front, diagram, why
    exact = front_by_program(question, "exact", options, budget)
    why += ", but its front did not finish within its share of the time"
    return _better(question, front, exact), diagram, _reason(why, exact)


def _reason(why: str, front: Front) -> str:
    """Return the reason for integer programs, and the engine that solved them."""
    return "; ".join([why, *filter(None, [front.extras.get("why")])])


def _better(question: ProductQuestion, rough: Front, exact: Front) -> Front:
    """Return the exact front if it is complete.

    Otherwise return the points of both, with the proof of the rough front.
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


def checked_front(question: ProductQuestion, found: Front, method: str) -> Front:
    """Return the front of the products found by `method`, with products checked and points recomputed.

    The check takes the rules of the model as read; it uses no clauses and no inequalities made from the
    model. Products outside the soft limits are dropped, since the diagram ignores these limits. Raises
    SolverError if a product breaks a rule, or the product's objectives differ from its point.
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
        # a substitute for a missing point may be outside the limits
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


def no_products(question: ProductQuestion, proof: Proof, method: str) -> Front:
    """Return a front without points: there is no product, or a limit came before the first product."""
    points = np.empty((0, len(question.objectives)), np.int64)
    selections = np.empty((0, question.model.n_features), np.uint8)
    return products_front(question, points, selections, proof, method=method)


def diagram_of(question: ProductQuestion, *, max_nodes: int, budget: Budget) -> tuple[Diagram | None, str]:
    """Return a diagram of the products within requirements and hard limits, or None, and the reason."""
    from shortlist.logic.compilation import compile_diagram

    limits = question.hard_limits
    try:
        clauses = to_clauses(with_constraints(question.model, limits))
    except BadInputError:
        what = f"limit {limits[0].name.removeprefix('limit ')!r}" if limits else "a linear constraint"
        return None, f"{what} needs too many clauses"
    diagram = compile_diagram(
        clauses.with_units(question.requirements.literals),
        max_nodes=max_nodes,
        rng=np.random.default_rng(budget.seed),
        budget=budget,
    )
    if diagram is None and budget.stopped:
        return None, "the time for making a diagram was over"
    if diagram is None:
        return None, f"no variable order gave a diagram within {max_nodes:,} nodes"
    return diagram, f"the diagram has {diagram.n_nodes:,} nodes, within the budget of {max_nodes:,}"


def front_by_diagram(
    question: ProductQuestion, diagram: Diagram, options: DiagramOptions, budget: Budget
) -> Front:
    """Return the front of a diagram, checked and within the limits on objectives."""
    from shortlist.methods.diagram.diagram_front import diagram_front
    from shortlist.methods.diagram.sweep import SweepSettings

    goals = [goal.objective for goal in question.objectives]
    tolerance = options.tolerance
    costs, offsets = padded_costs(question, diagram.n_variables)
    front = diagram_front(
        diagram,
        costs,
        goals,
        [f"variable {i}" for i in range(diagram.n_variables)],
        offsets=offsets,
        tolerance=[float(tolerance.get(goal.name, 0.0)) for goal in goals] if tolerance else None,
        settings=SweepSettings(options.max_bytes),
        budget=budget,
    )
    return checked_front(question, front, "diagram")


def front_by_program(question: ProductQuestion, method: str, options: SearchOptions, budget: Budget) -> Front:
    """Return the front, or a part of it, by integer programs with all limits as rows, and checked."""
    assert isinstance(options, ProgramOptions), f"{method} needs its own options, got {options!r}"
    front = integer_method(method, options, partial(_feature_clauses, question))(
        program_of(question, two_linears(question)), solver=options.solver, budget=budget
    )
    if len(question.objectives) == 1:
        missing = None if front.proof.missing is None else front.proof.missing[:1]
        front = dataclasses.replace(
            front,
            objectives=front.objectives[:1],
            values=front.values[:, :1],
            proof=dataclasses.replace(front.proof, missing=missing),
            extras=dict(front.extras) | {"ideal": list(front.extras.get("ideal", []))[:1]},
        )
    return checked_front(question, front, method)


def two_linears(question: ProductQuestion) -> "list[LinearObjective]":
    """Return the objectives for a program; add a constant second objective if there is only one."""
    linears = [goal.linear() for goal in question.objectives]
    if len(linears) == 1:
        name = "nothing" if linears[0].objective.name != "nothing" else "nothing else"
        nothing = np.zeros(question.model.n_features)
        linears.append(dataclasses.replace(linears[0], objective=Objective(name), costs=nothing, offset=0.0))
    return linears


def program_of(question: ProductQuestion, linears: "Sequence[LinearObjective] | None" = None) -> "Program":
    """Return the integer program of a question; `linears`, if given, replace its objectives."""
    from shortlist.products.inequalities import to_program

    chosen = [goal.linear() for goal in question.objectives] if linears is None else linears
    model = with_constraints(question.model, question.limits)
    return to_program(model, objectives=chosen, fixed=question.fixed)


def configurations_by_diagram(question: ProductQuestion, diagram: Diagram, point: Points) -> Iterator[Mask]:
    """Yield every product with the objectives `point`, from a diagram."""
    from shortlist.methods.diagram.diagram_front import configurations

    costs, offsets = padded_costs(question, diagram.n_variables)
    for selected in configurations(diagram, costs, point, offsets=offsets):
        yield selected[: question.model.n_features]


def configurations_by_program(question: ProductQuestion, point: Points) -> Iterator[Mask]:
    """Yield every product with the objectives `point`, each by one integer program.

    A last integer program finds that there is no further product.

    Raises SolverError if the solver cannot decide whether there is another product.
    """
    from shortlist.milp.backends import open_solver
    from shortlist.products.inequalities import to_program

    n = question.model.n_features
    equal = []
    for goal, value in zip(question.objectives, point.tolist(), strict=True):
        used = np.flatnonzero(goal.minimised)
        variables, factors = tuple((used + 1).tolist()), goal.minimised[used]
        rest = value - goal.offset * goal.objective.sign
        equal.append(Constraint(Linear(tuple(factors.tolist()), variables, rest)))
        equal.append(Constraint(Linear(tuple((-factors).tolist()), variables, -rest)))
    model = with_constraints(question.model, [*question.limits, *equal])
    program = to_program(model, objectives=[question.objectives[0].linear()], fixed=question.fixed)
    backend = open_solver("highs")
    while (answer := backend.open(program).solve()).values is not None:
        selected = answer.values[:n] > 0.5
        yield selected
        other = np.zeros((1, program.n_columns))
        other[0, :n] = np.where(selected, -1, 1)
        program = program.with_rows(other, 1 - int(selected.sum()), np.inf)
    if answer.status is not Status.INFEASIBLE:
        raise SolverError(
            f"solver 'highs' did not decide whether there are more products ({answer.limit}). Take method "
            "'diagram'."
        )


def padded_costs(question: ProductQuestion, n_variables: int) -> tuple[Points, NDArray[np.int64]]:
    """Return costs of the variables of clauses, 0 for auxiliary variables, and the objectives' constants."""
    costs = np.zeros((len(question.objectives), n_variables), dtype=np.int64)
    costs[:, : question.model.n_features] = [goal.minimised for goal in question.objectives]
    offsets = np.array([goal.offset * goal.objective.sign for goal in question.objectives], dtype=np.int64)
    return costs, offsets


def _feature_clauses(question: ProductQuestion) -> Clauses | None:
    """Return the clauses that hold in every product within the requirements; None if there are none."""
    try:
        clauses = to_clauses(question.model)
    except BadInputError:
        return None
    n = question.model.n_features
    own = [clause for clause in clauses if all(abs(literal) <= n for literal in clause)]
    return Clauses.from_clauses(n, own).with_units(question.fixed)
