"""Logistic regressions of feature subsets: fits as calls that any worker can run, and their decision bits."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist._threads import limited_threads
from shortlist.arrays import Flags, Floats, Longs, Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.subclassifiers._logistic import (
    MAX_NEWTON_STEPS,
    TINY_DECREMENT,
    Confidence,
    LabelledRows,
    choose_columns,
    combine,
    decision_bits,
    fit_binary,
    pull_back,
    solve_positive,
    sums,
    weighted_products,
    write_probabilities,
)
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.subclassifiers import (
    MOST_BYTES,
    STOPPED,
    StageRows,
    Subclassifiers,
    SubsetPlaces,
    pooled_threads,
)
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.budget import of_a_part
from shortlist.runs.workers import Where

BATCH = 512
"""Largest number of subsets fitted in one unit of work."""
FEW_SUBSETS = 64
"""Largest number of subsets fitted in one call without workers; the subsets must also fit into one unit of
work.
"""
WORK_OF_A_UNIT = 4 * 10**8
LEAST_PLACES = 4096
"""Least number of slots: a generation of the evolution needs one for each of its subsets."""


@kernel(
    "int64(float64[:, ::1], int64[::1], float64[::1], bool_[:, ::1], float64[:, :, ::1])", makes_arrays=True
)
def fit_multinomial(  # noqa: C901, PLR0912, PLR0915 -- a kernel keeps its loops flat
    rows: Floats, truth: Longs, penalties: Floats, subsets: Flags, coefficients: Floats
) -> int:
    """Fit every subset with a softmax over classes; return the number of subsets that did not converge.

    A constant added to all intercepts changes no probability, so the loss gets half the squared sum of the
    intercepts: the probabilities stay and the Newton system becomes definite.
    """
    n_columns, n_rows, n_classes = rows.shape[0] - 1, rows.shape[1], coefficients.shape[1]
    chosen = np.empty(n_columns + 1, dtype=np.int64)
    wide = np.empty((n_columns + 1, n_rows))
    weighted = np.empty((n_columns + 1, n_rows))
    probabilities = np.empty((n_classes, n_rows))
    failed = 0
    for s in range(subsets.shape[0]):
        size = choose_columns(rows, subsets[s], chosen, wide)
        design = wide[:size]
        scaled = weighted[:size]
        block = np.empty((size, size))
        part = np.empty(size)
        scores = np.empty(n_rows)
        width = n_classes * size
        hessian = np.empty((width, width))
        gradient = np.empty(width)
        step = np.zeros(width)
        beta = np.zeros(width)
        decrement = 0.0
        converged = False
        for iteration in range(MAX_NEWTON_STEPS):
            for _halving in range(60):
                for k in range(n_classes):
                    combine(design, beta[k * size : (k + 1) * size], scores)
                    for r in range(n_rows):
                        probabilities[k, r] = scores[r]
                for r in range(n_rows):
                    top = probabilities[0, r]
                    for k in range(1, n_classes):
                        top = max(top, probabilities[k, r])
                    total = 0.0
                    for k in range(n_classes):
                        probabilities[k, r] = math.exp(probabilities[k, r] - top)
                        total += probabilities[k, r]
                    for k in range(n_classes):
                        probabilities[k, r] /= total
                intercepts = 0.0
                for k in range(n_classes):
                    intercepts += beta[(k + 1) * size - 1]
                slope = 0.0
                for k in range(n_classes):
                    for r in range(n_rows):
                        scores[r] = probabilities[k, r] - (1.0 if truth[r] == k else 0.0)
                    pull_back(design, scores, part)
                    for i in range(size):
                        gradient[k * size + i] = part[i] + penalties[chosen[i]] * beta[k * size + i]
                    gradient[(k + 1) * size - 1] += intercepts
                for i in range(width):
                    slope -= gradient[i] * step[i]
                if iteration == 0 or slope <= 0.9 * decrement:
                    break
                for i in range(width):
                    step[i] *= 0.5
                    beta[i] += step[i]
                decrement *= 0.5
            for k in range(n_classes):
                for m in range(k + 1):
                    for r in range(n_rows):
                        scores[r] = probabilities[k, r] * ((1.0 if k == m else 0.0) - probabilities[m, r])
                    weighted_products(design, scores, scaled, block)
                    for i in range(size):
                        for j in range(size):
                            hessian[k * size + i, m * size + j] = block[i, j]
                    hessian[(k + 1) * size - 1, (m + 1) * size - 1] += 1.0
                for i in range(size):
                    hessian[k * size + i, k * size + i] += penalties[chosen[i]]
            solve_positive(hessian, width, gradient, step)
            decrement = 0.0
            for i in range(width):
                decrement += gradient[i] * step[i]
                beta[i] -= step[i]
            if decrement < TINY_DECREMENT:
                converged = True
                break
        if not converged:
            failed += 1
        for k in range(n_classes):
            for i in range(n_columns + 1):
                coefficients[s, k, i] = 0.0
            for i in range(size):
                coefficients[s, k, chosen[i]] = beta[k * size + i]
    return failed


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows that fit, prepared once for all subsets."""

    encoding: Encoding
    """Encoding of the features, with the columns of each."""
    labels: NDArray[np.int64]
    """Class numbers, ``(n_rows,)``."""
    n_scores: int
    """Number of scores: 1 for two classes, else one for each class."""
    centres: NDArray[np.float64]
    spreads: NDArray[np.float64]
    """Means and standard deviations of the columns, ``(n_columns,)``; 1 where a column is constant."""
    standardised: NDArray[np.float64]
    """Standardised columns, and ones, ``(n_columns + 1, n_rows)``."""
    gram: NDArray[np.float64]
    """Inner products of the standardised columns."""
    penalties: NDArray[np.float64]
    """Penalty of each coefficient, ``(n_columns + 1,)``; 0 for the intercept, which is last."""
    offsets: NDArray[np.float64]
    """Numbers added to the fitted intercepts, ``(n_scores,)``; they weigh the probabilities by class."""


def prepared_rows(
    encoding: Encoding,
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    n_scores: int,
    C: float,
    scale: bool,
    class_weights: tuple[float, ...] | None = None,
) -> FitRows:
    """Return encoded rows, ``(n_rows, n_columns)``, standardised for fits."""
    design, centres, spreads = standardised(rows)
    columns = np.ascontiguousarray(design.T)
    per_column = 1.0 / C if scale else 1.0 / (C * spreads**2)
    penalties = np.append(np.broadcast_to(per_column, len(centres)), 0.0)
    offsets = np.zeros(n_scores)
    if class_weights is not None:
        logs = np.log(class_weights)
        offsets = logs[1:] - logs[:1] if n_scores == 1 else logs
    return FitRows(encoding, labels, n_scores, centres, spreads, columns, sums(columns), penalties, offsets)


def fit_parts(parts: Sequence[FitRows], subsets: Mask) -> NDArray[np.float64]:
    """Fit subsets on each part of the rows.

    Return coefficients, ``(n_subsets, n_parts, n_scores, n_columns + 1)``.
    """
    return np.stack([fit_subsets(part, subsets) for part in parts], axis=1)


def fit_subsets(rows: FitRows, subsets: Mask) -> NDArray[np.float64]:
    """Fit subsets, ``(n_subsets, n_features)``; return coefficients in the columns' own units.

    Raises BadInputError if the fit of a subset does not converge. `coefficients`, which it returns,
    ``(n_subsets, n_scores, n_columns + 1)``: the intercept is last.
    """
    columns = np.ascontiguousarray(rows.encoding.columns(subsets))
    coefficients = np.empty((len(subsets), rows.n_scores, columns.shape[1] + 1))
    if rows.n_scores == 1:
        failed = fit_binary(
            rows.standardised, rows.labels.astype(np.float64), rows.gram, rows.penalties, columns,
            coefficients,
        )  # fmt: skip
    else:
        failed = fit_multinomial(rows.standardised, rows.labels, rows.penalties, columns, coefficients)
    if failed:
        raise BadInputError(
            f"logistic regression must converge on every feature subset, got {failed} that did not. "
            "Scale the columns or lower C."
        )
    found = in_own_units(coefficients, rows.centres, rows.spreads)
    found[..., -1] += rows.offsets
    return found


def standardised(rows: NDArray[np.float64]) -> tuple[Floats, Floats, Floats]:
    """Return centred and scaled columns with ones last, the centres, and the spreads.

    Constant columns become 0. Each column is first brought near 1 by a power of two, so that no square
    underflows or overflows, whatever its unit.
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=0, initial=0.0))
    near_one = np.ldexp(rows, -exponents)
    middles, widths = near_one.mean(axis=0), near_one.std(axis=0)
    constant = (rows == rows[:1]).all(axis=0)
    middles, widths = np.where(constant, near_one[0], middles), np.where(constant, 1.0, widths)
    centres, spreads = np.ldexp(middles, exponents), np.where(constant, 1.0, np.ldexp(widths, exponents))
    return np.column_stack([(near_one - middles) / widths, np.ones(len(rows))]), centres, spreads


def in_own_units(beta: Floats, centres: Floats, spreads: Floats) -> Floats:
    """Turn coefficients of standardised columns, on the last axis, into coefficients of the original columns.

    Each intercept is a sum along its own row in memory, which NumPy adds in the same order for any number of
    rows. For a call with one subset this sum is ten times as fast as
    :func:`shortlist.arrays.products_in_order`.
    """
    coefficients = beta.copy()
    coefficients[..., :-1] /= spreads
    coefficients[..., -1] -= (coefficients[..., :-1] * centres).sum(axis=-1)
    return coefficients


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Coefficients of one subset, ``(n_scores, n_columns + 1)``, and the indices of their columns.

    The intercept is last.
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


class LogisticSubclassifiers(Subclassifiers):
    """ℓ2 logistic regressions, equal to scikit-learn's ``LogisticRegression(C=C)`` on the same columns.

    A fitted subset takes 8·(n_columns + 1)·n_scores bytes; a thread takes twice the memory of the fitted
    rows.

    `C`: inverse strength of the penalty. `scale`: penalise the coefficients of standardised columns, so that
    units do not matter; false: penalise the coefficients of the original columns. `n_jobs`: threads that fit,
    or the address of a Dask scheduler. `capacity`: most subsets kept at a time, where the number of features
    exceeds :data:`DENSE_FEATURES`. `dense`: whether every subset has a slot of its own; by default with up to
    :data:`DENSE_FEATURES` features. `budget`: time limit of fits, checked before every batch, and progress;
    the budget may be replaced. `work_of_a_unit`: multiplications for the curvature of all fits in a unit of
    work, which takes about a second between two checks of the clock.
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
        prepared = functools.partial(
            prepared_rows,
            rows.encoding,
            n_scores=n_scores,
            C=C,
            scale=scale,
            class_weights=rows.class_weights,
        )
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
        """Return the slot of each subset, ``(n_subsets,)``; missing subsets are fitted."""
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
        """Fit subsets in batches, in threads; return the number of fitted subsets.

        The fitted subsets are the first of `subsets`.
        """
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
        """Write into ``bits[slot]`` the masks of the confident rows and of the confident and right rows."""
        columns = np.ascontiguousarray(self.rows.encoding.columns(self._subsets[slots]))
        confidence = Confidence(np.array(rule.thresholds), rule.scores)
        decision_bits(self._validation, self._coefficients, slots, columns, confidence, bits)

    def model(self, subset: Mask) -> LogisticModel:
        """Return the model that predicts for one subset.

        Out of fold this call fits the model, without a time limit.
        """
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
    """Raise BadInputError if fits do not go into memory.

    The usual cause is an identifier taken for a category.
    """
    if n_bytes > MOST_BYTES:
        widest = max(rows.encoding.codes, key=lambda code: code.width)
        raise BadInputError(
            f"the classifiers of all feature subsets must fit into {MOST_BYTES / 1e9:g} GB, but need "
            f"{n_bytes / 1e9:.1f} GB: feature {widest.name!r} alone makes {widest.width} columns. Drop "
            "identifiers, or join rare values."
        )
