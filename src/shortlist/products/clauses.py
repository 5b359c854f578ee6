"""A feature model as clauses."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.products.cnf import CLAUSE_LIMITS, Clause, ClauseLimits, Definitions, formula_clauses
from shortlist.products.formulas import Formula, Linear, Literal, Or
from shortlist.products.model import FeatureModel, Group


@dataclass(frozen=True, eq=False)
class TracedClauses:
    """Clauses, and the rule number of each."""

    clauses: Clauses
    """Clauses over the features: feature i, counted from 0, is variable i + 1. Higher variables are
    auxiliary; every product fixes their values.
    """
    rules: NDArray[np.int32]
    """Rule number of each clause, see :func:`~shortlist.products.rules.rule_text`,
    ``(n_clauses,)``; -1 where the clause defines an auxiliary variable.
    """


def to_clauses(model: FeatureModel, limits: ClauseLimits = CLAUSE_LIMITS) -> Clauses:
    """Return clauses whose solutions, cut to the features, are exactly the products.

    Each product has exactly one solution.

    Trees, clauses, and formulas that distribute into few clauses
    (:class:`~shortlist.products.cnf.ClauseLimits`) need no auxiliary variables; see
    :func:`~shortlist.products.clauses.traced_clauses`.

    >>> from shortlist.products.model import make_group, make_model
    >>> model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> list(to_clauses(model))
    [(1,), (-2, 1), (-3, 1), (-1, 2, 3), (-2, -3)]
    """
    return traced_clauses(model, limits).clauses


def traced_clauses(model: FeatureModel, limits: ClauseLimits = CLAUSE_LIMITS) -> TracedClauses:
    """Return the clauses of a model, each with the number of its rule.

    A group of n children takes n clauses by which a child requires the parent. A lower bound m takes a clause
    for every n - m + 1 of the children, an upper bound m a clause for every m + 1. If the clauses of a bound
    are too many, a decision diagram with auxiliary variables takes their place. Linear comparisons always
    take such a diagram. Raises BadInputError if a linear comparison needs too many auxiliary variables.
    """
    definitions = Definitions(model.n_features, limits)
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
    """Return the clauses that define all auxiliary variables, the variables of comparisons included."""
    for comparison, variable in definitions.undefined:
        definitions.clauses += _equal(variable, linear_literal(comparison, definitions))
    definitions.undefined.clear()
    return definitions.clauses


def _equal(variable: int, literal: int | bool) -> list[Clause]:
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
    """Return clauses that require at least `least` true literals if the parent is selected.

    Without the parent all children are deselected, so clauses about negated children need not name the
    parent.
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
    """Return a disjunction of literals as one clause; None for any other formula."""
    if not isinstance(formula, Or):
        return None
    literals = [part.value for part in formula.parts if isinstance(part, Literal)]
    if len(literals) < len(formula.parts):
        return None
    clause = tuple(dict.fromkeys(literals))
    return [] if any(-literal in clause for literal in clause) else [clause]


_Node: TypeAlias = tuple[float, float, int]  # lowest and highest rest with this node, and its literal

_TRUE, _FALSE = 0, None  # not literals: no variable is numbered 0


def linear_literal(comparison: Linear, definitions: Definitions) -> int | bool:
    """Return a literal that is true exactly if the comparison holds.

    Return True if the comparison always holds, and False if it never does.

    Coefficients are made positive and sorted, largest first. A node stands for an interval of limits that
    allow the same remaining sums, so that equal nodes are shared (Abío, Nieuwenhuis, Oliveras,
    Rodríguez-Carbonell & Mayer-Eichberger 2012). Each node is an auxiliary variable, defined in both
    directions (Eén & Sörensson 2006). Raises BadInputError if the diagram needs more nodes than the limits of
    `definitions` allow.

    >>> definitions = Definitions(3)
    >>> linear_literal(Linear((1, 1, 1), (1, 2, 3), 3), definitions)
    True
    >>> linear_literal(Linear((2, 1), (1, 2), 1), definitions)
    -1
    """
    terms, upper = _positive(comparison)
    rests = [0]
    for factor, _ in reversed(terms):
        rests.append(rests[-1] + factor)
    rests.reverse()
    levels: list[list[_Node]] = [[] for _ in terms]
    root = _diagram(terms, upper, rests, levels, definitions)
    if root[2] is None:
        return False
    return True if root[2] == 0 else root[2]


def _positive(comparison: Linear) -> tuple[list[tuple[int, int]], int]:
    """Return (coefficient, literal) pairs and the bound on their sum.

    Coefficients are positive, the largest first.
    """
    terms, upper = [], comparison.upper
    for factor, variable in zip(comparison.coefficients, comparison.variables, strict=True):
        if factor < 0:
            upper -= factor
            terms.append((-factor, -variable))
        elif factor:
            terms.append((factor, variable))
    return sorted(terms, key=lambda term: -term[0]), upper


def _find(nodes: list[_Node], rest: int) -> _Node | None:
    place = bisect_right(nodes, (rest, math.inf, math.inf)) - 1
    return nodes[place] if place >= 0 and nodes[place][1] >= rest else None


def _diagram(
    terms: list[tuple[int, int]],
    upper: int,
    rests: list[int],
    levels: list[list[_Node]],
    definitions: Definitions,
) -> tuple[float, float, int | None]:
    """Build the diagram depth first, without recursion; return the root's interval and literal."""

    def known(level: int, rest: int) -> tuple[float, float, int | None] | None:
        if rest < 0:
            return -math.inf, -1, _FALSE
        if rest >= rests[level]:
            return rests[level], math.inf, _TRUE
        return _find(levels[level], rest)

    most = definitions.limits.diagram_nodes
    if terms and terms[0][0] == terms[-1][0]:
        most = max(most, 4 * len(terms))  # nodes that an alternative of many features needs
    n_nodes, stack = 0, [(0, upper)]
    while stack:
        level, rest = stack[-1]
        if known(level, rest) is not None:
            stack.pop()
            continue
        factor, literal = terms[level]
        high, low = known(level + 1, rest - factor), known(level + 1, rest)
        if high is None or low is None:
            stack.append((level + 1, rest - factor if high is None else rest))
            continue
        stack.pop()
        first, last = max(high[0] + factor, low[0]), min(high[1] + factor, low[1])
        node = _choice(literal, high[2], low[2], definitions)
        place = bisect_right(levels[level], (first, math.inf, math.inf))
        levels[level].insert(place, (first, last, node))
        n_nodes += 1
        if n_nodes > most:
            raise BadInputError(
                f"a linear constraint over {len(terms)} features needs more than {most:,} auxiliary "
                "variables as clauses. Use a method that works on integer programs."
            )
    root = known(0, upper)
    assert root is not None
    return root


def _choice(literal: int, high: int | None, low: int | None, definitions: Definitions) -> int:
    """Return a literal equal to `high` if `literal` is true and to `low` otherwise."""
    if high is _FALSE and low == _TRUE:
        return -literal
    if high == low and high is not None:
        return high
    new = definitions.fresh()
    clauses: list[Clause] = []
    for condition, branch in ((-literal, high), (literal, low)):
        if branch is _FALSE:
            clauses.append((condition, -new))
        elif branch == _TRUE:
            clauses.append((condition, new))
        else:
            assert branch is not None
            clauses += [(condition, -new, branch), (condition, new, -branch)]
    definitions.clauses += clauses
    return new
