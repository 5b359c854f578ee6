"""Assignment of a front's points to customers: the best point for each, or a few points for all.

A customer's best point meets as many of her wishes as any point does, and of such points has the smallest
loss. The loss is the weighted mean of the distances of the objectives from their best values, as shares of
their ranges on the front; the weights are those of the rule ``weights``. Limits that are given up add the
amount missed, as a share too. All points are compared, in integers, so the number of wishes given up is the
fewest possible.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import all_of, number_text
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.exact import n_decimals
from shortlist.methods.p_median import Medians, p_median
from shortlist.results.customers import Customer, Served, Service, Wish, wish_text
from shortlist.results.front import STAGED_METHODS, Front
from shortlist.results.objective import Limit
from shortlist.results.picking import LimitsAsked, within_limits
from shortlist.runs.budget import Budget, processor_seconds
from shortlist.runs.cancellation import Cancellation

SHARES = 1000
"""Steps of a regret in the choice of a few points: thousandths of the range."""

WISH = SHARES + 1
"""Cost of one wish given up, in steps: more than the whole range."""

REAL = 10**9
"""Steps in the range of an objective without a scale."""

MOST_COSTS = 100_000_000
"""Most costs in the choice of a few points, counted as distinct customers times points: .8 GB."""

MOST_KNOWN = 256
"""Most sets of weights whose losses are cached."""

INT64 = 2**63
"""First integer beyond 64 bits."""

Rows: TypeAlias = slice | NDArray[np.intp]
"""Rows of a table of points."""

MOST_SECONDS = 5.0
"""Most seconds of processor time for the choice of a few points; the bound proved by then is reported."""


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

    With `n_points` the total cost over the customers is the least, as
    :func:`~shortlist.methods.p_median.p_median` proves. A wish given up beyond the unavoidable ones costs as
    much as the whole range of the objectives. A customer's regret is counted in thousandths of the range. If
    a point breaks more wishes than her best point and so has a smaller loss, the regret of its loss counts 0.

    Raises BadInputError if there are no customers, no point is within the limits, a value is infinite, or a
    limit or weight names no objective.

    `front`: front of at least one point. `customers`: for instance from
    :func:`~shortlist.results.customer_tables.read_customers`. `n_points`: number of points for all; None:
    each customer gets her own best point. `weights`: weights of the objectives for customers without weights
    of their own; by default all 1. `limits`: bounds on the objectives; other points are left out.
    `cancellation`: ends the choice of a few points, which ends by itself after :data:`MOST_SECONDS` of
    processor time.

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
    table = _Table(front, np.flatnonzero(within_limits(front, limits)), weights)
    best = [table.best(customer) for customer in customers]
    if n_points is None:
        return _service(table, customers, best, [one.place for one in best])
    as_count(n_points, "n_points", at_least=1)
    taken, found = _few(table, customers, best, n_points, cancellation or Cancellation())
    shared = _service(table, customers, best, taken)
    return dataclasses.replace(shared, asked=n_points, total=found.total / SHARES, bound=found.bound / SHARES)


class _Best(NamedTuple):
    """Best point for a customer."""

    place: int
    """Row of the point among the allowed points."""
    fewest: int
    """Number of wishes that the point does not meet."""
    loss: int
    """Loss with the point, in integer steps."""


def _few(
    table: "_Table",
    customers: Sequence[Customer],
    best: Sequence[_Best],
    n_points: int,
    cancellation: Cancellation,
    *,
    most_costs: int = MOST_COSTS,
) -> tuple[list[int], Medians]:
    """Choose the few points with the least total cost; return each customer's point, and the proof."""
    keys = []
    counts: Counter[bytes] = Counter()
    for customer, own in zip(customers, best, strict=True):
        key = table.costs(customer, own).astype(">u8").tobytes()  # big-endian: bytes sort as the numbers do
        counts[key] += 1
        keys.append(key)
        if len(counts) * table.n_points > most_costs:
            raise BadInputError(
                f"a few points for {len(customers):,} customers of {table.n_points:,} points need more than "
                f"{most_costs:,} costs. Take fewer customers, or fewer points by limits."
            )
    order = {key: row for row, key in enumerate(sorted(counts))}
    rows = np.empty((len(order), table.n_points))
    for key, row in order.items():
        rows[row] = np.frombuffer(key, dtype=">u8")
    limited = Budget(MOST_SECONDS, cancellation=cancellation, clock=processor_seconds)
    found = p_median(rows, n_points, counts=np.array([float(counts[key]) for key in order]), budget=limited)
    few = np.array(found.points)
    costs = rows[:, few]
    taken = [
        int(few[np.lexsort((table.broken(customer, few), costs[order[key]]))[0]])
        for customer, key in zip(customers, keys, strict=True)
    ]
    return taken, found


def _service(
    table: "_Table", customers: Sequence[Customer], best: Sequence[_Best], taken: Sequence[int]
) -> Service:
    """Return the chosen points, by rows of the table, and the result for each customer."""
    places = np.unique(taken)
    front, points = table.front, table.allowed[places]
    served = []
    for customer, own, place in zip(customers, best, taken, strict=True):
        losses, whole = table.losses(customer)
        loss, given_up = int(losses[place]), tuple(table.given_up(customer, place))
        served.append(
            Served(
                customer,
                int(np.searchsorted(places, place)),
                given_up,
                own.fewest,
                loss / whole,
                (loss - own.loss) / whole,
            )
        )
    return Service(
        front.objectives,
        front.candidates,
        tuple(points.tolist()),
        front.values[points],
        front.decisions[points],
        tuple(served),
        looked_at=table.n_points,
    )


class _Table:
    """Allowed points of a front, as integers."""

    def __init__(self, front: Front, allowed: NDArray[np.intp], weights: Mapping[str, float] | None) -> None:
        self.front, self.allowed, self._values = front, allowed, front.values[allowed]
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

    @property
    def n_points(self) -> int:
        """Number of allowed points."""
        return len(self._values)

    def best(self, customer: Customer) -> _Best:
        """Return the point with the smallest loss among the points that break the fewest wishes."""
        broken, (losses, _) = self.broken(customer), self.losses(customer)
        fewest = int(broken.min())
        within = np.flatnonzero(broken == fewest)
        place = int(within[np.argmin(losses[within])])
        return _Best(place, fewest, int(losses[place]))

    def costs(self, customer: Customer, best: _Best) -> Floats:
        """Return the cost of each point, in thousandths: for further broken wishes and for a larger loss.

        A point with a smaller loss than the best point breaks more wishes; its smaller loss does not lower
        its cost.
        """
        losses, whole = self.losses(customer)
        beyond: Floats = np.rint((losses - best.loss).astype(np.float64) / whole * SHARES)
        more = self.broken(customer) - best.fewest
        costs: Floats = more.astype(np.float64) * WISH + np.maximum(beyond, 0.0)
        return costs

    def broken(self, customer: Customer, rows: Rows = slice(None)) -> NDArray[np.int64]:
        """Return the number of wishes that each point breaks."""
        counts = np.zeros(len(self._values[rows]), dtype=np.int64)
        for wish in customer.wishes:
            counts += ~self._met(wish, rows)
        return counts

    def given_up(self, customer: Customer, place: int) -> list[str]:
        """Return the wishes that a point breaks."""
        return [
            self._text(wish, place)
            for wish in customer.wishes
            if not self._met(wish, slice(place, place + 1))[0]
        ]

    def losses(self, customer: Customer) -> tuple[NDArray[np.generic], int]:
        """Return the loss with each point, in integer steps, and the number of steps of the whole range."""
        names = self.front.names
        given = customer.weights or self._usual
        for name in given:
            if name not in names:
                raise BadInputError("weights", f"must name {all_of(names)}", repr(name))
        weights = tuple(given.get(name, Decimal(0)) for name in names)
        if weights not in self._known:
            if len(self._known) == MOST_KNOWN:
                self._known.clear()
            self._known[weights] = self._added_up(weights)
        total, size = self._known[weights]
        for limit in customer.limits:
            column = names.index(limit.name)
            if self._ranges[column]:
                factor, beyond = size // self._ranges[column], self._beyond(limit, column)
                if total.dtype == object or int(total.max()) + int(beyond.max()) * factor >= INT64:
                    total, beyond = total.astype(object), beyond.astype(object)
                total = total + beyond * factor
        return total, size

    def _added_up(self, weights: tuple[Decimal, ...]) -> tuple[NDArray[np.generic], int]:
        if min(weights) < 0 or not any(weights):
            raise BadInputError("weights must be numbers of at least 0, and not all 0.")
        digits = n_decimals(weights)
        whole = [int(weight.scaleb(digits)) for weight in weights]
        common = math.lcm(*(one for one in self._ranges if one))
        size = common * sum(whole)
        total = np.zeros(len(self._values), dtype=np.int64 if size < INT64 else object)
        for place, weight in enumerate(whole):
            if weight and self._ranges[place]:
                total += self._off[place].astype(total.dtype) * (weight * (common // self._ranges[place]))
        return total, size

    def _beyond(self, limit: Limit, column: int) -> NDArray[Any]:
        """Return the number of steps by which each point misses a limit; 0 if it is met."""
        values, scale = self._values[:, column], self.front.objectives[column].scale
        off: NDArray[Any]
        if scale is None:
            off = _integers((values - float(limit.value)) / (values.max() - values.min()) * REAL)
        else:
            exact = limit.value * scale
            whole = int(exact.to_integral_value(ROUND_FLOOR if limit.sign >= 0 else ROUND_CEILING))
            off = _integers(values * scale).astype(object if abs(whole) >= INT64 // 2 else np.int64) - whole
        beyond: NDArray[Any] = np.maximum(off * limit.sign, 0) if limit.sign else np.abs(off)
        return beyond

    def _met(self, wish: Wish, rows: Rows = slice(None)) -> Mask:
        if isinstance(wish, Limit):
            if wish.name not in self.front.names:
                raise BadInputError(
                    f"customers have the limit {wish}, but the front has {all_of(self.front.names)}."
                )
            column = self.front.names.index(wish.name)
            return wish.met_by(self._values[rows, column], self.front.objectives[column].scale)
        met: Mask = self._has[rows, abs(wish) - 1] == (wish > 0)
        return met

    def _text(self, wish: Wish, place: int) -> str:
        text = wish_text(wish, self.front.candidates)
        if isinstance(wish, Limit):
            value = self._values[place, self.front.names.index(wish.name)]
            text += f" (has {number_text(float(value))})"
        return text


def _integers(values: Floats) -> NDArray[Any]:
    """Return the nearest integers, as Python's integers if they do not fit into 62 bits."""
    whole = np.rint(np.clip(values, -1e300, 1e300))
    if np.abs(whole).max() < INT64 // 2:
        return whole.astype(np.int64)
    return np.array([int(one) for one in whole.tolist()], dtype=object)


def _steps(values: Floats, scale: int | None) -> NDArray[np.int64]:
    """Return values in integer steps: exact steps by a scale, else billionths of the range of the values."""
    low, width = values.min(), (values.max() - values.min()) or 1.0
    steps: Floats = np.rint(values * scale if scale is not None else (values - low) / width * REAL)
    return steps.astype(np.int64)
