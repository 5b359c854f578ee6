"""Linear comparisons to clauses, by a decision diagram of their partial sums."""

import math
from bisect import bisect_right
from typing import TypeAlias

from shortlist.errors import BadInputError
from shortlist.products.encodings.cnf import Clause, Definitions
from shortlist.products.feature_models.formulas import Linear

_Node: TypeAlias = tuple[float, float, int]  # lowest and highest rest with this node, and its literal
_TRUE, _FALSE = 0, None  # not literals: no variable is numbered 0


def linear_literal(comparison: Linear, definitions: Definitions) -> int | bool:
    """Return a literal that is true exactly where the comparison holds.

    Where it always or never holds, the answer is True or False.

    Coefficients are made positive and sorted, largest first; nodes with the same remaining sums are shared by
    intervals (Abío, Nieuwenhuis, Oliveras, Rodríguez-Carbonell & Mayer-Eichberger 2012), and each node is an
    auxiliary variable that is defined in both directions (Eén & Sörensson 2006).

    Raises
    ------
    BadInputError
        If the diagram needs more nodes than the limits of `definitions` allow.

    Examples
    --------
    >>> definitions = Definitions(4)
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
    """Return (coefficient, literal), coefficients positive and largest first, and their bound."""
    terms, upper = [], comparison.upper
    for factor, variable in zip(comparison.coefficients, comparison.variables, strict=True):
        if factor < 0:
            upper -= factor
            terms.append((-factor, -variable))
        elif factor:
            terms.append((factor, variable))
    return sorted(terms, key=lambda term: -term[0]), upper


def _find(nodes: list[_Node], rest: int) -> _Node | None:
    """Return the node whose interval holds `rest`."""
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
        most = max(most, 4 * len(terms))  # what an alternative of many features takes
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
    """Return a literal that equals `high` where `literal` is true and `low` where it is false."""
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
