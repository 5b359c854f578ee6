"""What margins are worth, as a second objective among equals or as a smooth first one."""

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.votes.binary_votes import Votes, tally
from shortlist.ensembles.votes.class_votes import ClassVotes, class_tally, leads
from shortlist.errors import BadInputError

SHAPES = ("concave", "sigmoid")

CONCAVE_SLOPE = 4.0
"""Slope of ``+margin``."""

_STEEPEST = {"concave": 10, "sigmoid": 100}

_FURTHEST = 1.5
"""No margin is further from 0: at most S + 1/2 votes of S are missing, and S is at least 1."""


_exp = np.frompyfunc(math.exp, 1, 1)


@dataclass(frozen=True)
class MarginUtility:
    """What a row is worth by its margin, how far the votes are on the right side of the threshold.

    The margin of a positive row with t votes is m = (t − L − ½) / S, that of a negative one −m. Here L is
    the threshold and S the number of members, counted as 1 when there is none. These are Eqs. 3 and 4 of
    :cite:t:`Gagne2007` around a free threshold instead of half the votes. With several classes m is
    (lead + ½) / 2S, where the lead is the votes for the true class less those for the strongest rival, less 1
    where that rival comes first and so wins ties. The half makes a slope mean what it means for two classes,
    where a vote that changes sides changes the lead by two. The row is right iff its margin is above 0.

    Attributes
    ----------
    shape : {"concave", "sigmoid"}
        ``concave``: (e^(3α/2) − e^(−αm)) / (e^(3α/2) − e^(−3α/2)), the exponential loss turned round and
        scaled to [0, 1]; the steeper, the more the lowest margins count, and without end it is the order of
        margin histograms (Eq. 5 of :cite:t:`Gagne2007`). ``sigmoid``: 1 / (1 + e^(−αm)); without end it
        counts right rows.
    slope : float
        α, above 0 and at most 100; at most 10 when concave, beyond which integers tell high margins apart no
        more.
    leads : bool, default=False
        Whether the utility is the objective itself. False: it tells apart selections of the same weighted
        sum.

    Raises
    ------
    BadInputError
        If the shape is unknown or the slope out of range.
    """

    shape: str
    slope: float
    leads: bool = False

    def __post_init__(self) -> None:
        as_choice(self.shape, "shape", SHAPES)
        most = _STEEPEST[self.shape]
        if not 0 < self.slope <= most:
            raise BadInputError(
                "slope", f"must be above 0 and at most {most} ({self.shape})", repr(self.slope)
            )

    def of_margins(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility of margins, in [0, 1]."""
        if self.shape == "sigmoid":
            # the plain exponential, which auditors have: vectors have others, that differ in the last bit
            return np.asarray(1 / (1 + np.asarray(_exp(-self.slope * margins), dtype=np.float64)))
        # divided through by its largest term, so that no power overflows
        least = np.exp(-2 * _FURTHEST * self.slope)
        return np.asarray((1 - np.exp(-self.slope * (margins + _FURTHEST))) / (1 - least))


def split_objective(
    objective: str | Mapping[str, float],
) -> tuple[str | Mapping[str, float], MarginUtility | None]:
    """Split ``"accuracy+margin"`` into the objective that comes first and the utility.

    Without ``+`` there is none.

    After the ``+`` stands ``margin``, a concave utility of slope 4 that decides among equals, or ``slope-A``
    with a number A, a sigmoid that is maximised itself, weighted by what right decisions on the rows gain.

    Raises
    ------
    BadInputError
        If something else stands there.

    Examples
    --------
    >>> split_objective("balanced-accuracy+margin")
    ('balanced-accuracy', MarginUtility(shape='concave', slope=4.0, leads=False))
    >>> split_objective("accuracy+slope-8")[1]
    MarginUtility(shape='sigmoid', slope=8.0, leads=True)
    """
    if not isinstance(objective, str) or "+" not in objective:
        return objective, None
    first, _, second = objective.partition("+")
    if second == "margin":
        return first, MarginUtility("concave", CONCAVE_SLOPE)
    slope = re.fullmatch(r"slope[-_](\d+(?:\.\d+)?)", second)
    if slope is None:
        raise BadInputError(
            "objective", "must end in '+margin' or '+slope-A' with a number A after the '+'", repr(objective)
        )
    return first, MarginUtility("sigmoid", float(slope[1]), leads=True)


def utility_scale(votes: Votes | ClassVotes, weights: Weights | ClassWeights) -> int:
    """Return the integer that utility 1 is rounded to: 2^30, less for large weights and many classifiers.

    Every sum over rows, and of as much per vote and rival, is below 2^62.

    Raises
    ------
    BadInputError
        If no such integer is left.
    """
    n_rivals = votes.n_classes - 1 if isinstance(votes, ClassVotes) else 1
    most = most_gain(votes, weights) * 3 * (votes.n_classifiers + 2) * n_rivals
    digits = min(30, 62 - most.bit_length())
    if digits < 1:
        raise BadInputError("`weights` must have fewer digits for margins to be told apart. Round them.")
    return int(2**digits)


@functools.lru_cache(maxsize=4)
def utility_table(
    utility: MarginUtility, n_classifiers: int, scale: int, *, by_plurality: bool = False
) -> NDArray[np.int64]:
    """Return the utility by size and distance, rounded to integers.

    Kept for the next call, so not to be written to.

    Returns
    -------
    table : ndarray of int64, shape (n_classifiers + 1, 2 · n_classifiers + 5)
        Entry ``[S, K + 2 + d]`` is the worth of margin (d − ½) / S. Here d is t − L for a positive row, and
        1 − t + L for a negative one. By plurality d is 1 plus the lead over the strongest rival, and the
        margin half as large. Margins beyond ±3/2, which no row has, are cut there. A sigmoid's entries for d
        and 1 − d, opposite margins, add to `scale` after rounding too.
    """
    sizes = np.maximum(np.arange(n_classifiers + 1), 1)[:, None]
    is_symmetric = utility.shape == "sigmoid"
    distances = np.arange(1 if is_symmetric else -n_classifiers - 2, n_classifiers + 3)[None, :]
    votes_per_distance = 2 if by_plurality else 1
    margins = np.clip((2 * distances - 1) / (2 * votes_per_distance * sizes), -_FURTHEST, _FURTHEST)
    table = np.floor(scale * utility.of_margins(margins) + 0.5).astype(np.int64)
    if is_symmetric:
        mirrored = scale - table[:, ::-1]
        return np.ascontiguousarray(np.hstack([mirrored[:, :1], mirrored, table]))
    return table


def utility_total(votes: Votes, weights: Weights, utility: MarginUtility, mask: Mask, threshold: int) -> int:
    """Return the sum over rows of |gain| times utility, exact, in units of ``1 / utility_scale``.

    The gain of a row is what a right decision adds; a row with a negative gain counts as one of the other
    class.

    Notes
    -----
    Takes O(n_rows · n_members + n_classifiers²) time.

    Examples
    --------
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> votes = merge_rows([[1, 1], [0, 0]], [1, 0])
    >>> weights, slope = named_weights("accuracy", votes), MarginUtility("sigmoid", 4.0)
    >>> total = utility_total(votes, weights, slope, np.array([True, True]), 0)  # margins 3/4 and 1/4
    >>> in_floats = 1 / (1 + np.exp(-3.0)) + 1 / (1 + np.exp(-1.0))
    >>> round(total / utility_scale(votes, weights), 6), round(in_floats, 6)
    (1.683633, np.float64(1.683633))
    """
    table = utility_table(utility, votes.n_classifiers, utility_scale(votes, weights))
    gains = weights.signed_gains(votes)
    distances = tally(votes.votes, mask) - threshold
    towards = np.where(gains > 0, distances, 1 - distances)
    return int((np.abs(gains) * table[int(mask.sum()), votes.n_classifiers + 2 + towards]).sum())


def class_utility_total(votes: ClassVotes, weights: ClassWeights, utility: MarginUtility, mask: Mask) -> int:
    """Return the same for a plurality vote: the sum over rows of gain times utility of the margin."""
    scale = utility_scale(votes, weights)
    table = utility_table(utility, votes.n_classifiers, scale, by_plurality=True)
    distances = leads(class_tally(votes.codes[:, mask], votes.n_classes), votes.labels) + 1
    worths = table[int(mask.sum()), votes.n_classifiers + 2 + distances]
    return int((weights.row_gains(votes) * worths).sum())


def most_gain(votes: Votes | ClassVotes, weights: Weights | ClassWeights) -> int:
    """Return the sum of |gain| over all rows."""
    if isinstance(votes, ClassVotes):
        assert isinstance(weights, ClassWeights), "weights are of the votes"
        return int(weights.row_gains(votes).sum())
    assert isinstance(weights, Weights), "weights are of the votes"
    return abs(weights.gain_positive) * votes.n_positive + abs(weights.gain_negative) * votes.n_negative
