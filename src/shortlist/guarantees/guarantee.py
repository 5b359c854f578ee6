"""What is promised about answers to new rows, or that nothing can be."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shortlist.guarantees.tails import Demand, tail
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    from shortlist.results.front import Front

ASSUMPTION = (
    "It holds for new rows drawn as the calibration rows were, for all answers together and not for each "
    "class or group, and for the first use of these calibration rows."
)
"""What a promise rests on."""


@saved_from("shortlist")
@dataclass(frozen=True)
class Guarantee:
    """Which rows are answered, and what that promises.

    Over the draw of the calibration rows, the probability that the threshold answers, and fewer than
    ``accuracy`` of its answers to new rows are right, is at most 1 - ``confidence_level``.

    Attributes
    ----------
    accuracy, confidence_level : float
        What was asked for, each in (0, 1).
    threshold : float
        Rows are answered from this confidence on; infinite where nothing can be promised, and then no row is
        answered.
    n_rows, n_answered, n_right : int
        Calibration rows, those that are answered, and those that are answered rightly.
    """

    accuracy: float
    confidence_level: float
    threshold: float
    n_rows: int
    n_answered: int
    n_right: int

    @property
    def promised(self) -> bool:
        """Whether anything is promised."""
        return math.isfinite(self.threshold)

    @property
    def demand(self) -> Demand:
        """What was asked for."""
        return Demand(self.accuracy, self.confidence_level)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "promised": self.promised,
            "accuracy": self.accuracy,
            "confidence_level": self.confidence_level,
            "threshold": self.threshold if self.promised else None,
            "n_rows": self.n_rows,
            "n_answered": self.n_answered,
            "n_right": self.n_right,
            "share_answered": self.n_answered / max(1, self.n_rows),
            "p_value": float(tail(self.n_answered, self.n_answered - self.n_right, self.demand)),
            "assumption": ASSUMPTION,
            "sentence": self.sentence(),
        }

    def sentence(self) -> str:
        """Return for people what is promised."""
        accuracy, level = (f"{100 * share:g} %" for share in self.demand)
        if self.promised:
            share = f"{100 * self.n_answered / self.n_rows:.3g} %"
            return (
                f"Promised with confidence {level}: at least {accuracy} of the answers to new rows are "
                f"right. {self.n_answered} of {self.n_rows} calibration rows are answered ({share}), "
                f"{self.n_right} of them rightly."
            )
        least = self.demand.least_rows
        why = (
            f"that takes {least} answered calibration rows at least, and there are {self.n_rows}"
            if self.n_rows < least
            else f"no threshold that was tried passed the test on {self.n_rows} calibration rows"
        )
        return (
            f"Nothing can be promised with confidence {level} about {accuracy} right answers: {why}. No row "
            "is answered."
        )


def guarantees_of(front: "Front") -> tuple[Guarantee, ...]:
    """Return what is promised about each point of a front; none where nothing was asked for."""
    return tuple(Guarantee(**one) for one in front.extras.get("promises", ()))
