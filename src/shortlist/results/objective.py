"""Objectives: a name, a sense, and a scale that makes values integers."""

import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.exact import as_decimal
from shortlist.pickles import saved_from


@saved_from("shortlist")
class Sense(StrEnum):
    """Whether less or more of an objective is better."""

    MIN = "min"
    MAX = "max"


@saved_from("shortlist")
@dataclass(frozen=True)
class Objective:
    """Objective of a front.

    Parameters
    ----------
    name : str
        Name given by the user; unique within a front.
    sense : Sense, default=Sense.MIN
        Whether less or more is better.
    scale : int or None, default=1
        Every value times `scale` is an integer below 2^53, so comparisons are exact; None for a real
        value, which is compared as a double.
    unit : str, default=""
        Unit of the values, for people.
    """

    name: str
    sense: Sense = Sense.MIN
    scale: int | None = 1
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sense", Sense(self.sense))
        if self.scale is not None and self.scale < 1:
            raise BadInputError(
                f"scale of objective {self.name!r} must be at least 1 or None, got {self.scale}."
            )

    @property
    def sign(self) -> int:
        """Factor that converts the user's value to a value to minimise: 1 or -1."""
        return 1 if self.sense is Sense.MIN else -1


OPERATORS = ("<=", "<", ">=", ">", "==")
"""Operators of a limit."""


@saved_from("shortlist")
@dataclass(frozen=True)
class Limit:
    """Limit on one quantity."""

    name: str
    """Name of the limited quantity."""
    operator: str
    """Operator, one of :data:`OPERATORS`."""
    value: Decimal
    """Number as written, in the unit of the quantity."""

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.value}"

    @property
    def sign(self) -> int:
        """Sign of the limit: 1 for an upper limit, -1 for a lower limit, 0 for ``==``."""
        return {"<": 1, ">": -1, "=": 0}[self.operator[0]]

    def met_by(self, values: NDArray[np.float64], scale: int | None) -> NDArray[np.bool_]:
        """Mark the values that meet the limit.

        `values`: values in the unit of the limit. `scale`: factor that makes every value an integer, for an
        exact comparison; None compares doubles.

        >>> read_limit("cost<0.3").met_by(np.array([0.1, 0.2, 0.3]), 10).tolist()
        [True, True, False]
        """
        compare = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater}
        chosen = compare.get(self.operator, np.equal)
        if scale is None:
            return np.asarray(chosen(values, float(self.value)), dtype=bool)
        exact = self.value * scale
        floor = int(exact.to_integral_value(ROUND_FLOOR))
        integers = np.rint(values * scale)
        if exact == floor:
            return np.asarray(chosen(integers, floor), dtype=bool)
        if not self.sign:
            return np.zeros(len(values), dtype=bool)
        return np.asarray(integers <= floor if self.sign > 0 else integers > floor, dtype=bool)


def read_limit(text: str) -> Limit:
    """Read ``NAME OPERATOR NUMBER``, such as ``cost<=120`` or ``defects > 2.5``.

    Raises BadInputError if the text has another form, or the number is not finite or has more than nineteen
    digits before the point.

    >>> read_limit("cost <= 12.50")
    Limit(name='cost', operator='<=', value=Decimal('12.50'))
    """
    found = re.fullmatch(r"\s*([^<>=]*[^<>=\s])\s*(<=|>=|==|<|>)\s*([^<>=\s]+)\s*", text)
    number = as_decimal(found[3]) if found else None
    if found is None or number is None:
        raise BadInputError(
            "limit",
            "must read like 'cost<=120', with <=, <, >=, > or == and a number such as 1234.5",
            repr(text),
        )
    return Limit(found[1].strip(), found[2], number)


_SENSES = {"min": Sense.MIN, "minimise": Sense.MIN, "minimize": Sense.MIN} | {
    "max": Sense.MAX,
    "maximise": Sense.MAX,
    "maximize": Sense.MAX,
}


def objective_names(text: str) -> list[tuple[Sense, str]]:
    """Split ``"min cost, max selected"`` into senses and names.

    Raises BadInputError if there is no objective, a part lacks its sense or name, or a name repeats.

    >>> [(sense.value, name) for sense, name in objective_names("min cost, maximise selected")]
    [('min', 'cost'), ('max', 'selected')]
    """
    parts = []
    for part in text.split(","):
        sense, _, name = part.strip().partition(" ")
        if sense.lower() not in _SENSES or not name.strip():
            raise BadInputError(
                "objectives", "must read like 'min cost, max selected'", f"{part.strip()!r} in {text!r}"
            )
        parts.append((_SENSES[sense.lower()], name.strip()))
    names = [name for _, name in parts]
    for name in names:
        if names.count(name) > 1:
            raise BadInputError("objectives", "must differ", f"{name!r} twice", "Drop one.")
    return parts
