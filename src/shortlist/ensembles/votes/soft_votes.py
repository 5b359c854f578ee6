"""Soft votes: probabilities of every class by classifiers, as integers, and the decisions of their sums."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar

from shortlist.arrays import Floats, Mask
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

WHOLE = 2**15 - 1
"""Integer that stands for probability 1; it has 15 bits, so that the difference of two probabilities fits
into 16.
"""

Shares: TypeAlias = NDArray[np.int16]
"""Probabilities in parts of :data:`WHOLE`, ``(n_rows, n_classifiers, n_classes)``."""


@dataclass(frozen=True, eq=False)
class SoftVotes:
    """Probabilities by classifiers, with the true classes of rows, as built by :func:`soft_votes`."""

    shares: Shares
    """Probabilities in parts of :data:`WHOLE`, ``(n_rows, n_classifiers, n_classes)``."""
    labels: ClassCodes
    """Index of the true class, ``(n_rows,)``."""
    silent: Mask | None = None
    """Mask of the classifiers that abstain, with equal shares for all classes, ``(n_rows, n_classifiers)``;
    None without abstentions.
    """

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.shares.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.shares.shape[2])

    def of_rows(self, rows: NDArray[np.intp]) -> "SoftVotes":
        """Return the votes on the rows with these indices."""
        silent = None if self.silent is None else self.silent[rows]
        return SoftVotes(self.shares[rows], self.labels[rows], silent)


def soft_votes(probabilities: ArrayLike, labels: ArrayLike) -> SoftVotes:
    """Return probabilities rounded to integers, together with the true classes.

    Raises BadInputError if shapes disagree, there is no row or no classifier, or a number is out of range.

    `probabilities`, ``(n_rows, n_classifiers, n_classes)``: within [0, 1]. `labels`, ``(n_rows,)``: index of
    the true class.

    >>> soft_votes([[[0.25, 0.75]]], [1]).shares.tolist()
    [[[8192, 24575]]]
    """
    table, truth = np.asarray(probabilities), np.asarray(labels)
    if table.ndim != 3 or not table.size or truth.shape != table.shape[:1] or table.shape[2] < 2:
        raise BadInputError(
            "probabilities",
            (
                "must have shape (n_rows, n_classifiers, n_classes) with two classes or more, "
                "and labels one entry per row"
            ),
            f"shapes {table.shape} and {truth.shape}",
        )
    if truth.dtype.kind not in "biu" or truth.min() < 0 or truth.max() >= table.shape[2]:
        raise BadInputError("labels", f"must be indices of the {table.shape[2]} classes", "others")
    return SoftVotes(whole_shares(table), np.require(truth, np.uint8, ["C", "W"]))


def whole_shares(probabilities: ArrayLike) -> Shares:
    """Return probabilities in parts of :data:`WHOLE`, rounded half to even.

    With two classes, the first class gets the rest, so that the two integers add up to :data:`WHOLE`. At a
    probability of one half, the first class gets the larger integer, as it wins ties. Raises BadInputError if
    a probability is NaN or outside [0, 1].
    """
    table = np.asarray(probabilities, dtype=np.float64)
    if table.size and not (table.min() >= 0 and table.max() <= 1):  # so that NaN is refused too
        raise BadInputError(
            "every probability must be a number from 0 to 1, got others. Calibrate the classifiers."
        )
    whole = np.rint(table * WHOLE).astype(np.int16)
    if table.shape[-1] == 2:
        whole[..., 1] -= table[..., 1] == 0.5
        whole[..., 0] = WHOLE - whole[..., 1]
    return np.ascontiguousarray(whole)


def weighed(shares: Shares, gains: NDArray[np.int64]) -> Shares:
    """Return probabilities times the gain of a right answer about each class, over the largest gain.

    If the probabilities are true, the class with the largest mean product has the largest expected gain.

    `shares`, ``(..., n_classes)``. `gains`, ``(n_classes,)``: at least 0, with one gain above 0.

    >>> weighed(whole_shares([[[0.6, 0.4]]]), np.array([1, 2])).argmax(axis=2)
    array([[1]])
    """
    if (gains == gains[0]).all():
        return shares
    return np.asarray(np.rint(shares * (gains / gains.max())), dtype=np.int16)


def decided_by_mean(shares: Shares, gains: NDArray[np.int64]) -> ClassCodes:
    """Return the class of the largest mean probability times gain on every row, the first of equals.

    `shares`, ``(n_rows, n_members, n_classes)``: probabilities of the members; without members the first
    class is decided. `gains`, ``(n_classes,)``: gain of a right answer about each class; see :func:`weighed`.
    """
    return np.asarray(weighed(shares, gains).sum(axis=1, dtype=np.int32).argmax(axis=1), dtype=np.uint8)


def mean_decisions(votes: SoftVotes, mask: Mask, gains: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of rows by true class and decision of the members, ``(n_classes, n_classes)``.

    A row that no member answers is not counted.
    """
    decisions = np.zeros((votes.n_classes, votes.n_classes), dtype=np.int64)
    decided = decided_by_mean(votes.shares[:, mask], gains)
    answered = np.full(votes.n_samples, votes.silent is None)
    if votes.silent is not None:
        answered |= ~votes.silent[:, mask].all(axis=1)
    np.add.at(decisions, (votes.labels[answered], decided[answered]), 1)
    return decisions


LEAST_SCORE = 1e-3
"""Least score in a fit of a calibration; lower scores are raised to it, so that a row that is wrong with
certainty does not decide alone.
"""

POWERS = (0.05, 20.0)
"""Least and largest power in a fit; a power above 0 keeps the order of the scores."""

LAST_STEPS = 3
"""Number of further Newton steps when the minimum is nearly found, so that thresholds agree on all machines.
"""

MOST_GAIN = 2**30
"""Integer that the largest gain is scaled to, if gains are multiplied by factors."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Calibration:
    """Conversion of scores to probabilities, by a power and a factor for each class.

    Each score is raised to the power and multiplied by the factor of its class. The results are then scaled
    to add up to 1.

    With two classes the log odds of the scores are multiplied by `power`, and shifted by the logarithm of the
    quotient of the factors. Either the power is 1, or all factors are 1.

    >>> Calibration(1.0, (1.0, 0.5)).of(np.array([[0.5, 0.5]])).round(3).tolist()
    [[0.667, 0.333]]
    """

    power: float
    """Power of the scores, above 0. With equal factors the largest score is still the largest probability."""
    factors: tuple[float, ...]
    """Factor of each class, above 0; the largest factor is 1."""

    def of(self, scores: Floats) -> Floats:
        """Return the probabilities for scores, ``(..., n_classes)``.

        The scores are from 0 to 1, and at least one score of each row is above 0.
        """
        raised = scores**self.power * np.asarray(self.factors)
        total = np.zeros(raised.shape[:-1])
        for label in range(raised.shape[-1]):  # one after the other, as readers of policies add up
            total += raised[..., label]
        return np.asarray(raised / total[..., None])


def fitted_power(scores: Floats, labels: NDArray[np.integer]) -> Calibration:
    """Return the calibration with the power that has the least log loss; all factors are 1.

    This is the temperature scaling of :cite:t:`Guo2017`; it changes no decision.

    `scores`, ``(n_rows, n_classes)``: the scores of a row add up to 1. `labels`, ``(n_rows,)``: index of the
    true class.

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
    """Return the calibration with the factors that have the least log loss; the power is 1.

    The mean probability of every class then equals its share of the rows ("calibration in the large"). With
    two classes the factors amount to one number: the threshold on the probability of the second class.

    `scores`, ``(n_rows, n_classes)``: the scores of a row add up to 1. `labels`, ``(n_rows,)``: index of the
    true class.

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
    """Return gains times factors as integers, ``(n_classes,)``.

    The products are the weights of mean probabilities in a decision.

    The largest product is scaled to :data:`MOST_GAIN`; equal factors change no decision.

    >>> times_factors(np.array([1, 1]), (1.0, 0.5)).tolist()
    [1073741824, 536870912]
    """
    if len(set(factors)) == 1:
        return gains
    products = gains / gains.max() * np.asarray(factors)
    return np.asarray(np.rint(products / products.max() * MOST_GAIN), dtype=np.int64)


def smoothed_targets(labels: NDArray[np.integer], n_classes: int) -> Floats:
    """Return target probabilities below 1 for each class on every row, ``(n_rows, n_classes)``.

    As in :cite:t:`Platt1999`, a true class with n rows has the target ``(n + 1) / (n + 2)``; the other
    classes share the rest. So no fit diverges if all rows are right.

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
