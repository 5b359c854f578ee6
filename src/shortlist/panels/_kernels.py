"""Kernels of panels: scores from answers, and the thresholds of chains as sums of step functions."""

import math

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs


@kernel("void(int64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1])")
def add_scores(answers: Longs, confidence: Floats, weights: Floats, scores: Floats) -> None:
    """Add up what each answer says for each class.

    `answers` are places of words, the last one for silence, which has no slope. `weights` are those of
    :class:`shortlist.panels.decisions.ScoreTable`, one after the other.
    """
    n_rows, n_judges = answers.shape
    n_classes = scores.shape[1]
    n_words = (weights.shape[0] // n_classes - 1 - n_judges) // (2 * n_judges)
    for i in range(n_rows):
        for k in range(n_classes):
            scores[i, k] = weights[k]
        for j in range(n_judges):
            word = answers[i, j]
            place = (1 + j * (n_words + 1) + word) * n_classes
            for k in range(n_classes):
                scores[i, k] += weights[place + k]
            if word < n_words:
                place = (1 + n_judges * (n_words + 1) + j * n_words + word) * n_classes
                for k in range(n_classes):
                    scores[i, k] += confidence[i, j] * weights[place + k]


@kernel("void(float64[:, ::1])")
def softmax_rows(scores: Floats) -> None:
    """Turn scores into probabilities, with the exponential and the order of sums that any language has."""
    n_rows, n_classes = scores.shape
    for i in range(n_rows):
        top = scores[i, 0]
        for k in range(1, n_classes):
            top = max(top, scores[i, k])
        total = 0.0
        for k in range(n_classes):
            scores[i, k] = math.exp(scores[i, k] - top)
            total += scores[i, k]
        for k in range(n_classes):
            scores[i, k] /= total


@kernel("void(float64[:, ::1], float64[::1], float64[::1], float64, float64[:, ::1])")
def scale_confidence(confidence: Floats, low: Floats, high: Floats, finest: float, scaled: Floats) -> None:
    """Put confidences on the scale of :class:`shortlist.panels.decisions.ConfidenceScale`; NaN stays."""
    n_rows, n_judges = confidence.shape
    for i in range(n_rows):
        for j in range(n_judges):
            scaled[i, j] = math.nan
            if not math.isnan(confidence[i, j]):
                share = (confidence[i, j] - low[j]) / (high[j] - low[j])
                share = max(0.0, min(1.0, share))
                scaled[i, j] = math.log(1 - share + finest) / math.log(finest)


@kernel(
    "float64(int64[:, ::1], float64[:, ::1], int64[::1], float64[::1], float64, float64[:, ::1], float64[::1])"
)
def logistic_loss(
    answers: Longs,
    confidence: Floats,
    truth: Longs,
    weights: Floats,
    penalty: float,
    scores: Floats,
    gradient: Floats,
) -> float:
    """Return the log loss of the softmax of scores with a squared penalty, and write its gradient."""
    n_rows, n_judges = answers.shape
    n_classes = scores.shape[1]
    n_words = (weights.shape[0] // n_classes - 1 - n_judges) // (2 * n_judges)
    loss = 0.0
    for place in range(weights.shape[0]):
        gradient[place] = penalty * weights[place]
        loss += 0.5 * penalty * weights[place] ** 2
    add_scores(answers, confidence, weights, scores)
    for i in range(n_rows):
        top = scores[i, 0]
        for k in range(1, n_classes):
            top = max(top, scores[i, k])
        own = scores[i, truth[i]]
        total = 0.0
        for k in range(n_classes):
            scores[i, k] = math.exp(scores[i, k] - top)
            total += scores[i, k]
        loss += math.log(total) + top - own
        for k in range(n_classes):
            scores[i, k] = scores[i, k] / total - (1.0 if truth[i] == k else 0.0)
            gradient[k] += scores[i, k]
        for j in range(n_judges):
            word = answers[i, j]
            place = (1 + j * (n_words + 1) + word) * n_classes
            for k in range(n_classes):
                gradient[place + k] += scores[i, k]
            if word < n_words:
                place = (1 + n_judges * (n_words + 1) + j * n_words + word) * n_classes
                for k in range(n_classes):
                    gradient[place + k] += confidence[i, j] * scores[i, k]
    return loss
