"""Which answers are right: by the log's own scores where it has any, and otherwise by the truth."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted

SILENT, UNASKED = -1, -2
"""Codes of a missing answer, and of a judge that was not asked."""


def answers_right(
    answers: NDArray[np.int64], truth: NDArray[np.int64], right: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Return whether each answer is right: by its score, or where there are none, if it is the truth."""
    return np.asarray((answers == truth[:, None]) & (answers >= 0)) if right is None else right


def scored_codes(
    codes: NDArray[np.int64],
    answers: NDArray[np.int64],
    truth: NDArray[np.int64],
    right: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Return the truth where a decided class is right by the log's scores, and other codes where it is wrong.

    What was scored wrong although it is the truth counts as no answer. A class that no judge answered, as a
    learned decision may take it, has no score, and is right if it is the truth.

    `codes`: what is decided about each case, ``(n_cases,)``; below 0 for nothing. `answers`, `right`,
    ``(n_cases, n_judges)``; without scores the codes stay as they are.

    >>> codes, answers = np.array([0, 1, 1]), np.array([[0, 1], [0, 1], [0, 0]])
    >>> scored_codes(codes, answers, np.array([1, 1, 1]), np.array([[True, False]] * 3)).tolist()
    [1, -1, 1]
    """
    if right is None:
        return codes
    same = (answers == codes[:, None]) & (codes >= 0)[:, None]
    is_scored, is_right = same.any(axis=1), (same & right).any(axis=1)
    codes = np.where(is_scored & ~is_right & (codes == truth), SILENT, codes)
    return np.where(is_right, truth, codes)


NO_RIGHT_ANSWER = "another answer"
"""The truth of a case in which no answer is right by the scores, and no judge ever says the target."""

RIGHT_ABOVE = 0.5
"""An answer is right if its score, from 0 to 1, is above it."""


class Scored(NamedTuple):
    """What the log's own scores say.

    `labels`: those of the answers, and perhaps more. `truth`: their places; -1 where it is not known,
    ``(n_cases,)``. `right`: which answers are right, ``(n_cases, n_judges)``. `classes`: labels that are
    right in some case. `notes`: how scores and texts differ.
    """

    labels: list[str]
    truth: NDArray[np.int64]
    right: NDArray[np.bool_]
    classes: list[str]
    notes: list[str]


def by_scores(
    scores: NDArray[np.float64],
    codes: NDArray[np.int64],
    labels: list[str],
    target: NDArray[np.int64],
    cases: NDArray[np.int64],
    *,
    above: float = RIGHT_ABOVE,
) -> Scored | None:
    """Return which answers are right by the log's own scores; None where texts say the same.

    Equal answers to one case are right together: where their scores differ, if most of them are. An answer
    without a score is right if it is the target. The truth of a case is its target if a judge says it
    somewhere, or else what the first right judge says.

    `scores`: from 0 to 1, NaN where there is none, ``(n_cases, n_judges)``. `codes`: places of the answers in
    `labels`; below 0 for none. `target`: likewise; -1 where it is not known, ``(n_cases,)``. `cases`: the
    number of the case of each row. `above`: from which score on an answer is right.
    """
    is_text = (codes >= 0) & (codes == target[:, None])
    told = ~np.isnan(scores) & (codes >= 0)
    right, n_split = _alike(np.where(told, scores > above, is_text) & (codes >= 0), told, codes, cases)
    n_known = int((told & (target >= 0)[:, None]).sum())
    differ = told & (right != is_text) & (target >= 0)[:, None]
    needs_truth = told.any(axis=1) & (target < 0)
    n_silent = int((~np.isnan(scores) & (codes < 0) & (scores > above)).sum())
    if not differ.any() and not needs_truth.any():
        return None
    notes = ["The log's own scores decide which answers are right."]
    if n_known:
        by_score, by_text = int((differ & right).sum()), int((differ & ~right).sum())
        notes = [
            (
                f"The log's own scores decide which answers are right. They differ from the comparison "
                f"with the target "
                f"in {by_score + by_text:,} of {counted(n_known, 'answer')}: {by_score:,} right by the "
                f"score alone, "
                f"{by_text:,} by the text alone."
            )
        ]
    if n_split:
        notes.append(
            f"Equal answers were scored differently in {counted(n_split, 'case')}; most of their scores "
            f"decide, and "
            "as many for as against count as wrong."
        )
    if n_silent:
        notes.append(
            f"{counted(n_silent, 'call')} without an answer were scored right; they count as no answer."
        )
    said = np.unique(codes[codes >= 0])
    first = right.argmax(axis=1)
    of_right = np.where(right.any(axis=1), codes[np.arange(len(codes)), first], SILENT)
    truth = np.where((target >= 0) & np.isin(target, said), target, of_right)
    nowhere = (truth < 0) & ((target >= 0) | told.any(axis=1))
    labels = [*labels, NO_RIGHT_ANSWER] if nowhere.any() and NO_RIGHT_ANSWER not in labels else labels
    if nowhere.any():
        truth = np.where(nowhere, labels.index(NO_RIGHT_ANSWER), truth)
    classes = [labels[code] for code in np.unique([*codes[right], *truth[truth >= 0]]).tolist()]
    return Scored(labels, truth, right, classes, notes)


def _alike(
    right: NDArray[np.bool_], told: NDArray[np.bool_], codes: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], int]:
    """Return scores that are the same for equal answers to a case, and how many cases had others."""
    rows, _ = np.nonzero(told)
    pairs = np.column_stack([cases[rows], codes[told]])
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    n_right = np.bincount(place.ravel(), weights=right[told], minlength=len(found))
    times = np.bincount(place.ravel(), minlength=len(found))
    most = right.copy()
    most[told] = (2 * n_right > times)[place.ravel()]
    split = (n_right > 0) & (n_right < times)
    return most, len(np.unique(found[split, 0]))
