"""The answer of the judge asked last, by its confidence: what cascades by confidence decide by."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.panels.decisions import Decided, Heard

BY_CONFIDENCE = "confidence"
"""The rule by which the answer of the judge asked last is taken, as sure as that judge is."""


@dataclass(frozen=True, eq=False)
class LatestAnswer:
    """The latest answer is taken, as sure as the judge is who was asked last.

    A judge that gives no answer, or does not tell how sure it is, is not sure at all.

    `judges`: in the order in which they are asked.

    >>> answers = Heard(np.array([[0, 1], [0, 2]]), np.array([[0.5, 0.9], [0.5, 0.9]]), 2)
    >>> [column.tolist() for column in LatestAnswer((0, 1)).decide(answers)]
    [[1, 0], [0.9, 0.0]]
    """

    judges: tuple[int, ...]

    def decide(self, answers: Heard) -> Decided:
        """Decide cases by the latest answer."""
        spoke = answers.words < answers.n_classes
        latest = spoke.shape[1] - 1 - spoke[:, ::-1].argmax(axis=1)
        words = answers.words[np.arange(len(latest)), latest]
        codes = np.where(spoke.any(axis=1), words, -1)
        return Decided(codes, np.where(spoke[:, -1], answers.confidence[:, -1], 0.0))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"rule": BY_CONFIDENCE}
