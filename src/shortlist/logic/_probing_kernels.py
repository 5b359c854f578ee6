"""Kernels of probing: what follows when one literal is assumed, and clauses that follow from shorter ones."""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Longs, Shorts, ShortTable
from shortlist.logic._propagation_kernels import (
    Assignment,
    ClauseStore,
    Counts,
    assign,
    propagate_clauses,
)


@kernel("void(int64, Assignment, Counts)")
def unassign(length: int, assignment: Assignment, counts: Counts) -> None:
    """Undo assignments until the trail has this length again."""
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
    """Assume both literals of the variables `first` to `stop`, and write down what clauses of two do not say.

    A row of `found` is a literal and another one that it implies: by a clause of three or more literals, or
    because both of the first one's values give the second one's, each its own. Return how many rows were
    written; what has no room is left out. `marks`, of the size of the literals, holds -1 everywhere at first.
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
                        # its opposite follows from the opposite of what is assumed
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
    """Leave out of clauses what the store implies to be unnecessary.

    Clause c lies in ``literals[ends[2 * c]:ends[2 * c + 1]]``, and both may change. One literal after the
    other is assumed to be false. One that is false by then is left out; at one that is true by then, or at a
    contradiction, the clause ends.
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
    """Mark each step of a graph without cycles that a way of two or more steps replaces.

    The steps from node v lead to ``after[starts[v]:starts[v + 1]]``. `marks`, one for each node, holds -1
    everywhere at first, and `stack` has room for all steps and nodes.
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
