"""Clauses in conjunctive normal form, as plain arrays."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError


@dataclass(frozen=True, eq=False)
class Clauses:
    """Conjunction of clauses, each a disjunction of literals.

    Build it with :meth:`from_clauses`, or pass the arrays.

    Raises BadInputError if a literal is 0 or names a variable that does not exist, or the offsets do not fit.

    >>> clauses = Clauses.from_clauses(3, [(1, 2), (-1, -3)])
    >>> clauses.n_clauses, list(clauses)
    (2, [(1, 2), (-1, -3)])
    >>> clauses.satisfied(np.array([[True, False, False], [True, True, True]])).tolist()
    [True, False]
    """

    n_variables: int
    """Number of variables, numbered from 1; a variable in no clause is free."""
    literals: NDArray[np.int32]
    """Literals of all clauses in a row, ``(n_literals,)``; `v` means that variable v is true, `-v` that it
    is false.
    """
    offsets: NDArray[np.int64]
    """Offsets of the clauses, ``(n_clauses + 1,)``: clause i is ``literals[offsets[i]:offsets[i + 1]]``; an
    empty clause cannot be satisfied.
    """

    def __post_init__(self) -> None:
        literals = np.ascontiguousarray(self.literals, dtype=np.int32)
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        if (
            not len(offsets)
            or offsets[0] != 0
            or offsets[-1] != len(literals)
            or (np.diff(offsets) < 0).any()
        ):
            raise BadInputError(
                f"`offsets` must rise from 0 to the number of literals, {len(literals)}. Use "
                "Clauses.from_clauses to build them."
            )
        if len(literals) and (literals.min() < -self.n_variables or literals.max() > self.n_variables):
            worst = int(literals[np.abs(literals.astype(np.int64)).argmax()])
            raise BadInputError(
                "literals", f"must name variables 1 to {self.n_variables}", worst, "Raise `n_variables`."
            )
        if (literals == 0).any():
            raise BadInputError("`literals` must not be 0: write v or -v for variable v, counted from 1.")
        object.__setattr__(self, "literals", literals)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def from_clauses(cls, n_variables: int, clauses: Iterable[Sequence[int]]) -> Self:
        """Build clauses from sequences of signed variable numbers."""
        listed = [tuple(clause) for clause in clauses]
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum([len(clause) for clause in listed], out=offsets[1:])
        flat = np.fromiter((literal for clause in listed for literal in clause), np.int64, int(offsets[-1]))
        if len(flat) and np.abs(flat).max() > n_variables:
            worst = int(flat[np.abs(flat).argmax()])
            raise BadInputError(
                "literals", f"must name variables 1 to {n_variables}", worst, "Raise `n_variables`."
            )
        return cls(n_variables, flat.astype(np.int32), offsets)

    @property
    def n_clauses(self) -> int:
        """Number of clauses."""
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        literals, offsets = self.literals.tolist(), self.offsets.tolist()
        for start, stop in itertools.pairwise(offsets):
            yield tuple(literals[start:stop])

    def with_units(self, literals: Iterable[int]) -> "Clauses":
        """Return the clauses with a further clause of one literal for each of `literals`."""
        units = np.fromiter(literals, np.int64)
        if len(units) and np.abs(units).max() > self.n_variables:
            worst = int(units[np.abs(units).argmax()])
            raise BadInputError(
                "literals", f"must name variables 1 to {self.n_variables}", worst, "Name one of these."
            )
        return Clauses(
            self.n_variables,
            np.concatenate([self.literals, units.astype(np.int32)]),
            np.concatenate([self.offsets, self.offsets[-1] + 1 + np.arange(len(units))]),
        )

    def satisfied(self, assignments: NDArray[Any]) -> Mask:
        """Mark the assignments that satisfy every clause, ``(n_assignments,)``.

        `assignments`: column v - 1 holds the value of variable v, ``(n_assignments, n_variables)``. Time
        and memory are proportional to the number of literals times a block of 256 assignments.
        """
        assignments = np.asarray(assignments).astype(bool, copy=False)
        if assignments.ndim != 2 or assignments.shape[1] != self.n_variables:
            raise BadInputError(
                "assignments",
                f"must have shape (n, {self.n_variables})",
                assignments.shape,
                "Give one column per variable.",
            )
        good = np.ones(len(assignments), dtype=bool)
        if (np.diff(self.offsets) == 0).any():
            return ~good
        if not self.n_clauses:
            return good
        columns, wanted = np.abs(self.literals) - 1, self.literals > 0
        for start in range(0, len(assignments), 256):
            block = assignments[start : start + 256]
            true = block[:, columns] == wanted
            good[start : start + 256] = np.logical_or.reduceat(true, self.offsets[:-1], axis=1).all(axis=1)
        return good
