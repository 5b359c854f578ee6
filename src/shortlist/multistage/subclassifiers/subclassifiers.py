"""Classifiers of feature subsets, each fitted once, and their decisions on the validation rows as bits."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.runs import Budget, silent
from shortlist.tables.splits import IN_NO_FOLD

DENSE_FEATURES = 18
"""Largest number of features at which every subset has a slot of its own: its bit mask."""
STOPPED = (
    "fitting subclassifiers was stopped before it was done, so there is no answer. Run it again, or "
    "allow more time."
)
MOST_BYTES = 4 * 10**9
"""Most memory that the coefficients of all subsets, or their decision bits, may take."""


class FoldPart(NamedTuple):
    """Rows that fit a classifier, their classes, and the slice of the rows that the classifier validates.

    The rows are encoded, ``(n_rows, n_columns)``.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.int64]
    validates: slice


@dataclass(frozen=True, eq=False)
class StageRows:
    """Encoded rows that fit the classifiers, and encoded validation rows."""

    encoding: Encoding
    """Encoding of the features, with the columns of each."""
    fit_rows: NDArray[np.float64]
    """Encoded columns, ``(n_rows, n_columns)``."""
    fit_labels: NDArray[np.int64]
    """Class numbers, ``(n_rows,)``."""
    validation_rows: NDArray[np.float64]
    validation_labels: NDArray[np.int64]
    n_classes: int
    """Number of classes, at least 2."""
    fold_of: NDArray[np.int8] | None = None
    """Fold of each row if the rows that fit also validate, -1 outside all folds: see :func:`rows_in_folds`.
    None: other rows validate.
    """
    class_weights: tuple[float, ...] | None = None
    """Factors of the probabilities of the classes; None: 1 each."""

    @property
    def runs(self) -> list[slice]:
        """Return slices of the validation rows, one per classifier of a subset: all rows, or one per fold."""
        folds = self.fold_of[self.fold_of >= 0] if self.fold_of is not None else 0 * self.validation_labels
        ends = np.cumsum(np.bincount(folds))
        return [slice(start, end) for start, end in itertools.pairwise([0, *ends.tolist()])]

    @property
    def parts(self) -> list[FoldPart]:
        """Return the rows that fit each validating classifier of a subset: all rows, or all folds but one."""
        if self.fold_of is None:
            return [FoldPart(self.fit_rows, self.fit_labels, self.runs[0])]
        others = [self.fold_of != fold for fold in range(len(self.runs))]
        return [
            FoldPart(self.fit_rows[fit], self.fit_labels[fit], run)
            for fit, run in zip(others, self.runs, strict=True)
        ]

    @property
    def n_features(self) -> int:
        """Number of features that can be bought."""
        return len(self.encoding.codes)

    @property
    def n_words(self) -> int:
        """Number of 64-bit words that hold one bit per validation row."""
        return max(1, -(-len(self.validation_labels) // 64))


def rows_in_folds(
    encoding: Encoding,
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    fold_of: NDArray[np.int8],
    n_classes: int,
) -> StageRows:
    """Return rows that fit and validate: a classifier fitted without a row's fold answers the row.

    The validation rows are in the order of the folds. The rows of a class that lies in one fold only are left
    out of all folds, so that every classifier knows all classes. A fold without rows does not count.
    """
    alone = [label for label in np.unique(labels) if len(np.unique(fold_of[labels == label])) == 1]
    fold_of = np.where(np.isin(labels, alone), IN_NO_FOLD, fold_of).astype(np.int8)
    dealt = fold_of != IN_NO_FOLD
    fold_of[dealt] = np.unique(fold_of[dealt], return_inverse=True)[1]
    order = np.argsort(fold_of, kind="stable")
    dealt_rows = order[dealt[order]]
    if not len(dealt_rows):
        raise BadInputError(
            "some class needs 2 rows, one to fit and one to validate, got 1 of each. "
            "Add rows, or sample more."
        )
    return StageRows(encoding, rows, labels, rows[dealt_rows], labels[dealt_rows], n_classes, fold_of)


class Subclassifiers:
    """Classifiers fitted per feature subset; `slots` turns subsets into the indices of their classifiers.

    Where `fits_are_quick`, thousands of subsets may be fitted. A call of a classifier asks at most
    `most_asked` members; a single classifier counts as one member. Members may have `member_costs`.
    """

    rows: StageRows
    places: "SubsetPlaces"
    n_fits: int
    budget: Budget
    fits_are_quick: bool = True
    most_asked: int = 1
    member_costs: Sequence[float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy in another process.

        The copy fits in its own process and reports no progress.
        """
        return {**vars(self), "n_jobs": 1, "budget": Budget()}

    def serve(self, budget: Budget) -> None:
        """Set the budget of a search for the fits; quick fits do not report progress."""
        self.budget = replace(budget, report=silent) if self.fits_are_quick else budget

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slots of subsets, ``(n_subsets, n_features)``; missing subsets are fitted."""
        raise NotImplementedError

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write the masks of the confident and of the right rows into ``bits``, ``(slots, 2, words)``."""
        raise NotImplementedError

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of members of each price that a call asks, ``(n_slots, n_prices)``."""
        return np.ones((len(slots), 1), dtype=np.int64)

    def model(self, subset: Mask) -> Any:
        """Return the model that predicts for one subset, fitted on all rows that fit."""
        raise NotImplementedError

    def validating(self, slot: int) -> Sequence[Any]:
        """Return the models that validate for one slot, one for each part of the rows."""
        raise NotImplementedError

    def validation_probabilities(self, subset: Mask) -> NDArray[np.float64]:
        """Return the class probabilities of the validation rows, ``(n_validation_rows, n_classes)``.

        The subset's bits follow from the same numbers. Out of fold the classifier of a row was fitted without
        the row; otherwise :meth:`model` answers.
        """
        return validation_answers(self.rows, self.validating(int(self.slots(subset[None, :])[0])))


def validation_answers(rows: StageRows, models: Sequence[Any]) -> NDArray[np.float64]:
    """Return the class probabilities of the validation rows, ``(n_validation_rows, n_classes)``.

    The model of a row's part answers the row.
    """
    runs = zip(models, rows.runs, strict=True)
    return np.concatenate([model.probabilities(rows.validation_rows[run]) for model, run in runs])


def bits_of_answers(
    probabilities: NDArray[np.float64], rows: StageRows, rule: RejectRule
) -> NDArray[np.uint64]:
    """Return the masks of the confident and of the right rows, ``(2, n_words)``."""
    answers, confident = confident_answers(probabilities, rule)
    right = confident & (answers == rows.validation_labels)
    return pack(np.stack([confident, right]), rows.n_words)


class SubsetPlaces:
    """Slots of feature subsets: bit masks with few features, otherwise numbers in order of arrival."""

    def __init__(self, n_features: int, capacity: int, *, dense: bool | None = None) -> None:
        self.dense = n_features <= DENSE_FEATURES if dense is None else dense
        self.capacity = 1 << n_features if self.dense else capacity
        self.epoch = 0
        self._weights = 1 << np.arange(n_features, dtype=np.int64) if self.dense else None
        self._seen = np.zeros(self.capacity, dtype=bool)
        self._slots: dict[bytes, int] = {}

    def place(self, subsets: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a slot per subset, and the positions of subsets that are new, each once.

        If there is no room for all new subsets, all slots are freed first.
        """
        if self._weights is not None:
            slots = subsets @ self._weights
            fresh, first = np.unique(slots, return_index=True)
            new = first[~self._seen[fresh]]
            self._seen[slots[new]] = True
            return slots.astype(np.int64), new
        packed = np.packbits(subsets, axis=1)
        keys = [row.tobytes() for row in packed]
        if len(self._slots) + len(set(keys) - self._slots.keys()) > self.capacity:
            self._slots.clear()
            self.epoch += 1
        slots, arrivals = np.empty(len(keys), dtype=np.int64), []
        for position, key in enumerate(keys):
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = len(self._slots)
                arrivals.append(position)
            slots[position] = slot
        return slots, np.array(arrivals, dtype=np.int64)

    def forget(self, slots: NDArray[np.int64]) -> None:
        """Free the slots of the last subsets, which could not be fitted."""
        if self.dense:
            self._seen[slots] = False
        else:
            for _ in slots:
                self._slots.popitem()


SUBSETS_AT_ONCE = 8192
"""Number of subsets whose rows are decided between two checks of the clock."""


class DecisionBits:
    """Decision bits of subsets under one rule, computed when first needed.

    `last_rule`: rule of the last stage, if it differs; the bits under `last_rule` follow the bits under the
    rule.
    """

    def __init__(
        self, subclassifiers: Subclassifiers, rule: RejectRule, last_rule: RejectRule | None = None
    ) -> None:
        self.subclassifiers = subclassifiers
        self.rule, self.last_rule = rule, last_rule
        rules = [rule] if last_rule is None else [rule, last_rule]
        self._epoch = subclassifiers.places.epoch
        self._ready = np.zeros(subclassifiers.places.capacity, dtype=bool)
        self.bits = np.zeros(
            (subclassifiers.places.capacity, 2 * len(rules), subclassifiers.rows.n_words), dtype=np.uint64
        )

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``; `bits` then holds the bits of these slots."""
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
            if self.last_rule is None:
                self.subclassifiers.write_bits(piece, self.rule, self.bits)
            else:
                for place, rule in enumerate((self.rule, self.last_rule)):
                    own = np.zeros((int(piece.max()) + 1, 2, self.bits.shape[2]), dtype=np.uint64)
                    self.subclassifiers.write_bits(piece, rule, own)
                    self.bits[piece, 2 * place : 2 * place + 2] = own[piece]
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
        """Bit masks of the validation rows in which each feature is a gap, ``(n_features, n_words)``."""
        rows = self.subclassifiers.rows
        gaps = rows.encoding.gaps(rows.validation_rows)
        return pack(gaps.T, rows.n_words)

    def every_subset(self) -> NDArray[np.uint64]:
        """Return the bits of every subset, indexed by bit mask, ``(2**n_features, 2, n_words)``.

        Row 0 is zero. Raises BadInputError if there are too many features, or their subsets do not fit into
        memory. Raises FitsStoppedError if the budget ends before all subsets are fitted; the fitted subsets
        are kept.
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
    """Return the bytes of memory that an enumeration takes: bits of each subset, and two unions of bits."""
    return 3 * 2 * 8 * rows.n_words << rows.n_features


def pooled_threads() -> Any:
    """Return a context in which joblib uses threads: the kernels release the interpreter's lock."""
    from joblib import parallel_config

    return parallel_config(backend="threading")
