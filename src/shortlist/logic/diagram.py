"""Binary decision diagrams as plain arrays: count, draw, evaluate and list models of clauses."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError


@dataclass(frozen=True, eq=False)
class Diagram:
    """Reduced ordered binary decision diagram (Bryant 1986) of all models of some clauses.

    Build it with :func:`shortlist.logic.compilation.compile_diagram`. Nodes are numbered from the bottom:
    node 0 is false, node 1 is true, and both children of a node have smaller numbers. A child may be
    several levels below its parent; levels between them may have either value.
    """

    places: NDArray[np.int32]
    """Level of each variable, 0 at the top, ``(n_variables,)``; -1 for a variable with the same value in
    every model. Equivalent variables share a level.
    """
    polarities: Mask
    """Value of a fixed variable, ``(n_variables,)``; otherwise its value on the high side of its level."""
    n_levels: int
    """Number of levels."""
    levels: NDArray[np.int32]
    """Level of each node, falling, ``(n_nodes,)``; `n_levels` for nodes 0 and 1."""
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    """Child of each node on the low and on the high side, ``(n_nodes,)``; terminals are their own children.
    """
    root: int
    """Topmost node."""

    @property
    def n_variables(self) -> int:
        """Number of variables of the clauses."""
        return len(self.places)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, both terminals included."""
        return len(self.levels)

    @cached_property
    def counts(self) -> list[int]:
        """Number of ways, for each node, to set its level and all lower levels so that the node is true."""
        levels, low, high = self.levels.tolist(), self.low.tolist(), self.high.tolist()
        counts = [0, 1]
        for node in range(2, self.n_nodes):
            below = levels[node] + 1
            counts.append(
                (counts[low[node]] << (levels[low[node]] - below))
                + (counts[high[node]] << (levels[high[node]] - below))
            )
        return counts

    @property
    def n_models(self) -> int:
        """Exact number of models."""
        return self.counts[self.root] << int(self.levels[self.root])

    def commonality(self) -> list[int]:
        """Return, for each variable, the exact number of models in which it is true.

        Takes time linear in the nodes.
        """
        levels, low, high = self.levels.tolist(), self.low.tolist(), self.high.tolist()
        above = [0] * self.n_nodes  # ways to reach each node from the top
        above[self.root] = 1 << levels[self.root]
        on_high = [0] * self.n_levels
        # paths that skip a level set it either way, so half of them set it high: stored as differences
        # along the levels
        skipping = [0] * (self.n_levels + 2)
        skipping[0] += self.n_models
        skipping[levels[self.root]] -= self.n_models
        for node in range(self.n_nodes - 1, 1, -1):
            for child, is_high in ((low[node], False), (high[node], True)):
                if child == 0:
                    continue
                ways = above[node] << (levels[child] - levels[node] - 1)
                above[child] += ways
                through = ways * self.counts[child]
                skipping[levels[node] + 1] += through
                skipping[levels[child]] -= through
                if is_high:
                    on_high[levels[node]] += through
        passing = 0
        for level in range(self.n_levels):
            passing += skipping[level]
            on_high[level] += passing // 2
        total = self.n_models
        return [
            (total if polarity else 0)
            if place < 0
            else (on_high[place] if polarity else total - on_high[place])
            for place, polarity in zip(self.places.tolist(), self.polarities.tolist(), strict=True)
        ]

    def model(self, index: int) -> Mask:
        """Return the model with index `index`, ordered by levels, low before high.

        Raises BadInputError if `index` is not below the number of models.
        """
        if not 0 <= index < self.n_models:
            raise BadInputError(
                "index", f"must be at least 0 and below the number of models, {self.n_models}", index
            )
        bits = np.zeros(self.n_levels, dtype=bool)
        node = self.root
        for level in range(self.n_levels):
            here = int(self.levels[node]) == level
            low, high = (int(self.low[node]), int(self.high[node])) if here else (node, node)
            on_low = self.counts[low] << int(self.levels[low] - level - 1)
            bits[level] = index >= on_low
            if bits[level]:
                index -= on_low
            node = high if bits[level] else low
        model: Mask = self.restore(bits[None, :])[0]
        return model

    def models(self) -> Iterator[Mask]:
        """Yield every model, in the order of :meth:`model`."""
        for index in range(self.n_models):
            yield self.model(index)

    def sample(self, n: int, *, rng: np.random.Generator) -> Mask:
        """Draw `n` models with equal probability, with replacement, ``(n, n_variables)``.

        Raises BadInputError if there is no model.
        """
        if not self.n_models:
            raise BadInputError("sample", "needs a model to draw", "contradictory clauses")
        drawn = [self.model(_integer_below(self.n_models, rng)) for _ in range(n)]
        return np.array(drawn, dtype=bool).reshape(n, self.n_variables)

    def evaluate(self, assignments: NDArray[Any]) -> Mask:
        """Mark the assignments, ``(n, n_variables)``, that are models.

        Takes O(n · (n_variables + n_levels)) time.
        """
        assignments = np.asarray(assignments).astype(bool, copy=False)
        if assignments.ndim != 2 or assignments.shape[1] != self.n_variables:
            raise BadInputError(
                "assignments",
                f"must have shape (n, {self.n_variables})",
                assignments.shape,
                "Give one column per variable.",
            )
        bits = np.zeros((len(assignments), self.n_levels + 1), dtype=bool)
        live = self.places >= 0
        bits[:, self.places[live]] = assignments[:, live] == self.polarities[live]
        nodes = np.full(len(assignments), self.root)
        rows = np.arange(len(assignments))
        while (nodes > 1).any():
            nodes = np.where(bits[rows, self.levels[nodes]], self.high[nodes], self.low[nodes])
        good: Mask = (nodes == 1) & (self.restore(bits[:, :-1]) == assignments).all(axis=1)
        return good

    def restore(self, bits: Mask) -> Mask:
        """Convert values by level, ``(n, n_levels)``, to values by variable, ``(n, n_variables)``."""
        values = np.empty((len(bits), self.n_variables), dtype=bool)
        live = self.places >= 0
        values[:, ~live] = self.polarities[~live]
        values[:, live] = bits[:, self.places[live]] == self.polarities[live]
        return values


def _integer_below(bound: int, rng: np.random.Generator) -> int:
    """Draw an integer from 0 to `bound` - 1 with equal probability, for a bound of any size."""
    n_bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((n_bits + 7) // 8), "little") & ((1 << n_bits) - 1)
        if drawn < bound:
            return drawn


_NONE = 2**62
"""Number that stands for no model; sums of costs stay far below it."""


@dataclass(frozen=True, eq=False)
class _Sides:
    """Sides of each level that are possible with given literals."""

    low: Mask
    high: Mask
    """Whether the low, and the high, side of each level is possible, ``(n_levels,)``."""
    consistent: bool
    """Whether a model may have all literals; False if fixed and equivalent variables exclude it."""


def n_models_with(diagram: Diagram, literals: Iterable[int]) -> int:
    """Count the models with given literals, exactly.

    Takes time linear in the nodes. Raises BadInputError if a literal names a variable that does not exist.

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
    """Return the least sum of each row of costs over the models with the literals; None without one.

    For each row it computes a shortest path from top to bottom, level by level. Raises BadInputError if a
    literal names a variable that does not exist, or the shape of costs does not fit.

    `costs`, ``(n_rows, n_variables)``: value of each true variable; absolute values in a row sum to less
    than 2^53.

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
    starts = np.flatnonzero(np.diff(diagram.levels[2:], prepend=-1)) + 2  # nodes of one level are adjacent
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
