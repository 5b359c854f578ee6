"""Customers with their wishes, and the products that they get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from numpy.typing import NDArray

from shortlist.arrays import Values
from shortlist.results.objective import Limit, Objective

Wish: TypeAlias = int | Limit
"""A feature that is wanted, i + 1 for feature i, or unwanted, -(i + 1); or a limit."""


@dataclass(frozen=True)
class Customer:
    """A customer and her wishes."""

    name: str
    """Name of the customer, for people."""
    features: tuple[int, ...] = ()
    """Features wanted, i + 1 for feature i, and unwanted, -(i + 1)."""
    limits: tuple[Limit, ...] = ()
    """Limits on objectives or attributes."""
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    """Weights of the objectives; what is not named counts 0. Empty: those of all customers."""

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """All wishes, features first."""
        return (*self.features, *self.limits)


@dataclass(frozen=True)
class Served:
    """The product that a customer gets."""

    customer: Customer
    """The customer."""
    product: int
    """Row of the product in :class:`Service`; -1 where none was found."""
    given_up: tuple[str, ...]
    """The wishes that it does not meet, as texts."""
    fewest: int
    """Proved: no product that is looked at meets all but fewer of her wishes."""
    loss: float
    """Weighted mean of how far its objectives are from the best, and what it misses of limits, as shares of
    the objectives' ranges.
    """
    regret: float
    """By how much that is more than with the best product for her; negative where she gives up more."""
    proved: bool = True
    """Whether it is proved to be the best for her."""
    limit: str = ""
    """Reason why no product was found, a word of :class:`~shortlist.milp.solution.Solution`."""

    @property
    def is_met(self) -> bool:
        """Whether it meets all wishes."""
        return self.product >= 0 and not self.given_up


@dataclass(frozen=True, eq=False)
class Service:
    """Products for customers, and what each gets."""

    objectives: tuple[Objective, ...]
    """Objectives of the products."""
    candidates: tuple[str, ...]
    """Names of what a product may have."""
    numbers: tuple[int, ...]
    """Number of each product: of its point on a front, or from 1 on."""
    values: Values
    """Values of each product in the user's signs and units, ``(n_products, n_objectives)``."""
    decisions: NDArray[Any]
    """Choices of each product, ``(n_products, n_candidates)``."""
    served: tuple[Served, ...]
    """Each customer, in the order of the table."""
    asked: int | None = None
    """Requested number of products for all of them; None where each gets the best for her."""
    total: float = 0.0
    """Wishes given up beyond those that must be, plus regrets above 0, summed over the customers."""
    bound: float = 0.0
    """Proved: no so few products have a smaller total."""
    looked_at: int | None = None
    """Number of products of a front that were looked at; None: every product of a model."""


def wish_text(wish: Wish, features: Sequence[str]) -> str:
    """Return a wish as people read it.

    >>> wish_text(2, ["GPS", "MP3"]), wish_text(-1, ["GPS"]), wish_text(Limit("cost", "<=", Decimal(9)), [])
    ('MP3', 'no GPS', 'cost<=9')
    """
    if isinstance(wish, Limit):
        return str(wish)
    return f"{'' if wish > 0 else 'no '}{features[abs(wish) - 1]}"
