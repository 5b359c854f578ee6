"""Costs of acquiring features: prices, needs that are paid once, and other numbers such as hours."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.exact import MOST_DECIMALS, as_fraction, as_integers
from shortlist.pickles import saved_from


def shared_needs(
    needs: Mapping[str, Sequence[str]],
    *,
    prices: Mapping[str, Fraction],
    groups: Mapping[str, str],
    things: Mapping[str, Fraction],
    order: Sequence[str],
) -> tuple[Mask, list[Fraction], list[Fraction], list[str]]:
    """Turn needs into groups with a first price: each needed feature or thing becomes a group of its own.

    The price of a needed feature moves to the feature's group: the feature itself is then free, and opens the
    group. Raises BadInputError if a need is neither a feature nor has a first price, or if an unknown name
    has needs.

    `needs`: the needs of each feature; a need may have needs as well; a string is one name. `prices`: in the
    order of the columns. `groups`: group by feature, for features that share a first price. `things`: first
    price by name. `order`: the groups in their order. `opens`, which it returns: the groups that each feature
    opens through its needs, ``(n_features, n_groups)``; the groups of `order` come first. `prices`, which it
    returns: prices of the features beside the groups. `first_prices`, which it returns: first prices of all
    groups. `order`, which it returns: names of all groups: the given groups, then the needed features and
    things.
    """
    needs = {name: [wanted] if isinstance(wanted, str) else wanted for name, wanted in needs.items()}
    known = [*prices, *things]
    both = sorted(set(prices) & set(things))
    if both:
        raise BadInputError(
            "needs",
            "must name a column or a thing with a first price",
            f"{both[0]!r}, which is both",
            "Rename one.",
        )
    for name, wanted in needs.items():
        for one in (name, *wanted):
            if one not in prices and one not in things:
                raise BadInputError(
                    "needs",
                    "must name columns of the table, or what has a price of its own",
                    repr(one),
                    f"{did_you_mean(one, known)} Those known are {all_of(known, most=8)}.",
                )
    needed = {one for wanted in needs.values() for one in wanted}
    places = {group: place for place, group in enumerate(order)}
    for one in known:
        if one in needed:
            places.setdefault(one, len(places))
    opens = np.zeros((len(prices), len(places)), dtype=bool)
    for row, feature in enumerate(prices):
        for one in _all_needed(feature, needs, groups):
            if one in places:
                opens[row, places[one]] = True
    first = [prices[one] if one in prices else things[one] for one in places]
    own = [Fraction(0) if one in needed else price for one, price in prices.items()]
    return opens, own, first, list(places)


def _all_needed(feature: str, needs: Mapping[str, Sequence[str]], groups: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    left = [feature]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += [*needs.get(one, ()), *([groups[one]] if one in groups else [])]
    return found


@saved_from("shortlist.multistage", "Attribute")
@dataclass(frozen=True, eq=False)
class CostAttribute:
    """Numbers beside the price, such as hours, in whole units of 1 / `scale`.

    Purchases of one stage happen at the same time, so a stage takes the largest number among its new items. A
    row takes the sum over the stages that it went through.
    """

    name: str
    values: NDArray[np.int64]
    """Number of each feature, then of each group, ``(n_features + n_groups,)``. A group's number counts in
    the stage that opens the group.
    """
    scale: int
    """Number of units in one of the user's units."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class FeatureCosts:
    """Prices of features in whole units of 1 / `scale`; built by :func:`feature_costs`.

    The price of a feature set is the sum of its features' `prices`, plus the `first_prices` entry of each
    group with a feature in the set, counted once (Turney 1995: one blood sample serves several tests). A
    feature may need several groups, as the answer of a judge needs every text that the judge reads.
    """

    names: tuple[str, ...]
    """Names of the features, in the order of the columns."""
    prices: NDArray[np.int64]
    """Price of each feature without its group's first price, ``(n_features,)``."""
    groups: NDArray[np.int64]
    """Group of each feature, ``(n_features,)``; -1 for none."""
    first_prices: NDArray[np.int64]
    """Price of opening each group, ``(n_groups,)``."""
    scale: int
    """Number of units in one unit of the user's money."""
    needs: Mask | None = None
    """Mask of the groups that a feature opens besides its own group, ``(n_features, n_groups)``; None: no
    groups.
    """
    attributes: tuple[CostAttribute, ...] = ()
    """Further numbers of each feature, such as hours."""

    @property
    def opens(self) -> Mask:
        """Mask of the groups that each feature opens, ``(n_features, n_groups)``."""
        own = self.groups[:, None] == np.arange(len(self.first_prices))
        return np.asarray(own if self.needs is None else own | self.needs)

    def price(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the price of each feature set in units; masks have the shape ``(..., n_features)``."""
        masks = np.asarray(subsets, dtype=bool)
        total = masks @ self.prices
        for first, opened_by in zip(self.first_prices, self.opens.T, strict=True):
            total = total + first * masks[..., opened_by].any(axis=-1)
        return np.asarray(total, dtype=np.int64)

    def table(self) -> NDArray[np.int64]:
        """Return the price of every feature set, indexed by bit mask, ``(2**n_features,)``."""
        prices = np.zeros(1, dtype=np.int64)
        opened = np.zeros((1, len(self.first_prices)), dtype=bool)
        for price, opens in zip(self.prices, self.opens, strict=True):
            more = prices + price + (opens & ~opened) @ self.first_prices
            prices, opened = np.concatenate([prices, more]), np.concatenate([opened, opened | opens])
        return prices

    def bought(self, subsets: Mask) -> Mask:
        """Return a mask of the bought items of feature sets: the features, and the groups that they open.

        Masks of shape ``(..., n_features)`` become ``(..., n_features + n_groups)``, in the order of
        :attr:`CostAttribute.values`.
        """
        masks = np.asarray(subsets, dtype=bool)
        opened = [masks[..., opened_by].any(axis=-1) for opened_by in self.opens.T]
        return np.concatenate([masks, np.stack(opened, axis=-1)] if opened else [masks], axis=-1)

    def taken(self, chain: Mask, attributes: Sequence[CostAttribute]) -> NDArray[np.int64]:
        """Return the amount of each attribute per stage, in units: the largest number among the new items.

        `taken`, which it returns, ``(..., n_stages, n_attributes)``.
        """
        if not attributes:
            return np.empty((*chain.shape[:-1], 0), dtype=np.int64)
        bought = self.bought(chain)
        new = bought.copy()
        new[..., 1:, :] &= ~bought[..., :-1, :]
        largest = [np.where(new, one.values, 0).max(axis=-1, initial=0) for one in attributes]
        return np.asarray(np.stack(largest, axis=-1), dtype=np.int64)

    def as_settings(self) -> dict[str, Any]:
        """Return the fields of these costs, by which a study recognises its question."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def total(self) -> int:
        """Price of all features together, in units."""
        return int(self.price(np.ones(len(self.names), dtype=bool)))


def feature_costs(
    costs: Mapping[str, Any] | Sequence[float] | FeatureCosts | None,
    names: Sequence[str],
    *,
    groups: Mapping[str, str] | None = None,
    first_prices: Mapping[str, float] | None = None,
    needs: Mapping[str, Sequence[str]] | None = None,
    attributes: Mapping[str, Mapping[str, float]] | None = None,
) -> FeatureCosts:
    """Check prices and scale them to integers.

    Parameters
    ----------
    costs : mapping from feature to price, sequence of prices, FeatureCosts, or None
        At least 0, with at most 9 decimals, in any unit. None: every feature costs 1.
    names : sequence of str
        The features, in the order of the table's columns.
    groups : mapping from feature to group, optional
        Features that share a first price.
    first_prices : mapping from group to price, optional
        Price of the first feature of a group on top of its own.
    needs : mapping from feature to names, optional
        Other features, or things with a first price, that must be bought for a feature. A need is paid once,
        together with its own needs, even if several features share the need, or the need is also read as a
        feature. A string is one name.
    attributes : mapping from name to mapping from feature to number, optional
        Further numbers of each feature, at least 0, that may be objectives of stages: a stage takes the
        largest number of its new features, since purchases of one stage happen at the same time. Things with
        a first price may have such a number too, by default 0, which counts in the stage that pays this
        price.

    Raises
    ------
    BadInputError
        If a price or a number is missing, negative or not numeric, or belongs to an unknown name.

    Examples
    --------
    >>> costs = feature_costs({"a": 1.5, "b": 2}, ["a", "b"], groups={"b": "blood"},
    ...     first_prices={"blood": 10})
    >>> int(costs.price([True, True])) / costs.scale
    13.5

    Two judges read a transcript; its price is paid once, with the first judge.

    >>> costs = feature_costs({"a": 1, "b": 2}, ["a", "b"], first_prices={"transcript": 10},
    ...     needs={"a": ["transcript"], "b": ["transcript"]})
    >>> costs.price([[True, False], [True, True]]).tolist()
    [11, 13]

    Two tests in one stage take as long as the longer test; in two stages the hours add up.

    >>> costs = feature_costs({"a": 1, "b": 2}, ["a", "b"], attributes={"hours": {"a": 3, "b": 24}})
    >>> costs.taken(np.array([[True, True]]), costs.attributes).tolist()
    [[24]]
    >>> costs.taken(np.array([[True, False], [True, True]]), costs.attributes).tolist()
    [[3], [24]]
    """
    names = tuple(map(str, names))
    if isinstance(costs, FeatureCosts):
        return _reordered(costs, names)
    exact = [exact_price(f"the cost of {name!r}", cost) for name, cost in _by_feature(costs, names).items()]
    groups, first_prices = dict(groups or {}), dict(first_prices or {})
    check_known("groups", groups, names)
    order = list(dict.fromkeys(groups.values()))
    missing = [group for group in order if group not in first_prices]
    if missing:
        raise BadInputError(
            "first_prices", "must hold every group", f"none for {missing[0]!r}", "Add its price."
        )
    first = [exact_price(f"the first price of group {group!r}", first_prices[group]) for group in order]
    own = np.array([order.index(groups[name]) if name in groups else -1 for name in names], dtype=np.int64)
    further = None
    if any((needs or {}).values()):
        things = {
            thing: exact_price(f"the first price of {thing!r}", price)
            for thing, price in first_prices.items()
        }
        further, exact, first, order = shared_needs(
            needs or {}, prices=dict(zip(names, exact, strict=True)), groups=groups, things=things,
            order=order,
        )  # fmt: skip
    units, scale = _whole("feature_costs", [*exact, *first])
    return FeatureCosts(
        names,
        units[: len(names)],
        own,
        units[len(names) :],
        scale,
        further,
        tuple(
            _attribute(name, values, names, order, first_prices)
            for name, values in (attributes or {}).items()
        ),
    )


def _whole(argument: str, exact: Sequence[Fraction]) -> tuple[NDArray[np.int64], int]:
    units, scale = as_integers(exact)
    if sum(units) >= 2**40:
        raise BadInputError(f"{argument} must have fewer digits to stay exact. Round them.")
    return np.array(units, dtype=np.int64), scale


def _attribute(
    attribute: str,
    given: Mapping[str, Any],
    names: tuple[str, ...],
    order: Sequence[str],
    first_prices: Mapping[str, Any],
) -> CostAttribute:
    """Read the numbers of an attribute; a needed feature has its number at its group."""
    unknown = [one for one in given if one not in names and one not in first_prices]
    if unknown:
        check_known(f"the attribute {attribute!r}", {unknown[0]: 0}, names)
    missing = [name for name in names if name not in given]
    if missing:
        raise BadInputError(
            f"the attribute {attribute!r} must have a number for every feature, got none for "
            f"{all_of(map(repr, missing))}. Add each, or 0."
        )
    exact = {one: exact_price(f"{attribute} of {one!r}", number) for one, number in given.items()}
    needed = set(order) - set(first_prices)
    own = [Fraction(0) if name in needed else exact[name] for name in names]
    # a group may be called like a feature
    first = [
        Fraction(0) if one in names and one not in needed else exact.get(one, Fraction(0)) for one in order
    ]
    values, scale = _whole(attribute, [*own, *first])
    return CostAttribute(attribute, values, scale)


def _by_feature(costs: Mapping[str, Any] | Sequence[float] | None, names: tuple[str, ...]) -> dict[str, Any]:
    if costs is None:
        return dict.fromkeys(names, 1)
    if isinstance(costs, Mapping):
        given = {str(name): cost for name, cost in costs.items()}
        check_known("feature_costs", given, names)
        missing = [name for name in names if name not in given]
        if missing:
            raise BadInputError(
                "feature_costs",
                "must price every feature",
                f"none for {all_of(map(repr, missing))}",
                "Add each price, or 0.",
            )
        return {name: given[name] for name in names}
    if isinstance(costs, str) or not hasattr(costs, "__len__"):
        raise BadInputError(
            "feature_costs", "must be a mapping from feature to cost, or one cost per feature", repr(costs)
        )
    if len(costs) != len(names):
        raise BadInputError(
            "feature_costs",
            f"must have one cost per feature, {len(names)}",
            len(costs),
            "Pass a mapping from feature to cost to be safe.",
        )
    return dict(zip(names, costs, strict=True))


def check_known(argument: object, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise BadInputError for names that are no columns; the error proposes the nearest unnamed column."""
    unknown = [name for name in given if name not in names]
    if unknown:
        left = [name for name in names if name not in given]
        raise BadInputError(
            argument,
            "must name columns of the table",
            repr(unknown[0]),
            did_you_mean(unknown[0], left) or f"The columns are {all_of(names)}.",
        )


def _reordered(costs: FeatureCosts, names: tuple[str, ...]) -> FeatureCosts:
    if set(costs.names) != set(names) or len(names) != len(costs.names):
        raise BadInputError(
            "feature_costs", f"must price the columns {all_of(names)}", f"prices of {all_of(costs.names)}"
        )
    order = [costs.names.index(name) for name in names]
    needs = None if costs.needs is None else costs.needs[order]
    places = [*order, *range(len(names), len(names) + len(costs.first_prices))]
    return FeatureCosts(
        names, costs.prices[order], costs.groups[order], costs.first_prices, costs.scale, needs,
        tuple(CostAttribute(one.name, one.values[places], one.scale) for one in costs.attributes),
    )  # fmt: skip


def exact_price(what: str, cost: Any) -> Fraction:
    """Return a price as an exact fraction.

    Raises BadInputError unless it is a number of at least 0 with few enough digits.
    """
    exact = as_fraction(cost)
    if exact is None or exact < 0:
        is_gap = isinstance(cost, float) and math.isnan(cost)
        got = "NaN, as of an empty cell" if is_gap else f"{cost}" if isinstance(cost, Number) else f"{cost!r}"
        raise BadInputError(what, "must be a number of at least 0", got, "Mend or drop the entry.")
    kept = exact.limit_denominator(10**MOST_DECIMALS)
    if abs(kept - exact) * 10**MOST_DECIMALS > exact:
        raise BadInputError(
            what,
            (
                f"must keep its first {MOST_DECIMALS} digits when it is rounded to parts of at most "
                f"10^{MOST_DECIMALS}"
            ),
            cost,
            "Give all prices in a smaller unit, such as cents for dollars.",
        )
    return kept
