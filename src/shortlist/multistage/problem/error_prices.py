"""Prices of errors: the price of a wrong answer by class, and the price of a person who decides."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, as_fraction, as_integers
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.pickles import saved_from


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class ErrorPrices:
    """Costs of errors in whole units of 1 / `scale`.

    The probability of each class is weighed by the cost of missing the class, so that the class of largest
    weighed probability is the answer of least expected cost. The last stage answers if the expected cost of
    the answer is at most the price of a person.
    """

    losses: tuple[int, ...]
    """Cost of a wrong answer about a row of each class, in units."""
    hand_over: int | None
    """Price in units of a person, who decides the rows without an answer. None: the last stage answers every
    row.
    """
    scale: int

    @property
    def weights(self) -> tuple[float, ...]:
        """Factors of the class probabilities; the least factor is 1."""
        return tuple(loss / min(self.losses) for loss in self.losses)

    @property
    def unanswered(self) -> int:
        """Cost of a row without an answer, in units.

        The cost is the price of a person, or of the dearest error where no person decides.
        """
        return max(self.losses) if self.hand_over is None else self.hand_over

    @property
    def last_rule(self) -> RejectRule:
        """Rule of the last stage: least weighed probability of an answer, by class.

        Let errors about the first and the second class cost u and v, and a person P. An answer of the first
        class costs P at most if its weighed probability is at least (1 - P/v) / (1 - P/v + P/u).
        """
        n = len(self.losses)
        always = 0.5 / n
        if self.hand_over is None:
            return RejectRule((always,) * n)
        least = []
        for own, other in (self.losses, self.losses[::-1]):
            saved = max(0.0, 1 - self.hand_over / other)
            least.append(max(always, saved / (saved + self.hand_over / own)) if self.hand_over else 1.0)
        return RejectRule(tuple(least))

    def early_rule(self, confidence: float) -> RejectRule:
        """Return the rule of the stages before the last one, with thresholds of at least `confidence`."""
        return RejectRule(tuple(max(confidence, least) for least in self.last_rule.thresholds))

    @property
    def table(self) -> Floats:
        """Cost of each answer by true class, ``(n_classes + 1, n_classes)``.

        The last row is for no answer.
        """
        losses = np.array(self.losses, dtype=np.float64)
        wrong = (1 - np.eye(len(losses))) * losses
        return np.vstack([wrong, np.full((1, len(losses)), float(self.unanswered))]) / self.scale

    def of_rows(self, said: NDArray[np.int64], truth: NDArray[np.int64]) -> Floats:
        """Return the cost of each row in the user's money, ``(n_rows,)``.

        An answer about a row of unknown class costs as much as the dearest error.
        """
        known = self.table[said, truth]
        return np.where((truth < 0) & (said >= 0), max(self.losses) / self.scale, known)


def error_prices(by_class: tuple[int, ...], hand_over: Any, n_rows: int) -> ErrorPrices:
    """Return the costs of errors by class, and the price of a person if given, in whole units.

    Raises BadInputError if the price of a person is no number of at least 0, or the classes are not two.
    """
    if hand_over is None:
        return ErrorPrices(by_class, None, 1)
    price = as_fraction(hand_over)
    if price is None or price < 0:
        raise BadInputError("hand_over", "must be a price of at least 0", repr(hand_over))
    if len(by_class) != 2:
        raise BadInputError(
            "hand_over",
            "must come with two classes",
            len(by_class),
            "Join classes, or let stages answer all.",
        )
    (whole, *losses), scale = as_integers([price.limit_denominator(10**6), *map(Fraction, by_class)])
    if max(whole, *losses) * n_rows >= LARGEST_INTEGER or not math.isfinite(whole):
        raise BadInputError("hand_over", "must have fewer digits to stay exact", repr(hand_over), "Round it.")
    return ErrorPrices(tuple(losses), whole, scale)
