"""Fronts of programs, checked again against the program as read."""

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from shortlist._words import all_of
from shortlist.errors import BadInputError
from shortlist.exact import seen
from shortlist.methods.boxes import BoxSearch
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import exact_program
from shortlist.programs.exact_check import broken_limits, keeps_all, leaves_nothing
from shortlist.programs.named_program import NamedProgram, chosen_objectives, with_steps
from shortlist.results.front import Front
from shortlist.runs.budget import Budget

FINEST_PART = 10**6
"""Continuous columns are taken for the nearest fractions with a denominator up to this."""


def recheck_front(named: NamedProgram, front: Front, *, budget: Budget | None = None) -> FrontCheck:
    """Check every point of a front, and ask again what it claims of the others.

    Each solution is checked in integers against rows and bounds as read, its objectives are added up again,
    and no point may dominate another. Continuous columns are no part of a front: HiGHS proposes some for each
    solution again, and where they do not keep every row in fractions, they rest on its tolerance. What is
    said to be complete is asked of a solver that did not find it, as far as sums of integers do not prove it
    (:func:`shortlist.methods.boxes.search_boxes`).

    Raises BadInputError if the front is of another program: its objectives or columns are others.

    `named`: the program as read, with every objective it has. `front`: what was found for it.

    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> from shortlist.programs.solve import solve_program
    >>> from shortlist.results.objective import Objective
    >>> costs = [LinearObjective(Objective(n), np.array(c)) for n, c in (("a", [1.0, 2]), ("b", [2.0, 1]))]
    >>> program = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=costs
    ... )
    >>> named = NamedProgram(program, ("x", "y"), ("row",))
    >>> recheck_front(named, solve_program(named)).status
    'rechecked'
    """
    budget = budget or Budget()
    known = [linear.objective.name for linear in named.program.objectives]
    if missing := [name for name in front.names if name not in known]:
        raise BadInputError(
            f"the front must be of this program, which lacks its objective{'s' * (len(missing) > 1)} "
            f"{all_of(missing)}. Name the program it was made from."
        )
    named = chosen_objectives(named, [(one.sense, one.name) for one in front.objectives])
    if named.candidates != front.candidates:
        raise BadInputError(
            f"the front must be of this program, whose {len(named.candidates):,} integer columns differ from "
            f"the {len(front.candidates):,} of the front. Name the program it was made from."
        )
    steps = dict(front.extras.get("program", {}).get("tolerance", {}))
    failures, n_near = _wrong_points(named, front, steps)
    if failures:
        return FrontCheck(failures, len(front), front.proof.kind, None, finder_of(front), budget.elapsed)
    program = exact_program(with_steps(named, steps).program)
    if leaves_nothing(program):  # then the front is empty, and objective space is one empty box
        nowhere = BoxSearch(1, n_by_sums=1, n_by_solver=0, n_open=0, solver="")
        return FrontCheck((), 0, front.proof.kind, nowhere, "", budget.elapsed)
    found = check_claims(program, front, budget=budget, exact=bool(steps))
    return dataclasses.replace(found, n_completed=n_near)


def _wrong_points(
    named: NamedProgram, front: Front, steps: Mapping[str, float]
) -> tuple[tuple[str, ...], int]:
    """Say which solutions break a row or a bound, or have other objectives than their points.

    With it comes how many have continuous columns that keep rows within the tolerance of HiGHS only.
    """
    said = []
    solutions = front.decisions.astype(np.int64)
    for number, broken in enumerate(broken_limits(named, solutions)):
        if broken:
            said.append(f"the solution of point {number} breaks {broken}")
    said = said or _other_values(named.program, front, solutions)
    if said or named.program.integer.all():
        return tuple(said), 0
    completed = [_completion(named.program, front, number, steps) for number in range(len(front))]
    return tuple(
        f"the solution of point {number} has no continuous part with these values"
        for number, exact in enumerate(completed)
        if exact is None
    ), completed.count(False)


def _other_values(program: Program, front: Front, solutions: np.ndarray) -> list[str]:
    """Say which points are not the sums of their solutions, as far as only integer columns cost something."""
    from shortlist.methods.integer.integer_objectives import integer_objectives

    even = np.array([not linear.costs[~program.integer].any() for linear in program.objectives])
    left_out = [
        linear if counted else dataclasses.replace(linear, costs=np.zeros(program.n_columns), offset=0.0)
        for linear, counted in zip(program.objectives, even.tolist(), strict=True)
    ]
    integers = integer_objectives(dataclasses.replace(program, objectives=tuple(left_out)))
    factors = np.array([one.sign * (one.scale or 1) for one in integers.objectives])
    sums = (solutions @ integers.costs[:, program.integer].T) * integers.steps + integers.offsets
    values = np.where(even, sums / factors, front.values)
    return [
        f"point {number} has other values than its solution: "
        + ", ".join(
            f"{name} {value:.10g}" for name, value in zip(front.names, values[number].tolist(), strict=True)
        )
        for number in np.flatnonzero((values != front.values).any(axis=1)).tolist()
    ]


def _completion(program: Program, front: Front, number: int, steps: Mapping[str, float]) -> bool | None:
    """Whether continuous columns give a solution its point's values, rounded to steps, and keep every row.

    HiGHS proposes them. False where they keep rows within its tolerance only, None where it finds none.
    """
    from shortlist.milp.backends import open_solver

    whole = np.flatnonzero(program.integer)
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    lower[whole] = upper[whole] = front.decisions[number]
    most = np.array(
        [
            linear.objective.sign * float(seen(value) - seen(linear.offset))
            for linear, value in zip(program.objectives, front.values[number].tolist(), strict=True)
        ]
    )
    least = most - np.array([steps.get(linear.objective.name, 0.0) for linear in program.objectives])
    fixed = dataclasses.replace(program, column_lower=lower, column_upper=upper, objectives=())
    fixed = fixed.with_rows(program.minimised_costs(), least, most)
    values = open_solver("highs").open(fixed).solve().values
    if values is None:
        return None
    return keeps_all(fixed, [Fraction(value).limit_denominator(FINEST_PART) for value in values.tolist()])
