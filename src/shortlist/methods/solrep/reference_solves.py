"""The programs of reference points, in chunks or one by one where the front is worst known."""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist.arrays import Points
from shortlist.errors import BadInputError
from shortlist.methods.integer.bounded_solves import LimitReachedError, safe_weights
from shortlist.methods.integer.integer_objectives import (
    UNLIMITED,
    IntegerObjectives,
    Vector,
    integer_objectives,
)
from shortlist.methods.solrep.limited_solves import ProgramOutcome, Record, finished
from shortlist.methods.solrep.reference_points import (
    SolveSetting,
    best_start,
    neighbour_order,
    remembered_vectors,
)
from shortlist.methods.solrep.unexplored_boxes import UnexploredBoxes, inner_corner
from shortlist.milp.backends import open_solver
from shortlist.milp.program import Program
from shortlist.milp.solution import NO_LIMITS, Limits
from shortlist.milp.whole_rows import largest_sum, tells_apart
from shortlist.results.proof import Status
from shortlist.runs import Finished, Unit, Work, run_units
from shortlist.runs.budget import Budget
from shortlist.runs.workers import Where

ROUNDING = 1e-6
"""What an optimum of a linear program may be too large by, relative to its size."""


class RelaxedBounds:
    """A program without integrality in HiGHS's memory; it starts each solve from the basis of the last one.

    HiGHS whatever solves the integer programs: not every backend takes continuous columns.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0]))
    >>> weight = LinearObjective(Objective("weight"), np.array([4.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, weight]
    ... )
    >>> relaxed = RelaxedBounds(shop, Budget())
    >>> relaxed.least(np.array([0, 0]), np.array([8, 2])), relaxed.least(np.array([0, 0]), np.array([2, 2]))
    (array([5, 1]), None)
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        integers = integer_objectives(program)
        top = np.full(len(integers), math.inf)
        rows = program.with_rows(integers.costs.astype(np.float64), -top, top)
        relaxed = dataclasses.replace(rows, integer=np.zeros(program.n_columns, dtype=bool))
        self._costs = integers.costs.astype(np.float64)
        self._rows = program.n_rows + np.arange(len(integers))
        solver = open_solver("highs")
        self._decides = tells_apart(largest_sum(rows), solver.tolerance)
        self._session = solver.open(relaxed, seed=budget.seed)
        self._budget = budget

    def least(self, lower: Vector, upper: Vector, each: Limits = NO_LIMITS) -> Vector | None:
        """Return lower bounds on each objective of the feasible vectors y with ``lower <= y <= upper``.

        None if there is no such vector even without integrality. Bounds that are not found within the limits
        of `each` program stay as in `lower`; all do where the budget has ended, or the numbers are too large
        for the solver's tolerance.
        """
        found = lower.copy()
        if not self._decides or self._budget.stopped:
            return found
        for index, costs in enumerate(self._costs):
            self._session.set_row_bounds(self._rows, found.astype(np.float64), upper.astype(np.float64))
            self._session.set_costs(costs)
            solution = self._session.solve(each.within(self._budget), cancellation=self._budget.cancellation)
            if solution.status is Status.INFEASIBLE:
                return None
            if solution.status is Status.OPTIMAL:
                slack = ROUNDING * max(1.0, abs(solution.bound))
                found[index] = max(int(found[index]), math.ceil(solution.bound - slack))
            if found[index] > upper[index]:
                return None
        return found


SMALL_BOX = 1e-4
"""Boxes below this part of the whole volume are solved at once: their inner corner would mostly be a wasted
program.
"""

Tell: TypeAlias = Callable[[int], None]
"""Receives how many reference points are done."""


@dataclass(frozen=True, eq=False)
class Answers:
    """All that a search has: its records by key, and the limit that ended it, if one did."""

    records: dict[str, Record]
    limit: str = ""


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Reference points for one session, and what is known before; it pickles."""

    anchors: tuple[ProgramOutcome, ...]
    points: dict[int, Vector]
    first: int
    records: dict[str, Record]


def solve_reference_points(
    setting: SolveSetting,
    anchors: Sequence[ProgramOutcome],
    points: Points,
    *,
    first: int,
    records: dict[str, Record],
    chunk_size: int,
    workers: Where,
    tell: Tell,
) -> Answers:
    """Minimise objective `first` below each of `points`, in chunks with a session each."""
    order = neighbour_order(points)
    alone = workers == 1
    units = []
    for start in range(0, len(order), chunk_size):
        numbers = order[start : start + chunk_size]
        own = {key: records[key] for key in (f"point {i}" for i in numbers) if key in records}
        chunk = _Chunk(tuple(anchors), {i: points[i] for i in numbers}, first, own)
        extra = (functools.partial(_offset, tell, start),) if alone else ()
        units.append(Unit(f"chunk {start // chunk_size}", _solve_chunk, (setting, chunk, *extra)))
    limit, done, cancellation = "", 0, setting.budget.cancellation
    tell(0)
    work = Work(workers, setting.study, cancellation=cancellation)
    for _, (solved, stopped) in run_units(units, work, stage="reference points", parts=_solved):
        records.update(solved)
        done += len(solved)
        limit = limit or stopped
        if not alone:
            tell(done)
    if not limit and cancellation.cancelled:
        limit = "interrupted"
    return Answers(records, limit)


def _solved(_key: str, result: tuple[dict[str, Record], str]) -> list[Finished]:
    return [finished(record) for record in result[0].values()]


def _offset(tell: Tell, start: int, done: int) -> None:
    """Report points of a chunk after those of earlier chunks."""
    tell(start + done)


def _solve_chunk(
    setting: SolveSetting, chunk: _Chunk, tell: Tell | None = None
) -> tuple[dict[str, Record], str]:
    solves = setting.open()
    known = remembered_vectors(solves, chunk.anchors)
    corners = np.array(known)
    weights, _ = safe_weights(
        solves.integers, chunk.first, corners.min(axis=0), corners.max(axis=0), solves.largest_objective
    )
    answered: list[tuple[Vector, ProgramOutcome]] = []
    solved: dict[str, Record] = {}
    for done, (index, point) in enumerate(chunk.points.items(), start=1):
        key = f"point {index}"
        upper = point.copy()
        upper[chunk.first] = UNLIMITED
        record = chunk.records.get(key)
        earlier = _answer_from(answered, upper) if record is None else None
        if earlier is not None:
            record = Record(key, earlier, 0)
            setting.study.record(finished(record))
        if record is None:
            start = best_start(known, weights, upper)
            try:
                record = setting.solve(solves, key, weights, upper, start)
            except LimitReachedError as stop:
                return solved, stop.limit
        solved[key] = record
        known += remembered_vectors(solves, [record.outcome])
        answered.append((upper, record.outcome))
        if tell is not None:
            tell(done)
    return solved, ""


def _answer_from(answered: Sequence[tuple[Vector, ProgramOutcome]], upper: Vector) -> ProgramOutcome | None:
    """Return the answer that an earlier program with the same weights gives for `upper`."""
    for bounds, outcome in answered:
        if (upper <= bounds).all():
            if outcome.status is Status.INFEASIBLE:
                return outcome
            vector = outcome.vector
            if outcome.status is Status.OPTIMAL and vector is not None and (vector <= upper).all():
                return outcome
    return None


def solve_adaptively(
    setting: SolveSetting,
    anchors: Sequence[ProgramOutcome],
    records: dict[str, Record],
    n_points: int,
    *,
    tell: Tell,
) -> tuple[UnexploredBoxes, Answers]:
    """Solve in the largest unexplored box, again and again.

    Before a box is solved, the relaxation raises its lower limits, and the largest one is chosen anew.
    """
    solves = setting.open()
    integers = solves.integers
    if (integers.upper >= UNLIMITED).any() or (integers.lower <= -UNLIMITED).any():
        raise BadInputError("`objectives` must be bounded for rule 'adaptive'. Bound the columns.")
    relaxed = RelaxedBounds(setting.program, setting.budget)
    known = remembered_vectors(solves, anchors)
    boxes = _first_boxes(integers, anchors, records)
    tell(0)
    limit = ""
    for number in range(n_points):
        chosen = _largest_box(boxes, relaxed, setting)
        if chosen is None:
            break
        inner = not boxes.tried[chosen] and boxes.volumes()[chosen] > SMALL_BOX
        corner = boxes.upper[chosen].copy()
        weights = _balanced_weights(integers, boxes.lower[chosen], corner, solves.largest_objective)
        if inner:
            corner = inner_corner(boxes.lower[chosen], corner)
        # the box is part of the key: a bound of another box, should a resumed search choose otherwise, would
        # prove nothing
        key = f"point {number} below {corner.tolist()} weighing {weights.tolist()}"
        if key not in records:
            start = best_start(known, weights, corner - 1)
            try:
                records[key] = setting.solve(solves, key, weights, corner - 1, start)
            except LimitReachedError as stop:
                limit = stop.limit
                break
        outcome = records[key].outcome
        boxes.add_bound(corner, weights, outcome.bound)
        if outcome.vector is not None:
            known += remembered_vectors(solves, [outcome])
            boxes.add_vector(outcome.vector)
        elif inner:
            boxes.tried[chosen] = True
        elif outcome.status is Status.UNKNOWN:
            boxes.given_up[chosen] = True
        tell(number + 1)
    _tighten(boxes, relaxed, setting)
    return boxes, Answers(records, limit)


def _largest_box(boxes: UnexploredBoxes, relaxed: RelaxedBounds, setting: SolveSetting) -> int | None:
    """Return the largest box when each that could be larger has its limits from the relaxation.

    None if none is open.
    """
    while (chosen := boxes.largest()) is not None and not boxes.relaxed[chosen]:
        _relax(boxes, chosen, relaxed, setting)
    return chosen


def _relax(boxes: UnexploredBoxes, index: int, relaxed: RelaxedBounds, setting: SolveSetting) -> None:
    """Raise the lower limits of a box to those of the relaxation."""
    least = relaxed.least(boxes.lower[index], boxes.upper[index] - 1, setting.each)
    if least is None:
        boxes.close(index)
    else:
        boxes.raise_lower(index, least)


def _tighten(boxes: UnexploredBoxes, relaxed: RelaxedBounds, setting: SolveSetting) -> None:
    """Relax the boxes that decide what may be missing, until no other one decides it."""
    indices = np.flatnonzero(boxes.open)
    lacks = boxes.lacks(indices)
    while len(indices) and not setting.budget.stopped:
        largest = np.unique(lacks.argmax(axis=0))
        deciding = [int(i) for i in largest if lacks[i].any() and not boxes.relaxed[indices[i]]]
        if not deciding:
            break
        for place in deciding:
            _relax(boxes, int(indices[place]), relaxed, setting)
        lacks[deciding] = boxes.lacks(indices[deciding]) * boxes.open[indices[deciding], None]


def _first_boxes(
    integers: IntegerObjectives, anchors: Sequence[ProgramOutcome], records: dict[str, Record]
) -> UnexploredBoxes:
    top = integers.upper + 1
    least = np.array([anchor.bound for anchor in anchors])
    ceiling = np.array([anchor.vector for anchor in anchors]).max(axis=0) + 1
    boxes = UnexploredBoxes(np.maximum(least, integers.lower), top, ceiling)
    for index, (name, anchor) in enumerate(zip(integers.names, anchors, strict=True)):
        assert anchor.vector is not None, "anchors without an answer end the search"
        boxes.add_vector(anchor.vector)
        corner = top.copy()
        corner[index] = anchor.vector[index] + 1
        boxes.add_bound(corner, np.ones(len(top), dtype=np.int64), records[f"anchor {name}"].outcome.bound)
    return boxes


def _balanced_weights(integers: IntegerObjectives, lower: Vector, upper: Vector, most: int) -> Vector:
    """Return weights that make a side of the box ``lower <= y < upper`` count the same in every objective."""
    sides = np.maximum(upper - lower, 1).astype(np.float64)
    size = np.maximum(np.abs(integers.lower), np.abs(integers.upper)).astype(np.float64)
    weights = sides.max() / sides
    weights *= min(1.0, most / 2 / float(weights @ size))
    rounded: Vector = np.maximum(1, np.rint(weights)).astype(np.int64)
    return rounded
