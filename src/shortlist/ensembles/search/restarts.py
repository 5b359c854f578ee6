"""Where walks begin again: at the best ends of walks, mixed and shaken, and at random."""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits


class Elites:
    """The best ends of walks, and new selections bred from them."""

    def __init__(
        self, n_classifiers: int, limits: SelectionLimits, most: int, rng: np.random.Generator
    ) -> None:
        self.n, self.limits, self.most, self.rng = n_classifiers, limits, most, rng
        self.ends: list[tuple[tuple[int, ...], NDArray[np.uint8]]] = []

    def add(self, key: tuple[int, ...], members: NDArray[np.uint8]) -> None:
        """Keep the best selection of a walk, worth `key`, if it is new and among the best."""
        if key and not any(np.array_equal(members, end) for _, end in self.ends):
            self.ends.append((key, members.copy()))
            self.ends.sort(key=lambda end: end[0], reverse=True)
            del self.ends[self.most :]

    def next(self, start: Mask | None) -> NDArray[np.uint8]:
        """Return where the next walk begins: at a start if one is left."""
        rng, n = self.rng, self.n
        if start is not None:
            return self.within_size(start)
        mask = np.zeros(n, dtype=np.uint8)
        if len(self.ends) < self.most // 2 or rng.random() < 0.1:
            mask[rng.permutation(n)[: rng.integers(self.limits.min_size, self.limits.max_size + 1)]] = 1
        elif rng.random() < 0.5:
            one, other = (self.ends[i][1] for i in rng.permutation(len(self.ends))[:2])
            mask = np.where(rng.random(n) < 0.5, one, other)
        else:
            mask = self.ends[rng.integers(len(self.ends))][1].copy()
            mask[rng.permutation(n)[: max(2, int(n * rng.choice([0.05, 0.1, 0.2])))]] ^= 1
        return self.within_size(mask)

    def within_size(self, mask: NDArray[np.generic]) -> NDArray[np.uint8]:
        """Return a copy with members added or dropped by chance until the size is within its limits."""
        sized = mask.astype(np.uint8)
        size = int(sized.sum())
        for surplus, value in ((size - self.limits.max_size, 1), (self.limits.min_size - size, 0)):
            if surplus > 0:
                sized[self.rng.permutation(np.flatnonzero(sized == value))[:surplus]] = 1 - value
        return sized
