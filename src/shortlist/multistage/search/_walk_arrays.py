"""What walks through all stage assignments read and write, as kernels take it."""

from typing import Annotated, NamedTuple

from shortlist._bits import Words, WordTable
from shortlist._jit import kernel
from shortlist.arrays import FlagTable, Longs, LongTable, Records, record_type

PLACE = record_type("depth", "first", "looked")
"""Where a walk is: its depth, 0 before a first set; the place of that set; how many chains were looked at."""


class Space(NamedTuple):
    """Everything about feature subsets that a walk needs, indexed by bit mask."""

    bits: Annotated[Words, 3]
    """Rows that a subset is confident about, and those that it is right about too."""
    reach: Annotated[Words, 3]
    """The same of all its supersets together."""
    prices: Longs
    """What a row pays for the features."""
    least_steps: Longs
    """The least price of going on."""
    call_prices: Longs
    """What a call of the classifier costs."""
    least_calls: Longs
    """The least that a call costs of any classifier with more features."""
    bought: FlagTable
    """What is there that takes something of an attribute."""
    amounts: LongTable
    """How much of each attribute that takes, ``(n_bought, n_attributes)``; not indexed by bit mask."""
    least_taken: LongTable
    """The least of each attribute that going on takes."""


class Blocks(NamedTuple):
    """Assignments that tie, written down as the chains that they begin with."""

    rows: LongTable
    """Of each block the sets of its chain, how many there are, how many assignments begin so, and their place
    in the table or archive; no row where blocks are not wanted.
    """
    n_found: Longs
    """How many blocks there are, ``(1,)``; those beyond the rows are counted only."""


class ArchivePath(NamedTuple):
    """The nodes from the root to the current one, by depth."""

    chain: Longs
    """The features of each node."""
    added: Longs
    """Those that it adds to the one before."""
    waiting: WordTable
    """The rows that wait after it; at first all."""
    measures: LongTable
    """What it comes to."""
    at: Annotated[Records, PLACE]
    """Where the walk is, one record."""


@kernel("int64(int64, int64, int64, Space)")
def taken(attribute: int, before: int, mask: int, space: Space) -> int:
    """Return what the stage from one set to another takes of an attribute: the largest of all that is new."""
    largest = 0
    for one in range(space.amounts.shape[0]):
        if space.bought[mask, one] and not space.bought[before, one]:
            largest = max(largest, space.amounts[one, attribute])
    return largest


@kernel("void(int64[::1], int64, int64, int64, Blocks)")
def write_block(chain: Longs, depth: int, count: int, place: int, blocks: Blocks) -> None:
    """Write down the first `depth` sets of a chain with which `count` assignments begin."""
    found = blocks.n_found[0]
    if found < len(blocks.rows):
        for d in range(depth):
            blocks.rows[found, d] = chain[d + 1]
        width = blocks.rows.shape[1]
        blocks.rows[found, width - 3] = depth
        blocks.rows[found, width - 2] = count
        blocks.rows[found, width - 1] = place
    blocks.n_found[0] += 1


@kernel("int64(int64[::1], int64[::1], int64, int64)")
def next_node(chain: Longs, added: Longs, full: int, depth: int) -> int:
    """Return the depth of the next node: smaller additions at this depth, then back; 0 after the last.

    The first set of a chain is not changed here, so that a walk from it ends at depth 1.
    """
    while depth > 1:
        added[depth] = (added[depth] - 1) & (full & ~chain[depth - 1])
        if added[depth]:
            return depth
        depth -= 1
    return 0
