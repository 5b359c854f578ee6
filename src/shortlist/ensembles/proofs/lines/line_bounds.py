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


@dataclass(frozen=True, eq=False)
class Part:
    """Selections of one size, with thresholds from `first` to `last`, and classifiers FREE, IN or OUT.

    Attributes
    ----------
    size, first, last : int
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
        self._block = max(1, block_votes // max(1, rows.votes.size))
        n_rows, n_classifiers = rows.votes.shape
        self.rows = rows
        self._line_rows = kernels.LineRows(rows.votes, rows.columns, rows.side, rows.worth)
        self._ranges = np.empty((3, n_rows), dtype=np.int64)
        self._free, self._order = np.empty((2, n_classifiers), dtype=np.int64)
        self._floats = np.empty((3, n_rows))
        self._best = np.empty(n_rows)
        self._float_gains = np.empty(n_classifiers)

    def better_tilts(
        self,
        part: Part,
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
        part : Part
            ``0 <= need <= n_free``.
        start : ndarray of int32, shape (n_rows,), or None
            Where to begin.
        n_steps : int
            Subgradient steps of O(n_rows · (n_classifiers + log n_classifiers)) time each.
        budget : Budget
            Its end ends the steps, after some at least.
        value : int, optional
            In the unit of :meth:`SlopeRows.best_threshold`.
        """
        rows, table = self.rows, self.rows.table[part.size]
        middle = len(table) // 2
        line_part = self._noted(part)
        self._floats[kernels.NOW] = (table[middle + 1] - table[middle]) / 2 if start is None else start
        self._best[:] = self._floats[kernels.NOW]
        state = np.array([np.inf, 1.0, 0.0])
        rounding = int(rows.worth.sum()) * (part.size + 2)
        target = -1.0 if value is None else float(value - rows.constant - rounding)
        descent = kernels.Descent(self._best, self._floats, self._float_gains, self._order, state)
        for done in range(0, n_steps, self._block):
            n_now = min(n_steps - done, self._block)
            kernels.descend(n_now, target, self._line_rows, line_part, descent)
            if state[kernels.BEST] <= target or budget.stopped:
                break
        return np.rint(self._best).astype(np.int32)

    def by_tilts(self, part: Part, tilts: Tilts) -> tuple[int, NDArray[np.int64]]:
        """Return the bound of a part by these tilts, in integers, and what every classifier adds to it."""
        rows = self.rows
        line_part = self._noted(part)
        gains = np.empty(rows.n_classifiers, dtype=np.int64)
        fixed_part = kernels.bound_by(self._line_rows, line_part, tilts, gains)
        n_free = line_part.n_free
        largest = np.sort(gains[self._free[:n_free]])[n_free - part.need :]
        return rows.constant + int(fixed_part) + int(largest.sum()), gains

    def _noted(self, part: Part) -> kernels.LinePart:
        """Note the range of every row's distance and the free classifiers of a part."""
        n_free = kernels.note_ranges(
            self._line_rows, part.fixed, part.size, part.first, part.last, self._ranges, self._free
        )
        table = self.rows.table[part.size]
        return kernels.LinePart(table, self._ranges, self._free, n_free, part.need, part.first, part.last)
