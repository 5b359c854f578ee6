"""What the search for selections reads and writes, as its kernels take it.

Everything that a walk depends on is in these arrays, so that cutting a walk into blocks changes nothing.
"""

from typing import Annotated, NamedTuple

from shortlist._random import State
from shortlist.arrays import Bytes, ByteTable, Longs, LongTable, Records, ShortTable, record_type

NONE = -1
WORST = -(2**62)
PART = 1000
"""Limits are missed in thousandths of a member's failure credit or of a mean cost."""

OPTIONS = record_type(
    "min_size",
    "max_size",
    "budget",
    "cost_unit",
    "each_credit",
    "mean_credit",
    "slack",
    "has_costs",
    "has_credit",
    "n_tried",
    "n_swaps",
    "tenure",
    "patience",
)
"""What a selection must keep, and how walks go."""
HERE = record_type(
    "n_members",
    "threshold",
    "cost",
    "credit",
    "missed",
    "total",
    "step",
    "stalled",
    "penalty",
    "known",
    "best_total",
    "best_threshold",
    "run_known",
    "run_total",
    "streak",
)
"""The current selection, the walk, the best selection within limits, and the best of this run."""
CHOICE = record_type("pick", "score")
"""A classifier to flip, and what it is compared by."""


class SearchRows(NamedTuple):
    """Rows, and what being right on them is worth."""

    votes: ByteTable
    """Votes of 0 and 1, or classes voted for, ``(n_rows, n_classifiers)``."""
    columns: ByteTable
    """The same transposed."""
    labels: Bytes
    """True classes, where the class with most votes wins; nothing where a threshold is chosen."""
    gains: Longs
    """What a row adds when it is decided positive, or right by most votes, ``(n_rows,)``."""


class SearchLimits(NamedTuple):
    """What a selection must keep, and how walks go."""

    options: Annotated[Records, OPTIONS]
    """One record."""
    costs: Longs
    """Cost of each classifier."""
    credit: LongTable
    """Failure credit of every pair."""


class SearchWalk(NamedTuple):
    """Where a walk is."""

    member: Bytes
    """1 for a member, ``(n_classifiers,)``."""
    tally: ShortTable
    """Positive votes of the members, ``(1, n_rows)``, or votes for each class, ``(n_rows, n_classes)``."""
    levels: LongTable
    """With a threshold the gains above 0, and minus those below 0, of the rows by tally."""
    leads: Longs
    """By most votes the lead of each row: right iff it is at least 0."""
    sums: Longs
    """Failure credit of each classifier with the members."""
    tabu: Longs
    """The step until which each classifier stays put."""
    here: Annotated[Records, HERE]
    """One record."""
    draws: State
    """The generator."""
    best: ByteTable
    """The best members so far, and those of this run, ``(2, n_classifiers)``."""


class SearchRoom(NamedTuple):
    """Room to rate flips."""

    near: LongTable
    """Gains by tally near the threshold and classifier, or by joining or leaving and class."""
    ratings: LongTable
    """Of each classifier: what its addition is compared by and at which threshold, the same of its removal,
    and a score of those that may move, ``(5, n_classifiers)``.
    """
    choices: Annotated[Records, CHOICE]
    """The best flip, and the best with a swap."""
