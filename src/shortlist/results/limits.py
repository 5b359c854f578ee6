"""Limits as people write them: ``cost<=120``."""

import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.exact import as_decimal
from shortlist.pickles import saved_from

OPERATORS = ("<=", "<", ">=", ">", "==")
"""The operators of a limit."""


@saved_from("shortlist")
@dataclass(frozen=True)
class Limit:
    """A limit on one quantity.

    Attributes
    ----------
    name : str
        What is limited.
    operator : str
        One out of :data:`OPERATORS`.
    value : Decimal
        The number as written, in the unit of what is limited.
    """

    name: str
    operator: str
    value: Decimal

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.value}"

    @property
    def sign(self) -> int:
        """1 for a limit from above, -1 for one from below, 0 for ``==``."""
        return {"<": 1, ">": -1, "=": 0}[self.operator[0]]

    def met_by(self, values: NDArray[np.float64], scale: int | None) -> NDArray[np.bool_]:
        """Mark the values that meet the limit.

        Parameters
        ----------
        values : ndarray of float
            In the unit of the limit.
        scale : int or None
            Every value times `scale` is an integer, and those are compared exactly; None compares doubles.

        Examples
        --------
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

    Raises
    ------
    BadInputError
        If the text does not read like that, or the number is not finite or has more than nineteen digits
        before the point.

    Examples
    --------
    >>> read_limit("cost <= 12.50")
    Limit(name='cost', operator='<=', value=Decimal('12.50'))
    """
    found = re.fullmatch(r"\s*([^<>=]*[^<>=\s])\s*(<=|>=|==|<|>)\s*([^<>=\s]+)\s*", text)
    number = as_decimal(found[3]) if found else None
    if found is None or number is None:
        raise BadInputError(
            "limit", "must read like 'cost<=120', with <=, <, >=, > or == and a number", repr(text)
        )
    return Limit(found[1].strip(), found[2], number)
