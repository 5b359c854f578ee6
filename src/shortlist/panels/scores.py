"""Which answers are right: by the log's own scores where it has any, and otherwise by the truth."""

import numpy as np
from numpy.typing import NDArray

SILENT, UNASKED = -1, -2
"""Codes of an answer that is no class: asked in vain, and not asked at all."""


def answers_right(
    answers: NDArray[np.int64], truth: NDArray[np.int64], right: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Return whether each answer is right: by its score, or where there are none, if it is the truth."""
    return np.asarray(answers == truth[:, None]) if right is None else right


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
