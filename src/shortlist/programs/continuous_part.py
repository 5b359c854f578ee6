"""Values of a program's continuous columns for given values of the integer columns."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats
from shortlist.exact import seen
from shortlist.milp.program import LinearObjective, Program
from shortlist.milp.solution import FEASIBILITY_TOLERANCE, Session
from shortlist.programs.named_program import NamedProgram, Number, Terms
from shortlist.results.front import Front
from shortlist.results.objective import Objective

FINEST_PART = 10**6
"""Largest denominator of the fractions to which continuous columns are rounded, if the fractions meet the
rows.
"""


class ContinuousPart:
    """Continuous columns of a program, for integer columns that solutions fix.

    Rows and objectives of integer columns alone are left out, as they are constant. `named`: the original
    program. `steps`: step of each objective with continuous columns; values of the objective are multiples of
    the step.
    """

    def __init__(self, named: NamedProgram, steps: Mapping[str, float]) -> None:
        program = named.program
        self._named = named
        self.columns = np.flatnonzero(~program.integer)
        self._whole = np.flatnonzero(program.integer)
        with_any = abs(program.rows[:, self.columns]).sum(axis=1) > 0 if len(self.columns) else []
        self._rows = [(number, *named.row(number)) for number in np.flatnonzero(with_any).tolist()]
        self._goals = [
            (number, linear.objective.sign, *named.goal(number), seen(steps.get(linear.objective.name, 0.0)))
            for number, linear in enumerate(program.objectives)
            if linear.costs[self.columns].any()
        ]

    def best(self, decision: NDArray[np.integer], point: Sequence[float]) -> Floats | None:
        """Return values with the best objectives, ``(n_continuous_columns,)``.

        Returns None if no values are possible.

        HiGHS finds the values. They become simple fractions if such fractions meet every row exactly.

        `decision`: values of the integer columns. `point`: values of the objectives, which must not get
        worse.
        """
        for tolerance in (0.0, FEASIBILITY_TOLERANCE):  # the search allows it
            lower, upper = self._limits(decision.tolist(), point, tolerance)
            self._session.set_row_bounds(np.arange(len(lower)), lower, upper)
            values = self._session.solve().values
            if values is not None:
                exact = [float(_simple(value)) for value in values.tolist()]
                return np.array(exact) if self.kept(decision, point, exact) else values
        return None

    def kept(
        self, decision: NDArray[np.integer], point: Sequence[float], values: Sequence[float]
    ) -> bool | None:
        """Whether values meet every row and bound, and a point's objectives within their steps.

        True if simple fractions do so exactly, False if only within the tolerance of the search, None if
        not at all.
        """
        full = self._full(decision, [_simple(value) for value in values])
        if not self._misses(full, point, Fraction(0)):
            return True
        full = self._full(decision, [Fraction(value) for value in values])
        return None if self._misses(full, point, Fraction(FEASIBILITY_TOLERANCE)) else False

    def _full(self, decision: NDArray[np.integer], values: Sequence[Fraction]) -> dict[int, Fraction]:
        whole = zip(self._whole.tolist(), map(Fraction, decision.tolist()), strict=True)
        return {**dict(whole), **dict(zip(self.columns.tolist(), values, strict=True))}

    def _misses(self, full: Mapping[int, Fraction], point: Sequence[float], tolerance: Fraction) -> bool:
        """Whether a row, bound or objective is off by more than `tolerance`, relative to its terms."""

        def outside(terms: Terms, constant: Fraction, lower: Number, upper: Number) -> bool:
            total = sum((factor * full[column] for column, factor in terms.items()), constant)
            size = sum((abs(factor * full[column]) for column, factor in terms.items()), Fraction(0))
            off = tolerance * max(Fraction(1), size)
            return not lower - off <= total <= upper + off

        nothing = Fraction(0)
        bounds = ((column, *self._named.bounds(column)) for column in self.columns.tolist())
        if any(outside({column: Fraction(1)}, nothing, low, high) for column, low, high in bounds):
            return True
        if any(outside(terms, nothing, low, high) for _, terms, low, high in self._rows):
            return True
        for number, sign, costs, offset, step in self._goals:
            ends = sorted((seen(point[number]), seen(point[number]) - sign * step))
            if outside(costs, offset, *ends):
                return True
        return False

    def _limits(
        self, decision: Sequence[int], point: Sequence[float], tolerance: float
    ) -> tuple[Floats, Floats]:
        """Return the limits on the sums of continuous columns for given integer columns."""
        values = dict(zip(self._whole.tolist(), decision, strict=True))
        lower, upper = [], []

        def leave(terms: Terms, constant: Fraction, least: Number, most: Number) -> None:
            known = {column: factor * values[column] for column, factor in terms.items() if column in values}
            rest = sum(known.values(), constant)
            off = tolerance * max(1.0, float(sum(map(abs, known.values()))))
            lower.append(float(least - rest) - off)
            upper.append(float(most - rest) + off)

        for _, terms, least, most in self._rows:
            leave(terms, Fraction(0), least, most)
        for number, sign, costs, offset, _ in self._goals:
            told = seen(point[number])
            leave(costs, offset, -np.inf if sign > 0 else told, told if sign > 0 else np.inf)
        return np.array(lower), np.array(upper)

    def solved(self, front: Front) -> Floats:
        """Return the best values at every point, ``(n_points, n_continuous_columns)``.

        The values are NaN if none are possible.
        """
        found = [self.best(*one) for one in zip(front.decisions, front.values.tolist(), strict=True)]
        missing = np.full(len(self.columns), np.nan)
        return np.array([missing if one is None else one for one in found]).reshape(len(front), len(missing))

    @cached_property
    def _session(self) -> Session:
        """Return a session for the linear program over the continuous columns."""
        from shortlist.milp.backends import open_solver

        program, columns = self._named.program, self.columns
        goals = [program.objectives[number].costs[columns] for number, *_ in self._goals]
        rows = program.rows[[number for number, *_ in self._rows]][:, columns]
        n_rows = len(self._rows) + len(goals)
        costs = np.zeros(len(columns))
        for (_, sign, _, _, step), own in zip(self._goals, goals, strict=True):
            costs += sign * own / (float(step) or 1.0)
        part = Program(
            rows=sparse.csr_array(sparse.vstack([rows, *(sparse.csr_array(own[None, :]) for own in goals)])),
            row_lower=np.full(n_rows, -np.inf),
            row_upper=np.full(n_rows, np.inf),
            column_lower=program.column_lower[columns],
            column_upper=program.column_upper[columns],
            integer=np.zeros(len(columns), dtype=bool),
            objectives=(LinearObjective(Objective("steps", scale=None), costs),),
        )
        return open_solver("highs").open(part)


def _simple(value: float) -> Fraction:
    return Fraction(value).limit_denominator(FINEST_PART)
