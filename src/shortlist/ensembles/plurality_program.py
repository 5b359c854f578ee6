"""The integer program of pruning by plurality votes: the paper's Eqs. 1 to 20 for any number of classes.

A row of true class c is right where, for every rival class d, the votes for c less those for d are at least δ: 1 where
d < c, since ties go to the lowest class, and 0 where d > c. There is no threshold. With two classes this is the paper's
program with L fixed to half the members, rounded down. None of the papers has it for more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Counts, Mask
from shortlist.ensembles import _plurality_kernels as kernels
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.plurality import ClassVotes, class_tally
from shortlist.ensembles.plurality_weights import ClassWeights, decide
from shortlist.ensembles.pruning_program import diversity_rows, member_pairs
from shortlist.ensembles.right_rows import pack
from shortlist.front import Objective
from shortlist.milp import LinearObjective, Program, make_program


@dataclass(frozen=True, eq=False)
class MarginRows:
    """What members must fulfil for rows to be right; build with :func:`margin_rows`.

    Attributes
    ----------
    decided : ndarray of int64, shape (n_decided,)
        Rows of the votes that some allowed selections are right on and others are not.
    gains : ndarray of int64, shape (n_decided,)
        What being right on them adds.
    fixed_gain : int
        What the rows add that every allowed selection is right on.
    places : ndarray of int64, shape (n_margins,)
        Place in `decided` that a margin belongs to.
    signs : ndarray of int8, shape (n_margins, n_classifiers)
        1 where a classifier votes for the true class, −1 where it votes for the rival.
    least : ndarray of int64, shape (n_margins,)
        δ: the row is right iff ``signs @ x >= least`` in all its margins.
    lowest : ndarray of int64, shape (n_margins,)
        Lowest ``signs @ x`` of any selection within the size limits; below `least`.
    """

    decided: NDArray[np.int64]
    gains: Counts
    fixed_gain: int
    places: NDArray[np.int64]
    signs: NDArray[np.int8]
    least: NDArray[np.int64]
    lowest: NDArray[np.int64]

    @property
    def most_gain(self) -> int:
        """Weighted sum that no selection can exceed: every row right that can be."""
        return self.fixed_gain + int(self.gains.sum())


@dataclass(frozen=True, eq=False)
class PluralityProgram:
    """A program to minimise, and where to find its parts.

    The columns are x_k (is classifier k a member), one t per decided row (is it right), and with diversity limits one
    y per pair (are both members). The cost of a solution plus `offset` is minus the weighted sum.
    """

    program: Program
    offset: int
    margins: MarginRows
    n_classifiers: int
    pairs: NDArray[np.int64]

    def members(self, values: NDArray[np.float64]) -> Mask:
        """Read the selection from a solution."""
        return np.asarray(values[: self.n_classifiers] > 0.5)

    def encode(self, votes: ClassVotes, mask: Mask) -> NDArray[np.float64]:
        """Write a selection as a solution, for a start."""
        right = (decide(votes, mask) == votes.labels)[self.margins.decided]
        both = mask[self.pairs[:, 0]] & mask[self.pairs[:, 1]]
        return np.concatenate([mask, right, both]).astype(np.float64)


def margin_rows(votes: ClassVotes, weights: ClassWeights, limits: SelectionLimits) -> MarginRows:
    """Return one row per decided row and rival that can win.

    Left out: rivals that win on no selection within the size limits; those without a voter, where another rival
    that wins ties as they do has one; rows that are right, or wrong, on every selection.

    Notes
    -----
    Takes O(n_rows · n_classes · n_classifiers) time, and as many bytes at most.
    """
    tally = class_tally(votes.codes, votes.n_classes).astype(np.int64)
    every = np.arange(len(votes.labels))
    own = tally[every, votes.labels]
    gains = weights.row_gains(votes)
    never = gains == 0
    wanted: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
    covered = np.zeros(len(every), dtype=bool)  # rows with a stronger lower rival than one without voters
    for rival in range(votes.n_classes):
        covered |= (rival < votes.labels) & (tally[:, rival] > 0)
    for rival in range(votes.n_classes):
        tied = rival < votes.labels
        lowest, highest = _extremes(own, tally[:, rival], votes.n_classifiers, limits)
        competes = (rival != votes.labels) & ~(covered & tied & (tally[:, rival] == 0))
        covered |= tied & competes  # one rival without voters says it for all of them
        never |= competes & (highest < tied)
        rows = np.flatnonzero(competes & (lowest < tied))
        wanted.append((rival, rows, lowest[rows]))
    open_rows = np.zeros(len(every), dtype=bool)
    for _, rows, _ in wanted:
        open_rows[rows] = True
    decided = np.flatnonzero(open_rows & ~never)
    place = np.full(len(every), -1, dtype=np.int64)
    place[decided] = np.arange(len(decided))
    places, signs, least, lows = [], [], [], []
    for rival, rows, lowest in wanted:
        kept = place[rows] >= 0
        here = rows[kept]
        places.append(place[here])
        signs.append(
            (votes.codes[here] == votes.labels[here, None]).astype(np.int8)
            - (votes.codes[here] == rival).astype(np.int8)
        )
        least.append((rival < votes.labels[here]).astype(np.int64))
        lows.append(lowest[kept])
    return MarginRows(
        decided=decided,
        gains=gains[decided],
        fixed_gain=int(gains[~open_rows & ~never].sum()),
        places=np.concatenate(places),
        signs=np.concatenate(signs),
        least=np.concatenate(least),
        lowest=np.concatenate(lows),
    )


def conflicting_rows(
    margins: MarginRows, limits: SelectionLimits, *, max_pairs: int = 200_000, max_tests: int = 10**9
) -> NDArray[np.int64]:
    """Return pairs of decided rows that no selection is right on together, ``(n_pairs, 2)``, places in `decided`.

    Take a margin of each, ``a·x >= δ`` and ``b·x >= ε``. Where no classifier has a positive sum of signs in a + b, their
    sum is at most 0 on every selection, so that both cannot hold if δ + ε is at least 1; nor if it is 0 but some
    member must have a negative sum, because fewer classifiers than `min_size` have none. With two classes these are the
    conflicts of the monotone vote (a positive row whose voters all vote so on a negative row too), and more, since the
    threshold is not free.

    Parameters
    ----------
    margins : MarginRows
        From :func:`margin_rows`.
    limits : SelectionLimits
        Of which the least size is used.
    max_pairs, max_tests : int
        Where to stop; margins of rows with large gains come first.

    Notes
    -----
    Compares all pairs of margins, 64 classifiers at a time; most end at the first word.
    """
    order = np.argsort(-margins.gains[margins.places], kind="stable")
    plus, minus = (pack((margins.signs[order] == sign).astype(np.uint8)) for sign in (1, -1))
    pairs = np.empty((max_pairs, 2), dtype=np.int64)
    n_pairs = kernels.find_conflicts(
        plus,
        minus,
        margins.least[order],
        margins.places[order],
        margins.signs.shape[1],
        limits.min_size,
        max_tests,
        pairs,
    )
    found = np.sort(pairs[:n_pairs], axis=1)
    return np.unique(found, axis=0)


def plurality_program(
    votes: ClassVotes,
    weights: ClassWeights,
    limits: SelectionLimits,
    *,
    sets: Sequence[NDArray[np.int64]] = (),
    margins: MarginRows | None = None,
) -> PluralityProgram:
    """Build the program: maximise the gains of right rows within the size, cost and diversity limits.

    Parameters
    ----------
    votes : ClassVotes
        Merged rows; identical rows share one column t with their total gain.
    weights : ClassWeights
        Gains of right decisions.
    limits : SelectionLimits
        Size, cost and diversity.
    sets : sequence of ndarray of int64
        Decided rows that cannot all be right; each becomes a row ``sum of t <= |R| - 1``. They follow from the integers
        of the program but not from its linear relaxation.
    margins : MarginRows, optional
        From :func:`margin_rows`, if already there.
    """
    margins = margin_rows(votes, weights, limits) if margins is None else margins
    n_classifiers, n_decided = votes.n_classifiers, len(margins.decided)
    pairs = member_pairs(n_classifiers) if limits.diversity is not None else np.empty((0, 2), dtype=np.int64)
    n_columns = n_classifiers + n_decided + len(pairs)
    blocks = [_right_rows(margins, n_columns), _limit_rows(limits, n_classifiers, n_columns)]
    if len(sets):
        blocks.append(_set_rows(sets, n_classifiers, n_columns))
    if limits.diversity is not None:
        blocks.append(diversity_rows(limits.diversity, pairs, limits.max_size, n_columns))
    rows, lower, upper = (list(part) for part in zip(*blocks, strict=True))
    costs = np.zeros(n_columns)
    costs[n_classifiers : n_classifiers + n_decided] = -margins.gains
    return PluralityProgram(
        program=make_program(
            sparse.vstack(rows),
            row_lower=np.concatenate(lower),
            row_upper=np.concatenate(upper),
            column_lower=0,
            column_upper=1,
            integer=True,
            objectives=[LinearObjective(Objective("minus weighted sum"), costs)],
        ),
        offset=-margins.fixed_gain,
        margins=margins,
        n_classifiers=n_classifiers,
        pairs=pairs,
    )


_Rows = tuple[sparse.csr_array, NDArray[np.float64], NDArray[np.float64]]


def _extremes(
    own: NDArray[np.int64], rival: NDArray[np.int64], n_classifiers: int, limits: SelectionLimits
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and the highest margin of any selection within the size limits, from the voters of both."""
    most, forced = limits.max_size, limits.min_size - n_classifiers
    lowest = np.maximum(0, forced + own) - np.minimum(rival, most)
    highest = np.minimum(own, most) - np.maximum(0, forced + rival)
    return lowest, highest


def _right_rows(margins: MarginRows, n_columns: int) -> _Rows:
    """Return ``signs·x − (δ − lowest)·t >= lowest``: t = 1 asks for the margin, t = 0 for nothing."""
    n_classifiers = margins.signs.shape[1]
    signs = sparse.csr_array(margins.signs.astype(np.float64))
    n_margins = len(margins.places)
    right = sparse.csr_array(
        (
            (margins.lowest - margins.least).astype(np.float64),
            (np.arange(n_margins), margins.places),
        ),
        shape=(n_margins, n_columns - n_classifiers),
    )
    return (
        sparse.csr_array(sparse.hstack([signs, right])),
        margins.lowest.astype(np.float64),
        np.full(n_margins, np.inf),
    )


def _limit_rows(limits: SelectionLimits, n_classifiers: int, n_columns: int) -> _Rows:
    """Return the sizes and the budget."""
    coefficients, lower, upper = [np.ones(n_classifiers)], [limits.min_size], [limits.max_size]
    if limits.costs is not None:
        coefficients.append(limits.costs.astype(np.float64))
        lower.append(0)
        upper.append(limits.budget)
    rows = np.zeros((len(coefficients), n_columns))
    rows[:, :n_classifiers] = coefficients
    return sparse.csr_array(rows), np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)


def _set_rows(sets: Sequence[NDArray[np.int64]], first: int, n_columns: int) -> _Rows:
    """Return ``sum of t <= |R| - 1`` for each set of decided rows, whose columns begin at `first`."""
    sizes = np.array([len(rows) for rows in sets])
    columns = np.concatenate(sets) + first
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), n_columns))
    return rows, np.full(len(sets), -np.inf), sizes - 1.0
