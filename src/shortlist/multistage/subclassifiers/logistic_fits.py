"""The logistic regressions of several subsets as one call, which any worker can run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Flags, Floats, Longs, Mask
from shortlist.errors import BadInputError
from shortlist.multistage.subclassifiers._logistic import (
    MAX_NEWTON_STEPS,
    TINY_DECREMENT,
    choose_columns,
    combine,
    fit_binary,
    pull_back,
    solve_positive,
    sums,
    weighted_products,
)
from shortlist.multistage.subclassifiers.encoding import Encoding


@kernel(
    "int64(float64[:, ::1], int64[::1], float64[::1], bool_[:, ::1], float64[:, :, ::1])", makes_arrays=True
)
def fit_multinomial(  # noqa: C901, PLR0912, PLR0915 -- a kernel keeps its loops flat
    rows: Floats, truth: Longs, penalties: Floats, subsets: Flags, coefficients: Floats
) -> int:
    """Fit every subset with a softmax over classes; return how many did not converge.

    Adding a constant to all intercepts changes no probability, so the loss gets half the squared sum of the
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
    """The rows that fit, prepared once for all subsets."""

    encoding: Encoding
    """Which columns belong to which feature."""
    labels: NDArray[np.int64]
    """Class numbers, ``(n_rows,)``."""
    n_scores: int
    """1 for two classes, else one per class."""
    centres: NDArray[np.float64]
    spreads: NDArray[np.float64]
    """Means and standard deviations of the columns, ``(n_columns,)``; 1 where a column is constant."""
    standardised: NDArray[np.float64]
    """The columns without mean and spread, and ones, ``(n_columns + 1, n_rows)``."""
    gram: NDArray[np.float64]
    """Sums of their products."""
    penalties: NDArray[np.float64]
    """Of each coefficient, ``(n_columns + 1,)``; none of the intercept, which is last."""


def prepared_rows(
    encoding: Encoding,
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    n_scores: int,
    C: float,
    scale: bool,
) -> FitRows:
    """Standardise encoded rows, ``(n_rows, n_columns)``."""
    design, centres, spreads = standardised(rows)
    columns = np.ascontiguousarray(design.T)
    per_column = 1.0 / C if scale else 1.0 / (C * spreads**2)
    penalties = np.append(np.broadcast_to(per_column, len(centres)), 0.0)
    return FitRows(encoding, labels, n_scores, centres, spreads, columns, sums(columns), penalties)


def fit_parts(parts: Sequence[FitRows], subsets: Mask) -> NDArray[np.float64]:
    """Fit subsets on each of some parts of the rows, ``(n_subsets, n_parts, n_scores, n_columns + 1)``."""
    return np.stack([fit_subsets(part, subsets) for part in parts], axis=1)


def fit_subsets(rows: FitRows, subsets: Mask) -> NDArray[np.float64]:
    """Fit subsets, ``(n_subsets, n_features)``, and turn coefficients back to the columns' own units.

    Raises BadInputError if one does not converge.

    `coefficients`, which it returns: the intercept is last, ``(n_subsets, n_scores, n_columns + 1)``.
    """
    columns = np.ascontiguousarray(rows.encoding.columns(subsets))
    coefficients = np.empty((len(subsets), rows.n_scores, columns.shape[1] + 1))
    if rows.n_scores == 1:
        failed = fit_binary(
            rows.standardised, rows.labels.astype(np.float64), rows.gram, rows.penalties, columns,
            coefficients,
        )  # fmt: skip
    else:
        # seconds to compile at first, and two classes never need it

        failed = fit_multinomial(rows.standardised, rows.labels, rows.penalties, columns, coefficients)
    if failed:
        raise BadInputError(
            f"logistic regression must converge on every feature subset, got {failed} that did not. "
            "Scale the columns or lower C."
        )
    return in_own_units(coefficients, rows.centres, rows.spreads)


def standardised(rows: NDArray[np.float64]) -> tuple[Floats, Floats, Floats]:
    """Return centred and scaled columns with ones last, the centres, and the spreads; constants become 0.

    Each column is first brought near 1 by a power of two, so that no square is lost, whatever its unit.
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=0, initial=0.0))
    near_one = np.ldexp(rows, -exponents)
    middles, widths = near_one.mean(axis=0), near_one.std(axis=0)
    constant = (rows == rows[:1]).all(axis=0)
    middles, widths = np.where(constant, near_one[0], middles), np.where(constant, 1.0, widths)
    centres, spreads = np.ldexp(middles, exponents), np.where(constant, 1.0, np.ldexp(widths, exponents))
    return np.column_stack([(near_one - middles) / widths, np.ones(len(rows))]), centres, spreads


def in_own_units(beta: Floats, centres: Floats, spreads: Floats) -> Floats:
    """Turn coefficients of standardised columns, on the last axis, into those of the columns as they are.

    Each intercept is a sum along its own row in memory, which NumPy adds in one order however many rows there
    are; for a call with one subset that is ten times as fast as :func:`shortlist.arrays.products_in_order`.
    """
    coefficients = beta.copy()
    coefficients[..., :-1] /= spreads
    coefficients[..., -1] -= (coefficients[..., :-1] * centres).sum(axis=-1)
    return coefficients
