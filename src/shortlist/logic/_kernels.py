"""Kernels of unit propagation and of conflict-driven search.

Inside, variable v (from 1) is v - 1. Its literals are ``2 * (v - 1)`` for true and ``2 * (v - 1) + 1`` for
false, so that the opposite of a literal is ``literal ^ 1``. Clause c lies in
``arena[starts[c]:starts[c + 1]]``; its first two literals are watched. Watch w of clause c is node
``2 * c + w`` of the list that begins at ``heads[literal]`` and goes on in ``links``; lists end with -1.
``counts`` holds the numbers that a kernel changes: see the names below.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs, Shorts

Signs: TypeAlias = NDArray[np.int8]
Int32: TypeAlias = int | np.int32

TRAIL, HEAD, LEVEL, CLAUSES, FIXED, HEAP, CONFLICTS, LEARNED = range(8)
"""Places in ``counts``: length of the trail, how much of it is propagated, decision level, clauses in store,
clauses that are never forgotten, entries in the heap, conflicts so far, learned clauses allowed."""

UNSATISFIABLE, SATISFIABLE, NO_ROOM, REFUTED, PAUSED = range(5)
"""What a search answers: no model at all, a model, the store is full (enlarge it and go on), no model under
the assumptions, nothing yet (go on).
"""

RESTARTS_AT_ONCE = 64
"""Restarts until a search pauses, some thousand conflicts: its caller may want to stop."""


def literal_codes(literals: NDArray[Any]) -> Shorts:
    """Turn signed variable numbers into the codes that the kernels use."""
    codes: Shorts = (2 * (np.abs(literals) - 1) + (literals < 0)).astype(np.int32)
    return codes


def literal_code(literal: int) -> int:
    """Turn one signed variable number into its code."""
    return 2 * (abs(literal) - 1) + (literal < 0)


@kernel("void(int32[::1], int64[::1], int64, int64, int32[::1], int32[::1])")
def watch(arena: Shorts, starts: Longs, first: int, stop: int, heads: Shorts, links: Shorts) -> None:
    """Put the first two literals of clauses `first` to `stop` on the watch lists."""
    for clause in range(first, stop):
        if starts[clause + 1] - starts[clause] >= 2:
            for slot in range(2):
                literal = arena[starts[clause] + slot]
                links[2 * clause + slot] = heads[literal]
                heads[literal] = 2 * clause + slot


@kernel("void(int32, int32, int8[::1], int32[::1], int32[::1], int32[::1], int64[::1])")
def assign(
    literal: Int32,
    reason: Int32,
    values: Signs,
    levels: Shorts,
    reasons: Shorts,
    trail: Shorts,
    counts: Longs,
) -> None:
    """Make `literal` true because of clause `reason` (-1: decided)."""
    values[literal] = 1
    values[literal ^ 1] = 0
    levels[literal >> 1] = counts[LEVEL]
    reasons[literal >> 1] = reason
    trail[counts[TRAIL]] = literal
    counts[TRAIL] += 1


@kernel(
    "int64(int32[::1], int64[::1], int32[::1], int32[::1], int8[::1], int32[::1], int32[::1], int32[::1], "
    "int64[::1])"
)
def propagate_clauses(
    arena: Shorts,
    starts: Longs,
    heads: Shorts,
    links: Shorts,
    values: Signs,
    levels: Shorts,
    reasons: Shorts,
    trail: Shorts,
    counts: Longs,
) -> int:
    """Follow unit clauses to the end; return the clause that became empty, or -1."""
    while counts[HEAD] < counts[TRAIL]:
        false = trail[counts[HEAD]] ^ 1
        counts[HEAD] += 1
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
                    assign(other, np.int32(clause), values, levels, reasons, trail, counts)
            if moved:
                if before < 0:
                    heads[false] = after
                else:
                    links[before] = after
            else:
                before = node
            node = after
    return -1


@kernel("void(int64, int32[::1], int32[::1], float64[::1])")
def sift_up(place: int, heap: Shorts, places: Shorts, activity: Floats) -> None:
    """Move the entry at `place` towards the top while it is more active than its parent."""
    variable = heap[place]
    while place > 0:
        parent = (place - 1) >> 1
        if activity[heap[parent]] >= activity[variable]:
            break
        heap[place] = heap[parent]
        places[heap[place]] = place
        place = parent
    heap[place] = variable
    places[variable] = place


@kernel("int64(int32[::1], int32[::1], float64[::1], int64[::1])")
def pop(heap: Shorts, places: Shorts, activity: Floats, counts: Longs) -> int:
    """Take the most active variable out of the heap."""
    top = int(heap[0])
    places[top] = -1
    counts[HEAP] -= 1
    size = counts[HEAP]
    if size:
        variable = heap[size]
        place = 0
        while True:
            child = 2 * place + 1
            if child >= size:
                break
            if child + 1 < size and activity[heap[child + 1]] > activity[heap[child]]:
                child += 1
            if activity[heap[child]] <= activity[variable]:
                break
            heap[place] = heap[child]
            places[heap[place]] = place
            place = child
        heap[place] = variable
        places[variable] = place
    return top


@kernel(
    "void(int64, int8[::1], int8[::1], int32[::1], int32[::1], int32[::1], int32[::1], float64[::1], "
    "int64[::1])"
)
def backtrack(
    level: int,
    values: Signs,
    phases: Signs,
    trail: Shorts,
    limits: Shorts,
    heap: Shorts,
    places: Shorts,
    activity: Floats,
    counts: Longs,
) -> None:
    """Undo every assignment above decision level `level`, remembering its phase."""
    if counts[LEVEL] <= level:
        return
    for k in range(counts[TRAIL] - 1, limits[level] - 1, -1):
        literal = trail[k]
        variable = literal >> 1
        phases[variable] = literal & 1
        values[literal] = -1
        values[literal ^ 1] = -1
        if places[variable] < 0:
            heap[counts[HEAP]] = variable
            counts[HEAP] += 1
            sift_up(counts[HEAP] - 1, heap, places, activity)
    counts[TRAIL] = limits[level]
    counts[HEAD] = limits[level]
    counts[LEVEL] = level


@kernel(
    "int64(int64, int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int8[::1], int32[::1], "
    "int32[::1], int32[::1], float64[::1], float64[::1], int64[::1])"
)
def learn(
    conflict: int,
    arena: Shorts,
    starts: Longs,
    levels: Shorts,
    reasons: Shorts,
    trail: Shorts,
    seen: Signs,
    learned: Shorts,
    heap: Shorts,
    places: Shorts,
    activity: Floats,
    step: Floats,
    counts: Longs,
) -> int:
    """Resolve `conflict` back to its first unique implication point.

    Write the clause to `learned`, return its length.

    The asserting literal comes first, then one of the highest other level (Marques-Silva & Sakallah 1999).
    Literals that the others imply in one step are left out.
    """
    n_open = 0
    size = 1
    clause = conflict
    place = counts[TRAIL] - 1
    literal = np.int32(-1)
    while True:
        for k in range(starts[clause], starts[clause + 1]):
            other = arena[k]
            variable = other >> 1
            if other != literal and not seen[variable] and levels[variable] > 0:
                seen[variable] = 1
                activity[variable] += step[0]
                if places[variable] >= 0:
                    sift_up(places[variable], heap, places, activity)
                if levels[variable] == counts[LEVEL]:
                    n_open += 1
                else:
                    learned[size] = other
                    size += 1
        while not seen[trail[place] >> 1]:
            place -= 1
        literal = trail[place]
        place -= 1
        n_open -= 1
        if n_open == 0:
            break
        seen[literal >> 1] = 0
        clause = reasons[literal >> 1]
    seen[literal >> 1] = 0
    learned[0] = literal ^ 1
    kept = 1
    for k in range(1, size):
        implied = reasons[learned[k] >> 1] >= 0
        if implied:
            clause = reasons[learned[k] >> 1]
            for j in range(starts[clause], starts[clause + 1]):
                variable = arena[j] >> 1
                if variable != learned[k] >> 1 and not seen[variable] and levels[variable] > 0:
                    implied = False
                    break
        if not implied:
            # what is dropped is moved behind what is kept, so that its marks can be cleared below
            learned[kept], learned[k] = learned[k], learned[kept]
            kept += 1
    for k in range(1, size):
        seen[learned[k] >> 1] = 0
    for k in range(2, kept):
        if levels[learned[k] >> 1] > levels[learned[1] >> 1]:
            learned[1], learned[k] = learned[k], learned[1]
    step[0] /= 0.95
    if step[0] > 1e100:
        activity *= 1e-100
        step[0] *= 1e-100
    return kept


@kernel("void(int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int64[::1])")
def forget(arena: Shorts, starts: Longs, ranks: Shorts, heads: Shorts, links: Shorts, counts: Longs) -> None:
    """Drop about half of the learned clauses, those that span most levels; only at level 0."""
    fixed = counts[FIXED]
    tally = np.zeros(65, np.int64)
    for clause in range(fixed, counts[CLAUSES]):
        tally[min(ranks[clause], 64)] += 1
    cut = 3
    n_below = tally[0] + tally[1] + tally[2]
    while cut < 65 and (n_below + tally[cut]) * 2 <= counts[CLAUSES] - fixed:
        n_below += tally[cut]
        cut += 1
    kept = fixed
    for clause in range(fixed, counts[CLAUSES]):
        if ranks[clause] < cut:
            start, length = starts[clause], starts[clause + 1] - starts[clause]
            for k in range(length):
                arena[starts[kept] + k] = arena[start + k]
            ranks[kept] = ranks[clause]
            kept += 1
            starts[kept] = starts[kept - 1] + length
    counts[CLAUSES] = kept
    heads[:] = -1
    watch(arena, starts, 0, kept, heads, links)


@kernel(
    "int64(int32, int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int8[::1], "
    "int32[::1], int64[::1])"
)
def explain(
    literal: int,
    arena: Shorts,
    starts: Longs,
    levels: Shorts,
    reasons: Shorts,
    trail: Shorts,
    limits: Shorts,
    seen: Signs,
    found: Shorts,
    counts: Longs,
) -> int:
    """Write to `found` the assumptions that contradict assumption `literal`, and itself; return how many."""
    found[0] = literal
    size = 1
    if levels[literal >> 1] == 0:
        return size
    seen[literal >> 1] = 1
    for k in range(counts[TRAIL] - 1, limits[0] - 1, -1):
        variable = trail[k] >> 1
        if seen[variable]:
            seen[variable] = 0
            clause = reasons[variable]
            if clause < 0:
                found[size] = trail[k]
                size += 1
            else:
                for j in range(starts[clause], starts[clause + 1]):
                    if levels[arena[j] >> 1] > 0 and arena[j] >> 1 != variable:
                        seen[arena[j] >> 1] = 1
    return size


@kernel("int64(int64)")
def luby(index: int) -> int:
    """Return entry `index` (from 1) of 1, 1, 2, 1, 1, 2, 4, ... (Luby, Sinclair & Zuckerman 1993)."""
    while True:
        power = 1
        while (1 << power) - 1 < index:
            power += 1
        if (1 << power) - 1 == index:
            return 1 << (power - 1)
        index -= (1 << (power - 1)) - 1


@kernel(
    "int64(int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int8[::1], int8[::1], int32[::1], "
    "int32[::1], int32[::1], int32[::1], int8[::1], int32[::1], int32[::1], int32[::1], float64[::1], "
    "float64[::1], int64[::1], int32[::1], int8[::1], int32[::1])"
)
def search(
    arena: Shorts,
    starts: Longs,
    ranks: Shorts,
    heads: Shorts,
    links: Shorts,
    values: Signs,
    phases: Signs,
    levels: Shorts,
    reasons: Shorts,
    trail: Shorts,
    limits: Shorts,
    seen: Signs,
    learned: Shorts,
    heap: Shorts,
    places: Shorts,
    activity: Floats,
    step: Floats,
    counts: Longs,
    assumptions: Shorts,
    model: Signs,
    found: Shorts,
) -> int:
    """Look for a model under `assumptions`; write it to `model`, or the assumptions in conflict to `found`.

    Returns one of the answers above and leaves every variable above level 0 unassigned. The length of what is
    in `found` is written to its last entry.
    """
    n_restarts = 1
    budget = 64 * luby(n_restarts)
    while True:
        conflict = propagate_clauses(arena, starts, heads, links, values, levels, reasons, trail, counts)
        if conflict >= 0:
            if counts[LEVEL] == 0:
                return UNSATISFIABLE
            counts[CONFLICTS] += 1
            budget -= 1
            size = learn(
                conflict,
                arena,
                starts,
                levels,
                reasons,
                trail,
                seen,
                learned,
                heap,
                places,
                activity,
                step,
                counts,
            )
            backtrack(
                levels[learned[1] >> 1] if size > 1 else 0,
                values,
                phases,
                trail,
                limits,
                heap,
                places,
                activity,
                counts,
            )
            if size == 1:
                assign(learned[0], np.int32(-1), values, levels, reasons, trail, counts)
                continue
            clause = counts[CLAUSES]
            start = starts[clause]
            if clause + 1 >= len(starts) or start + size > len(arena):
                backtrack(0, values, phases, trail, limits, heap, places, activity, counts)
                return NO_ROOM
            n_levels = 1
            for k in range(size):
                arena[start + k] = learned[k]
                if k > 0 and levels[learned[k] >> 1] != levels[learned[k - 1] >> 1]:
                    n_levels += 1
            starts[clause + 1] = start + size
            ranks[clause] = n_levels
            counts[CLAUSES] += 1
            watch(arena, starts, clause, clause + 1, heads, links)
            assign(learned[0], np.int32(clause), values, levels, reasons, trail, counts)
            continue
        if budget <= 0:
            n_restarts += 1
            budget = 64 * luby(n_restarts)
            backtrack(0, values, phases, trail, limits, heap, places, activity, counts)
            if n_restarts > RESTARTS_AT_ONCE:
                return PAUSED
            if counts[CLAUSES] - counts[FIXED] > counts[LEARNED]:
                forget(arena, starts, ranks, heads, links, counts)
                counts[LEARNED] += counts[LEARNED] // 10
            continue
        decision = np.int32(-1)
        while counts[LEVEL] < len(assumptions):
            literal = assumptions[counts[LEVEL]]
            if values[literal] == 0:
                found[-1] = explain(
                    literal, arena, starts, levels, reasons, trail, limits, seen, found, counts
                )
                backtrack(0, values, phases, trail, limits, heap, places, activity, counts)
                return REFUTED
            if values[literal] == -1:
                decision = literal
                break
            limits[counts[LEVEL]] = counts[TRAIL]
            counts[LEVEL] += 1
        while decision < 0 and counts[HEAP] > 0:
            variable = pop(heap, places, activity, counts)
            if values[2 * variable] == -1:
                decision = np.int32(2 * variable + phases[variable])
        if decision < 0:
            for variable in range(len(model)):
                model[variable] = values[2 * variable]
            backtrack(0, values, phases, trail, limits, heap, places, activity, counts)
            return SATISFIABLE
        limits[counts[LEVEL]] = counts[TRAIL]
        counts[LEVEL] += 1
        assign(decision, np.int32(-1), values, levels, reasons, trail, counts)
