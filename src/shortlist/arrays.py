"""Array types, each with its shape and unit, and products with a fixed order of summation."""

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.int64]
"""Objective vectors, ``(n_points, n_objectives)``, scaled to integers, minimised."""

Values: TypeAlias = NDArray[np.float64]
"""Objective values in the user's units and signs, ``(n_points, n_objectives)``."""

Mask: TypeAlias = Annotated[NDArray[np.bool_], "bool[::1]"]
"""True for each chosen candidate, or for each row or point that meets a condition."""

Costs: TypeAlias = NDArray[np.float64]
"""One coefficient per column of a program, ``(n_columns,)``."""

Labels: TypeAlias = NDArray[Any]
"""Class labels of rows, ``(n_samples,)``, of any dtype."""

BinaryLabels: TypeAlias = NDArray[np.uint8]
"""1 for a row of the positive class, 0 for a row of the negative class, ``(n_rows,)``."""

VoteMatrix: TypeAlias = NDArray[np.uint8]
"""Vote of each classifier on each row, ``(n_rows, n_classifiers)``: 1 for positive."""

Counts: TypeAlias = Annotated[NDArray[np.int64], "int64[::1]"]
"""Number of identical rows that each row stands for, ``(n_rows,)``, at least 1."""

CreditMatrix: TypeAlias = NDArray[np.int64]
"""Failure credit of every pair in billionths, ``(n_classifiers, n_classifiers)``, symmetric, 0 on the
diagonal.
"""

Bytes: TypeAlias = Annotated[NDArray[np.uint8], "uint8[::1]"]
"""Bytes of a kernel, in one dimension. The annotation of an array is its numba type as a field of a named
tuple: one dimension, two for tables, three for blocks.
"""

Shorts: TypeAlias = Annotated[NDArray[np.int32], "int32[::1]"]
"""Integers of four bytes."""

Longs: TypeAlias = Annotated[NDArray[np.int64], "int64[::1]"]
"""Integers of eight bytes."""

Floats: TypeAlias = Annotated[NDArray[np.float64], "float64[::1]"]
"""Numbers of eight bytes."""

Flags: TypeAlias = Annotated[NDArray[np.bool_], "bool[::1]"]
"""True or false."""

ByteTable: TypeAlias = Annotated[NDArray[np.uint8], "uint8[:, ::1]"]
"""Bytes in two dimensions."""

HalfTable: TypeAlias = Annotated[NDArray[np.int16], "int16[:, ::1]"]
"""Integers of two bytes in two dimensions."""

ShortTable: TypeAlias = Annotated[NDArray[np.int32], "int32[:, ::1]"]
"""Integers of four bytes in two dimensions."""

LongTable: TypeAlias = Annotated[NDArray[np.int64], "int64[:, ::1]"]
LongCube: TypeAlias = Annotated[NDArray[np.int64], "int64[:, :, ::1]"]
"""Integers of eight bytes in three dimensions."""

FloatTable: TypeAlias = Annotated[NDArray[np.float64], "float64[:, ::1]"]
"""Numbers of eight bytes in two dimensions."""

FlagTable: TypeAlias = Annotated[NDArray[np.bool_], "bool[:, ::1]"]
"""True or false in two dimensions."""

LongBlock: TypeAlias = Annotated[NDArray[np.int64], "int64[:, :, ::1]"]
"""Integers of eight bytes in three dimensions."""

Records: TypeAlias = NDArray[Any]
"""Records of named integers of eight bytes, ``array[0].cost``; :func:`record_type` defines the names."""

Whole: TypeAlias = int | np.int64
"""Integer of Python or of a kernel."""


def record_type(*names: str) -> np.dtype[Any]:
    """Return the type of records of integers with these names, for Python and for kernels.

    A name must not be an attribute of NumPy's records, such as ``size``: Python would return the attribute.

    >>> record_type("n_members", "cost").names
    ('n_members', 'cost')
    """
    assert not any(hasattr(np.record, name) for name in names), names
    return np.dtype((np.record, [(name, np.int64) for name in names]))


def products_in_order(rows: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
    """Return ``rows @ factors`` with each sum taken from the first column to the last.

    With ``@`` the order depends on the processor and the number of rows, and so do the last bits of a row's
    sum. Sums that are compared with each other, or with a threshold, are computed here.

    Takes one pass over the sums per column, without the blocks of a matrix product.

    `rows`: rows in any memory order, ``(n_rows, n_columns)``. `factors`: ``(n_columns,)``, or ``(n_columns,
    n_sums)`` for several sums at once. The sums have the shape ``(n_rows,)``, or ``(n_rows, n_sums)``.

    >>> products_in_order(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0]))
    array([12., 34.])
    """
    sums = np.zeros((len(rows), *factors.shape[1:]), dtype=np.result_type(rows, factors))
    for column, factor in zip(rows.T, factors, strict=True):
        sums += np.multiply.outer(column, factor)
    return sums


@contextlib.contextmanager
def stray_flags_ignored() -> Iterator[None]:
    """Ignore the flag of an invalid operation in a block whose factors and products are all finite.

    For rows of 5 numbers of single precision, OpenBLAS with AVX-512 (PR 3260, still 0.3.31) also reads
    stale values on the stack. The results are right, but a stale signalling NaN sets the flag, and NumPy
    warns about it. Filling the stack with such numbers before the call shows it.
    """
    with np.errstate(invalid="ignore"):
        yield
