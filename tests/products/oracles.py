"""Slow and plain twins of what the product room computes."""

from itertools import product

from shortlist.products.formulas import And, Formula, Iff, Implies, Linear, Literal, Not, Or
from shortlist.products.model import FeatureModel


def truth(formula: Formula, selected: tuple[bool, ...]) -> bool:  # noqa: PLR0911  # one return per kind of node
    """Evaluate a formula by the textbook."""
    match formula:
        case Literal(value):
            return selected[abs(value) - 1] == (value > 0)
        case Not(part):
            return not truth(part, selected)
        case And(parts):
            return all(truth(part, selected) for part in parts)
        case Or(parts):
            return any(truth(part, selected) for part in parts)
        case Implies(left, right):
            return truth(right, selected) if truth(left, selected) else True
        case Iff(left, right):
            return truth(left, selected) is truth(right, selected)
        case Linear(coefficients, variables, upper):
            return sum(c for c, v in zip(coefficients, variables, strict=True) if selected[v - 1]) <= upper


def is_product(model: FeatureModel, selected: tuple[bool, ...]) -> bool:
    """Judge one configuration by the definitions of Sec. 2.1 of Xue & Li (2018)."""
    if model.root is not None and not selected[model.root]:
        return False
    for group in model.groups:
        count = sum(selected[child] for child in group.children)
        if selected[group.parent]:
            if not group.lower <= count <= group.upper:
                return False
        elif count:
            return False
    if not all(truth(constraint.formula, selected) for constraint in model.constraints):
        return False
    return model.clauses is None or all(
        any(selected[abs(v) - 1] == (v > 0) for v in clause) for clause in model.clauses
    )


def configurations(n: int) -> list[tuple[bool, ...]]:
    return list(product((False, True), repeat=n))


def products(model: FeatureModel) -> list[tuple[bool, ...]]:
    """List every product, by trying all configurations."""
    return [s for s in configurations(model.n_features) if is_product(model, s)]


def named_products(model: FeatureModel) -> set[frozenset[str]]:
    """Return every product as the set of names of its features."""
    return {
        frozenset(name for name, s in zip(model.labels, selected, strict=True) if s)
        for selected in products(model)
    }
