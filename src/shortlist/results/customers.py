"""Customers with their wishes, and the products assigned to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from numpy.typing import NDArray

from shortlist.arrays import Values
from shortlist.results.objective import Limit, Objective

Wish: TypeAlias = int | Limit
"""Wish of a customer: i + 1 for feature i wanted, -(i + 1) for feature i unwanted, or a limit."""


@dataclass(frozen=True)
class Customer:
    """Customer with wishes."""

    name: str
    """Name of the customer, for people."""
    features: tuple[int, ...] = ()
    """Wishes about features: i + 1 for feature i wanted, -(i + 1) for feature i unwanted."""
    limits: tuple[Limit, ...] = ()
    """Limits on objectives or attributes."""
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    """Weights of the objectives; an objective without an entry has weight 0. Empty: the weights that all
    customers share.
    """

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """All wishes: features first, then limits."""
        return (*self.features, *self.limits)


@dataclass(frozen=True)
class Served:
    """Product assigned to a customer."""

    customer: Customer
    """The customer."""
    product: int
    """Row of the product in :class:`Service`; -1 if none was found."""
    given_up: tuple[str, ...]
    """Wishes that the product does not meet, as texts."""
    fewest: int
    """Proved least number of the customer's wishes that any compared product breaks."""
    loss: float
    """Weighted mean of the distances of the product's objectives from the best values, plus the amounts by
    which limits are missed. Distances and amounts are shares of the objectives' ranges.
    """
    regret: float
    """Loss of the product minus the loss of the best product for the customer. Negative if the product gives
    up more wishes than the best product.
    """
    proved: bool = True
    """Whether the product is proved to be the best for the customer."""
    limit: str = ""
    """Reason for a missing product, a word of :class:`~shortlist.milp.solution.Solution`."""

    @property
    def is_met(self) -> bool:
        """Whether the product meets all wishes."""
        return self.product >= 0 and not self.given_up


@dataclass(frozen=True, eq=False)
class Service:
    """Products for customers, and the product assigned to each customer."""

    objectives: tuple[Objective, ...]
    """Objectives of the products."""
    candidates: tuple[str, ...]
    """Names of the candidates that make up a product."""
    numbers: tuple[int, ...]
    """Number of each product: the index of its point on a front, or a number counted from 1."""
    values: Values
    """Values of each product in the user's signs and units, ``(n_products, n_objectives)``."""
    decisions: NDArray[Any]
    """Choices of each product, ``(n_products, n_candidates)``."""
    served: tuple[Served, ...]
    """Assigned product of each customer, in the order of the table."""
    asked: int | None = None
    """Requested number of products for all customers together; None if each customer gets the best product.
    """
    total: float = 0.0
    """Number of wishes given up beyond the unavoidable ones, plus the positive regrets, summed over the
    customers.
    """
    bound: float = 0.0
    """Proved lower bound on the total of any choice of the same number of products."""
    looked_at: int | None = None
    """Number of points of a front that were compared; None if all products of a model were considered."""


def wish_text(wish: Wish, features: Sequence[str]) -> str:
    """Return a wish in words.

    >>> wish_text(2, ["GPS", "MP3"]), wish_text(-1, ["GPS"]), wish_text(Limit("cost", "<=", Decimal(9)), [])
    ('MP3', 'no GPS', 'cost<=9')
    """
    if isinstance(wish, Limit):
        return str(wish)
    return f"{'' if wish > 0 else 'no '}{features[abs(wish) - 1]}"
