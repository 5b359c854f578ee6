"""Figures on new rows beside the reported figures, and a check whether the reported figures still hold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.results.intervals import Z, mean_error, wilson_interval

Figure: TypeAlias = tuple[float, float, float]
"""A value with the lower and the upper end of its interval at 95 %."""

ACCURACY, ANSWERED, CALLS, PRICE = "right of all rows", "answered", "asked a row", "cost a row"
"""Names of figures; a row without an answer is not right."""

RIGHT_OF_ANSWERS, ERROR_COST = "right of the answers", "cost of errors a row"


@dataclass(frozen=True)
class NewRows:
    """Answers to rows of known class.

    `decided`, `truth`, ``(n_rows,)``: indices of classes; in `decided`, -1 stands for no answer. `classes`:
    sorted classes. `calls`, `prices`, ``(n_rows,)``: number of members or features asked, and their price, if
    known. `errors`, ``(n_rows,)``: cost of the error about each row, if errors have costs.
    """

    decided: NDArray[np.int64]
    truth: NDArray[np.int64]
    classes: Labels
    calls: Floats | None = None
    prices: Floats | None = None
    errors: Floats | None = None


def share(n: float, n_rows: float) -> Figure:
    """Return a share with Wilson's interval; 0 to 1 without rows.

    >>> [round(end, 3) for end in share(9, 10)]
    [0.9, 0.596, 0.982]
    """
    return (n / n_rows, *wilson_interval(n, n_rows)) if n_rows else (math.nan, 0.0, 1.0)


def mean(values: Floats) -> Figure:
    """Return a mean with its normal interval."""
    half, own = Z * mean_error(values), float(values.mean())
    return own, own - half, own + half


def figures_of(rows: NewRows) -> dict[str, Figure]:
    """Return the figures of answers to new rows, recalls of classes included, each with its interval."""
    answered: Mask = rows.decided >= 0
    right: Mask = rows.decided == rows.truth
    n = len(rows.truth)
    found = {ACCURACY: share(int(right.sum()), n)}
    if not answered.all():
        found[ANSWERED] = share(int(answered.sum()), n)
        found[RIGHT_OF_ANSWERS] = share(int(right.sum()), int(answered.sum()))
    for name, values in ((ERROR_COST, rows.errors), (CALLS, rows.calls), (PRICE, rows.prices)):
        if values is not None:
            found[name] = mean(np.asarray(values, dtype=np.float64))
    for place, label in enumerate(rows.classes.tolist()):
        own = rows.truth == place
        if own.any():
            found[f"recall of {label}"] = share(int((right & own).sum()), int(own.sum()))
    return found


def holds(now: Figure, reported: Figure) -> bool:
    """Whether chance may explain the difference between a figure on new rows and the reported figure.

    Each interval has one end towards the other figure; the distance from the figure to this end is its
    half-width. The figure holds if the difference is at most the root of the sum of the squared half-widths.

    >>> holds((0.90, 0.87, 0.93), (0.93, 0.91, 0.95)), holds((0.80, 0.77, 0.83), (0.93, 0.91, 0.95))
    (True, False)
    """
    (own, low, high), (told, least, most) = now, reported
    apart = told - own
    room = math.hypot(high - own, told - least) if apart > 0 else math.hypot(own - low, most - told)
    return abs(apart) <= room


@dataclass(frozen=True)
class MeasuredAgain:
    """Figures on new rows beside the reported figures, and a promise.

    `promised`: promised share of right answers, None without a promise.
    """

    now: Mapping[str, Figure]
    reported: Mapping[str, Figure]
    n_rows: int
    promised: float | None = None

    @property
    def broken(self) -> list[str]:
        """Names of the reported figures that new rows contradict, beyond chance."""
        return [
            name for name, told in self.reported.items() if name in self.now and not self._holds(name, told)
        ]

    def _holds(self, name: str, told: Figure) -> bool:
        return holds(self.now[name], told)

    @property
    def is_worse(self) -> bool:
        """Whether, beyond chance, fewer rows are right than reported or a promise is broken."""
        told = self.reported.get(ACCURACY)
        lower = ACCURACY in self.broken and told is not None and self.now[ACCURACY][0] < told[0]
        return lower or self.keeps_promise is False

    @property
    def keeps_promise(self) -> bool | None:
        """Whether the promise may hold on these rows; None without a promise."""
        if self.promised is None:
            return None
        return self.now.get(RIGHT_OF_ANSWERS, self.now[ACCURACY])[2] >= self.promised

    def sentence(self) -> str:
        """Return the first line: whether the figures hold, and whether to choose again."""
        own, told = self.now[ACCURACY], self.reported.get(ACCURACY)
        if self.keeps_promise is False:
            right = self.now.get(RIGHT_OF_ANSWERS, own)[0]
            return (
                f"Choose anew: {right:.1%} of the answers are right, where {self.promised:.1%} are promised."
            )
        if told is None:
            return f"{own[0]:.1%} of {self.n_rows:,} rows are right; the file reports no figures to compare."
        if self.is_worse:
            return (
                f"Choose anew: {own[0]:.1%} of {self.n_rows:,} rows are right, {told[0]:.1%} were reported."
            )
        others = [name for name in self.broken if name != ACCURACY]
        if others:
            return f"As accurate as reported, but {' and '.join(others)} changed beyond chance."
        better = ACCURACY in self.broken
        return (
            f"{'Better than' if better else 'As'} reported: {own[0]:.1%} of {self.n_rows:,} rows are right."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "sentence": self.sentence(),
            "n_rows": self.n_rows,
            "figures": {
                name: {
                    "value": value[0],
                    "interval": list(value[1:]),
                    "reported": None if name not in self.reported else list(self.reported[name]),
                    "holds": None if name not in self.reported else self._holds(name, self.reported[name]),
                }
                for name, value in self.now.items()
            },
            "promised": self.promised,
            "promise_kept": self.keeps_promise,
            "choose_anew": self.is_worse,
        }
