"""A bound on the worth of all margins from one line above each row's.

See :mod:`shortlist.ensembles.proofs.lines._kernels`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.proofs.lines import _kernels as kernels
from shortlist.ensembles.proofs.lines._kernels import FREE, IN, OUT
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows
from shortlist.runs.budget import Budget

Tilts = NDArray[np.int32]
"""How steep the line of each form is, ``(n_forms,)``, at least 0."""


@dataclass(frozen=True, eq=False)
class TreePart:
    """Selections of one size, with thresholds from `first` to `last`, and classifiers FREE, IN or OUT.

    Attributes
    ----------
    size, first, last : int
        Without a threshold both of the latter are 0.
    fixed : ndarray of uint8, shape (n_classifiers,)
    """

    size: int
    first: int
    last: int
    fixed: NDArray[np.uint8]

    @property
    def need(self) -> int:
        """How many free classifiers join."""
        return self.size - int((self.fixed == IN).sum())

    @property
    def n_free(self) -> int:
        """How many classifiers are free."""
        return int((self.fixed == FREE).sum())


def affordable(rows: SlopeRows) -> NDArray[np.uint8]:
    """Return which classifiers are FREE to begin with: those that the budget does not keep OUT."""
    fixed = np.full(rows.n_classifiers, FREE, dtype=np.uint8)
    if rows.limits.costs is not None:
        fixed[rows.limits.costs > rows.limits.budget] = OUT
    return fixed


class LineBounds:
    """Bounds of parts, in the memory of one thread."""

    def __init__(self, rows: SlopeRows, block_votes: int = 20_000_000) -> None:
        n_forms, n_classifiers = rows.forms.signs.shape
        n_rows = rows.forms.n_rows
        self._block = max(1, block_votes // max(1, rows.forms.signs.size))
        self.rows, self._lines = rows, rows.lines
        self._ranges = kernels.Ranges(
            base=np.empty(n_forms, dtype=np.int64),
            low=np.empty(n_rows, dtype=np.int64),
            high=np.empty(n_rows, dtype=np.int64),
            free=np.empty(n_classifiers, dtype=np.int64),
            plus=np.empty(n_forms, dtype=np.int64),
            minus=np.empty(n_forms, dtype=np.int64),
        )
        now, step, reached, tilts = np.empty((4, n_forms))
        order = np.empty(n_classifiers, dtype=np.int64)
        self._descent = kernels.Descent(
            now, step, reached, tilts, np.empty(n_classifiers), order, np.empty(kernels.IDLE + 1)
        )
        forms_of_row = np.bincount(rows.forms.row_of, minlength=n_rows)
        self._share = 1 / forms_of_row[rows.forms.row_of]

    def better_tilts(
        self,
        part: TreePart,
        start: Tilts | None,
        n_steps: int,
        budget: Budget,
        *,
        value: int | None = None,
    ) -> Tilts:
        """Return tilts that bound a part, after some subgradient steps (:cite:t:`Held1974`).

        The steps end as soon as the bound is at most `value`.

        Parameters
        ----------
        part : TreePart
            ``0 <= need <= n_free``.
        start : ndarray of int32, shape (n_forms,), or None
            Where to begin.
        n_steps : int
            Subgradient steps of O(n_forms · (n_classifiers + log n_classifiers)) time each.
        budget : Budget
            Its end ends the steps, after some at least.
        value : int, optional
            In the unit of :meth:`SlopeRows.rate`.
        """
        rows, table, descent = self.rows, self.rows.table[part.size], self._descent
        middle = len(table) // 2
        noted = self._note_ranges(part)
        usual = (table[middle + 1] - table[middle]) / 2
        descent.now[:] = usual * self._share if start is None else start
        descent.tilts[:] = descent.now
        descent.state[:] = np.inf, 1.0, 0.0
        rounding = int(rows.worth.sum()) * (part.size + 2)
        target = -1.0 if value is None else float(value - rows.constant - rounding)
        for done in range(0, n_steps, self._block):
            kernels.descend(self._lines, noted, descent, target, min(n_steps - done, self._block))
            if descent.state[kernels.BEST] <= target or budget.stopped:
                break
        return np.rint(descent.tilts).astype(np.int32)

    def by_tilts(self, part: TreePart, tilts: Tilts) -> tuple[int, NDArray[np.int64]]:
        """Return the bound of a part by these tilts, in integers, and what every classifier adds to it."""
        rows = self.rows
        noted = self._note_ranges(part)
        gains = np.empty(rows.n_classifiers, dtype=np.int64)
        fixed_part = kernels.bound_by(self._lines, noted, tilts, gains)
        largest = np.sort(gains[self._ranges.free[: noted.n_free]])[noted.n_free - part.need :]
        return rows.constant + int(fixed_part) + int(largest.sum()), gains

    def distances(self, part: TreePart) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least and the largest distance of every row, ``(n_rows,)``."""
        self._note_ranges(part)
        return self._ranges.low.copy(), self._ranges.high.copy()

    def _note_ranges(self, part: TreePart) -> kernels.LinePart:
        """Note the range of every row's distance."""
        size, first, last = part.size, part.first, part.last
        n_free = kernels.note_ranges(self._lines, self._ranges, part.fixed, size, first, last)
        return kernels.LinePart(self.rows.table[size], self._ranges, n_free, part.need, first, last)
