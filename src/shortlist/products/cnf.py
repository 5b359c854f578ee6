"""Formulas converted to clauses: by distribution if the clauses stay few, else with auxiliary variables."""

from dataclasses import dataclass, field
from typing import TypeAlias

from shortlist.products.formulas import And, Formula, Iff, Implies, Linear, Literal, Not, Or, fold

Clause: TypeAlias = tuple[int, ...]
"""Disjunction of literals, sorted by variable; never a tautology."""


@dataclass(frozen=True)
class ClauseLimits:
    """Limits of an encoding by clauses: thresholds for auxiliary variables, and sizes at which it fails."""

    distribution: int = 256
    """Most clauses of a conjunct that is distributed without auxiliary variables."""
    group_literals: int = 2_000_000
    """Most literals of a group's bound without auxiliary variables: an alternative of n children takes a
    clause of two literals for every pair.
    """
    formula_nodes: int = 20_000
    """Most parts of a formula that is distributed; nested equivalences double the parts at every level."""
    diagram_nodes: int = 20_000
    """Most nodes of the diagram of one linear comparison; each node is an auxiliary variable."""


CLAUSE_LIMITS = ClauseLimits()


@dataclass(eq=False)
class Definitions:
    """Growing collection of auxiliary variables and of the formulas that define them.

    Each variable is defined in both directions, so every product gives it exactly one value. The number of
    models stays the same, and the models, cut to the features, are exactly the products.
    """

    n_variables: int
    """Number of variables, those of the model and the auxiliary ones."""
    limits: ClauseLimits = CLAUSE_LIMITS
    clauses: list[Clause] = field(default_factory=list)
    linear: dict[Linear, int] = field(default_factory=dict)
    undefined: list[tuple[Linear, int]] = field(default_factory=list)

    def fresh(self) -> int:
        """Return the number of a new auxiliary variable."""
        self.n_variables += 1
        return self.n_variables

    def atom(self, comparison: Linear) -> int:
        """Return the literal of a linear comparison.

        The literal of a new comparison waits in `undefined` for its clauses.
        """
        if comparison.negated() in self.linear:
            return -self.linear[comparison.negated()]
        if comparison not in self.linear:
            self.linear[comparison] = self.fresh()
            self.undefined.append((comparison, self.linear[comparison]))
        return self.linear[comparison]


def formula_clauses(formula: Formula, definitions: Definitions) -> list[Clause]:
    """Return clauses that hold exactly where the formula does.

    A conjunct is distributed if the conjunct and each of its parts need at most as many clauses as the limit
    of `definitions`. Otherwise each of its connectives gets an auxiliary variable (Tseitin 1968), defined in
    both directions. Clauses that other clauses imply are left out.

    `formula`: any formula; a linear comparison becomes its literal in `definitions`. `definitions`:
    receives the auxiliary variables and their clauses.

    >>> a, b, c = map(Literal, (1, 2, 3))
    >>> formula_clauses(Implies(a, And((b, c))), Definitions(3))
    [(-1, 2), (-1, 3)]
    """
    clauses: list[Clause] = []
    for conjunct in conjuncts(formula):
        program = _normal_form(conjunct, definitions)
        if program is None:
            clauses.append((_literal_of(conjunct, definitions),))
            continue
        distributed = _distributed(program, definitions.limits.distribution)
        clauses += _defined(program, definitions) if distributed is None else distributed
    return clauses


def conjuncts(formula: Formula) -> list[Formula]:
    """Split a formula into its conjuncts, in order; negated disjunctions are split too."""
    parts: list[Formula] = []
    stack = [(formula, True)]
    while stack:
        node, holds = stack.pop()
        if isinstance(node, Not):
            stack.append((node.part, not holds))
        elif isinstance(node, And if holds else Or):
            stack.extend((part, holds) for part in reversed(node.parts))
        elif isinstance(node, Implies) and not holds:
            stack += [(node.right, False), (node.left, True)]
        else:
            parts.append(node if holds else _negated(node))
    return parts


def _negated(formula: Formula) -> Formula:
    """Return the negation of a formula, without a double negation of an atom."""
    if isinstance(formula, Literal):
        return Literal(-formula.value)
    return formula.negated() if isinstance(formula, Linear) else Not(formula)


def _distributed(program: list[tuple[str, int]], most: int) -> list[Clause] | None:
    """Return the clauses of a normal form without auxiliary variables; None if there are too many.

    A clause is a bit set here, two bits per variable: joining two clauses is a single operation, and so is a
    test of inclusion.
    """
    bits: dict[int, int] = {}
    for kind, value in program:
        if kind == "literal":
            bits.setdefault(abs(value), 2 * len(bits))
    positive = sum(1 << shift for shift in bits.values())
    values: list[list[int]] = []
    for kind, value in reversed(program):
        if kind == "literal":
            values.append([1 << (bits[abs(value)] + (value < 0))])
            continue
        parts = values[len(values) - value :]
        del values[len(values) - value :]
        joined = [c for part in parts for c in part] if kind == "and" else _cross(parts, positive, most)
        if joined is None or len(joined) > most:
            return None
        values.append(without_implied(joined))
    literals = sorted(((shift, v) for v, shift in bits.items()), key=lambda pair: pair[1])
    clauses = [
        tuple(
            sign * variable
            for shift, variable in literals
            for sign in (1, -1)
            if clause >> (shift + (sign < 0)) & 1
        )
        for clause in values[0]
    ]
    return sorted(clauses, key=lambda clause: [(abs(literal), literal) for literal in clause])


def _normal_form(formula: Formula, definitions: Definitions) -> list[tuple[str, int]] | None:
    """Return the formula with negations at the literals only, parents first.

    Each part is ("and" or "or", parts) or a literal.
    """
    program: list[tuple[str, int]] = []
    stack = [(formula, True)]
    while stack:
        node, holds = stack.pop()
        if len(program) > definitions.limits.formula_nodes:
            return None
        match node:
            case Literal(value):
                program.append(("literal", value if holds else -value))
            case Linear():
                atom = definitions.atom(node)
                program.append(("literal", atom if holds else -atom))
            case Not(part):
                stack.append((part, not holds))
            case And(parts) | Or(parts):
                flat = _flat(parts, type(node), holds)
                program.append(("and" if isinstance(node, And) == holds else "or", len(flat)))
                stack.extend(flat)
            case Implies(left, right):
                program.append(("or" if holds else "and", 2))
                stack += [(left, not holds), (right, holds)]
            case Iff(left, right):
                program += [("and", 2)]
                stack += [(Or((Not(left), right if holds else Not(right))), True)]
                stack += [(Or((left, Not(right) if holds else right)), True)]
    return program


def _flat(parts: tuple[Formula, ...], kind: type[Formula], holds: bool) -> list[tuple[Formula, bool]]:
    """Return the parts of nested conjunctions, or nested disjunctions, side by side."""
    flat: list[tuple[Formula, bool]] = []
    stack = [(part, holds) for part in reversed(parts)]
    while stack:
        node, sign = stack.pop()
        if isinstance(node, Not):
            stack.append((node.part, not sign))
        elif isinstance(node, And | Or) and isinstance(node, kind) == (sign == holds):
            stack.extend((part, sign) for part in reversed(node.parts))
        else:
            flat.append((node, sign))
    return flat


def _cross(parts: list[list[int]], positive: int, most: int) -> list[int] | None:
    clauses = [0]
    for part in sorted(parts, key=len):
        if len(clauses) * len(part) > most * 4:
            return None
        joined = {clause | other for clause in clauses for other in part}
        clauses = [clause for clause in joined if not clause & clause >> 1 & positive]
        if len(part) > 1:
            clauses = without_implied(clauses)
    return clauses


def without_implied(clauses: list[int]) -> list[int]:
    """Remove repeated bit sets, and bit sets that contain another one; return the rest, smallest first."""
    kept: list[int] = []
    by_lowest: dict[int, list[int]] = {}  # a subset of a clause has its lowest bit in it too
    for clause in sorted(set(clauses), key=lambda c: (c.bit_count(), c)):
        rest = clause
        while rest:
            lowest = rest & -rest
            if lowest in by_lowest and any(clause & other == other for other in by_lowest[lowest]):
                break
            rest ^= lowest
        else:
            if not clause:
                return [0]
            kept.append(clause)
            by_lowest.setdefault(clause & -clause, []).append(clause)
    return kept


def _defined(program: list[tuple[str, int]], definitions: Definitions) -> list[Clause]:
    """Return the clauses of a normal form, with an auxiliary variable for each connective below the first."""
    values: list[int] = []
    for kind, value in reversed(program[1:]):
        if kind == "literal":
            values.append(value)
            continue
        parts = values[len(values) - value :]
        del values[len(values) - value :]
        if kind == "and":
            values.append(-_disjunction([-part for part in parts], definitions))
        else:
            values.append(_disjunction(parts, definitions))
    if program[0][0] == "or":
        return [] if any(-v in values for v in values) else [tuple(dict.fromkeys(values))]
    return [(value,) for value in values]


def _literal_of(formula: Formula, definitions: Definitions) -> int:
    """Return a literal equivalent to the formula, with an auxiliary variable for each connective."""

    def visit(node: Formula, parts: list[int]) -> int:  # noqa: PLR0911  # one return per kind of node
        match node:
            case Literal(value):
                return value
            case Linear():
                return definitions.atom(node)
            case Not():
                return -parts[0]
            case And():
                return -_disjunction([-part for part in parts], definitions)
            case Or():
                return _disjunction(parts, definitions)
            case Implies():
                return _disjunction([-parts[0], parts[1]], definitions)
            case Iff():
                left, right = parts
                both = -_disjunction([-left, -right], definitions)
                return _disjunction([both, -_disjunction([left, right], definitions)], definitions)

    return fold(formula, visit)


def _disjunction(literals: list[int], definitions: Definitions) -> int:
    parts = list(dict.fromkeys(literals))
    if len(parts) == 1:
        return parts[0]
    new = definitions.fresh()
    if any(-literal in literals for literal in literals):
        definitions.clauses.append((new,))
        return new
    definitions.clauses.append((-new, *parts))
    definitions.clauses += [(new, -literal) for literal in parts]
    return new
