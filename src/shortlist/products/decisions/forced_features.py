"""Which features have the same value in every product that decisions and limits leave."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.probing import propagate
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone
from shortlist.pickles import saved_from
from shortlist.products.configuration.least_values import best_product
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.formulas import Linear
from shortlist.products.feature_models.model import Constraint, FeatureModel, with_constraints
from shortlist.runs.budget import Budget

LAST_LOOK_S = 1.0
"""So long one product is looked for where the time was over before all was known."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class LimitedModel:
    """A model with limits, and the clauses of it that are few enough; build with `limited_model`."""

    model: FeatureModel
    """The model with all limits as constraints behind its own."""
    clauses: Clauses | None
    """Clauses of the model and of those limits that have them; None if the model itself needs too many."""
    whole: bool
    """Whether these are all limits, so that the clauses tell everything."""


@dataclass(frozen=True)
class Forced:
    """Features with one value."""

    literals: tuple[int, ...]
    """i + 1 for a feature i that every product has, -(i + 1) for one that none has, by feature."""
    complete: bool = True
    """Whether all such features are there; otherwise the time was over."""


def limited_model(model: FeatureModel, limits: Iterable[Constraint]) -> LimitedModel:
    """Put limits and model together, as clauses where these are few enough."""
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
    """Find the features with one value in all products in which literals hold; None if there is no product.

    A feature is forced if and only if there is no product with the opposite. Satisfiability tells that where
    all limits are clauses. What it tells of the others is completed by integer programs: each looks for a
    product that differs from one known in as many features as it can, until there is none. Raises
    SearchStoppedError if the budget ends before it is known whether there is a product, and a last look,
    which may take a second, does not tell.

    `literals`: what was decided; part of the answer. `budget`: at its end the answer has what is known by
    then: at least what propagation finds.

    >>> from shortlist.products.feature_models.model import make_group, make_model
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
        alike = np.where(is_open, np.where(product, 1, -1), 0)  # the least sum differs in most features
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
