"""The points that a search has met, each with the first solution that had it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.methods.integer.integer_objectives import Vector

Columns = NDArray[np.int64]


class Archive:
    """Different vectors in the order in which they were met; zones, phases and sweeps keep theirs here.

    A vector is added in constant time on average, and looked up in constant time.

    >>> archive = Archive(2)
    >>> archive.add(np.array([4, 3]), np.array([0, 1])), archive.add(np.array([4, 3]), np.array([1, 0]))
    (0, 0)
    >>> archive.vectors.tolist(), archive.columns_of(np.array([4, 3])).tolist()
    ([[4, 3]], [0, 1])
    """

    def __init__(self, n_objectives: int) -> None:
        self._stored: Points = np.empty((16, n_objectives), dtype=np.int64)
        self._columns: list[Columns | None] = []
        self._numbers: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, vector: Any) -> bool:
        return tuple(vector.tolist()) in self._numbers

    @property
    def vectors(self) -> Points:
        """The vectors, ``(n_points, n_objectives)``: a view, which later points do not change."""
        return self._stored[: len(self)]

    def add(self, vector: Vector, columns: Columns | None = None) -> int:
        """Return the number of a vector; a new one is kept with its solution, the integer columns."""
        number = self._numbers.setdefault(tuple(vector.tolist()), len(self))
        if number == len(self):
            if number == len(self._stored):
                self._stored = np.vstack([self._stored, np.empty_like(self._stored)])
            self._stored[number] = vector
            self._columns.append(columns)
        return number

    def columns_of(self, vector: Vector) -> Columns:
        """Return the solution first met for `vector`.

        Raises KeyError if the vector is not here, or came without a solution.
        """
        columns = self._columns[self._numbers[tuple(vector.tolist())]]
        if columns is None:
            raise KeyError(tuple(vector.tolist()))
        return columns
