"""Spaces of classifiers that evolution searches: their protocol, and four ready-made ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.evolution.scored_spaces import (
    GeneticPrograms,
    LinearClassifiers,
    NeuralNetworks,
    SpaceSize,
)
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

Systems = NDArray[np.void]
"""Structured array of rule systems, ``(n_individuals,)``, of the type :attr:`RuleSystems.genome`."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class RuleSystems(SpaceSize):
    """Search space of ordered lists of rules "if all conditions hold, then class c", with a default class.

    A condition compares one column with a number, from above or from below. A condition that is switched off
    always holds. The default class is for rows that no rule covers.
    """

    n_rules: int = 6
    n_conditions: int = 3
    """Number of rules per system, and of conditions per rule."""
    step: float = 0.3
    """Standard deviation of a change of a number, on standardised columns."""
    rate: float = 0.1
    """Share of the conditions and of the classes that a mutation changes, from 0 to 1."""

    @property
    def genome(self) -> np.dtype[np.void]:
        """Data type of an individual; its last class is for rows that no rule covers."""
        conditions = (self.n_rules, self.n_conditions)
        return np.dtype(
            [
                ("column", np.intp, conditions),
                ("number", np.float64, conditions),
                ("sense", np.int8, conditions),  # 1: above the number, -1: not above it, 0: switched off
                ("verdict", np.uint8, (self.n_rules + 1,)),
            ]
        )

    def sample(self, size: int, rng: np.random.Generator) -> Systems:
        """Return random systems, ``(size,)``, with a third of the conditions off, and random classes."""
        systems = np.empty(size, dtype=self.genome)
        shape = systems["column"].shape
        systems["column"] = rng.integers(self.n_features, size=shape)
        systems["number"] = rng.standard_normal(shape)
        systems["sense"] = rng.integers(-1, 2, size=shape)
        systems["verdict"] = rng.integers(self.n_classes, size=systems["verdict"].shape)
        return systems

    def mutate(self, population: Systems, rng: np.random.Generator) -> Systems:
        """Return copies with small changes of some numbers; some conditions and classes are drawn again."""
        mutants, fresh = population.copy(), self.sample(len(population), rng)
        shape = mutants["number"].shape
        moved = rng.random(shape) < self.rate
        mutants["number"] += self.step * moved * rng.standard_normal(shape)
        redrawn = rng.random(shape) < self.rate / 2
        for part in ("column", "number", "sense"):
            mutants[part] = np.where(redrawn, fresh[part], mutants[part])
        another = rng.random(mutants["verdict"].shape) < self.rate / 2
        mutants["verdict"] = np.where(another, fresh["verdict"], mutants["verdict"])
        return mutants

    def recombine(self, first: Systems, second: Systems, rng: np.random.Generator) -> Systems:
        """Return children that take each whole rule from one of the parents, at the same index."""
        child = first.copy()
        other = rng.random((len(first), self.n_rules + 1)) < 0.5
        for part in ("column", "number", "sense"):
            child[part] = np.where(other[:, :-1, None], second[part], first[part])
        child["verdict"] = np.where(other, second["verdict"], first["verdict"])
        return child

    def predict(self, population: Systems, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class of the first rule that covers a row, ``(n_rows, n_individuals)``.

        The loop runs from the last rule to the first, so that earlier rules overwrite later ones.
        """
        columns = np.ascontiguousarray(X.T)
        answers = np.repeat(population["verdict"][:, -1:], len(X), axis=1)
        for rule in reversed(range(self.n_rules)):
            takes = np.ones(answers.shape, dtype=bool)
            for condition in range(self.n_conditions):
                sense = population["sense"][:, rule, condition, None]
                number = population["number"][:, rule, condition, None]
                above = columns[population["column"][:, rule, condition]] > number
                takes &= (sense == 0) | (above == (sense == 1))
            np.copyto(answers, population["verdict"][:, rule, None], where=takes)
        return np.ascontiguousarray(answers.T)


Population: TypeAlias = NDArray[Any]
"""Genomes of classifiers: an array whose first axis is the individual; data type and further axes are free.
"""


@runtime_checkable
class SearchSpace(Protocol):
    """Interface of classifiers for evolution; each method is called for a whole population at once.

    Evolution itself only indexes and concatenates populations along their first axis, so structured arrays
    and arrays of objects are possible too. Every method returns new arrays and leaves its arguments
    unchanged.
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
"""Function from the number of columns of the standardised rows, and the number of classes, to a search space.
"""

SPACES: dict[str, SpaceFactory] = {
    "linear": LinearClassifiers,
    "networks": NeuralNetworks,
    "rules": RuleSystems,
    "genetic-programs": GeneticPrograms,
}
"""Factories of the ready-made spaces, by name: the list of Section 3.3 of :cite:t:`Gagne2007`."""


def open_space(space: str | SpaceFactory, n_features: int, n_classes: int) -> SearchSpace:
    """Return a search space by its name, or from the user's own factory.

    Raises BadInputError if the name is unknown, or the result of the factory lacks a method of
    :class:`SearchSpace`.
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
            "must return an object with the methods sample, mutate, recombine and predict",
            f"a {type(made).__name__}",
            "Pass a class or function that takes the numbers of features and classes.",
        )
    return made
