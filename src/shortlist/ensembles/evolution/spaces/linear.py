"""Linear classifiers, evolved as vectors of real numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.evolution.spaces.scores import highest_class, n_scores, weighted_sums
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.pickles import saved_from

LinearWeights = NDArray[np.float32]
"""``(n_individuals, n_outputs, n_features + 1)``; the last weight is the intercept."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class LinearClassifiers:
    """Linear discriminants: with two classes one hyperplane, with more one score per class.

    Parameters
    ----------
    n_features, n_classes : int
        Columns of the rows, and classes.
    step : float, default=0.3
        Standard deviation of a mutation, against weights that start with 1.
    rate : float, default=0.1
        Share of the weights that a mutation changes; one at least is expected to.
    blend : float, default=0.5
        α of the BLX-α crossover (:cite:t:`Eshelman1993`): how far a child may lie outside its parents.
    """

    n_features: int
    n_classes: int
    step: float = 0.3
    rate: float = 0.1
    blend: float = 0.5

    def sample(self, size: int, rng: np.random.Generator) -> LinearWeights:
        """Return weights from the standard normal distribution."""
        shape = (size, n_scores(self.n_classes), self.n_features + 1)
        return rng.standard_normal(shape, dtype=np.float32)

    def mutate(self, population: LinearWeights, rng: np.random.Generator) -> LinearWeights:
        """Add normal noise to some of the weights."""
        rate = max(self.rate, 1 / population[0].size)
        changed = rng.random(population.shape, dtype=np.float32) < rate
        noise = rng.standard_normal(population.shape, dtype=np.float32)
        return np.asarray(population + np.float32(self.step) * noise * changed)

    def recombine(
        self, first: LinearWeights, second: LinearWeights, rng: np.random.Generator
    ) -> LinearWeights:
        """Draw each weight from the parents' interval, widened by α of its length on both sides."""
        place = (1 + 2 * self.blend) * rng.random(first.shape, dtype=np.float32) - self.blend
        return np.asarray(first + place.astype(np.float32) * (second - first))

    def predict(self, population: LinearWeights, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals."""
        size, outputs, _ = population.shape
        flat = population.reshape(size * outputs, -1)
        return highest_class(weighted_sums(X, flat).reshape(len(X), size, outputs))
