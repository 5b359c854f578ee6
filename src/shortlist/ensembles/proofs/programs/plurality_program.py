"""The integer program of pruning by plurality votes: the paper's Eqs. 1 to 20 for any number of classes.

A row of true class c is right where, for every rival class d, the votes for c less those for d are at least
δ: 1 where d < c, since ties go to the lowest class, and 0 where d > c. There is no threshold. With two
classes this is the paper's program with L fixed to half the members, rounded down. None of the papers has it
for more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.cuts.cuts import Cut
from shortlist.ensembles.proofs.programs.pruning_program import diversity_rows, member_pairs
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp import LinearObjective, Program, make_program
from shortlist.results.objective import Objective


@dataclass(frozen=True, eq=False)
class PluralityProgram:
    """A program to minimise, and where to find its parts.

    The columns are x_k (is classifier k a member), one t per row (is it right), and with diversity limits one
    y per pair (are both members). The cost of a solution is minus the gain of the rows.
    """

    program: Program
    rows: RightRows
    n_classifiers: int
    pairs: NDArray[np.int64]

    def members(self, values: NDArray[np.float64]) -> Mask:
        """Read the selection from a solution."""
        return np.asarray(values[: self.n_classifiers] > 0.5)

    def encode(self, mask: Mask) -> NDArray[np.float64]:
        """Write a selection as a solution, for a start."""
        right = self.rows.right(mask)
        both = mask[self.pairs[:, 0]] & mask[self.pairs[:, 1]]
        return np.concatenate([mask, right, both]).astype(np.float64)


def plurality_program(rows: RightRows, cuts: Sequence[Cut] = ()) -> PluralityProgram:
    """Build the program: maximise the gains of right rows within the size, cost and diversity limits.

    Parameters
    ----------
    rows : RightRows
        Of several classes, with the limits.
    cuts : sequence of Cut
        Each becomes a row ``sum of t <= |R| - 1``. They follow from the integers of the program but not from
        its linear relaxation.
    """
    limits, n_classifiers = rows.limits, rows.n_classifiers
    pairs = member_pairs(n_classifiers) if limits.diversity is not None else np.empty((0, 2), dtype=np.int64)
    n_columns = n_classifiers + rows.n_rows + len(pairs)
    blocks = [_right_rows(rows, n_columns), _limit_rows(limits, n_classifiers, n_columns)]
    if len(cuts):
        blocks.append(_cut_rows(cuts, n_classifiers, n_columns))
    if limits.diversity is not None:
        blocks.append(diversity_rows(limits.diversity, pairs, limits.max_size, n_columns))
    parts, lower, upper = (list(part) for part in zip(*blocks, strict=True))
    costs = np.zeros(n_columns)
    costs[n_classifiers : n_classifiers + rows.n_rows] = -rows.gains
    return PluralityProgram(
        program=make_program(
            sparse.vstack(parts),
            row_lower=np.concatenate(lower),
            row_upper=np.concatenate(upper),
            column_lower=0,
            column_upper=1,
            integer=True,
            objectives=[LinearObjective(Objective("minus gain"), costs)],
        ),
        rows=rows,
        n_classifiers=n_classifiers,
        pairs=pairs,
    )


_Rows = tuple[sparse.csr_array, NDArray[np.float64], NDArray[np.float64]]


def _right_rows(rows: RightRows, n_columns: int) -> _Rows:
    """Return ``signs·x − (least − lowest)·t >= lowest`` , which t = 1 asks for and t = 0 not."""
    limits, n_classifiers = rows.limits, rows.n_classifiers
    own, rival = ((rows.signs == sign).sum(axis=1, dtype=np.int64) for sign in (1, -1))
    lowest = np.maximum(0, limits.min_size - n_classifiers + own) - np.minimum(rival, limits.max_size)
    signs = sparse.csr_array(rows.signs.astype(np.float64))
    right = sparse.csr_array(
        ((lowest - rows.least).astype(np.float64), (np.arange(rows.n_forms), rows.row_of)),
        shape=(rows.n_forms, n_columns - n_classifiers),
    )
    return (
        sparse.csr_array(sparse.hstack([signs, right])),
        lowest.astype(np.float64),
        np.full(rows.n_forms, np.inf),
    )


def _limit_rows(limits: SelectionLimits, n_classifiers: int, n_columns: int) -> _Rows:
    coefficients, lower, upper = [np.ones(n_classifiers)], [limits.min_size], [limits.max_size]
    if limits.costs is not None:
        coefficients.append(limits.costs.astype(np.float64))
        lower.append(0)
        upper.append(limits.budget)
    rows = np.zeros((len(coefficients), n_columns))
    rows[:, :n_classifiers] = coefficients
    return sparse.csr_array(rows), np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)


def _cut_rows(cuts: Sequence[Cut], first: int, n_columns: int) -> _Rows:
    """Return ``sum of t <= |R| - 1`` for each cut R; the columns of the rows begin at `first`."""
    sizes = np.array([len(cut.rows) for cut in cuts])
    columns = np.concatenate([np.array(cut.rows) for cut in cuts]) + first
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(cuts), n_columns))
    return rows, np.full(len(cuts), -np.inf), sizes - 1.0
