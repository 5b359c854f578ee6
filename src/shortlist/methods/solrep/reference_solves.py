"""Programs of reference points, in chunks, or one by one in the largest unexplored box."""

import functools
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
)
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.solrep.limited_solves import ProgramOutcome, Record, finished
from shortlist.methods.solrep.reference_points import (
    SolveSetting,
    best_start,
    neighbour_order,
    remembered_vectors,
)
from shortlist.methods.solrep.unexplored_boxes import UnexploredBoxes, inner_corner
from shortlist.results.proof import Status
from shortlist.runs import Finished, Unit, Work, run_units
from shortlist.runs.budget import Budget
from shortlist.runs.workers import Where

SMALL_BOX = 1e-4
"""Share of the whole volume: a smaller box is solved as a whole, as a program for its inner corner would
mostly find nothing.
"""

Tell: TypeAlias = Callable[[int], None]
"""Function that receives the number of finished reference points."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Records of a search by key, and the limit that ended it, if any."""

    records: dict[str, Record]
    limit: str = ""


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Reference points for one session, and the earlier answers; a chunk can be pickled."""

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
    """Report the number of finished points: `done` in this chunk, and `start` in earlier chunks."""
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
    """Return the answer for `upper` implied by an earlier program with the same weights, or None."""
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
    """Solve in the largest unexplored box, repeatedly.

    Before each solve the relaxation raises the lower limits of boxes, and the largest box is chosen anew.
    """
    solves = setting.open()
    integers = solves.integers
    if (integers.upper >= UNLIMITED).any() or (integers.lower <= -UNLIMITED).any():
        raise BadInputError("`objectives` must be bounded for rule 'adaptive'. Bound the columns.")
    known = remembered_vectors(solves, anchors)
    boxes = _first_boxes(integers, anchors, records)
    tell(0)
    limit = ""
    for number in range(n_points):
        chosen = _largest_box(boxes, solves.relaxed)
        if chosen is None:
            break
        inner = not boxes.tried[chosen] and boxes.volumes()[chosen] > SMALL_BOX
        corner = boxes.upper[chosen].copy()
        weights = _balanced_weights(integers, boxes.lower[chosen], corner, solves.largest_objective)
        if inner:
            corner = inner_corner(boxes.lower[chosen], corner)
        # the box is part of the key: if a resumed search chose another box, its bound would prove nothing
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
    _tighten(boxes, solves.relaxed, setting.budget)
    return boxes, Answers(records, limit)


def _largest_box(boxes: UnexploredBoxes, relaxed: RelaxedZones) -> int | None:
    """Return the largest box, after raising the lower limits of all boxes that could be larger.

    Returns None if no box is open.
    """
    while (chosen := boxes.largest()) is not None and not boxes.relaxed[chosen]:
        _relax(boxes, chosen, relaxed)
    return chosen


def _relax(boxes: UnexploredBoxes, index: int, relaxed: RelaxedZones) -> None:
    """Raise the lower limits of a box to the lower limits of its relaxation."""
    least = relaxed.least(boxes.lower[index], boxes.upper[index] - 1)
    if least is None:
        boxes.close(index)
    else:
        boxes.raise_lower(index, least)


def _tighten(boxes: UnexploredBoxes, relaxed: RelaxedZones, budget: Budget) -> None:
    """Raise the lower limits of boxes until all that determine the possible loss are raised."""
    indices = np.flatnonzero(boxes.open)
    lacks = boxes.lacks(indices)
    while len(indices) and not budget.stopped:
        largest = np.unique(lacks.argmax(axis=0))
        deciding = [int(i) for i in largest if lacks[i].any() and not boxes.relaxed[indices[i]]]
        if not deciding:
            break
        for place in deciding:
            _relax(boxes, int(indices[place]), relaxed)
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
    """Return weights that make the sides of the box ``lower <= y < upper`` count the same."""
    sides = np.maximum(upper - lower, 1).astype(np.float64)
    size = np.maximum(np.abs(integers.lower), np.abs(integers.upper)).astype(np.float64)
    weights = sides.max() / sides
    weights *= min(1.0, most / 2 / float(weights @ size))
    rounded: Vector = np.maximum(1, np.rint(weights)).astype(np.int64)
    return rounded
