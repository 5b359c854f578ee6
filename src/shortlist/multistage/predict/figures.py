"""What stages do on some rows, with intervals: the share that is answered, rightly so, and what rows pay."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.guarantees.tails import Interval, mean_interval, wilson_interval
from shortlist.pickles import saved_from


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class Figures:
    """What stages do on some rows.

    Attributes
    ----------
    n_rows, n_answered, n_right : int
        Rows, those that are answered, and those that are answered rightly.
    cost : float
        Mean acquisition cost per row.
    cost_interval : tuple of float
        Its normal interval, at 95 %.
    """

    n_rows: int
    n_answered: int
    n_right: int
    cost: float
    cost_interval: Interval

    @property
    def coverage(self) -> float:
        """Share of the rows that is answered."""
        return self.n_answered / self.n_rows

    @property
    def coverage_interval(self) -> Interval:
        """Wilson's interval of the coverage, at 95 %."""
        return wilson_interval(self.n_answered, self.n_rows)

    @property
    def accuracy(self) -> float:
        """Share of the answers that is right; 0 where there is none."""
        return self.n_right / max(1, self.n_answered)

    @property
    def accuracy_interval(self) -> Interval | None:
        """Wilson's interval of the accuracy, at 95 %; None where no row is answered."""
        return wilson_interval(self.n_right, self.n_answered) if self.n_answered else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_answered": self.n_answered,
            "n_right": self.n_right,
            "coverage": self.coverage,
            "coverage_interval": self.coverage_interval,
            "accuracy": self.accuracy,
            "accuracy_interval": self.accuracy_interval,
            "cost": self.cost,
            "cost_interval": self.cost_interval,
        }


def figures(answered: Mask, right: Mask, costs: NDArray[np.float64]) -> Figures:
    """Count what became of rows, ``(n_rows,)``, of which there is one at least."""
    return Figures(
        len(answered),
        int(answered.sum()),
        int((answered & right).sum()),
        float(costs.mean()),
        mean_interval(costs),
    )
