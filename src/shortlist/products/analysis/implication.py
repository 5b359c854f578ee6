"""Whether clauses imply others, looked at one by one."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver
from shortlist.runs.budget import Budget


def first_breach(
    clauses: Clauses, claims: Iterable[Sequence[int]], *, known: Clauses | None = None, budget: Budget | None
) -> Mask | None:
    """Return a model of clauses that breaks one of the claims, or None where they imply all of them.

    Parameters
    ----------
    clauses : Clauses
        What holds.
    claims : iterable of sequence of int
        Clauses over the same variables.
    known : Clauses, optional
        Claims among these are passed over, as they are among `clauses`. Default: `clauses`.
    budget : Budget or None
        Ends the search by :class:`~shortlist.logic.sat.SearchStoppedError`.

    Examples
    --------
    >>> chain = Clauses.from_clauses(3, [(-1, 2), (-2, 3)])
    >>> first_breach(chain, [(-1, 3)], budget=None) is None
    True
    >>> first_breach(chain, [(1, 2, -3)], budget=None).tolist()
    [False, False, True]
    """
    given = set(map(frozenset, clauses if known is None else known))
    solver = SatSolver(clauses, budget)
    for claim in claims:
        if frozenset(claim) in given:
            continue
        model = solver.solve([-literal for literal in dict.fromkeys(claim)]).model
        if model is not None:
            return model
    return None


def renumbered(clauses: Clauses, numbers: NDArray[np.int64], n_variables: int) -> Clauses:
    """Return clauses in which variable v is called ``numbers[v]``, of `n_variables`; entry 0 is not used."""
    literals = np.sign(clauses.literals) * numbers[np.abs(clauses.literals)]
    return Clauses(n_variables, literals.astype(np.int32), clauses.offsets)


def joined(n_variables: int, *parts: Iterable[Sequence[int]]) -> Clauses:
    """Return all clauses of several parts, over `n_variables`."""
    return Clauses.from_clauses(n_variables, (clause for part in parts for clause in part))
