"""One classifier per feature subset, fitted once, and what its decisions are on the validation rows as bits."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage._logistic import decision_bits, fit_binary, sums
from shortlist.multistage.encoding import Encoding
from shortlist.runs import Cancellation, Report, Unit, run_units, silent

DENSE_FEATURES = 18
"""Up to this many features every subset has a place of its own, found by its bit mask."""
BATCH = 512
"""Subsets fitted in one unit of work."""
SMALL = 64
"""Up to this many subsets are fitted at once, without workers."""
STOPPED = "fitting subclassifiers was stopped before it was done, so there is no answer. Run it again, or allow more time."
LEAST_PLACES = 4096
"""A generation of the evolution needs a place for each of its subsets."""
MOST_BYTES = 4 * 10**9
"""Most memory that the coefficients of all subsets, or their decision bits, may take."""


@dataclass(frozen=True, eq=False)
class StageRows:
    """Encoded rows: those that fit the classifiers and those that judge them.

    Attributes
    ----------
    encoding : Encoding
        Which columns belong to which feature.
    fit_rows, validation_rows : ndarray of float, shape (n_rows, n_columns)
        Encoded columns.
    fit_labels, validation_labels : ndarray of int64, shape (n_rows,)
        Class numbers.
    n_classes : int
        Number of classes, at least 2.
    """

    encoding: Encoding
    fit_rows: NDArray[np.float64]
    fit_labels: NDArray[np.int64]
    validation_rows: NDArray[np.float64]
    validation_labels: NDArray[np.int64]
    n_classes: int

    @property
    def n_features(self) -> int:
        """Number of features that can be bought."""
        return len(self.encoding.codes)

    @property
    def n_words(self) -> int:
        """64-bit words that hold one bit per validation row."""
        return max(1, -(-len(self.validation_labels) // 64))


@dataclass(frozen=True)
class RejectRule:
    """When a prediction is confident.

    Attributes
    ----------
    thresholds : tuple of float
        Least probability per predicted class (the paper's p̂ in every place), in (0, 1].
    risk : float or None
        None: the paper's rule. Otherwise each subset's threshold is raised until, by Hoeffding's bound with error
        probability `risk` / `max_stages`, its confident predictions on the fitted rows are right at the rate p̂ asks for.
    max_stages : int
        Number of stages that share `risk` (Bonferroni).
    """

    thresholds: tuple[float, ...]
    risk: float | None = None
    max_stages: int = 1

    @property
    def scores(self) -> NDArray[np.float64]:
        """The thresholds as log-odds, infinite for 1."""
        return np.array([math.inf if p >= 1 else math.log(p) - math.log1p(-p) for p in self.thresholds])


def reject_rule(
    confidence: float | Mapping[Any, float],
    classes: NDArray[Any],
    *,
    risk: float | None = None,
    max_stages: int = 1,
) -> RejectRule:
    """Check p̂, one number or one per class.

    Raises
    ------
    BadInputError
        If a threshold is outside (0, 1], a class has none, or `risk` is outside (0, 1).
    """
    labels = classes.tolist()
    if isinstance(confidence, Mapping):
        missing = [label for label in labels if label not in confidence]
        unknown = [label for label in confidence if label not in labels]
        if missing or unknown:
            raise BadInputError(
                f"confidence must hold one threshold per class {labels}, got {list(confidence)}. "
                "Pass one number to treat all classes alike."
            )
        values = [confidence[label] for label in labels]
    else:
        values = [confidence] * len(labels)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 1:
            raise BadInputError(f"confidence must be in (0, 1], got {value!r}. Usual values are 0.6 to 0.95.")
    if risk is not None and not (isinstance(risk, int | float) and 0 < risk < 1):
        raise BadInputError(f"accuracy_risk must be in (0, 1) or None, got {risk!r}.")
    return RejectRule(tuple(map(float, values)), risk, max_stages)


class Subclassifiers(Protocol):
    """What fits a classifier per feature subset; `slots` are its names for subsets."""

    rows: StageRows
    n_fits: int

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets, n_features)`` to ``(n_subsets,)``, fitting what is missing."""

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right, ``(slots, 2, words)``."""

    def model(self, subset: Mask) -> Any:
        """Return what predicts for one subset."""

    @property
    def capacity(self) -> int:
        """Number of slots."""

    @property
    def epoch(self) -> int:
        """Changes when slots were given away to other subsets."""


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """The coefficients of one subset: ``(n_scores, n_columns + 1)``, intercept last, and the columns they use."""

    coefficients: NDArray[np.float64]
    columns: NDArray[np.int64]

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""
        weights = self.coefficients[:, self.columns]
        scores = rows[:, self.columns] @ weights.T + self.coefficients[:, -1]
        if scores.shape[1] == 1:
            small = np.exp(-np.abs(scores[:, 0]))
            positive = np.where(scores[:, 0] >= 0, 1.0, small) / (1.0 + small)
            return np.column_stack([1.0 - positive, positive])
        scores -= scores.max(axis=1, keepdims=True)
        exponentials = np.exp(scores)
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


class SubsetPlaces:
    """Slots of feature subsets: by bit mask while few features are, in order of arrival otherwise."""

    def __init__(self, n_features: int, capacity: int) -> None:
        self.dense = n_features <= DENSE_FEATURES
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
        """Take back the places of subsets that could not be fitted."""
        if self.dense:
            self._seen[slots] = False
        else:
            self._slots.clear()
            self.epoch += 1


class LogisticSubclassifiers:
    """ℓ2 logistic regressions, equal to scikit-learn's ``LogisticRegression(C=C)`` on the same columns.

    Parameters
    ----------
    rows : StageRows
    C : float, default=1.0
        Inverse strength of the penalty.
    scale : bool, default=True
        Penalise the coefficients of standardised columns, so that units do not matter; False: of the columns as they are.
    n_jobs : int or None, default=1
        Threads that fit.
    capacity : int, default=200_000
        Most subsets kept at a time, where the number of features exceeds :data:`DENSE_FEATURES`.
    report, cancellation : optional
        Progress events of the fits, and a way to stop before the next batch.

    Notes
    -----
    Needs 8·(n_columns + 1)·n_scores bytes per fitted subset, and per thread twice the fitted rows.
    """

    def __init__(
        self,
        rows: StageRows,
        *,
        C: float = 1.0,
        scale: bool = True,
        n_jobs: int | None = 1,
        capacity: int = 200_000,
        report: Report = silent,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.rows = rows
        self.n_jobs = n_jobs
        self.report = report
        self.cancellation = cancellation
        n_scores = 1 if rows.n_classes == 2 else rows.n_classes
        room = MOST_BYTES // (8 * n_scores * (rows.fit_rows.shape[1] + 1) + 16 * rows.n_words)
        self.places = SubsetPlaces(rows.n_features, min(capacity, max(LEAST_PLACES, room)))
        self.n_fits = 0
        self.n_scores = n_scores
        self._centres = rows.fit_rows.mean(axis=0)
        spreads = rows.fit_rows.std(axis=0)
        self._spreads = np.where(spreads > 1e-12 * (1 + np.abs(self._centres)), spreads, 1.0)
        standardised = (rows.fit_rows - self._centres) / self._spreads
        self._transposed = np.ascontiguousarray(rows.validation_rows.T)
        self._standardised = np.ascontiguousarray(np.vstack([standardised.T, np.ones(len(standardised))]))
        self._gram = sums(self._standardised)
        per_column = 1.0 / C if scale else 1.0 / (C * self._spreads**2)
        self._penalties = np.append(np.broadcast_to(per_column, standardised.shape[1]), 0.0)
        n_columns = standardised.shape[1]
        _check_memory(rows, self.places.capacity * self.n_scores * (n_columns + 1) * 8)
        self._coefficients = np.empty((self.places.capacity, self.n_scores, n_columns + 1))
        self._subsets = np.empty((self.places.capacity, rows.n_features), dtype=bool)

    @property
    def capacity(self) -> int:
        """Number of slots."""
        return self.places.capacity

    @property
    def epoch(self) -> int:
        """Changes when slots were given away to other subsets."""
        return self.places.epoch

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``, fitting what is missing."""
        slots, new = self.places.place(subsets)
        if len(new):
            try:
                self._fit(slots[new], subsets[new])
            except BaseException:
                self.places.forget(slots[new])
                raise
        return slots

    def _fit(self, slots: NDArray[np.int64], subsets: Mask) -> None:
        """Fit subsets in batches, in threads, and keep their coefficients."""
        if len(slots) <= SMALL:
            if self.cancellation is not None and self.cancellation.cancelled:
                raise FitsStoppedError(STOPPED)
            with _blas().limit(limits=1):
                self._coefficients[slots] = self._fit_batch(subsets)
            self._subsets[slots] = subsets
            self.n_fits += len(slots)
            return
        size = max(1, min(BATCH, -(-len(slots) // 4)))
        pieces = [slice(start, start + size) for start in range(0, len(slots), size)]
        units = [Unit(str(i), self._fit_batch, (subsets[piece],)) for i, piece in enumerate(pieces)]
        done = 0
        with _blas().limit(limits=1), pooled_threads():
            for key, coefficients in run_units(
                units, n_jobs=self.n_jobs, stage="fitting subclassifiers",
                report=self.report, cancellation=self.cancellation,
            ):  # fmt: skip
                piece = pieces[int(key)]
                self._coefficients[slots[piece]] = coefficients
                done += len(coefficients)
        self._subsets[slots] = subsets
        self.n_fits += done
        if done < len(slots):
            raise FitsStoppedError(STOPPED)

    def _fit_batch(self, subsets: Mask) -> NDArray[np.float64]:
        """Fit some subsets, and turn the coefficients back to the columns' own units."""
        columns = np.ascontiguousarray(self.rows.encoding.columns(subsets))
        coefficients = np.empty((len(subsets), self.n_scores, columns.shape[1] + 1))
        if self.n_scores == 1:
            failed = fit_binary(
                self._standardised, self.rows.fit_labels.astype(np.float64), self._gram,
                self._penalties, columns, coefficients,
            )  # fmt: skip
        else:
            # seconds to compile at first, and two classes never need it
            from shortlist.multistage._multinomial import fit_multinomial

            failed = fit_multinomial(
                self._standardised, self.rows.fit_labels, self._penalties, columns, coefficients
            )
        if failed:
            raise BadInputError(
                f"logistic regression must converge on every feature subset, got {failed} that did not. "
                "Scale the columns or lower C."
            )
        coefficients[:, :, :-1] /= self._spreads
        coefficients[:, :, -1] -= coefficients[:, :, :-1] @ self._centres
        return coefficients

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right."""
        columns = np.ascontiguousarray(self.rows.encoding.columns(self._subsets[slots]))
        least = np.zeros(self.capacity if rule.risk is not None else int(slots.max(initial=0)) + 1)
        if rule.risk is not None:
            least[slots] = [self.least_probability(slot, rule) for slot in slots]
        decision_bits(
            self.rows.validation_rows, self._transposed, self.rows.validation_labels, self._coefficients, slots, columns,
            np.array(rule.thresholds), rule.scores, least, bits,
        )  # fmt: skip

    def least_probability(self, slot: int, rule: RejectRule) -> float:
        """Return the threshold that keeps accuracy on the fitted rows, for one slot."""
        if rule.risk is None:
            return 0.0
        probabilities = self._model(slot).probabilities(self.rows.fit_rows)
        return raised_threshold(probabilities, self.rows.fit_labels, rule)

    def model(self, subset: Mask) -> LogisticModel:
        """Return what predicts for one subset."""
        return self._model(int(self.slots(subset[None, :])[0]))

    def _model(self, slot: int) -> LogisticModel:
        columns = np.flatnonzero(self.rows.encoding.columns(self._subsets[slot]))
        return LogisticModel(self._coefficients[slot].copy(), columns)


def _check_memory(rows: StageRows, n_bytes: int) -> None:
    """Refuse what would not fit; the usual cause is an identifier taken for a category."""
    if n_bytes > MOST_BYTES:
        widest = max(rows.encoding.codes, key=lambda code: code.width)
        raise BadInputError(
            f"the classifiers of all feature subsets must fit into {MOST_BYTES / 1e9:g} GB, but need {n_bytes / 1e9:.1f} GB: "
            f"feature {widest.name!r} alone makes {widest.width} columns. Drop identifiers, or join rare values."
        )


def raised_threshold(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64], rule: RejectRule
) -> float:
    """Return the least probability at and above which accuracy is at least the smallest p̂, by Hoeffding's bound.

    2 when there is none, so that nothing is confident.
    """
    assert rule.risk is not None
    wanted = min(rule.thresholds)
    best = probabilities.max(axis=1)
    order = np.argsort(-best, kind="stable")
    right = np.cumsum(probabilities.argmax(axis=1)[order] == labels[order])
    counts = np.arange(1, len(order) + 1)
    slack = np.sqrt(math.log(rule.max_stages / rule.risk) / (2 * counts))
    last_of_ties = np.append(best[order][1:] < best[order][:-1], True)
    good = last_of_ties & (right / counts - slack >= wanted) & (best[order] >= wanted)
    return float(best[order][good].min()) if good.any() else 2.0


class ForeignSubclassifiers:
    """Any scikit-learn classifier with ``predict_proba``, cloned and fitted per subset on its encoded columns.

    Every fitted clone is kept, so that predictions come from the very models that made the bits.
    """

    def __init__(
        self,
        rows: StageRows,
        estimator: Any,
        *,
        n_jobs: int | None = 1,
        report: Report = silent,
        cancellation: Cancellation | None = None,
    ) -> None:
        if not hasattr(estimator, "predict_proba"):
            raise BadInputError(
                f"subclassifier must have predict_proba, got {type(estimator).__name__}. "
                "Wrap it in CalibratedClassifierCV."
            )
        self.rows = rows
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.report = report
        self.cancellation = cancellation
        self.places = SubsetPlaces(rows.n_features, 200_000)
        self.n_fits = 0
        self._models: dict[int, ForeignModel] = {}

    @property
    def capacity(self) -> int:
        """Number of slots."""
        return self.places.capacity

    @property
    def epoch(self) -> int:
        """Changes when slots were given away to other subsets."""
        return self.places.epoch

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``, fitting what is missing."""
        before = self.epoch
        slots, new = self.places.place(subsets)
        if self.epoch != before:
            self._models.clear()
        units = [Unit(str(slots[i]), self._fit, (subsets[i],)) for i in new]
        try:
            for key, model in run_units(
                units, n_jobs=self.n_jobs, stage="fitting subclassifiers",
                report=self.report, cancellation=self.cancellation,
            ):  # fmt: skip
                self._models[int(key)] = model
                self.n_fits += 1
            if any(int(slots[i]) not in self._models for i in new):
                raise FitsStoppedError(STOPPED)  # noqa: TRY301  # the places are given back below
        except BaseException:
            self.places.forget(slots[new])
            raise
        return slots

    def _fit(self, subset: Mask) -> "ForeignModel":
        from sklearn.base import clone

        columns = np.flatnonzero(self.rows.encoding.columns(subset))
        model = clone(self.estimator).fit(self.rows.fit_rows[:, columns], self.rows.fit_labels)
        return ForeignModel(model, columns, self.rows.n_classes)

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right."""
        for slot in slots.tolist():
            probabilities = self._models[slot].probabilities(self.rows.validation_rows)
            labels, confident = decide(probabilities, rule, self.least_probability(slot, rule))
            bits[slot, 0] = pack(confident, self.rows.n_words)
            bits[slot, 1] = pack(confident & (labels == self.rows.validation_labels), self.rows.n_words)

    def least_probability(self, slot: int, rule: RejectRule) -> float:
        """Return the threshold that keeps accuracy on the fitted rows, for one slot."""
        if rule.risk is None:
            return 0.0
        return raised_threshold(
            self._models[slot].probabilities(self.rows.fit_rows), self.rows.fit_labels, rule
        )

    def model(self, subset: Mask) -> "ForeignModel":
        """Return what predicts for one subset."""
        return self._models[int(self.slots(subset[None, :])[0])]


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A fitted scikit-learn classifier and the columns it uses; it may know fewer classes than the table."""

    estimator: Any
    columns: NDArray[np.int64]
    n_classes: int

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""
        known = self.estimator.predict_proba(rows[:, self.columns])
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, self.estimator.classes_] = known
        return probabilities


def decide(
    probabilities: NDArray[np.float64], rule: RejectRule, least: float = 0.0
) -> tuple[NDArray[np.int64], Mask]:
    """Return the most probable class per row, the first of equals, and whether it is confident."""
    labels = probabilities.argmax(axis=1)
    best = probabilities[np.arange(len(labels)), labels]
    thresholds = np.array(rule.thresholds)
    return labels, np.asarray((best >= thresholds[labels]) & (best >= least))


def pack(flags: Mask, n_words: int) -> NDArray[np.uint64]:
    """Pack one flag per row into 64-bit words, row r in bit r mod 64 of word r // 64."""
    padded = np.zeros(64 * n_words, dtype=bool)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view(np.uint64)


class DecisionBits:
    """Decision bits of subsets under one rule, made when first asked for."""

    def __init__(self, subclassifiers: Subclassifiers, rule: RejectRule) -> None:
        self.subclassifiers = subclassifiers
        self.rule = rule
        self._epoch = subclassifiers.epoch
        self._ready = np.zeros(subclassifiers.capacity, dtype=bool)
        self.bits = np.zeros((subclassifiers.capacity, 2, subclassifiers.rows.n_words), dtype=np.uint64)

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets, n_features)``, whose bits are then in `bits`."""
        slots = self.subclassifiers.slots(subsets)
        if self.subclassifiers.epoch != self._epoch:
            self._epoch = self.subclassifiers.epoch
            self._ready[:] = False
        wanted = np.unique(slots)
        wanted = wanted[~self._ready[wanted]]
        if len(wanted):
            self.subclassifiers.write_bits(wanted, self.rule, self.bits)
            self._ready[wanted] = True
        return slots

    def every_subset(self) -> NDArray[np.uint64]:
        """Return the bits of every subset, indexed by bit mask, ``(2**n_features, 2, n_words)``; row 0 is zero.

        Raises
        ------
        BadInputError
            If there are too many features, or their subsets would not fit into memory.
        """
        n = self.subclassifiers.rows.n_features
        if n > DENSE_FEATURES:
            raise BadInputError(
                f"enumeration needs all subsets, so at most {DENSE_FEATURES} features, got {n}. Use method='emsco'."
            )
        n_bytes = bytes_of_every_subset(self.subclassifiers.rows)
        if n_bytes > MOST_BYTES:
            raise BadInputError(
                f"enumeration needs the decisions of all subsets within {MOST_BYTES / 1e9:g} GB, but {n} features and "
                f"{len(self.subclassifiers.rows.validation_labels)} rows to judge by make {n_bytes / 1e9:.1f} GB. "
                "Judge by fewer rows, or use method='emsco'."
            )
        self.slots(subset_masks(n))
        return self.bits


def bytes_of_every_subset(rows: StageRows) -> int:
    """Return the memory that an enumeration takes for decision bits: what each subset decides, and two unions."""
    return 3 * 2 * 8 * rows.n_words << rows.n_features


@functools.lru_cache(maxsize=2)
def subset_masks(n_features: int) -> Mask:
    """Return all non-empty feature subsets in the order of their bit masks, ``(2**n - 1, n)``."""
    numbers = np.arange(1, 1 << n_features)
    masks: Mask = (numbers[:, None] >> np.arange(n_features)) & 1 == 1
    masks.flags.writeable = False
    return masks


@functools.cache
def _blas() -> Any:
    """Find the linear-algebra libraries once; looking for them takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def pooled_threads() -> Any:
    """Make joblib use threads: the kernels release the interpreter's lock."""
    from joblib import parallel_config

    return parallel_config(backend="threading")
