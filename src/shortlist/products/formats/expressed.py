"""A feature model in the tree and formulas that a format can hold, clauses taking the place of the rest."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from shortlist.products.encodings.clauses import traced_clauses
from shortlist.products.encodings.cnf import Clause
from shortlist.products.feature_models.formulas import Formula, Literal, Or
from shortlist.products.feature_models.model import (
    Constraint,
    FeatureModel,
    Group,
    GroupKind,
    make_group,
    make_model,
    with_details,
)
from shortlist.products.formats.writing import free_name, rewritten


@dataclass(frozen=True, eq=False)
class ExpressedModel:
    """A model that a format can hold."""

    model: FeatureModel
    """With a tree and without clauses: the features, then auxiliary ones, then the root if it is new."""
    variables: tuple[int, ...]
    """The variable of the original model's clauses that each feature stands for; 0 for a new root."""
    notes: tuple[str, ...]
    """What became something else, a sentence each."""


def expressed(
    model: FeatureModel,
    *,
    holds_group: Callable[[Group, int], bool],
    holds_formula: Callable[[Formula], bool],
) -> ExpressedModel:
    """Return a model with the same products in which every group and every formula can be held.

    A group that cannot is optional features and clauses, and a formula that cannot is clauses. These may need
    auxiliary features, which are abstract, optional below the root, and have one value in every product. A
    model without a tree gets an abstract root that every product has. Raises BadInputError if a linear
    constraint that has to become clauses needs too many.

    `holds_group`: whether the format holds a group, given how many groups its parent has with the auxiliary
    features. `holds_formula`: whether the format holds a constraint as it is.

    >>> some = make_model(list("ABC"), root=0, groups=[make_group(0, [1, 2], "cardinality", 0, 1)])
    >>> shown = expressed(some, holds_group=lambda group, n: False, holds_formula=lambda formula: True)
    >>> [group.kind.value for group in shown.model.groups], shown.model.constraints[0].formula
    (['optional', 'optional'], Or(parts=(Literal(value=-2), Literal(value=-3))))
    """
    first = int(model.root is not None)
    after = first + len(model.groups)
    spelled = {r for r, c in enumerate(model.constraints, start=after) if not holds_formula(c.formula)}
    siblings = Counter(group.parent for group in model.groups)

    def not_held() -> dict[int, Group]:
        pairs = enumerate(model.groups, start=first)
        return {rule: group for rule, group in pairs if not holds_group(group, siblings[group.parent])}

    loose = not_held()
    clauses, auxiliary = needed_clauses(model, {*loose, *spelled})
    if auxiliary and model.root is not None:
        siblings[model.root] += len(auxiliary)  # these hang below the root, each a group
        if (crowded := not_held()) != loose:
            loose = crowded
            clauses, auxiliary = needed_clauses(model, {*loose, *spelled})
    in_tree = {(-child - 1, group.parent + 1) for group in loose.values() for child in group.children}
    clauses = [clause for clause in clauses if clause not in in_tree]

    variables = [*range(1, model.n_features + 1), *auxiliary]
    names = [*model.labels]
    for variable in auxiliary:
        names.append(free_name(f"_X{variable}", names))
    root = model.root
    if root is None:
        root = len(names)
        names.append(free_name("every_product", names))
        variables.append(0)
    groups: list[Group] = []
    for rule, group in enumerate(model.groups, start=first):
        groups += _optional(group.parent, group.children) if rule in loose else [group]
    groups += _optional(root, range(0 if model.root is None else model.n_features, len(names)), but=root)
    numbers = {variable: number for number, variable in enumerate(variables, start=1)}
    constraints = [c for r, c in enumerate(model.constraints, start=after) if r not in spelled]
    for listed in (clauses, model.clauses or ()):
        constraints += map(Constraint, _formulas(listed, numbers, root + 1))
    made = make_model(names, root=root, groups=groups, constraints=constraints, name=model.name)
    made = with_details(
        made, abstract={*model.abstract, *range(model.n_features, len(names))}, attributes=model.attributes
    )
    notes = (
        *rewritten(root in range(model.n_features, len(names)), "root", "added, as the format needs a tree"),
        *rewritten(len(loose), "group", "written as optional features with constraints"),
        *rewritten(len(spelled), "constraint", "written as clauses"),
        *rewritten(len(auxiliary), "auxiliary feature", "added, with one value in each product"),
    )
    return ExpressedModel(made, tuple(variables), notes)


def needed_clauses(model: FeatureModel, rules: Iterable[int]) -> tuple[list[Clause], list[int]]:
    """Return the clauses of some rules with those that define their auxiliary variables, and these, rising.

    Every variable of these is defined in the same clauses as in those of the whole model.
    """
    wanted = set(rules)
    if not wanted:
        return [], []
    traced = traced_clauses(model)
    pairs = list(zip(traced.clauses, traced.rules.tolist(), strict=True))
    clauses = [clause for clause, rule in pairs if rule in wanted]
    definitions = [clause for clause, rule in pairs if rule < 0]
    having: dict[int, list[int]] = {}
    for place, clause in enumerate(definitions):
        for literal in clause:
            having.setdefault(abs(literal), []).append(place)
    n = model.n_features
    stack = [abs(literal) for clause in clauses for literal in clause if abs(literal) > n]
    found: set[int] = set()
    taken: set[int] = set()
    while stack:
        variable = stack.pop()
        if variable in found:
            continue
        found.add(variable)
        for place in having.get(variable, ()):
            if place not in taken:
                taken.add(place)
                stack += [abs(literal) for literal in definitions[place] if abs(literal) > n]
    return [*clauses, *(definitions[place] for place in sorted(taken))], sorted(found)


def is_clause(formula: Formula) -> bool:
    """Whether a formula is a literal, or a disjunction of literals that is not empty."""
    if isinstance(formula, Or):
        return bool(formula.parts) and all(isinstance(part, Literal) for part in formula.parts)
    return isinstance(formula, Literal)


def _optional(parent: int, children: Iterable[int], but: int = -1) -> Iterator[Group]:
    return (make_group(parent, [child], GroupKind.OPTIONAL) for child in children if child != but)


def _formulas(clauses: Iterable[Clause], numbers: Mapping[int, int], root: int) -> Iterator[Formula]:
    """Yield clauses as formulas; one without literals, which never holds, as two in contradiction."""
    for clause in clauses:
        if not clause:
            yield from (Literal(root), Literal(-root))
        else:
            yield Or(tuple(Literal(numbers[abs(v)] * (1 if v > 0 else -1)) for v in clause))
