"""Figures of a panel on cases of known truth: loss, answers, right answers and price, with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.panels.answer_log import AnswerLog, n_different
from shortlist.panels.objectives import ACCURACY, Scoring, accuracy_scoring, shares_of_classes
from shortlist.panels.policy import Outcome, Panel
from shortlist.results.intervals import (
    Interval,
    interval_of_mean,
    interval_over_folds,
    wilson_interval,
)


@dataclass(frozen=True, eq=False)
class Rechosen(Panel):
    """Panel with an outcome that a plain run of the panel would not give.

    `outcome`: outcome of nested cross-validation, or of the surest answers alone. `own`: outcome of the panel
    itself on its training cases, out of fold; `folds`: fold of each case, ``(n_cases,)``. With `own`, the
    reported price is the price of the panel itself. The interval of the price is the wider of two: over
    cases, and over folds. The interval of the accuracy then reaches up to the accuracy of `own`. Reasons:
    panels chosen on fewer cases are right less often than the panel, and the panel is right more often on its
    training cases than on new cases. `possible_prices`: least and largest price of a case, ``(1,)`` each.
    """

    outcome: Outcome | None = None
    own: Outcome | None = None
    folds: NDArray[np.int64] | None = None
    possible_prices: tuple[Floats, Floats] = (np.zeros(1), np.full(1, np.inf))

    def run(self, log: AnswerLog) -> Outcome:
        """Return the outcome; `log` must have the cases of the outcome."""
        assert self.outcome is not None
        assert len(self.outcome.codes) == len(log.truth)
        return self.outcome


@dataclass(frozen=True)
class PanelFigures:
    """Figures of a panel on some cases; several rows of one case count as one sample in all intervals.

    `n_cases`, `n_right`, `n_unanswered`, `n_handed_over`: numbers of rows; a case that a person answers is
    right. `n_different`: number of different cases. `answered`, `answered_interval`: share of the cases that
    the judges answer, and Wilson's interval at 95 %. `of_answers`: whether accuracy is a share of the
    answers, as under a promise, where a missing answer is no mistake. `objective`: ``accuracy``,
    ``error-cost`` or ``balanced-accuracy``. `value`, `value_interval`: value of the objective, and its
    interval at 95 %. The interval is computed like the interval of the accuracy, or like the interval of the
    price. `accuracy`, `accuracy_interval`: share of right cases, or of right answers, and Wilson's interval
    at 95 %; a lower promise replaces its lower end. `price`, `price_interval`: mean price as paid, and its
    interval at 95 %: a normal interval, or by an exact tail if all cases cost the same; see
    :func:`shortlist.results.intervals.interval_of_mean`. `latency`: mean seconds. `ended`: share of the cases
    that each stage ends. `recall`: share of right answers for each class; None for a class without cases.
    Empty for open answers. `errors`: recall and specificity if these are objectives, and Wilson's intervals
    as ``recall_interval`` and ``specificity_interval``; an entry is None if its class has no case.
    """

    n_cases: int
    n_different: int
    n_right: int
    n_unanswered: int
    n_handed_over: int
    answered: float
    answered_interval: Interval
    of_answers: bool
    objective: str
    value: float
    value_interval: Interval
    accuracy: float
    accuracy_interval: Interval
    price: float
    price_interval: Interval
    latency: float | None
    ended: tuple[float, ...]
    recall: tuple[float | None, ...]
    errors: Mapping[str, Any] | None = None


def figures(
    panel: Panel, log: AnswerLog, scoring: Scoring | None = None, *, promised: float | None = None
) -> PanelFigures:
    """Return the figures of a panel on cases of known truth, by default with accuracy as objective.

    `promised`: promised share of right answers; the promise also holds for these cases. If `promised` is
    given, accuracy is a share of the answers. 0: accuracy is a share of the answers, and nothing is promised.
    """
    scoring = scoring or accuracy_scoring(log)
    outcome = panel.run(log)
    right, answered = outcome.right(log), outcome.codes >= 0
    n, n_cases = len(right), n_different(log)
    latency, price = float(outcome.latency.mean()), float(outcome.price.mean())
    counted = np.ones(n, dtype=bool) if promised is None else answered
    n_right, n_counted = int((right & counted).sum()), int(counted.sum())
    accuracy, losses = n_right / max(1, n_counted), scoring.of(outcome, log)
    wilson = _wilson(n_right, n_counted, n_cases / n)
    paid = outcome
    if isinstance(panel, Rechosen) and panel.own is not None:
        paid, n_own = panel.own, int(panel.own.right(log).sum())
        latency, price = float(paid.latency.mean()), float(paid.price.mean())
        wilson = wilson[0], max(wilson[1], _wilson(n_own, n, n_cases / n)[1])
    possible = possible_prices(panel, log)
    price_interval = interval_of_mean(paid.price, *possible, groups=log.groups)
    if isinstance(panel, Rechosen) and panel.own is not None and panel.folds is not None:
        low, high = interval_over_folds(paid.price, panel.folds)
        low, high = max(low, float(possible[0][0])), min(high, float(possible[1][0]))
        price_interval = min(price_interval[0], low), max(price_interval[1], high)
    if promised:
        wilson = min(wilson[0], promised), wilson[1]
    is_plain = scoring.objective == ACCURACY
    return PanelFigures(
        n_cases=n,
        n_different=n_cases,
        n_right=int(right.sum()),
        n_unanswered=int((~answered & ~outcome.handed_over).sum()),
        n_handed_over=int(outcome.handed_over.sum()),
        answered=float(answered.mean()),
        answered_interval=_wilson(int(answered.sum()), n, n_cases / n),
        of_answers=promised is not None,
        objective=scoring.objective,
        value=accuracy if is_plain else scoring.value(float(losses.mean())),
        value_interval=wilson if is_plain else scoring.interval(losses, log),
        accuracy=accuracy,
        accuracy_interval=wilson,
        price=price,
        price_interval=price_interval,
        latency=None if math.isnan(latency) else latency,
        ended=tuple(np.bincount(outcome.stage, minlength=len(panel.stages)) / n),
        recall=_recalls(right, log),
        errors=None if scoring.positive is None else shares_of_classes(right, log, scoring.positive),
    )


def _wilson(n_right: int, n: int, share_different: float) -> Interval:
    """Return Wilson's interval with several rows of one case counted as one; from 0 to 1 without rows."""
    if not n:
        return 0.0, 1.0
    return wilson_interval(n_right * share_different, n * share_different)


def possible_prices(panel: Panel, log: AnswerLog) -> tuple[Floats, Floats]:
    """Return the least price of each case (its first stage), and the largest (all stages and a person)."""
    if isinstance(panel, Rechosen):
        return panel.possible_prices
    paid = log.paid[:, [log.judges.index(name) for name in panel.judges]]
    low, high = paid.min(axis=0), paid.max(axis=0)
    least = min(low[list(stages[0].asks)].sum() for stages in panel.ways)
    most = max(high[[judge for stage in stages for judge in stage.asks]].sum() for stages in panel.ways)
    return np.array([least]), np.array([most + panel.final.price])


def _recalls(right: Mask, log: AnswerLog) -> tuple[float | None, ...]:
    of_class = [log.truth == code for code in range(0 if log.is_open else len(log.classes))]
    return tuple(float(right[mask].mean()) if mask.any() else None for mask in of_class)
