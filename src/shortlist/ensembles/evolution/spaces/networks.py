"""Small neural networks: one hidden layer, evolved as vectors of real numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.evolution.spaces.scores import highest_class, n_scores, weighted_sums
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.pickles import saved_from

NetworkWeights = NDArray[np.float32]
"""``(n_individuals, n_weights)``: first the hidden layer's, then the output layer's, intercepts last in each.
"""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class NeuralNetworks:
    """Networks whose scores are weighted sums of a few tanh units.

    Parameters
    ----------
    n_features, n_classes : int
        Columns of the rows, and classes.
    n_hidden : int, default=5
        Units in the hidden layer.
    step : float, default=0.3
        Standard deviation of a mutation.
    rate : float, default=0.1
        Share of the weights that a mutation changes; one at least is expected to.
    """

    n_features: int
    n_classes: int
    n_hidden: int = 5
    step: float = 0.3
    rate: float = 0.1

    @property
    def n_weights(self) -> int:
        """Length of a genome."""
        return self.n_hidden * (self.n_features + 1) + n_scores(self.n_classes) * (self.n_hidden + 1)

    def sample(self, size: int, rng: np.random.Generator) -> NetworkWeights:
        """Return normal weights.

        Those of the hidden layer are scaled so that its sums have variance about 1.
        """
        weights = rng.standard_normal((size, self.n_weights), dtype=np.float32)
        weights[:, : self.n_hidden * (self.n_features + 1)] /= np.float32(np.sqrt(self.n_features + 1))
        return weights

    def mutate(self, population: NetworkWeights, rng: np.random.Generator) -> NetworkWeights:
        """Add normal noise to some of the weights."""
        changed = rng.random(population.shape, dtype=np.float32) < max(self.rate, 1 / self.n_weights)
        noise = rng.standard_normal(population.shape, dtype=np.float32)
        return np.asarray(population + np.float32(self.step) * noise * changed)

    def recombine(
        self, first: NetworkWeights, second: NetworkWeights, rng: np.random.Generator
    ) -> NetworkWeights:
        """Take each hidden unit, with the weights into and out of it, from one parent or the other.

        Weights that belong to one unit make sense together only; the output's intercepts come from the first
        parent.
        """
        from_first = rng.random((len(first), self.n_hidden)) < 0.5
        child = first.copy()
        hidden, output = self.layers(child)
        other_hidden, other_output = self.layers(second)
        hidden[...] = np.where(from_first[:, :, None], hidden, other_hidden)
        output[:, :, :-1] = np.where(from_first[:, None, :], output[:, :, :-1], other_output[:, :, :-1])
        return child

    def predict(self, population: NetworkWeights, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals."""
        hidden, output = self.layers(population)
        flat = hidden.reshape(-1, self.n_features + 1)
        codes = np.empty((len(X), len(population)), dtype=np.uint8)
        for start in range(0, len(X), 1024):  # by blocks, so that the hidden layer of everyone stays small
            sums = weighted_sums(X[start : start + 1024], flat).astype(np.float32)
            units = np.tanh(sums).reshape(len(sums), len(population), -1)
            scores = np.repeat(output[None, :, :, -1].astype(np.float64), len(sums), axis=0)
            for unit in range(self.n_hidden):  # one after the other, as in weighted_sums
                scores += units[:, :, None, unit] * output[:, :, unit].astype(np.float64)
            codes[start : start + 1024] = highest_class(scores)
        return codes

    def layers(self, population: NetworkWeights) -> tuple[NetworkWeights, NetworkWeights]:
        """Return views: into the hidden units, ``(n, n_hidden, n_features + 1)``, and out of them."""
        split = self.n_hidden * (self.n_features + 1)
        hidden = population[:, :split].reshape(len(population), self.n_hidden, self.n_features + 1)
        output = population[:, split:].reshape(len(population), n_scores(self.n_classes), self.n_hidden + 1)
        return hidden, output
