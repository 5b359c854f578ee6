"""Slice of a feature model: its constraints on some features, for any values of the other features."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.probing import MOST_LITERALS, eliminated
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone, irreducible
from shortlist.pickles import saved_from
from shortlist.products.clauses import traced_clauses
from shortlist.products.cnf import Clause
from shortlist.products.formulas import Formula, Linear, Literal, Or, variables_of, with_variables
from shortlist.products.model import (
    Constraint,
    FeatureModel,
    Group,
    GroupKind,
    make_group,
    make_model,
    with_details,
)
from shortlist.runs.budget import Budget

MOST_QUESTIONS = 20_000
"""Most satisfiability problems about configurations of the kept variables."""

MOST_OPEN_NODES = 1_000_000
"""Most nodes of the diagram of the configurations that are not classified yet."""


def asked(
    clauses: Clauses,
    kept: Sequence[int],
    known: Iterable[Clause],
    *,
    most_questions: int = MOST_QUESTIONS,
    budget: Budget | None = None,
) -> list[Clause] | None:
    """Return clauses that, together with `known`, are the projection of `clauses` to the kept variables.

    A diagram holds the configurations of the kept variables that are not classified yet. A satisfiability
    solver tries to complete one such configuration at a time. The values of the other variables in a
    completion complete further configurations, which are then classified too. If there is no completion,
    literals of the configuration that exclude one become a new clause, negated; none of them can be left out.

    `kept`: the variables, rising. `known`: clauses over the kept variables that follow from `clauses`.
    `most_questions`: largest number of configurations tried.

    Returns None if there were too many configurations or nodes, or the budget ended.

    >>> asked(Clauses.from_clauses(4, [(-1, 2), (-2, 3), (2, 4)]), [1, 3, 4], [])
    [(3, 4), (-1, 3)]
    """
    from oxidd.bdd import BDDManager
    from oxidd.util import DDMemoryError

    manager = BDDManager(MOST_OPEN_NODES, 1 << 16, 1)
    manager.add_vars(len(kept))
    places = {variable: place for place, variable in enumerate(kept)}

    def disjunction(literals: Iterable[int]) -> Any:
        function = manager.false()
        for literal in literals:
            place = places[abs(literal)]
            function |= manager.var(place) if literal > 0 else manager.not_var(place)
        return function

    solver = SatSolver(clauses, budget)

    def contradiction(literals: Sequence[int]) -> Sequence[int] | None:
        answer = solver.solve(literals)
        return None if answer.satisfiable else answer.conflict

    found: list[Clause] = []
    try:
        unknown = manager.true()
        given = list(known)
        for clause in given:
            unknown &= disjunction(clause)
        said = set(given)
        others = [clause for clause in clauses if clause not in said]
        for _ in range(most_questions):
            cube = unknown.pick_cube()
            if cube is None:
                return found
            literals = [v if cube[place] else -v for v, place in places.items()]
            answer = solver.solve(literals)
            if answer.model is None:
                core = irreducible(contradiction, answer.conflict)
                found.append(tuple(sorted((-literal for literal in core), key=abs)))
                unknown &= disjunction(found[-1])
            else:
                unknown &= disjunction(-literal for literal in _needed(others, answer.model, places))
    except (SearchStoppedError, DDMemoryError):
        pass
    return None


def _needed(clauses: Iterable[Clause], model: Mask, places: dict[int, int]) -> Iterator[int]:
    """Yield kept literals of a model; they satisfy the clauses that its other literals leave unsatisfied."""
    taken: set[int] = set()
    values = model.tolist()
    for clause in clauses:
        true = [literal for literal in clause if values[abs(literal) - 1] == (literal > 0)]
        if any(abs(literal) not in places or literal in taken for literal in true):
            continue
        taken.add(true[0])
        yield true[0]


MOST_PRUNED = 3_000
"""Most new clauses of a slice; redundant clauses are not removed from a slice with more."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class Slice:
    """Feature model cut to some of its features."""

    model: FeatureModel
    """Model of the products of the whole model, cut to the features; each product occurs once."""
    method: str
    """Method of the slice: ``elimination`` of variables, or ``questions`` about configurations."""
    n_kept_rules: int
    n_new_clauses: int
    """Number of rules taken from the whole model, and number of computed clauses."""


def slice_model(model: FeatureModel, features: Iterable[int], *, budget: Budget | None = None) -> Slice:
    """Return a model of some features with the products of the whole model, cut to these features.

    Groups and constraints that name kept features only stay as they are. The other rules are projected to the
    kept features by eliminating variables from their clauses. If the clauses grow too many, a satisfiability
    solver classifies configurations. The parent of a kept feature is its nearest kept ancestor. Without its
    root the slice has no tree. Attributes of kept features stay.

    Parameters
    ----------
    model : FeatureModel
        The whole model.
    features : iterable of int
        Indices of the features to keep, from 0.
    budget : Budget, optional
        Ends the search; elimination takes at most half of the time left.

    Raises
    ------
    BadInputError
        If nothing is kept, an index is no feature, or neither method finishes within its limits.

    Notes
    -----
    Slicing is existential projection :cite:p:`Acher2011`, often done by elimination :cite:p:`Krieter2016`.

    Examples
    --------
    >>> from shortlist.products.formulas import Implies
    >>> shop = make_model(["Shop", "Pay", "Card", "Cash"], root=0,
    ...     groups=[make_group(0, [1], "mandatory"), make_group(1, [2, 3], "or")])
    >>> cut = slice_model(shop, [0, 2, 3])
    >>> [group.kind.value for group in cut.model.groups], cut.model.constraints[0].formula
    (['optional', 'optional'], Or(parts=(Literal(value=2), Literal(value=3))))
    """
    budget = budget or Budget()
    kept = sorted(set(features))
    if not kept or kept[0] < 0 or kept[-1] >= model.n_features:
        raise BadInputError(
            "features", f"must be some of 0 to {model.n_features - 1}", f"{kept[:5]}", "Name at least one."
        )
    try:
        return _sliced(model, kept, budget)
    except SearchStoppedError:
        raise _endless(budget) from None


def _sliced(model: FeatureModel, kept: Sequence[int], budget: Budget) -> Slice:
    traced = traced_clauses(model)
    own = {feature + 1 for feature in kept}
    shared = backbone(traced.clauses, budget)
    if shared is None:
        void = make_model([model.labels[i] for i in kept], constraints=[Or(())], name=model.name)
        return Slice(void, "elimination", 0, 1)
    rules = [rule for rule in range(model.n_rules) if _variables(model, rule) <= own]
    found, method = _projected(model, rules, own, shared, budget)
    skeleton = _skeleton(model, kept, rules, SatSolver(traced.clauses, budget))
    new = _without_implied(skeleton, [_renumbered(clause, kept) for clause in found], budget)
    made = make_model(
        skeleton.labels,
        root=skeleton.root,
        groups=skeleton.groups,
        constraints=[*skeleton.constraints, *(Constraint(Or(tuple(map(Literal, clause)))) for clause in new)],
        name=model.name,
    )
    return Slice(_described(made, model, kept), method, len(rules), len(new))


def _variables(model: FeatureModel, rule: int) -> set[int]:
    """Return the variables of a rule: feature indices counted from 1."""
    rule -= model.root is not None
    if rule < 0:
        return {(model.root or 0) + 1}
    if rule < len(model.groups):
        group = model.groups[rule]
        return {group.parent + 1, *(child + 1 for child in group.children)}
    rule -= len(model.groups)
    if rule < len(model.constraints):
        return variables_of(model.constraints[rule].formula)
    assert model.clauses is not None, "only clauses are left"
    start, stop = model.clauses.offsets[rule - len(model.constraints) :][:2]
    return set(np.abs(model.clauses.literals[start:stop]).tolist())


def _projected(
    model: FeatureModel, rules: Collection[int], own: set[int], shared: Sequence[int], budget: Budget
) -> tuple[list[Clause], str]:
    """Return the clauses that complete the kept rules to the projection, and the name of the method."""
    traced = traced_clauses(model)
    shared = [literal for literal in shared if abs(literal) <= model.n_features]
    true = set(shared)
    stays = set(rules)
    pairs = list(zip(traced.clauses, traced.rules.tolist(), strict=True))
    open_ = [
        tuple(literal for literal in clause if -literal not in true)
        for clause, rule in pairs
        if rule not in stays and not any(literal in true for literal in clause)
    ]
    units = [(literal,) for literal in shared if abs(literal) in own]
    gone = {abs(literal) for clause in open_ for literal in clause} - own
    found = eliminated(open_, gone, budget=budget.share(0.5))
    if found is not None:
        return [*units, *found], "elimination"
    known = [clause for clause, rule in pairs if rule in stays and all(abs(v) in own for v in clause)]
    answered = asked(traced.clauses.with_units(shared), sorted(own), [*known, *units], budget=budget)
    if answered is None:
        raise _endless(budget)
    return [*units, *answered], "questions"


def _endless(budget: Budget) -> BadInputError:
    if budget.stopped:
        return BadInputError(
            f"the slice was not found before the search was stopped ({budget.limit_text}). Raise the limit, "
            "or keep fewer features, or nearly all."
        )
    return BadInputError(
        f"the slice is too large: elimination would need more than {MOST_LITERALS:,} literals, and there are "
        f"more than {MOST_QUESTIONS:,} configurations to ask about. Keep fewer features, or nearly all."
    )


def _renumbered(clause: Sequence[int], kept: Sequence[int]) -> Clause:
    places = {feature + 1: place for place, feature in enumerate(kept, start=1)}
    return tuple(places[abs(literal)] * (1 if literal > 0 else -1) for literal in clause)


def _skeleton(
    model: FeatureModel, kept: Sequence[int], rules: Collection[int], solver: SatSolver
) -> FeatureModel:
    """Return the tree of the kept features, with the constraints that name no other feature."""
    places = {feature: place for place, feature in enumerate(kept)}
    first = int(model.root is not None)
    groups = [
        Group(places[g.parent], tuple(places[c] for c in g.children), g.kind, g.lower, g.upper)
        for rule, g in enumerate(model.groups, start=first)
        if rule in rules
    ]
    first += len(model.groups)
    numbers = {feature + 1: place + 1 for feature, place in places.items()}
    constraints = [
        Constraint(with_variables(c.formula, numbers), c.name)
        for rule, c in enumerate(model.constraints, start=first)
        if rule in rules
    ]
    first += len(model.constraints)
    constraints += [
        Constraint(Or(tuple(map(Literal, _renumbered(clause, kept)))))
        for rule, clause in enumerate(model.clauses or (), start=first)
        if rule in rules
    ]
    names = [model.labels[feature] for feature in kept]
    if model.root not in places:
        loose = [Constraint(formula) for group in groups for formula in _group_formulas(group)]
        return make_model(names, constraints=[*loose, *constraints])
    placed = {child for group in groups for child in group.children}
    for feature in kept:
        if places[feature] in placed or feature == model.root:
            continue
        above = model.parents[feature]
        while above not in places:
            above = model.parents[above]
        optional = solver.solve([above + 1, -feature - 1]).satisfiable
        kind = GroupKind.OPTIONAL if optional else GroupKind.MANDATORY
        groups.append(make_group(places[above], [places[feature]], kind))
    return make_model(names, root=places[model.root or 0], groups=groups, constraints=constraints)


def _group_formulas(group: Group) -> list[Formula]:
    parent, children = group.parent + 1, [child + 1 for child in group.children]
    n = len(children)
    formulas: list[Formula] = [Or((Literal(-child), Literal(parent))) for child in children]
    if group.lower == 1:
        formulas.append(Or((Literal(-parent), *map(Literal, children))))
    elif group.lower:
        formulas.append(Linear((*[-1] * n, group.lower), (*children, parent), 0))
    if group.upper < n:
        formulas.append(Linear((1,) * n, tuple(children), group.upper))
    return formulas


def _without_implied(skeleton: FeatureModel, clauses: Sequence[Clause], budget: Budget) -> list[Clause]:
    """Remove clauses, the longest first, that the rules of a model and the other clauses imply."""
    listed = sorted(set(clauses), key=lambda clause: (-len(clause), clause))
    if len(listed) > MOST_PRUNED:
        return listed[::-1]
    known = traced_clauses(skeleton).clauses
    n = known.n_variables
    switched = [(*clause, -(n + number)) for number, clause in enumerate(listed, start=1)]
    solver = SatSolver(Clauses.from_clauses(n + len(listed), [*known, *switched]), budget)
    needed = set(range(1, len(listed) + 1))
    try:
        for number, clause in enumerate(listed, start=1):
            others = [n + other for other in needed if other != number]
            if not solver.solve([*others, *(-literal for literal in clause)]).satisfiable:
                needed.remove(number)
    except SearchStoppedError:
        pass
    return [listed[number - 1] for number in sorted(needed, reverse=True)]


def _described(made: FeatureModel, model: FeatureModel, kept: Sequence[int]) -> FeatureModel:
    """Return the slice `made` with the details of the whole model, such as attributes."""
    places = {feature: place for place, feature in enumerate(kept)}
    columns = {
        name: {places[i]: value for i, value in column.items() if i in places}
        for name, column in model.attributes.items()
    }
    return with_details(
        made,
        abstract=[places[i] for i in model.abstract if i in places],
        generated=[places[i] for i in model.generated if i in places],
        attributes={name: column for name, column in columns.items() if column},
    )
