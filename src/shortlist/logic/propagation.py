"""Unit propagation: what follows from clauses one literal at a time."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.logic import _propagation_kernels as kernels
from shortlist.logic.clauses import Clauses


@dataclass(frozen=True, eq=False)
class Propagation:
    """What unit propagation found.

    Parameters
    ----------
    values : ndarray of int8, shape (n_variables,)
        1 where the variable must be true, 0 where it must be false, -1 where propagation does not tell.
    consistent : bool
        False if the clauses and the given literals contradict each other; `values` is then what was found
        before the contradiction.
    """

    values: NDArray[np.int8]
    consistent: bool

    @property
    def literals(self) -> tuple[int, ...]:
        """Literals that must be true, by variable."""
        known = np.flatnonzero(self.values >= 0)
        return tuple(np.where(self.values[known] == 1, known + 1, -known - 1).tolist())


def propagate(clauses: Clauses, literals: Iterable[int] = ()) -> Propagation:
    """Follow unit clauses from `literals` to the end.

    Sound and not complete: every value found holds in all models, others may too. Two literals of each clause
    are watched (Moskewicz et al. 2001), so the time is about proportional to the clauses that become unit or
    are passed.

    Raises
    ------
    BadInputError
        If a literal names a variable that does not exist.

    Examples
    --------
    >>> propagate(Clauses.from_clauses(4, [(-1, 2), (-2, -3), (3, 4)]), [1]).literals
    (1, 2, -3, 4)
    """
    n = clauses.n_variables
    given = list(literals)
    if any(not 1 <= abs(literal) <= n for literal in given):
        raise BadInputError("literals", f"must name variables 1 to {n}", given, "Leave the others out.")
    lengths = np.diff(clauses.offsets)
    units = clauses.literals[clauses.offsets[:-1][lengths == 1]]
    values = np.full(2 * n, -1, np.int8)
    counts = np.zeros(1, kernels.COUNTS)
    assignment = kernels.Assignment(values, *np.zeros((3, n), np.int32))
    consistent = bool((lengths > 0).all())
    for literal in dict.fromkeys([*units.tolist(), *given]):
        code = kernels.literal_code(literal)
        if values[code] == 0:
            consistent = False
        elif values[code] < 0:
            kernels.assign(code, -1, assignment, counts)
    if consistent:
        store = kernels.ClauseStore(
            arena=kernels.literal_codes(clauses.literals),
            starts=clauses.offsets,
            heads=np.full(2 * n, -1, np.int32),
            links=np.zeros(2 * clauses.n_clauses, np.int32),
        )
        kernels.watch(store, 0, clauses.n_clauses)
        consistent = kernels.propagate_clauses(store, assignment, counts) < 0
    return Propagation(values[::2].copy(), consistent)
