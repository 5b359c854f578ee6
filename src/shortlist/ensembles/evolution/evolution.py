"""Evolutionary ensemble learning: a population that covers the hard rows, and an ensemble chosen from it."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice, as_count
from shortlist.ensembles.evolution.spaces import Population, SearchSpace
from shortlist.ensembles.rules.margin_selection import (
    CRITERIA,
    distinct_classifiers,
    grow_by_margins,
    vote_digests,
)
from shortlist.ensembles.votes.class_votes import ClassCodes, class_tally, class_votes, plurality
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.runs import Cancellation, Progress, Report, silent

MODES = {
    "offline": "Off-EEL: the population is the reference, the ensemble is chosen at the end",
    "online": "On-EEL: the ensemble is the reference, and grows every generation",
    "single": "a plain genetic algorithm: accuracy is the fitness, the best classifier is the answer",
}
"""The algorithms by name."""

SURVIVORS = ("children", "best")


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Generation:
    """What a generation came to, on the training rows.

    Attributes
    ----------
    number : int
        From 1.
    best_error, mean_error : float
        Least and mean share of rows that an individual of the population gets wrong.
    ensemble_error : float
        The same for the ensemble's vote; in ``offline`` and ``single`` that of the best individual until the
        end.
    ensemble_size : int
        Number of members so far.
    """

    number: int
    best_error: float
    mean_error: float
    ensemble_error: float
    ensemble_size: int


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Evolved:
    """An evolved ensemble.

    Attributes
    ----------
    members : Population
        Genomes of the members in the order in which they joined; ``space.predict(members, X)`` asks them.
    population : Population
        Genomes of the last generation.
    history : tuple of Generation
        One entry per generation.
    error : float
        Share of the training rows that the members' plurality vote gets wrong.
    stopped : str
        Why evolution ended before its last generation: ``"patience"``, ``"interrupted"``, or empty.
    """

    members: Population
    population: Population
    history: tuple[Generation, ...]
    error: float
    stopped: str


def row_weights(n_wrong: ArrayLike, n_reference: int, gamma: float = 1.0) -> NDArray[np.float64]:
    """Return w_i^γ, where w_i is the share of a reference set that gets row i wrong; 0^0 = 1.

    Section 3.1 of :cite:t:`Gagne2007`: the hardness of a row, bounded by 0 and 1. Where the reference set is
    right on every row all weights are 1 instead, so that fitness falls back on accuracy.

    Parameters
    ----------
    n_wrong : array-like of int, shape (n_rows,)
        How many classifiers of the reference set are wrong.
    n_reference : int
        How many classifiers are in the reference set.
    gamma : float, default=1
        γ, at least 0; 0 makes every row equal.

    Examples
    --------
    >>> row_weights([1, 0, 2], 2, gamma=2).tolist()
    [0.25, 0.0, 1.0]
    """
    wrong = np.asarray(n_wrong)
    if not wrong.any():
        return np.ones(len(wrong))
    return np.asarray((wrong / n_reference) ** gamma)


def room_for_members(max_members: int | None, number: int, n_generations: int) -> int | None:
    """Return how many members an online ensemble may have after a generation, None for any number.

    The room grows in step with the generations, from 1 to `max_members` in the last one. Room that the
    selection does not take stays for later generations.

    Examples
    --------
    >>> [room_for_members(10, number, 4) for number in (1, 2, 3, 4)], room_for_members(None, 2, 4)
    ([2, 5, 7, 10], None)
    """
    return None if max_members is None else max(1, max_members * number // n_generations)


def check_evolution(
    *,
    mode: str,
    population_size: int,
    n_generations: int,
    gamma: float,
    tournament: int,
    crossover_rate: float,
    survivors: str,
    n_elites: int,
    patience: int | None,
    criterion: str,
    max_members: int | None,
) -> None:
    """Refuse parameters of :func:`evolve` that are out of range, before any work.

    Raises
    ------
    BadInputError
        For the first one; the sentence names it.
    """
    as_choice(mode, "mode", list(MODES))
    as_choice(survivors, "survivors", SURVIVORS)
    as_choice(criterion, "criterion", CRITERIA)
    size = as_count(population_size, "population_size")
    as_count(n_generations, "n_generations")
    as_count(tournament, "tournament", at_most=1000)
    as_count(n_elites, "n_elites", at_least=0, at_most=size)
    if patience is not None:
        as_count(patience, "patience")
    if max_members is not None:
        as_count(max_members, "max_members")
    if not (_is_number(gamma) and 0 <= gamma < np.inf):
        raise BadInputError(f"gamma must be a number of at least 0, got {gamma!r}.")
    if not (_is_number(crossover_rate) and 0 <= crossover_rate <= 1):
        raise BadInputError(f"crossover_rate must be between 0 and 1, got {crossover_rate!r}.")


def evolve(
    space: SearchSpace,
    X: NDArray[np.float64],
    labels: ArrayLike,
    *,
    n_classes: int,
    mode: str = "offline",
    population_size: int = 500,
    n_generations: int = 200,
    gamma: float = 1.0,
    tournament: int = 2,
    crossover_rate: float = 0.9,
    survivors: str = "children",
    n_elites: int = 1,
    patience: int | None = None,
    criterion: str = "histogram",
    max_members: int | None = None,
    rng: np.random.Generator | None = None,
    callback: Callable[[Generation], None] | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Evolved:
    """Evolve classifiers that are right where others are wrong, and choose an ensemble of them by margins.

    Every generation weighs the rows anew (:func:`row_weights`), and an individual's fitness is the weight of
    the rows that it gets right. Parents win tournaments; children are recombined or copied, then mutated. In
    ``offline`` (Section 3.3 of :cite:t:`Gagne2007`) the whole population is the reference set, and the
    ensemble is chosen from the last one, starting from its most accurate individual. In ``online`` (Section
    3.4) the ensemble is the reference set: the best individual in generation 1, from then on Figure 1 started
    from the ensemble with the new population as pool, so that it never shrinks within a selection.
    Individuals with the votes of another or of a member are duplicates, and never join. A plurality's ties go
    to the lowest class.

    Parameters
    ----------
    space : SearchSpace
        Which classifiers there are.
    X : ndarray of float, shape (n_rows, n_features)
        Rows as the space wants them; the spaces that ship expect finite, standardised columns.
    labels : array-like of int, shape (n_rows,)
        Index of the true class.
    n_classes : int
        Number of classes.
    mode : {"offline", "online", "single"}, default="offline"
        See :data:`MODES`.
    population_size, n_generations : int, default=500 and 200
        Individuals, and generations in all; the first one is random.
    gamma : float, default=1
        γ of the fitness.
    tournament : int, default=2
        Individuals that compete for being a parent, from 1 to 1,000.
    crossover_rate : float, default=0.9
        Share of the children with two parents.
    survivors : {"children", "best"}, default="children"
        Children replace all but the `n_elites` fittest parents; or the fittest of parents and children
        together survive, weighed by the same reference set, which in ``offline`` is then all of them.
    n_elites : int, default=1
        Of ``survivors="children"``.
    patience : int, optional
        Stop after this many generations in which ``ensemble_error`` did not fall.
    criterion : {"histogram", "minimum"}, default="histogram"
        Of the selection; see :func:`shortlist.ensembles.rules.margin_selection.grow_by_margins`.
    max_members : int, optional
        Most members of the ensemble, at least 1; default as many as the selection takes, in ``online`` often
        thousands. Among the prefixes of the selection's order that are short enough, the best is taken.
        ``online`` shares the room out over the generations (:func:`room_for_members`), so that the last ones,
        which are bred best, still have some.
    rng : Generator, optional
        Where all random choices come from; default seed 0.
    callback : callable, optional
        Receives every :class:`Generation`.
    report, cancellation : optional
        Progress events, one per generation, and a way to stop with the ensemble of the generations so far.

    Raises
    ------
    BadInputError
        If a parameter is out of range, or the space answers no class indices of the right shape.

    Examples
    --------
    >>> from shortlist.ensembles.evolution.spaces import LinearClassifiers
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> evolve(LinearClassifiers(1, 2), X, [0, 0, 1, 1], n_classes=2, population_size=20,
    ...     n_generations=5).error
    0.0
    """
    check_evolution(
        mode=mode, population_size=population_size, n_generations=n_generations, gamma=gamma,
        tournament=tournament, crossover_rate=crossover_rate, survivors=survivors, n_elites=n_elites,
        patience=patience, criterion=criterion,
        max_members=max_members,
    )  # fmt: skip
    size, total, elites = int(population_size), int(n_generations), int(n_elites)
    rng = np.random.default_rng(0) if rng is None else rng
    rows = _Rows(space, X, np.asarray(labels), n_classes, criterion)
    breed = _Breeding(space, tournament, crossover_rate, rng)

    population = _counted(space.sample(size, rng), size, "sample")
    codes = rows.codes(population)
    ensemble = rows.single_best(population, codes)
    history: list[Generation] = []
    stopped = ""
    report(Progress("evolving", 0, total))
    for number in itertools.count(1):
        if number > 1:
            weights = rows.weights(mode, codes, ensemble, gamma)
            fitness = rows.fitness(codes, weights)
            children = breed(population, fitness, size - elites if survivors == "children" else size)
            if survivors == "children":
                kept = np.argsort(-fitness, kind="stable")[:elites]
                population = np.concatenate([population[kept], children])
                codes = np.hstack([codes[:, kept], rows.codes(children)])
            else:
                everyone = np.concatenate([population, children])
                everyones = np.hstack([codes, rows.codes(children)])
                judged = rows.fitness(everyones, rows.weights(mode, everyones, ensemble, gamma))
                kept = np.sort(np.argsort(-judged, kind="stable")[:size])
                population, codes = everyone[kept], everyones[:, kept]
            if mode == "online":
                ensemble = rows.grown(
                    ensemble, population, codes, room_for_members(max_members, number, total)
                )
            else:
                ensemble = rows.single_best(population, codes)
        history.append(rows.generation(number, codes, ensemble))
        report(Progress("evolving", number, total, history[-1].ensemble_error))
        if callback is not None:
            callback(history[-1])
        if number == total:
            break
        stopped = _reason_to_stop(history, patience, cancellation)
        if stopped:
            break
    if mode == "offline":
        ensemble = rows.grown(ensemble, population, codes, max_members)
    return Evolved(ensemble.genomes, population, tuple(history), rows.error(ensemble), stopped)


@dataclass(frozen=True, eq=False)
class _Ensemble:
    """Members, and what is kept of their answers on the training rows.

    The votes of a large ensemble would fill memory.
    """

    genomes: Population
    tally: NDArray[np.int32]
    known: frozenset[bytes]

    def __len__(self) -> int:
        return len(self.genomes)


class _Rows:
    """The training rows, and everything that is measured on them."""

    def __init__(
        self,
        space: SearchSpace,
        X: NDArray[np.float64],
        labels: NDArray[np.integer],
        n_classes: int,
        criterion: str,
    ) -> None:
        if len(X) != len(labels) or not len(X):
            raise BadInputError(f"X and labels must have one entry per row, got {len(X)} and {len(labels)}.")
        self.space, self.X, self.n_classes, self.criterion = space, X, n_classes, criterion
        self.labels = class_votes(labels[:, None], labels, n_classes=n_classes).labels

    def codes(self, population: Population) -> ClassCodes:
        """Ask the individuals, and check that they answer."""
        if not len(population):
            return np.empty((len(self.X), 0), dtype=np.uint8)
        codes = np.asarray(self.space.predict(population, self.X))
        wanted = (len(self.X), len(population))
        if codes.shape != wanted or codes.dtype.kind not in "biu":
            raise BadInputError(
                f"predict of the space must return class indices of shape {wanted}, got {codes.dtype} "
                f"{codes.shape}."
            )
        if codes.size and (codes.min() < 0 or codes.max() >= self.n_classes):
            raise BadInputError(
                f"predict of the space must return classes from 0 to {self.n_classes - 1}, got {codes.max()}."
            )
        return codes.astype(np.uint8, copy=False)

    def weights(self, mode: str, codes: ClassCodes, ensemble: _Ensemble, gamma: float) -> NDArray[np.float64]:
        """Return w_i^γ of every row against the reference set of the mode."""
        if mode == "single":
            return np.ones(len(self.labels))
        if mode == "offline":
            return row_weights(np.count_nonzero(codes != self.labels[:, None], axis=1), codes.shape[1], gamma)
        right = ensemble.tally[np.arange(len(self.labels)), self.labels]
        return row_weights(len(ensemble) - right, len(ensemble), gamma)

    def fitness(self, codes: ClassCodes, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return F(h) = Σ_i w_i^γ · 1[h(x_i) = y_i] of every individual."""
        right = codes == self.labels[:, None]
        fitness = np.zeros(right.shape[1])
        for start in range(0, len(right), 1024):  # by blocks, so that the flags never all become floats
            rows = slice(start, start + 1024)
            fitness += weights[rows] @ right[rows].astype(np.float64)
        return fitness

    def single_best(self, population: Population, codes: ClassCodes) -> _Ensemble:
        """Return the most accurate individual alone; the first of equals."""
        best = [int(np.count_nonzero(codes == self.labels[:, None], axis=0).argmax())]
        return self._joined(None, population[best], codes[:, best])

    def grown(
        self, ensemble: _Ensemble, population: Population, codes: ClassCodes, most: int | None
    ) -> _Ensemble:
        """Run Figure 1 from the ensemble on, with the population as pool, to at most so many members."""
        room = codes.shape[1] if most is None else max(0, most - len(ensemble))
        if not room:
            return ensemble
        order, right = grow_by_margins(
            class_votes(codes, self.labels, n_classes=self.n_classes),
            distinct_classifiers(codes, ensemble.known),
            ensemble.tally,
            criterion=self.criterion,
        )
        joined = order[: int(right[: room + 1].argmax())]
        return self._joined(ensemble, population[joined], codes[:, joined])

    def _joined(self, ensemble: _Ensemble | None, genomes: Population, codes: ClassCodes) -> _Ensemble:
        """Add members to an ensemble, or start one."""
        tally, known = class_tally(codes, self.n_classes), frozenset(vote_digests(codes))
        if ensemble is None:
            return _Ensemble(genomes, tally, known)
        return _Ensemble(
            np.concatenate([ensemble.genomes, genomes]), ensemble.tally + tally, ensemble.known | known
        )

    def error(self, ensemble: _Ensemble) -> float:
        """Return the share of rows that the ensemble gets wrong."""
        return float((plurality(ensemble.tally) != self.labels).mean())

    def generation(self, number: int, codes: ClassCodes, ensemble: _Ensemble) -> Generation:
        """Measure a generation."""
        errors = np.count_nonzero(codes != self.labels[:, None], axis=0) / len(codes)
        return Generation(
            number,
            float(errors.min()),
            float(errors.mean()),
            self.error(ensemble),
            len(ensemble),
        )


@dataclass(frozen=True)
class _Breeding:
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
            _counted(self.space.mutate(children, self.rng), n_children, "mutate") if n_children else children
        )

    def _winners(self, fitness: NDArray[np.float64], n_winners: int) -> NDArray[np.intp]:
        """Draw competitors with replacement; the first drawn of the fittest wins."""
        drawn = self.rng.integers(len(fitness), size=(n_winners, self.tournament))
        return np.asarray(drawn[np.arange(n_winners), fitness[drawn].argmax(axis=1)])


def _reason_to_stop(
    history: list[Generation], patience: int | None, cancellation: Cancellation | None
) -> str:
    """Say why evolution should end now, or nothing."""
    if cancellation is not None and cancellation.cancelled:
        return "interrupted"
    if patience is None or len(history) <= patience:
        return ""
    best_before = min(generation.ensemble_error for generation in history[:-patience])
    recent = min(generation.ensemble_error for generation in history[-patience:])
    return "patience" if recent >= best_before else ""


def _counted(population: Population, wanted: int, method: str) -> Population:
    """Return a population if it has as many individuals as were asked for."""
    if len(population) != wanted:
        raise BadInputError(
            f"{method} of the space must return {wanted} individuals, as many as asked for, got "
            f"{len(population)}."
        )
    return population


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
