"""The best solution of a program by branch and bound over its linear relaxation, with bounds in integers.

A solver spends a program of a few hundred columns on getting ready. On the reference points of eCos, HiGHS
took .3 s each, most of it for cutting planes, where the linear relaxation is solved again in 2 ms. Here a
node is nothing but bounds of the columns and the basis of its parent. HiGHS proposes multipliers; what they
prove in integers (:mod:`shortlist.methods.integer.dual_bounds`) is the bound of the node, and reduced costs
fix columns. So the answer depends on no tolerance, and needs no second program.

The node of least bound is taken first, so that none is opened whose bound passes the answer, however late a
solution is found. Columns are chosen by the product of their pseudo-costs :cite:p:`Achterberg2005`.
"""

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Floats, Longs, Mask
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.dual_bounds import IntegerRows, Interval, dual_bound, prove_empty
from shortlist.methods.integer.part_search import SearchedPart
from shortlist.milp.backends.highs_linear import Basis, LinearProgram, LinearSolution, cost_unit
from shortlist.runs.budget import Budget

INTEGRAL = 1e-6
"""A value so near an integer is not branched on; solutions are counted in integers."""
LEAST_GAIN = 1e-6
"""Pseudo-costs below this count as this, so that the other side of a column still tells it from others."""


@dataclass(frozen=True, eq=False)
class CountedProgram:
    """A program of integers alone, so that what is counted in it is exact.

    `costs`, ``(n_columns,)``: to minimise. `rows`: no sum within the bounds reaches 2^53, nor do the costs:
    bounds of nodes are compared as floats. `limits`, ``(n_rows,)``: limits of the rows, integers or infinite.
    `bounds`, ``(n_columns,)``: bounds of the columns, integers below 2^53, the lower ones not above the upper
    ones.
    """

    costs: Longs
    rows: IntegerRows
    limits: Interval
    bounds: Interval

    def allows(self, columns: Longs) -> bool:
        """Whether the rows do."""
        sums = self.rows.matrix @ columns
        low, high = (np.clip(limit, -(2.0**62), 2.0**62).astype(np.int64) for limit in self.limits)
        return bool((sums >= low).all() and (sums <= high).all())


@dataclass(frozen=True, eq=False)
class _BranchNode:
    """Bounds of the columns, and what is known of them from the node that they are a part of.

    `column` was rounded from a value at a `distance` above 0, upwards where `up` is 1, else 0.
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
    """Return the solution of least cost that costs at most `most`.

    It depends on nothing that was solved before.

    `program`: its bounds are finite. `most`: only solutions that cost no more count; None for all.
    `max_nodes`: linear programs after which the search gives up.

    Not finished after `max_nodes`.

    Raises LimitReachedError if the budget ends, or is cancelled. Raises SolverError if HiGHS refuses the
    program: numbers of 1e15 and more.

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
    """The linear relaxation in HiGHS's memory, and what was found.

    `best`, ``(n_columns,)``: the best solution so far. `most`: what a solution that counts may cost; less
    than `best`. `n_nodes`: linear programs so far.
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
        """Return two parts of a node, none if it is decided.

        A node of which integers prove nothing is split all the same, in the end to single solutions.
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
        """Note by how much rounding a column raised the bound, for each unit that it was moved."""
        if math.isfinite(node.bound):
            self._gains[node.up, node.column] += max(0.0, bound - node.bound) / node.distance
            self._counts[node.up, node.column] += 1

    def _count(self, columns: Longs) -> None:
        """Keep a solution, if it is one and costs no more than it may."""
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
        """Return the column to branch on: the one that should raise both bounds most."""
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
    """Mark the columns with a choice whose value is no integer."""
    mask: Mask = (np.abs(values - np.rint(values)) > INTEGRAL) & (columns[0] < columns[1])
    return mask
