"""Confidence of a prediction: thresholds per class."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class RejectRule:
    """Rule by which a prediction is confident."""

    thresholds: tuple[float, ...]
    """Least probability per predicted class (the paper's p̂ in every place), in (0, 1]."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """The thresholds as log-odds, infinite for 1."""
        return np.array([math.inf if p >= 1 else math.log(p) - math.log1p(-p) for p in self.thresholds])


def reject_rule(confidence: float | Mapping[Any, float], classes: NDArray[Any]) -> RejectRule:
    """Check p̂, one number or one per class.

    Raises BadInputError if a threshold is outside (0, 1], or a class has none.
    """
    labels = classes.tolist()
    if isinstance(confidence, Mapping):
        missing = [label for label in labels if label not in confidence]
        unknown = [label for label in confidence if label not in labels]
        if missing or unknown:
            raise BadInputError(
                "confidence",
                f"must hold one threshold per class, {all_of(labels)}",
                all_of(confidence),
                "Pass one number to treat all classes alike.",
            )
        values = [confidence[label] for label in labels]
    else:
        values = [confidence] * len(labels)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 1:
            raise BadInputError(
                "confidence", "must be in (0, 1]", repr(value), "Usual values are 0.6 to 0.95."
            )
    return RejectRule(tuple(map(float, values)))


def confident_answers(
    probabilities: NDArray[np.float64], rule: RejectRule, least: float | NDArray[np.float64] = 0.0
) -> tuple[NDArray[np.int64], Mask]:
    """Return the most probable class per row, the first of equals, and whether it is confident.

    `least` is a probability that all answers have to reach besides, or one for each row.
    """
    labels = probabilities.argmax(axis=1)
    best = probabilities[np.arange(len(labels)), labels]
    thresholds = np.array(rule.thresholds)
    return labels, np.asarray((best >= thresholds[labels]) & (best >= least))


def answers_by(probabilities: NDArray[np.float64], rule: RejectRule | None) -> NDArray[np.int64]:
    """Return the most probable class per row, -1 where that is not confident; without a rule all are."""
    if rule is None:
        return np.asarray(probabilities.argmax(axis=1))
    codes, confident = confident_answers(probabilities, rule)
    return np.where(confident, codes, -1)
