"""Linear scores of stages: the number to add for each value, exactly and as printed."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.export.member_numbers import numbers_of
from shortlist.guarantees.cells import label_text
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.prediction import FittedStage
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.logistic_fits import LogisticModel

ITS_NUMBER, NO_VALUE, START = "its number ×", "(no value)", "start"
"""Labels of the lines of a score that are no words: the value of a feature, a gap, and the start of every
case.
"""


def plain(text: Any) -> str:
    r"""Return a name in which characters that cannot be printed are written as escapes.

    >>> print(plain("two\nlines"))
    two\nlines
    """
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in str(text)
    )


class ScorePart(NamedTuple):
    """Line of a score before printing: its column, None for a line without column, and its numbers.

    The first line is the start.
    """

    feature: str
    value: str
    column: int | None
    adds: NDArray[np.float64]
    fill: tuple[int, float] | None = None
    """Filling of a gap in a number: the index of the column, and the value that replaces the gap."""


class LinearScore(NamedTuple):
    """Linear score, and for each class the limit from which the score answers the class."""

    parts: tuple[ScorePart, ...]
    limits: tuple[float, ...]
    """Limits of the score: log-odds with two classes, otherwise probabilities; infinite for a class that is
    never answered.
    """
    probabilities: tuple[float, ...]


class PrintedNumbers(NamedTuple):
    """Linear score in printed digits."""

    parts: tuple[ScorePart, ...]
    adds: tuple[tuple[str, ...], ...]
    limits: tuple[str, ...]

    def answers(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class index of each encoded row by the printed numbers, -1 for a row without answer."""
        start, *adds = [np.array([float(text) for text in texts]) for texts in self.adds]
        weights = added_weights(self.parts, [start, *adds], rows.shape[1])
        sums = rows @ weights + start
        limits = np.array([math.inf if text == "" else float(text) for text in self.limits])
        if len(start) == 1:
            labels = (sums[:, 0] > 0).astype(np.int64)
            sure = np.where(labels == 1, sums[:, 0], -sums[:, 0]) >= limits[labels]
        else:
            labels = sums.argmax(axis=1)
            totals = np.exp(sums - sums.max(axis=1, keepdims=True)).sum(axis=1)
            sure = totals <= np.where(np.isinf(limits), 0.0, limits)[labels]
        return np.where(sure, labels, -1)


def added_weights(
    parts: Sequence[ScorePart], adds: Sequence[NDArray[np.float64]], n_columns: int
) -> NDArray[np.float64]:
    """Return the weights of encoded columns from the numbers of each part, ``(n_columns, n_sums)``."""
    weights = np.zeros((n_columns, len(adds[0])))
    for part, numbers in zip(parts[1:], adds[1:], strict=True):
        if part.column is not None:
            weights[part.column] = numbers
    for part in parts:  # the number of a gap stands in place of that of its filling
        if part.fill is not None and part.column is not None:
            column, fill = part.fill
            weights[part.column] -= fill * weights[column]
    return weights


def linear_score(stage: FittedStage, classifier: MultiStageClassifier) -> LinearScore | None:
    """Return the score of a stage, in the units of the table; None if its classifier is not linear."""
    model, encoding = stage.model, classifier.model_.encoding
    n_classes = len(classifier.classes_)
    columns = np.asarray(model.columns)
    if isinstance(model, LogisticModel):
        chosen, intercepts = model.coefficients[:, columns], model.coefficients[:, -1]
    else:
        numbers = numbers_of(model.estimator) or {"kind": ""}
        if numbers["kind"] != "linear" or len(model.estimator.classes_) < n_classes:
            return None
        chosen, intercepts = np.array(numbers["weights"]), np.array(numbers["intercepts"])
    weights = np.zeros((len(chosen), int(encoding.starts[-1])))
    weights[:, columns] = chosen
    parts = [ScorePart(START, "", None, intercepts)]
    for feature in np.flatnonzero(stage.subset):
        parts += _parts(encoding, int(feature), weights)
    probabilities = tuple(max(one, stage.least) for one in classifier.model_.rule.thresholds)
    limits = tuple(score_limit(one, n_classes) for one in probabilities)
    return LinearScore(tuple(parts), limits, probabilities)


def score_limit(probability: float, n_classes: int) -> float:
    """Return the least log-odds at which a class is answered, or with several classes the largest total.

    Infinite if the class is never answered.
    """
    if probability > 1 or (n_classes == 2 and probability == 1):
        return math.inf
    if n_classes > 2:  # the largest of n has 1 / n at least
        return 1 / max(probability, 1 / n_classes)
    return max(0.0, math.log(probability) - math.log1p(-probability))


def _parts(encoding: Encoding, feature: int, weights: NDArray[np.float64]) -> Iterator[ScorePart]:
    code, first = encoding.codes[feature], int(encoding.starts[feature])
    if code.categories is None:
        yield ScorePart(code.name, ITS_NUMBER, first, weights[:, first])
        if code.allows_missing:
            gap = weights[:, first + 1] + code.fill * weights[:, first]
            yield ScorePart(code.name, NO_VALUE, first + 1, gap, (first, code.fill))
        return
    places = {word: first + place for place, word in enumerate(code.categories)}
    for word in code.categories if code.words is None else code.words:
        column = places.get(word)
        adds = np.zeros(len(weights)) if column is None else weights[:, column]
        yield ScorePart(code.name, label_text(word), column, adds)
    if code.allows_missing:
        last = first + len(code.categories)
        yield ScorePart(code.name, NO_VALUE, last, weights[:, last])


def printed_score(score: LinearScore, digits: int) -> PrintedNumbers:
    """Return a score with its numbers in a given number of significant digits."""
    adds = tuple(tuple(number_text(number, digits) for number in part.adds.tolist()) for part in score.parts)
    limits = tuple("" if math.isinf(limit) else number_text(limit, digits) for limit in score.limits)
    return PrintedNumbers(score.parts, adds, limits)


def number_text(number: float, digits: int) -> str:
    """Return a number in a given number of significant digits, without an exponent where this is readable."""
    if number == 0 or 1e-6 <= abs(number) < 10**9:
        return np.format_float_positional(number, precision=digits, unique=False, fractional=False, trim="-")
    return f"{number:.{digits}g}"
