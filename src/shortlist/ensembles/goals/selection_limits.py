"""Limits on a selection: size, cost and diversity."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import PFC, DiversityLimits
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, as_fraction, as_integers


@dataclass(frozen=True, eq=False)
class SelectionLimits:
    """Limits that a selection must keep; build with :func:`selection_limits`."""

    min_size: int
    max_size: int
    """Least and largest number of members."""
    costs: NDArray[np.int64] | None = None
    """Cost of each classifier, scaled to integers, ``(n_classifiers,)``."""
    budget: int = 0
    """Largest sum of the members' costs, in the scale of `costs`."""
    diversity: DiversityLimits | None = None
    """Limits on diversity; None without such a limit."""

    def satisfied_by(self, mask: Mask) -> bool:
        """Return whether a selection keeps every limit, decided on integers."""
        size = int(mask.sum())
        if not self.min_size <= size <= self.max_size:
            return False
        if self.costs is not None and int(self.costs[mask].sum()) > self.budget:
            return False
        return self.diversity is None or self.diversity.satisfied_by(mask)

    def plain(self) -> dict[str, Any]:
        """Return the limits as a dict of whole numbers by name, as certificates store them."""
        plain: dict[str, Any] = {"min_size": self.min_size, "max_size": self.max_size}
        if self.costs is not None:
            plain |= {"costs": self.costs.tolist(), "budget": self.budget}
        if self.diversity is not None:
            plain |= {"each": self.diversity.each, "mean": self.diversity.mean}
            if self.diversity.measure != PFC:  # as certificates had it when there was one measure
                plain["measure"] = self.diversity.measure
        return plain

    def conflict(self) -> str:
        """Return the reason why no selection can keep the limits on size and cost; empty when one can."""
        if self.min_size > self.max_size:
            return (
                f"at least {counted(self.min_size, 'member')} must vote, but `max_size` and the pool allow "
                f"{self.max_size}"
            )
        if self.costs is None or self.min_size == 0:
            return ""
        cheapest = int(np.sort(self.costs)[: self.min_size].sum())
        if cheapest > self.budget:
            fewest = "member costs" if self.min_size == 1 else f"{self.min_size} members cost"
            return f"the cheapest {fewest} more than `max_cost`"
        return ""


def selection_limits(
    n_classifiers: int,
    *,
    min_size: int = 1,
    max_size: int | None = None,
    member_costs: Sequence[float] | NDArray[np.float64] | None = None,
    max_cost: float | None = None,
    diversity: DiversityLimits | None = None,
    costs_are: str = "member_costs",
    names: Sequence[str] = (),
) -> SelectionLimits:
    """Return checked limits, with costs scaled to integers.

    Raises BadInputError if a number is out of its range, or only one of `member_costs` and `max_cost` is
    given. Limits that contradict each other raise no error; pruning then reports that no selection keeps
    them.

    `min_size`: least number of members. As in the paper, 0 is allowed: an empty selection decides negative on
    every row. `max_size`: largest number of members; default all. `member_costs`: non-negative cost of each
    classifier, in any unit, ``(n_classifiers,)``; costs with more than 9 decimals are rounded, with a
    warning. `max_cost`: largest sum of the members' costs. `costs_are`, `names`: names of the costs and of
    the members, for messages.
    """
    least = as_count(min_size, "min_size", at_least=0)
    most = n_classifiers if max_size is None else as_count(max_size, "max_size", at_least=0)
    if max_cost is None and member_costs is None:
        return SelectionLimits(least, min(most, n_classifiers), diversity=diversity)
    if max_cost is None or member_costs is None:
        raise BadInputError(
            "`max_cost` and `member_costs` must be given together, got one of them. Pass both."
        )
    if not isinstance(member_costs, Mapping) and len(member_costs) != n_classifiers:
        raise BadInputError(
            "member_costs", f"must have one cost per classifier, {n_classifiers}", len(member_costs)
        )
    exact = exact_costs(costs_are, member_costs, names)
    (*integers, limit), _ = as_integers([*exact, exact_cost("max_cost", max_cost)])
    if sum(integers) >= LARGEST_INTEGER:
        raise BadInputError(f"`{costs_are}` must have fewer digits to stay exact. Round them.")
    budget = min(limit, sum(integers))
    return SelectionLimits(
        least, min(most, n_classifiers), np.array(integers, dtype=np.int64), budget, diversity
    )


def exact_costs(name: str, costs: Iterable[float], members: Sequence[str] = ()) -> list[Fraction]:
    """Return the cost of each member as a fraction; see :func:`exact_cost`.

    `members`: names of the members, for messages; without names a message gives the index.
    """
    if isinstance(costs, Mapping):
        advice = "Pass a list of its values in that order."
        raise BadInputError(
            name, "must have a cost per classifier, in the order of the pool", "a dict", advice
        )
    given = list(costs)
    known = members if len(members) == len(given) else range(len(given))
    return [exact_cost(name, cost, f" for {one!r}") for cost, one in zip(given, known, strict=True)]


def exact_cost(name: str, cost: float, of: str = "") -> Fraction:
    """Return a cost as a fraction, rounded to nine decimals with a warning where it has more.

    `of`: text for messages that names the member whose cost it is.
    """
    exact = as_fraction(cost)
    if exact is None or exact < 0:
        shown = "NaN" if cost != cost else cost  # noqa: PLR0124  # NaN alone differs from itself
        raise BadInputError(name, "must be finite and at least 0", f"{shown}{of}", "Correct that cost.")
    kept = Fraction(round(exact * 10**MOST_DECIMALS), 10**MOST_DECIMALS)
    if abs(kept - exact) > exact / 10**6:
        raise BadInputError(
            name,
            f"must keep their first six digits when they are rounded to {MOST_DECIMALS} decimals",
            cost,
            "Give all of them in a smaller unit, such as cents for dollars.",
        )
    if kept != exact:
        warnings.warn(f"{name} were rounded to {MOST_DECIMALS} decimals, to be exact.", stacklevel=2)
    return kept
