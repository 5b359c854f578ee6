"""Promise about answers to new rows, or the reason for making no promise."""

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    from shortlist.results.front import Front


class Demand(NamedTuple):
    """Requested promise: a share of right answers, and its confidence level."""

    accuracy: float
    """Smallest share of right answers among the answered rows, in (0, 1)."""
    confidence_level: float
    """Confidence level of the promise over the draw of the calibration rows, in (0, 1)."""

    @property
    def error(self) -> float:
        """Largest probability that a promise fails."""
        return 1 - self.confidence_level

    @property
    def least_rows(self) -> int:
        """Least number of answered rows for a promise, if all answers are right."""
        return int(np.ceil(np.log(self.error) / np.log(self.accuracy)))


def as_demand(accuracy: float, confidence_level: float) -> Demand:
    """Return the requested promise; raise BadInputError if a number is not between 0 and 1."""
    for name, value in (("answer_accuracy", accuracy), ("confidence_level", confidence_level)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
            raise BadInputError(name, "must be above 0 and below 1", repr(value), "Usual values: 0.9, 0.95.")
    return Demand(float(accuracy), float(confidence_level))


def tail(n_answered: ArrayLike, n_wrong: ArrayLike, demand: Demand) -> NDArray[np.float64]:
    """Return the probability of at most `n_wrong` wrong answers if the share of wrong ones is 1 - accuracy.

    This is P(Bin(n, 1 - accuracy) ≤ k), the p-value of "too many answers are wrong". The p-value is at most
    the error of the demand exactly if the lower limit of :cite:t:`Clopper1934` reaches the accuracy.

    `n_answered`, `n_wrong`: numbers of answers, and of wrong answers. `tail`, which it returns: in [0, 1]; 1
    without answers.

    >>> tail([28, 29, 29], [0, 0, 1], Demand(0.9, 0.95)).round(4).tolist()
    [0.0523, 0.0471, 0.1989]
    """
    n, k = np.broadcast_arrays(np.asarray(n_answered, dtype=float), np.asarray(n_wrong, dtype=float))
    # bdtr is the regularised incomplete beta function, and needs k < n
    inside = k < n
    found = bdtr(np.where(inside, k, 0), np.where(inside, n, 1).astype(np.int64), 1 - demand.accuracy)
    return np.asarray(np.where(inside, found, 1.0))


def most_wrong(n_answered: ArrayLike, demand: Demand) -> NDArray[np.int64]:
    """Return the largest number of wrong answers of `n_answered` that passes; -1 if not even 0 passes.

    >>> most_wrong([28, 29, 100], Demand(0.9, 0.95)).tolist()
    [-1, 0, 4]
    """
    n = np.asarray(n_answered, dtype=np.int64)
    allowed, refused = np.full(n.shape, -1), n.copy()  # the tail of n wrong answers is 1
    while (refused - allowed > 1).any():
        middle = np.maximum(0, (allowed + refused) // 2)
        passes = (tail(n, middle, demand) <= demand.error) & (refused - allowed > 1)
        allowed = np.where(passes, middle, allowed)
        refused = np.where(~passes & (refused - allowed > 1), middle, refused)
    return allowed


@functools.lru_cache(maxsize=64)
def most_wrong_up_to(n_answered: int, demand: Demand) -> NDArray[np.int64]:
    """Return :func:`most_wrong` for every number of answers from 0 to `n_answered`.

    The result is cached, as many points need it.
    """
    found = most_wrong(np.arange(n_answered + 1), demand)
    found.flags.writeable = False
    return found


def assumption(rows: str = "rows") -> str:
    """Return a sentence on the assumption behind a promise.

    `rows`: word for the answered rows.
    """
    return (
        f"It holds for new {rows} drawn as the calibration {rows} were, for all answers together and not for "
        f"each class or group, and for the first use of these calibration {rows}."
    )


@saved_from("shortlist")
@dataclass(frozen=True)
class Guarantee:
    """Threshold for answering rows, and its promise.

    Over the draw of the calibration rows, with probability at most 1 - ``confidence_level`` the threshold
    answers rows although fewer than ``accuracy`` of its answers to new rows are right.

    Attributes
    ----------
    accuracy, confidence_level : float
        Requested share of right answers, and confidence level, each in (0, 1).
    threshold : float
        Least confidence of an answered row; infinite if no promise holds, and then no row is answered.
    n_rows, n_answered, n_right : int
        Number of calibration rows, number of these rows that are answered, and number that are answered
        rightly.
    """

    accuracy: float
    confidence_level: float
    threshold: float
    n_rows: int
    n_answered: int
    n_right: int

    @property
    def promised(self) -> bool:
        """Whether there is a promise."""
        return math.isfinite(self.threshold)

    @property
    def demand(self) -> Demand:
        """Requested promise."""
        return Demand(self.accuracy, self.confidence_level)

    def as_dict(self, rows: str = "rows") -> dict[str, Any]:
        """Return the guarantee as plain data for JSON.

        `rows`: word for the answered rows.
        """
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
            "assumption": assumption(rows),
            "sentence": self.sentence(rows),
        }

    def sentence(self, rows: str = "rows") -> str:
        """Return the promise as a sentence.

        `rows`: word for the answered rows.
        """
        accuracy, level = (f"{100 * share:g} %" for share in self.demand)
        if self.promised:
            share = f"{100 * self.n_answered / self.n_rows:.3g} %"
            return (
                f"Promised with confidence {level}: at least {accuracy} of the answers to new {rows} are "
                f"right. {self.n_answered:,} of {self.n_rows:,} calibration {rows} are answered ({share}), "
                f"{self.n_right:,} of them rightly."
            )
        least = self.demand.least_rows
        why = (
            f"that takes at least {least:,} answered calibration {rows}, and there are {self.n_rows:,}"
            if self.n_rows < least
            else f"no threshold that was tried passed the test on {self.n_rows:,} calibration {rows}"
        )
        return (
            f"Nothing can be promised with confidence {level} about {accuracy} right answers: {why}. No "
            f"{rows.removesuffix('s')} is answered."
        )


def answered_in_words(n_rows: int, n_answered: int, n_right: int) -> str:
    """Return the outcome of a promise on test rows in words.

    >>> answered_in_words(57, 40, 39)
    'Of 57 test rows 40 are answered, 39 of them rightly.'
    """
    return f"Of {n_rows:,} test rows {n_answered:,} are answered, {n_right:,} of them rightly."


def promise_facts(guarantees: Sequence[Guarantee], instead: Guarantee | None) -> dict[str, Any]:
    """Return the facts on the promises of a front's points as plain data, for its extras.

    `instead`: the largest promise that could have been made if no requested promise holds.
    """
    return {
        "promised": [one.promised for one in guarantees],
        "promises": [asdict(one) for one in guarantees],
        "promised_instead": None if instead is None else asdict(instead),
    }


def guarantees_of(front: "Front") -> tuple[Guarantee, ...]:
    """Return the promise of each point of a front; empty if no promise was requested."""
    return tuple(Guarantee(**one) for one in front.extras.get("promises", ()))
