"""Texts and facts about a front, shared by commands."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import number_text
from shortlist.cli.text.output import cut, finite, listed, print_lines
from shortlist.report.page import Table
from shortlist.results.front import COMMITTEES, PROGRAM, Front, chosen_at, values_at
from shortlist.results.proof import ProofKind, Status, counted_proof

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from shortlist.results.objective import Limit
    from shortlist.results.picking import Pick


def front_facts(front: Front) -> dict[str, Any]:
    """Return the facts for JSON on a front, which every command has."""
    proof = front.proof
    extras = {name: front.extras.get(name) for name in ("promised", "held_out")} if is_staged(front) else {}
    missing = None if proof.missing is None else [finite(value) for value in proof.missing]
    return {
        "n_points": len(front),
        "proof": str(proof.kind),
        "missing": missing,
        "n_unresolved": proof.n_unresolved,
        "limit": proof.limit,
        "objectives": [{"name": o.name, "sense": str(o.sense)} for o in front.objectives],
        "ranges": {name: [low, high] for name, low, high in zip(front.names, *_ranges(front), strict=True)}
        if len(front)
        else {},
        **extras,
    }


def front_status(front: Front) -> str:
    """Return the status of the answer that belongs to the proof of a front."""
    complete = front.proof.kind is ProofKind.COMPLETE
    if not len(front):
        return str(Status.INFEASIBLE if complete else Status.UNKNOWN)
    return str(Status.OPTIMAL if complete else Status.FEASIBLE)


def look_at(path: Path) -> str:
    """Return advice on the use of a written front; empty for a table, which no command reads."""
    if path.suffix.casefold() in {".csv", ".xlsx"}:
        return ""
    return f"; look at it with: shortlist front show {path} --pick knee"


def headline(
    front: Front, *, seconds: float | None = None, why: str = "", behind: str = "", details: bool = True
) -> str:
    """Return the number of points, the proof, and the method that found the points, in words.

    `front`: front with at least one point, or a loaded front. `seconds`: seconds to print in place of the
    front's seconds. `why`: reason for the method; by default the reason in the front. `behind`: text after
    the points. `details`: whether method and seconds are printed.
    """
    behind = f", {behind}" if behind else ""
    why = (why or str(front.extras.get("why", ""))) if details else ""
    method = f"{front.method}: {why};" if why else f"{front.method},"
    time = front.seconds if seconds is None else seconds
    return f"{counted_proof(front, behind)} ({method} {time:.2f} s)."


def contract(front: Front) -> dict[str, Any]:
    """Return the facts for JSON of every command that reads a front."""
    return {
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        "n_points": len(front),
        "proof": str(front.proof.kind),
    }


MOST_OBJECTIVES = 8
"""Largest number of objectives on a first screen."""


def range_lines(front: Front, picked: "Pick | None" = None, *, details: bool = True) -> list[str]:
    """Return table lines, one per objective: the picked point, the simplest alternative, best and worst.

    The simplest alternative is the point that is best in the first objective. For a complete front, the best
    value is the best possible. For any other front it is the best value found, with a bound on the best
    possible value if a bound is known.
    """
    lows, highs = _ranges(front)
    complete = front.proof.kind is ProofKind.COMPLETE
    ideal = [None] * len(lows) if complete else front.extras.get("ideal") or [None] * len(lows)
    first = "on the selection rows" if is_staged(front) else "objective"
    columns: dict[str, list[str]] = {
        first: [
            f"{goal.sense} {goal.name}" + f" ({goal.unit})" * bool(goal.unit) for goal in front.objectives
        ]
    }
    if picked is not None:
        columns[f"point {picked.index}"] = _cells(front, picked.index)
        other = front.pick("lexicographic").index
        if other != picked.index and not is_staged(front):
            columns[f"point {other}, best {front.names[0]}"] = _cells(front, other)
    best, worst = [], []
    for goal, low, high, bound in zip(front.objectives, lows, highs, ideal, strict=True):
        ends = (low, high) if goal.sign > 0 else (high, low)
        known = (
            ""
            if bound is None
            else " (proved best)"
            if ends[0] == bound
            else f" (bound {number_text(bound, 6)})"
        )
        best.append(f"{_number(front, ends[0])}{known}")
        worst.append(_number(front, ends[1]))
    if len(front) == 1 and complete and picked is not None:
        best, worst = [], []  # which are the point
    columns |= {"best": best, "worst": worst} if complete else {"best found": best, "worst found": worst}
    columns = {name: cells for name, cells in columns.items() if cells}
    rows = tuple(zip(*columns.values(), strict=True))
    lines = [f"  {line}" for line in Table("", tuple(columns), rows).lines()]
    return lines if details else cut(lines, MOST_OBJECTIVES + 1, "--details has all")


def _cells(front: Front, point: int) -> list[str]:
    return [_number(front, value) for value in front.values[point].tolist()]


def _number(front: Front, value: float) -> str:
    """Return a value as text for people; a value estimated from rows has four digits."""
    return f"{value:.4g}" if is_staged(front) else number_text(value)


def some(names: Sequence[str], numbers: Iterable[int], *, most: int = 12) -> str:
    """Return the first names in words, at most `most`, with the number of the rest."""
    chosen = [names[i] for i in numbers]
    more = f" and {len(chosen) - most} more" if len(chosen) > most else ""
    return ", ".join(chosen[:most]) + more


def _ranges(front: Front) -> tuple[list[float], list[float]]:
    return front.values.min(axis=0).tolist(), front.values.max(axis=0).tolist()


def no_point(front: Front, limits: "Sequence[Limit]") -> str:
    """Return the reason why no point of a front may be taken; empty if a point may be taken."""
    from shortlist.results.picking import mark_takeable, mark_within, why_none

    if mark_takeable(front, limits).any():
        return ""
    complete = front.proof.kind is ProofKind.COMPLETE or mark_within(front, limits).any()
    others = "" if complete else " The front is not complete, so there may be points that it does not list."
    return why_none(front, limits) + others


def is_staged(front: Front) -> bool:
    """Return whether the decisions of a front are stages of features."""
    from shortlist.results.front import STAGED_METHODS

    return front.method in STAGED_METHODS


def _stages(front: Front, picked: "Pick") -> dict[str, list[str]]:
    stages = sorted(set(picked.decision.tolist()) - {-1})
    names = list(zip(front.candidates, picked.decision.tolist(), strict=True))
    return {f"stage {stage + 1}": [name for name, at in names if at == stage] for stage in stages}


def held_out_facts(front: Front, point: int) -> dict[str, Any] | None:
    """Return the figures of a point on held-out rows; None without such rows, or if it answers no row."""
    if "held_out" not in front.extras or not front.extras.get("promised", [True] * len(front))[point]:
        return None
    return dict(front.extras["held_out"][point])


def pick_facts(front: Front, picked: "Pick") -> dict[str, Any]:
    """Return facts on a point and its selection; for stages also its figures on held-out rows."""
    chosen = _stages(front, picked) if is_staged(front) else chosen_at(front, picked.index)
    facts: dict[str, Any] = {"rule": picked.rule, "index": picked.index}
    if is_staged(front):
        from shortlist.guarantees.guarantee import guarantees_of

        promises = front.extras.get("promises")
        facts |= {
            "held_out": held_out_facts(front, picked.index),
            "guarantee": None if promises is None else guarantees_of(front)[picked.index].as_dict(),
        }
    return facts | {"values": picked.values, "selection": chosen}


def print_points(front: Front, kept: "NDArray[np.bool_]", rows: int) -> None:
    """Print the points within the limits.

    `kept`: mask of these points. `rows`: largest number of points to print.
    """
    frame = front.to_frame()
    if front.extras.get("calls"):  # of committees
        from shortlist.ensembles.fronts.front_claims import paid_columns

        frame = frame.assign(**paid_columns(front))
    frame = frame[kept]
    if len(frame):
        print()
        print_frame(frame, rows)


def print_frame(frame: "pd.DataFrame", rows: int) -> None:
    """Print the first rows of a table of points, and the number of further rows."""
    print(frame.head(rows or len(frame)).to_string(max_cols=MOST_OBJECTIVES, line_width=None))
    if rows and len(frame) > rows:
        print(f"... and {len(frame) - rows:,} more; shortlist front show --rows 0 prints all.")


def knee_of(front: Front, limits: "Sequence[Limit]" = ()) -> "Pick | None":
    """Return the point to take if none is requested; None if no point may be taken."""
    from shortlist.cli.options.points import taken_point, usual_rule

    if no_point(front, limits) or not np.isfinite(front.values).all():
        return None
    return taken_point(front, usual_rule(front), limits)


MEANINGS = {
    "knee": "the knee: from here a small gain in one objective costs much in another",
    "ideal": "the nearest to the best value of every objective at once",
    "as-good": "the cheapest that is at most the margin worse than the best single one",
    "one-se": "the cheapest within one standard error of the best",
}
"""Meanings of rules, printed after the number of the point that a rule takes."""


def point_lines(front: Front, picked: "Pick", *, advised: bool = False, details: bool = False) -> list[str]:
    """Return lines on the number of a point and its choice; `advised`: whether as advice."""
    what = f"{'Take point' if advised else 'Point'} {picked.index} of {len(front):,}"
    if len(front) == 1:
        what = "Take the only point" if advised else "The only point"
    elif picked.rule != "number":
        what += f", {MEANINGS.get(picked.rule, f'by {picked.rule}')}"
    if is_staged(front):
        from shortlist.guarantees.guarantee import guarantees_of

        found = guarantees_of(front)[picked.index : picked.index + 1]
        stages = [
            "  " + listed(f"{stage}: ", names, most_lines=2, details=details)
            for stage, names in _stages(front, picked).items()
        ]
        never = [name for name, at in zip(front.candidates, picked.decision.tolist(), strict=True) if at < 0]
        if never:
            stages.append("  " + listed("never bought: ", never, most_lines=2, details=details))
        unkept = "The figures use the threshold that was expected to do best; it is not promised."
        return [
            f"{what}:",
            *stages,
            *(one.sentence() for one in found),
            *[unkept for one in found if not one.promised],
        ]
    if PROGRAM in front.extras:
        columns = values_at(front, picked.index).items()
        chosen = [f"{name} = {number_text(value)}" for name, value in columns if value] or [
            "every column is 0"
        ]
        return [f"{what}:", listed("  ", chosen, most_lines=4, details=details)]
    chosen = chosen_at(front, picked.index)
    noun = "members" if front.method == COMMITTEES else "features"
    if not chosen:
        return [f"{what}:", f"  none of {len(front.candidates):,} {noun}"]
    head = f"  {len(chosen)} of {len(front.candidates)} {noun}: "
    return [f"{what}:", listed(head, chosen, most_lines=4, details=details)]


def empty_notes(front: Front) -> list[str]:
    """Return a note if a front of products holds the product without features, which some models allow."""
    if is_staged(front) or PROGRAM in front.extras or front.method == COMMITTEES:
        return []
    return [
        f"Point {number} is the product without any feature, which the model allows. "
        "--select FEATURE excludes it."
        for number in np.flatnonzero(~front.decisions.any(axis=1)).tolist()
    ]


def print_pick(front: Front, picked: "Pick", *, advised: bool = False, details: bool = False) -> None:
    """Print a point's selection, its held-out figures if known, and its values."""
    print_lines(point_lines(front, picked, advised=advised, details=details))
    print()
    if (held := held_out_facts(front, picked.index)) is not None:
        from shortlist.cli.text.measured_table import print_after_looking, print_held_out

        print_held_out({f"point {picked.index}": held})
        print_after_looking(held["n_rows"])
        print()
    print("\n".join(range_lines(front, picked, details=details)))
