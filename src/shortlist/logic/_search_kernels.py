"""Kernels of conflict-driven search: decisions by activity, learned clauses, restarts.

Literals, clauses and assignments are those of :mod:`shortlist.logic._propagation_kernels`.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Floats, Shorts
from shortlist.logic._propagation_kernels import (
    Assignment,
    ClauseStore,
    Counts,
    Signs,
    assign,
    propagate_clauses,
    watch,
)

UNSATISFIABLE, SATISFIABLE, NO_ROOM, REFUTED, PAUSED = range(5)
"""Outcomes of a search: no model at all, a model, store full (enlarge it and continue), no model under the
assumptions, paused (continue).
"""

MOST_RESTARTS = 64
"""Number of restarts after which the series of run lengths begins again."""

RUN_LENGTH = 64
"""Conflicts of the shortest run between two restarts."""

WORK_AT_ONCE = 1 << 16
"""Number of propagated literals until a search pauses, so that its caller can stop."""

WORK_OF_A_CONFLICT = 32
"""Work of learning from a conflict, in propagated literals."""


class Activity(NamedTuple):
    """Heap of the variables that were in recent conflicts."""

    heap: Shorts
    """Variables that may be unknown, the most active first."""
    places: Shorts
    """Index of each variable in the heap; -1 if it is not in the heap."""
    scores: Floats
    """Activity of each variable."""
    step: Floats
    """Increment of an activity by one conflict, ``(1,)``."""


class SearchMemory(NamedTuple):
    """Memory of a search besides its assignment."""

    ranks: Shorts
    """Number of decision levels of each learned clause."""
    phases: Signs
    """Sign that is tried first for each variable: its last value."""
    limits: Shorts
    """Index on the trail of the first literal of each decision level."""
    seen: Signs
    """Marks of variables; all 0 between calls."""
    learned: Shorts
    """Buffer for a learned clause."""


@kernel("void(int64, Activity)")
def sift_up(place: int, activity: Activity) -> None:
    """Move the entry at index `place` towards the top while it is more active than its parent."""
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


@kernel("int64(Activity, Counts)")
def pop(activity: Activity, counts: Counts) -> int:
    """Remove the most active variable from the heap and return it."""
    heap, places, scores = activity.heap, activity.places, activity.scores
    top = int(heap[0])
    places[top] = -1
    counts[0].heap -= 1
    size = counts[0].heap
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


@kernel("void(int64, Assignment, SearchMemory, Activity, Counts)")
def backtrack(
    level: int, assignment: Assignment, memory: SearchMemory, activity: Activity, counts: Counts
) -> None:
    """Undo every assignment above decision level `level`; store the phases."""
    values, trail, phases, limits = assignment.values, assignment.trail, memory.phases, memory.limits
    heap, places = activity.heap, activity.places
    if counts[0].level <= level:
        return
    for k in range(counts[0].trail - 1, limits[level] - 1, -1):
        literal = trail[k]
        variable = literal >> 1
        phases[variable] = literal & 1
        values[literal] = -1
        values[literal ^ 1] = -1
        if places[variable] < 0:
            heap[counts[0].heap] = variable
            counts[0].heap += 1
            sift_up(counts[0].heap - 1, activity)
    counts[0].trail = limits[level]
    counts[0].head = limits[level]
    counts[0].level = level


@kernel("int64(int64, ClauseStore, Assignment, SearchMemory, Activity, Counts)")
def learn(
    conflict: int,
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    activity: Activity,
    counts: Counts,
) -> int:
    """Resolve `conflict` back to its first unique implication point; return the learned clause's length.

    The clause is written to the memory's buffer.

    The asserting literal comes first, then a literal of the highest other level (Marques-Silva & Sakallah
    1999). Literals that the other literals imply in one step are left out.
    """
    arena, starts, seen, learned = store.arena, store.starts, memory.seen, memory.learned
    levels, reasons, trail = assignment.levels, assignment.reasons, assignment.trail
    places, scores, bump = activity.places, activity.scores, activity.step
    n_open = 0
    size = 1
    clause = conflict
    place = counts[0].trail - 1
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
                if levels[variable] == counts[0].level:
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
            # dropped literals are moved behind the kept ones, so that their marks can be cleared below
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


@kernel("void(ClauseStore, int32[::1], Counts)", makes_arrays=True)
def forget(store: ClauseStore, ranks: Shorts, counts: Counts) -> None:
    """Drop the learned clauses with the most decision levels, about half of all; only at level 0."""
    arena, starts = store.arena, store.starts
    fixed = counts[0].fixed
    tally = np.zeros(65, np.int64)
    for clause in range(fixed, counts[0].clauses):
        tally[min(ranks[clause], 64)] += 1
    cut = 3
    n_below = tally[0] + tally[1] + tally[2]
    while cut < 65 and (n_below + tally[cut]) * 2 <= counts[0].clauses - fixed:
        n_below += tally[cut]
        cut += 1
    kept = fixed
    for clause in range(fixed, counts[0].clauses):
        if ranks[clause] < cut:
            start, length = starts[clause], starts[clause + 1] - starts[clause]
            for k in range(length):
                arena[starts[kept] + k] = arena[start + k]
            ranks[kept] = ranks[clause]
            kept += 1
            starts[kept] = starts[kept - 1] + length
    counts[0].clauses = kept
    store.heads[:] = -1
    watch(store, 0, kept)


@kernel("int64(int32, ClauseStore, Assignment, SearchMemory, int32[::1], Counts)")
def explain(
    literal: int,
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    found: Shorts,
    counts: Counts,
) -> int:
    """Write assumption `literal` and the assumptions that contradict it to `found`; return their number."""
    arena, starts, seen = store.arena, store.starts, memory.seen
    levels, reasons, trail = assignment.levels, assignment.reasons, assignment.trail
    found[0] = literal
    size = 1
    if levels[literal >> 1] == 0:
        return size
    seen[literal >> 1] = 1
    for k in range(counts[0].trail - 1, memory.limits[0] - 1, -1):
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


@kernel("void(Counts)")
def begin(counts: Counts) -> None:
    """Start the series of restarts."""
    counts[0].restarts = 1
    counts[0].until_restart = RUN_LENGTH


@kernel("int64(ClauseStore, Assignment, SearchMemory, Activity, Counts, int32[::1], int8[::1], int32[::1])")
def search(
    store: ClauseStore,
    assignment: Assignment,
    memory: SearchMemory,
    activity: Activity,
    counts: Counts,
    assumptions: Shorts,
    model: Signs,
    found: Shorts,
) -> int:
    """Search for a model under `assumptions`; write it to `model`, or conflicting assumptions to `found`.

    Returns an outcome such as :data:`SATISFIABLE`. Every variable above level 0 is unassigned afterwards,
    except in a pause: if it is then called again with the same arrays, the search continues. The number of
    literals in `found` is written to its last entry.
    """
    arena, starts, values, levels = store.arena, store.starts, assignment.values, assignment.levels
    ranks, limits, learned = memory.ranks, memory.limits, memory.learned
    work = 0
    while work < WORK_AT_ONCE:
        before = counts[0].head
        conflict = propagate_clauses(store, assignment, counts)
        work += counts[0].head - before
        if conflict >= 0:
            if counts[0].level == 0:
                return UNSATISFIABLE
            counts[0].conflicts += 1
            counts[0].until_restart -= 1
            work += WORK_OF_A_CONFLICT
            size = learn(conflict, store, assignment, memory, activity, counts)
            level = levels[learned[1] >> 1] if size > 1 else 0
            backtrack(level, assignment, memory, activity, counts)
            if size == 1:
                assign(learned[0], np.int32(-1), assignment, counts)
                continue
            clause = counts[0].clauses
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
            counts[0].clauses += 1
            watch(store, clause, clause + 1)
            assign(learned[0], np.int32(clause), assignment, counts)
            continue
        if counts[0].until_restart <= 0:
            backtrack(0, assignment, memory, activity, counts)
            if counts[0].restarts == MOST_RESTARTS:
                begin(counts)
                continue
            counts[0].restarts += 1
            counts[0].until_restart = RUN_LENGTH * luby(counts[0].restarts)
            if counts[0].clauses - counts[0].fixed > counts[0].learned:
                forget(store, ranks, counts)
                counts[0].learned += counts[0].learned // 10
            continue
        decision = np.int32(-1)
        while counts[0].level < len(assumptions):
            literal = assumptions[counts[0].level]
            if values[literal] == 0:
                found[-1] = explain(literal, store, assignment, memory, found, counts)
                backtrack(0, assignment, memory, activity, counts)
                return REFUTED
            if values[literal] == -1:
                decision = literal
                break
            limits[counts[0].level] = counts[0].trail
            counts[0].level += 1
        while decision < 0 and counts[0].heap > 0:
            variable = pop(activity, counts)
            if values[2 * variable] == -1:
                decision = np.int32(2 * variable + memory.phases[variable])
        if decision < 0:
            for variable in range(len(model)):
                model[variable] = values[2 * variable]
            backtrack(0, assignment, memory, activity, counts)
            return SATISFIABLE
        limits[counts[0].level] = counts[0].trail
        counts[0].level += 1
        assign(decision, np.int32(-1), assignment, counts)
    return PAUSED
