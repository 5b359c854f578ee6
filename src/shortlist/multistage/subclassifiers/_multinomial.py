# ruff: noqa: C901, PLR0912, PLR0915  # a kernel keeps its loops flat
"""Newton fits of logistic regression for three classes and more; loaded only where they are needed."""

import math

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Flags, Floats, Longs
from shortlist.multistage.subclassifiers._logistic import (
    MAX_NEWTON_STEPS,
    TINY_DECREMENT,
    choose_columns,
    combine,
    pull_back,
    solve_positive,
    weighted_products,
)


@kernel(
    "int64(float64[:, ::1], int64[::1], float64[::1], bool_[:, ::1], float64[:, :, ::1])", makes_arrays=True
)
def fit_multinomial(
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
