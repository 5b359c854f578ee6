"""One product after the other with as many open interactions as can be had, value by value."""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.logic.sat import SatSolver


class GreedyProducts:
    """Builds products that have many open interactions.

    Variables get their values one by one: that value next which completes most open interactions with those
    that are fixed, then that of most open interactions at all. A satisfiability solver says whether it can
    be, so no product is ever lost, as in the greedy methods of :cite:t:`Johansen2012`.

    Parameters
    ----------
    places : ndarray of int32, shape (n_rows, t)
        The variables of each row of interactions, from 0.
    n_variables : int
        Of the clauses.
    solver : SatSolver
        Of the clauses.
    """

    def __init__(self, places: NDArray[np.int32], n_variables: int, solver: SatSolver) -> None:
        self._places, self._solver = places, solver
        self._t = places.shape[1]
        order = np.argsort(places, axis=None, kind="stable")
        self._rows = order // max(1, self._t)
        self._bits = (1 << (order % max(1, self._t))).astype(np.int64)
        counts = np.bincount(places.ravel(), minlength=n_variables)
        self._used = np.flatnonzero(counts)
        self._starts = np.concatenate([[0], np.cumsum(counts)])

    def product(
        self, literals: list[int], state: NDArray[np.uint8], worth: NDArray[np.float64], first: Mask
    ) -> Mask:
        """Return a product with the literals.

        Parameters
        ----------
        literals : list of int
            What it must have.
        state : ndarray of uint8, shape (n_rows, 2**t)
            0 where an interaction is open.
        worth : ndarray of float, shape (2 * n_variables,)
            Below 1: which values are better where they complete equally many, true and false in turns.
        first : ndarray of bool, shape (n_variables,)
            A product with the literals.
        """
        model, taken = first, list(literals)
        gains = np.full(len(worth), -np.inf)  # auxiliary variables are in no interaction
        for side in (2 * self._used, 2 * self._used + 1):
            gains[side] = worth[side]
        begun = _Begun(self._places, gains)
        for literal in literals:
            self._fix(literal, begun, state)
        for _ in range(int(np.isfinite(begun.gains[2 * self._used]).sum())):
            best = int(np.argmax(begun.gains))
            literal = (best >> 1) + 1 if not best & 1 else -(best >> 1) - 1
            if model[best >> 1] != (literal > 0):
                answer = self._solver.solve([*taken, literal])
                if answer.model is None:
                    literal = -literal
                else:
                    model = answer.model
            taken.append(literal)
            self._fix(literal, begun, state)
        return model

    def _fix(self, literal: int, begun: "_Begun", state: NDArray[np.uint8]) -> None:
        """Fix a variable, and add to the gains of those that now complete an open interaction."""
        variable = abs(literal) - 1
        begun.gains[2 * variable : 2 * variable + 2] = -np.inf
        part = slice(self._starts[variable], self._starts[variable + 1])
        rows = self._rows[part]
        begun.n_fixed[rows] += 1
        begun.left[rows] -= variable
        if literal > 0:
            begun.codes[rows] += self._bits[part]
        ready = rows[begun.n_fixed[rows] == self._t - 1]
        if not len(ready):
            return
        last, code = begun.left[ready], begun.codes[ready]
        bit = 1 << np.argmax(self._places[ready] == last[:, None], axis=1)
        np.add.at(begun.gains, 2 * last, state[ready, code + bit] == 0)
        np.add.at(begun.gains, 2 * last + 1, state[ready, code] == 0)


class _Begun:
    """A product of which some values are fixed.

    `n_fixed`, `codes` and `left` say of each row how many variables are fixed, which of them are true, and
    what the numbers of the others add up to; `gains` is what each value would complete.
    """

    def __init__(self, places: NDArray[np.int32], gains: NDArray[np.float64]) -> None:
        self.gains = gains
        self.n_fixed = np.zeros(len(places), dtype=np.int8)
        self.codes = np.zeros(len(places), dtype=np.int64)
        self.left = places.sum(axis=1, dtype=np.int64)
