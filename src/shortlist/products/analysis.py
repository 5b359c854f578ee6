"""Findings on the features of a model, and products drawn from it: uniform, or far apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone
from shortlist.pickles import saved_from
from shortlist.products.clauses import TracedClauses, to_clauses, traced_clauses
from shortlist.products.configuration.explanation import Explanation, SwitchedRules, fewest_rules
from shortlist.products.configuration.feasibility import counting_diagram, out_of_time
from shortlist.products.model import FeatureModel, GroupKind
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Finding:
    """Finding about one feature that follows from the model, and its explanation."""

    feature: int
    """Index of the feature, from 0."""
    why: Explanation | None = None
    """Rules that force the finding; None if no explanation was requested or the budget had ended."""


KINDS = ("core", "dead", "false_optional", "atomic_sets", "redundant")
"""Kinds of findings, in the order of the search for them."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Analysis:
    """Findings of a model on its features and constraints."""

    void: Explanation | None = None
    """Contradictory rules that leave no product; None if there is a product. Without a product the other
    findings are empty.
    """
    core: tuple[Finding, ...] = ()
    dead: tuple[Finding, ...] = ()
    """Core features, selected in every product, and dead features, selected in none."""
    false_optional: tuple[Finding, ...] = ()
    """Features that are optional in the tree but selected in every product with their parent; core features
    are left out.
    """
    redundant: tuple[int, ...] = ()
    """Rule numbers of the redundant constraints: all other rules together imply each one. Any single one can
    be left out without a change of the products; leaving out several may change them.
    """
    atomic_sets: tuple[tuple[int, ...], ...] = ()
    """Sets of two or more features that every product selects or deselects together; core and dead features
    are left out.
    """
    n_products: int | None = None
    """The exact number of products; None if the diagram did not fit."""
    products_with: tuple[int, ...] = ()
    """Number of products with each feature; empty if they were not counted."""
    uncounted: str = ""
    """Reason why the products were not counted."""
    unanswered: tuple[str, ...] = ()
    """Names of the fields that the budget left open. Findings in these fields are true, but further findings
    may be missing. If ``void`` is named, its None means unknown, and its rules may not be the fewest.
    """

    @property
    def complete(self) -> bool:
        """Whether all questions were answered."""
        return not self.unanswered


def analyse(
    model: FeatureModel, *, n_explained: int = 10, max_nodes: int | None = None, budget: Budget | None = None
) -> Analysis:
    """Find what follows from a feature model, by satisfiability and a diagram.

    Parameters
    ----------
    model : FeatureModel
        Model to analyse.
    n_explained : int, default=10
        Number of features of each kind that get an explanation; 0 for none.
    max_nodes : int, optional
        Most nodes of the diagram that counts products; 0 for no diagram. Default: 100,000, or 0 if more than
        2,000 features are open.
    budget : Budget, optional
        Ends the analysis; the findings so far are returned.

    Raises
    ------
    BadInputError
        If a linear constraint of the model needs too many clauses.

    Notes
    -----
    The terms are those of :cite:t:`Benavides2010`. Solves about one satisfiability problem for every feature
    with the same value in all products and one for every constraint. Further two are solved for every pair of
    features that may be in one atomic set.

    Examples
    --------
    >>> from shortlist.products.formulas import Implies, Literal
    >>> from shortlist.products.model import make_group, make_model
    >>> groups = [make_group(0, [1], "optional"), make_group(0, [2], "optional")]
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=groups,
    ...     constraints=[Implies(Literal(1), Literal(2)), Implies(Literal(2), Literal(-3))])
    >>> found = analyse(shop)
    >>> [f.feature for f in found.core], [f.feature for f in found.dead], found.dead[0].why.rules
    ([0, 1], [2], (0, 3, 4))
    """
    budget = budget or Budget()
    traced = traced_clauses(model)
    try:
        shared = backbone(traced.clauses, budget)
    except SearchStoppedError:
        return Analysis(unanswered=("void", *KINDS), uncounted=out_of_time(budget))
    switched = SwitchedRules(traced, budget)
    if shared is None:
        why = _because(switched, [])
        every = Explanation(tuple(switched.rules), smallest=False)  # together they contradict each other
        return Analysis(void=why or every, unanswered=() if why else ("void",))
    core = [v - 1 for v in shared if 0 < v <= model.n_features]
    dead = [-v - 1 for v in shared if -model.n_features <= v < 0]
    fixed = {*core, *dead}
    optional = [
        (group.parent, child)
        for group in model.groups
        if group.kind is GroupKind.OPTIONAL
        for child in group.children
        if child not in fixed
    ]
    solver = SatSolver(traced.clauses, budget)
    false_optional: list[tuple[int, int]] = []
    redundant: list[int] = []
    atomic: list[tuple[int, ...]] = []
    unanswered: tuple[str, ...] = KINDS[2:]
    try:
        for parent, child in optional:
            if not solver.solve([parent + 1, -child - 1]).satisfiable:
                false_optional.append((parent, child))
        unanswered = KINDS[3:]
        atomic = _atomic_sets(solver, [f for f in range(model.n_features) if f not in fixed])
        unanswered = KINDS[4:]
        first = (model.root is not None) + len(model.groups)
        redundant.extend(r for r in range(first, model.n_rules) if _is_redundant(switched, traced, r))
        unanswered = ()
    except SearchStoppedError:
        pass
    n_open = model.n_features - len(fixed)
    diagram, uncounted = counting_diagram(traced.clauses.with_units(shared), n_open, max_nodes, budget)
    return Analysis(
        core=_explained(switched, [(f, [-f - 1]) for f in core], n_explained),
        dead=_explained(switched, [(f, [f + 1]) for f in dead], n_explained),
        false_optional=_explained(
            switched, [(child, [parent + 1, -child - 1]) for parent, child in false_optional], n_explained
        ),
        redundant=tuple(redundant),
        atomic_sets=tuple(atomic),
        n_products=None if diagram is None else diagram.n_models,
        products_with=() if diagram is None else tuple(diagram.commonality()[: model.n_features]),
        uncounted=uncounted,
        unanswered=unanswered,
    )


def _because(switched: SwitchedRules, literals: list[int]) -> Explanation | None:
    """Return the fewest rules that exclude the literals; None if the budget has ended."""
    try:
        return fewest_rules(switched, literals)
    except SearchStoppedError:
        return None


def _explained(
    switched: SwitchedRules, found: list[tuple[int, list[int]]], n_explained: int
) -> tuple[Finding, ...]:
    return tuple(
        Finding(feature, _because(switched, literals) if place < n_explained else None)
        for place, (feature, literals) in enumerate(found)
    )


def _atomic_sets(solver: SatSolver, features: list[int]) -> list[tuple[int, ...]]:
    """Return the sets of features that every product selects or deselects together.

    Each product found splits the sets further.
    """
    open_sets = [features]
    known: list[tuple[int, ...]] = []
    while open_sets:
        members = open_sets.pop()
        if len(members) < 2:
            continue
        first = members[0]
        for other in members[1:]:
            model = solver.solve([first + 1, -other - 1]).model
            if model is None:
                model = solver.solve([-first - 1, other + 1]).model
            if model is not None:
                everybody = [members, *open_sets]
                open_sets = [
                    part
                    for each in everybody
                    for part in ([f for f in each if model[f]], [f for f in each if not model[f]])
                    if len(part) > 1
                ]
                break
        else:
            known.append(tuple(members))
    return sorted(known)


def _is_redundant(switched: SwitchedRules, traced: TracedClauses, rule: int) -> bool:
    others = [other for other in switched.rules if other != rule]
    starts = traced.clauses.offsets
    for place in np.flatnonzero(traced.rules == rule).tolist():
        clause = traced.clauses.literals[starts[place] : starts[place + 1]]
        if switched.contradiction(others, (-clause).tolist()) is None:
            return False
    return True


def diverse_products(products: ArrayLike, n: int) -> NDArray[np.intp]:
    """Choose products that differ from each other in many features.

    The first two products are far apart. Each further product is the one whose distance to the nearest chosen
    product is largest. The smallest distance between chosen products is then at least half of the largest one
    that a choice of `n` products can have (:cite:t:`Gonzalez1985`).

    Parameters
    ----------
    products : array-like of bool or 0/1, shape (n_products, n_features)
        Products to choose from, such as the decisions of a front.
    n : int
        Number of products to choose.

    Returns
    -------
    ndarray of int, shape (min(n, n_products),)
        Row indices of the chosen products, in the order of choice; of equally distant products the first one
        is taken. Takes O(n · n_products · n_features) time.

    Raises
    ------
    BadInputError
        If `products` is no table.

    Examples
    --------
    >>> diverse_products([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]], 3).tolist()
    [0, 2, 1]
    """
    table = np.asarray(products).astype(bool)
    if table.ndim != 2:
        raise BadInputError("products", "must be a table, one product a row", f"shape {table.shape}")
    n = min(as_count(n, "n", at_least=0), len(table))
    chosen: list[int] = []
    nearest = np.full(len(table), table.shape[1] + 1)
    for _ in range(n):
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, (table != table[chosen[-1]]).sum(axis=1))
        nearest[chosen] = -1
    return np.array(chosen, dtype=np.intp)


def smallest_distance(products: NDArray[np.bool_]) -> int:
    """Return the least number of features in which two products differ; 0 for fewer than two products."""
    distances = [
        int((products[place + 1 :] != row).sum(axis=1).min()) for place, row in enumerate(products[:-1])
    ]
    return min(distances, default=0)


DRAWN_NODES = 2_000_000
"""Most nodes of the diagram from which products are drawn."""


def uniform_sample(
    model: FeatureModel,
    n: int,
    *,
    rng: np.random.Generator | None = None,
    max_nodes: int = DRAWN_NODES,
    budget: Budget | None = None,
) -> Mask:
    """Draw products of a model, each with the same probability, with replacement.

    Parameters
    ----------
    model : FeatureModel
        Model to draw from.
    n : int
        Number of products to draw.
    rng : numpy.random.Generator, optional
        Source of the draws; default: a fixed one.
    max_nodes : int, default=2_000_000
        Most nodes of the decision diagram from which the products are drawn.
    budget : Budget, optional
        Time for making the diagram.

    Returns
    -------
    ndarray of bool, shape (n, n_features)

    Raises
    ------
    BadInputError
        If the model has no product, or its diagram does not fit: then nothing uniform can be drawn.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> sorted(set(map(tuple, uniform_sample(shop, 20).tolist())))
    [(True, False, True), (True, True, False)]
    """
    from shortlist.logic.compilation import compile_diagram

    n = as_count(n, "n", at_least=0)
    diagram = compile_diagram(to_clauses(model), max_nodes=max_nodes, budget=budget)
    if diagram is None:
        raise BadInputError(
            f"uniform products need a diagram, which did not fit into {max_nodes:,} nodes or the time limit. "
            "Raise them."
        )
    if not diagram.n_models:
        raise BadInputError("the model must have a product to draw samples from. Remove a contradiction.")
    drawn = diagram.sample(n, rng=np.random.default_rng(0) if rng is None else rng)
    return drawn[:, : model.n_features]
