"""Which families of policies are searched for which shape of cases, in which order, and why."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shortlist._words import all_of, counted
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.confidence import BY_CONFIDENCE
from shortlist.panels.decisions import Heard
from shortlist.panels.learning import AGREEMENT, VOTING
from shortlist.panels.recipes import Cases

SINGLE, PAIRS, LEARNED, VOTED = "single judges", "pairs that agree", "learned scores", "votes"
CASCADES_OF_THREE, CASCADES_OF_FOUR = "agreement cascades of three", "agreement cascades of four"
THREE_STAGES, CONFIDENT = "chains of three stages", "cascades by confidence"
UNLEARNED = {SINGLE, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR, CONFIDENT}
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
            f"Searched, for {self.name} ({counted(cases.n_judges, 'judge')}): {all_of(self.families)}. "
            f"{self.why}."
        )


def _all_differ(answers: Heard) -> bool:
    """Whether no two judges answer any case alike."""
    own = answers.words == np.arange(answers.words.shape[1])
    return bool((own | (answers.words == answers.n_classes)).all())


CASCADES = (SINGLE, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR)
SHAPES = (
    Shape(
        "answers of which no two are equal, with confidences",
        lambda cases: BY_CONFIDENCE in cases.decisions,
        (SINGLE, CONFIDENT),
        "There is nothing to vote on",
    ),
    Shape(
        "answers of which no two are equal, as scores alone",
        lambda cases: cases.is_open and _all_differ(cases.answers),
        (SINGLE,),
        "There is nothing to vote on",
    ),
    Shape(
        "answers from which nothing is learned, as free text",
        lambda cases: all(name in {*VOTING, AGREEMENT} for name in cases.decisions),
        (*CASCADES, VOTED, THREE_STAGES),
        "Such answers can only be voted on",
    ),
    Shape(
        "a few judges",
        lambda cases: cases.n_judges <= ALL_SETS_UP_TO,
        (*CASCADES, LEARNED, THREE_STAGES),
        "Votes gain nothing beside learned scores",
    ),
    Shape(
        "many judges",
        lambda _cases: True,
        (*CASCADES, LEARNED, THREE_STAGES),
        "Votes gain nothing beside learned scores; pairs are learned where they agree well",
    ),
)
"""The first shape that holds is taken."""


def shape_of(cases: Cases) -> Shape:
    """Return the shape of cases."""
    return next(shape for shape in SHAPES if shape.holds(cases))
