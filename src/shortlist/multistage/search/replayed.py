"""Answers of stage assignments to the validation rows, one assignment at a time."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import unpack
from shortlist.arrays import Floats, Mask
from shortlist.multistage.problem.stages import acquired
from shortlist.policies import UNDECIDED
from shortlist.tables.splits import RowNumbers

ERROR_APART = "error_apart"
"""Name of a front's fact: the standard error of the difference between each point's cost of errors and the
least cost.
"""


def decided(problem: Any, assignment: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the class index of the answer, and the price, of each row, both ``(n_rows,)``.

    The class index is -1 where no stage answers.
    """
    masks = acquired(assignment[None, :], int(assignment.max()) + 1)[0]
    rows = problem.decisions.subclassifiers.rows
    n = len(rows.validation_labels)
    slots = problem.decisions.slots(masks)
    bits = unpack(problem.decisions.bits[slots], n)
    prices = problem.costs.price(masks) / problem.costs.scale
    confident = bits[:, 0]
    answered = np.asarray(confident.any(axis=0))
    last = np.where(answered, confident.argmax(axis=0), len(masks) - 1)
    right: Mask = answered & bits[last, 1, np.arange(n)]
    if problem.errors is not None:  # the last stage asks for less
        right |= ~answered & bits[-1, 3]
        answered |= bits[-1, 2]
    said = np.where(right, rows.validation_labels, UNDECIDED)
    for stage in np.unique(last[answered & ~right]):
        wrong = np.flatnonzero(answered & ~right & (last == stage))
        said[wrong] = _wrong_answers(problem, masks[stage], wrong)
    return said, prices[last]


def _wrong_answers(problem: Any, subset: Mask, rows: RowNumbers) -> NDArray[np.int64]:
    """Return the class index of the classifier's answer about each of `rows`.

    The classifier is that of a set of features, and answers all these rows wrongly.
    """
    truth = problem.decisions.subclassifiers.rows.validation_labels[rows]
    probabilities = problem.decisions.subclassifiers.validation_probabilities(subset)[rows]
    probabilities[np.arange(len(rows)), truth] = -1.0
    return np.asarray(probabilities.argmax(axis=1))


def errors_apart(problem: Any, assignments: NDArray[np.int8], totals: NDArray[np.int64]) -> list[float]:
    """Return the standard error of the difference of each assignment's cost of errors from the least cost.

    The difference is taken row by row on the same rows. `problem`: a problem of stages with costs of errors.
    `totals`: cost of errors of each assignment on all rows.
    """
    least, found = errors_of(problem, assignments[int(totals.argmin())]), []
    for assignment in assignments:
        apart = errors_of(problem, assignment) - least
        found.append(float(apart.std(ddof=1)) / math.sqrt(len(apart)) if len(apart) > 1 else 0.0)
    return found


def errors_of(problem: Any, assignment: NDArray[np.int8]) -> Floats:
    """Return the cost of errors about each validation row that counts, ``(n_rows,)``."""
    assert problem.errors is not None
    labels = problem.decisions.subclassifiers.rows.validation_labels
    costs: Floats = problem.errors.of_rows(decided(problem, assignment)[0], labels)
    return costs if problem.counted is None else np.asarray(costs[problem.counted])


def answered_shares(problem: Any, assignments: NDArray[np.int8]) -> Floats:
    """Return the share of the validation rows that each assignment answers, ``(n_assignments,)``."""
    return np.array([(decided(problem, one)[0] != UNDECIDED).mean() for one in assignments])
