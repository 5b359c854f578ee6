"""One classifier per feature subset, fitted once, and its decisions on the validation rows as bits."""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist._threads import limited_threads
from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers, raised_threshold
from shortlist.multistage.subclassifiers._logistic import (
    Confidence,
    LabelledRows,
    decision_bits,
    write_probabilities,
)
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.logistic_fits import fit_parts, fit_subsets, prepared_rows
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.budget import of_a_part
from shortlist.runs.workers import Where
from shortlist.tables.splits import IN_NO_FOLD

DENSE_FEATURES = 18
"""Up to this many features every subset has a place of its own, found by its bit mask."""
BATCH = 512
"""Most subsets fitted in one unit of work."""
FEW_SUBSETS = 64
"""Up to this many subsets are fitted at once, without workers, if they are not more than a unit of work."""
WORK_OF_A_UNIT = 4 * 10**8
STOPPED = (
    "fitting subclassifiers was stopped before it was done, so there is no answer. Run it again, or "
    "allow more time."
)
LEAST_PLACES = 4096
"""A generation of the evolution needs a place for each of its subsets."""
MOST_BYTES = 4 * 10**9
"""Most memory that the coefficients of all subsets, or their decision bits, may take."""


class FoldPart(NamedTuple):
    """Rows that fit a classifier, ``(n_rows, n_columns)``, their classes, and which rows it validates."""

    rows: NDArray[np.float64]
    labels: NDArray[np.int64]
    validates: slice


@dataclass(frozen=True, eq=False)
class StageRows:
    """Encoded rows: those that fit the classifiers and the validation rows."""

    encoding: Encoding
    """Which columns belong to which feature."""
    fit_rows: NDArray[np.float64]
    """Encoded columns, ``(n_rows, n_columns)``."""
    fit_labels: NDArray[np.int64]
    """Class numbers, ``(n_rows,)``."""
    validation_rows: NDArray[np.float64]
    validation_labels: NDArray[np.int64]
    n_classes: int
    """Number of classes, at least 2."""
    fold_of: NDArray[np.int8] | None = None
    """Where the rows that fit validate as well, the fold of each, -1 for those in none: see
    :func:`rows_in_folds`. None: other rows validate.
    """

    @property
    def runs(self) -> list[slice]:
        """Which of the validation rows each classifier of a subset validates: all, or those of a fold."""
        folds = self.fold_of[self.fold_of >= 0] if self.fold_of is not None else 0 * self.validation_labels
        ends = np.cumsum(np.bincount(folds))
        return [slice(start, end) for start, end in itertools.pairwise([0, *ends.tolist()])]

    @property
    def parts(self) -> list[FoldPart]:
        """What fits each classifier of a subset that validates: all rows, or those of all folds but one."""
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
        """64-bit words that hold one bit per validation row."""
        return max(1, -(-len(self.validation_labels) // 64))


def rows_in_folds(
    encoding: Encoding,
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    fold_of: NDArray[np.int8],
    n_classes: int,
) -> StageRows:
    """Return rows that fit and validate: each is answered by a classifier fitted without its fold.

    The validation rows are in the order of the folds. A class whose rows are all in one fold is in none, so
    that every classifier knows all classes, and a fold without rows is none.
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
    """What fits a classifier per feature subset; `slots` are its names for subsets.

    Where `fits_are_quick`, thousands of subsets may be fitted. A call of a classifier asks at most
    `most_asked`, itself or its members, which have `member_costs` if these are given.
    """

    rows: StageRows
    places: "SubsetPlaces"
    n_fits: int
    budget: Budget
    fits_are_quick: bool = True
    most_asked: int = 1
    member_costs: Sequence[float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process has: it fits for itself, and reports no progress."""
        return {**vars(self), "n_jobs": 1, "budget": Budget()}

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slots of subsets, ``(n_subsets, n_features)``, fitting what is missing."""
        raise NotImplementedError

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write who is confident, and who is also right, into ``bits``, ``(slots, 2, words)``."""
        raise NotImplementedError

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many classifiers of each price a call asks, ``(n_slots, n_prices)``."""
        return np.ones((len(slots), 1), dtype=np.int64)

    def model(self, subset: Mask) -> Any:
        """Return what predicts for one subset, fitted on all rows that fit."""
        raise NotImplementedError

    def validating(self, slot: int) -> Sequence[Any]:
        """Return the models that validate for one slot, one for each part of the rows."""
        raise NotImplementedError

    def validation_probabilities(self, subset: Mask) -> NDArray[np.float64]:
        """Return the class probabilities of the validation rows, ``(n_validation_rows, n_classes)``.

        The very numbers behind the bits of the subset: out of fold those of classifiers that were not fitted
        on the row, and else those of :meth:`model`.
        """
        return validation_answers(self.rows, self.validating(int(self.slots(subset[None, :])[0])))

    def validation_least(self, subset: Mask, rule: RejectRule) -> NDArray[np.float64]:
        """Return the threshold that the rule raised for each validation row, ``(n_validation_rows,)``."""
        return validation_thresholds(self.rows, self.validating(int(self.slots(subset[None, :])[0])), rule)


def validation_answers(rows: StageRows, models: Sequence[Any]) -> NDArray[np.float64]:
    """Return the probabilities of the validation rows, each by the model of its part, with all classes."""
    runs = zip(models, rows.runs, strict=True)
    return np.concatenate([model.probabilities(rows.validation_rows[run]) for model, run in runs])


def validation_thresholds(rows: StageRows, models: Sequence[Any], rule: RejectRule) -> NDArray[np.float64]:
    """Return the threshold that the rule raised for each validation row, by the model of its part."""
    least = np.zeros(len(rows.validation_labels))
    if rule.risk is not None:
        for model, part in zip(models, rows.parts, strict=True):
            least[part.validates] = least_probability(model, part.rows, part.labels, rule)
    return least


def least_probability(
    model: Any, rows: NDArray[np.float64], labels: NDArray[np.int64], rule: RejectRule
) -> float:
    """Return the threshold that keeps accuracy on the rows that a model was fitted on."""
    return 0.0 if rule.risk is None else raised_threshold(model.probabilities(rows), labels, rule)


def bits_of_answers(
    probabilities: NDArray[np.float64], rows: StageRows, rule: RejectRule, least: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """Return who is confident, and who is also right, ``(2, n_words)``; `least` is for each row."""
    answers, confident = confident_answers(probabilities, rule, least)
    right = confident & (answers == rows.validation_labels)
    return pack(np.stack([confident, right]), rows.n_words)


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class LogisticModel:
    """The coefficients of one subset, ``(n_scores, n_columns + 1)``, intercept last.

    With them go the columns they use.
    """

    coefficients: NDArray[np.float64]
    columns: NDArray[np.int64]

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""
        n_scores = len(self.coefficients)
        probabilities = np.empty((len(rows), 2 if n_scores == 1 else n_scores))
        # kernels take only arrays that could be written
        rows, coefficients = (np.require(each, requirements=["C", "W"]) for each in (rows, self.coefficients))
        write_probabilities(rows, coefficients, np.require(self.columns, requirements=["W"]), probabilities)
        return probabilities


class SubsetPlaces:
    """Slots of feature subsets: by bit mask while few features are, in order of arrival otherwise."""

    def __init__(self, n_features: int, capacity: int, *, dense: bool | None = None) -> None:
        self.dense = n_features <= DENSE_FEATURES if dense is None else dense
        self.capacity = 1 << n_features if self.dense else capacity
        self.epoch = 0
        self._weights = 1 << np.arange(n_features, dtype=np.int64) if self.dense else None
        self._seen = np.zeros(self.capacity, dtype=bool)
        self._slots: dict[bytes, int] = {}

    def place(self, subsets: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a slot per subset, and the positions of subsets that are new, each once.

        When there is no room for all of them, every place is given up first.
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
        """Take back the places of subsets that could not be fitted, which are those that came last."""
        if self.dense:
            self._seen[slots] = False
        else:
            for _ in slots:
                self._slots.popitem()


class LogisticSubclassifiers(Subclassifiers):
    """ℓ2 logistic regressions, equal to scikit-learn's ``LogisticRegression(C=C)`` on the same columns.

    Needs 8·(n_columns + 1)·n_scores bytes per fitted subset, and per thread twice the fitted rows.

    `C`: inverse strength of the penalty. `scale`: penalise the coefficients of standardised columns, so that
    units do not matter; False: of the columns as they are. `n_jobs`: threads that fit, or the address of a
    Dask scheduler. `capacity`: most subsets kept at a time, where the number of features exceeds
    :data:`DENSE_FEATURES`. `dense`: whether every subset has a place of its own; default up to that number of
    features. `budget`: how long fits may take, which is looked at before every batch, and who is told. It may
    be replaced. `work_of_a_unit`: multiplications for the curvature of all fits of a unit of work, which
    takes a second or so between two looks at the clock.
    """

    def __init__(
        self,
        rows: StageRows,
        *,
        C: float = 1.0,
        scale: bool = True,
        n_jobs: Where = 1,
        capacity: int = 200_000,
        dense: bool | None = None,
        budget: Budget | None = None,
        work_of_a_unit: int = WORK_OF_A_UNIT,
    ) -> None:
        self.rows = rows
        self.n_jobs = n_jobs
        self.budget = budget or Budget()
        self.work_of_a_unit = work_of_a_unit
        n_scores = 1 if rows.n_classes == 2 else rows.n_classes
        parts = rows.parts
        room = MOST_BYTES // (8 * len(parts) * n_scores * (rows.fit_rows.shape[1] + 1) + 16 * rows.n_words)
        n_places = min(capacity, max(LEAST_PLACES, room))
        self.places = SubsetPlaces(rows.n_features, n_places, dense=dense)
        self.n_fits = 0
        self.n_scores = n_scores
        prepared = functools.partial(prepared_rows, rows.encoding, n_scores=n_scores, C=C, scale=scale)
        self._parts = [prepared(part.rows, part.labels) for part in parts]
        self._all = self._parts[0] if rows.fold_of is None else prepared(rows.fit_rows, rows.fit_labels)
        starts = np.array([0, *(part.validates.stop for part in parts)])
        transposed = np.ascontiguousarray(rows.validation_rows.T)
        self._validation = LabelledRows(rows.validation_rows, transposed, rows.validation_labels, starts)
        shape = (self.places.capacity, len(parts), self.n_scores, rows.fit_rows.shape[1] + 1)
        _check_memory(rows, math.prod(shape) * 8)
        self._coefficients = np.empty(shape)
        self._subsets = np.empty((self.places.capacity, rows.n_features), dtype=bool)

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``, fitting what is missing."""
        slots, new = self.places.place(subsets)
        done = 0
        try:
            done = self._fit(slots[new], subsets[new])
        finally:
            if done < len(new):
                self.places.forget(slots[new[done:]])
        if done < len(new):
            raise FitsStoppedError(STOPPED)
        return slots

    def _fit(self, slots: NDArray[np.int64], subsets: Mask) -> int:
        """Fit subsets in batches, in threads; return how many, which are the first ones."""
        self._subsets[slots] = subsets
        done = 0
        if self.budget.stopped:
            return done
        n_rows, n_columns = self.rows.fit_rows.shape
        work_of_one = len(self._parts) * n_rows * (n_columns + 1) ** 2 * self.n_scores
        most = max(1, min(BATCH, self.work_of_a_unit // work_of_one))
        if len(slots) <= min(most, FEW_SUBSETS):
            if len(slots):
                with limited_threads(1):
                    self._coefficients[slots] = fit_parts(self._parts, subsets)
                done = len(slots)
            self.n_fits += done * len(self._parts)
            return done
        size = max(1, min(most, -(-len(slots) // 4)))
        pieces = [slice(start, start + size) for start in range(0, len(slots), size)]
        units = [Unit(str(i), fit_parts, (self._parts, subsets[piece])) for i, piece in enumerate(pieces)]
        tell = of_a_part(self.budget.report)
        work = Work(self.n_jobs, report=tell, cancellation=self.budget.cancellation)
        with limited_threads(1), pooled_threads():
            for key, coefficients in run_units(units, work, stage="fitting subclassifiers"):
                piece = pieces[int(key)]
                if piece.start != done:  # a cancellation left out one before it
                    break
                self._coefficients[slots[piece]] = coefficients
                done += len(coefficients)
                if self.budget.expired:
                    break
        self.n_fits += done * len(self._parts)
        return done

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right."""
        columns = np.ascontiguousarray(self.rows.encoding.columns(self._subsets[slots]))
        capacity = self.places.capacity if rule.risk is not None else int(slots.max(initial=0)) + 1
        least = np.zeros((capacity, len(self._parts)))
        if rule.risk is not None:
            for slot in slots:
                least[slot] = validation_thresholds(self.rows, self.validating(slot), rule)[
                    self._validation.starts[:-1]
                ]
        confidence = Confidence(np.array(rule.thresholds), rule.scores)
        decision_bits(self._validation, self._coefficients, slots, columns, confidence, least, bits)

    def model(self, subset: Mask) -> LogisticModel:
        """Return what predicts for one subset; out of fold it is fitted now, which takes no budget."""
        if self.rows.fold_of is None:
            return self.validating(int(self.slots(subset[None, :])[0]))[0]
        with limited_threads(1):
            coefficients = fit_subsets(self._all, subset[None, :])[0]
        return LogisticModel(coefficients, np.flatnonzero(self.rows.encoding.columns(subset)))

    def validating(self, slot: int) -> list[LogisticModel]:
        """Return the models that validate for one slot, one for each part of the rows."""
        columns = np.flatnonzero(self.rows.encoding.columns(self._subsets[slot]))
        return [LogisticModel(own.copy(), columns) for own in self._coefficients[slot]]


def _check_memory(rows: StageRows, n_bytes: int) -> None:
    """Refuse what would not fit; the usual cause is an identifier taken for a category."""
    if n_bytes > MOST_BYTES:
        widest = max(rows.encoding.codes, key=lambda code: code.width)
        raise BadInputError(
            f"the classifiers of all feature subsets must fit into {MOST_BYTES / 1e9:g} GB, but need "
            f"{n_bytes / 1e9:.1f} GB: feature {widest.name!r} alone makes {widest.width} columns. Drop "
            "identifiers, or join rare values."
        )


def pooled_threads() -> Any:
    """Make joblib use threads: the kernels release the interpreter's lock."""
    from joblib import parallel_config

    return parallel_config(backend="threading")
