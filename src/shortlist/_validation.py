"""Conversion of users' values to checked values; no other module converts them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from shortlist._words import all_of, any_of, did_you_mean
from shortlist.errors import BadInputError

T = TypeVar("T")

MOST_SEED = 2**32 - 1
"""Largest seed of every method, estimator and command; the least is 0."""

AUTO = "auto"
"""Name of the automatic choice of an option."""


def as_choice(value: str, argument: str, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`; refuse it otherwise."""
    if value not in choices:
        raise BadInputError(
            argument, f"must be one of {any_of(sorted(choices))}", repr(value), did_you_mean(value, choices)
        )
    return value


def as_options(kind: type[T], given: Mapping[str, Any], owner: str) -> T:
    """Return the options of `owner` as a dataclass; missing options, and None, mean the default.

    Raises BadInputError if a name is no field of the dataclass, or a value is out of range.
    """
    wanted = {name: value for name, value in given.items() if value is not None}
    known = [each.name for each in fields(kind) if each.init]  # type: ignore[arg-type]  # a dataclass
    for name in wanted:
        if name not in known:
            has = all_of([f"`{each}`" for each in known])
            hint = did_you_mean(name, known) or " Leave it out."
            raise BadInputError(f"`{name}` is no option of {owner}, which has {has}.{hint}")
    return kind(**wanted)


def as_count(value: Any, argument: str, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an int within its range; refuse it otherwise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise BadInputError(argument, "must be a whole number", repr(value))
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        upper = "" if at_most is None else f" and at most {at_most}"
        raise BadInputError(argument, f"must be at least {at_least}{upper}", number)
    return number


def as_seed(value: Any, argument: str = "seed") -> int:
    """Return a seed as an int from 0 to :data:`MOST_SEED`, the range of all sources of randomness."""
    return as_count(value, argument, at_least=0, at_most=MOST_SEED)


def as_positive_seconds(value: float | None, argument: str) -> float:
    """Return a time limit in seconds; None means no limit."""
    if value is None:
        return math.inf
    if not isinstance(value, int | float) or math.isnan(value) or value <= 0:
        raise BadInputError(argument, "must be a number of seconds above 0 or None", repr(value))
    return float(value)


def as_workers(value: int | None, argument: str) -> int | None:
    """Return a number of workers in joblib's form: None for one, -1 for every core."""
    if value == 0:
        raise BadInputError(argument, "must be a number of workers, or -1 for every core", "0")
    return value


def as_positive(value: float, argument: str) -> float:
    """Return a number above 0; refuse others."""
    if not (isinstance(value, int | float) and value > 0):
        raise BadInputError(argument, "must be a number above 0", repr(value))
    return value


def as_not_negative(value: float, argument: str) -> float:
    """Return a finite number of at least 0; refuse others."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadInputError(argument, "must be a number of at least 0", repr(value))
    return float(value)
