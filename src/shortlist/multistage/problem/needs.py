"""What features need that is paid once: other features, or things that are no features themselves."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from shortlist._words import all_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.errors import BadInputError


def shared_needs(
    needs: Mapping[str, Sequence[str]],
    *,
    prices: Mapping[str, Fraction],
    groups: Mapping[str, str],
    things: Mapping[str, Fraction],
    order: Sequence[str],
) -> tuple[Mask, list[Fraction], list[Fraction], list[str]]:
    """Turn needs into groups with a first price: whatever somebody needs is a group of its own.

    A feature that others need is free itself then, and opens the group that has its price. Raises
    BadInputError if something is needed that is neither a feature nor has a first price, or something unknown
    needs it.

    Parameters
    ----------
    needs : What each needs, which may need something itself; a string is one name.
    prices : In the order of the columns.
    groups : Features that share a first price.
    things : mapping from group or thing to first price
    order : The groups in their order.

    Returns
    -------
    opens : Which groups each feature opens because of what it needs, ``(n_features, n_groups)``; the groups
        of `order` come first.
    prices : What each feature costs beside them.
    first_prices : Those of all groups.
    order : What all groups are called: those of `order`, then features and things that are needed.
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
