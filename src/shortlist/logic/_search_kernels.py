"""Kernels of conflict-driven search: decisions by activity, learned clauses, restarts.

Literals, clauses and assignments are those of :mod:`shortlist.logic._propagation_kernels`.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs, Shorts
from shortlist.logic._propagation_kernels import (
    CLAUSES,
    CONFLICTS,
    FIXED,
    HEAD,
    HEAP,
    LEARNED,
    LEVEL,
    RESTARTS,
    TRAIL,
    UNTIL_RESTART,
    Assignment,
    ClauseStore,
    Signs,
    assign,
    propagate_clauses,
    watch,
)

UNSATISFIABLE, SATISFIABLE, NO_ROOM, REFUTED, PAUSED = range(5)
"""What a search answers: no model at all, a model, the store is full (enlarge it and go on), no model under
the assumptions, nothing yet (go on).
"""

MOST_RESTARTS = 64
"""Restarts after which the series of their lengths begins again."""

RUN_LENGTH = 64
"""Conflicts of the shortest run between two restarts."""

WORK_AT_ONCE = 1 << 16
"""Literals that are propagated until a search pauses: its caller may want to stop."""

WORK_OF_A_CONFLICT = 32
"""What learning from a conflict counts for."""


class Activity(NamedTuple):
    """Which variables were in recent conflicts, as a heap."""

    heap: Shorts
    """Variables that may be unknown, the most active first."""
    places: Shorts
    """Where each variable is in the heap, -1 where it is not."""
    scores: Floats
    """How active each variable is."""
    step: Floats
    """What a conflict adds, ``(1,)``."""


class SearchMemory(NamedTuple):
    """What a search remembers beside its assignment."""

    ranks: Shorts
    """How many decision levels each learned clause spans."""
    phases: Signs
    """Which literal of each variable is tried first: its last value."""
    limits: Shorts
    """Where each decision level begins on the trail."""
    seen: Signs
    """Marks of variables, all 0 between calls."""
    learned: Shorts
    """Room for a learned clause."""


@kernel("void(int64, Activity)")
def sift_up(place: int, activity: Activity) -> None:
    """Move the entry at `place` towards the top while it is more active than its parent."""
    heap, places, scores = activity.heap, activity.places, activity.scores
    variable = heap[place]
    while place > 0:
        parent = (place - 1) >> 1
        if scores[heap[parent]] >= scores[variable]:
            break
        heap[place] = heap[parent]
        places[heap[place]] = place
        place = parent
    heap[place] = variable
    places[variable] = place


@kernel("int64(Activity, int64[::1])")
def pop(activity: Activity, counts: Longs) -> int:
    """Take the most active variable out of the heap."""
    heap, places, scores = activity.heap, activity.places, activity.scores
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
            if child + 1 < size and scores[heap[child + 1]] > scores[heap[child]]:
                child += 1
            if scores[heap[child]] <= scores[variable]:
                break
            heap[place] = heap[child]
            places[heap[place]] = place
            place = child
        heap[place] = variable
        places[variable] = place
    return top


@kernel("void(int64, Assignment, SearchMemory, Activity, int64[::1])")
def backtrack(
    level: int, assignment: Assignment, memory: SearchMemory, activity: Activity, counts: Longs
) -> None:
    """Undo every assignment above decision level `level`, remembering its phase."""
    values, trail, phases, limits = assignment.values, assignment.trail, memory.phases, memory.limits
    heap, places = activity.heap, activity.places
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
            sift_up(counts[HEAP] - 1, activity)
    counts[TRAIL] = limits[level]
    counts[HEAD] = limits[level]
    counts[LEVEL] = level


@kernel("int64(int64, ClauseStore, Assignment, SearchMemory, Activity, int64[::1])")
def learn(
    conflict: int,
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    activity: Activity,
    counts: Longs,
) -> int:
    """Resolve `conflict` back to its first unique implication point.

    Write the clause to the memory's room for it, return its length.

    The asserting literal comes first, then one of the highest other level (Marques-Silva & Sakallah 1999).
    Literals that the others imply in one step are left out.
    """
    arena, starts, seen, learned = store.arena, store.starts, memory.seen, memory.learned
    levels, reasons, trail = assignment.levels, assignment.reasons, assignment.trail
    places, scores, bump = activity.places, activity.scores, activity.step
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
                scores[variable] += bump[0]
                if places[variable] >= 0:
                    sift_up(places[variable], activity)
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
    bump[0] /= 0.95
    if bump[0] > 1e100:
        scores *= 1e-100
        bump[0] *= 1e-100
    return kept


@kernel("void(ClauseStore, int32[::1], int64[::1])", makes_arrays=True)
def forget(store: ClauseStore, ranks: Shorts, counts: Longs) -> None:
    """Drop about half of the learned clauses, those that span most levels; only at level 0."""
    arena, starts = store.arena, store.starts
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
    store.heads[:] = -1
    watch(store, 0, kept)


@kernel("int64(int32, ClauseStore, Assignment, SearchMemory, int32[::1], int64[::1])")
def explain(
    literal: int,
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    found: Shorts,
    counts: Longs,
) -> int:
    """Write to `found` the assumptions that contradict assumption `literal`, and itself; return how many."""
    arena, starts, seen = store.arena, store.starts, memory.seen
    levels, reasons, trail = assignment.levels, assignment.reasons, assignment.trail
    found[0] = literal
    size = 1
    if levels[literal >> 1] == 0:
        return size
    seen[literal >> 1] = 1
    for k in range(counts[TRAIL] - 1, memory.limits[0] - 1, -1):
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


@kernel("void(int64[::1])")
def begin(counts: Longs) -> None:
    """Begin the series of restarts."""
    counts[RESTARTS] = 1
    counts[UNTIL_RESTART] = RUN_LENGTH


@kernel(
    "int64(ClauseStore, Assignment, SearchMemory, Activity, int64[::1], int32[::1], int8[::1], int32[::1])"
)
def search(
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    activity: Activity,
    counts: Longs,
    assumptions: Shorts,
    model: Signs,
    found: Shorts,
) -> int:
    """Look for a model under `assumptions`; write it to `model`, or the assumptions in conflict to `found`.

    Returns one of the answers above. It leaves every variable above level 0 unassigned, but for a pause:
    called again with the same arrays it goes on as if there had been none. The length of what is in `found`
    is written to its last entry.
    """
    arena, starts, values, levels = store.arena, store.starts, assignment.values, assignment.levels
    ranks, limits, learned = memory.ranks, memory.limits, memory.learned
    work = 0
    while work < WORK_AT_ONCE:
        before = counts[HEAD]
        conflict = propagate_clauses(store, assignment, counts)
        work += counts[HEAD] - before
        if conflict >= 0:
            if counts[LEVEL] == 0:
                return UNSATISFIABLE
            counts[CONFLICTS] += 1
            counts[UNTIL_RESTART] -= 1
            work += WORK_OF_A_CONFLICT
            size = learn(conflict, store, assignment, memory, activity, counts)
            level = levels[learned[1] >> 1] if size > 1 else 0
            backtrack(level, assignment, memory, activity, counts)
            if size == 1:
                assign(learned[0], np.int32(-1), assignment, counts)
                continue
            clause = counts[CLAUSES]
            start = starts[clause]
            if clause + 1 >= len(starts) or start + size > len(arena):
                backtrack(0, assignment, memory, activity, counts)
                begin(counts)
                return NO_ROOM
            n_levels = 1
            for k in range(size):
                arena[start + k] = learned[k]
                if k > 0 and levels[learned[k] >> 1] != levels[learned[k - 1] >> 1]:
                    n_levels += 1
            starts[clause + 1] = start + size
            ranks[clause] = n_levels
            counts[CLAUSES] += 1
            watch(store, clause, clause + 1)
            assign(learned[0], np.int32(clause), assignment, counts)
            continue
        if counts[UNTIL_RESTART] <= 0:
            backtrack(0, assignment, memory, activity, counts)
            if counts[RESTARTS] == MOST_RESTARTS:
                begin(counts)
                continue
            counts[RESTARTS] += 1
            counts[UNTIL_RESTART] = RUN_LENGTH * luby(counts[RESTARTS])
            if counts[CLAUSES] - counts[FIXED] > counts[LEARNED]:
                forget(store, ranks, counts)
                counts[LEARNED] += counts[LEARNED] // 10
            continue
        decision = np.int32(-1)
        while counts[LEVEL] < len(assumptions):
            literal = assumptions[counts[LEVEL]]
            if values[literal] == 0:
                found[-1] = explain(literal, store, assignment, memory, found, counts)
                backtrack(0, assignment, memory, activity, counts)
                return REFUTED
            if values[literal] == -1:
                decision = literal
                break
            limits[counts[LEVEL]] = counts[TRAIL]
            counts[LEVEL] += 1
        while decision < 0 and counts[HEAP] > 0:
            variable = pop(activity, counts)
            if values[2 * variable] == -1:
                decision = np.int32(2 * variable + memory.phases[variable])
        if decision < 0:
            for variable in range(len(model)):
                model[variable] = values[2 * variable]
            backtrack(0, assignment, memory, activity, counts)
            return SATISFIABLE
        limits[counts[LEVEL]] = counts[TRAIL]
        counts[LEVEL] += 1
        assign(decision, np.int32(-1), assignment, counts)
    return PAUSED
