"""What the evolutionary algorithms share: their settings, the problem they evolve on, and repair."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import Presolved, presolve_in_time
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.pareto import nondominated
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget, Progress
from shortlist.runs.studies import Study
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import digest_of_arrays
from shortlist_papers.product_evolution import _kernels as kernels

GENERATIONS = "generations"
"""What progress says is being done, and the unit of a study whose state is kept."""

PROBABILITIES = ("error_mutation", "mutation", "crossover", "differential_weight", "differential_crossover")
"""Settings that are probabilities."""


@dataclass(frozen=True)
class Evolution:
    """Settings of an evolutionary run.

    The defaults are those of the study of Xue & Li (2018) but for `valid_first`.

    `n_evaluations`: configurations evaluated in all, the first population included. `population_size`:
    members of each population, and offspring per generation and population. `kappa`: scaling factor of the
    indicator's fitness. `error_mutation`: probability that a feature of a violated clause is drawn anew.
    `mutation`: probability that any other feature is flipped. `crossover`: probability of one-point crossover
    per pair. `repair`: share of the offspring of ``ibea`` that is repaired, as in SATIBEA; Henard et al.
    (2015) use 0.02. `improve`: repair to a product that is no worse than the offspring in any objective, as
    in SMTIBEA; needs `repair`. See :class:`shortlist_papers.product_evolution.ibea.Improvement`.
    `differential_weight`: for ``ibed``: probability that a bit where two members differ is flipped in a
    third. `differential_crossover`: for ``ibed``: probability that a trial takes a bit of the mutant.
    `valid_first`: let the indicator judge only among distinct vectors with the fewest violated clauses, close
    to the "1 + n" of Hierons et al. (2016). With False, violated clauses are one objective among the others,
    as in the study: on small models about a quarter of the population then stays invalid, and fewer products
    are found.
    """

    n_evaluations: int = 25_000
    population_size: int = 100
    kappa: float = 0.05
    error_mutation: float = 1.0
    mutation: float = 1e-7
    crossover: float = 0.1
    repair: float = 0.0
    improve: bool = False
    differential_weight: float = 0.5
    differential_crossover: float = 0.1
    valid_first: bool = True

    def __post_init__(self) -> None:
        as_count(self.population_size, "population_size", at_least=2)
        as_count(self.n_evaluations, "n_evaluations", at_least=self.population_size)
        if not self.kappa > 0:
            raise BadInputError("kappa", "must be above 0", self.kappa, "The usual value is 0.05.")
        for name in PROBABILITIES:
            if not 0 <= getattr(self, name) <= 1:
                raise BadInputError(name, "must be a probability", getattr(self, name))
        if not 0 <= self.repair <= 1:
            raise BadInputError("repair", "must be a share from 0 to 1", self.repair)
        if self.improve and not self.repair:
            raise BadInputError(
                "improve", "needs a share of offspring to repair", "`repair=0`", "Set repair, such as 0.02."
            )


DEFAULT_EVOLUTION = Evolution()


class EvolvedProblem:
    """Clauses and costs without fixed and equivalent variables, evaluated for many selections at once.

    `presolved`: the smaller clauses: core and dead features are gone, equivalent ones are one. `own_costs`:
    costs of the variables of the smaller clauses, ``(n_variables, n_objectives)``. `n_evaluated`: selections
    evaluated so far. `clauses`: what a product satisfies. `costs`: to minimise, scaled to integers,
    ``(n_objectives, n_variables)``. `offsets`: constant parts, ``(n_objectives,)``. `budget`: of which a part
    may be taken to make the clauses smaller.
    """

    def __init__(
        self,
        clauses: Clauses,
        costs: ArrayLike,
        offsets: ArrayLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        given = np.asarray(costs)
        if given.ndim != 2 or given.shape[1] != clauses.n_variables or given.dtype.kind not in "iu":
            raise BadInputError(
                "costs",
                f"must be integers of shape (n_objectives, {clauses.n_variables})",
                f"{given.dtype} {given.shape}",
            )
        if np.abs(given.astype(np.float64)).sum(axis=1).max(initial=0.0) >= 2**53:
            raise BadInputError("`costs` must add up to less than 2^53 to be exact. Use a coarser scale.")
        self.clauses = clauses
        self.costs: Points = given.astype(np.int64)
        self.offsets: NDArray[np.int64] = (
            np.zeros(len(given), np.int64) if offsets is None else np.asarray(offsets, dtype=np.int64)
        )
        if self.offsets.shape != (len(given),):
            raise BadInputError(
                "offsets", f"must be {len(given)}, one per objective", f"shape {self.offsets.shape}"
            )
        self.presolved: Presolved = presolve_in_time(clauses, budget)
        places, polarities = self.presolved.places, self.presolved.polarities
        self.n_variables = self.presolved.clauses.n_variables
        live = places >= 0
        own = np.zeros((self.n_variables, len(given)), dtype=np.int64)
        np.add.at(own, places[live], (self.costs * np.where(polarities, 1, -1))[:, live].T)
        self.own_costs = np.ascontiguousarray(own)
        self.n_evaluated = 0

    @property
    def has_products(self) -> bool:
        """Whether the clauses have a model."""
        smaller = self.presolved.clauses
        return not smaller.n_clauses or bool(np.diff(smaller.offsets).all())

    def check(self, objectives: Sequence[Objective]) -> None:
        """Raise if there is nothing to evolve, or the objectives do not fit."""
        if len(objectives) != len(self.costs):
            raise BadInputError(
                "objectives", f"must be {len(self.costs)}, one per row of costs", len(objectives)
            )
        if not self.has_products:
            raise BadInputError("clauses", "must have a model", "a contradiction", "Check the requirements.")

    def evaluate(self, selections: NDArray[np.uint8]) -> Points:
        """Return violated clauses and costs, ``(n_selections, 1 + n_objectives)``.

        Constant parts are left out.
        """
        points: Points = np.zeros((len(selections), 1 + self.own_costs.shape[1]), dtype=np.int64)
        smaller = self.presolved.clauses
        clauses = kernels.ClauseLists(smaller.literals, smaller.offsets)
        kernels.evaluate_selections(selections, clauses, self.own_costs, points)
        self.n_evaluated += len(selections)
        return points

    def first_population(
        self, size: int, seeds: ArrayLike | None, rng: np.random.Generator
    ) -> NDArray[np.uint8]:
        """Return random selections.

        The first rows are `seeds`, models of the original clauses, as far as they fit.
        """
        population = rng.integers(0, 2, size=(size, self.n_variables), dtype=np.uint8)
        if seeds is None:
            return population
        given = np.atleast_2d(np.asarray(seeds)).astype(bool)
        if given.shape[1] != self.clauses.n_variables or not self.clauses.satisfied(given).all():
            raise BadInputError(
                "seeds",
                f"must be products over {self.clauses.n_variables} variables",
                f"shape {given.shape} or one that violates a clause",
                "Leave it out.",
            )
        places, polarities = self.presolved.places, self.presolved.polarities
        live = np.flatnonzero(places >= 0)
        shared = min(size, len(given))
        population[:shared, places[live]] = given[:shared, live] == polarities[live]
        return population

    def packed(self, selections: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return selections in bits, as a study keeps them."""
        return np.packbits(selections, axis=1)

    def unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Undo :meth:`packed`."""
        return np.unpackbits(bits, axis=1, count=self.n_variables)

    def front(
        self,
        population: NDArray[np.uint8],
        objectives: Sequence[Objective],
        candidates: Sequence[str],
        *,
        method: str,
        seconds: float,
        limit: str,
        extras: Mapping[str, Any],
    ) -> Front:
        """Return the valid and non-dominated part of a population, checked on the original clauses."""
        selections: Mask = self.presolved.restore(population.astype(bool))
        valid = self.clauses.satisfied(selections)
        chosen = selections[valid]
        points: Points = chosen.astype(np.int64) @ self.costs.T + self.offsets
        kept = nondominated(points)
        facts = {
            "correctness": float(valid.mean()) if len(valid) else 0.0,
            "n_evaluations": self.n_evaluated,
            **extras,
        }
        return Front.from_points(
            objectives,
            points[kept],
            chosen[kept].astype(np.uint8),
            candidates,
            Proof(ProofKind.APPROXIMATE, limit=limit),
            method=method,
            seconds=seconds,
            extras=facts,
        )


def run_generations(
    problem: EvolvedProblem,
    settings: Evolution,
    budget: Budget,
    step: Callable[[int], bool],
    *,
    checkpoint: Checkpoint | None = None,
    state: Callable[[], KeptState] = KeptState,
) -> str:
    """Take steps, each a generation, until all evaluations are used; return the limit that came before.

    `step` gets the number of evaluations that are left, and returns whether there may be another one. What
    `state` returns after a step is kept by the checkpoint.
    """
    checkpoint = Checkpoint(GENERATIONS) if checkpoint is None else checkpoint
    limit = ""
    while (left := settings.n_evaluations - problem.n_evaluated) > 0:
        budget.report(Progress(GENERATIONS, problem.n_evaluated, settings.n_evaluations))
        if budget.stopped:
            limit = budget.limit_text
            break
        try:
            more = step(left)
        except SearchStoppedError:  # what was begun is begun again from the state before
            return budget.limit_text
        if not more:
            break
        checkpoint.keep(state)
    budget.report(Progress(GENERATIONS, problem.n_evaluated, settings.n_evaluations))
    if limit:
        checkpoint.keep(state, now=True)
    else:
        checkpoint.finish(state, budget.elapsed)
    return limit


def run_checkpoint(
    study: Study,
    problem: EvolvedProblem,
    settings: Evolution,
    asked: Mapping[str, Any],
    population: NDArray[np.uint8],
) -> Checkpoint:
    """Bind a study to a run and its first population, and return where its state is kept.

    Raises BadInputError if the study belongs to something else.
    """
    if study.keeps:
        clauses = problem.clauses
        digest = digest_of_arrays(
            [clauses.literals, clauses.offsets, problem.costs, problem.offsets, population]
        )
        bound = dataclasses.asdict(settings)
        del bound["improve"]  # the method says so, and studies of before have no word for it
        study.bind({**asked, **bound, "the question": digest})
    return Checkpoint(GENERATIONS, study)


def random_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a state for the kernels' own generator."""
    return rng.integers(0, 2**63, size=1, dtype=np.uint64)


def repaired(solver: SatSolver, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a model that a search finds which tries the values of `bits` first; the clauses must have one.

    Values that no clause forbids stay, mostly: the nearest model need not be found.

    >>> from shortlist.logic.clauses import Clauses
    >>> solver = SatSolver(Clauses.from_clauses(3, [(1, 2)]))
    >>> repaired(solver, np.array([0, 0, 1], dtype=np.uint8)).tolist()[2]
    1
    """
    numbers = np.arange(1, len(bits) + 1)
    solver.prefer(np.where(bits == 1, numbers, -numbers).tolist())
    model = solver.solve().model
    if model is None:
        raise BadInputError("clauses", "must have a model to repair to", "a contradiction")
    return model.astype(np.uint8)
