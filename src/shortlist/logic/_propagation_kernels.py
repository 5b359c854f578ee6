"""Kernels of unit propagation, and the arrays shared with the search.

In kernels variable v (from 1) is v - 1. Its literals are ``2 * (v - 1)`` for true and ``2 * (v - 1) + 1``
for false, so that the opposite of a literal is ``literal ^ 1``.
"""

from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Longs, Records, Shorts, ShortTable, record_type

Signs: TypeAlias = Annotated[NDArray[np.int8], "int8[::1]"]
Int32: TypeAlias = int | np.int32

COUNTS = record_type(
    "trail", "head", "level", "clauses", "fixed", "heap", "conflicts", "learned", "restarts", "until_restart"
)
Counts: TypeAlias = Annotated[Records, COUNTS]
"""Record of the numbers that a kernel changes: length of the trail, length of its propagated part, decision
level, clauses, clauses that are never forgotten, entries in the heap, conflicts so far, learned clauses
allowed, number of the current run between restarts, conflicts until that run ends. Propagation needs the
first three numbers.
"""


class ClauseStore(NamedTuple):
    """Clauses; the first two literals of each clause are watched."""

    arena: Shorts
    """Literals of all clauses; those of clause c are ``arena[starts[c]:starts[c + 1]]``."""
    starts: Longs
    """Index of the first literal of each clause."""
    heads: Shorts
    """First node of the watch list of each literal: watch w of clause c is node ``2 * c + w``."""
    links: Shorts
    """Next node after each node of a watch list; -1 ends the list."""


class Assignment(NamedTuple):
    """Truth values of the variables, and the reason for each."""

    values: Signs
    """Value of each literal: 1 true, 0 false, -1 unknown."""
    levels: Shorts
    """Decision level of each variable."""
    reasons: Shorts
    """Clause that implied each variable, -1 for a decision."""
    trail: Shorts
    """True literals, in the order in which they became true."""


def literal_codes(literals: NDArray[Any]) -> Shorts:
    """Convert signed variable numbers to the codes of the kernels."""
    codes: Shorts = (2 * (np.abs(literals) - 1) + (literals < 0)).astype(np.int32)
    return codes


@kernel("void(ClauseStore, int64, int64)")
def watch(store: ClauseStore, first: int, stop: int) -> None:
    """Add the first two literals of clauses `first` to `stop` - 1 to the watch lists."""
    arena, starts, heads, links = store.arena, store.starts, store.heads, store.links
    for clause in range(first, stop):
        if starts[clause + 1] - starts[clause] >= 2:
            for slot in range(2):
                literal = arena[starts[clause] + slot]
                links[2 * clause + slot] = heads[literal]
                heads[literal] = 2 * clause + slot


@kernel("void(int32, int32, Assignment, Counts)")
def assign(literal: Int32, reason: Int32, assignment: Assignment, counts: Counts) -> None:
    """Make `literal` true because of clause `reason` (-1: a decision)."""
    values = assignment.values
    values[literal] = 1
    values[literal ^ 1] = 0
    assignment.levels[literal >> 1] = counts[0].level
    assignment.reasons[literal >> 1] = reason
    assignment.trail[counts[0].trail] = literal
    counts[0].trail += 1


@kernel("int64(ClauseStore, Assignment, Counts)")
def propagate_clauses(store: ClauseStore, assignment: Assignment, counts: Counts) -> int:
    """Propagate unit clauses to the end; return the clause that became empty, or -1."""
    arena, starts, heads, links = store.arena, store.starts, store.heads, store.links
    values, trail = assignment.values, assignment.trail
    while counts[0].head < counts[0].trail:
        false = trail[counts[0].head] ^ 1
        counts[0].head += 1
        before = np.int64(-1)
        node = np.int64(heads[false])
        while node >= 0:
            after = np.int64(links[node])
            clause = node >> 1
            start = starts[clause]
            place = start + (node & 1)
            other = arena[start + 1 - (node & 1)]
            moved = False
            if values[other] != 1:
                for k in range(start + 2, starts[clause + 1]):
                    literal = arena[k]
                    if values[literal] != 0:
                        arena[k] = false
                        arena[place] = literal
                        links[node] = heads[literal]
                        heads[literal] = node
                        moved = True
                        break
                if not moved:
                    if values[other] == 0:
                        return int(clause)
                    assign(other, np.int32(clause), assignment, counts)
            if moved:
                if before < 0:
                    heads[false] = after
                else:
                    links[before] = after
            else:
                before = node
            node = after
    return -1


@kernel("void(int64, Assignment, Counts)")
def unassign(length: int, assignment: Assignment, counts: Counts) -> None:
    """Undo assignments until the trail has the given length."""
    values, trail = assignment.values, assignment.trail
    for k in range(length, counts[0].trail):
        values[trail[k]] = -1
        values[trail[k] ^ 1] = -1
    counts[0].trail = length
    counts[0].head = length


@kernel("int64(int64, int64, ClauseStore, Assignment, int32[::1], int32[:, ::1], Counts)")
def find_implications(
    first: int,
    stop: int,
    store: ClauseStore,
    assignment: Assignment,
    marks: Shorts,
    found: ShortTable,
    counts: Counts,
) -> int:
    """Return the number of implications of variables `first` to `stop` - 1 written to `found`.

    Both literals of each variable are assumed and propagated. A row of `found` holds a literal and a second
    literal that it implies. The implication is by a clause of three or more literals, or each value of the
    first literal's variable fixes the variable of the second. Rows without room are left out. `marks`, of the
    size of the literals, holds -1 everywhere at first.
    """
    starts, values, reasons, trail = store.starts, assignment.values, assignment.reasons, assignment.trail
    n_found = 0
    for variable in range(first, stop):
        if values[2 * variable] >= 0:
            continue
        root = counts[0].trail
        for side in range(2):
            assumed = np.int32(2 * variable + side)
            assign(assumed, np.int32(-1), assignment, counts)
            if propagate_clauses(store, assignment, counts) < 0:
                for k in range(root + 1, counts[0].trail):
                    literal = trail[k]
                    reason = reasons[literal >> 1]
                    if side == 0:
                        marks[literal] = variable
                    if starts[reason + 1] - starts[reason] > 2 and n_found < len(found):
                        found[n_found, 0], found[n_found, 1] = assumed, literal
                        n_found += 1
                    if side == 1 and marks[literal ^ 1] == variable and n_found < len(found):
                        # its opposite follows from the opposite of the assumed literal
                        found[n_found, 0], found[n_found, 1] = literal, assumed
                        n_found += 1
            unassign(root, assignment, counts)
    return n_found


@kernel("void(int64, int64, ClauseStore, Assignment, int32[::1], int64[::1], Counts)")
def shorten(
    first: int,
    stop: int,
    store: ClauseStore,
    assignment: Assignment,
    literals: Shorts,
    ends: Longs,
    counts: Counts,
) -> None:
    """Remove the literals of clauses that the store makes unnecessary.

    Clause c is ``literals[ends[2 * c]:ends[2 * c + 1]]``; the kernel changes `literals` and `ends`. One
    literal after the other is assumed to be false. A literal that is false already is removed; the clause
    ends at a literal that is true already, or at a contradiction.
    """
    values = assignment.values
    root = counts[0].trail
    for clause in range(first, stop):
        begin, kept = ends[2 * clause], ends[2 * clause]
        for k in range(begin, ends[2 * clause + 1]):
            literal = literals[k]
            if values[literal] == 0:
                continue
            literals[kept] = literal
            kept += 1
            if values[literal] == 1:
                break
            assign(np.int32(literal ^ 1), np.int32(-1), assignment, counts)
            if propagate_clauses(store, assignment, counts) >= 0:
                break
        ends[2 * clause + 1] = kept
        unassign(root, assignment, counts)


@kernel("void(int64[::1], int32[::1], int32[::1], int32[::1], uint8[::1])")
def find_chains(starts: Longs, after: Shorts, marks: Shorts, stack: Shorts, longer: Bytes) -> None:
    """Mark each edge of a graph without cycles that a path of two or more edges replaces.

    The edges from node v lead to ``after[starts[v]:starts[v + 1]]``. `marks`, one for each node, holds -1
    everywhere at first, and `stack` has room for all edges and nodes.
    """
    for node in range(len(starts) - 1):
        size = 0
        for k in range(starts[node], starts[node + 1]):
            for other in range(starts[after[k]], starts[after[k] + 1]):
                if marks[after[other]] != node:
                    marks[after[other]] = node
                    stack[size] = after[other]
                    size += 1
        while size:
            size -= 1
            reached = stack[size]
            for k in range(starts[reached], starts[reached + 1]):
                if marks[after[k]] != node:
                    marks[after[k]] = node
                    stack[size] = after[k]
                    size += 1
        for k in range(starts[node], starts[node + 1]):
            longer[k] = marks[after[k]] == node
