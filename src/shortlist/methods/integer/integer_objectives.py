"""Objectives of a program as exact integers, and the archive of distinct points of a search."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Points
from shortlist.errors import BadInputError, SolverError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, are_integers_over
from shortlist.milp.program import LinearObjective, Program
from shortlist.results.objective import Objective

Vector: TypeAlias = NDArray[np.int64]
"""One integer per objective, ``(n_objectives,)``, minimised, in steps."""

UNLIMITED = 2**60
"""Number that stands for an infinite bound on an objective; every true value is below 2^53."""


@dataclass(frozen=True, eq=False)
class IntegerObjectives:
    """Objectives of a program, minimised, as integers in steps.

    The costs of objective j, times its scale, are integers with greatest common divisor ``steps[j]``. These
    integers are divided by ``steps[j]`` and stay integers, so two different values are at least 1 apart. A
    bound that excludes a value is that value minus 1.

    `objectives`: objectives of the program, with the integer scales in use. `costs`, ``(n_objectives,
    n_columns)``: coefficients to minimise, in steps. `steps`, `offsets`, ``(n_objectives,)``: a front's
    point is ``steps * vector + offsets``. `lower`, `upper`, ``(n_objectives,)``: limits of the objectives,
    in steps, from the bounds of the columns alone; -+ :data:`UNLIMITED` if there are none.
    """

    objectives: tuple[Objective, ...]
    costs: NDArray[np.int64]
    steps: Vector
    offsets: Vector
    lower: Vector
    upper: Vector

    def __len__(self) -> int:
        return len(self.objectives)

    @property
    def names(self) -> list[str]:
        """Names of the objectives, in order."""
        return [objective.name for objective in self.objectives]

    def vector(self, columns: NDArray[np.float64]) -> Vector:
        """Return the objectives of a solution, in steps, computed in integers from its rounded columns.

        Raises SolverError if a value reaches 2^53.
        """
        if (np.abs(self.costs).astype(np.float64) @ np.abs(columns)).max(initial=0.0) >= LARGEST_INTEGER:
            raise SolverError(
                "the solver returned columns so large that objectives pass 2^53. Bound the columns."
            )
        charged = self.costs.any(axis=0)
        vector: Vector = self.costs[:, charged] @ np.rint(columns[charged]).astype(np.int64)
        return vector

    def points(self, vectors: Sequence[Vector] | Points) -> Points:
        """Convert vectors in steps to the points of a front, ``(n_points, n_objectives)``."""
        points: Points = (
            np.asarray(vectors, dtype=np.int64).reshape(-1, len(self)) * self.steps + self.offsets
        )
        return points


def integer_objectives(program: Program) -> IntegerObjectives:
    """Return the objectives of `program` as exact integers, minimised.

    Costs are decimals. Each objective is multiplied by its own ``Objective.scale``. If this scale is None,
    the objective is multiplied by the smallest power of ten up to 10^9 that makes every cost and the offset
    an integer.

    Raises BadInputError if there are fewer than two objectives or two of one name, or if a cost times the
    scale is not an integer. A cost of a column that is not integer, or a value that may reach 2^53, is an
    error too.

    >>> from shortlist.milp.program import make_program
    >>> price = LinearObjective(Objective("price", scale=None), np.array([1.25, 3.5]))
    >>> chosen = LinearObjective(Objective("chosen", "max"), np.array([1.0, 1.0]))
    >>> program = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, chosen]
    ... )
    >>> integers = integer_objectives(program)
    >>> integers.objectives[0].scale, integers.steps.tolist(), integers.costs.tolist()
    (100, [25, 1], [[5, 14], [-1, -1]])
    """
    linears = program.objectives
    names = [linear.objective.name for linear in linears]
    if len(linears) < 2:
        raise BadInputError(
            f"the program must have at least two objectives for a front, got {all_of(names)}."
        )
    if len(set(names)) < len(names):
        raise BadInputError("objective", "names must differ", all_of(names), "Rename one.")
    whole = [_whole(linear, program) for linear in linears]
    signs = np.array([linear.objective.sign for linear in linears])
    costs = np.array([costs for _, costs, _ in whole], dtype=np.int64) * signs[:, None]
    steps = np.array([math.gcd(*row.tolist()) or 1 for row in costs], dtype=np.int64)
    costs //= steps[:, None]
    lower, upper = _activity(costs, program)
    return IntegerObjectives(
        objectives=tuple(objective for objective, _, _ in whole),
        costs=costs,
        steps=steps,
        offsets=np.array([offset for _, _, offset in whole], dtype=np.int64) * signs,
        lower=lower,
        upper=upper,
    )


def _whole(linear: LinearObjective, program: Program) -> tuple[Objective, NDArray[np.float64], float]:
    """Return the objective with its integer scale, and its costs and offset times that scale."""
    name, scale = linear.objective.name, linear.objective.scale
    continuous = np.flatnonzero((linear.costs != 0) & ~program.integer)
    if len(continuous):
        raise BadInputError(
            f"objective {name!r} must cost only integer columns to be exact, but column {continuous[0]} is "
            "continuous."
        )
    terms = np.append(linear.costs, linear.offset)
    scales = [10**power for power in range(MOST_DECIMALS + 1)] if scale is None else [scale]
    for factor in scales:
        if are_integers_over(terms, factor).all():
            break
    else:
        wrong = terms[np.argmax(np.abs(terms * factor - np.rint(terms * factor)))]
        way_out = (
            f"Round them to at most {len(scales) - 1} decimals."
            if scale is None
            else "Give the objective `scale=None` to find one."
        )
        raise BadInputError(
            f"costs of objective {name!r} times {factor} must be integers, got {wrong}. {way_out}"
        )
    whole = np.rint(terms * factor)
    size = np.maximum(np.abs(program.column_lower), np.abs(program.column_upper))
    charged = whole[:-1] != 0
    values = np.abs(whole[:-1][charged]) @ size[charged] + abs(whole[-1])
    if np.abs(whole).sum() >= LARGEST_INTEGER or (np.isfinite(values) and values >= LARGEST_INTEGER):
        raise BadInputError(
            f"objective {name!r} times {factor} must stay below 2^53 to be exact, got up to {values:.3g}. "
            "Round its costs to fewer decimals."
        )
    return dataclasses.replace(linear.objective, scale=factor), whole[:-1], whole[-1]


def _activity(costs: NDArray[np.int64], program: Program) -> tuple[Vector, Vector]:
    """Return the limits of the objectives implied by the bounds of the columns."""
    with np.errstate(invalid="ignore"):
        low, high = costs * np.ceil(program.column_lower), costs * np.floor(program.column_upper)
    low, high = np.where(costs == 0, 0.0, low), np.where(costs == 0, 0.0, high)
    lower, upper = np.minimum(low, high).sum(axis=1), np.maximum(low, high).sum(axis=1)
    limits = np.clip([lower, upper], -UNLIMITED, UNLIMITED).astype(np.int64)
    return limits[0], limits[1]


Columns = NDArray[np.int64]


class Archive:
    """Distinct vectors in the order in which a search found them.

    Adding takes constant time on average, and look-up constant time.

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
        """Vectors, ``(n_points, n_objectives)``, as a view that later additions do not change."""
        return self._stored[: len(self)]

    def add(self, vector: Vector, columns: Columns | None = None) -> int:
        """Return the index of a vector; a new vector is stored with its solution, the integer columns."""
        number = self._numbers.setdefault(tuple(vector.tolist()), len(self))
        if number == len(self):
            if number == len(self._stored):
                self._stored = np.vstack([self._stored, np.empty_like(self._stored)])
            self._stored[number] = vector
            self._columns.append(columns)
        return number

    def columns_of(self, vector: Vector) -> Columns:
        """Return the first solution stored for `vector`.

        Raises KeyError if the vector is missing, or has no solution.
        """
        columns = self._columns[self._numbers[tuple(vector.tolist())]]
        if columns is None:
            raise KeyError(tuple(vector.tolist()))
        return columns
