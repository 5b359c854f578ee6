"""The hot loop of the LASSO: a quadratic with absolute values, one coordinate after the other."""

from shortlist._jit import kernel
from shortlist.arrays import Floats

MOST_SWEEPS = 10_000


@kernel("int64(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64)")
def minimise_quadratic(
    curvature: Floats, gradient: Floats, penalties: Floats, beta: Floats, tolerance: float
) -> int:
    """Minimise ½ (b - β)ᵀ H (b - β) + gᵀ(b - β) + Σ penalties |b| over b, from b = β, in place.

    `gradient` is g, and becomes the gradient at the answer. Coordinates whose curvature is 0 stay. Ends when
    no step of a sweep changes the gradient's own scale by more than `tolerance`; returns the sweeps made.
    """
    size = beta.shape[0]
    for sweep in range(MOST_SWEEPS):
        largest = 0.0
        for j in range(size):
            h = curvature[j, j]
            if h <= 1e-12:
                continue
            target = h * beta[j] - gradient[j]
            if target > penalties[j]:
                new = (target - penalties[j]) / h
            elif target < -penalties[j]:
                new = (target + penalties[j]) / h
            else:
                new = 0.0
            step = new - beta[j]
            if step != 0.0:
                beta[j] = new
                for i in range(size):
                    gradient[i] += curvature[i, j] * step
                change = abs(step) * h
                largest = max(largest, change)
        if largest <= tolerance:
            return sweep + 1
    return MOST_SWEEPS
