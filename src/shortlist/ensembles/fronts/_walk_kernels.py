"""Kernels of a full search of all committees of one size that keeps the non-dominated committees.

A row is a bit of a word. A committee is built up member by member. For each number q there is a mask of the
rows on which at least q members are right, with one word per 64 rows. Adding a member takes one pass over
these words, and counting the right rows of a class takes one instruction for each word.

Votes of two classes with a threshold, and votes of several classes by plurality, share the kernels. With a
threshold L and m members, the committee is right on a positive row if at least L + 1 members are right, and
on a negative row if at least m - L members are right. By plurality it is right on a row if the true class has
a vote, and no rival has more votes, or as many votes and a lower index.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import WordBlock, Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import ByteTable, LongBlock, Longs, LongTable, Records, Whole, record_type

HERE = record_type("n_members", "depth", "nodes", "done", "n_points", "has_threshold")
"""Number of members of a committee, number of members chosen now, nodes so far, whether the walk is over,
number of points in the archive, and whether a threshold decides.
"""


class CommitteeRows(NamedTuple):
    """Masks of right answers on rows, and the weights of right rows and members."""

    right: WordTable
    """Rows that each member is right on, ``(n_members, n_words)``; the rows of each class begin with a new
    word.
    """
    left: WordBlock
    """Rows on which at least q of the members from index k on are right, ``(n_members + 1, most + 1,
    n_words)``, with index k, then q.
    """
    rival: WordBlock
    """Rows of other classes that each member gives to class c, ``(n_members, n_rivals, n_words)``; with a
    threshold there are no rivals.
    """
    tied: WordTable
    """Rows whose class comes after class c, ``(n_rivals, n_words)``: there a tie with c is lost."""
    full: Words
    """Mask of all rows, ``(n_words,)``."""
    starts: Longs
    """Index of the first word of each class, then the number of words, ``(n_classes + 1,)``."""
    gains: LongTable
    """Increment of each value by a right row of each class, at least 0, ``(n_values, n_classes)``."""
    caps: Longs
    """Upper bound on each value over all committees, then the bound on the sum of values, ``(n_values +
    1,)``; the last bound is used with two values only.
    """
    prices: LongTable
    """Increment of each objective of members by each member, ``(n_prices, n_members)``, at least 0."""
    least: LongBlock
    """Least sum over r of the members from index k on, ``(n_prices, n_members + 1, most + 1)``, with index k,
    then r.
    """
    budgets: Longs
    """Largest allowed sum of each objective of members, ``(n_prices,)``."""


class CommitteeWalk(NamedTuple):
    """State of a search."""

    chosen: Longs
    """Members chosen so far, in increasing order, then the member to try next, ``(most + 1,)``."""
    counts: WordBlock
    """Rows on which at least q of the first d members are right, ``(most + 1, most + 2, n_words)``, with
    index d, then q.
    """
    rivals: WordBlock
    """Rows on which at least q of the first d members vote for each rival, ``(most + 1, n_rivals * (most +
    2), n_words)``.
    """
    spent: LongTable
    """Sum of each objective of members over the first d members, ``(most + 1, n_prices)``."""
    room: LongTable
    """Number of rows of each class on which at least q members may be right, ``(most + 2, n_classes)``."""
    point: Longs
    """Point of the committee under test, ``(n_objectives,)``."""
    here: Annotated[Records, HERE]
    """The one record of the walk's numbers, see :data:`HERE`."""


class CommitteeArchive(NamedTuple):
    """Archive of points, all minimised, of which none dominates another."""

    points: LongTable
    """Points: the values, negated, then the objectives of members, ``(room, n_objectives)``."""
    members: ByteTable
    """Mask of the members of each point's committee, ``(room, n_members)``."""
    thresholds: Longs
    """Threshold of each point's committee, ``(room,)``."""
    order: Longs
    """Indices of the points in the order of comparison, ``(room,)``; points that dominate often come first.
    """


@kernel("void(int64, CommitteeRows, CommitteeWalk)")
def add_member(k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the votes of the members chosen so far together with member k."""
    d, n_words = walk.here[0].depth, rows.right.shape[1]
    old, new = walk.counts[d], walk.counts[d + 1]
    for w in range(n_words):
        vote = rows.right[k, w]
        for q in range(d + 1, 0, -1):
            new[q, w] = old[q, w] | (old[q - 1, w] & vote)
    most = walk.counts.shape[1]
    for c in range(rows.rival.shape[1]):
        first = c * most
        before, after = walk.rivals[d], walk.rivals[d + 1]
        for w in range(n_words):
            vote = rows.rival[k, c, w]
            for q in range(d + 1, 0, -1):
                after[first + q, w] = before[first + q, w] | (before[first + q - 1, w] & vote)
    for j in range(rows.prices.shape[0]):
        walk.spent[d + 1, j] = walk.spent[d, j] + rows.prices[j, k]


@kernel("uint64(int64, int64, int64, int64, int64, CommitteeRows, CommitteeWalk)")
def in_reach(
    q: int, w: int, d: int, left: int, k: Whole, rows: CommitteeRows, walk: CommitteeWalk
) -> np.uint64:
    """Return the rows of word w on which at least q of d chosen and `left` later members may be right.

    The later members are members from index k on.
    """
    if q <= 0:
        return np.uint64(rows.full[w])
    found = walk.counts[d, q, w] if q <= d else np.uint64(0)
    for more in range(1, min(left, q) + 1):
        if q - more <= d:
            found |= walk.counts[d, q - more, w] & rows.left[k, more, w]
    return np.uint64(found)


@kernel("boolean(int64[::1], CommitteeArchive, CommitteeWalk)")
def is_dominated(point: Longs, archive: CommitteeArchive, walk: CommitteeWalk) -> bool:
    """Return whether a point of the archive is at least as good as `point` in every objective.

    This point of the archive then moves forward in the order of comparison.
    """
    width = len(point)
    for place in range(walk.here[0].n_points):
        i = archive.order[place]
        worse = False
        for j in range(width):
            if archive.points[i, j] > point[j]:
                worse = True
                break
        if not worse:
            before = place // 2
            archive.order[place], archive.order[before] = archive.order[before], i
            return True
    return False


@kernel("boolean(CommitteeRows, CommitteeWalk, CommitteeArchive)")
def is_covered(rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive) -> bool:
    """Return whether points of the archive dominate all vectors that the tested point may stand for.

    If two values cannot reach their bounds together, the tested point stands for all pairs of values whose
    sum is the bound on the sum.
    """
    point, excess = walk.point, np.int64(0)
    if rows.gains.shape[0] == 2:
        excess = max(np.int64(0), -point[0] - point[1] - rows.caps[2])
    first, second = point[0], point[1]
    covered = True
    for given_up in range(excess + 1):
        if excess:
            point[0], point[1] = first + given_up, second + excess - given_up
        if not is_dominated(point, archive, walk):
            covered = False
            break
    point[0], point[1] = first, second
    return covered


@kernel("void(int64, CommitteeWalk, CommitteeArchive)")
def keep_point(threshold: Whole, walk: CommitteeWalk, archive: CommitteeArchive) -> None:
    """Put the tested point into the archive, and drop the points that it dominates."""
    n, width = walk.here[0].n_points, len(walk.point)
    kept = np.int64(0)
    for i in range(n):
        worse = True
        for j in range(width):
            if archive.points[i, j] < walk.point[j]:
                worse = False
                break
        if not worse:
            if kept < i:
                for j in range(width):
                    archive.points[kept, j] = archive.points[i, j]
                for k in range(archive.members.shape[1]):
                    archive.members[kept, k] = archive.members[i, k]
                archive.thresholds[kept] = archive.thresholds[i]
            kept += 1
    for j in range(width):
        archive.points[kept, j] = walk.point[j]
    for k in range(archive.members.shape[1]):
        archive.members[kept, k] = 0
    for d in range(walk.here[0].n_members):
        archive.members[kept, walk.chosen[d]] = 1
    archive.thresholds[kept] = threshold
    walk.here[0].n_points = kept + 1
    if kept < n:  # places have moved
        for place in range(kept + 1):
            archive.order[place] = place
    else:
        archive.order[kept] = kept


@kernel("void(int64, int64, CommitteeRows, CommitteeWalk)")
def write_totals(first: Whole, second: Whole, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Write into the tested point the values for numbers of right rows of the two classes."""
    for j in range(rows.gains.shape[0]):
        value = rows.gains[j, 0] * first + rows.gains[j, 1] * second
        walk.point[j] = -min(value, rows.caps[j])


@kernel("void(int64, int64, int64, CommitteeRows, CommitteeWalk)")
def count_by_plurality(d: int, left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the rows of each class that a plurality may decide right, into line 0 of ``walk.room``."""
    most = walk.counts.shape[1]
    for c in range(walk.room.shape[1]):
        total = np.int64(0)
        for w in range(rows.starts[c], rows.starts[c + 1]):
            reached = in_reach(1, w, d, left, k, rows, walk)
            wrong = ~reached  # a vote at least is needed, whatever rivals have
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
    """Count the rows of the two classes on which at least q members may be right, for each q."""
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
    """Return whether a committee with the first d members may still join the archive.

    A committee without members left to add is put into the archive here.
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
    size = here.n_members
    for step in range(size + 1):  # from the middle outwards: of equal thresholds that nearest to it stays
        away = (step + 1) // 2
        threshold = size // 2 + (away if step % 2 == size % 2 else -away)
        write_totals(walk.room[size - threshold, 0], walk.room[threshold + 1, 1], rows, walk)
        if not is_covered(rows, walk, archive):
            if left:
                return True
            keep_point(np.int64(threshold), walk, archive)
    return False


@kernel("void(int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def walk_committees(
    n_nodes: int, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive
) -> None:
    """Continue the search for a number of nodes, until its end, or until the archive is nearly full."""
    chosen, here = walk.chosen, walk.here[0]
    n, size = rows.right.shape[0], here.n_members
    end = here.nodes + n_nodes
    while here.nodes < end and here.n_points + size + 2 < len(archive.order):
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
        here.nodes += 1
        add_member(chosen[d], rows, walk)
        if visit(d + 1, left, k + 1, rows, walk, archive) and left:
            here.depth = d + 1
            chosen[d + 1] = chosen[d] + 1
        else:
            chosen[d] += 1
