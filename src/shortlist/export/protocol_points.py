"""Whole points in place of the products of a score, as in clinical scores, and what they lose on rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.export.protocol_scores import (
    ITS_NUMBER,
    NO_VALUE,
    LinearScore,
    ScorePart,
    added_weights,
    plain,
)

LEAST_PRODUCTS = 6
"""Fewest products for which points are offered: about as many as people keep in view at once."""
MOST_POINTS = 10
"""Most points of a value, or the spread if that is more; least are 0."""
SPREADS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
"""How many points the feature that moves the score most may spread over; the spread that loses least is
taken, and the smaller one of two that lose the same.
"""
MOST_BANDS = 100
"""Most bands of all features with which a spread beyond `MOST_POINTS` is tried: about two pages of paper."""
MIDDLE = (2.5, 97.5)
"""Percentiles between which the spread of a number is measured, so that one far-off row does not decide."""


class FeaturePoints(NamedTuple):
    """What the values of one feature count."""

    feature: str
    limits: tuple[str, ...]
    """Of a number: from which value on the next of `points` counts, rising."""
    points: tuple[int, ...]
    """Of a number: one more than `limits`; empty for words."""
    words: tuple[tuple[str, int], ...]
    """The points of words, and of a gap."""

    def text(self) -> str:
        """Return the points as a line of a table."""
        told = [f"{count} from {limit}" for limit, count in zip(self.limits, self.points[1:], strict=True)]
        if self.points:
            told.insert(0, f"{self.points[0]} {f'below {self.limits[0]}' if told else 'for any number'}")
        return "; ".join([*told, *(f"{count} for {word}" for word, count in self.words)])


class AnswersGiven(NamedTuple):
    """How some rows are answered: how many, and how many of those rightly; None where that is not known."""

    n_answered: int
    n_right: int | None


@dataclass(frozen=True)
class Points:
    """Points in place of a score, and how they answer the rows that they were chosen on."""

    n_products: int
    """What the exact score needs of products."""
    worth: float
    """What one point is worth of the score."""
    features: tuple[FeaturePoints, ...]
    left_out: tuple[str, ...]
    """Features whose values all count the same."""
    at_most: int | None
    """Up to how many points the first class is answered; None for never."""
    at_least: int | None
    """From how many points on the second class is answered; None for never."""
    n_rows: int
    """Rows that reach the step when scores are added up exactly."""
    n_changed: int
    """Of those, the ones that the points answer otherwise, or that only one of both answers."""
    exact: AnswersGiven
    by_points: AnswersGiven

    def loss(self) -> str:
        """Say what the points lose."""
        told = (
            f"Measured on the {counted(self.n_rows, 'row')} of the table that reach this step, on which the "
            f"points were chosen, which is optimistic: {self.n_changed:,} "
            f"({self.n_changed / self.n_rows:.1%}) get another outcome than by the score. "
            f"Answered: {self.exact.n_answered / self.n_rows:.1%} by the score, "
            f"{self.by_points.n_answered / self.n_rows:.1%} by points."
        )
        shares = [
            f"{one.n_right / one.n_answered:.1%}" if one.n_answered else "none"
            for one in (self.exact, self.by_points)
            if one.n_right is not None
        ]
        if not shares:
            return f"{told} How many answers are right is not known, as the table does not have all outcomes."
        return f"{told} Right of those answered: {shares[0]} by the score, {shares[1]} by points."

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
    """Return how many products the sums of a score need."""
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


def points_parts(points: Points, classes: Sequence[str], number: int) -> Iterator[tuple[str, object]]:
    """Yield the parts of a protocol that say what to do in place of adding up the score of a step."""
    told = (
        f"Instead of adding up the {points.n_products} products of step {number}, you may look every value "
        "up here and add up whole points. They do not always answer as the score does. Whatever is promised "
        "or was measured elsewhere is about the score."
    )
    yield "heading", f"Points for step {number}"
    yield "text", told
    yield "table", [["feature", "points"], *([one.feature, one.text()] for one in points.features)]
    if points.left_out:
        yield "text", f"Left out, as no value counts a point: {all_of(points.left_out, most=100)}."
    first, second = classes
    yield (
        "list",
        [
            f"This step never answers {first}."
            if points.at_most is None
            else f"Answer {first} if the points are at most {points.at_most}.",
            f"This step never answers {second}."
            if points.at_least is None
            else f"Answer {second} if the points are at least {points.at_least}.",
            f"Otherwise go on as in step {number}.",
        ],
    )
    yield "text", f"One point is worth {points.worth:.3g} of the score. {points.loss()}"


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
    """Return what the values of a feature count, as it is printed, ``(n_rows,)``."""
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
