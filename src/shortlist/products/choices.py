"""Effects of a decision on the remaining products and their objectives; the best remaining product."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.logic.diagram import Diagram, least_sums, n_models_with
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.configuration.explanation import Least, least_value
from shortlist.products.configuration.feasibility import LimitedModel
from shortlist.products.configuration.product_front import Configured, configure
from shortlist.products.configuration.question import FeatureObjective
from shortlist.products.configuration.requirements import from_literals
from shortlist.products.decisions import Decision, DecisionState, decide_all
from shortlist.products.model import feature_index
from shortlist.products.rules import are_valid
from shortlist.runs.budget import Budget

ROUGH_SECONDS = 1.0
"""Seconds of the search for any product, after an integer program found no product in time."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class End:
    """Least or largest value of an objective, in integers."""

    value: int | None
    """Value, scaled and to minimise, of the found product nearest to this end of the range; None if no
    product was found.
    """
    bound: int | None
    """Proved bound on the value, scaled and to minimise; None if no bound is known."""

    @property
    def proved(self) -> bool:
        """Whether the value is proved to be the least, or the largest, possible one."""
        return self.value is not None and self.value == self.bound


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class ValuesLeft:
    """Range of one objective over the remaining products."""

    objective: FeatureObjective
    """Objective of the range; it writes the values too (:meth:`FeatureObjective.value_text`)."""
    ideal: End
    worst: End
    """Ends of the range, the least and the largest value, scaled and to minimise."""

    def text(self) -> str:
        """Return the range in words, such as ``8 to 14 EUR``; an unproved end has a question mark."""
        return f"{self._end_text(self.ideal)} to {self._end_text(self.worst)}"

    def _end_text(self, end: End) -> str:
        tell = self.objective.value_text
        if end.proved and end.value is not None:
            return tell(end.value)
        known = [] if end.value is None else [f"found {tell(end.value)}"]
        known += [] if end.bound is None else [f"not beyond {tell(end.bound)}"]
        return f"? ({', '.join(known) or 'not known'})"


def values_by_diagram(
    diagram: Diagram, objectives: Sequence[FeatureObjective], literals: Iterable[int]
) -> tuple[ValuesLeft, ...] | None:
    """Return the exact range of each objective over the models with the literals; None without such a model.

    Auxiliary variables of the diagram cost nothing.
    """
    costs = np.zeros((2 * len(objectives), diagram.n_variables), dtype=np.int64)
    for row, goal in enumerate(objectives):
        n = len(goal.coefficients)
        costs[2 * row, :n], costs[2 * row + 1, :n] = goal.minimised, -goal.minimised
    sums = least_sums(diagram, costs, literals)
    if sums is None:
        return None
    return tuple(
        _left(goal, Least(low, low), Least(high, high))
        for goal, low, high in zip(objectives, sums[::2], sums[1::2], strict=True)
    )


def values_by_programs(
    limited: LimitedModel,
    objectives: Sequence[FeatureObjective],
    literals: Iterable[int],
    *,
    budget: Budget | None = None,
) -> tuple[ValuesLeft, ...] | None:
    """Return the range of each objective by two integer programs; None if the literals allow no product.

    A value not proved within its share of the time comes with a bound. If a program finds no value in time,
    a product found by satisfiability gives the value. The best sum of the open features then gives the
    bound.
    """
    asked, budget = tuple(literals), budget or Budget()
    nothing = np.zeros(limited.model.n_features, dtype=np.int64)
    if not objectives and not least_value(limited.model, nothing, asked, budget=budget).possible:
        return None
    left: list[ValuesLeft] = []
    for number, goal in enumerate(objectives):
        ends: list[Least] = []
        for side, coefficients in enumerate((goal.minimised, -goal.minimised)):
            # a share of the time that is left for this solve and those after it
            share = budget.share(1 / (2 * (len(objectives) - number) - side))
            found = least_value(limited.model, coefficients, asked, budget=share)
            if not found.possible:
                return None
            ends.append(found if found.proved else _rough(limited, coefficients, asked, found))
        left.append(_left(goal, *ends))
    return tuple(left)


def _rough(
    limited: LimitedModel, coefficients: NDArray[np.int64], asked: tuple[int, ...], found: Least
) -> Least:
    """Fill in a missing bound from the sum of costs, and a missing value from a satisfiable product."""
    value, bound = found.value, found.bound
    decided = {abs(literal) - 1: literal > 0 for literal in asked}
    if bound is None:
        bound = sum(
            cost if decided.get(feature, cost < 0) else 0
            for feature, cost in enumerate(coefficients.tolist())
        )
    if value is None and limited.whole and limited.clauses is not None:
        solver = SatSolver(limited.clauses.with_units(asked), Budget(ROUGH_SECONDS))
        features = np.arange(1, len(coefficients) + 1)
        solver.prefer(np.where(coefficients > 0, -features, features).tolist())
        with contextlib.suppress(SearchStoppedError):
            model = solver.solve().model
            selected = None if model is None else model[: len(coefficients)]
            if selected is not None and are_valid(limited.model, selected[None, :]).all():
                value = int(coefficients[selected].sum())
    return Least(value, bound)


def _left(goal: FeatureObjective, low: Least, high: Least) -> ValuesLeft:
    """Return the range of an objective from the least sums of its costs and of the negated costs."""
    constant = goal.offset * goal.objective.sign

    def end(least: Least, sign: int) -> End:
        value = None if least.value is None else sign * least.value + constant
        return End(value, None if least.bound is None else sign * least.bound + constant)

    return ValuesLeft(goal, end(low, 1), end(high, -1))


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class Side:
    """Remaining products and ranges with a feature selected, or with it deselected."""

    values: tuple[ValuesLeft, ...]
    """Range of each objective."""
    n_products: int | None
    """Number of products that remain; None if they are not counted."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class FeatureChoice:
    """Effects of deciding a feature."""

    feature: int
    """Index of the feature, from 0."""
    now: Side
    """Remaining products and ranges before the choice."""
    selected: Side | None
    deselected: Side | None
    """Remaining products and ranges after selection, and after deselection; None for a side without a
    product.
    """


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class FinishedConfiguration:
    """Configuration completed with the best value of one objective."""

    state: DecisionState
    """State with every feature decided; unchanged if no product was found in time."""
    answer: Configured
    """Best product, with its value and proof."""


def values_left(
    state: DecisionState, literals: Sequence[int] = (), *, budget: Budget | None = None
) -> tuple[ValuesLeft, ...] | None:
    """Return the range of each objective over the products that the decisions and further literals allow.

    The diagram gives exact ranges. Without one, integer programs look for both ends of each range. An end
    not proved within the time limit, or within `budget`, comes with a bound.

    Returns
    -------
    tuple of ValuesLeft, or None
        None if no product has the literals.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.products.attributes import Attribute
    >>> from shortlist.products.decisions import start
    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> state = start(shop, "min cost", attributes={"cost": Attribute("cost", np.array([10, 25, 5]), 10)})
    >>> values_left(state)[0].text(), values_left(state, [2])[0].text(), values_left(state, [-2, -3])
    ('1.5 to 4', '3.5 to 4', None)
    """
    problem = state.problem
    asked = (*state.forced, *literals)
    if problem.diagram is not None:
        return values_by_diagram(problem.diagram, problem.objectives, asked)
    if any(-literal in asked for literal in literals):
        return None
    budget = budget or problem.budget()
    return values_by_programs(problem.limited, problem.objectives, asked, budget=budget)


def cost_of(state: DecisionState, feature: int | str) -> FeatureChoice:
    """Return the ranges of the objectives now, with a feature selected, and with it deselected.

    Raises
    ------
    BadInputError
        If there is no such feature.
    """
    number = feature_index(state.problem.model, feature)
    budget = state.problem.budget()
    now = _side(state, (), budget.share(1 / 3))
    assert now is not None, "a state has a product"
    selected = _side(state, (number + 1,), budget.share(1 / 2))
    return FeatureChoice(number, now, selected, _side(state, (-number - 1,), budget))


def finish(
    state: DecisionState, objective: FeatureObjective, *, by: str = "", stage: str = ""
) -> FinishedConfiguration:
    """Complete a configuration with the best value of one objective that decisions and limits allow.

    The best product comes from :func:`shortlist.products.configuration.product_front.configure`; its status
    says whether it is proved. All open features become decisions in one step.

    Raises
    ------
    BadInputError
        If everything is decided already.
    """
    problem = state.problem
    decided = {decision.feature for decision in state.decisions}
    if len(decided) == problem.model.n_features:
        raise BadInputError("every feature is decided already. Take something back first.")
    answer = configure(
        problem.model,
        [objective],
        limits=problem.limits,
        requirements=from_literals(problem.model, state.literals),
        time_limit_s=problem.time_limit_s,
    )
    if not len(answer.front):
        return FinishedConfiguration(state, answer)
    chosen = answer.front.decisions[0].astype(bool).tolist()
    rest = [
        Decision(feature, selected, stage, by)
        for feature, selected in enumerate(chosen)
        if feature not in decided
    ]
    return FinishedConfiguration(decide_all(state, rest), answer)


def _side(state: DecisionState, literals: tuple[int, ...], budget: Budget) -> Side | None:
    """Return the remaining products and ranges with further literals; None if no product has them."""
    values = values_left(state, literals, budget=budget)
    if values is None:
        return None
    diagram = state.problem.diagram
    count = None if diagram is None else n_models_with(diagram, (*state.forced, *literals))
    return None if count == 0 else Side(values, count)
