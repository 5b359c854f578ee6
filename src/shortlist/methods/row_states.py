"""All non-dominated vectors of a program by dynamic programming over row states, independent of solvers.

Columns are decided one after the other. For the later columns, the earlier decisions matter only by the
amounts that each open row still needs and allows. Decisions with the same amounts are one state, and so are
states from which the same decisions lead to the same states. A state keeps the non-dominated vectors that
lead to it (nonserial dynamic programming, Bertelè & Brioschi 1972). Diagrams whose nodes are keyed by the
clauses of a cut are alike (Huang & Darwiche 2004).

The columns are ordered by the second eigenvector of the graph of columns that share rows (Fiedler 1973),
improved by moving each column to the middle of its rows (FORCE, Aloul, Markov & Sakallah 2003). Both
directions are tried: a state holds many vectors late, so few late states are better.

All sums are of integers, no solver is used, and no code is shared with the decision diagrams
(:mod:`shortlist.logic.compilation`, :mod:`shortlist.methods.diagram.sweep`), whose fronts this rechecks.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh

from shortlist.arrays import Mask, Points
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.integer_objectives import IntegerObjectives
from shortlist.methods.state_vectors import Layer, sweep_layers
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows
from shortlist.runs.budget import Budget


@dataclass(frozen=True)
class StateLimits:
    """Limits of the search: `columns`, values of a column (`domain`), `states`, and `vectors` at once.

    If rows with more than `long` possible sums make too many states, at most `carried` of them become
    further objectives. A layer with at most `few` vectors is left to moocore, as loading a kernel takes
    longer.
    """

    columns: int = 5_000
    domain: int = 1_000
    states: int = 200_000
    vectors: int = 6_000_000
    long: int = 100
    carried: int = 2
    few: int = 20_000


USUAL_LIMITS = StateLimits()


@dataclass(frozen=True, eq=False)
class SweptFront:
    """Non-dominated vectors of a program in steps, ``(n_vectors, n_objectives)``; number of states."""

    vectors: Points
    n_states: int


def sweep_states(
    program: Program, integers: IntegerObjectives, *, budget: Budget, limits: StateLimits = USUAL_LIMITS
) -> SweptFront | None:
    """Return all non-dominated vectors of a program; None if a limit ends the search.

    The answer is None too if a column is continuous or unbounded, or a row has fractional sums.

    Takes time proportional to the vectors of all states together, times the logarithm of the number of
    vectors in one state.

    >>> from shortlist.methods.integer.integer_objectives import integer_objectives
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> from shortlist.results.objective import Objective
    >>> costs = [LinearObjective(Objective(n), np.array(c)) for n, c in (("a", [1.0, 2]), ("b", [2.0, 1]))]
    >>> program = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=costs
    ... )
    >>> sweep_states(program, integer_objectives(program), budget=Budget()).vectors.tolist()
    [[1, 2], [2, 1]]
    """
    made = whole_rows(program)
    program = made.program
    lower, upper = np.ceil(program.column_lower), np.floor(program.column_upper)
    spans = upper - lower
    if (spans < 0).any():
        return SweptFront(np.zeros((0, len(integers)), np.int64), 1)
    if not (_is_whole(program, limits) and made.whole.all()):
        return None
    nothing = np.zeros(program.n_rows, dtype=bool)
    for carried in (nothing, _long_rows(program, spans, limits)):
        if carried.sum() > limits.carried or (carried is not nothing and not carried.any()):
            return None
        found = _states_without(program, integers, carried, budget, limits)
        if found is not None or budget.stopped:
            return found
    return None


def _states_without(
    program: Program, integers: IntegerObjectives, carried: Mask, budget: Budget, limits: StateLimits
) -> SweptFront | None:
    """Return the non-dominated vectors with some rows carried as objectives, not as parts of states."""
    order = column_order(program, ~carried)
    made = [_layers(program, ~carried, one, budget, limits) for one in (order, order[::-1])]
    usable = [layers for layers in made if layers is not None]
    if not usable:
        return None
    layers = min(usable, key=lambda one: _work(one, len(integers)))
    n_states = 1 + sum(layer.n_after for layer in layers)
    if layers and not layers[-1].n_after:
        return SweptFront(np.zeros((0, len(integers)), np.int64), n_states)
    factors, most = _carried_sums(program, carried)
    costs = np.vstack([integers.costs, factors])
    bounds = np.ceil(program.column_lower), np.floor(program.column_upper)
    sides = [(costs * bound).astype(np.int64) for bound in bounds]
    ends = np.minimum(*sides), np.maximum(*sides)
    found = sweep_layers(
        layers, costs, ends, most, most_vectors=limits.vectors, few=limits.few, budget=budget
    )
    return None if found is None else SweptFront(found, n_states)


def _layers(
    program: Program, rows: Mask, order: NDArray[np.int64], budget: Budget, limits: StateLimits
) -> list[Layer] | None:
    """Return the layers of states that lead to a solution; None if there are too many."""
    layers: list[Layer] = []
    n_states = 1
    for layer in _States(program, rows).layers(order):
        layers.append(layer)
        n_states += layer.n_after
        if n_states > limits.states or len(layer.before) > limits.states or budget.stopped:
            return None
        if not layer.n_after:
            return layers
    return reduced(layers)


def _work(layers: list[Layer], n_objectives: int) -> float:
    """Estimate the number of vectors: with t decided columns, a state has some ``t^(p - 1)``."""
    arcs = np.array([len(layer.before) for layer in layers], dtype=np.float64)
    return float(arcs @ (np.arange(1, len(layers) + 1) / max(1, len(layers))) ** (n_objectives - 1))


def _is_whole(program: Program, limits: StateLimits) -> bool:
    """Whether all columns are integers of few values, and all sums of rows below 2^53."""
    spans = program.column_upper - program.column_lower
    few = program.n_columns <= limits.columns and bool((spans <= limits.domain).all())
    if not few or not program.integer.all():
        return False
    reach = np.maximum(np.abs(program.column_lower), np.abs(program.column_upper))
    return bool((abs(program.rows) @ reach).max(initial=0) < LARGEST_INTEGER)


def column_order(program: Program, rows: Mask) -> NDArray[np.int64]:
    """Return an order of the columns in which few of the `rows` are open at once."""
    marks = sparse.csr_array(program.rows[np.flatnonzero(rows)] != 0).astype(np.float64)
    beside = sparse.csr_array(marks.T @ marks)
    _, parts = connected_components(beside, directed=False)
    order = np.argsort(parts, kind="stable")
    by_column = sparse.csc_array(marks)
    for columns in np.split(order, np.flatnonzero(np.diff(parts[order])) + 1):
        if len(columns) < 3:  # no order of so few has fewer open rows
            continue
        own = sparse.csr_array(by_column[:, columns])
        together = _pulled_together(sparse.csr_array(own[np.flatnonzero(own.sum(axis=1))]))
        columns[:] = columns[together]
    return order


def _pulled_together(marks: sparse.csr_array, n_rounds: int = 100) -> NDArray[np.int64]:
    """Return an order of connected columns; ``marks``: mask of the entries, ``(n_rows, n_columns)``."""
    n = marks.shape[1]
    beside = sparse.csr_array(marks.T @ marks)
    start = np.arange(n, dtype=np.float64)
    if n > 3:
        laplacian = sparse.csc_array(sparse.diags_array(beside.sum(axis=1)) - beside)
        with contextlib.suppress(ArpackError, RuntimeError):  # the original order is as right, and slower
            start = eigsh(laplacian, k=2, sigma=-0.01, v0=1 + start)[1][:, 1]
    places = np.argsort(np.argsort(start, kind="stable"), kind="stable").astype(np.float64)
    in_rows, in_columns = np.maximum(1, marks.sum(axis=1)), np.maximum(1, marks.sum(axis=0))
    best, least = np.argsort(places, kind="stable"), np.inf
    for _ in range(n_rounds):
        order = np.argsort(places, kind="stable")
        places[order] = np.arange(n)
        open_rows = _open_rows(marks, places)
        if open_rows < least:
            best, least = order, open_rows
        places = marks.T @ ((marks @ places) / in_rows) / in_columns
    return best


def _open_rows(marks: sparse.csr_array, places: NDArray[np.float64]) -> float:
    """Estimate the number of states: 2 to the power of the open rows, summed over the columns."""
    here = places[marks.indices]
    first = np.minimum.reduceat(here, marks.indptr[:-1]).astype(np.int64)
    last = np.maximum.reduceat(here, marks.indptr[:-1]).astype(np.int64)
    opened = np.bincount(first, minlength=len(places) + 1) - np.bincount(last, minlength=len(places) + 1)
    return float((2.0 ** np.minimum(np.cumsum(opened), 500)).sum())


def _long_rows(program: Program, spans: NDArray[np.float64], limits: StateLimits) -> Mask:
    """Mark one-sided rows whose number of sums would multiply the states."""
    sums = abs(program.rows) @ spans
    one_sided = np.isinf(program.row_lower) | np.isinf(program.row_upper)
    needed = np.isfinite(program.row_lower) | np.isfinite(program.row_upper)
    return np.asarray(one_sided & needed & (sums > limits.long), dtype=bool)


class _States:
    """Limits that open rows leave for the sums of the remaining columns."""

    def __init__(self, program: Program, rows: Mask) -> None:
        lower = np.ceil(program.column_lower).astype(np.int64)
        upper = np.floor(program.column_upper).astype(np.int64)
        matrix = sparse.csr_array(program.rows[np.flatnonzero(rows)])
        self._columns = sparse.csc_array(matrix)
        self._lower, self._upper = lower, upper
        ends = matrix * lower[None, :], matrix * upper[None, :]
        least, most = (sparse.csc_array(one) for one in (ends[0].minimum(ends[1]), ends[0].maximum(ends[1])))
        self._rest_least, self._rest_most = least.sum(axis=1), most.sum(axis=1)
        self._needs = program.row_lower[rows], program.row_upper[rows]
        self._left = np.diff(matrix.indptr)

    def layers(self, order: NDArray[np.int64]) -> Iterator[Layer]:
        """Decide the columns in this order, and yield the layer of each."""
        where = np.zeros(0, np.int64)  # the open rows
        low, high = np.zeros((1, 0)), np.zeros((1, 0))
        unused = self._left == 0
        if (unused & ((self._needs[0] > 0) | (self._needs[1] < 0))).any():
            low = high = np.zeros((0, 0))
        for column in order.tolist():
            entries = slice(self._columns.indptr[column], self._columns.indptr[column + 1])
            rows, factors = self._columns.indices[entries], self._columns.data[entries]
            rows, factors = rows[factors != 0], factors[factors != 0]
            fresh = np.setdiff1d(rows, where)
            first = np.broadcast_to(
                np.maximum(self._needs[0], self._rest_least)[fresh], (len(low), len(fresh))
            )
            last = np.broadcast_to(np.minimum(self._needs[1], self._rest_most)[fresh], (len(low), len(fresh)))
            where = np.concatenate([where, fresh])
            low, high = np.hstack([low, first]), np.hstack([high, last])
            at = np.argsort(where)[np.searchsorted(np.sort(where), rows)]
            ends = np.sort([factors * self._lower[column], factors * self._upper[column]], axis=0)
            self._rest_least[rows] -= ends[0]
            self._rest_most[rows] -= ends[1]
            self._left[rows] -= 1
            least, most = self._rest_least[rows], self._rest_most[rows]
            made = []
            for value in range(self._lower[column], self._upper[column] + 1):
                needed = np.maximum(low[:, at] - factors * value, least)
                allowed = np.minimum(high[:, at] - factors * value, most)
                kept = np.flatnonzero(((needed <= most) & (allowed >= least)).all(axis=1))
                pair = low[kept], high[kept]
                pair[0][:, at], pair[1][:, at] = needed[kept], allowed[kept]
                made.append((np.hstack(pair), kept, np.full(len(kept), value)))
            keys, before, values = (np.concatenate(parts) for parts in zip(*made, strict=True))
            still = self._left[where] > 0
            keys = keys[:, np.concatenate([still, still])]
            where = where[still]
            states, after = np.unique(keys, axis=0, return_inverse=True)
            if not len(where):  # numpy cannot make rows without columns
                states, after = keys[: min(1, len(keys))], np.zeros(len(keys), np.int64)
            low, high = states[:, : len(where)], states[:, len(where) :]
            yield Layer(column, before, values, after.ravel(), len(states))


def reduced(layers: list[Layer]) -> list[Layer]:
    """Merge states of each layer from which the same decisions lead to the same states.

    States that lead to no solution are removed.
    """
    kept: list[Layer] = []
    number = np.zeros(layers[-1].n_after if layers else 1, np.int64)  # merged state; -1: no solution
    n_after = 1
    for layer, n_before in zip(layers[::-1], [*(one.n_after for one in layers[-2::-1]), 1], strict=True):
        order = np.lexsort((layer.values, layer.before))
        order = order[number[layer.after[order]] >= 0]
        before = layer.before[order]
        ways = np.column_stack([layer.values[order], number[layer.after[order]]])
        starts = np.flatnonzero(np.diff(before, prepend=-1))
        known: dict[bytes, int] = {}
        number, parts = np.full(n_before, -1), []
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            key = ways[start:stop].tobytes()
            if key not in known:
                known[key] = len(known)
                parts.append((np.full(stop - start, known[key]), ways[start:stop]))
            number[before[start]] = known[key]
        decided = np.concatenate([one for _, one in parts])
        sources = np.concatenate([one for one, _ in parts])
        kept.append(Layer(layer.column, sources, decided[:, 0], decided[:, 1], n_after))
        n_after = len(known)
    return kept[::-1]


def _carried_sums(program: Program, rows: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return long rows as sums, ``(n_carried, n_columns)``, and their upper limits."""
    numbers = np.flatnonzero(rows)
    signs = np.where(np.isfinite(program.row_upper[numbers]), 1, -1)
    factors = program.rows[numbers].toarray() * signs[:, None]
    most = np.where(signs > 0, program.row_upper[numbers], -program.row_lower[numbers])
    return factors.astype(np.int64), np.floor(most).astype(np.int64)
