"""Bounded solves that may stop early: each answer says what is proved of it, and what bound is left."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.bounded_solves import N_ATTEMPTS, BoundedSolves
from shortlist.methods.integer.integer_objectives import UNLIMITED, Vector
from shortlist.milp.solution import NO_LIMITS, Limits
from shortlist.results.proof import Status


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one program said.

    Attributes
    ----------
    status : Status
        OPTIMAL: `vector` is proved best. FEASIBLE: found, not proved. INFEASIBLE: nothing is within the
        bounds. UNKNOWN: stopped before anything was found.
    vector : ndarray of int, shape (n_objectives,), or None
        The objectives found, in steps.
    bound : int
        No vector within the bounds has smaller weighted objectives; -UNLIMITED when nothing is known.
    columns : ndarray of int, shape (n_integer_columns,), or None
        The solution.
    value : int
        The weighted objectives of `vector`; 0 without one.
    checked : bool
        Whether a second program found nothing better than the proved answer.
    """

    status: Status
    vector: Vector | None
    bound: int
    columns: NDArray[np.int64] | None = None
    value: int = 0
    checked: bool = False


class LimitedSolves(BoundedSolves):
    """Bounded solves in which each program has a limit of its own.

    Attributes
    ----------
    checks : bool
        Whether a proved answer is checked by a second program: what costs one unit less, asked of a solver
        with another seed, which must find nothing. The limits of each program hold for it too; where they
        end it, the answer stays proved, but is not checked.
    """

    checks = False

    def remember(self, vector: Vector, columns: NDArray[np.int64]) -> None:
        """Note a solution that another session found, so that programs can start from it."""
        self._witnesses.setdefault(tuple(vector.tolist()), columns)

    def attempt(
        self, weights: Vector, upper: Vector, *, start: Vector | None = None, each: Limits = NO_LIMITS
    ) -> Outcome:
        """Minimise ``weights @ f`` with ``f <= upper`` as far as the limits of `each` program allow.

        Each program has a session of its own: what it answers depends on nothing that was solved before, so
        that a search that goes on from a study finds what it would have found.

        `start` is an earlier answer, or a remembered one, within `upper`.

        Raises
        ------
        LimitReachedError
            If the whole search has to end; what the program had found by then is dropped.
        BadInputError
            If the objective is unbounded.
        SolverError
            If no attempt gives an answer that stands the check in integers.
        """
        self._session = None
        for number in range(N_ATTEMPTS):
            solution = self._solve(weights, upper, start, number, each)
            if solution.status is Status.UNBOUNDED:
                raise BadInputError("`objectives` must be bounded. Bound the columns.")
            if solution.status is Status.INFEASIBLE:
                return Outcome(Status.INFEASIBLE, None, UNLIMITED)
            bound = math.ceil(solution.bound - 1e-6) if math.isfinite(solution.bound) else -UNLIMITED
            if solution.values is None:
                if solution.limit in {"seconds", "nodes"}:
                    return Outcome(Status.UNKNOWN, None, bound)
                continue
            vector = self.integers.vector(solution.values)
            if (vector > upper).any():
                continue
            proved = solution.status is Status.OPTIMAL
            if proved or solution.limit in {"seconds", "nodes"}:
                self._keep(vector, solution.values)
                value = int(weights @ vector)
                bound = value if proved else min(bound, value)
                status = Status.OPTIMAL if bound == value else Status.FEASIBLE
                better = (
                    status is Status.OPTIMAL and self.checks and self._better(weights, upper, value, each)
                )
                if better:
                    continue
                checked = better is False and self.checks
                return Outcome(status, vector, bound, self.columns_of(vector), value, checked)
        raise SolverError(
            f"the solver gave no exact answer in {N_ATTEMPTS} attempts. Use another solver, or a coarser "
            "scale."
        )

    def _better(self, weights: Vector, upper: Vector, value: int, each: Limits) -> bool | None:
        """Look for a solution with smaller weighted objectives than `value`; None where a limit ended it."""
        self._session = self._open(N_ATTEMPTS)  # with a seed that no attempt has
        self._session.set_cutoff(float(value - 1))
        solution = self._solve(weights, upper, None, 0, each)
        self._session = None
        if solution.status is Status.INFEASIBLE:
            return False
        return None if solution.values is None else True
