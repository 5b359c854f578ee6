"""Kernel that counts the answers of a policy at each threshold."""

from shortlist._jit import kernel
from shortlist.arrays import Flags, Floats, Longs


@kernel("void(float64[:, ::1], boolean[:, ::1], int64[:, ::1], float64[::1], int64[:, ::1])")
def count_stages(scores: Floats, right: Flags, prices: Longs, thresholds: Floats, counts: Longs) -> None:
    """Count the outcomes of stages at each threshold: cases answered, cases answered rightly, and price.

    `scores`, ``(n_stages, n_cases)``: confidence of each stage, -1 where the stage cannot answer. `right`, of
    the same shape: whether the stage's answer is right. `prices`, of the same shape: price of the stage.
    `thresholds`: falling. `counts`, ``(3, n_thresholds)``: gets the result.
    """
    n_stages, n_cases = scores.shape
    n_thresholds = thresholds.shape[0]
    counts[:] = 0
    for i in range(n_cases):
        open_to = n_thresholds  # the case is open before this threshold
        for stage in range(n_stages):
            if open_to == 0:
                break
            counts[2, 0] += prices[stage, i]
            if open_to < n_thresholds:
                counts[2, open_to] -= prices[stage, i]
            low, high = 0, open_to
            while low < high:
                middle = (low + high) // 2
                if thresholds[middle] <= scores[stage, i]:
                    high = middle
                else:
                    low = middle + 1
            if low < open_to:
                counts[0, low] += 1
                counts[1, low] += right[stage, i]
                if open_to < n_thresholds:
                    counts[0, open_to] -= 1
                    counts[1, open_to] -= right[stage, i]
                open_to = low
    for place in range(1, n_thresholds):
        for row in range(3):
            counts[row, place] += counts[row, place - 1]
