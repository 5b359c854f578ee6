"""What can be promised about the answers of each point of a front, and the threshold that keeps it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.guarantees.cells import ANSWERED
from shortlist.guarantees.guarantee import Guarantee
from shortlist.guarantees.tails import Demand
from shortlist.guarantees.thresholds import AnswerCounts, possible_thresholds, promise, reaching
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.subclassifiers.encoding import Encoding

NOT_CONFIDENT = -1.0
"""Score of a row at a stage that would not answer it, whatever is promised."""


class LabelledCodes(NamedTuple):
    """Encoded rows and their class numbers; -1 for a class that nothing was fitted on.

    `states` says which features of which rows have a value, ``(n_rows, n_features)``; None: all.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.int64]
    states: NDArray[np.int8] | None = None


class StageAnswers(NamedTuple):
    """What one stage would answer to some rows.

    Attributes
    ----------
    scores : ndarray of float, shape (n_rows,)
        How probable the answer is; :data:`NOT_CONFIDENT` where the stage is not confident.
    right : ndarray of bool, shape (n_rows,)
        Whether the answer is right.
    """

    scores: NDArray[np.float64]
    right: NDArray[np.bool_]


def promises(
    decisions: NDArray[np.integer[Any]],
    models: Mapping[bytes, tuple[Any, float]],
    rule: RejectRule,
    encoding: Encoding,
    *,
    judged: LabelledCodes,
    calibration: LabelledCodes,
    demand: Demand,
) -> tuple[Guarantee, ...]:
    """Return what can be promised about each point, taken alone.

    Every stage of a point gets the same threshold besides those of its classes: raising it lets rows go on to
    the next stage, and in the end be rejected. The rows that judged choose which thresholds are tested.

    Parameters
    ----------
    decisions : ndarray of int, shape (n_points, n_features)
        Stage assignments.
    models : mapping from the bytes of a feature subset to its model and least probability
    rule : RejectRule
    encoding : Encoding
    judged, calibration : LabelledCodes
        Rows that judged stage assignments, and rows that fitted, judged and chose nothing.
    demand : Demand
    """
    known: dict[bytes, tuple[StageAnswers, StageAnswers]] = {}
    found = []
    for assignment in decisions:
        subsets = acquired(assignment[None, :], int(assignment.max()) + 1)[0]
        for subset in subsets:
            if (key := subset.tobytes()) not in known:
                known[key] = (
                    _answers(*models[key], rule, judged, _there(judged, encoding)[:, subset]),
                    _answers(*models[key], rule, calibration, _there(calibration, encoding)[:, subset]),
                )
        chose = [known[subset.tobytes()][0] for subset in subsets]
        tested = [known[subset.tobytes()][1] for subset in subsets]
        if calibration.states is not None:
            tested = _where_it_gets_there(tested, subsets, encoding, calibration.states)
        best = np.max([stage.scores for stage in chose], axis=0)
        thresholds = possible_thresholds(best[best >= 0])
        found.append(
            promise(thresholds, count_staged(chose, thresholds), count_staged(tested, thresholds), demand)
        )
    return tuple(found)


def count_staged(stages: Sequence[StageAnswers], thresholds: NDArray[np.float64]) -> AnswerCounts:
    """Count the rows that some stage answers where each threshold is asked for, and how many rightly.

    A row is answered by the first stage whose score reaches the threshold: by a stage if it reaches it and
    none before does, so for thresholds above the best score so far and up to its own.
    """
    n_rows = len(stages[0].scores)
    answered = np.zeros(len(thresholds), dtype=np.int64)
    right = np.zeros(len(thresholds), dtype=np.int64)
    before = np.full(n_rows, NOT_CONFIDENT)
    for stage in stages:
        now = np.maximum(before, stage.scores)
        answered += reaching(now, thresholds) - reaching(before, thresholds)
        right += reaching(now[stage.right], thresholds) - reaching(before[stage.right], thresholds)
        before = now
    return AnswerCounts(n_rows, answered, right)


def _where_it_gets_there(
    stages: Sequence[StageAnswers], subsets: Sequence[Mask], encoding: Encoding, states: NDArray[np.int8]
) -> list[StageAnswers]:
    """Return the same without the answers to rows that wait for a stage."""
    found, bought_before = [], np.zeros(states.shape[1], dtype=bool)
    there = np.ones(len(states), dtype=bool)
    for stage, subset in zip(stages, subsets, strict=True):
        there &= ~encoding.lacking(states, np.flatnonzero(subset & ~bought_before)).any(axis=1)
        found.append(stage._replace(scores=np.where(there, stage.scores, NOT_CONFIDENT)))
        bought_before = subset
    return found


def _there(given: LabelledCodes, encoding: Encoding) -> Mask:
    """Mark the cells that have a value, ``(n_rows, n_features)``."""
    return ~encoding.gaps(given.rows) if given.states is None else given.states == ANSWERED


def _answers(model: Any, least: float, rule: RejectRule, given: LabelledCodes, there: Mask) -> StageAnswers:
    """Ask the classifier of a feature subset about rows; one without a value of these is not answered."""
    probabilities = model.probabilities(given.rows)
    codes, confident = confident_answers(probabilities, rule, least)
    confident = confident & there.any(axis=1)
    scores = np.where(confident, probabilities.max(axis=1, initial=0.0), NOT_CONFIDENT)
    return StageAnswers(scores, np.asarray(codes == given.labels))
