"""Kernels of panels: scores from answers, and the thresholds of chains as sums of step functions."""

import math

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs


@kernel("void(int64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1])")
def add_scores(answers: Longs, confidence: Floats, weights: Floats, scores: Floats) -> None:
    """Write into `scores`, for each case and class, the sum of the scores of the answers.

    `answers`: class indices; the index after the last class is silence, which has no score per unit of
    confidence. `weights`: weights of :class:`shortlist.panels.decisions.ScoreTable`, in one array.
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
    """Turn scores into probabilities; any language can repeat the exponential and the order of the sums."""
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


@kernel(
    "void(int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], float64, float64[:, ::1], "
    "int64[::1], float64[::1])"
)
def decide_by_scores(
    answers: Longs,
    confidence: Floats,
    weights: Floats,
    fold: Longs,
    equal: float,
    scores: Floats,
    codes: Longs,
    sure: Floats,
) -> None:
    """Write the most probable class of each case and its probability; -1 and 0 if undecided.

    `weights`: as in :func:`add_scores`, a row for each fold. `fold`: row of the weights for each case.
    `equal`: a case is undecided if its two most probable classes differ by no more than this. `scores`: one
    row of scratch memory.
    """
    n_words = scores.shape[1]
    for i in range(answers.shape[0]):
        codes[i], sure[i] = -1, 0.0
        asked = False
        for j in range(answers.shape[1]):
            asked |= answers[i, j] < n_words
        if not asked:
            continue
        add_scores(answers[i : i + 1], confidence[i : i + 1], weights[fold[i]], scores)
        softmax_rows(scores)
        winner, second = 0, -1.0
        for k in range(1, n_words):
            if scores[0, k] > scores[0, winner]:
                winner, second = k, scores[0, winner]
            else:
                second = max(second, scores[0, k])
        if scores[0, winner] - second > equal:
            codes[i], sure[i] = winner, scores[0, winner]


@kernel("void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], float64[::1])")
def decide_by_votes(
    answers: Longs,
    votes: Longs,
    fold: Longs,
    how: Longs,
    tally: Longs,
    codes: Longs,
    sure: Floats,
) -> None:
    """Write the class with most votes of each case, and its share of votes; -1 and 0 if undecided.

    `votes`: number of votes of each judge, a row for each fold. `fold`: row of the votes for each case.
    `how`: four flags, 1 or 0. The first requires more than half of the votes; the second counts silent votes
    in the denominator; the third decides a tie for the first of the tied classes; the last decides a tie for
    the class that was answered latest. `tally`: scratch memory of two rows, with a column for each class and
    for silence. The first row counts votes; the second row holds the last judge with this answer. Only
    answers that occur are visited, so the time does not grow with the number of classes.
    """
    n_words = tally.shape[1] - 1
    majority, counted, ties, latest = how[0] == 1, how[1] == 1, how[2] == 1, how[3] == 1
    tally[:] = 0
    for i in range(answers.shape[0]):
        for j in range(answers.shape[1]):
            tally[0, answers[i, j]] += votes[fold[i], j]
            tally[1, answers[i, j]] = j + 1
        winner, n_equal, most, total = 0, 1, 0, 0
        for j in range(answers.shape[1]):
            k = answers[i, j]
            if k == n_words or tally[1, k] != j + 1:
                continue
            total += tally[0, k]
            if tally[0, k] > most:
                winner, n_equal, most = k, 1, tally[0, k]
            elif tally[0, k] == most:
                n_equal += 1
                if latest or k < winner:
                    winner = k
        if counted:
            total += tally[0, n_words]
        for j in range(answers.shape[1]):
            tally[0, answers[i, j]], tally[1, answers[i, j]] = 0, 0
        codes[i], sure[i] = -1, 0.0
        if most > 0 and (ties or n_equal == 1) and (not majority or 2 * most > total):
            codes[i], sure[i] = winner, most / max(1, total)


@kernel("void(float64[::1], float64[::1], float64[::1], float64, float64[:])")
def scale_confidence(confidence: Floats, knots: Floats, values: Floats, usual: float, scaled: Floats) -> None:
    """Convert confidences of one judge by its :class:`shortlist.panels.decisions.Curve`.

    NaN becomes `usual`.
    """
    last = knots.shape[0] - 1
    for i in range(confidence.shape[0]):
        sure = confidence[i]
        if math.isnan(sure):
            scaled[i] = usual
        elif sure <= knots[0]:
            scaled[i] = values[0]
        elif sure >= knots[last]:
            scaled[i] = values[last]
        else:
            after = 1
            while knots[after] <= sure:
                after += 1
            share = (sure - knots[after - 1]) / (knots[after] - knots[after - 1])
            scaled[i] = values[after - 1] + share * (values[after] - values[after - 1])


@kernel(
    "float64(int64[:, ::1], float64[:, ::1], int64[::1], float64[::1], float64, float64[:, ::1], "
    "float64[::1])"
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
    """Return the log loss of the softmax of scores plus a squared penalty; write the gradient of this sum."""
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


@kernel("int64(int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1])")
def group_steps(
    order: Longs, breaks: Longs, stopped: Longs, going_on: Longs, cuts: Longs, points: Longs
) -> int:
    """Write loss and price of a group of cases at each threshold, cheapest first; return the point count.

    At a threshold the first cases of `order`, the surest, stop, and the other cases continue. `stopped`,
    `going_on`: loss and price of each case if it stops, and if it continues. `breaks`: flag of each number of
    stopped cases, 1 if a threshold can lie there. Dominated points are not written. `cuts` gets the number of
    stopped cases at each point. Continuing must cost at least as much as stopping.
    """
    n_cases = order.shape[0]
    loss, price = 0, 0
    for i in range(n_cases):
        loss += stopped[order[i], 0]
        price += stopped[order[i], 1]
    count = 0
    least = loss + 1
    cut = n_cases
    while True:
        if breaks[cut] == 1 and loss < least:
            if count > 0 and points[count - 1, 1] == price:
                count -= 1
            cuts[count] = cut
            points[count, 0] = loss
            points[count, 1] = price
            least = loss
            count += 1
        if cut == 0:
            return count
        cut -= 1
        case = order[cut]
        loss += going_on[case, 0] - stopped[case, 0]
        price += going_on[case, 1] - stopped[case, 1]
