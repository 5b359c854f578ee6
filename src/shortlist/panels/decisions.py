"""Decision on a case by the answers so far: by votes, by learned scores, or by the latest confidence.

A decision names a class and how sure it is of it, between 0 and 1. It names none without an answer
and, unless it is requested, where two classes are equal; such a case is never sure.
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
"""Probabilities that differ by no more are equal, whoever adds them up."""

MOST_KNOTS, FEWEST_AT_KNOT = 10, 30
"""Most knots of a judge's confidence, and fewest cases at each; two knots where cases are few."""

LOG_ODDS = 4.0
"""Log-odds of one unit of confidence, which keeps most of it between 0 and 1."""

PLURALITY, MAJORITY = "plurality", "majority"
VOTE_RULES = (PLURALITY, MAJORITY)
"""The class with most votes; the class with more than half of all votes."""

IGNORED, COUNTED = "ignored", "counted"
MISSING = (IGNORED, COUNTED)
"""Whether votes that are missing count in the denominator of a majority and of how sure it is."""

UNANSWERED, FIRST, LATEST = "unanswered", "first", "latest"
TIES = (UNANSWERED, FIRST)
"""Decisions where votes are equal: nothing, or the first of the equal classes.

Agreement cascades take the latest: the class that the last of the judges gave who gave one of them.
"""


class Decided(NamedTuple):
    """Decisions about cases.

    `codes`: places of the classes, ``(n_cases,)``; -1 where nothing is decided. `sure`: how sure, from 0 to
    1, ``(n_cases,)``; 0 where nothing is decided.
    """

    codes: NDArray[np.int64]
    sure: Floats


class Heard(NamedTuple):
    """Answers as decisions take them, with one column for each judge.

    `words`: places of the classes that were answered, ``(n_cases, n_judges)``; ``n_classes`` for silence.
    `confidence`: how sure each judge was, on the scale of :class:`ConfidenceScale`, ``(n_cases, n_judges)``;
    0 where the judge gives none.
    """

    words: NDArray[np.int64]
    confidence: Floats
    n_classes: int

    def at(self, rows: Any) -> "Heard":
        """Return some of the cases."""
        return Heard(self.words[rows], self.confidence[rows], self.n_classes)

    def of(self, judges: Any) -> "Heard":
        """Return the columns of some judges."""
        places = list(judges)
        words, confidence = self.words[:, places], self.confidence[:, places]
        return Heard(np.ascontiguousarray(words), np.ascontiguousarray(confidence), self.n_classes)


class Curve(NamedTuple):
    """Worth of the confidence of a judge: straight lines between knots, and level outside them.

    `knots`: confidences, rising, ``(n_knots,)``. `values`: what each is put as, ``(n_knots,)``: the log-odds
    that the judge is right, in units of `LOG_ODDS`. `usual`: what stands for a confidence that is not told.
    """

    knots: Floats
    values: Floats
    usual: float


@dataclass(frozen=True, eq=False)
class ConfidenceScale:
    """Conversion of the confidence of each judge, on whatever scale, to a common scale of credibility.

    `curves`: None for a judge that never tells how sure it is.

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
        """Return the confidence that has a value, where the values of a judge rise with its confidence."""
        curve = self.curves[judge]
        return value if curve is None else float(np.interp(value, curve.values, curve.knots))

    def of(self, confidence: Floats | None, shape: tuple[int, int]) -> Floats:
        """Return confidences on the scale, ``(n_cases, n_judges)``; 0 where a judge never tells any."""
        scaled = np.zeros(shape)
        for judge, curve in enumerate(self.curves):
            if curve is not None and confidence is None:
                scaled[:, judge] = curve.usual
            elif curve is not None and confidence is not None:
                scale_confidence(np.ascontiguousarray(confidence[:, judge]), *curve, scaled[:, judge])
        return scaled


def confidence_scale(log: AnswerLog) -> ConfidenceScale:
    """Learn the scale of the confidences of a log from its cases of known truth.

    Of a log of scores alone, where a judge's answer is taken by its confidence, it is the confidence itself:
    as it is from 0 to 1, or else from the least, 0.5, to the largest, 1; 0 where it is not told.
    The cases of a judge, by rising confidence, are cut into parts of about equal size. Each is a knot, at its
    middle confidence, with the log-odds of the share that is right. So it need not rise: some judges tell
    how probable one class is, and are sure at both ends.
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
    """Return confidences from 0 to 1 as they are, others stretched to 0.5 to 1; None if all are equal."""
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
    """Return the answers of a log as decisions take them; what was not asked is silent."""
    n_classes = len(log.classes)
    words = np.where(log.answers < 0, n_classes, log.answers).astype(np.int64)
    return Heard(words, scale.of(log.confidence, log.answers.shape), n_classes)


class JudgesDecision(Protocol):
    """Decision by the answers of some judges."""

    @property
    def judges(self) -> tuple[int, ...]:
        """Places of the judges whose answers decide."""

    def decide(self, answers: Heard) -> Decided:
        """Decide cases; `answers` has a column for each of `judges`."""

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, as an exported policy has it."""


@dataclass(frozen=True, eq=False)
class JudgeVotes:
    """Every judge has votes, and the class with most of them, or with more than half, is decided.

    Equal classes are not decided, unless the first or the latest of equals is requested.

    `votes`: how many each has. `rule`: one of ``"plurality", "majority"``. `missing`, one of ``"ignored"``
    and ``"counted"``: whether the votes of the silent count in the denominator. `ties`: one of
    ``"unanswered", "first", "latest"``; the latest is the class that the last of `judges` gave.

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
        """Decide cases by votes; how sure it is, is the share of the winner."""
        return decided_by_folds([self], answers, np.zeros(len(answers.words), dtype=np.int64))

    def of(self, judges: tuple[int, ...]) -> "JudgeVotes":
        """Return the votes of some of the judges, by their indices."""
        return replace(self, judges=judges, votes=tuple(self.votes[judge] for judge in judges))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"rule": self.rule, "votes": list(self.votes), "missing": self.missing, "ties": self.ties}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Every answer adds a score to each class, and the softmax of the sums says how probable each class is.

    So decide logistic regression over label and confidence, and Dawid and Skene's model, whose scores are
    logarithms of how often a judge gives each answer to cases of each class.

    `weights`: one after the other the bias, ``(n_classes,)``; what each answer adds, ``(n_judges, n_classes +
    1, n_classes)``, the last answer being silence; and what it adds for each unit of confidence, ``(n_judges,
    n_classes, n_classes)``. `rule`: how the scores were learned.
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
        """Return it as plain data."""
        n, k = len(self.judges), self.n_classes
        bias, labels, slopes = np.split(self.weights, [k, k + n * (k + 1) * k])
        return {
            "rule": self.rule,
            "bias": bias.tolist(),
            "labels": labels.reshape(n, k + 1, k).tolist(),
            "slopes": slopes.reshape(n, k, k).tolist(),
        }


Fitted = JudgeVotes | ScoreTable
"""Decisions that are learned, of judges who answer."""


def decided_by_folds(parts: Sequence[Fitted], answers: Heard, fold: NDArray[np.int64]) -> Decided:
    """Decide each case by the decision of its fold, all of them of the same judges and kind.

    `fold`, ``(n_cases,)``: the place in `parts`.
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
"""The rule by which the answer of the judge asked last is taken, as sure as that judge is."""


@dataclass(frozen=True, eq=False)
class LatestAnswer:
    """The latest answer is taken, as sure as the judge is who was asked last.

    A judge that gives no answer, or does not tell how sure it is, is not sure at all.

    `judges`: in the order in which they are asked.

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
        """Return it as plain data."""
        return {"rule": BY_CONFIDENCE}
