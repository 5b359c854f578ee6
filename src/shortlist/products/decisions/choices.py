"""What a choice costs: what it leaves of objectives and products; and the best product that is left."""

from collections.abc import Sequence
from dataclasses import dataclass

from shortlist._validation import as_count
from shortlist.errors import BadInputError
from shortlist.logic.diagram import n_models_with
from shortlist.pickles import saved_from
from shortlist.products.configuration.product_front import Configured, configure
from shortlist.products.configuration.product_objectives import FeatureObjective
from shortlist.products.configuration.requirements import from_literals
from shortlist.products.decisions.deciding import decide_all
from shortlist.products.decisions.decision import Decision
from shortlist.products.decisions.decision_state import DecisionState
from shortlist.products.decisions.values_left import ValuesLeft, values_by_diagram, values_by_programs
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class Side:
    """What is left with a feature selected, or deselected.

    Attributes
    ----------
    values : tuple of ValuesLeft
        One for each objective.
    n_products : int or None
        How many products are left; None where they are not counted.
    """

    values: tuple[ValuesLeft, ...]
    n_products: int | None


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class FeatureChoice:
    """What deciding a feature costs.

    Attributes
    ----------
    feature : int
        Which, from 0.
    now : Side
        What is left before the choice.
    selected, deselected : Side or None
        What is left after it; None where that cannot be had.
    """

    feature: int
    now: Side
    selected: Side | None
    deselected: Side | None


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class FinishedConfiguration:
    """A configuration that was completed as well as one objective allows.

    Attributes
    ----------
    state : DecisionState
        With every feature decided; as it was if no product was found in time.
    answer : Configured
        The product, with its value and proof.
    """

    state: DecisionState
    answer: Configured


def values_left(
    state: DecisionState, literals: Sequence[int] = (), *, budget: Budget | None = None
) -> tuple[ValuesLeft, ...] | None:
    """Return what the decisions, and further literals, leave of each objective.

    Exact from the diagram. Without one, integer programs look for the ends of each objective, and what they
    do not prove within the time limit, or `budget`, comes with a bound.

    Returns
    -------
    tuple of ValuesLeft, or None
        None if no product has the literals.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.products.attributes.attribute import Attribute
    >>> from shortlist.products.decisions.deciding import start
    >>> from shortlist.products.feature_models.model import make_group, make_model
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


def cost_of(state: DecisionState, feature: int) -> FeatureChoice:
    """Return what is left of every objective now, with a feature, and without it.

    Raises
    ------
    BadInputError
        If there is no such feature.
    """
    as_count(feature, "feature", at_least=0, at_most=state.problem.model.n_features - 1)
    budget = state.problem.budget()
    now = _side(state, (), budget.share(1 / 3))
    assert now is not None, "a state has a product"
    selected = _side(state, (feature + 1,), budget.share(1 / 2))
    return FeatureChoice(feature, now, selected, _side(state, (-feature - 1,), budget))


def finish(
    state: DecisionState, objective: FeatureObjective, *, by: str = "", stage: str = ""
) -> FinishedConfiguration:
    """Complete a configuration so that one objective is as good as the decisions and limits allow.

    The best product is that of :func:`shortlist.products.configuration.product_front.configure`, whose status
    says whether it is proved. Every feature that is not decided yet becomes a decision, all in one step.

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
    """Return what is left with further literals; None if nothing is."""
    values = values_left(state, literals, budget=budget)
    if values is None:
        return None
    diagram = state.problem.diagram
    count = None if diagram is None else n_models_with(diagram, (*state.forced, *literals))
    return None if count == 0 else Side(values, count)
