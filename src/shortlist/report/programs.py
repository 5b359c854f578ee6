"""Fronts of integer programs as parts of a page: the pick with its columns, and the points."""

from typing import Any

import numpy as np

from shortlist.report.fronts import RULES, frequency_chart, front_parts
from shortlist.report.parts import Heading, Parts, Table, Text
from shortlist.results.front import Front, chosen_at
from shortlist.results.picking import Pick

MOST_COLUMNS = 200
"""So many columns of the pick at most are listed on a page."""


def program_parts(front: Front, *, pick: Pick | None = None) -> Parts:
    """Return the parts of a page that show the front of a program, and one of its points with its columns.

    `front`: of a program. `pick`: the point to show; by default the one at the knee.
    """
    chosen = pick or (front.pick("knee") if len(front) else None)
    name = front.method or "front"
    if chosen is None:
        return front_parts({name: front})
    why = RULES.get(chosen.rule, f"It was chosen by {chosen.rule}.")
    words = ", ".join(f"{name} {value:.10g}" for name, value in chosen.values.items())
    first: list[Any] = [
        Heading("The pick"),
        Text(f"Point {chosen.index}, by {chosen.rule}: {words}."),
        Text(why, note=True),
        _columns(front, chosen),
    ]
    chart = frequency_chart(front, noun="column")
    shown = front_parts({name: front}, picks=[(name, chosen, why)])
    return [*first, *shown, *([chart] if chart else [])]


def _columns(front: Front, pick: Pick) -> Table:
    """Return the columns of the pick that are not 0."""
    used = np.flatnonzero(pick.decision)[:MOST_COLUMNS]
    n_more = int(np.count_nonzero(pick.decision)) - len(used)
    rows = [(front.candidates[i], f"{int(pick.decision[i]):,}") for i in used.tolist()]
    rows += [(f"and {n_more:,} more", "")] * bool(n_more)
    n_chosen = len(chosen_at(front, pick.decision))
    return Table(
        f"Its columns that are not 0: {n_chosen:,} of {len(front.candidates):,}",
        ("column", "value"),
        tuple(rows),
    )
