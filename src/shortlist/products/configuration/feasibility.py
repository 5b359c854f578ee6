"""Whether a model and what a customer asks for can be met, what follows from it, and what is in the way."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist._validation import as_seed
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone, irreducible
from shortlist.products.clauses import TracedClauses, to_clauses, traced_clauses
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.model import FeatureModel
from shortlist.products.rules import rule_text
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.logic.diagram import Diagram

NO_REQUIREMENTS = Requirements()

NOT_TOLD_APART = "the rules of the model and what is required, which could not be told apart in time"
"""What contradicts itself, where the budget ended before a part of it was found that does."""


@dataclass(frozen=True)
class Feasibility:
    """What the clauses of a model say about requirements."""

    checked: bool
    """Whether the model has clauses, as a linear constraint of it may need too many, and the search ended in
    time.
    """
    conflict: tuple[str, ...] = ()
    """A sentence for each constraint and requirement of a contradiction that cannot be shortened: with any
    one of them left out, the others can be met; :data:`NOT_TOLD_APART` if the budget ended before these were
    found. Empty if all can be met.
    """
    fixed: tuple[int, ...] = ()
    """Literals that hold in every product that meets the requirements, these included."""
    implied: tuple[int, ...] = ()
    """Those of them that hold because of the requirements, without the requirements themselves."""


def check_feasibility(
    model: FeatureModel, requirements: Requirements = NO_REQUIREMENTS, *, budget: Budget | None = None
) -> Feasibility:
    """Find out whether a model has a product that meets the requirements, and what they imply.

    Once the budget has ended, nothing is known.

    By satisfiability: one question, then about one for each feature that has the same value in all products
    met.

    >>> from shortlist.products.model import make_group, make_model
    >>> from shortlist.products.configuration.requirements import make_requirements
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> check_feasibility(shop, make_requirements(shop, select=["Card"])).implied
    (-3,)
    >>> check_feasibility(shop, make_requirements(shop, select=["Card", "Cash"])).conflict
    ('exactly one of Card, Cash below Shop', 'Card is required', 'Cash is required')
    """
    try:
        traced = traced_clauses(model)
    except BadInputError:
        return Feasibility(checked=False)
    asked = traced.clauses.with_units(requirements.literals)
    try:
        fixed = backbone(asked, budget)
        own = fixed if not requirements.literals else backbone(traced.clauses, budget)
    except SearchStoppedError:
        return Feasibility(checked=False)
    if fixed is None:
        required = np.arange(model.n_rules, model.n_rules + len(requirements.literals), dtype=np.int32)
        rules = TracedClauses(asked, np.concatenate([traced.rules, required]))
        return Feasibility(checked=True, conflict=_sentences(model, requirements, rules, budget))
    given = {*(own or ()), *requirements.literals}
    implied = [v for v in fixed if v not in given and abs(v) <= model.n_features]
    kept = {*fixed, *requirements.literals}
    ordered = sorted((v for v in kept if abs(v) <= model.n_features), key=abs)
    return Feasibility(checked=True, fixed=tuple(ordered), implied=tuple(implied))


def some_products(
    model: FeatureModel,
    requirements: Requirements = NO_REQUIREMENTS,
    *,
    n_products: int = 1,
    seed: int = 0,
    budget: Budget | None = None,
) -> Mask:
    """Return products that meet the requirements, ``(n_found, n_features)``; see :func:`some_models`.

    Without rows if there is no product, the model needs too many clauses, or the budget ends before one is
    found.

    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> some_products(shop).sum(axis=1).tolist()
    [2]
    """
    try:
        clauses = traced_clauses(model).clauses.with_units(requirements.literals)
    except BadInputError:
        return np.zeros((0, model.n_features), dtype=bool)
    found = some_models(clauses, n_models=n_products, seed=seed, budget=budget)
    return found[:, : model.n_features]


def some_models(clauses: Clauses, *, n_models: int = 1, seed: int = 0, budget: Budget | None = None) -> Mask:
    """Return models of clauses, ``(n_found, n_variables)``, from random values on; none if there is none.

    Each question to the solver prefers other random values, so that the models differ where they can; equal
    ones are returned once.
    """
    solver, rng = SatSolver(clauses, budget), np.random.default_rng(as_seed(seed))
    numbers = np.arange(1, clauses.n_variables + 1)
    found: dict[bytes, Mask] = {}
    for _ in range(n_models):
        solver.prefer((numbers * rng.choice((-1, 1), size=len(numbers))).tolist())
        try:
            model = solver.solve().model
        except SearchStoppedError:
            break
        if model is None:
            break
        found.setdefault(model.tobytes(), model)
    models: Mask = np.array(list(found.values()), dtype=bool).reshape(-1, clauses.n_variables)
    return models


def _sentences(
    model: FeatureModel, requirements: Requirements, asked: TracedClauses, budget: Budget | None
) -> tuple[str, ...]:
    from shortlist.products.configuration.explanation import SwitchedRules

    try:
        switched = SwitchedRules(asked, budget)
        first = switched.contradiction(switched.rules, ()) or ()
        found = irreducible(lambda rules: switched.contradiction(rules, ()), first)
    except SearchStoppedError:
        return (NOT_TOLD_APART,)
    literals = requirements.literals
    return tuple(
        rule_text(model, number)
        if number < model.n_rules
        else required_text(model, literals[number - model.n_rules])
        for number in found
    )


def required_text(model: FeatureModel, literal: int) -> str:
    """Say that a feature is required, or required to be left out."""
    return f"{model.labels[abs(literal) - 1]} is required" + ("" if literal > 0 else " to be left out")


MOST_UNDECIDED = 2_000
"""Products are not counted by default where more features than this are neither core nor dead."""

USUAL_NODES = 100_000
"""The default budget of the diagram."""


@dataclass(frozen=True)
class ModelSummary:
    """What every product shares, and how many products there are."""

    satisfiable: bool | None
    """Whether there is a product; None if the budget ended before that, or what all share, was known."""
    core: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()
    """Features, from 0, that every product has, and that none has; empty without a product."""
    n_products: int | None = None
    """The exact number of products; None where it was not counted."""
    uncounted: str = ""
    """Why not."""
    conflict: tuple[str, ...] = ()
    """Without a product: rules that contradict each other, none of which can be left out."""


def summarise(
    model: FeatureModel, *, max_nodes: int | None = None, budget: Budget | None = None
) -> ModelSummary:
    """Find core and dead features, and count the products.

    Raises BadInputError if a linear constraint of the model needs too many clauses.

    `model`: what to look at. No integer program is solved, and no solver of such is imported. `max_nodes`:
    budget of the diagram that counts; 0 for none. Default: :data:`USUAL_NODES`, or none where more than
    :data:`MOST_UNDECIDED` features are open. `budget`: when it ends, what is not known by then is left out.

    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> summary = summarise(shop)
    >>> summary.core, summary.dead, summary.n_products
    ((0,), (), 3)
    """
    clauses = to_clauses(model)
    budget = budget or Budget()
    try:
        shared = backbone(clauses, budget)
    except SearchStoppedError:
        return ModelSummary(satisfiable=None, uncounted=_out_of_time(budget))
    if shared is None:
        conflict = check_feasibility(model, budget=budget).conflict or (NOT_TOLD_APART,)
        return ModelSummary(satisfiable=False, n_products=0, conflict=conflict)
    core = tuple(v - 1 for v in shared if 0 < v <= model.n_features)
    dead = tuple(-v - 1 for v in shared if -model.n_features <= v < 0)
    n_open = model.n_features - len(core) - len(dead)
    diagram, uncounted = counting_diagram(clauses.with_units(shared), n_open, max_nodes, budget)
    n_products = None if diagram is None else diagram.n_models
    return ModelSummary(satisfiable=True, core=core, dead=dead, n_products=n_products, uncounted=uncounted)


def counting_diagram(
    clauses: Clauses, n_open: int, max_nodes: int | None, budget: Budget
) -> "tuple[Diagram | None, str]":
    """Return a diagram from which products are counted, or why there is none.

    `n_open`: how many features have both values. `max_nodes`: see :func:`summarise`.
    """
    if max_nodes is None and n_open > MOST_UNDECIDED:
        return (
            None,
            f"{n_open:,} features are open, so a diagram is not tried unasked; pass `max_nodes=1000000`",
        )
    if max_nodes == 0:
        return None, "no nodes to count with"
    from shortlist.logic.compilation import compile_diagram

    most = USUAL_NODES if max_nodes is None else max_nodes
    diagram = compile_diagram(clauses, max_nodes=most, n_starts=4, budget=budget)
    if diagram is None and budget.stopped:
        return None, _out_of_time(budget)
    return diagram, "" if diagram else f"no variable order gave a diagram within {most:,} nodes"


def _out_of_time(budget: Budget) -> str:
    return f"ended before that was known: {budget.limit_text}"
