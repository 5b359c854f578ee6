"""Binary decision diagrams as plain arrays: count, draw, evaluate and list the models of clauses."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError


@dataclass(frozen=True, eq=False)
class Diagram:
    """A reduced ordered binary decision diagram (Bryant 1986) of all models of some clauses.

    Make one with :func:`shortlist.logic.compilation.compile_diagram`. Nodes are numbered from the bottom:
    node 0 is false, node 1 is true, and both children of a node have smaller numbers. A child may lie several
    levels below its parent: the levels between may take either value.

    Parameters
    ----------
    places : ndarray of int32, shape (n_variables,)
        The level that decides each variable, 0 at the top; -1 for a variable with one value in every model.
        Equivalent variables share a level.
    polarities : ndarray of bool, shape (n_variables,)
        The value of a fixed variable; otherwise the value of the variable on the high side of its level.
    n_levels : int
        Number of levels.
    levels : ndarray of int32, shape (n_nodes,)
        The level of each node, falling; `n_levels` for nodes 0 and 1.
    low, high : ndarray of int32, shape (n_nodes,)
        The child on either side; the terminals are their own children.
    root : int
        The topmost node.
    """

    places: NDArray[np.int32]
    polarities: Mask
    n_levels: int
    levels: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    root: int

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
        """Number of ways, for each node, to set its own and all lower levels so that the diagram is true."""
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
        """Number of models, exactly."""
        return self.counts[self.root] << int(self.levels[self.root])

    def commonality(self) -> list[int]:
        """Return for each variable the exact number of models in which it is true.

        Takes time linear in the nodes.
        """
        levels, low, high = self.levels.tolist(), self.low.tolist(), self.high.tolist()
        above = [0] * self.n_nodes  # ways to reach each node from the top
        above[self.root] = 1 << levels[self.root]
        on_high = [0] * self.n_levels
        # paths that skip a level set it either way, so half of them set it high: kept as differences along
        # the levels
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
        """Return model number `index` of an order in which each level is low before it is high.

        Raises
        ------
        BadInputError
            If there are not so many models.
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
        """Yield every model, one at a time, in the order of :meth:`model`."""
        for index in range(self.n_models):
            yield self.model(index)

    def sample(self, n: int, *, rng: np.random.Generator) -> Mask:
        """Draw `n` models, each with the same probability, with replacement; shape (n, n_variables).

        Raises
        ------
        BadInputError
            If there is no model.
        """
        if not self.n_models:
            raise BadInputError("sample", "needs a model to draw", "contradictory clauses")
        drawn = [self.model(_integer_below(self.n_models, rng)) for _ in range(n)]
        return np.array(drawn, dtype=bool).reshape(n, self.n_variables)

    def evaluate(self, assignments: NDArray[Any]) -> Mask:
        """Tell which assignments, ``(n, n_variables)``, are models.

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
        """Turn values by level, ``(n, n_levels)``, into values by variable, ``(n, n_variables)``."""
        values = np.empty((len(bits), self.n_variables), dtype=bool)
        live = self.places >= 0
        values[:, ~live] = self.polarities[~live]
        values[:, live] = bits[:, self.places[live]] == self.polarities[live]
        return values


def _integer_below(bound: int, rng: np.random.Generator) -> int:
    """Draw an integer from 0 to `bound` - 1, each with the same probability, whatever its size."""
    n_bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((n_bits + 7) // 8), "little") & ((1 << n_bits) - 1)
        if drawn < bound:
            return drawn
