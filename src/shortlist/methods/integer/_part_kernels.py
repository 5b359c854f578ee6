"""Kernels of a depth-first search in integers, on the columns that reduced costs leave open."""

from typing import Annotated, NamedTuple

from shortlist._jit import kernel
from shortlist.arrays import Flags, Longs, LongTable, Records, record_type

HERE = record_type("n_queued", "n_changes", "n_decided", "n_nodes", "found")

NOTHING, CHANGED, CONFLICT = 0, 1, 2
"""Outcomes of a pass over the columns."""
HIGHEST = 2**62
"""Number above any reduced cost."""
NO_COLUMN = -1


class PartRows(NamedTuple):
    """Integer rows over the free columns; the last two are the reduced costs and the costs."""

    row_starts: Longs
    """Index of the first entry of each row; entries of largest reach come first."""
    row_columns: Longs
    row_factors: Longs
    row_reaches: Longs
    """Reach of each entry: the most by which the entry can change the row, its absolute factor times the
    range of its column.
    """
    column_starts: Longs
    column_rows: Longs
    column_factors: Longs
    ones: Flags
    """Whether all entries of a row are 1."""


class PartState(NamedTuple):
    """Current bounds, the resulting sums of the rows, and the changes to undo."""

    limits: LongTable
    """Least and largest value of each row, ``(2, n_rows)``."""
    low: Longs
    """Least value of each column."""
    high: Longs
    """Largest value of each column."""
    least: Longs
    """Least value of each row within the bounds."""
    most: Longs
    """Largest value of each row within the bounds."""
    n_free: Longs
    """Number of columns in each row that are not fixed."""
    queue: Longs
    """Rows whose propagation may narrow further columns."""
    queued: Flags
    """Flag for each row in the queue."""
    changes: LongTable
    """Column, old low and old high of every change since the root."""
    decisions: LongTable
    """For each decision the number of earlier changes, its column, and 1 if it raised the low bound."""
    costs: LongTable
    """Reduced costs of the columns, as given and after the last raise of the bound, ``(2, n_columns)``."""
    best: Longs
    """Best solution found so far."""
    here: Annotated[Records, HERE]
    """Lengths of the lists, number of nodes so far, and a flag that is 1 after the first solution."""


@kernel("void(int64, int64, int64, PartRows, PartState)")
def move_column(column: int, low: int, high: int, rows: PartRows, state: PartState) -> None:
    """Change the bounds of a column, and queue the rows that may now narrow other columns."""
    here = state.here[0]
    lower, upper = low - state.low[column], high - state.high[column]
    freed = int(high > low) - int(state.high[column] > state.low[column])
    state.low[column] = low
    state.high[column] = high
    for place in range(rows.column_starts[column], rows.column_starts[column + 1]):
        row = rows.column_rows[place]
        factor = rows.column_factors[place]
        if factor > 0:
            state.least[row] += factor * lower
            state.most[row] += factor * upper
        else:
            state.least[row] += factor * upper
            state.most[row] += factor * lower
        state.n_free[row] += freed
        reach = rows.row_reaches[rows.row_starts[row]]
        if not state.queued[row] and (
            state.limits[1, row] - state.least[row] < reach or state.most[row] - state.limits[0, row] < reach
        ):
            state.queued[row] = True
            state.queue[here.n_queued] = row
            here.n_queued += 1


@kernel("void(int64, int64, int64, PartRows, PartState)")
def change_column(column: int, low: int, high: int, rows: PartRows, state: PartState) -> None:
    """Narrow the bounds of a column, and record the change so that it can be undone."""
    here = state.here[0]
    state.changes[here.n_changes, 0] = column
    state.changes[here.n_changes, 1] = state.low[column]
    state.changes[here.n_changes, 2] = state.high[column]
    here.n_changes += 1
    move_column(column, low, high, rows, state)


@kernel("bool(int64, PartRows, PartState)")
def narrow_by_row(row: int, rows: PartRows, state: PartState) -> bool:
    """Narrow the columns of a row to its limits; return whether no value is left."""
    below = state.limits[1, row] - state.least[row]
    above = state.most[row] - state.limits[0, row]
    if below < 0 or above < 0:
        return True
    if state.n_free[row] == 0:
        return False
    for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
        reach = rows.row_reaches[place]
        if reach <= below and reach <= above:
            return False
        column = rows.row_columns[place]
        low, high = state.low[column], state.high[column]
        if low == high:
            continue
        factor = rows.row_factors[place]
        size = abs(factor)
        rise, fall = below // size, above // size  # range that the column has from its best and worst end
        if factor > 0:
            new_high, new_low = min(high, low + rise), max(low, high - fall)
        else:
            new_low, new_high = max(low, high - rise), min(high, low + fall)
        if new_low > new_high:
            return True
        if new_low > low or new_high < high:
            state.queued[row] = True  # its own changes affect it at once
            change_column(column, new_low, new_high, rows, state)
            state.queued[row] = False
            below = state.limits[1, row] - state.least[row]
            above = state.most[row] - state.limits[0, row]
            if below < 0 or above < 0:
                return True
    return False


@kernel("bool(PartRows, PartState)")
def narrow_all(rows: PartRows, state: PartState) -> bool:
    """Narrow columns until no row narrows any further; return whether no value is left."""
    here = state.here[0]
    while here.n_queued:
        here.n_queued -= 1
        row = state.queue[here.n_queued]
        state.queued[row] = False
        if narrow_by_row(row, rows, state):
            return True
    return False


@kernel("int64(PartRows, PartState)")
def raise_bound(rows: PartRows, state: PartState) -> int:
    """Raise the bound of the reduced costs row by row, and fix columns that would exceed the limit.

    A row of ones that still needs n units adds at least n times its least reduced cost to the bound. This
    cost is then subtracted from all columns of the row: a step of dual ascent.
    """
    n_rows, n_columns = len(state.least), len(state.low)
    bound = state.least[n_rows - 2]
    left = state.costs[1]
    for column in range(n_columns):
        left[column] = state.costs[0, column]
    for row in range(n_rows - 2):
        needed = state.limits[0, row] - state.least[row]
        if not rows.ones[row] or needed <= 0 or state.n_free[row] == 0:
            continue
        lowest = HIGHEST
        for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
            column = rows.row_columns[place]
            if state.high[column] > state.low[column]:
                lowest = min(lowest, left[column])
        if lowest > 0:
            bound += lowest * needed
            for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
                left[rows.row_columns[place]] -= lowest
    room = state.limits[1, n_rows - 2] - bound
    if room < 0:
        return CONFLICT
    found = NOTHING
    for column in range(n_columns):
        if state.high[column] > state.low[column] and left[column] > room:
            change_column(column, state.low[column], state.low[column], rows, state)
            found = CHANGED
    return found


@kernel("int64(PartRows, PartState)")
def branching_column(rows: PartRows, state: PartState) -> int:
    """Return the column to decide next; NO_COLUMN if all columns are decided.

    Among the rows of ones that still need units, it takes the row with the largest gap between its two
    cheapest columns, and this row's cheapest column. Without such a row it takes the column of the largest
    reduced cost.
    """
    left = state.costs[1]
    chosen, largest = NO_COLUMN, -1
    for row in range(len(state.least) - 2):
        if not rows.ones[row] or state.n_free[row] == 0 or state.limits[0, row] <= state.least[row]:
            continue
        first, second, cheapest = HIGHEST, HIGHEST, NO_COLUMN
        for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
            column = rows.row_columns[place]
            if state.high[column] > state.low[column]:
                if left[column] < first:
                    first, second, cheapest = left[column], first, column
                elif left[column] < second:
                    second = left[column]
        if second - first > largest:
            chosen, largest = cheapest, second - first
    if chosen != NO_COLUMN:
        return chosen
    for column in range(len(state.low)):
        if state.high[column] > state.low[column] and abs(left[column]) > largest:
            chosen, largest = column, abs(left[column])
    return chosen


@kernel("void(int64, PartRows, PartState)")
def take_back(n_changes: int, rows: PartRows, state: PartState) -> None:
    """Undo all changes but the first `n_changes`, and empty the queue."""
    here = state.here[0]
    while here.n_changes > n_changes:
        here.n_changes -= 1
        change = state.changes[here.n_changes]
        move_column(change[0], change[1], change[2], rows, state)
    while here.n_queued:
        here.n_queued -= 1
        state.queued[state.queue[here.n_queued]] = False


@kernel("bool(PartRows, PartState)")
def decide_otherwise(rows: PartRows, state: PartState) -> bool:
    """Backtrack to the last decision and take its other side; return whether there was one."""
    here = state.here[0]
    if here.n_decided == 0:
        return False
    here.n_decided -= 1
    decision = state.decisions[here.n_decided]
    take_back(decision[0], rows, state)
    for row in range(len(state.least) - 2, len(state.least)):  # their limits may have changed since then
        state.queued[row] = True
        state.queue[here.n_queued] = row
        here.n_queued += 1
    column = decision[1]
    if decision[2]:
        change_column(column, state.low[column], state.high[column] - 1, rows, state)
    else:
        change_column(column, state.low[column] + 1, state.high[column], rows, state)
    return True


@kernel("void(int64, PartRows, PartState)")
def decide(column: int, rows: PartRows, state: PartState) -> None:
    """Set a column to its better end.

    This is the lower end if the column has a cost and no row needs it, else the upper end.
    """
    here = state.here[0]
    raised = state.costs[1, column] <= 0
    for place in range(rows.column_starts[column], rows.column_starts[column + 1] - 2):
        row = rows.column_rows[place]
        raised = raised or (rows.ones[row] and state.limits[0, row] > state.least[row])
    decision = state.decisions[here.n_decided]
    decision[0], decision[1], decision[2] = here.n_changes, column, int(raised)
    here.n_decided += 1
    end = state.high[column] if raised else state.low[column]
    change_column(column, end, end, rows, state)


@kernel("void(int64, PartState)")
def keep_solution(scale: int, state: PartState) -> None:
    """Keep the solution of decided columns, and from now on admit only smaller costs."""
    costs = len(state.least) - 1
    for column in range(len(state.low)):
        state.best[column] = state.low[column]
    state.here[0].found = 1
    step = state.limits[1, costs] - state.least[costs] + 1
    state.limits[1, costs] -= step
    state.limits[1, costs - 1] -= step * scale


@kernel("bool(int64, int64, PartRows, PartState)")
def search_part(scale: int, max_nodes: int, rows: PartRows, state: PartState) -> bool:
    """Find the solution of least cost; return whether `max_nodes` decisions sufficed.

    One step of the costs is `scale` steps of the reduced costs. At the start all rows are in the queue.
    """
    here = state.here[0]
    while True:
        found = CONFLICT if narrow_all(rows, state) else raise_bound(rows, state)
        if found == CHANGED:
            continue
        if found == NOTHING:
            column = branching_column(rows, state)
            if column != NO_COLUMN:
                if here.n_nodes == max_nodes:
                    return False
                here.n_nodes += 1
                decide(column, rows, state)
                continue
            keep_solution(scale, state)
        if not decide_otherwise(rows, state):
            return True
