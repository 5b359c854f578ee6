"""The best solution of a small part of a program, by a search in whole numbers that needs no solver.

What reduced costs leave of a zone is mostly decided by few choices: a solver spends its time on getting ready
for them. Here bounds are narrowed by every row (bound propagation), the reduced costs of the linear program
are one more row, whose bound rises by dual ascent, and columns are decided depth first, those first whose row
has the largest regret. All sums are integers below 2^62, so that an answer needs no tolerance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Longs
from shortlist.errors import SolverError
from shortlist.methods.integer import _part_kernels as kernels
from shortlist.methods.integer.dual_bounds import DualBound, IntegerRows, Interval

NO_LIMIT = 2**61
MOST_STEPS = 100_000
"""Parts whose columns have more values in all are left to a solver."""


@dataclass(frozen=True, eq=False)
class SearchedPart:
    """What a search found.

    `finished`: whether the search was complete; otherwise nothing is proved. `values`, ``(n_columns,)``: the
    best solution met, of all columns.
    """

    finished: bool
    values: Longs | None


@dataclass(frozen=True, eq=False)
class PartBounds:
    """What a part is bounded by; integers, or infinite limits of rows.

    `limits`, ``(n_rows,)``: limits of the rows. `columns`, ``(n_columns,)``: bounds of the columns. `known`,
    ``(n_columns,)``: wider bounds, which the reduced costs were computed with.
    """

    limits: Interval
    columns: Interval
    known: Interval


def best_of_part(
    rows: IntegerRows, part: PartBounds, costs: Longs, found: DualBound, most: int, *, max_nodes: int
) -> SearchedPart | None:
    """Return the solution of least cost that costs at most `most`.

    None where the part, or what it may cost, is too large to search.

    `rows`: what the columns satisfy. No sum within the bounds reaches 2^59. `part`: limits of the rows, and
    bounds of the columns. `costs`, ``(n_columns,)``: to minimise. `found`: what multipliers of the rows prove
    of the costs. `most`: only solutions that cost no more count. `max_nodes`: when to give up.
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
        raise SolverError("the search of a part found what is no solution. Please report it.")
    return SearchedPart(finished, values)


def _part_rows(rows: IntegerRows, free: NDArray[np.intp], last: Longs, ranges: Longs) -> kernels.PartRows:
    """Return the rows over the free columns, with the two `last` ones."""
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
