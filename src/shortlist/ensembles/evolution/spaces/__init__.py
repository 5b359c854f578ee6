"""Spaces of classifiers that evolution searches: a small protocol, and four that ship."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.evolution.spaces.genetic_programs import GeneticPrograms
from shortlist.ensembles.evolution.spaces.linear import LinearClassifiers
from shortlist.ensembles.evolution.spaces.networks import NeuralNetworks
from shortlist.ensembles.evolution.spaces.rules import RuleSystems
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.errors import BadInputError

Population: TypeAlias = NDArray[Any]
"""Genomes of classifiers: an array whose first axis is the individual, of any dtype and further shape."""


@runtime_checkable
class SearchSpace(Protocol):
    """What evolution needs to know about classifiers; each call is for a whole population at once.

    Evolution itself only indexes and concatenates populations along their first axis, so a structured or an
    object array will do. Every method returns new arrays and changes none.
    """

    def sample(self, size: int, rng: np.random.Generator) -> Population:
        """Return `size` random individuals."""

    def mutate(self, population: Population, rng: np.random.Generator) -> Population:
        """Return one changed copy of each individual."""

    def recombine(self, first: Population, second: Population, rng: np.random.Generator) -> Population:
        """Return one child of each pair."""

    def predict(self, population: Population, X: NDArray[np.float64]) -> ClassCodes:
        """Return the index of the class that each individual gives each row, ``(n_rows, n_individuals)``."""


SpaceFactory: TypeAlias = Callable[[int, int], SearchSpace]
"""Makes a space from the number of columns of the standardised rows and the number of classes."""

SPACES: dict[str, SpaceFactory] = {
    "linear": LinearClassifiers,
    "networks": NeuralNetworks,
    "rules": RuleSystems,
    "genetic-programs": GeneticPrograms,
}
"""The spaces that ship, by name: the list of Section 3.3 of :cite:t:`Gagne2007`."""


def open_space(space: str | SpaceFactory, n_features: int, n_classes: int) -> SearchSpace:
    """Return a space by name, or from the user's own factory.

    Raises
    ------
    BadInputError
        If the name is unknown, or the factory makes something that lacks a method of :class:`SearchSpace`.
    """
    if isinstance(space, str):
        if space not in SPACES:
            raise BadInputError(
                "space", f"must be one of {any_of(sorted(SPACES))}", repr(space), did_you_mean(space, SPACES)
            )
        return SPACES[space](n_features, n_classes)
    made = space(n_features, n_classes) if callable(space) else space
    if not isinstance(made, SearchSpace):
        raise BadInputError(
            "space",
            "must make something with sample, mutate, recombine and predict",
            f"a {type(made).__name__}",
            "Pass a class or function that takes the numbers of features and classes.",
        )
    return made


__all__ = [
    "SPACES",
    "GeneticPrograms",
    "LinearClassifiers",
    "NeuralNetworks",
    "Population",
    "RuleSystems",
    "SearchSpace",
    "SpaceFactory",
    "open_space",
]
