"""State of a full search of committees: votes of the members so far, and the non-dominated points."""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import WordBlock, Words, WordTable
from shortlist._jit import kernel
from shortlist.arrays import ByteTable, LongBlock, Longs, LongTable, Records, Whole, record_type

HERE = record_type("n_members", "depth", "nodes", "done", "n_points", "has_threshold", "stale")
"""Members of a committee, members chosen now, nodes so far, whether the walk is over, points in the archive,
whether a threshold decides, and whether what is known of last members but one is of an earlier place or
archive.
"""

NEWS = record_type("n_open", "beaten")
"""Number of open thresholds, and the value up to which points are dominated."""


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
    pivotal: WordBlock
    """Rows that a member decides with each threshold, for the last one and the one before,
    ``(2, most + 1, n_words)``.
    """
    sure: LongBlock
    """Rows of both classes that may be right without that member, ``(2, most + 1, 2)``."""
    open: LongTable
    """Thresholds with which something undominated may come of that member, ``(2, most + 1)``."""
    news: Annotated[Records, NEWS]
    """Two records: of the last member, and of the one before."""
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
