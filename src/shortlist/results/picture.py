"""Picture of a front for papers, drawn by matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.results.objective import Objective, Sense
from shortlist.results.picking import mark_takeable, pick_index
from shortlist.results.proof import FrontPoints

INK = "#0072b2"
PICKED = "#d55e00"
MOST_AXES = 6
"""Largest number of objectives in one figure."""


def front_figure(front: FrontPoints) -> Any:
    """Return a figure of a front: a plane for every pair of objectives, with ideal and knee marked.

    The axes of minimised objectives are reversed, with a note, so that better points lie up and to the right.
    Raises BadInputError if there is nothing to draw. Raises MissingDependencyError if matplotlib is not
    installed.

    `front`: front of at least one point, two objectives, and finite values.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "pictures need the matplotlib package. Install it: pip install 'shortlist[plot]'."
        ) from None
    n = len(front.objectives)
    if not len(front) or not 2 <= n <= MOST_AXES or not np.isfinite(front.values).all():
        raise BadInputError(
            f"a picture needs points with finite values of 2 to {MOST_AXES} objectives, got {len(front)} "
            f"points of {n}. Make a page instead, which takes any number."
        )
    size = n - 1
    figure = Figure(figsize=(4.5 if size == 1 else 2.6 * size + 1, 3.4 if size == 1 else 2.3 * size + 1))
    figure.set_layout_engine("constrained")
    axes = figure.subplots(size, size, squeeze=False)
    for row in range(size):
        for column in range(size):
            axes[row][column].set_visible(column <= row)
            if column <= row:
                _draw_plane(axes[row][column], front, column, row + 1)
            if row == size - 1:
                axes[row][column].set_xlabel(_label(front.objectives[column], "→"))
        axes[row][0].set_ylabel(_label(front.objectives[row + 1], "→"))
    if axes[0][0].get_legend_handles_labels()[0]:
        axes[0][0].legend(fontsize="small")
    return figure


def _draw_plane(ax: Any, front: FrontPoints, across: int, up: int) -> None:
    xs, ys = front.values[:, across], front.values[:, up]
    ax.scatter(xs, ys, s=14, color=INK, linewidths=0, rasterized=len(front) > 5000)
    marked = (("ideal", "o"), ("knee", "D")) if mark_takeable(front, None).any() else ()
    for rule, mark in marked:
        at = pick_index(front, rule)
        ax.scatter(xs[at], ys[at], s=70, marker=mark, facecolors="none", edgecolors=PICKED, label=rule)
    if front.objectives[across].sense is Sense.MIN:
        ax.invert_xaxis()
    if front.objectives[up].sense is Sense.MIN:
        ax.invert_yaxis()


def save_figure(front: FrontPoints, path: str | Path) -> None:
    """Write the figure of a front completely or not at all.

    The ending of the path decides on svg, png or pdf.
    """
    from shortlist.files import whole_file

    figure = front_figure(front)
    with whole_file(path) as temporary:
        figure.savefig(temporary, format=Path(path).suffix.casefold().lstrip("."), dpi=200)


def _label(objective: Objective, arrow: str) -> str:
    """Return name, unit and better direction for an axis, without dollar signs.

    Matplotlib reads text between dollar signs as mathematics.
    """
    unit = f" ({objective.unit})" if objective.unit else ""
    better = "less" if objective.sense is Sense.MIN else "more"
    return f"{objective.name}{unit}: {better} is better {arrow}".replace("$", r"\$")
