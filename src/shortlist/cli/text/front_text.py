"""What commands say about a front."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.output import finite
from shortlist.results.front import Front, chosen_at
from shortlist.results.proof import ProofKind, Status, proof_text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from shortlist.results.objective import Limit
    from shortlist.results.picking import Pick


def front_facts(front: Front) -> dict[str, Any]:
    """Return what the JSON of every command says about a front."""
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
    """Return the status that goes with the proof of a front."""
    complete = front.proof.kind is ProofKind.COMPLETE
    if not len(front):
        return str(Status.INFEASIBLE if complete else Status.UNKNOWN)
    return str(Status.OPTIMAL if complete else Status.FEASIBLE)


def look_at(path: Path) -> str:
    """Say how to go on with a front that was written, or nothing for a table, which commands do not read."""
    if path.suffix.casefold() in {".csv", ".xlsx"}:
        return ""
    return f"; look at it with: shortlist front show {path} --pick knee"


def headline(front: Front, *, seconds: float | None = None, why: str = "", behind: str = "") -> str:
    """Say how many points there are, what is proved of them, and what found them.

    `front`: with at least one point, or as loaded. `seconds`: what to tell in place of the seconds of the
    front. `why`: why this method was taken; by default the front says it. `behind`: what stands behind the
    points.
    """
    points = f"{len(front):,} {'point' if len(front) == 1 else 'points'}"
    behind = f", {behind}" if behind else ""
    why = why or str(front.extras.get("why", ""))
    method = f"{front.method}: {why};" if why else f"{front.method},"
    time = front.seconds if seconds is None else seconds
    return f"{points}{behind}, {proof_text(front)} ({method} {time:.2f} s)."


def contract(front: Front, command: str) -> dict[str, Any]:
    """Return what the JSON of every command says, of one that reads a front."""
    return {
        "command": command,
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        "n_points": len(front),
        "proof": str(front.proof.kind),
    }


def range_lines(front: Front) -> list[str]:
    """Return a heading, and a line per objective: sense, name, best and worst value.

    Only a complete front tells the best there is; of others it is the best found, with the best that is
    proved to exist where that is known.
    """
    heading = "objective"
    width = max(len(heading) - len("min "), *map(len, front.names))
    lows, highs = _ranges(front)
    complete = front.proof.kind is ProofKind.COMPLETE
    columns = "best to worst" if complete else "best found to worst found"
    lines = [f"  {heading:<{width + len('min ')}}  {columns}"]
    ideal = [None] * len(lows) if complete else front.extras.get("ideal") or [None] * len(lows)
    for objective, low, high, bound in zip(front.objectives, lows, highs, ideal, strict=True):
        best, worst = (low, high) if objective.sign > 0 else (high, low)
        unit = f" {objective.unit}" if objective.unit else ""
        known = "" if bound is None else " (proved best)" if best == bound else f" (bound {bound:g})"
        lines.append(f"  {objective.sense} {objective.name:<{width}}  {best:g}{known} to {worst:g}{unit}")
    return lines


def some(names: Sequence[str], numbers: Iterable[int], *, most: int = 12) -> str:
    """Return the first of many names."""
    chosen = [names[i] for i in numbers]
    more = f" and {len(chosen) - most} more" if len(chosen) > most else ""
    return ", ".join(chosen[:most]) + more


def _ranges(front: Front) -> tuple[list[float], list[float]]:
    return front.values.min(axis=0).tolist(), front.values.max(axis=0).tolist()


def no_point(front: Front, limits: "Sequence[Limit]") -> str:
    """Say why no point of a front may be taken; empty where one may."""
    from shortlist.results.picking import mark_takeable, mark_within, why_none

    if mark_takeable(front, limits).any():
        return ""
    complete = front.proof.kind is ProofKind.COMPLETE or mark_within(front, limits).any()
    others = "" if complete else " The front is not complete, so there may be others that it does not have."
    return why_none(front, limits) + others


def is_staged(front: Front) -> bool:
    """Whether the decisions are stages of features."""
    from shortlist.results.front import STAGED_METHODS

    return front.method in STAGED_METHODS


def _stages(front: Front, picked: "Pick") -> dict[str, list[str]]:
    stages = sorted(set(picked.decision.tolist()) - {-1})
    names = list(zip(front.candidates, picked.decision.tolist(), strict=True))
    return {f"stage {stage + 1}": [name for name, at in names if at == stage] for stage in stages}


def held_out_facts(front: Front, point: int) -> dict[str, Any] | None:
    """Return what a point does on held-out rows; None where there were none, or it answers no row."""
    if "held_out" not in front.extras or not front.extras.get("promised", [True] * len(front))[point]:
        return None
    return dict(front.extras["held_out"][point])


def pick_facts(front: Front, picked: "Pick") -> dict[str, Any]:
    """Return one point, and what is chosen for it; of stages also what it does on held-out rows."""
    from shortlist.guarantees.guarantee import guarantees_of

    chosen = _stages(front, picked) if is_staged(front) else chosen_at(front, picked.decision)
    facts: dict[str, Any] = {"rule": picked.rule, "index": picked.index}
    if is_staged(front):
        promises = front.extras.get("promises")
        facts |= {
            "held_out": held_out_facts(front, picked.index),
            "guarantee": None if promises is None else guarantees_of(front)[picked.index].as_dict(),
        }
    return facts | {"values": picked.values, "selection": chosen}


def print_points(front: Front, kept: "NDArray[np.bool_]", rows: int) -> None:
    """Print the points within the limits."""
    frame = front.to_frame()
    if front.extras.get("calls"):  # of committees
        from shortlist.ensembles.fronts.front_claims import paid_columns

        frame = frame.assign(**paid_columns(front))
    frame = frame[kept]
    if len(frame):
        print()
        print_frame(frame, rows)


def print_frame(frame: "pd.DataFrame", rows: int) -> None:
    """Print the first rows of a table of points, and how many there are more."""
    print(frame.head(rows or len(frame)).to_string())
    if rows and len(frame) > rows:
        print(f"... and {len(frame) - rows:,} more; shortlist front show --rows 0 prints all.")


def print_pick(front: Front, picked: "Pick") -> None:
    """Print one point and what is chosen for it; of stages what it does on held-out rows comes first."""
    from shortlist.cli.text.measured_table import print_after_looking, print_held_out
    from shortlist.guarantees.guarantee import guarantees_of

    values = ", ".join(f"{name} {value:g}" for name, value in picked.values.items())
    print()
    if (held := held_out_facts(front, picked.index)) is not None:
        print_held_out({f"point {picked.index}": held})
        print_after_looking(held["n_rows"])
    by = "" if picked.rule == "number" else f" by {picked.rule}"
    on = " on the rows that chose" if is_staged(front) else ""
    found = guarantees_of(front)[picked.index : picked.index + 1] if is_staged(front) else ()
    if any(not one.promised for one in found):
        on += ", with the threshold that was expected to do best, but is not promised"
    print(f"Point {picked.index}{by}{on}: {values}.")
    if is_staged(front):
        for one in found:
            print(one.sentence())
        for stage, features in _stages(front, picked).items():
            print(f"{stage}: {', '.join(features)}")
        return
    chosen = chosen_at(front, picked.decision)
    print(f"Selected {len(chosen)} of {len(front.candidates)}: {', '.join(chosen)}")
