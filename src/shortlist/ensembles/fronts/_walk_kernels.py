"""Kernels of a walk over all committees of one size that keeps those which no other dominates.

Rows are bits. A committee is built up member by member, and for every row it is known whether at least q
members are right on it, for each q: one word per 64 rows and q. Adding a member takes one pass over these
words, and counting the right rows of a class takes one instruction for each.

Two classes with a threshold and several with a plurality share the walk. With a threshold L a row of the
positive class is right where at least L + 1 members are, and one of the negative class where at least as many
as there are beside L are. By plurality it is right where no rival has more votes, or as many and comes
first.
"""

import numpy as np

from shortlist._bits import popcount
from shortlist._jit import kernel
from shortlist.ensembles.fronts._last_kernels import pass_by, try_last, write_totals
from shortlist.ensembles.fronts._state_kernels import (
    CommitteeArchive,
    CommitteeRows,
    CommitteeWalk,
    add_member,
    in_reach,
    is_covered,
    keep_point,
)


@kernel("void(int64, int64, int64, CommitteeRows, CommitteeWalk)")
def count_by_plurality(d: int, left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the rows of each class that may be right, into the first line of the room."""
    most = walk.counts.shape[1]
    for c in range(walk.room.shape[1]):
        total = np.int64(0)
        for w in range(rows.starts[c], rows.starts[c + 1]):
            wrong = np.uint64(0)
            reached = in_reach(1, w, d, left, k, rows, walk)
            for rival in range(rows.rival.shape[1]):
                wrong |= rows.tied[rival, w] & ~reached
            for q in range(1, d + 1):
                next_reached = in_reach(q + 1, w, d, left, k, rows, walk)
                for rival in range(rows.rival.shape[1]):
                    votes = walk.rivals[d, rival * most + q, w]
                    tied = rows.tied[rival, w]
                    wrong |= votes & ((tied & ~next_reached) | (~tied & ~reached))
                reached = next_reached
            total += popcount(rows.full[w] & ~wrong)
        walk.room[0, c] = total


@kernel("void(int64, int64, int64, CommitteeRows, CommitteeWalk)")
def count_by_votes(d: int, left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the rows of both classes that at least q members may be right on, for each q."""
    size = walk.here[0].n_members
    for q in range(size + 2):
        for c in range(2):
            total = np.int64(0)
            if q <= size:
                for w in range(rows.starts[c], rows.starts[c + 1]):
                    total += popcount(in_reach(q, w, d, left, k, rows, walk))
            walk.room[q, c] = total


@kernel("boolean(int64, int64, int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def visit(
    d: int, left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive
) -> bool:
    """Whether what can still come of the first d members is worth a look.

    Committees that are whole are kept by plurality; those with a threshold have two members to come or more.
    """
    n_values, here = rows.gains.shape[0], walk.here[0]
    for j in range(rows.prices.shape[0]):
        walk.point[n_values + j] = walk.spent[d, j] + rows.least[j, k, left]
        if walk.point[n_values + j] > rows.budgets[j]:
            return False
    if not here.has_threshold:
        count_by_plurality(d, left, k, rows, walk)
        for j in range(n_values):
            value = np.int64(0)
            for c in range(rows.gains.shape[1]):
                value += rows.gains[j, c] * walk.room[0, c]
            walk.point[j] = -min(value, rows.caps[j])
        if is_covered(rows, walk, archive):
            return False
        if not left:
            keep_point(np.int64(0), walk, archive)
        return True
    count_by_votes(d, left, k, rows, walk)
    size, best = here.n_members, np.int64(0)
    for threshold in range(size + 1):
        write_totals(walk.room[size - threshold, 0], walk.room[threshold + 1, 1], rows, walk)
        if n_values == 1:  # the best threshold is the only one that matters
            best = min(best, walk.point[0])
        elif not is_covered(rows, walk, archive):
            return True
    if n_values == 1:
        walk.point[0] = best
        return not is_covered(rows, walk, archive)
    return False


@kernel("void(int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def walk_committees(
    n_nodes: int, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive
) -> None:
    """Go on with a walk for so many nodes, or until the archive is nearly full."""
    chosen, here = walk.chosen, walk.here[0]
    n, size, by_votes = rows.right.shape[0], here.n_members, here.has_threshold
    end, here.stale, walk.news[1].n_open = here.nodes + n_nodes, 1, size + 1
    for threshold in range(size + 1):
        walk.open[1, threshold] = threshold
    while here.nodes < end and here.n_points + size + 1 < len(archive.order):
        d = here.depth
        k = chosen[d]
        if k > n - (size - d):  # too few are left
            if d == 0:
                here.done = 1
                return
            here.depth = d - 1
            chosen[d - 1] += 1
            continue
        left = size - d - 1
        if by_votes and not left:
            if try_last(end, rows, walk, archive):
                chosen[d] = n
            continue
        if by_votes and left == 1 and pass_by(end, rows, walk, archive):
            continue
        here.nodes += 1
        add_member(chosen[d], rows, walk)
        if ((by_votes and left == 1) or visit(d + 1, left, k + 1, rows, walk, archive)) and left:
            here.depth = d + 1
            chosen[d + 1] = chosen[d] + 1
            if left == 2:
                here.stale = 1
        else:
            chosen[d] += 1
