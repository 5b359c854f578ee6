"""What turns scores of the classes into probabilities: a power of each, times a factor of its class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from shortlist.arrays import Floats
from shortlist.pickles import saved_from

LEAST_SCORE = 1e-3
"""Scores below are fitted as this one, so that no row that is wrong and certain decides alone."""

POWERS = (0.05, 20.0)
"""Between these a power is looked for; above 0, so that the largest score stays the largest."""

LAST_STEPS = 3
"""Newton's steps after the minimum is nearly found, so that a threshold is the same on every machine."""

MOST_GAIN = 2**30
"""Number of parts into which the largest gain is cut where gains have factors."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Calibration:
    """Probabilities that follow from scores: ``power`` of each, times the factor of its class, in all 1.

    With two classes the log odds of the scores are multiplied by `power`, and shifted by the logarithm of the
    quotient of the factors. Either the power is 1 or all factors are.

    >>> Calibration(1.0, (1.0, 0.5)).of(np.array([[0.5, 0.5]])).round(3).tolist()
    [[0.667, 0.333]]
    """

    power: float
    """Above 0. With equal factors the largest score stays the largest."""
    factors: tuple[float, ...]
    """Above 0, the largest of them 1; one per class."""

    def of(self, scores: Floats) -> Floats:
        """Return the probabilities for scores from 0 to 1, ``(..., n_classes)``, one of each row above 0."""
        raised = scores**self.power * np.asarray(self.factors)
        total = np.zeros(raised.shape[:-1])
        for label in range(raised.shape[-1]):  # one after the other, as readers of policies add up
            total += raised[..., label]
        return np.asarray(raised / total[..., None])


def fitted_power(scores: Floats, labels: NDArray[np.integer]) -> Calibration:
    """Return the power of scores with the least log loss, all factors being 1.

    It is what :cite:t:`Guo2017` call temperature scaling, and changes no decision.

    `scores`, ``(n_rows, n_classes)``: those of a row add up to 1. `labels`, ``(n_rows,)``: index of the true
    class.

    >>> sure = np.array([[0.9, 0.1]] * 10)
    >>> fitted_power(sure, np.array([0] * 6 + [1] * 4)).power < 0.5
    True
    """
    logs = np.log(np.maximum(scores, LEAST_SCORE))
    targets = smoothed_targets(labels, scores.shape[1])

    def loss(power: float) -> float:
        return _loss(power * logs, targets)

    found = minimize_scalar(loss, bounds=POWERS, method="bounded", options={"xatol": 1e-6})
    return Calibration(float(found.x), (1.0,) * scores.shape[1])


def fitted_factors(scores: Floats, labels: NDArray[np.integer]) -> Calibration:
    """Return the factors of the classes with the least log loss, the power being 1.

    Then every class is as probable on average as it is among the rows ("calibration in the large"). With two
    classes it is one number, the threshold that the probability of the second class must reach.

    `scores`, ``(n_rows, n_classes)``: those of a row add up to 1. `labels`, ``(n_rows,)``: index of the true
    class.

    >>> even = np.array([[0.5, 0.5]] * 100)
    >>> fitted_factors(even, np.array([0] * 80 + [1] * 20)).of(even)[0].round(2).tolist()
    [0.8, 0.2]
    """
    logs = np.log(np.maximum(scores, LEAST_SCORE))
    targets = smoothed_targets(labels, scores.shape[1])

    def loss(shifts: Floats) -> tuple[float, Floats]:
        shifted = logs + np.append(0.0, shifts)
        return _loss(shifted, targets), (_shares(shifted) - targets).sum(axis=0)[1:]

    found = minimize(loss, np.zeros(scores.shape[1] - 1), jac=True, method="L-BFGS-B").x
    for _ in range(LAST_STEPS):
        shares = _shares(logs + np.append(0.0, found))[:, 1:]
        curvature = np.diag(shares.sum(axis=0)) - shares.T @ shares
        found = found - np.linalg.solve(curvature, (shares - targets[:, 1:]).sum(axis=0))
    shifts = np.append(0.0, found)
    return Calibration(1.0, tuple(np.exp(shifts - shifts.max()).tolist()))


def times_factors(gains: NDArray[np.int64], factors: tuple[float, ...]) -> NDArray[np.int64]:
    """Return what means are multiplied by before the largest decides: gains by class, times their factors.

    They are whole parts of the largest; equal factors change nothing.

    >>> times_factors(np.array([1, 1]), (1.0, 0.5)).tolist()
    [1073741824, 536870912]
    """
    if len(set(factors)) == 1:
        return gains
    products = gains / gains.max() * np.asarray(factors)
    return np.asarray(np.rint(products / products.max() * MOST_GAIN), dtype=np.int64)


def smoothed_targets(labels: NDArray[np.integer], n_classes: int) -> Floats:
    """Return how probable each class is to be found on every row, ``(n_rows, n_classes)``, not quite certain.

    As for :cite:t:`Platt1999`, a class of n rows is ``(n + 1) / (n + 2)`` probable on them; the other classes
    share the rest. So nothing grows without end where all rows are right.

    >>> smoothed_targets(np.array([0, 0, 1]), 2).round(3).tolist()
    [[0.75, 0.25], [0.75, 0.25], [0.333, 0.667]]
    """
    n_rows = np.bincount(labels, minlength=n_classes)
    own = ((n_rows + 1) / (n_rows + 2))[labels]
    targets = np.repeat(((1 - own) / (n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(len(labels)), labels] = own
    return np.asarray(targets)


def _loss(logs: Floats, targets: Floats) -> float:
    return float((np.logaddexp.reduce(logs, axis=1) - (targets * logs).sum(axis=1)).sum())


def _shares(logs: Floats) -> Floats:
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
