"""Propositional formulas over features, with linear comparisons as atoms; all traversals are iterative."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from shortlist.arrays import Mask

Folded = TypeVar("Folded")


@dataclass(frozen=True, slots=True)
class Literal:
    """Variable `value`, negated if it is negative; feature i, counted from 0, is variable i + 1."""

    value: int


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of the part."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction: all parts hold; true without parts."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction: at least one part holds; false without parts."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """Implication: the right side holds if the left side does."""

    left: "Formula"
    right: "Formula"


@dataclass(frozen=True, slots=True)
class Iff:
    """Equivalence: both sides hold or neither does."""

    left: "Formula"
    right: "Formula"


@dataclass(frozen=True, slots=True)
class Linear:
    """Linear comparison: the coefficients of the true variables sum to at most `upper`.

    All numbers are integers. A repeated variable counts with the sum of its coefficients.

    >>> Linear((1, 3, 1), (2, 5, 2), 4)
    Linear(coefficients=(2, 3), variables=(2, 5), upper=4)
    """

    coefficients: tuple[int, ...]
    variables: tuple[int, ...]
    upper: int

    def __post_init__(self) -> None:
        if len(set(self.variables)) < len(self.variables):
            totals: dict[int, int] = {}
            for factor, variable in zip(self.coefficients, self.variables, strict=True):
                totals[variable] = totals.get(variable, 0) + factor
            object.__setattr__(self, "coefficients", tuple(totals.values()))
            object.__setattr__(self, "variables", tuple(totals))

    def negated(self) -> "Linear":
        """Return the opposite comparison, which holds exactly if this comparison does not."""
        return Linear(tuple(-c for c in self.coefficients), self.variables, -self.upper - 1)


Formula: TypeAlias = Literal | Not | And | Or | Implies | Iff | Linear
"""Formula of any node type; atoms are literals and linear comparisons."""


def children(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a node, in order; an atom has none."""
    if isinstance(formula, And | Or):
        return formula.parts
    if isinstance(formula, Not):
        return (formula.part,)
    if isinstance(formula, Implies | Iff):
        return (formula.left, formula.right)
    return ()


def fold(formula: Formula, visit: Callable[[Formula, list[Folded]], Folded]) -> Folded:
    """Compute a value bottom-up: `visit` receives each node and the values of its parts.

    Takes one visit per node and no recursion, so the depth of a formula is limited by memory only.

    >>> fold(Or((Literal(1), Not(Literal(-2)))), lambda node, parts: 1 + sum(parts))
    4
    """
    order: list[Formula] = []
    stack = [formula]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children(node))
    values: list[Folded] = []
    for node in reversed(order):
        first = len(values) - len(children(node))
        parts = values[first:]
        del values[first:]
        values.append(visit(node, parts))
    return values[0]


def variables_of(formula: Formula) -> set[int]:
    """Return the variables that a formula names."""
    found: set[int] = set()
    stack = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, Literal):
            found.add(abs(node.value))
        elif isinstance(node, Linear):
            found.update(node.variables)
        else:
            stack.extend(children(node))
    return found


def with_variables(formula: Formula, numbers: Mapping[int, int]) -> Formula:
    """Return the formula with variable v renamed to ``numbers[v]``.

    >>> with_variables(Implies(Literal(1), Literal(-2)), {1: 3, 2: 1})
    Implies(left=Literal(value=3), right=Literal(value=-1))
    """

    def visit(node: Formula, parts: list[Formula]) -> Formula:  # noqa: PLR0911  # one return per kind of node
        match node:
            case Literal(value):
                return Literal(numbers[abs(value)] * (1 if value > 0 else -1))
            case Linear(coefficients, variables, upper):
                return Linear(coefficients, tuple(numbers[v] for v in variables), upper)
            case Not():
                return Not(parts[0])
            case And():
                return And(tuple(parts))
            case Or():
                return Or(tuple(parts))
            case Implies():
                return Implies(*parts)
            case Iff():
                return Iff(*parts)

    return fold(formula, visit)


def holds(formula: Formula, columns: Mask) -> Mask:
    """Mark the configurations for which a formula holds, ``(n_configurations,)``.

    `columns`: values of variable v in row v - 1, ``(n_variables, n_configurations)``. With configurations
    side by side, each node takes one array operation.

    >>> holds(Implies(Literal(1), Literal(2)), np.array([[True, True, False], [True, False, False]]))
    array([ True, False,  True])
    """
    n = columns.shape[1]

    def visit(node: Formula, parts: list[Mask]) -> Mask:  # noqa: PLR0911  # one return per kind of node
        match node:
            case Literal(value):
                column: Mask = columns[abs(value) - 1]
                return column if value > 0 else ~column
            case Not():
                return ~parts[0]
            case And():
                return functools.reduce(np.logical_and, parts, np.ones(n, dtype=bool))
            case Or():
                return functools.reduce(np.logical_or, parts, np.zeros(n, dtype=bool))
            case Implies():
                return ~parts[0] | parts[1]
            case Iff():
                return ~(parts[0] ^ parts[1])
            case Linear(coefficients, variables, upper):
                rows = np.asarray(variables, dtype=np.int64) - 1
                total: Mask = np.asarray(coefficients, dtype=np.int64) @ columns[rows] <= upper
                return total

    return fold(formula, visit)


_SIGNS = {And: " & ", Or: " | ", Implies: " => ", Iff: " <=> "}

_STRENGTH = {Iff: 1, Implies: 2, Or: 3, And: 4, Not: 5, Literal: 6, Linear: 6}


def formula_text(
    formula: Formula, names: Sequence[str], *, linear: Callable[[Linear], str] | None = None
) -> str:
    """Write a formula in the notation of UVL: ``!``, ``&``, ``|``, ``=>``, ``<=>``, brackets where needed.

    `names`: name i stands for variable i + 1. `linear`: function that writes a linear comparison; by
    default as ``3 * A + B <= 4``.

    >>> formula_text(Implies(Literal(1), Or((Literal(-2), And((Literal(3), Literal(1)))))), "ABC")
    'A => !B | C & A'
    """
    anything = names[0] if names else "A"
    pieces: list[str] = []
    stack: list[Formula | str] = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        node = _shown(node)
        if isinstance(node, Literal):
            pieces.append(("" if node.value > 0 else "!") + names[abs(node.value) - 1])
        elif isinstance(node, Linear):
            pieces.append(linear(node) if linear else _linear_text(node, names))
        elif not children(node):
            pieces.append(f"({anything} {'|' if isinstance(node, And) else '&'} !{anything})")
        else:
            stack += reversed(_spelled(node))
    return "".join(pieces)


def _shown(node: Formula) -> Formula:
    """Return the formula without conjunctions and disjunctions of a single part."""
    while isinstance(node, And | Or) and len(node.parts) == 1:
        node = node.parts[0]
    return node


def _spelled(node: Formula) -> list[Formula | str]:
    """Return the parts of a node with signs and brackets between them."""
    spelled: list[Formula | str] = ["!"] if isinstance(node, Not) else []
    for place, part in enumerate(map(_shown, children(node))):
        if place:
            spelled.append(_SIGNS[type(node)])
        constant = isinstance(part, And | Or) and not part.parts
        strength = 6 if constant else _STRENGTH[type(part)]
        own = _STRENGTH[type(node)]
        bare = strength > own or (strength == own and isinstance(node, Not))
        spelled += [part] if bare else ["(", part, ")"]
    return spelled


def _linear_text(node: Linear, names: Sequence[str]) -> str:
    terms = " + ".join(
        names[variable - 1] if factor == 1 else f"{factor} * {names[variable - 1]}"
        for factor, variable in zip(node.coefficients, node.variables, strict=True)
    )
    return f"{terms or 0} <= {node.upper}"
