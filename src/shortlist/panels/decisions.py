"""Decision on a case by the answers so far: by votes, by learned scores, or by the latest confidence.

A decision names a class and a confidence from 0 to 1. Without any answer a case is undecided. If classes are
tied, the case is undecided too, unless a rule for ties is requested. The confidence of an undecided case is
0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels._kernels import (
    add_scores,
    decide_by_scores,
    decide_by_votes,
    scale_confidence,
    softmax_rows,
)
from shortlist.panels.answer_log import AnswerLog, can_agree

EQUAL = 1e-9
"""Difference up to which probabilities are equal, so that the order of their sums does not matter."""

MOST_KNOTS, FEWEST_AT_KNOT = 10, 30
"""Largest number of knots of a curve, and least number of cases at each knot; a judge with few cases has two
knots.
"""

LOG_ODDS = 4.0
"""Log-odds of one unit of confidence, so that most confidences lie between 0 and 1."""

PLURALITY, MAJORITY = "plurality", "majority"
VOTE_RULES = (PLURALITY, MAJORITY)
"""Vote rules: most votes, or more than half of all votes."""

IGNORED, COUNTED = "ignored", "counted"
MISSING = (IGNORED, COUNTED)
"""Treatment of missing votes: left out of the denominator of a majority and of the confidence, or counted in
it.
"""

UNANSWERED, FIRST, LATEST = "unanswered", "first", "latest"
TIES = (UNANSWERED, FIRST)
"""Treatment of equal votes: no decision, or the first of the equal classes.

Agreement cascades take the latest of the equal classes, by the order in which judges are asked.
"""


class Decided(NamedTuple):
    """Decisions about cases.

    `codes`: class indices, ``(n_cases,)``; -1 without a decision. `sure`: confidence from 0 to 1,
    ``(n_cases,)``; 0 without a decision.
    """

    codes: NDArray[np.int64]
    sure: Floats


class Heard(NamedTuple):
    """Answers in the form that decisions take, with one column for each judge.

    `words`: class indices of the answers, ``(n_cases, n_judges)``; ``n_classes`` for silence. `confidence`:
    confidence of each judge on the scale of :class:`ConfidenceScale`, ``(n_cases, n_judges)``; 0 where the
    judge gives none.
    """

    words: NDArray[np.int64]
    confidence: Floats
    n_classes: int

    def at(self, rows: Any) -> "Heard":
        """Return the answers to some of the cases."""
        return Heard(self.words[rows], self.confidence[rows], self.n_classes)

    def of(self, judges: Any) -> "Heard":
        """Return the answers of some judges."""
        places = list(judges)
        words, confidence = self.words[:, places], self.confidence[:, places]
        return Heard(np.ascontiguousarray(words), np.ascontiguousarray(confidence), self.n_classes)


class Curve(NamedTuple):
    """Credibility of a judge by its confidence: straight lines between knots, and constant outside them.

    `knots`: confidences, rising, ``(n_knots,)``. `values`: log-odds that the judge is right at each knot, in
    units of `LOG_ODDS`, ``(n_knots,)``. `usual`: value for a missing confidence.
    """

    knots: Floats
    values: Floats
    usual: float


@dataclass(frozen=True, eq=False)
class ConfidenceScale:
    """Conversion of the confidence of each judge, on any scale, to a common scale of credibility.

    `curves`: one per judge; None for a judge that never gives a confidence.

    >>> scale = ConfidenceScale((Curve(np.array([0.5, 0.9]), np.array([0.0, 1.0]), 0.25), None))
    >>> scale.of(np.array([[0.7, 0.7], [0.95, 0.7], [np.nan, 0.7]]), (3, 2)).round(6).tolist()
    [[0.5, 0.0], [1.0, 0.0], [0.25, 0.0]]
    """

    curves: tuple[Curve | None, ...]

    @property
    def told(self) -> NDArray[np.bool_]:
        """Mask of the judges that report a confidence, ``(n_judges,)``."""
        return np.array([curve is not None for curve in self.curves], dtype=bool)

    def at(self, judges: Any) -> "ConfidenceScale":
        """Return the scale of some judges."""
        return ConfidenceScale(tuple(self.curves[judge] for judge in judges))

    def told_as(self, judge: int, value: float) -> float:
        """Return the confidence that a judge reports where the scale has a given value.

        The judge's values must rise with its confidence.
        """
        curve = self.curves[judge]
        return value if curve is None else float(np.interp(value, curve.values, curve.knots))

    def of(self, confidence: Floats | None, shape: tuple[int, int]) -> Floats:
        """Return confidences on the scale, ``(n_cases, n_judges)``; 0 for a judge that never gives one."""
        scaled = np.zeros(shape)
        for judge, curve in enumerate(self.curves):
            if curve is not None and confidence is None:
                scaled[:, judge] = curve.usual
            elif curve is not None and confidence is not None:
                scale_confidence(np.ascontiguousarray(confidence[:, judge]), *curve, scaled[:, judge])
        return scaled


def confidence_scale(log: AnswerLog) -> ConfidenceScale:
    """Return the scale of the confidences of a log, learned from its cases of known truth.

    In a log of scores alone, confidences of a judge from 0 to 1 stay as they are. Other confidences are
    mapped linearly: the least to 0.5, the largest to 1. A missing confidence becomes 0.

    In other logs the cases of a judge are sorted by confidence, and cut into parts of about equal size. Each
    part gives a knot at its middle confidence; the value is the log-odds of the part's share of right
    answers. So values need not rise with confidence: some judges report the probability of one class, and are
    credible at both ends.
    """
    if log.confidence is None:
        return ConfidenceScale((None,) * len(log.judges))
    curves, is_plain = [], log.is_open and not can_agree(log)
    for said, sure, right in zip(log.answers.T, log.confidence.T, log.is_right.T, strict=True):
        told = np.isfinite(sure) & (said >= 0) & (log.truth >= 0)
        curve = (
            _plain_curve(sure[told]) if is_plain else _curve(sure[told], right[told]) if told.any() else None
        )
        curves.append(curve)
    return ConfidenceScale(tuple(curves))


def _plain_curve(sure: Floats) -> Curve | None:
    """Return a curve that keeps confidences between 0 and 1, or maps other confidences to 0.5 to 1.

    None if all confidences are equal.
    """
    if not len(sure) or sure.min() == sure.max():
        return None
    if sure.min() >= 0 and sure.max() <= 1:
        return Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.0)
    return Curve(np.array([sure.min(), sure.max()]), np.array([0.5, 1.0]), 0.0)


def _curve(sure: Floats, right: NDArray[np.bool_]) -> Curve:
    n_parts = max(2, min(MOST_KNOTS, len(sure) // FEWEST_AT_KNOT))
    edges = np.unique(np.quantile(sure, np.arange(1, n_parts) / n_parts))
    _, part = np.unique(np.searchsorted(edges, sure, side="right"), return_inverse=True)
    counts = np.bincount(part)
    shares = (np.bincount(part, weights=right) + 0.5) / (counts + 1)
    knots = np.sort(sure)[np.cumsum(counts) - (counts + 1) // 2]  # the middle one of each part
    values = np.log(shares / (1 - shares)) / LOG_ODDS
    return Curve(knots, values, float(np.median(np.interp(sure, knots, values))))


def heard(log: AnswerLog, scale: ConfidenceScale) -> Heard:
    """Return the answers of a log in the form that decisions take; judges not asked count as silent."""
    n_classes = len(log.classes)
    words = np.where(log.answers < 0, n_classes, log.answers).astype(np.int64)
    return Heard(words, scale.of(log.confidence, log.answers.shape), n_classes)


class JudgesDecision(Protocol):
    """Decision by the answers of some judges."""

    @property
    def judges(self) -> tuple[int, ...]:
        """Indices of the judges whose answers decide."""

    def decide(self, answers: Heard) -> Decided:
        """Decide cases; `answers` has a column for each of `judges`."""

    def plain(self) -> dict[str, Any]:
        """Return the decision as plain data for an exported policy."""


@dataclass(frozen=True, eq=False)
class JudgeVotes:
    """Votes of judges: the class with most votes wins, or the class with more than half of the votes.

    A tie is not decided, unless `ties` asks for the first or the latest of the tied classes.

    `votes`: number of votes of each judge. `rule`: ``"plurality"`` or ``"majority"``. `missing`:
    ``"ignored"``, or ``"counted"`` if silent votes count in the denominator. `ties`: ``"unanswered"``,
    ``"first"`` or ``"latest"``; the latest is the class of the last of `judges`.

    >>> answers = Heard(np.array([[0, 0, 1], [0, 1, 2], [1, 2, 2]]), np.zeros((3, 3)), 2)
    >>> JudgeVotes((0, 1, 2), (1, 1, 1)).decide(answers).codes.tolist()
    [0, -1, 1]
    >>> JudgeVotes((0, 1, 2), (1, 1, 1), MAJORITY, COUNTED).decide(answers).codes.tolist()
    [0, -1, -1]
    """

    judges: tuple[int, ...]
    votes: tuple[int, ...]
    rule: str = PLURALITY
    missing: str = IGNORED
    ties: str = UNANSWERED

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by votes; the confidence is the winner's share of votes."""
        return decided_by_folds([self], answers, np.zeros(len(answers.words), dtype=np.int64))

    def of(self, judges: tuple[int, ...]) -> "JudgeVotes":
        """Return the votes of some of the judges, by their indices."""
        return replace(self, judges=judges, votes=tuple(self.votes[judge] for judge in judges))

    def plain(self) -> dict[str, Any]:
        """Return the votes as plain data."""
        return {"rule": self.rule, "votes": list(self.votes), "missing": self.missing, "ties": self.ties}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores that every answer adds to each class.

    The softmax of the summed scores gives the probability of each class.

    Logistic regression over labels and confidences has this form. So has the model of Dawid and Skene: its
    scores are logarithms of the rate of each answer to cases of each class.

    `weights`, in one array: the bias, ``(n_classes,)``; the score of each answer, ``(n_judges, n_classes + 1,
    n_classes)``, with silence as the last answer; and the score per unit of confidence, ``(n_judges,
    n_classes, n_classes)``. `rule`: name of the learner.
    """

    judges: tuple[int, ...]
    weights: Floats
    n_classes: int
    rule: str = "logistic"

    def probabilities(self, answers: Heard) -> Floats:
        """Return the probability of each class, ``(n_cases, n_classes)``."""
        scores = np.empty((len(answers.words), self.n_classes))
        add_scores(answers.words, answers.confidence, self.weights, scores)
        softmax_rows(scores)
        return scores

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by the most probable class."""
        return decided_by_folds([self], answers, np.zeros(len(answers.words), dtype=np.int64))

    def of(self, judges: tuple[int, ...]) -> "ScoreTable":
        """Return the scores of some of the judges, by their indices, with the same bias."""
        n, k, places = len(self.judges), self.n_classes, list(judges)
        end = k + n * (k + 1) * k
        labels, slopes = self.weights[k:end].reshape(n, -1)[places], self.weights[end:].reshape(n, -1)[places]
        weights = np.concatenate([self.weights[:k], labels.ravel(), slopes.ravel()])
        return ScoreTable(judges, weights, k, self.rule)

    def plain(self) -> dict[str, Any]:
        """Return the scores as plain data."""
        n, k = len(self.judges), self.n_classes
        bias, labels, slopes = np.split(self.weights, [k, k + n * (k + 1) * k])
        return {
            "rule": self.rule,
            "bias": bias.tolist(),
            "labels": labels.reshape(n, k + 1, k).tolist(),
            "slopes": slopes.reshape(n, k, k).tolist(),
        }


Fitted = JudgeVotes | ScoreTable
"""Learned decisions of judges that answer."""


def decided_by_folds(parts: Sequence[Fitted], answers: Heard, fold: NDArray[np.int64]) -> Decided:
    """Decide each case by the decision of its fold; all decisions have the same judges and kind.

    `fold`, ``(n_cases,)``: index in `parts`.
    """
    one, n_cases = parts[0], len(answers.words)
    codes, sure = np.empty(n_cases, dtype=np.int64), np.empty(n_cases)
    words = np.ascontiguousarray(answers.words)
    if isinstance(one, ScoreTable):
        weights = np.array([part.weights for part in parts if isinstance(part, ScoreTable)])
        confidence = np.ascontiguousarray(answers.confidence)
        scores = np.empty((1, one.n_classes))
        decide_by_scores(words, confidence, weights, fold, EQUAL, scores, codes, sure)
    else:
        votes = np.array([part.votes for part in parts if isinstance(part, JudgeVotes)], dtype=np.int64)
        tally = np.empty((2, answers.n_classes + 1), dtype=np.int64)
        flags = one.rule == MAJORITY, one.missing == COUNTED, one.ties != UNANSWERED, one.ties == LATEST
        decide_by_votes(words, votes, fold, np.array(flags, dtype=np.int64), tally, codes, sure)
    return Decided(codes, sure)


BY_CONFIDENCE = "confidence"
"""Name of the rule that takes the answer of the judge asked last, with its confidence."""


@dataclass(frozen=True, eq=False)
class LatestAnswer:
    """Latest answer, with the confidence of the judge that was asked last.

    The confidence is 0 if that judge gives no answer or no confidence.

    `judges`: in the order of asking.

    >>> answers = Heard(np.array([[0, 1], [0, 2]]), np.array([[0.5, 0.9], [0.5, 0.9]]), 2)
    >>> [column.tolist() for column in LatestAnswer((0, 1)).decide(answers)]
    [[1, 0], [0.9, 0.0]]
    """

    judges: tuple[int, ...]

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by the latest answer."""
        spoke = answers.words < answers.n_classes
        latest = spoke.shape[1] - 1 - spoke[:, ::-1].argmax(axis=1)
        words = answers.words[np.arange(len(latest)), latest]
        codes = np.where(spoke.any(axis=1), words, -1)
        return Decided(codes, np.where(spoke[:, -1], answers.confidence[:, -1], 0.0))

    def plain(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return {"rule": BY_CONFIDENCE}
