"""Customers served from a front: the best point for each within her wishes, or a few points for all of them.

A customer's best point meets most of her wishes. Of such points it has the smallest loss: the weighted mean
of how far each objective is from its best value, as a share of its range on the front, as the rule
``weights`` has it. Limits that are given up add what is missed of them, as shares likewise. All points are
looked at, in integers, so what she has to give up is the fewest.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import all_of, number_text
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.exact import n_decimals
from shortlist.methods.p_median import p_median
from shortlist.results.customers import Customer, Served, Service, Wish, wish_text
from shortlist.results.front import STAGED_METHODS, Front
from shortlist.results.objective import Limit
from shortlist.results.picking import LimitsAsked, within_limits
from shortlist.runs.budget import Budget, processor_seconds
from shortlist.runs.cancellation import Cancellation

SHARES = 1000
"""Steps of a regret in the choice of a few points: thousandths of the range."""

WISH = SHARES + 1
"""Cost of a wish that is given up: more than the whole range."""

REAL = 10**9
"""Steps in the range of an objective that takes any number."""

MOST_SECONDS = 5.0
"""Longest search for a few points; the proof so far is reported."""


def serve(
    front: Front,
    customers: Sequence[Customer],
    n_points: int | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    limits: LimitsAsked = None,
    cancellation: Cancellation | None = None,
) -> Service:
    """Return the best point of a front for each customer, or a few points for all of them.

    With `n_points` the sum over the customers is the least, as
    :func:`~shortlist.methods.p_median.p_median` proves: a wish that a customer gives up beyond those that she
    must costs as much as the whole range of the objectives, and her regret is counted in thousandths of it.

    Raises BadInputError if there are no customers, no point is within the limits, a value is infinite, or a
    limit or weight names no objective.

    `front`: at least one point. `customers`: for instance of
    :func:`~shortlist.results.customer_tables.read_customers`. `n_points`: how many points for all; None:
    each gets her own best. `weights`: of the objectives, for customers without their own; default all 1.
    `limits`: only points within these count. `cancellation`: ends the search for a few points, which ends by
    itself after :data:`MOST_SECONDS` of processor time.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> goals, proof = [Objective("cost"), Objective("hours")], Proof(ProofKind.COMPLETE)
    >>> front = Front.from_points(goals, np.array([[1, 9], [4, 2]]), np.eye(2, dtype=int), ["A", "B"], proof)
    >>> found = serve(front, [Customer("Ann", (1,)), Customer("Bob", (1, 2))])
    >>> [(one.customer.name, one.product, one.given_up) for one in found.served]
    [('Ann', 0, ()), ('Bob', 0, ('B',))]
    """
    if not customers:
        raise BadInputError("customers", "must be at least one", "none")
    if not np.isfinite(front.values).all():
        raise BadInputError(
            "customers can be served from a front with finite values only. Leave out the others."
        )
    allowed = np.flatnonzero(within_limits(front, limits))
    table = _Table(front, allowed, weights)
    broken = np.array([table.broken(customer) for customer in customers])
    losses = [table.losses(customer) for customer in customers]
    fewest = broken.min(axis=1)
    best = np.array(
        [
            int(np.flatnonzero(row == least)[np.argmin(own[row == least])])
            for row, least, (own, _) in zip(broken, fewest, losses, strict=True)
        ]
    )
    taken, total, bound = best, 0.0, 0.0
    if n_points is not None:
        as_count(n_points, "n_points", at_least=1)
        costs = np.array(
            [
                _costs(row - least, own, int(own[at]), whole)
                for row, least, (own, whole), at in zip(broken, fewest, losses, best, strict=True)
            ]
        )
        rows, counts = np.unique(costs, axis=0, return_counts=True)
        limited = Budget(MOST_SECONDS, cancellation=cancellation or Cancellation(), clock=processor_seconds)
        found = p_median(rows, n_points, counts=counts.astype(np.float64), budget=limited)
        few = np.array(found.points)
        taken = few[[_first_best(row[few], b[few]) for row, b in zip(costs, broken, strict=True)]]
        total, bound = found.total / SHARES, found.bound / SHARES
    places = np.unique(taken)
    points = allowed[places]
    served = []
    for customer, row, least, (own, whole), at, place in zip(
        customers, broken, fewest.tolist(), losses, best.tolist(), taken.tolist(), strict=True
    ):
        assert row[place] == len(table.given_up(customer, place)), "both count the wishes that are not met"
        served.append(
            Served(
                customer,
                int(np.searchsorted(places, place)),
                tuple(table.given_up(customer, place)),
                least,
                int(own[place]) / whole,
                (int(own[place]) - int(own[at])) / whole,
            )
        )
    return Service(
        front.objectives,
        front.candidates,
        tuple(points.tolist()),
        front.values[points],
        front.decisions[points],
        tuple(served),
        n_points,
        total,
        bound,
    )


def _first_best(costs: Floats, broken: NDArray[np.int64]) -> int:
    return int(np.lexsort((broken, costs))[0])


def _costs(more: NDArray[np.int64], losses: NDArray[np.generic], best: int, whole: int) -> Floats:
    """Return the costs of the points for a customer, in thousandths, none below 0."""
    off = (losses - best).astype(np.float64) / whole
    costs: Floats = np.maximum(more * float(WISH) + np.rint(off * SHARES), 0.0)
    return costs


class _Table:
    """The points of a front that may be taken, as integers."""

    def __init__(self, front: Front, allowed: NDArray[np.intp], weights: Mapping[str, float] | None) -> None:
        self._front, self._values = front, front.values[allowed]
        decisions = front.decisions[allowed]
        self._has: Mask = decisions >= 0 if front.method in STAGED_METHODS else decisions != 0
        self._steps = np.array(
            [
                _steps(column, goal.scale) * goal.sign
                for column, goal in zip(self._values.T, front.objectives, strict=True)
            ]
        )
        lows = self._steps.min(axis=1)
        self._off = self._steps - lows[:, None]
        self._ranges = self._off.max(axis=1).tolist()
        usual = weights if weights is not None else dict.fromkeys(front.names, 1)
        self._usual = {name: Decimal(str(weight)) for name, weight in usual.items()}
        self._known: dict[tuple[Decimal, ...], tuple[NDArray[np.generic], int]] = {}

    def broken(self, customer: Customer) -> NDArray[np.int64]:
        """Return the number of wishes that each point does not meet."""
        counts = np.zeros(len(self._values), dtype=np.int64)
        for wish in customer.wishes:
            counts += ~self._met(wish)
        return counts

    def given_up(self, customer: Customer, place: int) -> list[str]:
        """Return the wishes that a point does not meet."""
        return [
            self._text(wish, place)
            for wish in customer.wishes
            if not self._met(wish, slice(place, place + 1))[0]
        ]

    def losses(self, customer: Customer) -> tuple[NDArray[np.generic], int]:
        """Return the loss with each point, as whole numbers, and the number that is the whole range."""
        names = self._front.names
        given = customer.weights or self._usual
        for name in given:
            if name not in names:
                raise BadInputError("weights", f"must name {all_of(names)}", repr(name))
        weights = tuple(given.get(name, Decimal(0)) for name in names)
        if weights not in self._known:
            self._known[weights] = self._added_up(weights)
        total, size = self._known[weights]
        for limit in customer.limits:
            column = names.index(limit.name)
            if self._ranges[column]:
                beyond = self._beyond(limit, column)
                total = total + beyond.astype(total.dtype) * (size // self._ranges[column])
        return total, size

    def _added_up(self, weights: tuple[Decimal, ...]) -> tuple[NDArray[np.generic], int]:
        if min(weights) < 0 or not any(weights):
            raise BadInputError("weights must be numbers of at least 0, and not all 0.")
        digits = n_decimals(weights)
        whole = [int(weight.scaleb(digits)) for weight in weights]
        common = math.lcm(*(one for one in self._ranges if one))
        size = common * sum(whole)
        is_small = size < 2**56  # a loss and what is missed of limits fit into 64 bits
        total = np.zeros(len(self._values), dtype=np.int64 if is_small else object)
        for place, weight in enumerate(whole):
            if weight and self._ranges[place]:
                total += self._off[place].astype(total.dtype) * (weight * (common // self._ranges[place]))
        return total, size

    def _beyond(self, limit: Limit, column: int) -> NDArray[np.int64]:
        """Return by how many steps each point misses a limit; 0 where it is met."""
        values, scale = self._values[:, column], self._front.objectives[column].scale
        if scale is None:
            off = np.rint((values - float(limit.value)) / (values.max() - values.min()) * REAL).astype(
                np.int64
            )
        else:
            exact = limit.value * scale
            whole = int(exact.to_integral_value(ROUND_FLOOR if limit.sign >= 0 else ROUND_CEILING))
            off = np.rint(values * scale).astype(np.int64) - whole
        beyond: NDArray[np.int64] = np.maximum(off * limit.sign, 0) if limit.sign else np.abs(off)
        return beyond

    def _met(self, wish: Wish, rows: slice = slice(None)) -> Mask:
        if isinstance(wish, Limit):
            if wish.name not in self._front.names:
                raise BadInputError(
                    f"customers have the limit {wish}, but the front has {all_of(self._front.names)}."
                )
            column = self._front.names.index(wish.name)
            return wish.met_by(self._values[rows, column], self._front.objectives[column].scale)
        met: Mask = self._has[rows, abs(wish) - 1] == (wish > 0)
        return met

    def _text(self, wish: Wish, place: int) -> str:
        text = wish_text(wish, self._front.candidates)
        if isinstance(wish, Limit):
            value = self._values[place, self._front.names.index(wish.name)]
            text += f" (has {number_text(float(value))})"
        return text


def _steps(values: Floats, scale: int | None) -> NDArray[np.int64]:
    """Return values as whole numbers: exactly by their scale, or in billionths of their range."""
    low, width = values.min(), (values.max() - values.min()) or 1.0
    steps: Floats = np.rint(values * scale if scale is not None else (values - low) / width * REAL)
    return steps.astype(np.int64)
