"""What a selection came to beside its value: cost, diversity, and whether it tells classes apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import (
    PFC,
    Setting,
    diversity_limits,
    failure_credit,
    pairwise_failure_crediting,
)
from shortlist.ensembles.goals.pair_measures import CREDIT_UNITS, MEASURES, pair_credit
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.exact import seen


@dataclass(frozen=True, eq=False)
class Reached:
    """Cost and diversity of a selection, and what was asked of them.

    Attributes
    ----------
    cost : float or None
        What the members cost together; None where costs are not known.
    max_cost : float or None
        The budget.
    each_pfc : ndarray of float, shape (n_members,)
        Pairwise failure credit of every member, in [0, 1]; 0 for a single one, which has no pair.
    least_mean, least_each : float or None
        The limits on the mean and on every member's; None without limits on PFC.
    other : OtherDiversity or None
        The same of another measure, where limits are on that.
    """

    cost: float | None
    max_cost: float | None
    each_pfc: NDArray[np.float64]
    least_mean: float | None
    least_each: float | None
    other: "OtherDiversity | None" = None

    @property
    def mean_pfc(self) -> float | None:
        """Mean over the members; None with fewer than two."""
        return float(self.each_pfc.mean()) if len(self.each_pfc) > 1 else None

    def as_dict(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return cost and diversity for JSON, with the credit of each member by name."""
        cost = None if self.cost is None else {"total": self.cost, "max": self.max_cost}
        diversity = None
        if self.mean_pfc is not None:
            diversity = {
                "mean_pfc": self.mean_pfc,
                "least_pfc": float(self.each_pfc.min()),
                "wanted_mean": self.least_mean,
                "wanted_each": self.least_each,
                "pfc": dict(zip(names, self.each_pfc.tolist(), strict=True)),
            }
            if self.other is not None:
                diversity[self.other.measure] = {
                    "mean": float(self.other.each.mean()),
                    "wanted_mean": self.other.wanted_mean,
                    "wanted_each": self.other.wanted_each,
                    "members": dict(zip(names, self.other.each.tolist(), strict=True)),
                }
        return {"cost": cost, "diversity": diversity}


@dataclass(frozen=True, eq=False)
class OtherDiversity:
    """What a selection has of a measure other than PFC.

    Attributes
    ----------
    measure : str
        A name in :data:`shortlist.ensembles.goals.pair_measures.MEASURES`.
    each : ndarray of float, shape (n_members,)
        Mean of every member with the others.
    wanted_mean, wanted_each : float
        The limits on the mean over pairs and on every member's.
    """

    measure: str
    each: NDArray[np.float64]
    wanted_mean: float
    wanted_each: float


def what_was_reached(
    right: Mask,
    selection: Mask,
    *,
    costs: ArrayLike | None = None,
    max_cost: float | None = None,
    diversity: Setting = "none",
) -> Reached:
    """Return the cost and the diversity of a selection.

    Parameters
    ----------
    right : ndarray of bool, shape (n_rows, n_classifiers)
        Where each classifier of the pool is right; failure credit asks for nothing else, whatever the
        classes.
    selection : ndarray of bool, shape (n_classifiers,)
        The members.
    costs : array-like of float, shape (n_classifiers,), optional
        Cost of each classifier.
    max_cost : float, optional
        The budget.
    diversity : str or mapping
        As of :func:`shortlist.ensembles.goals.diversity.diversity_limits`.

    Examples
    --------
    >>> right = np.array([[True, False, True], [False, True, True], [True, True, False]])
    >>> reached = what_was_reached(right, np.array([True, True, False]), costs=[0.1, 0.2, 5])
    >>> reached.cost, reached.mean_pfc
    (0.3, 1.0)
    """
    n_rows = len(right)
    votes = Votes(right.astype(np.uint8), np.ones(n_rows, dtype=np.uint8), np.ones(n_rows, dtype=np.int64))
    limits = diversity_limits(diversity, votes)
    members = Votes(votes.votes[:, selection], votes.labels, votes.counts)
    cost = None
    if costs is not None:  # as decimals, as the limits are, so that 0.1 and 0.2 are 0.3
        cost = float(sum(map(seen, np.asarray(costs)[selection])))
    pfc = pairwise_failure_crediting(failure_credit(members))
    if limits is not None and limits.measure == PFC:
        return Reached(cost, max_cost, pfc, limits.mean / CREDIT_UNITS, limits.each / CREDIT_UNITS)
    other = None
    if limits is not None:
        measure = MEASURES[limits.measure]
        shares = pairwise_failure_crediting(pair_credit(members, limits.measure))
        other = OtherDiversity(
            limits.measure,
            np.array([measure.of_credit(float(share)) for share in shares]),
            measure.of_credit(limits.mean / CREDIT_UNITS),
            measure.of_credit(limits.each / CREDIT_UNITS),
        )
    return Reached(cost, max_cost, pfc, None, None, other)
