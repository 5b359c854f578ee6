"""Rules that pick one point of a front."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import all_of, any_of, did_you_mean, number_text
from shortlist.arrays import Floats, products_in_order
from shortlist.errors import BadInputError, UnmetChoiceError
from shortlist.pickles import saved_from
from shortlist.results.objective import Limit
from shortlist.results.proof import FrontPoints

if TYPE_CHECKING:
    from shortlist.results.intervals import Interval

LimitsAsked: TypeAlias = Mapping[str, float] | Sequence[Limit] | None
"""Limits on objectives. A mapping gives a number by name: at most this for a minimised objective, at least
this for a maximised one. None: no limits.
"""

PICK_RULES = ("ideal", "knee", "weights", "lexicographic")
"""Names of the rules."""

AS_GOOD = "as-good"
"""Name of the rule that takes the cheapest point among the points no worse than the best single choice."""

BESIDE_SINGLE = "beside_single"
"""Name of the fact of a front that was compared with the best single choice: see
:func:`facts_beside_single`.
"""

SCORE_DIGITS = 12
"""Number of decimals of a score whose largest weight is 1; rounding errors then make no difference."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Pick:
    """One point of a front, chosen by a rule."""

    index: int
    """Index of the point, from 0."""
    values: dict[str, float]
    """Objectives of the point by name, in the user's signs and units."""
    decision: NDArray[np.integer[Any]]
    """Decision at the point, ``(n_candidates,)``: 0/1 per candidate, or the stage per feature."""
    rule: str
    """Rule that picked the point."""


class AskedRule(NamedTuple):
    """Rule as the user typed it, with the part after its colon."""

    rule: int | str
    weights: dict[str, float] | None = None
    order: tuple[str, ...] | None = None


def read_rule(rule: int | str) -> AskedRule:
    """Parse the index of a point or a rule, as typed on the command line.

    Raises BadInputError if an index is negative, or the part after the colon cannot be read.

    >>> read_rule("12").rule, read_rule("lexicographic:cost, defects").order
    (12, ('cost', 'defects'))
    >>> read_rule("weights:cost=2,defects=1").weights
    {'cost': 2.0, 'defects': 1.0}
    """
    if not isinstance(rule, str):
        return AskedRule(as_count(rule, "rule", at_least=0))
    if re.fullmatch("[0-9]{1,18}", rule):
        return AskedRule(int(rule))
    name, colon, behind = rule.partition(":")
    if not colon:
        return AskedRule(rule)
    parts = [part.strip() for part in behind.split(",")]
    if name == "lexicographic":
        return AskedRule(name, order=tuple(parts))
    if name not in {"weights", "ideal"}:
        raise BadInputError("rule", "takes objectives with weights, ideal or lexicographic", repr(rule))
    try:
        pairs = [part.rpartition("=") for part in parts]
        return AskedRule(name, {objective.strip(): float(weight) for objective, _, weight in pairs})
    except ValueError:
        raise BadInputError(
            "rule", "must say the weights, such as weights:cost=2,defects=1", repr(rule)
        ) from None


def pick_index(
    front: FrontPoints,
    rule: str = "ideal",
    *,
    weights: Mapping[str, float] | None = None,
    order: Sequence[str] | None = None,
    limits: LimitsAsked = None,
) -> int:
    """Return the index of the point that a rule picks.

    All rules but ``lexicographic`` take objectives scaled to [0, 1] by the range of the front, where 0 is the
    best value; an objective with only one value on the front counts 0. Of tied points the first is taken.
    Raises BadInputError if the rule or an objective is unknown, the front is empty, or no point is within the
    limits.

    Takes O(n_points · n_objectives) time.

    `front`: front of at least one point. `rule`: one of :data:`PICK_RULES`. ``ideal``: smallest Euclidean
    distance to the ideal point. ``knee``: farthest towards the ideal point from the plane through the
    anchors, the best point of each objective (:cite:t:`Das1999`). If several planes contain the anchors, the
    plane farthest from the ideal point is taken; if none of these planes faces the ideal point, the plane
    through the unit vectors is taken. A knee is a point where a small gain in any objective costs much in
    another objective (:cite:t:`Branke2004`). So the knee is not an end: a point with the best or the worst
    value of an objective that has three values or more on the front. If all allowed points are ends, only
    points with a worst value are excluded; if all have a worst value, no point is excluded. ``weights``:
    smallest weighted sum. ``lexicographic``: best in the first objective of `order`; of equal points best in
    the second objective, and so on. `weights`: non-negative weight per objective for ``weights`` and
    ``ideal``; objectives without a weight count 0. Default: all 1. `order`: objectives for ``lexicographic``;
    the objectives not named follow in the front's order. `limits`: only points within these limits are
    considered. A number in a mapping is the largest value of a minimised objective, or the least value of a
    maximised objective.
    """
    if rule == AS_GOOD:
        return _as_good_index(front, limits)
    if rule not in PICK_RULES:
        raise BadInputError(
            "rule", f"must be {any_of(PICK_RULES)}", repr(rule), did_you_mean(rule, PICK_RULES)
        )
    if not len(front):
        raise BadInputError("a point can be picked from a front with points, got an empty one.")
    _check_names(front, "weights", weights or {})
    _check_names(front, "order", order or ())
    signs = np.array([objective.sign for objective in front.objectives])
    minimised = front.values * signs
    allowed = np.flatnonzero(within_limits(front, limits))
    lows, highs = minimised.min(axis=0), minimised.max(axis=0)
    scaled = (minimised - lows) / np.where(highs > lows, highs - lows, 1)
    if rule == "lexicographic":
        named = list(order or ())
        columns = [front.names.index(name) for name in named + [n for n in front.names if n not in named]]
        return int(allowed[np.lexsort(minimised[allowed][:, columns].T[::-1])[0]])
    factors = np.array([1.0 if weights is None else weights.get(name, 0.0) for name in front.names])
    if (factors < 0).any() or not factors.any() or not np.isfinite(factors).all():
        got = ", ".join(f"{name}={factor:g}" for name, factor in (weights or {}).items())
        raise BadInputError("weights", "must be numbers of at least 0, and not all 0", got)
    factors = factors / factors.max()
    if rule == "ideal":
        scores = np.sqrt(products_in_order(scaled**2, factors))
    elif rule == "weights":
        scores = products_in_order(scaled, factors)
    else:
        allowed = allowed[_between_ends(scaled, allowed)]
        scores = products_in_order(scaled, _anchor_plane(scaled))
    return int(allowed[np.argmin(np.round(scores[allowed], SCORE_DIGITS))])


def facts_beside_single(
    name: str,
    price: str,
    differences: "Sequence[tuple[float, Interval]]",
    margin: float,
    *,
    by_case: bool = False,
) -> dict[str, Any]:
    """Return the fact in a front's extras from which ``as-good`` picks.

    `name`: name of the best single choice. `price`: objective to save on. `differences`: advantage of each
    point, without optimism, and its interval at 95 %. `margin`: margin within which a worse value counts as
    good. `by_case`: whether rows of one case were dealt together.
    """
    told = [[gain, *ends] for gain, ends in differences]
    fact = {"single": name, "price": price, "differences": told, "margin": margin}
    return {BESIDE_SINGLE: fact | ({"by_case": True} if by_case else {})}


def _as_good_index(front: FrontPoints, limits: LimitsAsked) -> int:
    """Return the cheapest point that is worse than the single choice by at most the margin.

    The lower end of a point's interval must be at most the margin below 0. If there is no such point, the
    point with the highest lower end is returned.
    """
    known = front.extras.get(BESIDE_SINGLE)
    if known is None:
        raise BadInputError(
            "`rule='as-good'` needs a front that was measured beside the best single choice. Write it with "
            "shortlist prune or panel, and `rule='as-good'` there, or take ideal or knee."
        )
    column = front.names.index(known["price"])
    prices = front.values[:, column] * front.objectives[column].sign
    lows = np.array([low for _, low, _ in known["differences"]])
    allowed = np.flatnonzero(within_limits(front, limits))
    return int(allowed[cheapest_as_good(prices[allowed], lows[allowed], known["margin"])])


def cheapest_as_good(prices: Floats, lows: Floats, margin: float) -> int:
    """Return the index of the cheapest choice that is worse by at most a margin.

    A choice is worse by at most `margin` if its entry in `lows` is at least -`margin`. If there is no such
    choice, the index of the largest entry in `lows` is returned.

    `prices`, ``(n,)``: prices to minimise. `lows`, ``(n,)``: lower ends of the intervals of the
    differences.

    >>> cheapest_as_good(np.array([3.0, 2.0, 1.0]), np.array([0.01, -0.005, -0.02]), 0.01)
    1
    >>> cheapest_as_good(np.array([3.0, 2.0]), np.array([-0.02, -0.03]), 0.01)
    0
    """
    good = np.flatnonzero(lows >= -margin)
    if not len(good):
        return int(np.lexsort((prices, -lows))[0])
    return int(good[np.lexsort((-lows[good], prices[good]))[0]])


def cheapest_near_best(losses: Floats, prices: Floats, error: float | Floats) -> int:
    """Return the index of the cheapest choice with a loss within one standard error of the least.

    This is the one-standard-error rule (Section 3.4.3 of :cite:t:`Breiman1984`); with error 0 it takes the
    cheapest choice of least loss. Equal prices go to the smaller loss, then to the first.

    `losses`, `prices`, ``(n,)``: losses and prices to minimise. `error`: the standard error of every
    difference from the least loss, or one error for each choice, ``(n,)``.

    >>> cheapest_near_best(np.array([0.1, 0.12, 0.3]), np.array([5.0, 2.0, 1.0]), 0.05)
    1
    """
    near = np.flatnonzero(losses <= losses.min() + error)
    return int(near[np.lexsort((losses[near], prices[near]))[0]])


def _between_ends(scaled: "NDArray[np.float64]", allowed: "NDArray[np.intp]") -> "NDArray[np.bool_]":
    """Mark the allowed points that have neither the best nor the worst value of any objective.

    Objectives with fewer than three values do not count. If every allowed point is excluded, only worst
    values exclude a point. If this excludes every allowed point too, all allowed points are marked.
    """
    # with two values both are ends
    wide = np.array([len(np.unique(column)) > 2 for column in scaled.T])
    own = scaled[allowed][:, wide]
    for ends in (own == 0) | (own == 1), own == 1:
        inside = ~ends.any(axis=1)
        if inside.any():
            return np.asarray(inside)
    return np.ones(len(allowed), dtype=bool)


def _anchor_plane(scaled: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the positive normal of the plane through the best point of each objective; else all ones.

    Objectives with the same best point share it, and several planes contain these fewer points. The plane
    farthest from the ideal point is taken. So three objectives that rise and fall together count as much as
    one objective opposed to them.
    """
    normal = np.ones(scaled.shape[1])
    active = scaled.any(axis=0)  # an objective with one value decides nothing
    own = scaled[:, active]
    anchors = own[[np.lexsort((own.sum(axis=1), column))[0] for column in own.T]]
    through = np.linalg.lstsq(anchors, np.ones(len(anchors)), rcond=None)[0]  # the shortest of all normals
    if (through > 1e-9).all() and np.allclose(anchors @ through, 1):
        normal[active] = through
    return normal


def numbered_point(front: FrontPoints, point: int, within: "NDArray[np.bool_]") -> int:
    """Return the given index of a point; raise UnmetChoiceError if no such point may be picked."""
    if point >= len(front):
        raise UnmetChoiceError(
            f"there is no point {point}: the front has {len(front):,}, numbered from 0. Pick one of them, "
            "or a rule."
        )
    promised = front.extras.get("promised")
    if not within[point] and promised is not None and not promised[point]:
        kept = _promised_points(front)
        instead = f"Pick one that is promised: {kept}." if kept else _nothing_promised(front)
        raise UnmetChoiceError(
            f"nothing is promised about point {point}, so it would answer no row. {instead}"
        )
    if not within[point]:
        raise UnmetChoiceError(
            f"point {point} is outside the limits. Pick another point, or leave out the limits."
        )
    return point


def within_limits(front: FrontPoints, limits: LimitsAsked) -> "NDArray[np.bool_]":
    """Mark the points that a rule may pick, ``(n_points,)``; raise an error if there are none.

    Raises BadInputError if a limit names no objective, or no point may be picked.
    """
    takeable = mark_takeable(front, limits)
    if not takeable.any():
        raise BadInputError(
            why_none(front, limits) + (" Relax a limit." if limits else " Ask for less, or add rows.")
        )
    return takeable


def mark_takeable(front: FrontPoints, limits: LimitsAsked) -> "NDArray[np.bool_]":
    """Mark the points within all limits that also keep the front's promises, if it has any."""
    inside = mark_within(front, limits)
    return np.asarray(inside & np.array(front.extras.get("promised", inside), dtype=bool))


def mark_within(front: FrontPoints, limits: LimitsAsked) -> "NDArray[np.bool_]":
    """Mark the points within all limits, ``(n_points,)``; there may be none.

    Raises BadInputError if a limit names no objective.
    """
    inside = np.ones(len(front), dtype=bool)
    for _, _, met in _each_met(front, limits):
        inside &= met
    return inside


def why_none(front: FrontPoints, limits: LimitsAsked, rows: str = "rows") -> str:
    """Return a sentence about the reason why no point may be picked; `rows`: word for the rows."""
    if not len(front):
        return "The front has no points."
    broken = "" if any(front.extras.get("promised", [True])) else f" {_nothing_promised(front, rows)}"
    for name, words, met in _each_met(front, limits):
        if not met.any():
            place = front.names.index(name)
            sign = front.objectives[place].sign
            ends = front.values[:, place] * sign
            best, worst = ends.min() * sign, ends.max() * sign
            reach = f"the best is {number_text(best, 6)}" + (
                f", the worst {number_text(worst, 6)}" if best != worst else ""
            )
            return f"No point has {name} {words}: {reach}.{broken}"
    if mark_within(front, limits).any():
        return _nothing_promised(front, rows)
    return f"No point is within all limits at once.{broken}"


def _promised_points(front: FrontPoints) -> str:
    """Return the promised points in words, with or without limits; empty if there are none."""
    kept = [str(number) for number, is_kept in enumerate(front.extras["promised"]) if is_kept]
    return f"{'points' if len(kept) > 1 else 'point'} {all_of(kept, most=8)}" if kept else ""


def _nothing_promised(front: FrontPoints, rows: str = "rows") -> str:
    asked = front.extras["promises"][0]
    wanted = (
        f"{100 * asked['accuracy']:g} % right answers with confidence {100 * asked['confidence_level']:g} %"
    )
    if kept := _promised_points(front):
        return f"{wanted} cannot be promised about any point within the limits, but about {kept}."
    can = can_be_promised(front.extras["promised_instead"], rows)
    return f"{wanted} cannot be promised about any point of the front. {can}"


def can_be_promised(instead: Mapping[str, Any] | None, rows: str = "rows") -> str:
    """Return a sentence about the promise that could be kept instead.

    `instead`: facts of this promise. `rows`: word for the calibration rows.
    """
    if instead is None:
        return "Not even 50 % can be promised."
    return (
        f"{100 * instead['accuracy']:g} % can be promised, for answers to {instead['n_answered']:,} of "
        f"{instead['n_rows']:,} calibration {rows}. It was found by trying on them, so check it on new "
        f"{rows}."
    )


def _each_met(front: FrontPoints, limits: LimitsAsked) -> "Iterator[tuple[str, str, NDArray[np.bool_]]]":
    if isinstance(limits, Mapping):
        _check_names(front, "limits", limits)
        for name, number in limits.items():
            column = front.names.index(name)
            sign = front.objectives[column].sign
            yield name, f"within {number_text(number, 6)}", front.values[:, column] * sign <= number * sign
        return
    _check_names(front, "limits", [limit.name for limit in limits or ()])
    for limit in limits or ():
        column = front.names.index(limit.name)
        words = f"{limit.operator} {limit.value}"
        yield limit.name, words, limit.met_by(front.values[:, column], front.objectives[column].scale)


def _check_names(front: FrontPoints, argument: str, names: Mapping[str, float] | Sequence[str]) -> None:
    for name in names:
        if name not in front.names:
            hint = did_you_mean(name, front.names)
            raise BadInputError(
                f"{argument} names the objective {name!r}, but the front has {all_of(front.names)}.{hint}"
            )
