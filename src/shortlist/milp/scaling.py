"""Decimals turned into integers, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError

MOST_DECIMALS = 9
RELATIVE_ERROR = 1e-12
"""How far a scaled coefficient may be from an integer: the error of reading a decimal and scaling it."""

LARGEST_INTEGER = 2.0**53


def scaled_to_integers(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]], what: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Multiply each row by the smallest power of ten that makes all its values integers.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        The values of all rows, one row after the other.
    starts : ndarray of int, shape (n_rows + 1,)
        Row i is ``values[starts[i]:starts[i + 1]]``.
    what : str
        What the values are, for the message.

    Returns
    -------
    scaled : ndarray of int, shape (n_values,)
        The integers.
    scales : ndarray of int, shape (n_rows,)
        The power of ten of every row; 1 for an empty one.

    Raises
    ------
    BadInputError
        If a value has more than nine decimals, or is no integer below 2^53 after scaling.

    Examples
    --------
    >>> scaled_to_integers(np.array([1.0, 2.0, 0.25, 3.0]), np.array([0, 2, 4]), "rows")
    (array([  1,   2,  25, 300]), array([  1, 100]))
    """
    lengths = np.diff(starts)
    scaled = np.zeros(len(values), dtype=np.int64)
    scales = np.ones(len(lengths), dtype=np.int64)
    open_rows = lengths > 0
    for decimals in range(MOST_DECIMALS + 1):
        product = values * 10.0**decimals
        whole = np.rint(product)
        bad = (np.abs(product - whole) > RELATIVE_ERROR * np.abs(product)) | (
            np.abs(whole) >= LARGEST_INTEGER
        )
        before = np.concatenate([[0], np.cumsum(bad)])
        fits = open_rows & (before[starts[1:]] == before[starts[:-1]])
        mine = np.repeat(fits, lengths)
        scaled[mine] = whole[mine].astype(np.int64)
        scales[fits] = 10**decimals
        open_rows &= ~fits
        if not open_rows.any():
            return scaled, scales
    row = int(np.argmax(open_rows))
    raise BadInputError(
        f"CP-SAT needs {what} of decimals with at most {MOST_DECIMALS} places and {int(np.log10(LARGEST_INTEGER))} "
        f"digits, got {values[starts[row] : starts[row + 1]][:5].tolist()} in row {row}. Round them, or use solver='highs'."
    )
