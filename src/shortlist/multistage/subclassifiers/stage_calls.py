"""Whom a call of a stage's classifier asks: itself, or the members of an ensemble of Shortlist."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.exact import as_fraction


def counts_members(estimator: Any) -> bool:
    """Whether a classifier is an ensemble that says whom it asks, as those of Shortlist do."""
    return hasattr(type(estimator), "asked_") and hasattr(type(estimator), "most_asked")


def member_costs(estimator: Any) -> Sequence[float] | None:
    """Return what asking each member costs, where an ensemble was given that; None: all cost alike.

    Raises
    ------
    BadInputError
        If that is no list of costs.
    """
    given = getattr(estimator, "member_costs", None) if counts_members(estimator) else None
    if given is None:
        return None
    listed = np.iterable(given) and not isinstance(given, str | bytes | Mapping)
    costs = list(given) if listed else []
    exact = [as_fraction(cost) for cost in costs]
    wrong = [cost for cost, number in zip(costs, exact, strict=True) if number is None or number < 0]
    if not costs or wrong:
        raise BadInputError(
            "`member_costs` of the subclassifier must be a list of finite numbers of at least 0, "
            f"one for each classifier of its pool, got {(wrong or [given])[0]!r}. Mend it, or "
            "leave it out."
        )
    return costs


def most_asked(estimator: Any) -> int:
    """Return how many classifiers a call asks at most; 1 unless it is an ensemble that counts them."""
    return int(estimator.most_asked) if counts_members(estimator) else 1


def asked_by_price(estimator: Any, n_prices: int) -> NDArray[np.int64]:
    """Return how many classifiers of each price a call of a fitted one asks, ``(n_prices,)``.

    Where members have prices of their own, each is a price; where all cost alike, there is one.
    """
    if not counts_members(estimator):
        return np.ones(1, dtype=np.int64)
    asked = estimator.asked_
    if n_prices == 1:
        return np.array([len(asked)], dtype=np.int64)
    return np.bincount(asked, minlength=n_prices).astype(np.int64)
