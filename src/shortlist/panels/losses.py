"""What a panel loses on each case by the first objective, and the intervals of its mean."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.arrays import Floats
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.panel_options import ACCURACY, BALANCED, ERROR_COST, RECALL
from shortlist.panels.policy import Outcome
from shortlist.panels.recipes import right_or_wrong
from shortlist.results.told import Interval, interval_of_mean, mean_error

if TYPE_CHECKING:
    from shortlist.panels.panel_choice import PanelChoice


@dataclass(frozen=True, eq=False)
class Scoring:
    """What every mistake costs under an objective.

    `objective`: ``accuracy``, ``error-cost`` or ``balanced-accuracy``. `losses`: of deciding a class, or
    nothing, the last row, where the second is the truth, ``(n_classes + 1, n_classes)``. For balanced
    accuracy both classes weigh the same on the log at hand; `positive` is the one that recall is of.
    """

    objective: str
    losses: Floats
    positive: int | None = None

    @property
    def sign(self) -> int:
        """1 where more is better, -1 for a cost."""
        return -1 if self.objective == ERROR_COST else 1

    def of(self, outcome: Outcome, log: AnswerLog) -> Floats:
        """Return what is lost on each case; a person loses nothing."""
        lost = self.losses[log.scored(outcome.codes), log.truth]
        return np.where(outcome.handed_over, 0.0, lost)

    def value(self, loss: float) -> float:
        """Return the objective for a mean loss."""
        return loss if self.sign < 0 else 1 - loss

    def error(self, values: Floats, log: AnswerLog) -> float:
        """Return the standard error of the mean of numbers like these losses, or of differences of them."""
        return mean_error(values, **self._rows(log))

    def interval(self, losses: Floats, log: AnswerLog) -> Interval:
        """Return the interval at 95 % of the objective, from the loss of each case."""
        least, most = self._extremes()
        low, high = interval_of_mean(losses, least, most, **self._rows(log))
        return (low, high) if self.sign < 0 else (1 - high, 1 - low)

    def interval_of_gain(self, gains: Floats, log: AnswerLog) -> Interval:
        """Return the interval at 95 % of the difference in the objective, from what each case loses less."""
        least, most = self._extremes()
        low, high = interval_of_mean(gains, least - most, most - least, **self._rows(log))
        return (low, high) if self.sign > 0 else (-high, -low)

    def _rows(self, log: AnswerLog) -> dict[str, Any]:
        """Return the classes of the rows, where their shares are taken as given, and which are one case."""
        return {"strata": log.truth if self.objective == BALANCED else None, "groups": log.groups}

    def _extremes(self) -> tuple[Floats, Floats]:
        """Return the least and the largest loss of cases of each class."""
        least, most = self.losses.min(axis=0), self.losses.max(axis=0)
        if self.objective == BALANCED:
            return least, most
        return least.min(keepdims=True), most.max(keepdims=True)


def scoring_of(choice: "PanelChoice", log: AnswerLog) -> Scoring:
    """Return what mistakes cost on a log under the objectives of a front."""
    first, losses = choice.front.names[0], choice.cases.losses.astype(np.float64)
    if RECALL not in choice.front.names:
        return Scoring(first, losses)
    sizes = np.bincount(log.truth, minlength=2)
    return Scoring(BALANCED, losses * len(log.truth) / (2 * np.maximum(sizes, 1)), choice.cases.positive)


def accuracy_scoring(log: AnswerLog) -> Scoring:
    """Return the scoring by which every mistake counts alike."""
    return Scoring(ACCURACY, right_or_wrong(len(log.classes)).astype(np.float64))
