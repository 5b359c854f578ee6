"""What the stages of points of a front would answer to some rows, whatever threshold a promise adds later."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.guarantees.cells import ANSWERED
from shortlist.guarantees.thresholds import AnswerCounts, reaching
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search.stage_objectives import StageProblem
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
        How probable the answer is; :data:`NOT_CONFIDENT` where the stage is not confident, or lacks a value.
    right : ndarray of bool, shape (n_rows,)
        Whether the answer is right.
    enters : ndarray of bool, shape (n_rows,)
        Whether the row has what this stage and those before it buy; a row without waits before it.
    """

    scores: NDArray[np.float64]
    right: Mask
    enters: Mask


class Outcomes(NamedTuple):
    """What became of rows, ``(n_rows,)``: answered or not, rightly or not, and after how many stages."""

    answered: Mask
    right: Mask
    reached: NDArray[np.int64]


def point_answers(
    decisions: NDArray[np.integer[Any]], ask: Callable[[Mask], StageAnswers]
) -> list[list[StageAnswers]]:
    """Return the answers of the stages of each point, and ask about each feature subset once.

    Parameters
    ----------
    decisions : ndarray of int, shape (n_points, n_features)
        Stage assignments.
    ask : callable
        From a feature subset to the answers of its classifier.
    """
    known: dict[bytes, StageAnswers] = {}
    found = []
    for assignment in decisions:
        subsets = acquired(assignment[None, :], int(assignment.max()) + 1)[0]
        for subset in subsets:
            if subset.tobytes() not in known:
                known[subset.tobytes()] = ask(subset)
        stages = [known[subset.tobytes()] for subset in subsets]
        enters = np.logical_and.accumulate([stage.enters for stage in stages])
        found.append(
            stages
            if enters.all()
            else [
                stage._replace(scores=np.where(own, stage.scores, NOT_CONFIDENT), enters=own)
                for stage, own in zip(stages, enters, strict=True)
            ]
        )
    return found


def answers_as_chosen(problem: StageProblem, subset: Mask) -> StageAnswers:
    """Ask about the rows that chose, as the search asked."""
    subclassifiers, rule = problem.decisions.subclassifiers, problem.decisions.rule
    rows = subclassifiers.rows
    there = np.asarray(~rows.encoding.gaps(rows.validation_rows)[:, subset].all(axis=1))
    least = subclassifiers.judging_least(subset, rule)
    return _answers(subclassifiers.judging_probabilities(subset), rows.validation_labels, rule, least, there)


def answers_of_model(
    asked: tuple[Any, float], rule: RejectRule, encoding: Encoding, given: LabelledCodes, subset: Mask
) -> StageAnswers:
    """Ask the fitted classifier of a subset, with its least probability, as it answers new rows."""
    (model, least), states = asked, given.states
    has_value = ~encoding.gaps(given.rows) if states is None else states == ANSWERED
    there = np.asarray(has_value[:, subset].any(axis=1))
    answers = _answers(model.probabilities(given.rows), given.labels, rule, least, there)
    if states is None:
        return answers
    enters = np.asarray(~encoding.lacking(states, np.flatnonzero(subset)).any(axis=1))
    return answers._replace(enters=enters)


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


def outcomes(stages: Sequence[StageAnswers], threshold: float = 0.0) -> Outcomes:
    """Return what becomes of the rows where every stage asks for the threshold as well."""
    n_rows = len(stages[0].scores)
    answered, right = np.zeros((2, n_rows), dtype=bool)
    reached = np.zeros(n_rows, dtype=np.int64)
    for number, stage in enumerate(stages, start=1):
        here = stage.enters & ~answered
        reached[here] = number
        now = here & (stage.scores >= threshold)
        answered |= now
        right |= now & stage.right
    return Outcomes(answered, right, reached)


def _answers(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    rule: RejectRule,
    least: float | NDArray[np.float64],
    there: Mask,
) -> StageAnswers:
    """Return what a stage would answer; a row without a value of what it knows is not answered."""
    codes, confident = confident_answers(probabilities, rule, least)
    scores = np.where(confident & there, probabilities.max(axis=1, initial=0.0), NOT_CONFIDENT)
    return StageAnswers(scores, np.asarray(codes == labels), np.ones(len(labels), dtype=bool))
