"""Two branching searches for the best solution of a program, with bounds in integers.

**The part of a zone that reduced costs leave open** is mostly decided by few choices, and a solver spends its
time on setting up. Here every row narrows the bounds of its columns (bound propagation). The reduced costs of
the linear program are one more row, whose bound rises by dual ascent. Columns are decided depth first,
starting with the row of the largest regret (:func:`best_of_part`). All sums are integers below 2^62, so that
an answer needs no tolerance.

**A whole program of a reference point** is searched over its linear relaxation (:func:`best_by_branching`).
On a program of a few hundred columns a solver mostly sets up. On the reference points of eCos, HiGHS took .3
s each, most of it for cutting planes, while the linear relaxation is solved again in 2 ms. Here a node is
just bounds of the columns and the basis of its parent. HiGHS proposes multipliers. The bound that they prove
in integers (:mod:`shortlist.methods.integer.dual_bounds`) is the bound of the node, and reduced costs fix
columns. So the answer depends on no tolerance, and needs no second program. The node of least bound is taken
first. So no node is opened whose bound exceeds the answer, however late a solution is found. Columns are
chosen by the product of their pseudo-costs :cite:p:`Achterberg2005`.

The first search is quicker if the value of the relaxation is near the answer, otherwise the second (decision
128).
"""

import heapq
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Longs, Mask
from shortlist.errors import SolverError
from shortlist.methods.integer import _part_kernels as kernels
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.dual_bounds import DualBound, IntegerRows, Interval, dual_bound, prove_empty
from shortlist.milp.backends.highs_linear import Basis, LinearProgram, LinearSolution, cost_unit
from shortlist.runs.budget import Budget

NO_LIMIT = 2**61
MOST_STEPS = 100_000
"""Most values of all columns together; larger parts are left to a solver."""


@dataclass(frozen=True, eq=False)
class SearchedPart:
    """Result of a search in integers.

    `finished`: whether the search was complete; otherwise nothing is proved. `values`, ``(n_columns,)``:
    best solution found, over all columns.
    """

    finished: bool
    values: Longs | None


@dataclass(frozen=True, eq=False)
class PartBounds:
    """Bounds of a part: integers, or infinite for limits of rows.

    `limits`, ``(n_rows,)``: limits of the rows. `columns`, ``(n_columns,)``: bounds of the columns.
    `known`, ``(n_columns,)``: wider bounds, for which the reduced costs were computed.
    """

    limits: Interval
    columns: Interval
    known: Interval


def best_of_part(
    rows: IntegerRows, part: PartBounds, costs: Longs, found: DualBound, most: int, *, max_nodes: int
) -> SearchedPart | None:
    """Return the solution of least cost, at most `most`, by a depth-first search in integers.

    Returns None if the part, or its costs, are too large for the search.

    `rows`: rows of the program. No sum within the bounds reaches 2^59. `part`: limits of the rows, and bounds
    of the columns. `costs`, ``(n_columns,)``: costs to minimise. `found`: bound on the costs that multipliers
    of the rows prove. `most`: largest cost of a solution that counts. `max_nodes`: largest number of
    decisions.
    """
    bounds, limits = part.columns, part.limits
    free = np.flatnonzero(bounds[0] < bounds[1])
    low, high = bounds[0][free].astype(np.int64), bounds[1][free].astype(np.int64)
    n_steps = int((high - low).sum())
    if n_steps > MOST_STEPS:
        return None
    fixed = bounds[0].astype(np.int64)
    fixed[free] = 0
    reduced = found.reduced
    best_ends = np.where(reduced > 0, *part.known).astype(np.int64)
    room = found.scale * most - found.bound + int(reduced @ (best_ends - fixed))
    if room >= NO_LIMIT:
        return None
    last = [[-NO_LIMIT, -NO_LIMIT], [room, most - int(costs @ fixed)]]
    constants = rows.matrix @ fixed
    kept = [np.where(np.isfinite(limit), limit, 0).astype(np.int64) - constants for limit in limits]
    within = np.array(
        [
            np.append(np.where(np.isfinite(limit), each, end), ends)
            for limit, each, end, ends in zip(limits, kept, (-NO_LIMIT, NO_LIMIT), last, strict=True)
        ]
    )
    entries = _part_rows(rows, free, np.array([reduced[free], costs[free]]), high - low)
    state = _state(entries, within, (low, high), reduced[free])
    finished = kernels.search_part(found.scale, max_nodes, entries, state)
    if not state.here[0].found:
        return SearchedPart(finished, None)
    values = fixed
    values[free] = state.best
    sums = rows.matrix @ values
    if (sums < limits[0]).any() or (sums > limits[1]).any() or int(costs @ values) > most:
        raise SolverError("the search of a part found a point that is no solution. Please report it.")
    return SearchedPart(finished, values)


def _part_rows(rows: IntegerRows, free: NDArray[np.intp], last: Longs, ranges: Longs) -> kernels.PartRows:
    """Return the rows over the free columns, and then the two rows `last`."""
    part = rows.turned[free]
    n_free, n_rows = part.shape
    sizes = np.diff(part.indptr)
    column_starts = np.append(0, np.cumsum(sizes + 2))
    own = np.arange(part.nnz) + 2 * np.repeat(np.arange(n_free), sizes)
    ends = column_starts[1:]
    column_rows = np.empty(column_starts[-1], dtype=np.int64)
    factors = np.empty(column_starts[-1], dtype=np.int64)
    column_rows[own], factors[own] = part.indices, part.data
    for place, (row, row_factors) in enumerate(zip((n_rows, n_rows + 1), last, strict=True)):
        column_rows[ends - 2 + place], factors[ends - 2 + place] = row, row_factors
    columns = np.repeat(np.arange(n_free), sizes + 2)
    reaches = np.abs(factors) * ranges[columns]
    order = np.lexsort((-reaches, column_rows))
    row_starts = np.append(0, np.cumsum(np.bincount(column_rows, minlength=n_rows + 2)))
    ones = np.bincount(column_rows, factors != 1, minlength=n_rows + 2) == 0
    return kernels.PartRows(
        row_starts, columns[order], factors[order], reaches[order], column_starts, column_rows, factors, ones
    )


def _state(
    rows: kernels.PartRows, limits: Longs, columns: tuple[Longs, Longs], reduced: Longs
) -> kernels.PartState:
    """Return the state at the root: all rows are in the queue."""
    low, high = columns
    n_rows, n_columns, n_steps = limits.shape[1], len(low), int((high - low).sum())
    row_of = np.repeat(np.arange(n_rows), np.diff(rows.row_starts))
    ends = rows.row_factors * low[rows.row_columns], rows.row_factors * high[rows.row_columns]
    here: Any = np.zeros(1, dtype=kernels.HERE)
    here[0].n_queued = n_rows
    return kernels.PartState(
        limits=limits,
        low=low,
        high=high,
        least=_sums(np.minimum(*ends), row_of, n_rows),
        most=_sums(np.maximum(*ends), row_of, n_rows),
        n_free=np.diff(rows.row_starts),
        queue=np.arange(n_rows, dtype=np.int64)[::-1].copy(),
        queued=np.ones(n_rows, dtype=bool),
        changes=np.empty((n_steps + 1, 3), dtype=np.int64),
        decisions=np.empty((n_steps + 1, 3), dtype=np.int64),
        costs=np.array([reduced, reduced]),
        best=np.empty(n_columns, dtype=np.int64),
        here=here,
    )


def _sums(terms: Longs, row_of: NDArray[np.intp], n_rows: int) -> Longs:
    sums = np.zeros(n_rows, dtype=np.int64)
    np.add.at(sums, row_of, terms)
    return sums


INTEGRAL = 1e-6
"""Distance from an integer below which a value is not branched on; solutions are recomputed in integers."""
LEAST_GAIN = 1e-6
"""Least value of a pseudo-cost, so that the product of two pseudo-costs never loses the larger factor."""


@dataclass(frozen=True, eq=False)
class CountedProgram:
    """Program of integers alone, so that sums are exact.

    `costs`, ``(n_columns,)``: costs to minimise. `rows`: rows of the program. Within the bounds, no sum of a
    row and no sum of the costs reaches 2^53, as bounds of nodes are compared as floats. `limits`,
    ``(n_rows,)``: limits of the rows, integers or infinite. `bounds`, ``(n_columns,)``: bounds of the
    columns, integers below 2^53, no lower bound above its upper bound.
    """

    costs: Longs
    rows: IntegerRows
    limits: Interval
    bounds: Interval

    def allows(self, columns: Longs) -> bool:
        """Whether columns meet the rows."""
        sums = self.rows.matrix @ columns
        low, high = (np.clip(limit, -(2.0**62), 2.0**62).astype(np.int64) for limit in self.limits)
        return bool((sums >= low).all() and (sums <= high).all())


@dataclass(frozen=True, eq=False)
class _BranchNode:
    """Node of the search: bounds of the columns, and facts from its parent.

    `column` was rounded from a value at a `distance` above 0, upwards if `up` is 1, else downwards.
    """

    columns: Interval
    bound: float = -math.inf
    basis: "Basis | None" = None
    column: int = -1
    up: int = 0
    distance: float = 1.0


def best_by_branching(
    program: CountedProgram, *, most: int | None, max_nodes: int, budget: Budget
) -> SearchedPart:
    """Return the solution of least cost, at most `most`, by branching over the linear relaxation.

    The result does not depend on earlier solves.

    `program`: program with finite bounds. `most`: largest cost of a solution that counts; None for no limit.
    `max_nodes`: most linear programs before the search gives up.

    After `max_nodes` the result is not finished.

    Raises LimitReachedError if the budget ends, or is cancelled. Raises SolverError if HiGHS refuses the
    program, as it does for numbers of 1e15 and more.

    >>> from scipy import sparse
    >>> rows = IntegerRows(sparse.csr_array(np.array([[3, 5, 7]])))
    >>> limits = np.array([8.0]), np.array([np.inf])
    >>> program = CountedProgram(np.array([4, 5, 10]), rows, limits, (np.zeros(3), np.ones(3)))
    >>> best_by_branching(program, most=None, max_nodes=100, budget=Budget())
    SearchedPart(finished=True, values=array([1, 1, 0]))
    """
    if most is None:
        most = int(np.maximum(*(program.costs * end.astype(np.int64) for end in program.bounds)).sum())
    search = _BranchSearch(program, most, budget)
    numbers = itertools.count()
    nodes = [(-math.inf, next(numbers), _BranchNode(program.bounds))]
    while nodes and nodes[0][0] <= search.most:
        if search.n_nodes >= max_nodes:
            return SearchedPart(False, search.best)
        for child in search.children(heapq.heappop(nodes)[2]):
            heapq.heappush(nodes, (child.bound, next(numbers), child))
    return SearchedPart(True, search.best)


class _BranchSearch:
    """Search over the linear relaxation in HiGHS's memory, with its results so far.

    `best`, ``(n_columns,)``: best solution so far. `most`: largest admitted cost, below the cost of `best`.
    `n_nodes`: number of linear programs so far.
    """

    def __init__(self, program: CountedProgram, most: int, budget: Budget) -> None:
        self.best: Longs | None = None
        self.most, self.n_nodes = most, 0
        self._program, self._budget = program, budget
        self._unit = cost_unit(program.costs)
        self._linear = LinearProgram(program.costs / self._unit, *program.bounds)
        self._linear.add_matrix(program.rows.matrix, *program.limits)
        self._loaded = program.bounds
        n_columns = len(program.costs)
        self._integer = np.ones(n_columns, dtype=bool)
        self._gains, self._counts = np.zeros((2, n_columns)), np.zeros((2, n_columns))

    def children(self, node: _BranchNode) -> list[_BranchNode]:
        """Return the two parts of a node; no parts if the node is decided.

        A node without a bound in integers is split too, in the end to single solutions.
        """
        program, columns = self._program, node.columns
        if (columns[0] == columns[1]).all():
            self._count(columns[0].astype(np.int64))
            return []
        solution = self._solve(node)
        if solution.ray is not None and prove_empty(program.rows, program.limits, columns, solution.ray):
            return []
        found = None
        if solution.optimal:
            duals = solution.duals * self._unit
            found = dual_bound(program.costs, program.rows, program.limits, columns, duals)
        if found is None:
            return self._parts(columns, (columns[0] + columns[1]) / 2, node.bound)
        bound = found.bound / found.scale
        self._learn(node, bound)
        left = found.bounds_within(self.most, columns, self._integer)
        if left is not None and not _fractional(solution.values, left).any():
            self._count(np.clip(np.rint(solution.values), *left).astype(np.int64))
            left = found.bounds_within(self.most, columns, self._integer)
        if left is None:
            return []
        if (left[0] == left[1]).all():
            self._count(left[0].astype(np.int64))
            return []
        return self._parts(left, solution.values, bound)

    def _solve(self, node: _BranchNode) -> LinearSolution:
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        self.n_nodes += 1
        lower, upper = node.columns
        changed = np.flatnonzero((lower != self._loaded[0]) | (upper != self._loaded[1]))
        self._linear.set_column_bounds(changed, lower[changed], upper[changed])
        self._loaded = node.columns
        if node.basis is not None:
            self._linear.basis = node.basis
        return self._linear.solve(self._budget)

    def _learn(self, node: _BranchNode, bound: float) -> None:
        """Record the rise of the bound per unit by which rounding moved a column."""
        if math.isfinite(node.bound):
            self._gains[node.up, node.column] += max(0.0, bound - node.bound) / node.distance
            self._counts[node.up, node.column] += 1

    def _count(self, columns: Longs) -> None:
        """Keep columns if they are a solution of admitted cost."""
        cost = int(self._program.costs @ columns)
        if cost <= self.most and self._program.allows(columns):
            self.best, self.most = columns, cost - 1

    def _parts(self, columns: Interval, values: Floats, bound: float) -> list[_BranchNode]:
        lower, upper = columns
        chosen = self._chosen(values, columns)
        below = min(max(np.floor(values[chosen] + INTEGRAL), lower[chosen]), upper[chosen] - 1)
        distance = min(max(float(values[chosen]) - below, INTEGRAL), 1.0)
        down, up = upper.copy(), lower.copy()
        down[chosen], up[chosen] = below, below + 1
        basis = self._linear.basis
        return [
            _BranchNode((lower, down), bound, basis, chosen, 0, distance),
            _BranchNode((up, upper), bound, basis, chosen, 1, max(1.0 - distance, INTEGRAL)),
        ]

    def _chosen(self, values: Floats, columns: Interval) -> int:
        """Return the column to branch on, by the expected rise of both bounds."""
        fractional = np.flatnonzero(_fractional(values, columns))
        if not len(fractional):
            return int(np.argmax(columns[0] < columns[1]))
        totals = self._counts.sum(axis=1, keepdims=True)
        usual = np.where(totals > 0, self._gains.sum(axis=1, keepdims=True) / np.maximum(totals, 1), 1.0)
        gains, counts = self._gains[:, fractional], self._counts[:, fractional]
        expected = np.where(counts > 0, gains / np.maximum(counts, 1), usual)
        part = values[fractional] - np.floor(values[fractional])
        scores = np.maximum(expected * np.array([part, 1 - part]), LEAST_GAIN).prod(axis=0)
        return int(fractional[np.argmax(scores)])


def _fractional(values: Floats, columns: Interval) -> Mask:
    """Mark the columns that are not fixed and have a fractional value."""
    mask: Mask = (np.abs(values - np.rint(values)) > INTEGRAL) & (columns[0] < columns[1])
    return mask
