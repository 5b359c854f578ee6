"""Loop of a policy: cases pass from stage to stage until each is decided, or waits for an answer.

A policy is two functions. `ask` marks the open cases that have the input of a stage; open cases without the
input wait for it. `decide` returns the cases that end at the stage, with their class and certainty.
Committees, multi-stage classifiers and panels are policies: their stages are members, bought features, and
judges.

Other code finds the next question about a single case whose answers come one by one: ``next_step`` of a panel
(export/reader.py) and of stages (multistage/answering.py), and ``EarlyAnswers`` of a committee
(ensembles/committees/asking.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask

UNDECIDED = -1
"""Class code of an undecided case."""

Places: TypeAlias = Any
"""Indices of the open cases, increasing; or a slice of all cases, which copies nothing."""


class Said(NamedTuple):
    """Decisions of a stage on the cases that reached it; each array has the shape ``(n_cases,)``.

    `codes`: indices of the classes; -1 for none. `ends`: mask of the cases that end at this stage. `sure`:
    certainty of the decision; None if it is not needed.
    """

    codes: NDArray[np.int64]
    ends: Mask
    sure: Floats | None = None


class Followed(NamedTuple):
    """Result of a policy for each case; arrays have the shape ``(n_cases,)`` unless said otherwise.

    `codes`: index of the class of each case; -1 for a case that no stage ended. `sure`: certainty at the last
    stage reached; 0 without a certainty. `reached`: number of stages that were asked; the stage that a case
    waits for is not counted. `waits`: mask of the cases without the input of their next stage. `left`:
    indices of the cases that passed all stages without an end, ``(n_left,)``.
    """

    codes: NDArray[np.int64]
    sure: Floats
    reached: NDArray[np.int64]
    waits: Mask
    left: NDArray[np.int64]


def follow(
    n_cases: int,
    n_stages: int,
    decide: Callable[[int, Places], Said],
    ask: Callable[[int, Places], Mask] | None = None,
) -> Followed:
    """Follow a policy stage by stage, over the cases that are still open.

    `decide`, `ask`: functions of the index of a stage, from 0, and the indices of cases. `ask` marks the
    cases that have the input of the stage; without `ask`, all cases have it. The functions are called only if
    a case is open.

    >>> sure = np.array([[0.9, 0.5], [0.4, 0.8], [0.3, 0.2]])
    >>> codes = np.array([[0, 1], [1, 1], [0, 0]])
    >>> followed = follow(3, 2, lambda k, rows: Said(codes[rows, k], sure[rows, k] > 0.6))
    >>> followed.codes.tolist(), followed.reached.tolist(), followed.left.tolist()
    ([0, 1, -1], [1, 2, 2], [2])
    """
    codes, sure = np.full(n_cases, UNDECIDED), np.zeros(n_cases)
    reached, waits = np.zeros(n_cases, dtype=np.int64), np.zeros(n_cases, dtype=bool)
    left = np.arange(n_cases)
    places: Places = slice(None)
    for stage in range(n_stages):
        if ask is not None and len(left):
            ready = ask(stage, places)
            if not ready.all():
                waits[left[~ready]] = True
                codes[left[~ready]] = UNDECIDED
                left = places = left[ready]
        if not len(left):
            break
        said = decide(stage, places)
        reached[places] = stage + 1
        if said.sure is not None:
            sure[places] = said.sure
        codes[places] = said.codes
        left = places = left[(~said.ends).nonzero()[0]]  # faster than a mask
    codes[left] = UNDECIDED
    return Followed(codes, sure, reached, waits, left)


def paid(prices: NDArray[Any], reached: NDArray[np.int64]) -> NDArray[Any]:
    """Return the price of the stages that each case has reached; `prices`: price of each stage.

    >>> paid(np.array([2, 3]), np.array([0, 1, 2])).tolist()
    [0, 2, 5]
    """
    return np.asarray(np.cumsum([0, *prices.tolist()])[reached])
