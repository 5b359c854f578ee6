"""Shares of the rows of each true class: answered right, answered with another class, not answered."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.results.intervals import Z
from shortlist.results.measured_again import Figure, share

Confusion: TypeAlias = Sequence[Sequence[float]]
"""Number of rows by true class and answer, ``(n_classes, n_classes + 1)``; the last column counts rows
without an answer. With repeated choice the numbers are means over partitions, and may be fractions.
"""

UNEQUAL = 1.5
"""Ratio of the most frequent to the rarest class above which class sizes count as unequal."""


def confusion_of(
    truth: NDArray[np.int64], said: NDArray[np.int64], n_classes: int, *, times: int = 1
) -> tuple[tuple[float, ...], ...]:
    """Count rows by class and answer; rows of an unknown class are left out.

    `truth`, `said`, ``(times * n_rows,)``: class indices. In `truth`, -1 stands for an unknown class; in
    `said`, -1 stands for no answer. `times`: number of measurements of each row.

    >>> confusion_of(np.array([0, 0, 1]), np.array([0, 1, -1]), 2)
    ((1, 1, 0), (0, 0, 1))
    """
    known = truth >= 0
    answers = np.where(said < 0, n_classes, said)[known]
    width = n_classes + 1
    counts = np.bincount(truth[known] * width + answers, minlength=n_classes * width)
    rows = counts.reshape(n_classes, width).tolist()
    return tuple(tuple(one if times == 1 else one / times for one in row) for row in rows)


def whole_rows(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round mean counts to integers so that each class keeps its number of rows (largest remainders).

    `counts`: rows by true class and answer, ``(n_classes, n_classes + 1)``.

    >>> whole_rows(np.array([[1.5, 0.5, 0.0], [0.4, 1.3, 0.3]])).tolist()
    [[2, 0, 0], [1, 1, 0]]
    """
    whole = np.floor(counts + 1e-9).astype(np.int64)
    for row, found in zip(counts, whole, strict=True):
        left = round(math.fsum(row)) - int(found.sum())
        found[np.argsort(found - row, kind="stable")[:left]] += 1
    return whole


@dataclass(frozen=True)
class ClassShare:
    """Rows of one class: their number, and the shares of the three outcomes with intervals at 95 %."""

    label: str
    n_rows: float
    right: Figure
    wrong: Figure
    """Share answered with another class; these rows are misses if the class is the positive class."""
    unanswered: Figure

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        told: dict[str, Any] = {"label": self.label, "n_rows": self.n_rows}
        for name in ("right", "wrong", "unanswered"):
            value, *interval = getattr(self, name)
            told |= {name: value, f"{name}_interval": interval}
        return told


def class_shares(confusion: Confusion, labels: Sequence[Any]) -> list[ClassShare]:
    """Return the shares of every class that has rows, in the order of the labels."""
    found = []
    for place, (label, row) in enumerate(zip(labels, confusion, strict=True)):
        n_rows = math.fsum(row)
        if n_rows:
            wrong = sum(row[:-1]) - row[place]
            outcomes = (share(one, n_rows) for one in (row[place], wrong, row[-1]))
            found.append(ClassShare(str(label), n_rows, *outcomes))
    return found


def cost_of_errors(confusion: Confusion, costs: NDArray[np.float64]) -> Figure:
    """Return the mean cost of a row of known class, with its normal interval at 95 %.

    `costs`, ``(n_classes + 1, n_classes)``: cost of each answer by true class; the last row is for no answer.

    >>> cost, *interval = cost_of_errors([[90, 0, 0], [1, 9, 0]], np.array([[0.0, 10], [1, 0], [1, 10]]))
    >>> cost, [round(end, 4) for end in interval]
    (0.1, [-0.096, 0.296])
    """
    counts = np.array(confusion, dtype=np.float64)
    n_rows, own = counts.sum(), costs.T
    if not n_rows:
        return math.nan, 0.0, float(costs.max())
    mean = float((counts * own).sum() / n_rows)
    spread = float((counts * (own - mean) ** 2).sum()) / max(1.0, n_rows - 1)
    half = Z * math.sqrt(spread / n_rows)
    return mean, mean - half, mean + half


def are_unequal(confusion: Confusion) -> bool:
    """Whether some class has many more rows than another, so that accuracy alone hides errors.

    >>> are_unequal([[860, 0, 0], [0, 140, 0]]), are_unequal([[55, 0, 0], [0, 45, 0]])
    (True, False)
    """
    sizes = [sum(row) for row in confusion]
    return max(sizes, default=0) > UNEQUAL * min(sizes, default=0)


def shown_positive(confusion: Confusion, positive: int | None = None) -> int | None:
    """Return the index of the class whose recall is shown, of two classes; None if accuracy is enough.

    The class is `positive` if it is given, else the rarer class if class sizes are unequal.

    >>> shown_positive([[20, 0, 0], [0, 80, 0]]), shown_positive([[20, 0, 0], [0, 80, 0]], positive=1)
    (0, 1)
    """
    if len(confusion) != 2:
        return None
    sizes = [sum(row) for row in confusion]
    rarer = int(sizes[1] <= sizes[0]) if are_unequal(confusion) else None
    return rarer if positive is None else positive
