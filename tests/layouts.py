"""One table in many batches and orders of memory: what is computed per row must be the same to the last bit."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def batches(rows: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
    """Yield some of the rows as another array, and their indices."""
    everyone = np.arange(len(rows))
    wide = np.zeros((2 * len(rows), 3 * rows.shape[1]), dtype=rows.dtype)
    wide[::2, 1::3] = rows
    mixed = np.random.default_rng(0).permutation(len(rows))
    yield np.asfortranarray(rows), everyone
    yield wide[::2, 1::3], everyone
    yield np.ascontiguousarray(rows[:, ::-1])[:, ::-1], everyone
    yield rows[::-1], everyone[::-1]
    yield rows[mixed], mixed
    for size in (1, 2, 3, 5):
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            yield rows[part], everyone[part]
            yield np.asfortranarray(rows)[part], everyone[part]


def check_rows_stand_alone(answer: Callable[[NDArray[Any]], Any], rows: NDArray[Any]) -> None:
    """Check that the answer on each row is the same whatever other rows are asked about."""
    whole = np.asarray(answer(rows))
    for batch, places in batches(rows):
        assert np.array_equal(answer(batch), whole[places])
