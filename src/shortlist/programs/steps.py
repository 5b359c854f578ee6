"""Objectives with continuous columns, rounded to steps, so that their front is finite."""

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from shortlist.errors import BadInputError
from shortlist.milp.program import LinearObjective
from shortlist.milp.whole_rows import implied_bounds
from shortlist.programs.named_program import NamedProgram


def with_steps(named: NamedProgram, steps: Mapping[str, float]) -> NamedProgram:
    """Return a program whose objectives cost integer columns only.

    An objective with a continuous column takes every value of an interval, so its front may have no end. With
    a step ε it becomes a new integer column t, behind the others, with the row ``f <= ε t``. To every
    solution there is then a point that is worse by less than ε in that objective, and no worse in the others.

    Raises BadInputError if such an objective has no step, or another one has.

    `named`: as read. `steps`: the step of each such objective, in its unit.
    """
    program = named.program
    uneven = {
        linear.objective.name: linear
        for linear in program.objectives
        if (linear.costs[~program.integer] != 0).any()
    }
    for name, step in steps.items():
        if name not in uneven:
            raise BadInputError(
                f"`tolerance` names {name!r}, which is no objective with a continuous column. Leave it out."
            )
        if not (math.isfinite(step) and step > 0):
            raise BadInputError("tolerance", f"of {name!r} must be a number above 0", step)
    for name, linear in uneven.items():
        if name not in steps:
            column = named.columns[int(np.argmax((linear.costs != 0) & ~program.integer))]
            raise BadInputError(
                f"objective {name!r} costs the continuous column {column!r}, so its front may have no end. "
                f"Make the column an integer, or pass `tolerance={{{name!r}: 1}}` to round values to "
                "multiples of it."
            )
    for name, step in steps.items():
        named = _stepped(named, name, step)
    return named


def _stepped(named: NamedProgram, name: str, step: float) -> NamedProgram:
    """Return the program with one objective in steps."""
    program = named.program
    number = [linear.objective.name for linear in program.objectives].index(name)
    linear = program.objectives[number]
    sign = linear.objective.sign
    costs = sign * linear.costs
    lower, upper = implied_bounds(program)  # else the steps have no end where a row bounds a column
    with np.errstate(invalid="ignore"):
        ends = np.array([costs * lower, costs * upper])
    ends = np.where(costs == 0, 0.0, ends)
    offset = sign * linear.offset
    least, most = ends.min(axis=0).sum() + offset, ends.max(axis=0).sum() + offset
    objectives = [dataclasses.replace(one, costs=np.append(one.costs, 0.0)) for one in program.objectives]
    objectives[number] = LinearObjective(linear.objective, np.append(np.zeros(len(costs)), sign * step))
    columns = sparse.csr_array(sparse.hstack([program.rows, sparse.csr_array((program.n_rows, 1))]))
    wider = dataclasses.replace(
        program,
        rows=columns,
        column_lower=np.append(program.column_lower, np.floor(least / step)),
        column_upper=np.append(program.column_upper, np.ceil(most / step)),
        integer=np.append(program.integer, True),
        objectives=tuple(objectives),
    )
    wider = wider.with_rows(np.append(costs, -step)[None, :], -np.inf, -offset)
    return dataclasses.replace(
        named,
        program=wider,
        columns=(*named.columns, f"steps of {name}"),
        rows=(*named.rows, f"steps of {name}"),
    )
