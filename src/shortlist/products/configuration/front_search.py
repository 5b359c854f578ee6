"""The front of a question about a product line, by decision diagram or by integer programs."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError, SolverError
from shortlist.logic.clauses import Clauses
from shortlist.logic.diagram import Diagram
from shortlist.methods.program_methods import ProgramOptions, integer_method
from shortlist.products.configuration.product_objectives import FeatureObjective
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.formulas import Linear
from shortlist.products.feature_models.model import Constraint, FeatureModel, with_constraints
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.milp.program import LinearObjective, Program


@dataclass(frozen=True, eq=False)
class ProductQuestion:
    """What is asked of a product line."""

    model: FeatureModel
    """The model as read."""
    objectives: tuple[FeatureObjective, ...]
    """What matters."""
    limits: tuple[Constraint, ...]
    """Limits, all to be met."""
    requirements: Requirements
    """Features that must be in or out."""
    fixed: tuple[int, ...]
    """Literals that hold in every product that meets the requirements, as far as known."""

    @cached_property
    def hard_limits(self) -> tuple[Constraint, ...]:
        """Limits that decide which products there are."""
        return tuple(limit for limit in self.limits if not self._bounds_an_objective(limit))

    @cached_property
    def soft_limits(self) -> tuple[Constraint, ...]:
        """Limits that are a bound on an objective in its better direction.

        With ``f <= b`` for a minimised f the front is the part of the whole front with ``f <= b``: whatever
        dominates a point within the limit is within it too. So such limits can wait until the front is there.
        """
        return tuple(limit for limit in self.limits if self._bounds_an_objective(limit))

    def _bounds_an_objective(self, limit: Constraint) -> bool:
        """Whether the limit reads ``objective <= number`` with the objective as to minimise."""
        formula = limit.formula
        if not isinstance(formula, Linear):
            return False
        factors = np.zeros(self.model.n_features, dtype=np.int64)
        factors[np.array(formula.variables, dtype=np.int64) - 1] = formula.coefficients
        return any(np.array_equal(factors, goal.minimised) for goal in self.objectives)

    def points(self, selections: NDArray[np.generic]) -> Points:
        """Return the scaled objectives to minimise, ``(n_configurations, n_objectives)``."""
        return np.column_stack([goal.points(selections) for goal in self.objectives])

    def meets_requirements(self, selections: NDArray[np.generic]) -> Mask:
        """Tell which configurations have the features asked for and lack the others."""
        chosen = np.asarray(selections).astype(bool)
        wanted, unwanted = list(self.requirements.select), list(self.requirements.deselect)
        met: Mask = np.asarray(chosen[:, wanted].all(axis=1) & ~chosen[:, unwanted].any(axis=1))
        return met


def diagram_of(question: ProductQuestion, *, max_nodes: int, budget: Budget) -> tuple[Diagram | None, str]:
    """Return a diagram of the products within requirements and hard limits, and why there is one or none."""
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
    question: ProductQuestion,
    diagram: Diagram,
    *,
    tolerance: Sequence[float] | None,
    max_bytes: int,
    budget: Budget,
) -> Front:
    """Return the front of a diagram; limits on objectives are not applied."""
    from shortlist.methods.diagram.diagram_front import diagram_front
    from shortlist.methods.diagram.sweep import SweepSettings

    costs, offsets = padded_costs(question, diagram.n_variables)
    return diagram_front(
        diagram,
        costs,
        [goal.objective for goal in question.objectives],
        [f"variable {i}" for i in range(diagram.n_variables)],
        offsets=offsets,
        tolerance=tolerance,
        settings=SweepSettings(max_bytes),
        budget=budget,
    )


def front_by_program(
    question: ProductQuestion, *, method: str, options: ProgramOptions, budget: Budget
) -> Front:
    """Return the front, or a part of it, by integer programs, all limits as rows."""
    linears = two_linears(question)
    alone = len(question.objectives) == 1
    front = integer_method(method, options, partial(_feature_clauses, question))(
        program_of(question, linears), solver=options.solver, budget=budget
    )
    if alone:
        missing = None if front.proof.missing is None else front.proof.missing[:1]
        front = dataclasses.replace(
            front,
            objectives=front.objectives[:1],
            values=front.values[:, :1],
            proof=dataclasses.replace(front.proof, missing=missing),
            extras=dict(front.extras) | {"ideal": list(front.extras.get("ideal", []))[:1]},
        )
    return front


def two_linears(question: ProductQuestion) -> "list[LinearObjective]":
    """Return the objectives for a program; the methods want two, and a constant one changes no front."""
    linears = [goal.linear() for goal in question.objectives]
    if len(linears) == 1:
        name = "nothing" if linears[0].objective.name != "nothing" else "nothing else"
        nothing = np.zeros(question.model.n_features)
        linears.append(dataclasses.replace(linears[0], objective=Objective(name), costs=nothing, offset=0.0))
    return linears


def program_of(question: ProductQuestion, linears: "Sequence[LinearObjective] | None" = None) -> "Program":
    """Return the integer program of a question, with its own objectives or others."""
    from shortlist.products.encodings.inequalities import to_program

    chosen = [goal.linear() for goal in question.objectives] if linears is None else linears
    model = with_constraints(question.model, question.limits)
    return to_program(model, objectives=chosen, fixed=question.fixed)


def configurations_by_diagram(question: ProductQuestion, diagram: Diagram, point: Points) -> Iterator[Mask]:
    """Yield every product that has the objectives `point`, from a diagram."""
    from shortlist.methods.diagram.diagram_front import configurations

    costs, offsets = padded_costs(question, diagram.n_variables)
    for selected in configurations(diagram, costs, point, offsets=offsets):
        yield selected[: question.model.n_features]


def configurations_by_program(question: ProductQuestion, point: Points) -> Iterator[Mask]:
    """Yield every product that has the objectives `point`, one integer program for each and one for the end.

    Raises SolverError if the solver cannot tell whether there is another one.
    """
    from shortlist.milp.backends import open_solver
    from shortlist.products.encodings.inequalities import to_program

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
    """Return costs of the variables of clauses, auxiliary ones at no cost, and the constant parts."""
    costs = np.zeros((len(question.objectives), n_variables), dtype=np.int64)
    costs[:, : question.model.n_features] = [goal.minimised for goal in question.objectives]
    offsets = np.array([goal.offset * goal.objective.sign for goal in question.objectives], dtype=np.int64)
    return costs, offsets


def _feature_clauses(question: ProductQuestion) -> Clauses | None:
    """Return clauses over the features that hold in every product which meets the requirements.

    None without any.
    """
    try:
        clauses = to_clauses(question.model)
    except BadInputError:
        return None
    n = question.model.n_features
    own = [clause for clause in clauses if all(abs(literal) <= n for literal in clause)]
    return Clauses.from_clauses(n, own).with_units(question.fixed)
