"""The loop that follows a policy: cases go from stage to stage until each is decided, or waits for an answer.

A policy is two functions. Of the cases that are still open `ask` marks those that have what a stage needs;
the others wait for it. `decide` says which of them end there, as which class, and how sure it is. Committees,
stages and panels are three kinds of it: their stages are members, features that are bought, and judges.

What is asked next of one case whose answers come one by one: ``next_step`` of a panel (export/reader.py) and
of stages (multistage/answering.py), and ``EarlyAnswers`` of a committee (ensembles/committees/asking.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask

UNDECIDED = -1
"""The class of a case that nothing decides."""

Places: TypeAlias = Any
"""Indices of the cases that are still open, rising, or a slice of all, which copies nothing."""


class Said(NamedTuple):
    """Decision of a stage about the cases that have reached it, ``(n_cases,)`` each.

    `codes`: places of the classes; -1 for none. `ends`: the cases that go no further. `sure`: how sure it is;
    None where it is not needed.
    """

    codes: NDArray[np.int64]
    ends: Mask
    sure: Floats | None = None


class Followed(NamedTuple):
    """Ends of cases in a policy, ``(n_cases,)`` each.

    `codes`: the class of a case that a stage has ended; -1 for none. `sure`: of the last stage that was
    reached; 0 where it is not told. `reached`: how many stages have asked; a case that waits has not reached
    the one that it waits for. `waits`: whether it lacks what the next stage needs. `left`: the places of the
    cases that have passed all stages and that none has ended, ``(n_left,)``.
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
    """Follow a policy over cases, stage by stage, over those that are still open.

    `decide`, `ask`: get the stage, from 0, and the cases. `ask` marks those that have what the stage needs;
    without it all have. Neither is called without cases.

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
        left = places = left[(~said.ends).nonzero()[0]]  # which is quicker than by a mask
    codes[left] = UNDECIDED
    return Followed(codes, sure, reached, waits, left)


def paid(prices: NDArray[Any], reached: NDArray[np.int64]) -> NDArray[Any]:
    """Return the price of the stages that each case has reached; `prices` has one for each stage.

    >>> paid(np.array([2, 3]), np.array([0, 1, 2])).tolist()
    [0, 2, 5]
    """
    return np.asarray(np.cumsum([0, *prices.tolist()])[reached])
