"""Fronts as parts of a page: the points with their choices, the proof, and the pick."""

import base64
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._words import all_of, any_of, counted, number_text
from shortlist.errors import BadInputError
from shortlist.report.page import Chart, Explorer, Facts, Heading, Parts, Table, Text
from shortlist.results.front import PROGRAM, STAGED_METHODS, Front, chosen_at, values_at
from shortlist.results.objective import Sense
from shortlist.results.picking import Pick, mark_takeable, why_none
from shortlist.results.proof import ProofKind, counted_proof, proof_text, rounding

MOST_CHOICE_BYTES = 8_000_000
"""Largest deflated size of the choices at the points, in bytes; a page leaves out larger choices."""

MOST_BARS = 40
"""Largest number of candidates with a bar of their frequency."""

PROMISED = "promised (1: yes)"
"""Name of the axis that marks the points with a promise."""

RULES = {
    "ideal": "It is nearest to the best value of every objective at once, in units of the front's ranges.",
    "knee": "It is the strongest compromise: any further gain in one objective costs much in another.",
}
"""Rules that every page offers, and their meaning."""


def front_parts(
    fronts: Mapping[str, Front], *, picks: Sequence[tuple[str, Pick, str]] = (), heading: str = "Points"
) -> Parts:
    """Return the parts of a page about fronts over the same objectives.

    Raises BadInputError if the objectives differ.

    `fronts`: fronts by name, in the order of the legend; fronts without points are left out of the pictures.
    `picks`: points to mark: the name of the front, the point, and the reason. With one front, the points of
    the rules ideal and knee follow. `heading`: heading of the section.
    """
    names = [front.names for front in fronts.values()]
    if any(other != names[0] for other in names):
        raise BadInputError("fronts", "must have the same objectives", any_of(all_of(one) for one in names))
    filled = {name: front for name, front in fronts.items() if len(front)}
    parts: list[Any] = [Heading(heading), *(_proved(name, front, fronts) for name, front in fronts.items())]
    if not filled:
        return [*parts, Text("There are no points to show.")]
    parts += [Text(rounded) for rounded in map(rounding, filled.values()) if rounded]
    parts += [
        Text(why_none(front, None)) for front in filled.values() if not mark_takeable(front, None).any()
    ]
    unknown = sum(int((~np.isfinite(front.values)).any(axis=1).sum()) for front in filled.values())
    if unknown:
        parts.append(Text(f"{counted(unknown, 'point')} with an infinite value: only the table has them."))
    if len(filled) == 1 and len(names[0]) == 1 and len(next(iter(filled.values()))) == 1:
        return [*parts, _chosen(next(iter(filled.values()))), _ranges(filled)]  # a point needs no picture
    return [*parts, Explorer(explorer_data(filled, picks)), _ranges(filled)]


def _chosen(front: Front) -> Text:
    """Return a sentence on the choice at the only point of a front."""
    names = chosen_at(front, 0) if front.decisions.size else []
    return Text(f"Chosen there: {all_of(names, most=MOST_BARS) if len(names) else 'nothing'}.")


def _proved(name: str, front: Front, fronts: Mapping[str, Front]) -> Facts:
    why = f": {front.extras['why']}" if front.extras.get("why") else ""
    method = f" Found by {front.method} in {front.seconds:.2f} s{why}." if front.method else ""
    return Facts(
        (
            (
                name if len(fronts) > 1 else "proof",
                f"{counted_proof(front)}.{method}",
            ),
        )
    )


def _ranges(fronts: Mapping[str, Front]) -> Table:
    first = next(iter(fronts.values()))
    bounds = [None] * len(first.objectives)
    if len(fronts) == 1 and first.proof.kind is not ProofKind.COMPLETE:
        bounds = first.extras.get("ideal") or bounds
    has_bounds = any(bound is not None for bound in bounds)
    rows = []
    for column, objective in enumerate(first.objectives):
        values = np.concatenate([front.values[:, column] for front in fronts.values()])
        best, worst = values.min(), values.max()
        if objective.sense is Sense.MAX:
            best, worst = worst, best
        unit = f" {objective.unit}" if objective.unit else ""
        digits = 10 if objective.scale else 6
        word = "less" if objective.sense is Sense.MIN else "more"
        row = [
            objective.name,
            f"{word} is better",
            *(f"{number_text(end, digits, grouped=True)}{unit}" for end in (best, worst)),
        ]
        if has_bounds:
            bound = bounds[column]
            row.append(
                ""
                if bound is None
                else "the same"
                if bound == best
                else f"{number_text(bound, digits, grouped=True)}{unit}"
            )
        rows.append(tuple(row))
    columns = ["objective", "better", "best here", "worst here", *["best that is possible"] * has_bounds]
    return Table("What matters", tuple(columns), tuple(rows))


def explorer_data(fronts: Mapping[str, Front], picks: Sequence[tuple[str, Pick, str]] = ()) -> dict[str, Any]:
    """Return the data for the page's script: points by objective, groups, picks and choices."""
    first = next(iter(fronts.values()))
    values = np.vstack([front.values for front in fronts.values()])
    columns = [[_number(value) for value in column.tolist()] for column in values.T]
    promised = [front.extras["promised"] for front in fronts.values() if "promised" in front.extras]
    yes_or_no = []
    if len(promised) == len(fronts):
        yes_or_no = [{"name": PROMISED, "better": "more", "unit": "", "whole": True}]
        columns.append([int(is_kept) for one in promised for is_kept in one])
    return {
        "objectives": [
            {
                "name": objective.name,
                "better": "less" if objective.sense is Sense.MIN else "more",
                "unit": objective.unit,
                "whole": objective.scale == 1,
            }
            for objective in first.objectives
        ]
        + yes_or_no,
        "groups": [
            {
                "name": name,
                "n": len(front),
                "proof": f"{proof_text(front)[0].upper()}{proof_text(front)[1:]}.",
            }
            for name, front in fronts.items()
        ],
        "values": columns,
        "picks": _picks(fronts, picks),
        "choices": _choices(list(fronts.values())),
        "shared": _shared(fronts),
    }


def _number(value: float) -> float | int | None:
    """Return a number in its shortest form for JSON; None for infinity and NaN."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _picks(fronts: Mapping[str, Front], picks: Sequence[tuple[str, Pick, str]]) -> list[dict[str, Any]]:
    names = list(fronts)
    found = [
        {"group": names.index(name), "index": pick.index, "rule": pick.rule, "why": why}
        for name, pick, why in picks
    ]
    if len(fronts) == 1:
        front = next(iter(fronts.values()))
        if np.isfinite(front.values).all() and mark_takeable(front, None).any():
            for rule, why in RULES.items():
                if all(one["rule"] != rule for one in found):
                    found.append({"group": 0, "index": front.pick(rule).index, "rule": rule, "why": why})
    return found


def _shared(fronts: Mapping[str, Front]) -> str:
    """Return a sentence on the number of points that several methods share; empty for one method."""
    if len(fronts) < 2:
        return ""
    places = Counter(point for front in fronts.values() for point in map(tuple, front.values.tolist()))
    several = sum(count > 1 for count in places.values())
    return (
        f"{len(places):,} different places; at {several:,} of them several methods coincide, whose marks are "
        "rings around each other."
    )


def _choices(fronts: Sequence[Front]) -> dict[str, Any] | None:
    """Return the choice at each point, deflated: a bit per candidate, for stages a byte per feature."""
    names = fronts[0].candidates
    if PROGRAM in fronts[0].extras and not all(np.isin(front.decisions, (0, 1)).all() for front in fronts):
        return None  # numbers of any size have no place in the picture
    if not names or any(front.candidates != names for front in fronts):
        return None
    decisions = np.vstack([front.decisions for front in fronts])
    if np.isin(decisions, (0, 1)).all() and fronts[0].method not in STAGED_METHODS:
        often = decisions.sum(axis=0)
        varies = (often > 0) & (often < len(decisions))
        packed = np.packbits(decisions[:, varies].astype(bool), axis=1)
        facts: dict[str, Any] = {
            "kind": "bits",
            "names": [name for name, own in zip(names, varies, strict=True) if own],
            "always": [name for name, count in zip(names, often, strict=True) if count == len(decisions)],
            "never": int((often == 0).sum()),
        }
    elif decisions.min() >= -128 and decisions.max() <= 127:
        packed = decisions.astype(np.int8)
        facts = {"kind": "stages", "names": list(names), "always": [], "never": 0}
    else:
        return None
    deflated = zlib.compress(packed.tobytes(), 9 if packed.size < 2**24 else 6)
    if len(deflated) > MOST_CHOICE_BYTES:
        size = f"{len(deflated) / 1e6:.0f} MB"
        why = (
            f"The choices of the points take {size} and are left out of this page; the front's file has them."
        )
        return facts | {"packed": "", "names": [], "why": why}
    return facts | {"packed": base64.b64encode(deflated).decode()}


def frequency_chart(front: Front, *, noun: str = "candidate") -> Chart | None:
    """Return a picture of the number of points that choose each candidate.

    Candidates at every point, and candidates at no point, are left out. None if no candidate is left, or if
    decisions are stages.
    """
    if not len(front) or front.method in STAGED_METHODS or not np.isin(front.decisions, (0, 1)).all():
        return None
    shares = front.decisions.mean(axis=0)
    varies = np.flatnonzero((shares > 0) & (shares < 1))
    if not len(varies):
        return None
    order = varies[np.argsort(-shares[varies], kind="stable")]
    shown = order if len(order) <= MOST_BARS else np.r_[order[: MOST_BARS // 2], order[-MOST_BARS // 2 :]]
    left_out = f" Of {len(order):,} that vary, the most and the least frequent are drawn." * (
        len(order) > MOST_BARS
    )
    always, never = int((shares == 1).sum()), int((shares == 0).sum())
    names = [front.candidates[i] for i in shown]
    percent = (100 * shares[shown]).round(2).tolist()
    return Chart(
        f"How often each {noun} is chosen",
        f"{counted(always, noun)} at every point, {never:,} at none, {len(varies):,} at some; most often "
        f"{names[0]}, at {percent[0]:g} % of the points.{left_out}",
        {
            "kind": "bar",
            "names": names,
            "series": [{"name": "points", "values": percent}],
            "x": {"label": "share of the points in %", "range": [0, 100]},
        },
        Table(
            f"How often each {noun} is chosen",
            (noun, "points", "share"),
            tuple(
                (front.candidates[i], f"{round(shares[i] * len(front)):,}", f"{100 * shares[i]:.1f} %")
                for i in order
            ),
        ),
    )


def front_page_parts(front: Front, *, pick: Pick | None = None) -> Parts:
    """Return the parts of a page of one front: its points, and the frequency of each candidate."""
    name = front.method or "front"
    picks = [] if pick is None else [(name, pick, f"It was chosen by {pick.rule}.")]
    chart = frequency_chart(front)
    return [*front_parts({name: front}, picks=picks), *([chart] if chart else [])]


MOST_COLUMNS = 200
"""Largest number of columns of the pick that a page lists."""


def program_parts(front: Front, *, pick: Pick | None = None) -> Parts:
    """Return the parts of a page about the front of a program, with the columns of one point.

    `front`: front of a program. `pick`: point to show; by default the point at the knee.
    """
    chosen = pick or (front.pick("knee") if len(front) else None)
    name = front.method or "front"
    if chosen is None:
        return front_parts({name: front})
    chart = frequency_chart(front, noun="column")
    shown = front_parts({name: front}, picks=[(name, chosen, why_picked(chosen))])
    return [*pick_parts(front, chosen), _columns(front, chosen), *shown, *([chart] if chart else [])]


def why_picked(pick: Pick) -> str:
    """Return the meaning of a pick's rule."""
    return RULES.get(pick.rule, f"It was chosen by {pick.rule}.")


def pick_parts(front: Front, pick: Pick) -> Parts:
    """Return the first part of a page: the point to take, with the reason if there are other points."""
    words = _values_of(pick)
    if len(front) == 1:
        return [Heading("What to do"), Text(f"Take the only point: {words}.")]
    simplest = front.pick("lexicographic")
    beside = [
        Text(f"Beside it, point {simplest.index}, the best in {front.names[0]}: {_values_of(simplest)}.")
    ]
    return [
        Heading("What to do"),
        Text(f"Take point {pick.index} of {len(front):,}, by {pick.rule}: {words}."),
        *beside * (simplest.index != pick.index),
        Text(why_picked(pick), note=True),
    ]


def _values_of(pick: Pick) -> str:
    return ", ".join(f"{name} {number_text(value, grouped=True)}" for name, value in pick.values.items())


def _columns(front: Front, pick: Pick) -> Table:
    """Return the columns of the pick with values other than 0."""
    values = values_at(front, pick.index)
    used = [(name, number_text(value, grouped=True)) for name, value in values.items() if value]
    rows = used[:MOST_COLUMNS]
    rows += [(f"and {len(used) - MOST_COLUMNS:,} more", "")] * (len(used) > MOST_COLUMNS)
    return Table(
        f"Its columns that are not 0: {len(used):,} of {len(values):,}",
        ("column", "value"),
        tuple(rows),
    )
