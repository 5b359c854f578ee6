"""Who is confident and who is right, as bits, for every feature subset that was asked for."""

import functools

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.subclassifiers.subclassifiers import (
    DENSE_FEATURES,
    MOST_BYTES,
    STOPPED,
    StageRows,
    Subclassifiers,
)

SUBSETS_AT_ONCE = 8192
"""Subsets whose rows are decided between two looks at the clock."""


class DecisionBits:
    """Decision bits of subsets under one rule, made when first asked for."""

    def __init__(self, subclassifiers: Subclassifiers, rule: RejectRule) -> None:
        self.subclassifiers = subclassifiers
        self.rule = rule
        self._epoch = subclassifiers.places.epoch
        self._ready = np.zeros(subclassifiers.places.capacity, dtype=bool)
        self.bits = np.zeros(
            (subclassifiers.places.capacity, 2, subclassifiers.rows.n_words), dtype=np.uint64
        )

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets, n_features)``, whose bits are then in `bits`."""
        slots = self.subclassifiers.slots(subsets)
        if self.subclassifiers.places.epoch != self._epoch:
            self._epoch = self.subclassifiers.places.epoch
            self._ready[:] = False
        wanted, first = np.unique(slots, return_index=True)
        first, wanted = first[~self._ready[wanted]], wanted[~self._ready[wanted]]
        for start in range(0, len(wanted), SUBSETS_AT_ONCE):
            if start and self.subclassifiers.budget.stopped:
                raise FitsStoppedError(STOPPED)
            piece = wanted[start : start + SUBSETS_AT_ONCE]
            self.subclassifiers.write_bits(piece, self.rule, self.bits)
            self._leave_out_rows_without_a_value(piece, subsets[first[start : start + SUBSETS_AT_ONCE]])
            self._ready[piece] = True
        return slots

    def _leave_out_rows_without_a_value(self, slots: NDArray[np.int64], subsets: Mask) -> None:
        if not self._gaps.any():
            return
        nothing = np.full((len(slots), self.subclassifiers.rows.n_words), ~np.uint64(0))
        for feature, gaps in enumerate(self._gaps):
            nothing[subsets[:, feature]] &= gaps
        self.bits[slots] &= ~nothing[:, None, :]

    @functools.cached_property
    def _gaps(self) -> NDArray[np.uint64]:
        """The validation rows in which each feature is a gap, as bits, ``(n_features, n_words)``."""
        rows = self.subclassifiers.rows
        gaps = rows.encoding.gaps(rows.validation_rows)
        return pack(gaps.T, rows.n_words)

    def every_subset(self) -> NDArray[np.uint64]:
        """Return the bits of every subset, indexed by bit mask, ``(2**n_features, 2, n_words)``.

        Row 0 is zero. Raises BadInputError if there are too many features, or their subsets would not fit
        into memory. Raises FitsStoppedError if the budget ends before all are fitted. Those that are stay
        fitted.
        """
        n = self.subclassifiers.rows.n_features
        if n > DENSE_FEATURES:
            raise BadInputError(
                f"enumeration needs all subsets, so at most {DENSE_FEATURES} features, got {n}. Use "
                "`method='windows'`."
            )
        n_bytes = bytes_of_every_subset(self.subclassifiers.rows)
        if n_bytes > MOST_BYTES:
            raise BadInputError(
                f"enumeration needs the decisions of all subsets within {MOST_BYTES / 1e9:g} "
                f"GB, but {n} features and {len(self.subclassifiers.rows.validation_labels)} rows to "
                f"validate on make {n_bytes / 1e9:.1f} GB. Validate on fewer rows, or use "
                "`method='windows'`."
            )
        self.slots(subset_masks(n))
        return self.bits


@functools.lru_cache(maxsize=2)
def subset_masks(n_features: int) -> Mask:
    """Return all non-empty feature subsets in the order of their bit masks, ``(2**n - 1, n)``."""
    numbers = np.arange(1, 1 << n_features)
    masks: Mask = (numbers[:, None] >> np.arange(n_features)) & 1 == 1
    masks.flags.writeable = False
    return masks


def bytes_of_every_subset(rows: StageRows) -> int:
    """Return the memory that an enumeration takes for the bits of each subset and two unions."""
    return 3 * 2 * 8 * rows.n_words << rows.n_features
