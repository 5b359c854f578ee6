"""Rows of decimals turned into integers, for a solver that knows nothing else."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, decimal_steps


def scaled_to_integers(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]], what: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the integers and the power of ten of each row, if all rows have one.

    They are those of :func:`~shortlist.exact.decimal_steps`.

    `what` says what the values are, for the message.

    Raises
    ------
    BadInputError
        If a value has more than nine decimals, or is no integer below 2^53 after scaling.

    Examples
    --------
    >>> scaled_to_integers(np.array([1.0, 2.0, 0.25, 3.0]), np.array([0, 2, 4]), "rows")
    (array([  1,   2,  25, 300]), array([  1, 100]))
    """
    scaled, scales, decimal = decimal_steps(values, starts)
    if decimal.all():
        return scaled, scales
    row = int(np.argmin(decimal))
    shown = ", ".join(f"{value:g}" for value in values[starts[row] : starts[row + 1]][:5].tolist())
    raise BadInputError(
        f"CP-SAT needs {what} of decimals with at most {MOST_DECIMALS} places and "
        f"{int(np.log10(LARGEST_INTEGER))} digits, got {shown} in row {row}. Round them, or "
        "use `solver='highs'`."
    )
