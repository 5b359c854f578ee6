"""Small selection of points from a front, in words, tables and a page.

Each point has the weights that it suits, and each number of points its regret.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from shortlist._words import counted, number_text
from shortlist.report.fronts import front_parts
from shortlist.report.page import Chart, Heading, Parts, Table, Text, line_data
from shortlist.results.front import STAGED_METHODS, Front, values_at

if TYPE_CHECKING:
    from shortlist.methods.few_points import FewPoints

MEANING = (
    "He weighs the objectives, each from 0 for the worst value on the front to 1 for the best, and "
    "his regret is the share of worth that the best of these points lacks against the best of all."
)
"""Explanation of a customer's regret, as text of a page."""

MOST_DIFFERENCES = 60
"""Largest number of differing choices of the points that a page lists."""


def few_sentences(front: Front, found: "FewPoints", asked: int) -> list[str]:
    """Return sentences on the number of points to take, their regret and its proof.

    `asked`: requested number of points.
    """
    n = len(found.points)
    known = "which is proved to be the least"
    if found.regret - found.bound > 1e-9:
        known = f"and no {asked} points leave less than {share_text(found.bound)}; both are proved"
    taken = f"Take {counted(n, 'point')} of {len(front):,}: a customer regrets {share_text(found.regret)}"
    more = [f"More than {counted(n, 'point')} change nothing."] * (n < asked)
    return [f"{taken} at most, {known}.", MEANING, *more]


def few_table(front: Front, found: "FewPoints") -> Table:
    """Return the points, their values, and the weights that each point suits best."""
    header = (
        "point",
        *(f"{goal.sense} {goal.name}" for goal in front.objectives),
        "best for weights of about",
    )
    rows = [
        (str(point), *(number_text(value) for value in front.values[point].tolist()), _heaviest(weights))
        for point, weights in zip(found.points, found.weights, strict=True)
    ]
    return Table("The points", header, tuple(rows))


def few_parts(front: Front, found: "FewPoints", asked: int) -> Parts:
    """Return the parts of a page about a few points of a front; `asked`: requested number of points."""
    first, meaning, *more = few_sentences(front, found, asked)
    name = front.method or "front"
    suits = dict(zip(found.points, map(_heaviest, found.weights), strict=True))
    picks = [
        (name, front.point(point, f"few, point {point}"), f"It is best for weights of about {what}.")
        for point, what in suits.items()
    ]
    chosen = _differences(front, found.points)
    return [
        Heading("What to do"),
        Text(first),
        *map(Text, more),
        Text(meaning, note=True),
        few_table(front, found),
        *([chosen] if chosen is not None else []),
        _curve(found),
        *front_parts({name: front}, picks=picks),
    ]


def _curve(found: "FewPoints") -> Chart:
    """Return a picture of the regret against the number of points."""
    series = [{"name": "regret", "points": [[number, round(100 * own, 4)] for number, own, _ in found.curve]}]
    if any(regret - bound > 1e-9 for _, regret, bound in found.curve):
        bounds = [[number, round(100 * bound, 4)] for number, _, bound in found.curve]
        series.append({"name": "proved bound", "points": bounds})
    told = ", ".join(f"{number}: {share_text(regret)}" for number, regret, _ in found.curve)
    rows = tuple(
        (str(number), share_text(regret), share_text(bound)) for number, regret, bound in found.curve
    )
    return Chart(
        "Regret by number of points",
        f"Largest regret of a customer by number of points: {told}.",
        line_data("points", "largest regret in %", series, whole=True),
        Table("Regret by number of points", ("points", "regret", "no less than"), rows),
    )


def _differences(front: Front, points: tuple[int, ...]) -> Table | None:
    """Return the choices in which the points differ, a column for each point; None if all are equal."""
    if not front.candidates or len(points) < 2:
        return None
    columns = [values_at(front, point) for point in points]
    names = [name for name in columns[0] if len({column[name] for column in columns}) > 1]
    if not names:
        return None
    staged = front.method in STAGED_METHODS
    every = np.array([list(column.values()) for column in columns])
    is_yes_or_no = not staged and bool(np.isin(every, (0, 1)).all())

    def cell(value: float) -> str:
        if staged:
            return "never" if value < 0 else f"stage {int(value) + 1}"
        return ("yes" if value else "no") if is_yes_or_no else number_text(value)

    rows = [(name, *(cell(column[name]) for column in columns)) for name in names[:MOST_DIFFERENCES]]
    more = len(names) - len(rows)
    rows += [(f"and {more:,} more", *[""] * len(points))] * (more > 0)
    same = len(columns[0]) - len(names)
    note = f"{same:,} of {len(columns[0]):,} are the same at all of them."
    header = ("chosen", *(f"point {point}" for point in points))
    return Table("In what they differ", header, tuple(rows), (note,) * (same > 0))


def _heaviest(weights: Mapping[str, float]) -> str:
    """Return the objectives with the largest weights, in words.

    >>> _heaviest({"cost": 0.2, "defects": 0.5, "weight": 0.3})
    'defects 50 %, weight 30 %'
    """
    ordered = sorted(weights.items(), key=lambda one: -one[1])[:2]
    return ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in ordered)


def share_text(share: float) -> str:
    """Return a share in percent with two significant digits.

    >>> share_text(0.483), share_text(0.0116), share_text(0.0)
    ('48 %', '1.2 %', '0 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"
