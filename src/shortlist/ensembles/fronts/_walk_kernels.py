"""Kernels of a full search of all committees of one size that keeps those which no other dominates.

Rows are bits. A committee is built up member by member, and for every row it is known whether at least q
members are right on it, for each q: one word per 64 rows and q. Adding a member takes one pass over these
words, and counting the right rows of a class takes one instruction for each.

Two classes with a threshold and several with a plurality share the walk. With a threshold L a row of the
positive class is right where at least L + 1 members are, and one of the negative class where at least as many
as there are beside L are. By plurality it is right where it has a vote, and no rival has more, or as many
and comes first.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import WordBlock, Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import ByteTable, LongBlock, Longs, LongTable, Records, Whole, record_type

HERE = record_type("n_members", "depth", "nodes", "done", "n_points", "has_threshold")
"""Members of a committee, members chosen now, nodes so far, whether the walk is over, points in the archive,
and whether a threshold decides.
"""


class CommitteeRows(NamedTuple):
    """Masks of right answers on rows, and the weights of right rows and members."""

    right: WordTable
    """Rows that a member is right on, ``(n_members, n_words)``; the rows of each class begin with a word of
    their own.
    """
    left: WordBlock
    """Rows that at least q of the members from k on are right on, ``(n_members + 1, most + 1, n_words)``."""
    rival: WordBlock
    """Rows of other classes that a member gives to class c, ``(n_members, n_rivals, n_words)``; no class with
    a threshold.
    """
    tied: WordTable
    """Rows whose class comes after c, ``(n_rivals, n_words)``: a tie with c is lost there."""
    full: Words
    """All rows."""
    starts: Longs
    """The first word of each class, and the end."""
    gains: LongTable
    """Increment of each value by a right row of each class, ``(n_values, n_classes)``, at least 0."""
    caps: Longs
    """Bound on each value over all committees, and with two values on their sum, ``(n_values + 1,)``."""
    prices: LongTable
    """Increment of each objective of members by each member, ``(n_prices, n_members)``, at least 0."""
    least: LongBlock
    """The least that r of the members from k on add, ``(n_prices, n_members + 1, most + 1)``."""
    budgets: Longs
    """The most that each objective of members may sum to, ``(n_prices,)``."""


class CommitteeWalk(NamedTuple):
    """State of a search."""

    chosen: Longs
    """The members, in increasing order, ``(most + 1,)``; the one at the depth is tried next."""
    counts: WordBlock
    """Rows that at least q of the first d members are right on, ``(most + 1, most + 2, n_words)``."""
    rivals: WordBlock
    """The same of votes for each rival, ``(most + 1, n_rivals * (most + 2), n_words)``."""
    spent: LongTable
    """Sum over the first d members for each objective of members, ``(most + 1, n_prices)``."""
    room: LongTable
    """Right rows of each class for each q, ``(most + 2, n_classes)``."""
    point: Longs
    """The vector that is looked at."""
    here: Annotated[Records, HERE]
    """One record."""


class CommitteeArchive(NamedTuple):
    """Points that no other point here dominates, all minimised."""

    points: LongTable
    """Vectors: minus the values, then the objectives of members."""
    members: ByteTable
    """The committee of each."""
    thresholds: Longs
    """The threshold of each."""
    order: Longs
    """Points in the order in which they are looked at: those that dominate much come first."""


@kernel("void(int64, CommitteeRows, CommitteeWalk)")
def add_member(k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the votes of the members so far and of k."""
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
    """Return the rows of a word that at least q of d members and of `left` more from k on may be right on."""
    if q <= 0:
        return np.uint64(rows.full[w])
    found = walk.counts[d, q, w] if q <= d else np.uint64(0)
    for more in range(1, min(left, q) + 1):
        if q - more <= d:
            found |= walk.counts[d, q - more, w] & rows.left[k, more, w]
    return np.uint64(found)


@kernel("boolean(int64[::1], CommitteeArchive, CommitteeWalk)")
def is_dominated(point: Longs, archive: CommitteeArchive, walk: CommitteeWalk) -> bool:
    """Whether a point of the archive is at least as good everywhere; it then comes earlier from now on."""
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
    """Whether points of the archive dominate all that the point that is looked at may stand for.

    Two values that cannot both be reached stand for the pairs that add up to what both can reach.
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
    """Put the point that is looked at into the archive, and drop what it dominates."""
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
    """Write the values of numbers of right rows of both classes into the point that is looked at."""
    for j in range(rows.gains.shape[0]):
        value = rows.gains[j, 0] * first + rows.gains[j, 1] * second
        walk.point[j] = -min(value, rows.caps[j])


@kernel("void(int64, int64, int64, CommitteeRows, CommitteeWalk)")
def count_by_plurality(d: int, left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Count the rows of each class that may be right, into the first line of the room."""
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
    """Whether what can still come of the first d members is worth a look; whole committees are kept."""
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
    """Go on with the search for a number of nodes, or until the archive is nearly full."""
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
