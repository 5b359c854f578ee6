"""Questions to a product line as integer vectors, and the methods and options that answer them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_options
from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError
from shortlist.methods.program_methods import (
    EXACT_METHODS,
    ProgramOptions,
    SearchOptions,
    SolRepOptions,
)
from shortlist.papers import refuse_opponent
from shortlist.pickles import saved_from
from shortlist.products.attributes import BUILT_IN, Attribute, chosen_attributes, model_attributes
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS, Feasibility, check_feasibility
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.formulas import And, Linear
from shortlist.products.model import Constraint, FeatureModel, suggestion
from shortlist.results.objective import Objective, objective_names, read_limit
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.milp.program import LinearObjective


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class FeatureObjective:
    """Exact linear objective over features."""

    objective: Objective
    """Name, sense, scale and unit of the objective."""
    coefficients: NDArray[np.int64]
    """Coefficients, ``(n_features,)``: for a selection x the value is ``(coefficients @ x + offset) /
    scale``, in the user's sign and unit.
    """
    offset: int = 0
    """Constant part, scaled."""

    @property
    def minimised(self) -> NDArray[np.int64]:
        """Scaled coefficients, to minimise."""
        return self.coefficients * self.objective.sign

    def points(self, selections: NDArray[np.generic]) -> NDArray[np.int64]:
        """Return the value of each configuration, scaled and to minimise, ``(n_configurations,)``."""
        total = np.asarray(selections).astype(np.int64) @ self.coefficients + self.offset
        scaled: NDArray[np.int64] = total * self.objective.sign
        return scaled

    def linear(self) -> "LinearObjective":
        """Return the objective for a program, in the user's sign and unit."""
        from shortlist.milp.program import LinearObjective

        scale = self.objective.scale or 1
        return LinearObjective(self.objective, self.coefficients / scale, self.offset / scale)

    def value_text(self, point: int) -> str:
        """Write a scaled value to minimise for people: exact, in the user's sign, with its unit.

        >>> from shortlist.results.objective import Sense
        >>> FeatureObjective(Objective("gain", Sense.MAX, 100, "EUR"), np.array([125])).value_text(-1250)
        '12.5 EUR'
        """
        value = Decimal(point * self.objective.sign) / (self.objective.scale or 1)
        unit = self.objective.unit
        if value == 1 and unit == "features":
            unit = "feature"
        return f"{value:,f} {unit}".rstrip()


@saved_from("shortlist.products")
@dataclass(frozen=True)
class QuantityLimit(Constraint):
    """A limit on a named quantity, such as ``cost<=120``."""

    quantity: FeatureObjective | None = field(default=None, compare=False)
    """Limited quantity; its sense has no effect."""


def parse_objectives(
    text: str, model: FeatureModel, attributes: Mapping[str, Attribute]
) -> tuple[FeatureObjective, ...]:
    """Parse the objectives of a text.

    Raises BadInputError if the text is malformed or a name is unknown.

    `text`: parts ``min NAME`` or ``max NAME``, separated by commas. ``selected`` and ``deselected`` count
    features. `attributes`: attributes by name; see
    :func:`~shortlist.products.attributes.exact_attribute`.

    >>> from shortlist.products.model import make_model
    >>> cost = Attribute("cost", np.array([125, 300]), 100)
    >>> first, second = parse_objectives("min deselected, min cost", make_model(["A", "B"]), {"cost": cost})
    >>> first.coefficients.tolist(), first.offset, second.coefficients.tolist(), second.objective.scale
    ([-1, -1], 2, [125, 300], 100)
    """
    goals: list[FeatureObjective] = []
    for sense, name in objective_names(text):
        coefficients, offset, scale, unit = _vector(name, model, attributes)
        goals.append(FeatureObjective(Objective(name, sense, scale, unit), coefficients, offset))
    return tuple(goals)


def _vector(
    name: str, model: FeatureModel, attributes: Mapping[str, Attribute]
) -> tuple[NDArray[np.int64], int, int, str]:
    ones = np.ones(model.n_features, dtype=np.int64)
    if name == "selected":
        return ones, 0, 1, "features"
    if name == "deselected":
        return -ones, model.n_features, 1, "features"
    if name not in attributes:
        known = [*BUILT_IN, *attributes]
        hint = suggestion(name, known, f"Known are {', '.join(known)}.")
        raise BadInputError(f"there is no objective {name!r}. {hint}")
    attribute = attributes[name]
    return attribute.values, 0, attribute.scale, attribute.unit


def parse_limit(text: str, model: FeatureModel, attributes: Mapping[str, Attribute]) -> QuantityLimit:
    """Return a limit such as ``cost<=120`` or ``defects<3`` as a linear constraint on the features.

    The comparison is of exact decimals: ``cost<120`` with two decimals means at most 119.99. Add it with
    :func:`~shortlist.products.model.with_constraints`. Raises BadInputError if the text is malformed or the
    name unknown.

    `text`: ``NAME OP NUMBER`` with OP one of ``<= < >= > ==``. `attributes`: attributes by name; ``selected``
    and ``deselected`` are built in.

    >>> from shortlist.products.model import make_model
    >>> cost = Attribute("cost", np.array([125, 300]), 100)
    >>> parse_limit("cost < 4", make_model(["A", "B"]), {"cost": cost}).formula
    Linear(coefficients=(125, 300), variables=(1, 2), upper=399)
    """
    limit = read_limit(text)
    sign = limit.operator
    coefficients, offset, scale, unit = _vector(limit.name, model, attributes)
    unit = "" if limit.name in BUILT_IN else unit
    quantity = FeatureObjective(Objective(limit.name, scale=scale, unit=unit), coefficients, offset)
    bound = limit.value * scale - offset
    used = np.flatnonzero(coefficients)
    variables = tuple((used + 1).tolist())
    factors = tuple(coefficients[used].tolist())
    floor, ceiling = int(bound.to_integral(ROUND_FLOOR)), int(bound.to_integral(ROUND_CEILING))
    at_most = Linear(factors, variables, ceiling - 1 if sign == "<" else floor)
    at_least = Linear(tuple(-f for f in factors), variables, -(floor + 1 if sign == ">" else ceiling))
    parts = {"<": (at_most,), "<=": (at_most,), ">": (at_least,), ">=": (at_least,)}
    chosen = parts.get(sign, (at_most, at_least))
    formula = chosen[0] if len(chosen) == 1 else And(chosen)
    return QuantityLimit(formula, name=f"limit {text.strip()}", quantity=quantity)


@dataclass(frozen=True, eq=False)
class ProductQuestion:
    """Question to a product line: objectives, limits and requirements."""

    model: FeatureModel
    """The model as read."""
    objectives: tuple[FeatureObjective, ...]
    """Objectives of the question."""
    limits: tuple[Constraint, ...]
    """Limits; a product has to meet all of them."""
    requirements: Requirements
    """Features that must be selected or deselected."""
    fixed: tuple[int, ...]
    """Literals that hold in every product that meets the requirements, as far as known."""

    @cached_property
    def hard_limits(self) -> tuple[Constraint, ...]:
        """Limits that are built into the set of products."""
        return tuple(limit for limit in self.limits if not self._bounds_an_objective(limit))

    @cached_property
    def soft_limits(self) -> tuple[Constraint, ...]:
        """Limits that bound an objective in its better direction.

        With ``f <= b`` for a minimised f, the front within the limit is a part of the whole front: any
        product that dominates a point within the limit is itself within the limit. So such limits can be
        applied to the finished front.
        """
        return tuple(limit for limit in self.limits if self._bounds_an_objective(limit))

    def _bounds_an_objective(self, limit: Constraint) -> bool:
        """Whether the limit is ``objective <= number`` for an objective to minimise."""
        formula = limit.formula
        if not isinstance(formula, Linear):
            return False
        factors = np.zeros(self.model.n_features, dtype=np.int64)
        factors[np.array(formula.variables, dtype=np.int64) - 1] = formula.coefficients
        return any(np.array_equal(factors, goal.minimised) for goal in self.objectives)

    def points(self, selections: NDArray[np.generic]) -> Points:
        """Return the objectives, scaled and to minimise, ``(n_configurations, n_objectives)``."""
        return np.column_stack([goal.points(selections) for goal in self.objectives])

    def meets_requirements(self, selections: NDArray[np.generic]) -> Mask:
        """Mark the configurations that meet the requirements, ``(n_configurations,)``."""
        chosen = np.asarray(selections).astype(bool)
        wanted, unwanted = list(self.requirements.select), list(self.requirements.deselect)
        met: Mask = np.asarray(chosen[:, wanted].all(axis=1) & ~chosen[:, unwanted].any(axis=1))
        return met


def make_question(
    model: FeatureModel,
    goals: Sequence[FeatureObjective],
    bounds: Sequence[Constraint] = (),
    requirements: Requirements = NO_REQUIREMENTS,
    *,
    budget: Budget | None = None,
) -> tuple[ProductQuestion, Feasibility]:
    """Return a question with the implications of its requirements, and its feasibility."""
    feasibility = check_feasibility(model, requirements, budget=budget)
    fixed = feasibility.fixed or requirements.literals
    return ProductQuestion(model, tuple(goals), tuple(bounds), requirements, fixed), feasibility


def parse_question(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective],
    limits: Sequence[str | Constraint],
    attributes: Mapping[str, Attribute] | None,
) -> tuple[tuple[FeatureObjective, ...], tuple[Constraint, ...]]:
    """Return objectives and limits, parsed if they are text; `attributes` default to those of the model."""
    if attributes is None:
        names = [name for _, name in objective_names(objectives)] if isinstance(objectives, str) else []
        names += [read_limit(limit).name for limit in limits if isinstance(limit, str)]
        attributes = chosen_attributes(names, [model_attributes(model)], model)
    goals = (
        parse_objectives(objectives, model, attributes) if isinstance(objectives, str) else tuple(objectives)
    )
    if not goals:
        raise BadInputError(
            "objectives", "must name at least one", "none", "Say for instance 'min deselected'."
        )
    bounds = tuple(
        parse_limit(limit, model, attributes) if isinstance(limit, str) else limit for limit in limits
    )
    return goals, bounds


METHODS = ("auto", "diagram", *EXACT_METHODS, "solrep")
"""Names of all methods."""

EVOLUTIONARY_METHODS = ("ibea", "satibea", "smtibea", "ibed", "nsga2")
"""Evolutionary methods, for comparisons only."""


@dataclass(frozen=True)
class DiagramOptions(SearchOptions):
    """Options of ``diagram``."""

    tolerance: Annotated[
        Mapping[str, float], "By how much a missing point may be better, such as cost=5,defects=1."
    ] = field(default_factory=dict)
    """Tolerance by objective, in its unit: the most by which a missing point may be better than the front."""
    max_nodes: Annotated[int, "Largest number of nodes of the diagram."] = 500_000
    max_bytes: Annotated[int, "Most bytes for the diagram's sets of points."] = 2_000_000_000
    """Most nodes of the diagram; most bytes of its sets of vectors."""

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.max_nodes, "max_nodes", at_least=16)
        as_count(self.max_bytes, "max_bytes")


@dataclass(frozen=True)
class AutoOptions(DiagramOptions, ProgramOptions):
    """Options of ``auto``: the options of the diagram and of integer programs."""


OPTIONS: Mapping[str, type[SearchOptions]] = {
    "auto": AutoOptions,
    "diagram": DiagramOptions,
    **dict.fromkeys(EXACT_METHODS, ProgramOptions),
    "solrep": SolRepOptions,
}
"""Class of options by method."""


def takes(method: str, option: str) -> bool:
    """Return whether a method uses an option.

    >>> takes("solrep", "n_points"), takes("exact", "n_points")
    (True, False)
    """
    return option in {each.name for each in fields(OPTIONS[method])}


def search_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method; missing options, and None, mean the default.

    Raises BadInputError if the method is unknown, has no such option, or a value is out of range. Raises
    MissingDependencyError if the solver needs a package that is not installed.

    >>> search_options("exact", seed=3, solver=None)
    ProgramOptions(seed=3, solver='highs')
    """
    refuse_opponent(method, "method", EVOLUTIONARY_METHODS)
    as_choice(method, "method", METHODS)
    return as_options(OPTIONS[method], given, f"`method={method!r}`")
