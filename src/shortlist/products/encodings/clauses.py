"""A feature model as clauses."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from shortlist.logic.clauses import Clauses
from shortlist.products.encodings.cnf import CLAUSE_LIMITS, Clause, ClauseLimits, Definitions, formula_clauses
from shortlist.products.encodings.pseudo_boolean import linear_literal
from shortlist.products.feature_models.formulas import Formula, Linear, Literal, Or
from shortlist.products.feature_models.model import FeatureModel, Group


@dataclass(frozen=True, eq=False)
class TracedClauses:
    """Clauses, and the rule of the model that each comes from.

    Attributes
    ----------
    clauses : Clauses
        Feature i, counted from 0, is variable i + 1; variables above the number of features are auxiliary,
        and every product fixes the values of all of them.
    rules : ndarray of int32, shape (n_clauses,)
        Rule number of each clause, see :func:`~shortlist.products.feature_models.model.rule_text`; -1 where
        the clause defines an auxiliary variable.
    """

    clauses: Clauses
    rules: NDArray[np.int32]


def to_clauses(model: FeatureModel, limits: ClauseLimits = CLAUSE_LIMITS) -> Clauses:
    """Return clauses whose solutions, cut to the features, are exactly the products, each once.

    Trees, clauses and formulas that distribute into few clauses
    (:class:`~shortlist.products.encodings.cnf.ClauseLimits`) need no auxiliary variables; see
    :func:`~shortlist.products.encodings.clauses.traced_clauses`.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> list(to_clauses(model))
    [(1,), (-2, 1), (-3, 1), (-1, 2, 3), (-2, -3)]
    """
    return traced_clauses(model, limits).clauses


def traced_clauses(model: FeatureModel, limits: ClauseLimits = CLAUSE_LIMITS) -> TracedClauses:
    """Return the clauses of a model and the rule behind each of them.

    A group of n children takes n clauses for their parent and, for m of n, one clause for every n - m + 1 or
    m + 1 of the children; where these are too many, and for linear comparisons, a decision diagram with
    auxiliary variables.

    Raises
    ------
    BadInputError
        If a linear comparison needs too many auxiliary variables.
    """
    definitions = Definitions(model.n_features + 1, limits)
    blocks: list[list[Clause]] = [] if model.root is None else [[(model.root + 1,)]]
    blocks += (_group_clauses(group, definitions) for group in model.groups)
    blocks += (_constraint_clauses(constraint.formula, definitions) for constraint in model.constraints)
    blocks.append(_all_definitions(definitions))
    n_rules = len(blocks) - 1
    made = Clauses.from_clauses(definitions.n_variables, chain.from_iterable(blocks))
    numbers = np.append(np.arange(n_rules, dtype=np.int32), np.int32(-1))
    rules = np.repeat(numbers, [len(block) for block in blocks])
    if model.clauses is None:
        return TracedClauses(made, rules)
    own = np.arange(n_rules, n_rules + model.clauses.n_clauses, dtype=np.int32)
    joined = Clauses(
        definitions.n_variables,
        np.concatenate([made.literals, model.clauses.literals]),
        np.concatenate([made.offsets, made.offsets[-1] + model.clauses.offsets[1:]]),
    )
    return TracedClauses(joined, np.concatenate([rules, own]))


def _all_definitions(definitions: Definitions) -> list[Clause]:
    """Return the clauses of all auxiliary variables, the comparisons' included."""
    for comparison, variable in definitions.undefined:
        definitions.clauses += _equal(variable, linear_literal(comparison, definitions))
    definitions.undefined.clear()
    return definitions.clauses


def _equal(variable: int, literal: int | bool) -> list[Clause]:
    """Return the clauses that make a variable equal to a literal or a truth value."""
    if isinstance(literal, bool):
        return [(variable if literal else -variable,)]
    return [(-variable, literal), (variable, -literal)]


def _group_clauses(group: Group, definitions: Definitions) -> list[Clause]:
    parent, members = group.parent + 1, [child + 1 for child in group.children]
    clauses: list[Clause] = [(-member, parent) for member in members]
    clauses += _bounded(parent, members, group.lower, definitions)
    fewer = [-member for member in members]
    clauses += _bounded(parent, fewer, len(members) - group.upper, definitions)
    return clauses


def _bounded(parent: int, literals: list[int], least: int, definitions: Definitions) -> list[Clause]:
    """Return the clauses for: with the parent, at least `least` of `literals` are true.

    Without the parent all children are out, so a bound on negated children needs no condition.
    """
    n = len(literals)
    if least <= 0:
        return []
    if least > n:
        return [(-parent,)]
    condition = () if literals[0] < 0 else (-parent,)
    size, limits = n - least + 1, definitions.limits
    n_clauses = comb(n, size)
    if n_clauses <= max(limits.distribution, n * n) and n_clauses * size <= limits.group_literals:
        return [(*condition, *chosen) for chosen in combinations(literals, size)]
    signs = tuple(-1 if literal > 0 else 1 for literal in literals)
    bound = -least if literals[0] > 0 else n - least
    result = linear_literal(Linear(signs, tuple(map(abs, literals)), bound), definitions)
    assert not isinstance(result, bool), "a bound within 1..n is neither always nor never met"
    return [(*condition, result)]


def _constraint_clauses(formula: Formula, definitions: Definitions) -> list[Clause]:
    if isinstance(formula, Linear):
        literal = linear_literal(formula, definitions)
        if isinstance(literal, bool):
            return [] if literal else [()]
        return [(literal,)]
    simple = _plain_clause(formula)
    return formula_clauses(formula, definitions) if simple is None else simple


def _plain_clause(formula: Formula) -> list[Clause] | None:
    """Return the clause that a disjunction of literals already is; None for anything else."""
    if not isinstance(formula, Or):
        return None
    literals = _values(formula.parts)
    if literals is None:
        return None
    clause = tuple(dict.fromkeys(literals))
    return [] if any(-literal in clause for literal in clause) else [clause]


def _values(parts: Iterable[Formula]) -> list[int] | None:
    values = []
    for part in parts:
        if not isinstance(part, Literal):
            return None
        values.append(part.value)
    return values
