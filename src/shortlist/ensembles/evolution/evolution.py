"""Evolutionary ensemble learning: a population that covers the hard rows, and an ensemble chosen from it."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.ensembles.evolution.settings import EvolutionSettings
from shortlist.ensembles.evolution.spaces import Population, SearchSpace
from shortlist.ensembles.evolution.training_rows import GrownEnsemble, TrainingRows
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.runs import NO_STUDY, Progress, Study
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState, digest_of_arrays, random_facts
from shortlist.runs.study import Checkpoint

DIGEST_BYTES = 16
"""Size of the digests that identify members with the same votes, in bytes."""


def evolution_checkpoint(
    study: Study, rows: TrainingRows, settings: EvolutionSettings, rng: np.random.Generator
) -> Checkpoint:
    """Return the checkpoint of an evolution, and bind its study to the settings that decide the ensemble.

    Raises BadInputError if the study is bound to other settings or rows.
    """
    if study.keeps:
        space = rows.space
        study.bind(
            {
                "the rows": digest_of_arrays([np.asarray(rows.X), rows.labels]),
                "n_classes": rows.n_classes,
                **dataclasses.asdict(settings),
                "space": repr(space) if dataclasses.is_dataclass(space) else type(space).__qualname__,
                "the random state": random_facts(rng),
            }
        )
    return Checkpoint("evolution", study)


def evolution_state(
    population: Population,
    codes: ClassCodes,
    ensemble: GrownEnsemble,
    history: Sequence[Sequence[float]],
    rng: np.random.Generator,
) -> KeptState:
    """Return the state after the last generation of the history.

    The answers of individuals are kept, since asking individuals in other groups may round differently.
    Raises BadInputError if individuals are Python objects, since only a pickle could keep these.
    """
    if population.dtype.hasobject:
        raise BadInputError(
            "a study keeps individuals of numbers, truth values or text, got Python objects from the space. "
            "Leave the study out."
        )
    known = np.frombuffer(b"".join(sorted(ensemble.known)), dtype=np.uint8)
    arrays = {
        "population": population,
        "codes": codes,
        "members": ensemble.genomes,
        "tally": ensemble.tally,
        "known": known,
    }
    return KeptState(arrays, {"history": history, "random": random_facts(rng)})


def opened_evolution(
    state: KeptState, rng: np.random.Generator
) -> tuple[Population, ClassCodes, GrownEnsemble, list[list[Any]]]:
    """Return the first four arguments of :func:`evolution_state` from a kept state, and set the generator."""
    arrays = state.arrays
    known = arrays["known"].tobytes()
    digests = [known[place : place + DIGEST_BYTES] for place in range(0, len(known), DIGEST_BYTES)]
    ensemble = GrownEnsemble(arrays["members"], arrays["tally"], frozenset(digests))
    rng.bit_generator.state = state.facts["random"]
    return arrays["population"], arrays["codes"], ensemble, state.facts["history"]


def room_for_members(max_members: int | None, number: int, n_generations: int) -> int | None:
    """Return the number of members that an online ensemble may have after a generation, None for no limit.

    The number grows in step with the generations, from 1 to `max_members` in the last one. Members that the
    selection does not use stay available for later generations.

    >>> [room_for_members(10, number, 4) for number in (1, 2, 3, 4)], room_for_members(None, 2, 4)
    ([2, 5, 7, 10], None)
    """
    return None if max_members is None else max(1, max_members * number // n_generations)


@dataclass(frozen=True)
class Breeding:
    """Breeding of children by tournaments, recombination and mutation."""

    space: SearchSpace
    tournament: int
    crossover_rate: float
    rng: np.random.Generator

    def __call__(self, population: Population, fitness: NDArray[Any], n_children: int) -> Population:
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

    def _winners(self, fitness: NDArray[Any], n_winners: int) -> NDArray[np.intp]:
        drawn = self.rng.integers(len(fitness), size=(n_winners, self.tournament))
        return np.asarray(drawn[np.arange(n_winners), fitness[drawn].argmax(axis=1)])


def counted_population(population: Population, wanted: int, method: str) -> Population:
    """Return a population; raise BadInputError unless it has the requested number of individuals."""
    if len(population) != wanted:
        raise BadInputError(
            f"{method} of the space must return {wanted} individuals, as many as asked for, got "
            f"{len(population)}."
        )
    return population


PATIENCE = "patience"
"""Reason for the end of evolution where the ensemble had not improved for the allowed number of
generations.
"""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Generation:
    """Figures of a generation on the training rows."""

    number: int
    """Number of the generation, from 1."""
    best_error: float
    mean_error: float
    """Least and mean share of rows that an individual of the population gets wrong; with costs, least and
    mean cost of an individual's errors per row.
    """
    ensemble_error: float
    """Share of rows that the ensemble's vote gets wrong; with costs, mean cost of its errors per row. In
    ``offline`` and ``single`` it is the error of the best individual until the last generation.
    """
    ensemble_size: int
    """Number of members after this generation."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Evolved:
    """An evolved ensemble."""

    members: Population
    """Genomes of the members in the order of joining; ``space.predict(members, X)`` returns their answers."""
    population: Population
    """Genomes of the last generation."""
    history: tuple[Generation, ...]
    """One entry per generation."""
    error: float
    """Share of the training rows that the members' plurality vote gets wrong, or the mean cost of its
    errors.
    """
    stopped: str
    """Reason for an end before the last generation: :data:`PATIENCE`, ``"interrupted"``, or the time limit,
    such as ``"60 s"``; empty otherwise.
    """


def evolve(
    space: SearchSpace,
    X: NDArray[np.float64],
    labels: ArrayLike,
    settings: EvolutionSettings,
    *,
    n_classes: int,
    rng: np.random.Generator | None = None,
    callback: Callable[[Generation], None] | None = None,
    budget: Budget | None = None,
    study: Study = NO_STUDY,
) -> Evolved:
    """Evolve classifiers that are right where others are wrong, and choose an ensemble by margins.

    Every generation weighs the rows anew (:func:`shortlist.ensembles.evolution.training_rows.row_weights`),
    and an individual's fitness is the weight of the rows that it gets right. Parents win tournaments;
    children are recombined or copied, then mutated. In ``offline`` (Section 3.3 of :cite:t:`Gagne2007`) the
    whole population is the reference set, and the ensemble is chosen from the last one, starting from its
    most accurate individual. In ``online`` (Section 3.4) the ensemble is the reference set. In generation 1
    the ensemble is the best individual. In later generations the selection of Figure 1 starts from the
    ensemble, with the new population as pool, and so never removes a member. ``smoothing`` prevents that the
    ensemble stays one individual. Individuals with the same votes as another individual or a member never
    join. A plurality's ties go to the lowest class. Raises BadInputError if a setting is out of range, or if
    the answers of the space are no class indices or have a wrong shape. It is also raised if the study is
    bound to other settings or rows, or if individuals to be kept in it are Python objects.

    `X`: rows in the form that the space takes, ``(n_rows, n_features)``; the spaces that ship expect finite,
    standardised columns. `labels`: index of the true class, ``(n_rows,)``. `settings`: options of breeding
    and of the choice of the ensemble. `rng`: source of all random choices; default seed 0. `callback`:
    receives every :class:`Generation`. `budget`: receives a progress event per generation, and stops with the
    ensemble of the generations so far. `study`: keeps the state after a generation, at most once a second.
    Evolution continues from a kept state, and the callback then receives the later generations only.

    >>> from shortlist.ensembles.evolution.scored_spaces import LinearClassifiers
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> few = EvolutionSettings(population_size=20, n_generations=5)
    >>> evolve(LinearClassifiers(1, 2), X, [0, 0, 1, 1], few, n_classes=2).error
    0.0
    """
    settings.check()
    budget = budget or Budget()
    size, total = settings.population_size, settings.n_generations
    rng = np.random.default_rng(0) if rng is None else rng
    costs: Any = settings.error_costs
    rows = TrainingRows(space, X, np.asarray(labels), n_classes, settings.criterion, error_costs=costs)
    breed = Breeding(space, settings.tournament, settings.crossover_rate, rng)

    history: list[Generation] = []
    stopped = ""
    checkpoint = evolution_checkpoint(study, rows, settings, rng)
    known = checkpoint.last()
    if known is None:
        population = counted_population(space.sample(size, rng), size, "sample")
        codes = rows.codes(population)
        ensemble = rows.single_best(population, codes)
    else:
        population, codes, ensemble, numbers = opened_evolution(known, rng)
        history = [Generation(*generation) for generation in numbers]
        stopped = "" if len(history) == total else _reason_to_stop(history, settings.patience)
    budget.report(Progress("evolving", len(history), total))

    def state() -> KeptState:
        numbers = [dataclasses.astuple(generation) for generation in history]
        return evolution_state(population, codes, ensemble, numbers, rng)

    while not stopped and len(history) < total:
        number = len(history) + 1
        if number > 1:
            population, codes = _bred(rows, breed, settings, population, codes, ensemble=ensemble)
            if settings.mode == "online":
                room = room_for_members(settings.max_members, number, total)
                ensemble = rows.grown(ensemble, population, codes, room)
            else:
                ensemble = rows.single_best(population, codes)
        history.append(_measured(rows, number, codes, ensemble))
        budget.report(Progress("evolving", number, total, history[-1].ensemble_error))
        if callback is not None:
            callback(history[-1])
        if number < total:
            stopped = _reason_to_stop(history, settings.patience, budget)
        checkpoint.keep(state)
    if stopped and stopped != PATIENCE:
        checkpoint.keep(state, now=True)
    else:
        checkpoint.finish(state, budget.elapsed)
    if settings.mode == "offline":
        ensemble = rows.grown(ensemble, population, codes, settings.max_members)
    return Evolved(ensemble.genomes, population, tuple(history), rows.error(ensemble), stopped)


def _bred(
    rows: TrainingRows,
    breed: Breeding,
    settings: EvolutionSettings,
    population: Population,
    codes: ClassCodes,
    *,
    ensemble: GrownEnsemble,
) -> tuple[Population, ClassCodes]:
    size = settings.population_size
    hardness = functools.partial(
        rows.weights, settings.mode, ensemble=ensemble, gamma=settings.gamma, smoothing=settings.smoothing
    )
    fitness = rows.fitness(codes, hardness(codes))
    if settings.survivors == "children":
        children = breed(population, fitness, size - settings.n_elites)
        kept = np.argsort(-fitness, kind="stable")[: settings.n_elites]
        return np.concatenate([population[kept], children]), np.hstack([codes[:, kept], rows.codes(children)])
    children = breed(population, fitness, size)
    everyone = np.concatenate([population, children])
    everyones = np.hstack([codes, rows.codes(children)])
    judged = rows.fitness(everyones, hardness(everyones))
    kept = np.sort(np.argsort(-judged, kind="stable")[:size])
    return everyone[kept], everyones[:, kept]


def _measured(rows: TrainingRows, number: int, codes: ClassCodes, ensemble: GrownEnsemble) -> Generation:
    errors = rows.errors(codes)
    return Generation(number, float(errors.min()), float(errors.mean()), rows.error(ensemble), len(ensemble))


def _reason_to_stop(history: list[Generation], patience: int | None, budget: Budget | None = None) -> str:
    if budget is not None and budget.stopped:
        return budget.limit_text
    if patience is None or len(history) <= patience:
        return ""
    best_before = min(generation.ensemble_error for generation in history[:-patience])
    recent = min(generation.ensemble_error for generation in history[-patience:])
    return PATIENCE if recent >= best_before else ""
