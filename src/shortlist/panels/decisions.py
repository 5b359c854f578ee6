"""How the answers so far of some judges decide a case: by votes, or by scores that were learned.

A decision names a class and how sure it is of it, between 0 and 1. It names none where nobody has answered
and, unless it is asked for, where two classes are equal; such a case is never sure.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels._kernels import add_scores, scale_confidence, softmax_rows
from shortlist.panels.answer_log import AnswerLog

UNDECIDED = -1
"""The class of a case that nothing decides."""

EQUAL = 1e-9
"""Probabilities that differ by no more are equal, whoever adds them up."""

FINEST = 1e-3
"""Confidence is told apart up to this distance from certainty."""

PLURALITY, MAJORITY = "plurality", "majority"
VOTE_RULES = (PLURALITY, MAJORITY)
"""The class with most votes; the class with more than half of all votes."""

IGNORED, COUNTED = "ignored", "counted"
MISSING = (IGNORED, COUNTED)
"""Whether votes that are missing count in the denominator of a majority and of how sure it is."""

UNANSWERED, FIRST = "unanswered", "first"
TIES = (UNANSWERED, FIRST)
"""What is decided where votes are equal: nothing, or the first of the equal classes."""


class Decided(NamedTuple):
    """What is decided about cases.

    Attributes
    ----------
    codes : ndarray of int64, shape (n_cases,)
        Places of the classes; -1 where nothing is decided.
    sure : ndarray of float, shape (n_cases,)
        How sure, from 0 to 1; 0 where nothing is decided.
    """

    codes: NDArray[np.int64]
    sure: Floats


class Heard(NamedTuple):
    """Answers as decisions take them, with one column for each judge.

    Attributes
    ----------
    words : ndarray of int64, shape (n_cases, n_judges)
        Places of the classes that were answered; ``n_classes`` for silence.
    confidence : ndarray of float, shape (n_cases, n_judges)
        How sure each judge was, on the scale of :class:`ConfidenceScale`; 0 where nobody tells.
    n_classes : int
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


@dataclass(frozen=True, eq=False)
class ConfidenceScale:
    """What turns the confidence of each judge into numbers from 0 to 1, finely told apart near certainty.

    A confidence c becomes v = (c - low) / (high - low), cut off at 0 and 1. It is then put as
    log(1 - v + FINEST) / log(FINEST), so that 0.9, 0.99 and 0.999 are as far apart as each other.

    Attributes
    ----------
    low, high : ndarray of float, shape (n_judges,)
        0 and 1, or the range on record where that is another one.
    usual : ndarray of float, shape (n_judges,)
        What stands for a confidence that is not told.
    told : ndarray of bool, shape (n_judges,)
        Which judges tell how sure they are.
    """

    low: Floats
    high: Floats
    usual: Floats
    told: NDArray[np.bool_]

    def of(self, confidence: Floats | None, shape: tuple[int, int]) -> Floats:
        """Return confidences on the scale, ``(n_cases, n_judges)``."""
        if confidence is None or not self.told.any():
            return np.broadcast_to(np.where(self.told, self.usual, 0.0), shape).copy()
        scaled = np.empty(shape)
        scale_confidence(np.ascontiguousarray(confidence), self.low, self.high, FINEST, scaled)
        return np.where(self.told, np.where(np.isnan(scaled), self.usual, scaled), 0.0)


def confidence_scale(log: AnswerLog) -> ConfidenceScale:
    """Return the scale of the confidences on record."""
    n_judges = len(log.judges)
    low, high, usual = np.zeros(n_judges), np.ones(n_judges), np.zeros(n_judges)
    told = np.zeros(n_judges, dtype=bool)
    if log.confidence is None:
        return ConfidenceScale(low, high, usual, told)
    for judge in range(n_judges):
        known = log.confidence[:, judge]
        known = known[np.isfinite(known)]
        if not len(known):
            continue
        told[judge] = True
        if known.min() < 0 or known.max() > 1:
            low[judge], high[judge] = known.min(), max(known.max(), known.min() + 1)
    scale = ConfidenceScale(low, high, usual, told)
    scaled = scale.of(log.confidence, log.answers.shape)
    scaled[~np.isfinite(log.confidence)] = np.nan
    for judge in np.flatnonzero(told).tolist():
        usual[judge] = np.nanmedian(scaled[:, judge])
    return scale


def heard(log: AnswerLog, scale: ConfidenceScale) -> Heard:
    """Return the answers of a log as decisions take them; what was not asked is silent."""
    n_classes = len(log.classes)
    words = np.where(log.answers < 0, n_classes, log.answers).astype(np.int64)
    return Heard(words, scale.of(log.confidence, log.answers.shape), n_classes)


class Decision(Protocol):
    """How the answers of some judges decide."""

    @property
    def judges(self) -> tuple[int, ...]:
        """Places of the judges whose answers decide."""

    def decide(self, answers: Heard) -> Decided:
        """Decide cases; `answers` has a column for each of `judges`."""

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, as an exported policy has it."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Every judge has votes, and the class with most of them, or with more than half, is decided.

    Equal classes are not decided, unless the first of equals is asked for.

    Attributes
    ----------
    judges : tuple of int
    votes : tuple of int
        How many each has.
    rule : {"plurality", "majority"}
    missing : {"ignored", "counted"}
        Whether the votes of the silent count in the denominator.
    ties : {"unanswered", "first"}

    Examples
    --------
    >>> answers = Heard(np.array([[0, 0, 1], [0, 1, 2], [1, 2, 2]]), np.zeros((3, 3)), 2)
    >>> Votes((0, 1, 2), (1, 1, 1)).decide(answers).codes.tolist()
    [0, -1, 1]
    >>> Votes((0, 1, 2), (1, 1, 1), MAJORITY, COUNTED).decide(answers).codes.tolist()
    [0, -1, -1]
    """

    judges: tuple[int, ...]
    votes: tuple[int, ...]
    rule: str = PLURALITY
    missing: str = IGNORED
    ties: str = UNANSWERED

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by votes; how sure it is, is the share of the winner."""
        tally = self.tally(answers)
        heard = tally.sum(axis=1)
        all_votes = np.full(len(tally), sum(self.votes)) if self.missing == COUNTED else heard
        winner = tally.argmax(axis=1)
        most = tally[np.arange(len(tally)), winner]
        alone = (tally == most[:, None]).sum(axis=1) == 1
        decided = (alone | (self.ties == FIRST)) & (most > 0)
        if self.rule == MAJORITY:
            decided &= 2 * most > all_votes
        share = most / np.maximum(1, all_votes)
        return Decided(np.where(decided, winner, UNDECIDED), np.where(decided, share, 0.0))

    def tally(self, answers: Heard) -> NDArray[np.int64]:
        """Return the votes for each class, ``(n_cases, n_classes)``."""
        tally = np.zeros((len(answers.words), answers.n_classes + 1), dtype=np.int64)
        rows = np.arange(len(tally))
        for column, votes in zip(answers.words.T, self.votes, strict=False):  # of those asked so far
            tally[rows, column] += votes
        return tally[:, :-1]

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"rule": self.rule, "votes": list(self.votes), "missing": self.missing, "ties": self.ties}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Every answer adds a score to each class, and the softmax of the sums says how probable each class is.

    So decide logistic regression over label and confidence, and Dawid and Skene's model, whose scores are
    logarithms of how often a judge gives each answer to cases of each class.

    Attributes
    ----------
    judges : tuple of int
    weights : ndarray of float
        One after the other the bias, ``(n_classes,)``; what each answer adds,
        ``(n_judges, n_classes + 1, n_classes)``, the last answer being silence; and what it adds for each
        unit of confidence, ``(n_judges, n_classes, n_classes)``.
    n_classes : int
    rule : str, default="logistic"
        How the scores were learned.
    """

    judges: tuple[int, ...]
    weights: Floats
    n_classes: int
    rule: str = "logistic"

    def probabilities(self, answers: Heard) -> Floats:
        """Return how probable each class is, ``(n_cases, n_classes)``."""
        scores = np.empty((len(answers.words), self.n_classes))
        add_scores(answers.words, answers.confidence, self.weights, scores)
        softmax_rows(scores)
        return scores

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by the most probable class."""
        shares = self.probabilities(answers)
        rows = np.arange(len(shares))
        winner = shares.argmax(axis=1)
        most = shares[rows, winner]
        shares[rows, winner] = -1.0
        asked = (answers.words < self.n_classes).any(axis=1)
        decided = asked & (most - shares.max(axis=1) > EQUAL)
        return Decided(np.where(decided, winner, UNDECIDED), np.where(decided, most, 0.0))

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
