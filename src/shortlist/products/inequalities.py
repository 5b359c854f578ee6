"""A feature model as linear inequalities over 0/1 columns, by the lemmas of Xue & Li (2018)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.products.cnf import CLAUSE_LIMITS, ClauseLimits, Definitions, conjuncts, formula_clauses
from shortlist.products.formulas import Formula, Iff, Implies, Linear, Literal
from shortlist.products.model import FeatureModel, Group


@dataclass(eq=False)
class _Rows:
    """Coordinates and limits of the rows of a program, one list each."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    factors: list[int] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(
        self, columns: Sequence[int], factors: Sequence[int], lower: float = -np.inf, upper: float = np.inf
    ) -> None:
        """Add ``lower <= factors @ x[columns] <= upper``."""
        self.rows += [len(self.lower)] * len(columns)
        self.columns += columns
        self.factors += factors
        self.lower.append(lower)
        self.upper.append(upper)

    def add_clause(self, clause: Sequence[int]) -> None:
        """Add a clause: the sum of its literals is at least 1."""
        signs = [1 if literal > 0 else -1 for literal in clause]
        self.add([abs(literal) - 1 for literal in clause], signs, lower=1 - signs.count(-1))


def to_program(
    model: FeatureModel,
    *,
    objectives: Iterable[LinearObjective] = (),
    fixed: Iterable[int] = (),
    limits: ClauseLimits = CLAUSE_LIMITS,
) -> Program:
    """Return a program whose integer points, cut to the features, are exactly the products.

    With x the features and f' the parent of f (Lemmas 3.1 to 3.6 of :cite:t:`Xue2018`): optional ``f <= f'``;
    mandatory ``f = f'``; or ``f_i <= f'`` and ``Σ f_i >= f'``; alternative ``Σ f_i = f'``, one row that
    implies the lemma's n + 2; n..m of a group ``n f' <= Σ f_i <= m f'`` beside ``f_i <= f'``; requires ``f <=
    f'``, iff ``f = f'``, excludes ``f + f' <= 1``. A linear comparison is a row of its own. Any other formula
    becomes clauses, ``Σ literals >= 1``. Only formulas that do not distribute, and comparisons inside them,
    need auxiliary columns. Raises BadInputError if a fixed literal names no feature, or two fixed literals
    contradict each other.

    `model`: column i is feature i; auxiliary columns follow. `objectives`: objectives over the features, or
    over all columns. `fixed`: literals that must hold: i + 1 for feature i selected, -(i + 1) for
    deselected. They become bounds.

    All columns are integers in 0..1; the root's lower bound is 1. The size of the program is linear in the
    size of the model.

    >>> from shortlist.products.model import make_group, make_model
    >>> model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> program = to_program(model)
    >>> program.rows.toarray().tolist(), program.row_lower.tolist(), program.row_upper.tolist()
    ([[-1.0, 1.0, 1.0]], [0.0], [0.0])
    """
    table, definitions = _Rows(), Definitions(model.n_features, limits)
    for group in model.groups:
        _add_group(table, group)
    for constraint in model.constraints:
        for formula in conjuncts(constraint.formula):
            _add_formula(table, formula, definitions)
    _add_definitions(table, definitions)
    n_columns = definitions.n_variables
    lower, upper = np.zeros(n_columns), np.ones(n_columns)
    if model.root is not None:
        lower[model.root] = 1
    _fix(model, lower, upper, fixed)
    if model.root is not None and not upper[model.root]:
        table.add([model.root], [1], lower=1)  # no product: as a row, since solvers reject crossed bounds
    rows = sparse.coo_array(
        (np.array(table.factors, dtype=np.float64), (table.rows, table.columns)),
        shape=(len(table.lower), n_columns),
    )
    program = make_program(
        rows,
        row_lower=np.array(table.lower),
        row_upper=np.array(table.upper),
        column_lower=lower,
        column_upper=upper,
        integer=True,
        objectives=[_widened(objective, model.n_features, n_columns) for objective in objectives],
    )
    if model.clauses is None:
        return program
    matrix, least = _clause_rows(model.clauses, n_columns)
    return program.with_rows(matrix, least, np.full(len(least), np.inf))


def _add_group(table: _Rows, group: Group) -> None:
    members, n = list(group.children), len(group.children)
    if n == 1 and group.lower == group.upper == 1:
        table.add([members[0], group.parent], [1, -1], 0, 0)
        return
    if group.lower == group.upper == 1:
        table.add([group.parent, *members], [-1] + [1] * n, 0, 0)
        return
    if group.lower == n:
        for member in members:
            table.add([member, group.parent], [1, -1], 0, 0)
    else:
        for member in members:
            table.add([group.parent, member], [1, -1], lower=0)
        if group.lower:
            table.add([group.parent, *members], [-group.lower] + [1] * n, lower=0)
    if group.upper < n:
        table.add([group.parent, *members], [-group.upper] + [1] * n, upper=0)


def _add_formula(table: _Rows, formula: Formula, definitions: Definitions) -> None:
    match formula:
        case Linear(coefficients, variables):
            upper = within_reach(formula).upper
            table.add([variable - 1 for variable in variables], list(coefficients), upper=upper)
        case Iff(Literal(left), Literal(right)) if abs(left) != abs(right):
            sign = -1 if (left > 0) == (right > 0) else 1
            total = 0 if sign < 0 else 1
            table.add([abs(left) - 1, abs(right) - 1], [1, sign], total, total)
        case Implies(Literal(left), Literal(right)) if abs(left) != abs(right):
            table.add_clause((-left, right))
        case _:
            for clause in formula_clauses(formula, definitions):
                table.add_clause(clause)


def within_reach(linear: Linear) -> Linear:
    """Clip a limit to one step beyond the sums that variables can reach, so that solvers can hold it.

    The same choices meet the clipped limit. If no choice meets the limit, every choice misses the clipped
    limit by less than it misses the given limit. The difference is the same for all choices.
    """
    least = sum(factor for factor in linear.coefficients if factor < 0)
    most = sum(factor for factor in linear.coefficients if factor > 0)
    return replace(linear, upper=min(max(linear.upper, least - 1), most))


def _add_definitions(table: _Rows, definitions: Definitions) -> None:
    """Add the rows of the auxiliary columns; y stands for a comparison by ``y = 1 <=> a x <= b``."""
    for clause in definitions.clauses:
        table.add_clause(clause)
    for comparison, variable in definitions.undefined:
        columns = [v - 1 for v in comparison.variables] + [variable - 1]
        factors = list(comparison.coefficients)
        largest, smallest = sum(c for c in factors if c > 0), sum(c for c in factors if c < 0)
        bound = comparison.upper
        if not smallest <= bound < largest:
            table.add([variable - 1], [1], *((1, 1) if bound >= largest else (0, 0)))
            continue
        table.add(columns, [*factors, largest - bound], upper=largest)
        table.add(columns, [*factors, bound + 1 - smallest], lower=bound + 1)


def _clause_rows(clauses: Clauses, n_columns: int) -> tuple["sparse.csr_array", NDArray[np.float64]]:
    """Return the rows of many clauses at once, and their lower limits; repeated literals count once."""
    numbers = np.repeat(np.arange(clauses.n_clauses), np.diff(clauses.offsets))
    pairs = np.unique(np.column_stack([numbers, clauses.literals]), axis=0)
    signs = np.sign(pairs[:, 1])
    matrix = sparse.csr_array(
        (signs.astype(np.float64), (pairs[:, 0], np.abs(pairs[:, 1]) - 1)),
        shape=(clauses.n_clauses, n_columns),
    )
    negative = np.bincount(pairs[signs < 0, 0], minlength=clauses.n_clauses)
    return matrix, (1 - negative).astype(np.float64)


def _fix(
    model: FeatureModel, lower: NDArray[np.float64], upper: NDArray[np.float64], fixed: Iterable[int]
) -> None:
    literals = set(fixed)
    for literal in literals:
        if not 1 <= abs(literal) <= model.n_features:
            raise BadInputError("fixed", f"must name variables 1 to {model.n_features}", literal)
        if -literal in literals:
            raise BadInputError(
                f"{model.labels[abs(literal) - 1]!r} is fixed to selected and deselected at once. Drop one."
            )
        if literal > 0:
            lower[literal - 1] = 1
        else:
            upper[-literal - 1] = lower[-literal - 1] = 0


def _widened(linear: LinearObjective, n_features: int, n_columns: int) -> LinearObjective:
    """Return an objective over all columns; auxiliary columns cost nothing."""
    if len(linear.costs) != n_features:
        return linear
    padding = np.zeros(n_columns - n_features)
    return LinearObjective(linear.objective, np.concatenate([linear.costs, padding]), linear.offset)
