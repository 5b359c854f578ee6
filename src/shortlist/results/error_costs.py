"""Costs of errors, as integers: one cost for each pair of answer and true class."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, did_you_mean
from shortlist.errors import BadInputError

LARGEST_COST = 10**6

ErrorCosts: TypeAlias = Mapping[tuple[str | None, str], int]
"""Cost of an error by pair of answer and true class. The answer None stands for every answer without its own
entry, and the answer "" for no answer. Errors without an entry cost 1.
"""


def losses_of(costs: ErrorCosts, labels: Sequence[str], argument: str = "error_costs") -> NDArray[np.int64]:
    """Return the cost of each answer for each true class, ``(n_classes + 1, n_classes)``.

    The last row is for no answer, which by default costs as much as the dearest answer. Raises BadInputError
    if a class is unknown, or a cost is no integer from 0 to a million.

    >>> losses_of({(None, "ill"): 10}, ["healthy", "ill"]).tolist()
    [[0, 10], [1, 0], [1, 10]]
    """
    n = len(labels)
    losses = np.vstack([1 - np.eye(n, dtype=np.int64), np.ones((1, n), dtype=np.int64)])
    # a cost of every other answer comes first, so that a single pair may override it
    for (said, true), cost in sorted(costs.items(), key=lambda one: one[0][0] is not None):
        for label, known in ((said, (*labels, "")), (true, labels)):
            if label is not None and label not in known:
                raise BadInputError(
                    argument, f"must name classes, {', '.join(labels)}", repr(label),
                    did_you_mean(label, labels),
                )  # fmt: skip
        if isinstance(cost, bool) or cost != int(cost) or not 0 <= cost <= LARGEST_COST:
            raise BadInputError(argument, f"must be whole numbers from 0 to {LARGEST_COST:,}", repr(cost))
        place = labels.index(true)
        if said is None:
            losses[[row for row in range(n) if row != place], place] = cost
        else:
            losses[n if not said else labels.index(said), place] = cost
    for place, true in enumerate(labels):
        if ("", true) not in costs:
            losses[-1, place] = losses[:-1, place].max()
    return losses


def costs_as_text(costs: Mapping[Any, int] | None, text: Callable[[Any], str] = str) -> ErrorCosts:
    """Return costs by class, or by pair of answer and class, with labels as text.

    >>> costs_as_text({1: 10, ("a", "b"): 2})
    {(None, '1'): 10, ('a', 'b'): 2}
    """
    found: dict[tuple[str | None, str], int] = {}
    for one, cost in (costs or {}).items():
        said, true = one if isinstance(one, tuple) else (None, one)
        found[None if said is None else text(said), text(true)] = cost
    return found


def costs_by_class(
    costs: ErrorCosts, labels: Sequence[str], argument: str = "error_costs"
) -> tuple[int, ...]:
    """Return the cost of a wrong answer for each true class, if all wrong answers cost the same.

    Raises BadInputError if a right answer has a cost, an error has cost 0, or errors about one class differ
    in cost.
    """
    losses, n = losses_of(costs, labels, argument), len(labels)
    if losses[:-1].diagonal().any():
        raise BadInputError(argument, "must leave right answers free", "a cost of one", "Leave it out.")
    if any(said == "" for said, _ in costs):
        raise BadInputError(
            argument,
            "must be of answers here",
            "a cost of no answer",
            "Give it with `final='hand-over=PRICE'`.",
        )
    found = []
    for place, label in enumerate(labels):
        own = {int(losses[row, place]) for row in range(n) if row != place}
        if len(own) > 1:
            raise BadInputError(
                argument, f"must be the same for every wrong answer about a row of {label}",
                all_of(map(str, sorted(own))), "Only panels take a cost for each pair of classes.",
            )  # fmt: skip
        found.append(own.pop())
    if not min(found):
        raise BadInputError(argument, "must be at least 1 for every error", "0", "Give it a small cost.")
    return tuple(found)
