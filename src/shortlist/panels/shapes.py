"""Which families of policies are searched for which shape of cases, in which order, and why."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.learning import AGREEMENT, VOTING
from shortlist.panels.recipes import Cases

SINGLE, PAIRS, LEARNED, VOTED = "single judges", "pairs that agree", "learned scores", "votes"
CASCADES_OF_THREE, CASCADES_OF_FOUR = "agreement cascades of three", "agreement cascades of four"
THREE_STAGES = "chains of three stages"
UNLEARNED = {SINGLE, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR}
"""Families in whose decisions nothing is learned, so that their policies cost next to nothing to measure."""
MEASURED = "benchmarks/results/panel-families.csv"
"""What leaving each family out costs on every shared log."""


class Shape(NamedTuple):
    """A shape of cases, the families that are tried for it, the cheap and promising ones first, and why."""

    name: str
    holds: Callable[[Cases], bool]
    families: tuple[str, ...]
    why: str

    def sentence(self, cases: Cases) -> str:
        """Say in one line what is searched and why."""
        return (
            f"Searched for {counted(cases.n_judges, 'judge')}, as for {self.name}: {all_of(self.families)}; "
            f"{self.why}."
        )


def _all_differ(words: NDArray[np.int64]) -> bool:
    """Whether every judge answers every case, and no two of them alike."""
    return bool((words == np.arange(words.shape[1])).all())


CASCADES = (SINGLE, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR)
SHAPES = (
    Shape(
        "answers of which no two are equal, such as scores alone",
        lambda cases: cases.is_open and _all_differ(cases.answers.words),
        (SINGLE,),
        "there is nothing to count",
    ),
    Shape(
        "answers from which nothing is learned, such as free text",
        lambda cases: all(name in {*VOTING, AGREEMENT} for name in cases.decisions),
        (*CASCADES, VOTED, THREE_STAGES),
        "answers can only be counted",
    ),
    Shape(
        "a few judges",
        lambda cases: cases.n_judges <= ALL_SETS_UP_TO,
        (*CASCADES, LEARNED, THREE_STAGES),
        "beside learned scores votes gain nothing",
    ),
    Shape(
        "many judges",
        lambda _cases: True,
        (*CASCADES, LEARNED, THREE_STAGES),
        "beside learned scores votes gain nothing, and pairs are learned where they agree well",
    ),
)
"""The first shape that holds is taken."""


def shape_of(cases: Cases) -> Shape:
    """Return the shape of cases."""
    return next(shape for shape in SHAPES if shape.holds(cases))
