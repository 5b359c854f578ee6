"""What is left of a diagram's models where literals hold: how many there are, and the least sums of costs."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.diagram import Diagram

_NONE = 2**62
"""Stands for no model; sums of costs stay far below it."""


@dataclass(frozen=True, eq=False)
class _Sides:
    """Which sides of each level literals leave.

    Attributes
    ----------
    low, high : ndarray of bool, shape (n_levels,)
        Whether the side may be taken.
    consistent : bool
        False if no model has all literals, as far as fixed and equivalent variables tell.
    """

    low: Mask
    high: Mask
    consistent: bool


def n_models_with(diagram: Diagram, literals: Iterable[int]) -> int:
    """Count the models in which literals hold, exactly.

    Takes time linear in the nodes.

    Raises
    ------
    BadInputError
        If a literal names a variable that does not exist.

    Examples
    --------
    >>> from shortlist.logic.clauses import Clauses
    >>> from shortlist.logic.compilation import compile_diagram
    >>> diagram = compile_diagram(Clauses.from_clauses(4, [(-1, 2), (2, 3)]))
    >>> [n_models_with(diagram, literals) for literals in ([], [2], [-2], [-2, 1])]
    [10, 8, 2, 0]
    """
    sides = _sides(diagram, literals)
    if not sides.consistent:
        return 0
    both = np.concatenate([[0], np.cumsum(sides.low & sides.high)]).tolist()  # free levels above each level
    low_open, high_open = sides.low.tolist(), sides.high.tolist()
    levels, low, high = diagram.levels.tolist(), diagram.low.tolist(), diagram.high.tolist()
    counts = [0, 1]
    for node in range(2, diagram.n_nodes):
        level = levels[node]
        below, count = both[level + 1], 0
        if low_open[level]:
            count += counts[low[node]] << (both[levels[low[node]]] - below)
        if high_open[level]:
            count += counts[high[node]] << (both[levels[high[node]]] - below)
        counts.append(count)
    return int(counts[diagram.root] << both[levels[diagram.root]])


def least_sums(
    diagram: Diagram, costs: NDArray[np.int64], literals: Iterable[int] = ()
) -> tuple[int, ...] | None:
    """Return the least sum of each row of costs over the models in which literals hold; None without one.

    A shortest path from the top to the bottom for every row, level by level.

    Parameters
    ----------
    diagram : Diagram
        The models.
    costs : ndarray of int64, shape (n_rows, n_variables)
        What each true variable adds; the sizes in a row sum to less than 2^53.
    literals : iterable of int
        What holds.

    Raises
    ------
    BadInputError
        If a literal names a variable that does not exist, or the shape of costs does not fit.

    Examples
    --------
    >>> from shortlist.logic.clauses import Clauses
    >>> from shortlist.logic.compilation import compile_diagram
    >>> diagram = compile_diagram(Clauses.from_clauses(3, [(1, 2), (-1, -3)]))
    >>> costs = np.array([[5, 2, 1], [-5, -2, -1]])
    >>> least_sums(diagram, costs), least_sums(diagram, costs, [1]), least_sums(diagram, costs, [1, 3])
    ((2, -7), (5, -7), None)
    """
    costs = np.asarray(costs, dtype=np.int64)
    if costs.ndim != 2 or costs.shape[1] != diagram.n_variables:
        raise BadInputError(
            "costs",
            f"must have shape (n_rows, {diagram.n_variables})",
            costs.shape,
            "Give one column per variable.",
        )
    asked = tuple(literals)
    if not len(costs):
        nothing = np.zeros((1, diagram.n_variables), dtype=np.int64)
        return None if least_sums(diagram, nothing, asked) is None else ()
    sides = _sides(diagram, asked)
    if not sides.consistent:
        return None
    fixed = diagram.places < 0
    base = costs[:, fixed & diagram.polarities].sum(axis=1)
    on_low, on_high = np.zeros((2, diagram.n_levels, len(costs)), dtype=np.int64)
    np.add.at(on_high, diagram.places[~fixed & diagram.polarities], costs[:, ~fixed & diagram.polarities].T)
    np.add.at(on_low, diagram.places[~fixed & ~diagram.polarities], costs[:, ~fixed & ~diagram.polarities].T)
    on_low[~sides.low], on_high[~sides.high] = _NONE, _NONE
    free = np.minimum(on_low, on_high)
    skipped = np.vstack([np.zeros((1, len(costs)), dtype=np.int64), np.cumsum(free, axis=0)])
    sums = np.full((diagram.n_nodes, len(costs)), _NONE, dtype=np.int64)
    sums[1] = 0
    starts = np.flatnonzero(np.diff(diagram.levels[2:], prepend=-1)) + 2  # nodes of one level are together
    for start, stop in itertools.pairwise([*starts.tolist(), diagram.n_nodes]):
        level = int(diagram.levels[start])
        found = np.full((stop - start, len(costs)), _NONE, dtype=np.int64)
        for children, here, is_open in (
            (diagram.low[start:stop], on_low[level], sides.low[level]),
            (diagram.high[start:stop], on_high[level], sides.high[level]),
        ):
            if not is_open:
                continue
            below = sums[children]
            through = below + here + skipped[diagram.levels[children]] - skipped[level + 1]
            found = np.minimum(found, np.where(below == _NONE, _NONE, through))
        sums[start:stop] = found
    if (sums[diagram.root] == _NONE).any():
        return None
    total = sums[diagram.root] + skipped[int(diagram.levels[diagram.root])] + base
    return tuple(total.tolist())


def _sides(diagram: Diagram, literals: Iterable[int]) -> _Sides:
    low, high = np.ones((2, diagram.n_levels), dtype=bool)
    consistent = diagram.root != 0
    for literal in literals:
        if not 1 <= abs(literal) <= diagram.n_variables:
            raise BadInputError("literals", f"must name variables 1 to {diagram.n_variables}", literal)
        variable = abs(literal) - 1
        place, agrees = int(diagram.places[variable]), bool(diagram.polarities[variable]) == (literal > 0)
        if place < 0:
            consistent &= agrees
        elif agrees:
            low[place] = False
        else:
            high[place] = False
    return _Sides(low, high, consistent and bool((low | high).all()))
