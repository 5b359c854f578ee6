"""Complete fronts of larger product lines of :cite:t:`Xue2018`, and the points of a front in other sets."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.methods.diagram.diagram_front import diagram_front
from shortlist.products.configuration.front_search import diagram_of, padded_costs
from shortlist.products.configuration.question import DiagramOptions
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget
from shortlist_papers.front_quality import Box, box_of, grid_hypervolume
from shortlist_papers.paper import Rows
from shortlist_papers.product_lines import prepared_question
from shortlist_papers.product_runs import System, begun, system_row


@dataclass(frozen=True, eq=False)
class WholeFront:
    """Complete front that is too large to be stored point by point."""

    points: Points
    seconds: float
    ended: bool
    """Whether the front is complete; if not, other sets are not compared with it."""

    @cached_property
    def box(self) -> Box:
        """Range of each objective."""
        box = box_of(self.points)
        assert box is not None, "each product line of the study has a product"
        return box

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return np.sort(self._keyed(self.points))

    def _keyed(self, points: Points) -> NDArray[np.int64]:
        """Return one number for each point in the box, different for different points, ``(n_points,)``."""
        low, high = (np.array(ends, dtype=np.int64) for ends in (self.box.low, self.box.high))
        assert math.prod((high - low + 1).tolist()) < 2**63, "places in the box have a number of 64 bits"
        keys = np.zeros(len(points), dtype=np.int64)
        for column, first, last in zip(points.T, low, high, strict=True):
            keys = keys * (last - first + 1) + (column - first)
        return keys

    def has(self, points: Points) -> NDArray[np.bool_]:
        """Return the mask of the points that are on the front, ``(n_points,)``."""
        inside: NDArray[np.bool_] = np.zeros(len(points), dtype=bool)
        if len(points):
            places = np.flatnonzero(((points >= self.box.low) & (points <= self.box.high)).all(axis=1))
            keys = self._keyed(points[places])
            near = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
            inside[places] = self._keys[near] == keys
        return inside


@functools.cache
def whole_front(folder: Path, system: System) -> WholeFront:
    """Return the complete front by the diagram, without products, kept for all calls of a process."""
    small, question = (prepared_question(folder, *one, fixed=True)[0] for one in (("jcs", 0), system))
    for one in (small, question):  # the first one loads what is compiled
        budget = begun(Budget())
        diagram, why = diagram_of(one, max_nodes=DiagramOptions().max_nodes, budget=budget)
        assert diagram is not None, why
        costs, offsets = padded_costs(one, diagram.n_variables)
        names = [str(number) for number in range(diagram.n_variables)]
        goals = [goal.objective for goal in one.objectives]
        front = diagram_front(diagram, costs, goals, names, offsets=offsets, witnesses=False, budget=budget)
    return WholeFront(front.points, budget.elapsed, front.proof.kind is ProofKind.COMPLETE)


def measure_whole(folder: Path, system: System, *, budget: Budget) -> Rows:
    """Return the size of the complete front of a larger system, and the front's hypervolume, as a row.

    The points are not stored; :func:`beside_whole` marks the points of its rows that are on the front.
    """
    del budget
    whole = whole_front(folder, system)
    box = whole.box
    facts = {
        "kind": "whole", "ended": whole.ended, "n_points": len(whole.points), "low": list(box.low),
        "high": list(box.high), "hypervolume": grid_hypervolume(whole.points, box), "timings": 1,
    }  # fmt: skip
    return [system_row(system, "diagram", whole.seconds, []) | facts]


def beside_whole(
    measure: Callable[..., Rows], folder: Path, system: System, *given: Any, budget: Budget
) -> Rows:
    """Return measured rows with the indices of their points on the complete front, in ``optimal``.

    Indices are from 0. The column is missing if the complete front did not end.
    """
    rows, whole = measure(folder, system, *given, budget=budget), whole_front(folder, system)
    for row in rows if whole.ended else ():
        points = np.array(row["points"], dtype=np.int64).reshape(-1, len(whole.box.low))
        row["optimal"] = np.flatnonzero(whole.has(points)).tolist()
    return rows
