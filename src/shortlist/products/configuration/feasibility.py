"""Feasibility of a model under a customer's requirements, their implications, and conflicts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist._validation import as_seed
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.probing import propagate
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone, irreducible
from shortlist.pickles import saved_from
from shortlist.products.clauses import TracedClauses, to_clauses, traced_clauses
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.formulas import Linear
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.products.rules import rule_text
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.logic.diagram import Diagram

NO_REQUIREMENTS = Requirements()

NOT_TOLD_APART = "the rules of the model and what is required, which could not be told apart in time"
"""Description of a contradiction when the budget leaves no time to find a smaller one."""


@dataclass(frozen=True)
class Feasibility:
    """Answers about requirements from the clauses of a model."""

    checked: bool
    """Whether the model could be checked. False if a linear constraint needs too many clauses, or the search
    did not end in time.
    """
    conflict: tuple[str, ...] = ()
    """Sentences for the parts of a contradiction; no part can be left out. :data:`NOT_TOLD_APART` if the
    budget ended before the parts were found. Empty if the requirements can be met.
    """
    required: tuple[int, ...] = ()
    """Literals of the requirements in the contradiction."""
    fixed: tuple[int, ...] = ()
    """Literals that hold in every product that meets the requirements, the required ones included."""
    implied: tuple[int, ...] = ()
    """Literals that the requirements imply, beyond themselves."""


def check_feasibility(
    model: FeatureModel, requirements: Requirements = NO_REQUIREMENTS, *, budget: Budget | None = None
) -> Feasibility:
    """Check whether a model has a product that meets the requirements, and find their implications.

    After the end of the budget nothing is known.

    Takes one satisfiability problem, then about one for each feature with the same value in all products
    found.

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
        conflict, literals = _sentences(model, requirements, rules, budget)
        return Feasibility(checked=True, conflict=conflict, required=literals)
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

    There are no rows if there is no product, the model needs too many clauses, or the budget ends first.

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
    """Return models of clauses, ``(n_found, n_variables)``, starting at random values.

    Each search prefers other random values, so that the models differ where they can; repeated models are
    dropped.
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
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return a sentence for each part of a contradiction, and the literals of its requirements."""
    from shortlist.products.configuration.explanation import SwitchedRules

    try:
        switched = SwitchedRules(asked, budget)
        first = switched.contradiction(switched.rules, ()) or ()
        found = irreducible(lambda rules: switched.contradiction(rules, ()), first)
    except SearchStoppedError:
        return (NOT_TOLD_APART,), requirements.literals
    literals = requirements.literals
    required = tuple(literals[number - model.n_rules] for number in found if number >= model.n_rules)
    rules = [rule_text(model, number) for number in found if number < model.n_rules]
    return (*rules, *(required_text(model, literal) for literal in required)), required


def required_text(model: FeatureModel, literal: int) -> str:
    """Return a sentence that a feature is required, or required to be left out."""
    return f"{model.labels[abs(literal) - 1]} is required" + ("" if literal > 0 else " to be left out")


MOST_UNDECIDED = 2_000
"""Most features that are neither core nor dead for which products are counted by default."""

USUAL_NODES = 100_000
"""Default number of nodes of the diagram."""


@dataclass(frozen=True)
class ModelSummary:
    """Core and dead features of a model, and its number of products."""

    satisfiable: bool | None
    """Whether there is a product; None if the budget ended before this and the core features were known."""
    core: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()
    """Core features, selected in every product, and dead features, selected in none; empty without a
    product.
    """
    n_products: int | None = None
    """Exact number of products; None if they were not counted."""
    uncounted: str = ""
    """Reason why the products were not counted."""
    conflict: tuple[str, ...] = ()
    """Rules that contradict each other if there is no product; none of them can be left out."""


def summarise(
    model: FeatureModel, *, max_nodes: int | None = None, budget: Budget | None = None
) -> ModelSummary:
    """Find core and dead features, and count the products.

    Raises BadInputError if a linear constraint of the model needs too many clauses.

    `model`: model to summarise. No integer program is solved, and no such solver is imported. `max_nodes`:
    most nodes of the diagram that counts products; 0 for no diagram. Default: :data:`USUAL_NODES`, or 0 if
    more than :data:`MOST_UNDECIDED` features are open. `budget`: facts not known at its end are left out.

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
        return ModelSummary(satisfiable=None, uncounted=out_of_time(budget))
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
    """Return a diagram for counting products, or None and the reason.

    `n_open`: number of features that can have both values. `max_nodes`: see :func:`summarise`.
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
        return None, out_of_time(budget)
    return diagram, "" if diagram else f"no variable order gave a diagram within {most:,} nodes"


def out_of_time(budget: Budget) -> str:
    """Return the reason why an answer is unknown after the end of a budget."""
    return f"ended before that was known: {budget.limit_text}"


LAST_LOOK_S = 1.0
"""Seconds of the last search for one product, after the time limit."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class LimitedModel:
    """Model with limits, and its clauses as far as these are few enough. Build it with `limited_model`."""

    model: FeatureModel
    """Model with all limits as further constraints."""
    clauses: Clauses | None
    """Clauses of the model and of each limit that needs few enough clauses; None if the model itself needs
    too many.
    """
    whole: bool
    """Whether the clauses include all limits, so that satisfiability decides everything."""


@dataclass(frozen=True)
class Forced:
    """Features with a single value in all products."""

    literals: tuple[int, ...]
    """Literals, sorted by feature: i + 1 for a feature i in every product, -(i + 1) for a feature i in none.
    """
    complete: bool = True
    """Whether all features with a single value were found; False if the time ended first."""


def limited_model(model: FeatureModel, limits: Iterable[Constraint]) -> LimitedModel:
    """Join a model and limits; join their clauses too, as far as there are few enough."""
    kept: list[Constraint] = []
    clauses, whole = _clauses(model), True
    for limit in limits:
        kept_clauses = None if clauses is None else _clauses(with_constraints(model, [*kept, limit]))
        if kept_clauses is None:
            whole = False
        else:
            kept.append(limit)
            clauses = kept_clauses
    return LimitedModel(with_constraints(model, limits), clauses, whole and clauses is not None)


def _clauses(model: FeatureModel) -> Clauses | None:
    try:
        return to_clauses(model)
    except BadInputError:
        return None


def forced_features(
    limited: LimitedModel, literals: Iterable[int] = (), *, budget: Budget | None = None
) -> Forced | None:
    """Find the features with one value in all products with the literals; None if there is no product.

    A feature is forced if no product has the opposite value. Satisfiability decides this if all limits are
    clauses, otherwise integer programs do. Each program looks for a product that differs from a known one in
    as many undecided features as possible. The search ends when no product differs in one. Raises
    SearchStoppedError if neither the search nor a last look of a second finds out whether there is a product.

    `literals`: decided literals; they are part of the answer. `budget`: at its end the answer has the
    literals known so far, at least those found by propagation.

    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> limited = limited_model(shop, [])
    >>> forced_features(limited).literals, forced_features(limited, [2]).literals
    ((1,), (1, 2, -3))
    >>> forced_features(limited, [2, 3]) is None
    True
    """
    budget = budget or Budget()
    given = tuple(dict.fromkeys(literals))
    if any(-literal in given for literal in given):
        return None
    found: Forced | None = Forced(given, complete=False)
    if limited.clauses is not None:
        found = _by_satisfiability(limited, given, budget)
    if found is None or limited.whole:
        return found
    return _by_programs(limited.model, found.literals, budget)


def _by_satisfiability(limited: LimitedModel, given: tuple[int, ...], budget: Budget) -> Forced | None:
    """Return the literals that hold in every model of the clauses."""
    assert limited.clauses is not None
    asked = limited.clauses.with_units(given)
    n = limited.model.n_features
    try:
        shared = backbone(asked, budget)
    except SearchStoppedError:
        if SatSolver(asked, Budget(LAST_LOOK_S, cancellation=budget.cancellation)).solve().model is None:
            return None
        known = _of_features((*propagate(asked).literals, *given), n)
        return Forced(known, complete=len(known) == n)
    return None if shared is None else Forced(_of_features((*shared, *given), n))


def _of_features(literals: Iterable[int], n_features: int) -> tuple[int, ...]:
    return tuple(sorted({v for v in literals if abs(v) <= n_features}, key=abs))


def _by_programs(model: FeatureModel, known: tuple[int, ...], budget: Budget) -> Forced | None:
    from shortlist.products.configuration.explanation import best_product

    n = model.n_features
    alike = np.zeros(n, dtype=np.int64)
    first, product = best_product(model, alike, known, budget=budget)
    if first.possible and product is None:
        last = Budget(LAST_LOOK_S, cancellation=budget.cancellation)
        first, product = best_product(model, alike, known, budget=last)
    if not first.possible:
        return None
    if product is None:
        raise SearchStoppedError
    signed = np.where(product, 1, -1) * np.arange(1, n + 1)
    is_open = np.ones(n, dtype=bool)
    is_open[[abs(literal) - 1 for literal in known]] = False
    while is_open.any() and not budget.stopped:
        alike = np.where(is_open, np.where(product, 1, -1), 0)  # least sum: differs in most features
        features = np.flatnonzero(is_open)
        another = Linear(
            tuple(alike[features].tolist()), tuple((features + 1).tolist()), int(product[is_open].sum()) - 1
        )
        other = with_constraints(model, [Constraint(another)])
        found, differing = best_product(other, alike, known, budget=budget)
        if not found.possible:
            return Forced(_of_features((*known, *signed[is_open].tolist()), n))
        if differing is None:
            break
        is_open &= differing == product
    return Forced(_of_features(known, n), complete=not is_open.any())
