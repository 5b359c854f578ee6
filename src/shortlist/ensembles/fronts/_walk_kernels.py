"""Kernels of a full search of all committees of one size that keeps those which no other dominates.

Rows are bits. A committee is built up member by member, and for every row it is known whether at least q
members are right on it, for each q: one word per 64 rows and q. Adding a member takes one pass over these
words, and counting the right rows of a class takes one instruction for each.

Two classes with a threshold and several with a plurality share the walk. With a threshold L a row of the
positive class is right where at least L + 1 members are, and one of the negative class where at least as many
as there are beside L are. By plurality it is right where it has a vote, and no rival has more, or as many
and comes first.
"""

import numpy as np

from shortlist._bits import popcount
from shortlist._jit import kernel
from shortlist.arrays import Whole
from shortlist.ensembles.fronts._state_kernels import (
    CommitteeArchive,
    CommitteeRows,
    CommitteeWalk,
    add_member,
    in_reach,
    is_covered,
    keep_point,
)


@kernel("void(int64, int64, CommitteeRows, CommitteeWalk)")
def write_totals(first: Whole, second: Whole, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Write the values of numbers of right rows of both classes into the point that is looked at."""
    for j in range(rows.gains.shape[0]):
        value = rows.gains[j, 0] * first + rows.gains[j, 1] * second
        walk.point[j] = -min(value, rows.caps[j])


@kernel("boolean(int64, int64, int64, CommitteeRows, CommitteeWalk)")
def write_prices(left: int, k: int, first: Whole, rows: CommitteeRows, walk: CommitteeWalk) -> bool:
    """Write the least that a committee with k, unless it is below 0, costs; whether budgets allow it."""
    n_values, d = rows.gains.shape[0], walk.here[0].depth
    for j in range(rows.prices.shape[0]):
        price = walk.spent[d, j]
        price += rows.least[j, first, left + 1] if k < 0 else rows.prices[j, k] + rows.least[j, first, left]
        walk.point[n_values + j] = price
        if price > rows.budgets[j]:
            return False
    return True


@kernel("void(int64, int64, CommitteeRows, CommitteeWalk)")
def find_pivotal(left: int, first: Whole, rows: CommitteeRows, walk: CommitteeWalk) -> None:
    """Find the rows that a member from the first one on decides, and count those that do not need it.

    The last member is looked at with the thresholds alone that were open for the one before.
    """
    size, d = walk.here[0].n_members, walk.here[0].depth
    counts, n_thresholds = walk.counts[d], size + 1 if left else walk.news[1].n_open
    for place in range(n_thresholds):
        threshold = place if left else walk.open[1, place]
        for c in range(2):
            needed, sure = size - threshold if c == 0 else threshold + 1, np.int64(0)
            reached = np.int64(0)
            for w in range(rows.starts[c], rows.starts[c + 1]):
                if left:
                    without = in_reach(needed, w, d, left, first, rows, walk)
                    decided = in_reach(needed - 1, w, d, left, first, rows, walk)
                else:
                    without = counts[needed, w]
                    decided = counts[max(0, needed - 1), w]
                decided &= rows.left[first, 1, w] & ~without
                walk.pivotal[left, threshold, w] = decided
                sure += popcount(without)
                reached += popcount(decided)
            walk.sure[left, threshold, c] = sure
            walk.room[threshold, c] = sure + reached


@kernel("int64(CommitteeWalk, CommitteeArchive)")
def beaten_value(walk: CommitteeWalk, archive: CommitteeArchive) -> np.int64:
    """Return the largest value that a point of the archive has at no more than the prices looked at."""
    beaten = np.int64(-1)
    for i in range(walk.here[0].n_points):
        if -archive.points[i, 0] > beaten:
            dearer = False
            for j in range(1, archive.points.shape[1]):
                if archive.points[i, j] > walk.point[j]:
                    dearer = True
                    break
            if not dearer:
                beaten = -archive.points[i, 0]
    return beaten


@kernel("void(int64, int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def find_open(
    left: int, first: Whole, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive
) -> None:
    """List the thresholds with which something undominated may come of a member from the first one on.

    What does not depend on the member to be tried next is looked at, so that a search that resumes inside
    finds the same thresholds open.
    """
    n_values, news = rows.gains.shape[0], walk.news[left]
    news.n_open, news.beaten = 0, -1
    if not write_prices(left, -1, first, rows, walk):
        return
    if n_values == 1:
        news.beaten = beaten_value(walk, archive)
    for place in range(walk.here[0].n_members + 1 if left else walk.news[1].n_open):
        threshold = place if left else walk.open[1, place]
        write_totals(walk.room[threshold, 0], walk.room[threshold, 1], rows, walk)
        covered = -walk.point[0] <= news.beaten if n_values == 1 else is_covered(rows, walk, archive)
        if not covered:
            walk.open[left, news.n_open] = threshold
            news.n_open += 1


@kernel("int64(int64, int64, int64, int64, CommitteeRows, CommitteeWalk)")
def rows_with(
    left: int, threshold: Whole, c: int, k: int, rows: CommitteeRows, walk: CommitteeWalk
) -> np.int64:
    """Count the rows of a class that may be right with a member."""
    total = walk.sure[left, threshold, c]
    for w in range(rows.starts[c], rows.starts[c + 1]):
        total += popcount(walk.pivotal[left, threshold, w] & rows.right[k, w])
    return np.int64(total)


@kernel("int64(int64, int64, CommitteeRows, CommitteeWalk)")
def next_promising(left: int, n_tried: int, rows: CommitteeRows, walk: CommitteeWalk) -> np.int64:
    """Return the next member, with whom the only value may be larger than is beaten.

    If there is none, the one after the last of them is returned.
    """
    right, starts, open_here, sure = rows.right, rows.starts, walk.open[left], walk.sure[left]
    pivotal, n_open, beaten = walk.pivotal[left], walk.news[left].n_open, walk.news[left].beaten
    first_gain, second_gain = rows.gains[0, 0], rows.gains[0, 1]
    begin = walk.chosen[walk.here[0].depth]
    for k in range(begin, begin + n_tried):
        for place in range(n_open):
            threshold = open_here[place]
            first_rows, second_rows = sure[threshold, 0], sure[threshold, 1]
            for w in range(starts[1]):
                first_rows += popcount(pivotal[threshold, w] & right[k, w])
            for w in range(starts[1], starts[2]):
                second_rows += popcount(pivotal[threshold, w] & right[k, w])
            if first_gain * first_rows + second_gain * second_rows > beaten:
                return np.int64(k)
    return np.int64(begin + n_tried)


@kernel("boolean(int64, int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def try_member(
    left: int, k: int, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive
) -> bool:
    """Whether something undominated may come of a member; with the last one it is kept.

    Every open threshold is tried. Of one value the best is the only one that matters; of equals that nearest
    to the middle.
    """
    if not write_prices(left, k, k + 1, rows, walk):
        return False
    n_values, size, found = rows.gains.shape[0], walk.here[0].n_members, False
    best, least = np.int64(-1), np.int64(1)
    for place in range(walk.news[left].n_open):
        threshold = walk.open[left, place]
        first_rows = rows_with(left, threshold, 0, k, rows, walk)
        write_totals(first_rows, rows_with(left, threshold, 1, k, rows, walk), rows, walk)
        if n_values == 1:
            nearer = abs(2 * threshold - size) < abs(2 * best - size)
            if walk.point[0] < least or (walk.point[0] == least and nearer):
                best, least = threshold, walk.point[0]
        elif not is_covered(rows, walk, archive):
            found = True
            if left:
                break
            keep_point(threshold, walk, archive)
    if n_values == 1:
        walk.point[0] = least
        found = not is_covered(rows, walk, archive)
        if found and not left:
            keep_point(best, walk, archive)
    return found


@kernel("boolean(int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def pass_by(end: Whole, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive) -> bool:
    """Pass by last members but one that lead to nothing, up to a number of nodes.

    Return whether there is no member to go on with.
    """
    chosen, here, news = walk.chosen, walk.here[0], walk.news
    n, d = rows.right.shape[0] - 1, here.depth
    if here.stale:
        first = chosen[d - 1] + 1 if d > 0 else np.int64(0)
        find_pivotal(1, first, rows, walk)
        find_open(1, first, rows, walk, archive)
        here.stale = 0
    if not news[1].n_open:
        chosen[d] = n
        return True
    while chosen[d] < n and here.nodes < end:
        if rows.gains.shape[0] == 1:
            k = next_promising(1, min(n - chosen[d], end - here.nodes), rows, walk)
            here.nodes += k - chosen[d]
            chosen[d] = k
            return bool(k == n or here.nodes == end)
        if try_member(1, chosen[d], rows, walk, archive):
            return False
        here.nodes += 1
        chosen[d] += 1
    return True


@kernel("boolean(int64, CommitteeRows, CommitteeWalk, CommitteeArchive)")
def try_last(end: Whole, rows: CommitteeRows, walk: CommitteeWalk, archive: CommitteeArchive) -> bool:
    """Try the last members from the next one on, up to `n` nodes; whether all that matter were tried."""
    chosen, here, news = walk.chosen, walk.here[0], walk.news
    n, d = rows.right.shape[0], here.depth
    first = chosen[d - 1] + 1 if d > 0 else np.int64(0)
    find_pivotal(0, first, rows, walk)
    find_open(0, first, rows, walk, archive)
    while news[0].n_open and chosen[d] < n:
        if here.nodes >= end or here.n_points + here.n_members + 1 >= len(archive.order):
            return False
        if rows.gains.shape[0] == 1:
            k = next_promising(0, min(n - chosen[d], end - here.nodes), rows, walk)
            here.nodes += k - chosen[d]
            chosen[d] = k
            if k == n or here.nodes == end:
                continue
        here.nodes += 1
        if try_member(0, chosen[d], rows, walk, archive):
            find_open(0, first, rows, walk, archive)
            here.stale = 1
        chosen[d] += 1
    return True


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
    """Go on with the search for a number of nodes, or until the archive is nearly full."""
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
