"""The linear scores of stages: what is added up for each value, exactly, as printed, and as whole points.

Whole points stand in place of the products of a score, as in clinical scores; rows tell what they lose.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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
case."""


def plain(text: Any) -> str:
    r"""Return a name with every character written out that cannot be printed.

    >>> print(plain("two\nlines"))
    two\nlines
    """
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in str(text)
    )


class ScorePart(NamedTuple):
    """A line of a score before it is printed: the column that it is about, None for none, and its numbers.

    The first one is the start.
    """

    feature: str
    value: str
    column: int | None
    adds: NDArray[np.float64]
    fill: tuple[int, float] | None = None
    """Filling of a gap in a number: the column of the number, and the value in its place."""


class LinearScore(NamedTuple):
    """A linear score, and from which number on it answers each class."""

    parts: tuple[ScorePart, ...]
    limits: tuple[float, ...]
    """Limits of the score: log-odds with two classes, otherwise probabilities; infinite where a class is
    never answered.
    """
    probabilities: tuple[float, ...]


class PrintedNumbers(NamedTuple):
    """A linear score as it is printed."""

    parts: tuple[ScorePart, ...]
    adds: tuple[tuple[str, ...], ...]
    limits: tuple[str, ...]

    def answers(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of each encoded row by the printed numbers, -1 for none."""
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
    """Return the weights of encoded columns of which each part adds its numbers, ``(n_columns, n_sums)``."""
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
    """Return from which log-odds on a class is answered, or up to which total; infinite for never."""
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
    """Return a score with some significant digits."""
    adds = tuple(tuple(number_text(number, digits) for number in part.adds.tolist()) for part in score.parts)
    limits = tuple("" if math.isinf(limit) else number_text(limit, digits) for limit in score.limits)
    return PrintedNumbers(score.parts, adds, limits)


def number_text(number: float, digits: int) -> str:
    """Return a number with some significant digits, without an exponent where that is readable."""
    if number == 0 or 1e-6 <= abs(number) < 10**9:
        return np.format_float_positional(number, precision=digits, unique=False, fractional=False, trim="-")
    return f"{number:.{digits}g}"


LEAST_PRODUCTS = 6
"""Fewest products for which points are offered: about as many as people keep in view at once."""
MOST_POINTS = 10
"""Most points of a value, or the spread if that is more; least are 0."""
SPREADS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
"""Numbers of points for the feature that moves the score most; the number with the least loss is taken, the
smaller one of equals.
"""
MOST_BANDS = 100
"""Most bands of all features with which a spread beyond `MOST_POINTS` is tried: about two pages of paper."""
MIDDLE = (2.5, 97.5)
"""Percentiles between which the spread of a number is measured, so that one far-off row does not decide."""


class FeaturePoints(NamedTuple):
    """Points for the values of one feature."""

    feature: str
    limits: tuple[str, ...]
    """Values of a number from which on the next of `points` counts, rising."""
    points: tuple[int, ...]
    """Points of a number, one more than `limits`; empty for words."""
    words: tuple[tuple[str, int], ...]
    """The points of words, and of a gap."""

    def text(self) -> str:
        """Return the points as a line of a table."""
        told = [f"{count} from {limit}" for limit, count in zip(self.limits, self.points[1:], strict=True)]
        if self.points:
            told.insert(0, f"{self.points[0]} {f'below {self.limits[0]}' if told else 'for any number'}")
        return "; ".join([*told, *(f"{count} for {word}" for word, count in self.words)])


class AnswersGiven(NamedTuple):
    """Numbers of rows answered, and answered rightly; None if unknown."""

    n_answered: int
    n_right: int | None


@dataclass(frozen=True)
class Points:
    """Points in place of a score, and how they answer the rows that they were chosen on."""

    n_products: int
    """Number of products in the exact score."""
    worth: float
    """Worth of one point in the score."""
    features: tuple[FeaturePoints, ...]
    left_out: tuple[str, ...]
    """Features whose values all count the same."""
    at_most: int | None
    """Number of points up to which the first class is answered; None for never."""
    at_least: int | None
    """Number of points from which on the second class is answered; None for never."""
    n_rows: int
    """Rows that reach the step when scores are added up exactly."""
    n_changed: int
    """Number of those that the points answer otherwise, or that only one of both answers."""
    exact: AnswersGiven
    by_points: AnswersGiven

    def as_dict(self) -> dict[str, Any]:
        """Return the points as JSON has them."""
        return {
            "n_products": self.n_products,
            "worth": self.worth,
            "features": [
                one._asdict() | {"limits": [float(limit) for limit in one.limits]} for one in self.features
            ],
            "left_out": list(self.left_out),
            "at_most": self.at_most,
            "at_least": self.at_least,
            "n_rows": self.n_rows,
            "n_changed": self.n_changed,
            "by_score": self.exact._asdict(),
            "by_points": self.by_points._asdict(),
        }


def n_products(score: LinearScore) -> int:
    """Return the number of products that the sums of a score need."""
    numbers = [part for part in score.parts if part.value == ITS_NUMBER]
    return int(sum(np.count_nonzero(part.adds) for part in numbers))


def points_of(
    score: LinearScore,
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    outcomes: NDArray[np.int64] | None = None,
    *,
    spreads: Sequence[int] = SPREADS,
) -> Points | None:
    """Return points in place of a score with two classes; None where there are no rows, or nothing varies.

    A value counts its product with the weight, divided by what a point is worth and rounded; a word counts
    its rounded weight. The limits of the score become numbers of points by the mean of both over the rows.

    `rows`, ``(n_rows, n_columns)``: encoded rows that reach the step. `labels`, ``(n_rows,)``: the class that
    it answers, -1 for none. `outcomes`, ``(n_rows,)``: what is true, -1 where that is not known. `spreads`:
    see :data:`SPREADS`.
    """
    groups = _groups(score)
    if not len(rows) or (widest := max((_range(parts, rows) for parts in groups), default=0.0)) <= 0:
        return None
    adds = [part.adds for part in score.parts]
    sums = (rows @ added_weights(score.parts, adds, rows.shape[1]) + adds[0])[:, 0]
    none = np.zeros(len(rows), np.int64)
    found = []
    for spread in spreads:
        worth = widest / spread
        features = [_feature(parts, rows, worth, max(spread, MOST_POINTS)) for parts in groups]
        if spread > MOST_POINTS and sum(len(one.points) for one in features) > MOST_BANDS:
            continue
        counts = sum((_counted(one, parts, rows) for one, parts in zip(features, groups, strict=True)), none)
        # the score is worth × points + shift in the mean
        shift = float(np.mean(sums - worth * counts))
        first, second = score.limits
        at_most = None if math.isinf(first) else math.floor((-first - shift) / worth)
        at_least = None if math.isinf(second) else math.ceil((second - shift) / worth)
        if at_most is not None and at_least is not None:
            at_least = max(at_least, at_most + 1)
        said = _answers(counts, at_most, at_least)
        kept = [one for one in features if len({*one.points, *(count for _, count in one.words)}) > 1]
        found.append(
            Points(
                n_products(score),
                worth,
                tuple(kept),
                tuple(one.feature for one in features if one not in kept),
                at_most,
                at_least,
                len(rows),
                int((said != labels).sum()),
                _told(labels, outcomes),
                _told(said, outcomes),
            )
        )
    return min(found, key=lambda one: one.n_changed, default=None)


def points_answers(points: Points, score: LinearScore, rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class of each encoded row by points in place of a score, -1 for none, ``(n_rows,)``."""
    by_name = {one.feature: one for one in points.features}
    counts = np.zeros(len(rows), np.int64)
    for parts in _groups(score):
        if (told := by_name.get(plain(parts[0].feature))) is not None:
            counts += _counted(told, parts, rows)
    return _answers(counts, points.at_most, points.at_least)


def _groups(score: LinearScore) -> list[list[ScorePart]]:
    return [list(parts) for _, parts in groupby(score.parts[1:], key=lambda part: part.feature)]


def _answers(counts: NDArray[np.int64], at_most: int | None, at_least: int | None) -> NDArray[np.int64]:
    said = np.full(len(counts), -1)
    said[counts <= (-math.inf if at_most is None else at_most)] = 0
    said[counts >= (math.inf if at_least is None else at_least)] = 1
    return said


def _told(labels: NDArray[np.int64], outcomes: NDArray[np.int64] | None) -> AnswersGiven:
    answered = labels >= 0
    if outcomes is None or (outcomes < 0).any():
        return AnswersGiven(int(answered.sum()), None)
    return AnswersGiven(int(answered.sum()), int((labels == outcomes)[answered].sum()))


def _numbers(
    parts: list[ScorePart], rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the values of a number in all rows, and where it is a gap."""
    gap = parts[1].column if len(parts) > 1 else None
    return rows[:, parts[0].column], np.zeros(len(rows), bool) if gap is None else rows[:, gap] == 1


def _range(parts: list[ScorePart], rows: NDArray[np.float64]) -> float:
    if parts[0].value != ITS_NUMBER:
        adds = [float(part.adds[0]) for part in parts]
        return max(adds) - min(adds)
    values, gaps = _numbers(parts, rows)
    if gaps.all():
        return 0.0
    low, high = np.percentile(values[~gaps], MIDDLE)
    return float(abs(parts[0].adds[0]) * (high - low))


def _feature(
    parts: list[ScorePart], rows: NDArray[np.float64], worth: float, most_points: int
) -> FeaturePoints:
    name = plain(parts[0].feature)
    if parts[0].value != ITS_NUMBER:
        base = min(float(part.adds[0]) for part in parts)
        return FeaturePoints(
            name,
            (),
            (),
            tuple((plain(part.value), _rounded(part, base, worth, most_points)) for part in parts),
        )
    weight = float(parts[0].adds[0])
    values, gaps = _numbers(parts, rows)
    products = weight * values[~gaps] if not gaps.all() else np.zeros(1)
    low, high = np.percentile(products, MIDDLE)
    least, middle, top = (round(float(one - low) / worth) for one in (products.min(), high, products.max()))
    below = min(-least, (most_points - middle) // 2)
    top = below + min(top, most_points - below)
    base = float(low) - below * worth
    texts: list[str] = []
    points = [*range(top + 1)]
    if top:
        limits = [(base + (count + 0.5) * worth) / weight for count in range(top)]
        if weight < 0:
            limits.reverse()
            points.reverse()
        # a tenth of the width of a band is lost at most
        decimals = math.ceil(1 - math.log10(worth / abs(weight)))
        texts = [np.format_float_positional(round(limit, decimals), trim="-") for limit in limits]
    gap = [(NO_VALUE, _rounded(parts[1], base, worth, most_points))] if len(parts) > 1 else []
    return FeaturePoints(name, tuple(texts), tuple(points), tuple(gap))


def _rounded(part: ScorePart, base: float, worth: float, most_points: int) -> int:
    return min(most_points, max(0, round((float(part.adds[0]) - base) / worth)))


def _counted(told: FeaturePoints, parts: list[ScorePart], rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the points of the values of a feature, as printed, ``(n_rows,)``."""
    counts = [count for _, count in told.words]
    if told.points:
        values, gaps = _numbers(parts, rows)
        places = np.searchsorted([float(limit) for limit in told.limits], values, side="right")
        return np.where(gaps, counts[0] if counts else 0, np.array(told.points)[places])
    # words without a column are those that no row was fitted on, and the first one of two
    plain_words = [count for part, count in zip(parts, counts, strict=True) if part.column is None]
    total = np.full(len(rows), plain_words[0] if plain_words else 0)
    for part, count in zip(parts, counts, strict=True):
        if part.column is not None:
            total[rows[:, part.column] == 1] = count
    return total
