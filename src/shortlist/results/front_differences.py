"""Differences between two points of a front, and between two fronts over the same objectives."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.errors import BadInputError
from shortlist.results.front import STAGED_METHODS, Front, values_at


class Fate(StrEnum):
    """Fate of a point of an earlier front."""

    SAME = "the same"
    CHANGED = "changed"
    REPLACED = "reached by another choice"
    DOMINATED = "dominated now"
    GONE = "not listed now"
    NEW = "not listed before"


@dataclass(frozen=True)
class PointFate:
    """Fate of a point of an earlier front, or a new point."""

    fate: Fate
    """``SAME``: the same choice with the same values. ``CHANGED``: the same choice with other values.
    ``REPLACED``: the same values, with another choice. ``DOMINATED``: the choice is missing in the present
    front, and a present point dominates its values. ``GONE``: the choice is missing, and no present point
    dominates or equals its values. ``NEW``: neither choice nor values were in the earlier front. As a front
    holds one of several choices with equal values, a missing choice may still be possible.
    """
    before: int | None
    """Index of the point in the earlier front; None for a new point."""
    now: int | None
    """Index in the present front; for a dominated point, the index of its first dominator; None for a point
    that is gone.
    """
    changes: dict[str, float]
    """Increase of each objective's value, by name, rounded once; empty if the point is missing in one of the
    fronts.
    """


def point_changes(front: Front, first: int, second: int) -> dict[str, float]:
    """Return the increase of each objective from the first to the second point, rounded once."""
    changes = {}
    for goal, ends in zip(front.objectives, front.values[[first, second]].T.tolist(), strict=True):
        was, is_now = _exact(ends, goal.scale)
        changes[goal.name] = _more(was, is_now, goal.scale)
    return changes


def choice_changes(front: Front, first: int, second: int) -> dict[str, tuple[Any, Any]]:
    """Return the candidates, or columns of a program, that differ between two points, with both values.

    If the members of a committee vote, the threshold of votes is reported as ``votes above``.
    """
    one, other = values_at(front, first), values_at(front, second)
    found: dict[str, tuple[Any, Any]] = {
        name: (here, there)
        for name, here, there in zip(one, one.values(), other.values(), strict=True)
        if here != there
    }
    votes = front.extras.get("thresholds")
    if votes is not None and votes[first] != votes[second]:
        found["votes above"] = votes[first], votes[second]
    return found


def front_differences(before: Front, now: Front) -> list[PointFate]:
    """Return the fate of every point of an earlier front, and the new points.

    Points are matched by their choices, by name; a candidate of only one front counts as not chosen in the
    other front. Points without an equal choice are matched by their values. Values are compared exactly: as
    integers of both scales, or as doubles for an objective without a scale. Raises BadInputError if the
    objectives differ, or one front is of stages and the other is not.

    `before`, `now`: fronts with the same objectives in any order, for instance before and after a change of
    prices or of a model.

    Takes O(n_before · n_now · n_objectives) time if every point has to be compared for dominance.

    The result has the earlier points in the order of their indices, then the new points in the order of their
    indices.
    """
    order = _matching_objectives(before, now)
    columns = [_exact_columns(before, now, own, other) for own, other in enumerate(order)]
    old = [tuple(column) for column in zip(*(own for own, _ in columns), strict=True)]
    new = [tuple(column) for column in zip(*(other for _, other in columns), strict=True)]
    at_values = {values: number for number, values in enumerate(new)}
    scales = [_common_scale(before, now, own, other) for own, other in enumerate(order)]

    def fate(kind: Fate, one: int, other: int | None) -> PointFate:
        changes = {}
        if other is not None:
            ends = zip(before.names, old[one], new[other], scales, strict=True)
            changes = {name: _more(was, is_now, scale) for name, was, is_now, scale in ends}
        return PointFate(kind, one, other, changes)

    found: dict[int, PointFate] = {}
    same_choice = _same_choices(before, now, old, new)
    for one, other in same_choice.items():
        found[one] = fate(Fate.SAME if old[one] == new[other] else Fate.CHANGED, one, other)
    for one, values in enumerate(old):
        if one not in found and values in at_values:
            found[one] = fate(Fate.REPLACED, one, at_values[values])
    rest = [one for one in range(len(before)) if one not in found]
    for one, better in zip(rest, _first_dominating(before, columns, rest), strict=True):
        found[one] = fate(Fate.GONE if better is None else Fate.DOMINATED, one, better)
    known = set(same_choice.values()) | {at_values[values] for values in old if values in at_values}
    fresh = [PointFate(Fate.NEW, None, one, {}) for one in range(len(now)) if one not in known]
    return [found[one] for one in range(len(before))] + fresh


def _matching_objectives(before: Front, now: Front) -> list[int]:
    """Return, for each objective of the earlier front, its index in the present front."""
    goals = [{(goal.sense, goal.name) for goal in front.objectives} for front in (before, now)]
    if goals[0] != goals[1]:
        told = [all_of(f"{goal.sense} {goal.name}" for goal in front.objectives) for front in (before, now)]
        raise BadInputError(f"two fronts must have the same objectives, got {told[0]}, and then {told[1]}.")
    order = [now.names.index(name) for name in before.names]
    for goal, other in zip(before.objectives, (now.objectives[place] for place in order), strict=True):
        if goal.unit and other.unit and goal.unit != other.unit:
            raise BadInputError(
                f"two fronts must have the same units, but {goal.name} is in {goal.unit}, and then in "
                f"{other.unit}."
            )
    if (before.method in STAGED_METHODS) != (now.method in STAGED_METHODS):
        raise BadInputError("two fronts must be of the same kind, but only one of them is of stages.")
    return order


def _exact(values: Sequence[float], scale: int | None) -> list[float]:
    """Return values times their scale, as Python's integers; unchanged without a scale."""
    return list(values) if scale is None else [round(value * scale) for value in values]


def _more(was: float, is_now: float, scale: int | None) -> float:
    """Return the difference of two values from :func:`_exact`, in the user's units."""
    return 0.0 if was == is_now else (is_now - was) / (scale or 1)


def _common_scale(before: Front, now: Front, own: int, other: int) -> int | None:
    """Return a scale that makes an objective integer in both fronts; None if one has no scale."""
    scales = before.objectives[own].scale, now.objectives[other].scale
    return None if scales[0] is None or scales[1] is None else math.lcm(scales[0], scales[1])


def _exact_columns(before: Front, now: Front, own: int, other: int) -> tuple[list[float], list[float]]:
    """Return the values of an objective in both fronts in a form that compares exactly."""
    scale = _common_scale(before, now, own, other)
    both = []
    for front, place in ((before, own), (now, other)):
        goal = front.objectives[place]
        step = 1 if scale is None else scale // (goal.scale or 1)
        values = _exact(front.values[:, place].tolist(), None if scale is None else goal.scale)
        both.append([value * step for value in values])
    return both[0], both[1]


def _same_choices(
    before: Front, now: Front, old: Sequence[tuple[float, ...]], new: Sequence[tuple[float, ...]]
) -> dict[int, int]:
    """Return pairs of indices of points with equal choices; pairs with equal values come first.

    Every point is in one pair at most.
    """
    common = [name for name in before.candidates if name in set(now.candidates)]
    voted = all(front.extras.get("thresholds") is not None for front in (before, now))
    keys = [_choice_keys(front, common, voted=voted) for front in (before, now)]
    places: dict[bytes, list[int]] = {}
    for number, key in enumerate(keys[1]):
        if key is not None:
            places.setdefault(key, []).append(number)
    found: dict[int, int] = {}
    for must_equal in (True, False):
        for one, key in enumerate(keys[0]):
            left = [] if key is None or one in found else places.get(key, [])
            other = next((number for number in left if not must_equal or old[one] == new[number]), None)
            if other is not None:
                found[one] = other
                left.remove(other)
    return found


def _choice_keys(front: Front, common: Sequence[str], *, voted: bool) -> list[bytes | None]:
    """Return the choice of the common candidates at each point; None if another candidate is chosen."""
    nothing = -1 if front.method in STAGED_METHODS else 0
    place = {name: number for number, name in enumerate(front.candidates)}
    own = np.array([name not in set(common) for name in front.candidates], dtype=bool)
    elsewhere = (front.decisions[:, own] != nothing).any(axis=1)
    chosen = np.ascontiguousarray(front.decisions[:, [place[name] for name in common]], dtype=np.int64)
    votes = front.extras["thresholds"] if voted else [0] * len(front)
    return [
        None if out else row.tobytes() + str(vote).encode()
        for out, row, vote in zip(elsewhere.tolist(), chosen, votes, strict=True)
    ]


def _first_dominating(
    before: Front, columns: Sequence[tuple[list[float], list[float]]], rest: Sequence[int]
) -> list[int | None]:
    """Return the first present point that dominates each of the given earlier points; None if none does.

    No given point has the same values as a present point, so a present point dominates if it is at least as
    good in each objective.
    """
    ranks = [_ranks(*column, sign=goal.sign) for column, goal in zip(columns, before.objectives, strict=True)]
    old, new = (np.column_stack([both[side] for both in ranks]) for side in (0, 1))
    found: list[int | None] = []
    for one in rest:
        beaten = (new <= old[one]).all(axis=1).tolist()
        found.append(beaten.index(True) if True in beaten else None)
    return found


def _ranks(old: list[float], new: list[float], *, sign: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ranks of the values of two fronts among all values together; a lower rank is better."""
    order = {value: sign * rank for rank, value in enumerate(sorted({*old, *new}))}
    return (
        np.array([order[value] for value in old], dtype=np.int64),
        np.array([order[value] for value in new], dtype=np.int64),
    )
