"""Thresholds of confidence per class."""

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
    """Rule that tells confident predictions by a threshold per class."""

    thresholds: tuple[float, ...]
    """Least probability per predicted class, in (0, 1]; the paper's p̂ for every class."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """Return the thresholds as log-odds, ``(n_classes,)``; infinite for 1."""
        return np.array([math.inf if p >= 1 else math.log(p) - math.log1p(-p) for p in self.thresholds])


def reject_rule(confidence: float | Mapping[Any, float], classes: NDArray[Any]) -> RejectRule:
    """Return the rule of the thresholds p̂: one number for all classes, or one number per class.

    Raises BadInputError if a threshold is outside (0, 1], or a class has no threshold.
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
    """Return the index of the most probable class per row, and whether the probability is confident.

    Of equally probable classes the first is taken. `least`: further least probability, for all rows or one
    for each row.
    """
    labels = probabilities.argmax(axis=1)
    best = probabilities[np.arange(len(labels)), labels]
    thresholds = np.array(rule.thresholds)
    return labels, np.asarray((best >= thresholds[labels]) & (best >= least))


def answers_by(probabilities: NDArray[np.float64], rule: RejectRule | None) -> NDArray[np.int64]:
    """Return the index of the most probable class per row; -1 where the rule does not find it confident.

    Without a rule every row is answered.
    """
    if rule is None:
        return np.asarray(probabilities.argmax(axis=1))
    codes, confident = confident_answers(probabilities, rule)
    return np.where(confident, codes, -1)
