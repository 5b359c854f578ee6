"""Rules of a model as text; check of configurations against the tree and formulas as written."""

import numpy as np
from numpy.typing import ArrayLike

from shortlist._bits import pack, unpack
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.products.formulas import formula_text, holds
from shortlist.products.model import Constraint, FeatureModel, Group, GroupKind


def rule_text(model: FeatureModel, rule: int) -> str:
    """Return a sentence for rule number `rule`, in the order of :attr:`FeatureModel.n_rules`.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    >>> [rule_text(pair, rule) for rule in range(pair.n_rules)]
    ['every product has A', 'B is mandatory below A']
    """
    if model.root is not None:
        if rule == 0:
            return f"every product has {model.labels[model.root]}"
        rule -= 1
    if rule < len(model.groups):
        return _group_text(model, model.groups[rule])
    rule -= len(model.groups)
    if rule < len(model.constraints):
        return _constraint_text(model, model.constraints[rule])
    if model.clauses is None:
        raise BadInputError(f"`rule` must be below {model.n_rules}. Count rules with `n_rules`.")
    start, stop = model.clauses.offsets[rule - len(model.constraints) :][:2].tolist()
    literals = model.clauses.literals[start:stop].tolist()
    return " | ".join(("" if v > 0 else "!") + model.labels[abs(v) - 1] for v in literals) or "false"


def _group_text(model: FeatureModel, group: Group) -> str:
    members = ", ".join(model.labels[child] for child in group.children[:6])
    if len(group.children) > 6:
        members += f" and {len(group.children) - 6} more"
    parent = model.labels[group.parent]
    if group.kind in {GroupKind.MANDATORY, GroupKind.OPTIONAL}:
        return f"{members} is {group.kind.value} below {parent}"
    if group.kind is GroupKind.OR:
        return f"at least one of {members} below {parent}"
    if group.kind is GroupKind.ALTERNATIVE:
        return f"exactly one of {members} below {parent}"
    return f"{group.lower} to {group.upper} of {members} below {parent}"


def _constraint_text(model: FeatureModel, constraint: Constraint) -> str:
    name = f"{constraint.name}: " if constraint.name else ""
    line = f" (line {constraint.line})" if constraint.line else ""
    return name + formula_text(constraint.formula, model.labels) + line


_BLOCK = 512  # configurations at a time: their columns stay in the cache


def broken_rules(model: FeatureModel, selections: ArrayLike) -> Mask:
    """Mark the rules that each configuration breaks.

    The check does not use the clauses and inequalities made from the model, and so can test both. Raises
    BadInputError if the shape does not fit the model or a value is not 0 or 1.

    The mask, ``(n_configurations, n_rules)``, is true where a rule is broken;
    :func:`~shortlist.products.rules.rule_text` returns the text of a rule.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    >>> broken_rules(pair, [[1, 1], [1, 0]]).tolist()
    [[False, False], [False, True]]
    """
    columns = np.ascontiguousarray(_as_selections(model, selections).T)
    return np.ascontiguousarray(_broken(model, columns).T)


def are_valid(model: FeatureModel, selections: ArrayLike) -> Mask:
    """Mark the configurations that break no rule, and so are products, ``(n_configurations,)``.

    Raises BadInputError if the shape does not fit the model.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    >>> are_valid(pair, [[1, 0], [1, 1]])
    array([False,  True])
    """
    chosen = _as_selections(model, selections)
    valid: Mask = np.ones(len(chosen), dtype=bool)
    for start in range(0, len(chosen), _BLOCK):
        columns = np.ascontiguousarray(chosen[start : start + _BLOCK].T)
        valid[start : start + _BLOCK] = ~_broken(model, columns).any(axis=0)
    return valid


def evaluate(model: FeatureModel, selection: ArrayLike) -> list[str]:
    """Return a sentence for each rule that one configuration breaks; an empty list means a valid product.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    >>> evaluate(pair, [1, 0])
    ['B is mandatory below A']
    """
    broken = broken_rules(model, np.asarray(selection)[None, :])[0]
    return [rule_text(model, int(rule)) for rule in np.flatnonzero(broken)]


def _as_selections(model: FeatureModel, selections: ArrayLike) -> Mask:
    array = np.asarray(selections)
    if array.ndim != 2 or array.shape[1] != model.n_features:
        raise BadInputError(
            "selections",
            f"must have shape (n_configurations, {model.n_features})",
            array.shape,
            "Give one column per feature.",
        )
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise BadInputError("`selections` must hold 0 and 1 only. Round the values of a solver first.")
    return array.astype(bool, copy=False)


def _broken(model: FeatureModel, columns: Mask) -> Mask:
    """Mark broken rules, ``(n_rules, n_configurations)``, from values by feature."""
    broken = np.zeros((model.n_rules, columns.shape[1]), dtype=bool)
    row = 0
    if model.root is not None:
        broken[0] = ~columns[model.root]
        row = 1
    for group in model.groups:
        parent = columns[group.parent]
        if len(group.children) == 1:
            child = columns[group.children[0]]
            broken[row] = child > parent
            if group.lower:
                broken[row] |= parent if group.lower > 1 else parent > child
            elif not group.upper:
                broken[row] |= child
        else:
            counts = columns[list(group.children)].sum(axis=0, dtype=np.int32)
            low, high = np.where(parent, group.lower, 0), np.where(parent, group.upper, 0)
            broken[row] = (counts < low) | (counts > high)
        row += 1
    for constraint in model.constraints:
        broken[row] = ~holds(constraint.formula, columns)
        row += 1
    if model.clauses is not None and len(model.clauses.literals):
        broken[row:] = _broken_clauses(model, columns)
    elif model.clauses is not None:
        broken[row:] = True  # a clause without literals is always broken
    return broken


def _broken_clauses(model: FeatureModel, columns: Mask) -> Mask:
    assert model.clauses is not None
    literals, offsets = model.clauses.literals, model.clauses.offsets
    n = columns.shape[1]
    words = pack(columns)  # 64 configurations at a time
    true = words[np.abs(literals) - 1]
    np.invert(true, out=true, where=(literals < 0)[:, None])
    filled = np.diff(offsets) > 0
    broken = np.ones((model.clauses.n_clauses, n), dtype=bool)
    unsatisfied = ~np.bitwise_or.reduceat(true, offsets[:-1][filled], axis=0)
    broken[filled] = unpack(unsatisfied, n)
    return broken
