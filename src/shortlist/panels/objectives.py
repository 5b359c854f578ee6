"""Objectives of panels: for each objective a value, an order of dominance, a figure and an interval.

A new objective is one row of :data:`OBJECTIVES`. :data:`LEADING` lists the objectives that a front may begin
with, and the measure by which panels are compared then. Options, checks, fronts, figures and sentences read
:data:`OBJECTIVES` and :data:`LEADING`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.pareto import nondominated_unique
from shortlist.results.intervals import Interval, interval_of_mean, mean_error, wilson_interval

if TYPE_CHECKING:
    from shortlist.panels.answer_log import AnswerLog
    from shortlist.panels.policy import Outcome

ACCURACY, PRICE, LATENCY, ERROR_COST = "accuracy", "price", "latency", "error-cost"
RECALL, SPECIFICITY = "recall", "specificity"
BALANCED = "balanced-accuracy"
"""Name of the mean of recall and specificity, by which panels are compared if both are objectives."""


class Summed(Protocol):
    """Sums of a policy over the training cases; see :class:`shortlist.panels.recipes.Candidate`."""

    @property
    def loss(self) -> int:
        """Cost of the policy's mistakes, summed over all cases."""

    @property
    def price(self) -> int:
        """Price of all cases, in steps."""

    @property
    def seconds(self) -> float:
        """Mean latency in seconds."""

    @property
    def errors(self) -> tuple[int, ...]:
        """Numbers of errors in each class whose share of right answers is an objective."""


AnySummed = TypeVar("AnySummed", bound=Summed)


@dataclass(frozen=True)
class PanelObjective:
    """Objective of panels, with its order, its value and its figure.

    `sense`: ``"max"`` or ``"min"``. `step`: function from a policy to the number that is compared for
    dominance; less is better. `value`: function from a policy, the mask of positive training cases, and the
    steps of price per unit to the value per case. `figure`: name of the figure on hold-out cases; with
    ``_interval`` the name of its interval at 95 %. `interval`: how the interval is computed. `is_class`:
    class whose share of right answers is the objective: 1 for the positive class, 0 for the negative class;
    None for all other objectives. `is_share`: whether differences are reported in points. `is_leading`:
    whether panels are compared by the objective; otherwise it only follows leading objectives.
    `is_exhausted`: whether the search of few judges visits every policy that may be best in the objective, so
    that a front can be complete.
    """

    sense: str
    step: Callable[[Summed], float]
    value: Callable[[Summed, Mask, int], float]
    figure: str
    interval: str = "Wilson's"
    is_class: int | None = None
    is_share: bool = False
    is_leading: bool = True
    is_exhausted: bool = False


def _share_of_class(place: int, is_class: int) -> PanelObjective:
    """Return the objective for the share of right answers in a class.

    `place`: index of the errors of this class in a candidate.
    """

    def value(found: Summed, positive: Mask, _steps: int) -> float:
        return 1 - found.errors[place] / max(1, int((positive == is_class).sum()))

    figure = (RECALL, SPECIFICITY)[place]
    return PanelObjective(
        "max", lambda found: found.errors[place], value, figure, is_class=is_class, is_share=True
    )


OBJECTIVES: Mapping[str, PanelObjective] = {
    ACCURACY: PanelObjective(
        "max", attrgetter("loss"), lambda found, cases, _: 1 - found.loss / len(cases), "accuracy",
        is_share=True, is_exhausted=True,
    ),
    ERROR_COST: PanelObjective(
        "min", attrgetter("loss"), lambda found, cases, _: found.loss / len(cases), "value",
        "normal, or by the exact tail where all cases cost the same", is_exhausted=True,
    ),
    RECALL: _share_of_class(0, 1),
    SPECIFICITY: _share_of_class(1, 0),
    PRICE: PanelObjective(
        "min", attrgetter("price"), lambda found, cases, steps: found.price / (len(cases) * steps),
        "price", "normal, or by the exact tail where all cases cost the same", is_leading=False,
        is_exhausted=True,
    ),
    LATENCY: PanelObjective(
        "min", attrgetter("seconds"), lambda found, *_: found.seconds, "latency", "", is_leading=False
    ),
}  # fmt: skip
"""Objectives of a front of panels, by name."""

LEADING = {(ACCURACY,): ACCURACY, (ERROR_COST,): ERROR_COST, (RECALL, SPECIFICITY): BALANCED}
"""Measure by which panels are compared, for each beginning of a front's objectives."""


def leading(objectives: Sequence[str]) -> tuple[str, ...]:
    """Return the objectives by which panels are compared: all before the price."""
    return tuple(name for name in objectives if OBJECTIVES[name].is_leading)


def measure_of(objectives: Sequence[str]) -> str:
    """Return the measure by which panels of a front are compared, a value of :data:`LEADING`."""
    return LEADING[leading(objectives)]


def led_by(measure: str) -> tuple[str, ...]:
    """Return the leading objectives of fronts whose panels are compared by a measure."""
    return next(names for names, one in LEADING.items() if one == measure)


def in_text(name: str) -> str:
    """Return the name of an objective or a measure for sentences."""
    return name.replace("-", " ")


def sign_of(measure: str) -> int:
    """Return 1 for a measure of which more is better, -1 for a cost."""
    return -1 if measure in OBJECTIVES and OBJECTIVES[measure].sense == "min" else 1


def classes_of(objectives: Sequence[str]) -> list[int]:
    """Return the class of each objective that is a share of right answers in a class; see `is_class`."""
    told = (OBJECTIVES[name].is_class for name in objectives)
    return [one for one in told if one is not None]


def values_of(objectives: Sequence[str], found: Summed, positive: Mask, steps: int) -> dict[str, float]:
    """Return the objectives of a policy on the training cases, means per case, by name.

    `positive`: mask of the positive cases, ``(n_cases,)``. `steps`: steps of price per unit.
    """
    return {name: OBJECTIVES[name].value(found, positive, steps) + 0.0 for name in objectives}


def undominated(found: Sequence[AnySummed], objectives: Sequence[str] = (ACCURACY, PRICE)) -> list[AnySummed]:
    """Return the non-dominated policies, the best in the first objective first; of equals the first stays."""
    if not found:
        return []
    steps = [OBJECTIVES[name].step for name in objectives]
    points = np.column_stack([np.array([step(one) for one in found]) for step in steps])
    kept = np.flatnonzero(nondominated_unique(points))
    return [found[place] for place in kept[np.lexsort(points[kept].T[::-1])].tolist()]


def no_worse(one: Summed, other: Summed, objectives: Sequence[str]) -> bool:
    """Return whether a policy is at least as good as another in each of some objectives."""
    return all(OBJECTIVES[name].step(one) <= OBJECTIVES[name].step(other) for name in objectives)


def figure_of(figures: Mapping[str, Any], name: str) -> tuple[float | None, Interval | None]:
    """Return the figure of an objective, and its interval at 95 %; None if missing.

    `figures`: fields of :class:`shortlist.panels.figures.PanelFigures`, by name.
    """
    told, figure = figures, OBJECTIVES[name].figure
    if OBJECTIVES[name].is_class is not None:
        told = figures["errors"] or {figure: None}
    return told[figure], told.get(f"{figure}_interval")


@dataclass(frozen=True, eq=False)
class Scoring:
    """Costs of mistakes under a measure.

    `objective`: ``accuracy``, ``error-cost`` or ``balanced-accuracy``. `losses`: loss of each decision (rows;
    the last row is no decision) in each true class (columns), ``(n_classes + 1, n_classes)``. For balanced
    accuracy both classes have the same weight on the log at hand; `positive` is the class of recall.
    """

    objective: str
    losses: Floats
    positive: int | None = None

    @property
    def sign(self) -> int:
        """Sign of the objective: 1 if more is better, -1 for a cost."""
        return sign_of(self.objective)

    def of(self, outcome: "Outcome", log: "AnswerLog") -> Floats:
        """Return the loss on each case, ``(n_cases,)``; 0 where a person decides."""
        lost = self.losses[log.scored(outcome.codes), log.truth]
        return np.where(outcome.handed_over, 0.0, lost)

    def value(self, loss: float) -> float:
        """Return the objective at a mean loss."""
        return loss if self.sign < 0 else 1 - loss

    def error(self, values: Floats, log: "AnswerLog") -> float:
        """Return the standard error of the mean of losses, or of differences of losses."""
        return mean_error(values, **self._rows(log))

    def interval(self, losses: Floats, log: "AnswerLog") -> Interval:
        """Return the interval at 95 % of the objective, from the loss on each case."""
        least, most = self._extremes()
        low, high = interval_of_mean(losses, least, most, **self._rows(log))
        return (low, high) if self.sign < 0 else (1 - high, 1 - low)

    def interval_of_gain(self, gains: Floats, log: "AnswerLog") -> Interval:
        """Return the interval at 95 % of the gain in the objective, from the loss saved on each case."""
        least, most = self._extremes()
        low, high = interval_of_mean(gains, least - most, most - least, **self._rows(log))
        return (low, high) if self.sign > 0 else (-high, -low)

    def _rows(self, log: "AnswerLog") -> dict[str, Any]:
        """Return the strata and the groups of the rows, for intervals.

        Strata are given if shares of classes count as fixed; groups are rows of one case.
        """
        return {"strata": log.truth if self.objective == BALANCED else None, "groups": log.groups}

    def _extremes(self) -> tuple[Floats, Floats]:
        """Return the least and the largest loss of a case; for balanced accuracy, those in each class."""
        least, most = self.losses.min(axis=0), self.losses.max(axis=0)
        if self.objective == BALANCED:
            return least, most
        return least.min(keepdims=True), most.max(keepdims=True)


def right_or_wrong(n_classes: int) -> NDArray[np.int64]:
    """Return losses, ``(n_classes + 1, n_classes)``: 0 for the right decision, 1 for all others and none."""
    return np.vstack([1 - np.eye(n_classes, dtype=np.int64), np.ones((1, n_classes), dtype=np.int64)])


def accuracy_scoring(log: "AnswerLog") -> Scoring:
    """Return the scoring in which every mistake costs the same."""
    return Scoring(ACCURACY, right_or_wrong(len(log.classes)).astype(np.float64))


def scoring_on(log: "AnswerLog", objectives: Sequence[str], losses: Floats, positive: int) -> Scoring:
    """Return the costs of mistakes on a log under some objectives; `losses` as in :class:`Scoring`."""
    measure = measure_of(objectives)
    if measure != BALANCED:
        return Scoring(measure, losses)
    sizes = np.bincount(log.truth, minlength=2)
    return Scoring(measure, losses * len(log.truth) / (2 * np.maximum(sizes, 1)), positive)


def shares_of_classes(right: NDArray[np.bool_], log: "AnswerLog", positive: int) -> dict[str, Any]:
    """Return recall and specificity with intervals; several rows of one case count as one in an interval."""
    told: dict[str, Any] = {}
    for name in led_by(BALANCED):
        here = (log.truth == positive) == OBJECTIVES[name].is_class
        share = float(right[here].mean()) if here.any() else None
        n = len(np.unique(log.groups[here])) if log.groups is not None else int(here.sum())
        told |= {name: share, f"{name}_interval": None if share is None else wilson_interval(share * n, n)}
    return told
