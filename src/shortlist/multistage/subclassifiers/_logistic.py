# ruff: noqa: C901, PLR0912, PLR0915, PLR0917  # kernels take their state as arguments and keep their loops
# flat
"""Kernels of ℓ2 logistic regression on many feature subsets: Newton fits, scores, and decision bits.

Rows are given transposed, ``(n_columns, n_rows)``, so that choosing columns copies whole runs of memory. A
subset is a row of booleans over columns. The coefficients of a subset are ``(n_scores, n_columns + 1)``: the
intercept is last, and absent columns have zero. With two classes there is one score, otherwise one score per
class.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from shortlist._bits import Words
from shortlist._jit import kernel
from shortlist.arrays import Flags, Floats, FloatTable, Longs

MAX_NEWTON_STEPS = 200
TINY_DECREMENT = 1e-11
CLOSE = 1e-9
"""Distance of a score from the threshold below which the probability is compared instead of the score."""


class Confidence(NamedTuple):
    """Thresholds that a confident decision has to reach."""

    thresholds: Floats
    """Least probability of each class."""
    scores: Floats
    """Thresholds as log-odds, for two classes."""


class LabelledRows(NamedTuple):
    """Encoded rows with their classes."""

    rows: FloatTable
    """Encoded rows, ``(n_rows, n_columns)``."""
    columns: FloatTable
    """Transposed `rows`, ``(n_columns, n_rows)``."""
    labels: Longs
    """Class index of each row."""
    starts: Longs
    """Index of the first row of each run, then the number of rows. Each run has its own classifier of a
    subset.
    """


@kernel("void(float64[:, ::1], int64, float64[::1], float64[::1])")
def solve_positive(matrix: Floats, size: int, right: Floats, solution: Floats) -> None:
    """Solve a positive definite system by Cholesky's factors.

    The lower triangle of `matrix` is overwritten.
    """
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for m in range(j):
                total -= matrix[i, m] * matrix[j, m]
            if i == j:
                matrix[i, i] = math.sqrt(max(total, 1e-300))
            else:
                matrix[i, j] = total / matrix[j, j]
    for i in range(size):
        total = right[i]
        for m in range(i):
            total -= matrix[i, m] * solution[m]
        solution[i] = total / matrix[i, i]
    for i in range(size - 1, -1, -1):
        total = solution[i]
        for m in range(i + 1, size):
            total -= matrix[m, i] * solution[m]
        solution[i] = total / matrix[i, i]


@kernel("void(float64[:, ::1], float64[::1], float64[::1])", makes_arrays=True)
def combine(design: Floats, beta: Floats, scores: Floats) -> None:
    """Compute the score of every row: ``scores = designᵀ beta``."""
    np.dot(beta, design, scores)


@kernel("void(float64[:, ::1], float64[::1], float64[::1])", makes_arrays=True)
def pull_back(design: Floats, residuals: Floats, gradient: Floats) -> None:
    """Sum residuals per column: ``gradient = design residuals``."""
    np.dot(design, residuals, gradient)


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1])", makes_arrays=True)
def weighted_products(design: Floats, weights: Floats, scaled: Floats, products: Floats) -> None:
    """Sum weighted products of columns: ``products = (design · weights) designᵀ``.

    `scaled` is scratch memory.
    """
    for i in range(design.shape[0]):
        for r in range(design.shape[1]):
            scaled[i, r] = design[i, r] * weights[r]
    np.dot(scaled, design.T, products)


@kernel("int64(float64[:, ::1], bool_[::1], int64[::1], float64[:, ::1])")
def choose_columns(rows: Floats, subset: Flags, chosen: Longs, design: Floats) -> int:
    """Copy the chosen columns and the last one, of ones, to the front of `design`.

    Return their number.
    """
    size = 0
    last = rows.shape[0] - 1
    for c in range(last + 1):
        if c == last or subset[c]:
            chosen[size] = c
            for r in range(rows.shape[1]):
                design[size, r] = rows[c, r]
            size += 1
    return size


@kernel(
    "int64(float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], bool_[:, ::1], float64[:, :, ::1])",
    makes_arrays=True,
)
def fit_binary(
    rows: Floats, truth: Floats, gram: Floats, penalties: Floats, subsets: Flags, coefficients: Floats
) -> int:
    """Fit every subset; return the number of subsets whose fit did not converge.

    `rows`: ``(n_columns + 1, n_rows)``, with ones last. `truth`: 0 or 1 for each row. `gram`: inner products
    of the rows of `rows`. The first Newton step starts from zero, where every row weighs ¼, so it needs no
    pass over the rows.
    """
    n_columns, n_rows = rows.shape[0] - 1, rows.shape[1]
    pull = np.empty(n_columns + 1)
    for c in range(n_columns + 1):
        total = 0.0
        for r in range(n_rows):
            total += rows[c, r] * (truth[r] - 0.5)
        pull[c] = total
    chosen = np.empty(n_columns + 1, dtype=np.int64)
    wide = np.empty((n_columns + 1, n_rows))
    weighted = np.empty((n_columns + 1, n_rows))
    residuals = np.empty(n_rows)
    weights = np.empty(n_rows)
    failed = 0
    for s in range(subsets.shape[0]):
        size = choose_columns(rows, subsets[s], chosen, wide)
        design = wide[:size]
        scaled = weighted[:size]
        hessian = np.empty((size, size))
        gradient = np.empty(size)
        step = np.empty(size)
        beta = np.zeros(size)
        scores = np.empty(n_rows)
        for i in range(size):
            gradient[i] = -pull[chosen[i]]
            for j in range(i + 1):
                hessian[i, j] = 0.25 * gram[chosen[i], chosen[j]]
            hessian[i, i] += penalties[chosen[i]]
        converged = False
        for _ in range(MAX_NEWTON_STEPS):
            solve_positive(hessian, size, gradient, step)
            decrement = 0.0
            for i in range(size):
                decrement += gradient[i] * step[i]
                beta[i] -= step[i]
            if decrement < TINY_DECREMENT:
                converged = True
                break
            slope = decrement
            for _halving in range(60):
                combine(design, beta, scores)
                for r in range(n_rows):
                    small = math.exp(-abs(scores[r]))
                    inverse = 1.0 / (1.0 + small)
                    p = inverse if scores[r] >= 0 else small * inverse
                    residuals[r] = p - truth[r]
                    weights[r] = small * inverse * inverse
                pull_back(design, residuals, gradient)
                slope = 0.0
                for i in range(size):
                    gradient[i] += penalties[chosen[i]] * beta[i]
                    slope -= gradient[i] * step[i]
                if slope <= 0.9 * decrement:
                    break
                for i in range(size):
                    step[i] *= 0.5
                    beta[i] += step[i]
                decrement *= 0.5
            weighted_products(design, weights, scaled, hessian)
            for i in range(size):
                hessian[i, i] += penalties[chosen[i]]
        if not converged:
            failed += 1
        for i in range(n_columns + 1):
            coefficients[s, 0, i] = 0.0
        for i in range(size):
            coefficients[s, 0, chosen[i]] = beta[i]
    return failed


@kernel("int64(float64, Confidence, float64)")
def decide_score(score: float, confidence: Confidence, least: float) -> int:
    """Decide between two classes by the log-odds of the second; the answer is as in :func:`decide_row`."""
    if math.isnan(score):
        return -999
    thresholds, score_thresholds = confidence.thresholds, confidence.scores
    label = 1 if score > 0 else 0
    size = abs(score)
    confident = size >= score_thresholds[label]
    if least > 0 or abs(size - score_thresholds[label]) < CLOSE or score_thresholds[label] > 25.0:
        p = 1.0 / (1.0 + math.exp(-size))
        confident = p >= thresholds[label] and p >= least
    return label if confident else -1 - label


@kernel(
    "int64(float64[:, ::1], int64, float64[:, ::1], int64[::1], int64, Confidence, float64, float64[::1])"
)
def decide_row(
    rows: Floats,
    row: int,
    coefficients: Floats,
    chosen: Longs,
    n_chosen: int,
    confidence: Confidence,
    least: float,
    scores: Floats,
) -> int:
    """Return the most probable class of one row; -1 - class if it is not confident, -999 for NaN.

    `rows` are ``(n_rows, n_columns)``. Confident means that the largest probability reaches both the
    threshold of its class and `least`. Of equally probable classes the first is taken.
    """
    n_scores, intercept = coefficients.shape[0], coefficients.shape[1] - 1
    if n_scores == 1:
        score = coefficients[0, intercept]
        for i in range(n_chosen):
            score += coefficients[0, chosen[i]] * rows[row, chosen[i]]
        return decide_score(score, confidence, least)
    label = 0
    for k in range(n_scores):
        score = coefficients[k, intercept]
        for i in range(n_chosen):
            score += coefficients[k, chosen[i]] * rows[row, chosen[i]]
        if math.isnan(score):
            return -999
        scores[k] = score
        if score > scores[label]:
            label = k
    total = 0.0
    for k in range(n_scores):
        total += math.exp(scores[k] - scores[label])
    p = 1.0 / total
    return label if p >= confidence.thresholds[label] and p >= least else -1 - label


@kernel("void(float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1])", makes_arrays=True)
def write_probabilities(rows: Floats, coefficients: Floats, chosen: Longs, probabilities: Floats) -> None:
    """Write the class probabilities of every row, equal to the numbers that :func:`decide_row` compares."""
    n_scores, intercept = coefficients.shape[0], coefficients.shape[1] - 1
    for row in range(len(rows)):
        for k in range(n_scores):
            score = coefficients[k, intercept]
            for i in range(len(chosen)):
                score += coefficients[k, chosen[i]] * rows[row, chosen[i]]
            probabilities[row, k] = score
        if n_scores == 1:
            score = probabilities[row, 0]
            label = 1 if score > 0 else 0
            probabilities[row, label] = 1.0 / (1.0 + math.exp(-abs(score)))
            probabilities[row, 1 - label] = 1.0 - probabilities[row, label]
            continue
        largest = probabilities[row].max()
        total = 0.0
        for k in range(n_scores):
            total += math.exp(probabilities[row, k] - largest)
        for k in range(n_scores):
            probabilities[row, k] = math.exp(probabilities[row, k] - largest) / total


@kernel(
    "void(LabelledRows, float64[:, :, :, ::1], int64[::1], bool_[:, ::1], Confidence, uint64[:, :, ::1])",
    makes_arrays=True,
)
def decision_bits(
    labelled: LabelledRows,
    coefficients: Floats,
    slots: Longs,
    columns: Flags,
    confidence: Confidence,
    bits: Words,
) -> None:
    """Write the decision bits of the subset in each of `slots`.

    The bits are the masks of the confident rows, and of the confident and right rows.

    A subset has a classifier for each run of rows between two of ``labelled.starts``. Two classes have one
    score: the scores of a run are added up column by column, which gives the same sums as :func:`decide_row`
    and is faster.
    """
    rows, transposed, truth = labelled.rows, labelled.columns, labelled.labels
    score_thresholds = confidence.scores
    n_rows, n_columns = rows.shape
    chosen = np.empty(n_columns, dtype=np.int64)
    scores = np.empty(coefficients.shape[2])
    line = np.empty(n_rows)
    fine = score_thresholds.max() <= 25.0
    for s in range(len(slots)):
        slot = slots[s]
        size = 0
        for c in range(n_columns):
            if columns[s, c]:
                chosen[size] = c
                size += 1
        for word in range(bits.shape[2]):
            bits[slot, 0, word] = np.uint64(0)
            bits[slot, 1, word] = np.uint64(0)
        for part in range(len(labelled.starts) - 1):
            first, last = labelled.starts[part], labelled.starts[part + 1]
            own = coefficients[slot, part]
            if coefficients.shape[2] > 1:
                for row in range(first, last):
                    label = decide_row(rows, row, own, chosen, size, confidence, 0.0, scores)
                    if label >= 0:
                        bit = np.uint64(1) << np.uint64(row & 63)
                        bits[slot, 0, row >> 6] |= bit
                        if label == truth[row]:
                            bits[slot, 1, row >> 6] |= bit
                continue
            line[first:last] = own[0, n_columns]
            for i in range(size):
                weight = own[0, chosen[i]]
                column = transposed[chosen[i]]
                for row in range(first, last):
                    line[row] += weight * column[row]
            for word in range(first >> 6, (last + 63) >> 6):
                confident, right = np.uint64(0), np.uint64(0)
                for row in range(max(first, 64 * word), min(64 * word + 64, last)):
                    score = line[row]
                    label = 1 if score > 0 else 0
                    above = abs(score) - score_thresholds[label]
                    if fine and abs(above) >= CLOSE:  # the usual case, without a call; never with NaN
                        if above < 0:
                            continue
                    elif decide_score(score, confidence, 0.0) < 0:
                        continue
                    bit = np.uint64(1) << np.uint64(row & 63)
                    confident |= bit
                    if label == truth[row]:
                        right |= bit
                bits[slot, 0, word] |= confident
                bits[slot, 1, word] |= right


@kernel(
    "void(float64[:, ::1], int64[::1], float64[:, ::1], int64[::1], Confidence, float64, int64[::1])",
    makes_arrays=True,
)
def decide_rows(
    rows: Floats,
    active: Longs,
    coefficients: Floats,
    chosen: Longs,
    confidence: Confidence,
    least: float,
    codes: Longs,
) -> None:
    """Write the class of each of the `active` rows at one stage; -1 where it is not confident."""
    scores = np.empty(coefficients.shape[0])
    for a in range(len(active)):
        codes[a] = decide_row(rows, active[a], coefficients, chosen, len(chosen), confidence, least, scores)


def sums(value: Any) -> Floats:
    """Return the inner products of the rows of `value`."""
    return np.ascontiguousarray(value @ value.T)
