"""The programs of reference points: in chunks known beforehand, or one after the other where the front is worst known."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist.arrays import Points
from shortlist.errors import BadInputError
from shortlist.front import Status
from shortlist.methods.anchor_points import SolveSetting, best_start, remembered
from shortlist.methods.bounded_solves import LARGEST_OBJECTIVE, LimitReachedError, safe_weights
from shortlist.methods.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.methods.limited_solves import Outcome
from shortlist.methods.reference_points import neighbour_order
from shortlist.methods.solve_journal import Record
from shortlist.methods.unexplored_boxes import UnexploredBoxes
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.units import Unit, run_units

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

    setting: SolveSetting
    anchors: tuple[Outcome, ...]
    points: dict[int, Vector]
    first: int
    records: dict[str, Record]


def solve_reference_points(
    setting: SolveSetting,
    anchors: Sequence[Outcome],
    points: Points,
    *,
    first: int,
    records: dict[str, Record],
    chunk_size: int,
    n_jobs: int | None,
    tell: Tell,
    cancellation: Cancellation | None,
) -> Answers:
    """Minimise objective `first` below each of `points`, in chunks with a session each."""
    order = neighbour_order(points)
    alone = n_jobs == 1
    units = []
    for start in range(0, len(order), chunk_size):
        numbers = order[start : start + chunk_size]
        own = {key: records[key] for key in (f"point {i}" for i in numbers) if key in records}
        chunk = _Chunk(setting, tuple(anchors), {i: points[i] for i in numbers}, first, own)
        extra = (cancellation, functools.partial(_offset, tell, start)) if alone else ()
        units.append(Unit(f"chunk {start // chunk_size}", _solve_chunk, (chunk, *extra)))
    limit, done = "", 0
    tell(0)
    for _, (solved, stopped) in run_units(units, n_jobs=n_jobs, cancellation=cancellation):
        records.update(solved)
        done += len(solved)
        limit = limit or stopped
        if not alone:
            tell(done)
    if not limit and cancellation is not None and cancellation.cancelled:
        limit = "interrupted"
    return Answers(records, limit)


def _offset(tell: Tell, start: int, done: int) -> None:
    """Report points of a chunk after those of earlier chunks."""
    tell(start + done)


def _solve_chunk(
    chunk: _Chunk, cancellation: Cancellation | None = None, tell: Tell | None = None
) -> tuple[dict[str, Record], str]:
    """Solve for reference points one after the other; return their records, and the limit that was hit."""
    solves = chunk.setting.open(cancellation)
    known = remembered(solves, chunk.anchors)
    corners = np.array(known)
    weights, _ = safe_weights(solves.integers, chunk.first, corners.min(axis=0), corners.max(axis=0))
    answered: list[tuple[Vector, Outcome]] = []
    solved: dict[str, Record] = {}
    for done, (index, point) in enumerate(chunk.points.items(), start=1):
        key = f"point {index}"
        upper = point.copy()
        upper[chunk.first] = UNLIMITED
        record = chunk.records.get(key)
        earlier = _answer_from(answered, upper) if record is None else None
        if earlier is not None:
            record = Record(key, earlier, 0)
            chunk.setting.journal.append(record)
        if record is None:
            start = best_start(known, weights, upper)
            try:
                record = chunk.setting.solve(solves, key, weights, upper, start)
            except LimitReachedError as stop:
                return solved, stop.limit
        solved[key] = record
        known += remembered(solves, [record.outcome])
        answered.append((upper, record.outcome))
        if tell is not None:
            tell(done)
    return solved, ""


def _answer_from(answered: Sequence[tuple[Vector, Outcome]], upper: Vector) -> Outcome | None:
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
    anchors: Sequence[Outcome],
    records: dict[str, Record],
    n_points: int,
    *,
    tell: Tell,
    cancellation: Cancellation | None,
) -> tuple[UnexploredBoxes, Answers]:
    """Solve in the largest unexplored box, again and again."""
    solves = setting.open(cancellation)
    integers = solves.integers
    if (integers.upper >= UNLIMITED).any() or (integers.lower <= -UNLIMITED).any():
        raise BadInputError("objectives must be bounded for rule 'adaptive'. Bound the columns.")
    known = remembered(solves, anchors)
    ceiling = np.array(known).max(axis=0) + 1
    boxes = _first_boxes(integers, anchors, records)
    tell(0)
    for number in range(n_points):
        chosen = boxes.largest(ceiling)
        if chosen is None:
            break
        corner = boxes.upper[chosen].copy()
        weights = _balanced_weights(integers, boxes.lower[chosen], np.minimum(corner, ceiling))
        key = f"point {number}"
        if key not in records:
            start = best_start(known, weights, corner - 1)
            try:
                records[key] = setting.solve(solves, key, weights, corner - 1, start)
            except LimitReachedError as stop:
                return boxes, Answers(records, stop.limit)
        outcome = records[key].outcome
        boxes.add_bound(corner, weights, outcome.bound)
        if outcome.vector is not None:
            known += remembered(solves, [outcome])
            boxes.add_vector(outcome.vector)
        elif outcome.status is Status.UNKNOWN:
            boxes.give_up(chosen)
        tell(number + 1)
    return boxes, Answers(records)


def _first_boxes(
    integers: IntegerObjectives, anchors: Sequence[Outcome], records: dict[str, Record]
) -> UnexploredBoxes:
    """Return what the anchors leave unexplored."""
    top = integers.upper + 1
    least = np.array([anchor.bound for anchor in anchors])
    boxes = UnexploredBoxes(np.maximum(least, integers.lower), top)
    for index, (name, anchor) in enumerate(zip(integers.names, anchors, strict=True)):
        assert anchor.vector is not None, "anchors without an answer end the search"
        boxes.add_vector(anchor.vector)
        corner = top.copy()
        corner[index] = anchor.vector[index] + 1
        boxes.add_bound(corner, np.ones(len(top), dtype=np.int64), records[f"anchor {name}"].outcome.bound)
    return boxes


def _balanced_weights(integers: IntegerObjectives, lower: Vector, upper: Vector) -> Vector:
    """Return weights that make a side of the box ``lower <= y < upper`` count the same in every objective."""
    sides = np.maximum(upper - lower, 1).astype(np.float64)
    size = np.maximum(np.abs(integers.lower), np.abs(integers.upper)).astype(np.float64)
    weights = sides.max() / sides
    weights *= min(1.0, LARGEST_OBJECTIVE / 2 / float(weights @ size))
    rounded: Vector = np.maximum(1, np.rint(weights)).astype(np.int64)
    return rounded
