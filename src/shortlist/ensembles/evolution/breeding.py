"""Tournaments, recombination and mutation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.evolution.spaces import Population, SearchSpace
from shortlist.errors import BadInputError


@dataclass(frozen=True)
class Breeding:
    """Tournaments, recombination and mutation."""

    space: SearchSpace
    tournament: int
    crossover_rate: float
    rng: np.random.Generator

    def __call__(self, population: Population, fitness: NDArray[np.float64], n_children: int) -> Population:
        """Return children of parents that won tournaments."""
        first, second = self._winners(fitness, n_children), self._winners(fitness, n_children)
        children = population[first]
        mixed = np.flatnonzero(self.rng.random(n_children) < self.crossover_rate)
        if len(mixed):
            children[mixed] = self.space.recombine(children[mixed], population[second[mixed]], self.rng)
        return (
            counted_population(self.space.mutate(children, self.rng), n_children, "mutate")
            if n_children
            else children
        )

    def _winners(self, fitness: NDArray[np.float64], n_winners: int) -> NDArray[np.intp]:
        """Draw competitors with replacement; the first drawn of the fittest wins."""
        drawn = self.rng.integers(len(fitness), size=(n_winners, self.tournament))
        return np.asarray(drawn[np.arange(n_winners), fitness[drawn].argmax(axis=1)])


def counted_population(population: Population, wanted: int, method: str) -> Population:
    """Return a population if it has as many individuals as were asked for."""
    if len(population) != wanted:
        raise BadInputError(
            f"{method} of the space must return {wanted} individuals, as many as asked for, got "
            f"{len(population)}."
        )
    return population
