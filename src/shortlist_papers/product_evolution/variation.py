"""Base of the evolutionary algorithms: settings, the evolved problem, generations, and repair."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count, as_seed
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
from shortlist.runs.records import KeptState, digest_of_arrays
from shortlist.runs.study import Checkpoint
from shortlist_papers.product_evolution import _kernels as kernels

GENERATIONS = "generations"
"""Name of the activity in progress events, and of the study's unit with the state."""

PROBABILITIES = ("error_mutation", "mutation", "crossover", "differential_weight", "differential_crossover")
"""Names of the settings that are probabilities."""


@dataclass(frozen=True)
class Evolution:
    """Settings of an evolutionary run.

    The defaults are those of the study of Xue & Li (2018), except `valid_first`.

    `n_evaluations`: number of evaluated configurations, the first population included. `population_size`:
    members of each population, and offspring per generation and population. `kappa`: scaling factor of the
    indicator's fitness. `error_mutation`: probability that a feature of a violated clause is drawn anew.
    `mutation`: probability that any other feature is flipped. `crossover`: probability of one-point crossover
    per pair. `repair`: share of the offspring of ``ibea`` that is repaired, as in SATIBEA; Henard et al.
    (2015) use 0.02. `improve`: repair to a product that is no worse than the offspring in any objective, as
    in SMTIBEA; needs `repair`. See :class:`shortlist_papers.product_evolution.ibea.Improvement`.
    `differential_weight`: for ``ibed``: probability that a bit where two members differ is flipped in a
    third. `differential_crossover`: for ``ibed``: probability that a trial takes a bit of the mutant.
    `valid_first`: let the indicator judge only distinct vectors with the fewest violated clauses, close to
    the "1 + n" of Hierons et al. (2016). With false, violated clauses are one objective among the others, as
    in the study. On small models about a quarter of the population then stays invalid, and fewer products are
    found.
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

    `presolved`: the smaller clauses, without core and dead features, and with equivalent ones joined.
    `own_costs`: costs of the variables of the smaller clauses, ``(n_variables, n_objectives)``.
    `n_evaluated`: number of selections evaluated so far. `clauses`: conditions of a product. `costs`:
    coefficients to minimise, scaled to integers, ``(n_objectives, n_variables)``. `offsets`: constant parts,
    ``(n_objectives,)``. `budget`: budget of the run; making the clauses smaller may use a part.
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
    def clause_lists(self) -> kernels.ClauseLists:
        """Smaller clauses in the form of kernels."""
        return kernels.ClauseLists(self.presolved.clauses.literals, self.presolved.clauses.offsets)

    @property
    def has_products(self) -> bool:
        """Return whether the clauses have a model."""
        smaller = self.presolved.clauses
        return not smaller.n_clauses or bool(np.diff(smaller.offsets).all())

    def evaluate(self, selections: NDArray[np.uint8]) -> Points:
        """Return violated clauses and costs, ``(n_selections, 1 + n_objectives)``.

        Constant parts of the costs are left out.
        """
        points: Points = np.zeros((len(selections), 1 + self.own_costs.shape[1]), dtype=np.int64)
        kernels.evaluate_selections(selections, self.clause_lists, self.own_costs, points)
        self.n_evaluated += len(selections)
        return points

    def first_population(
        self, size: int, seeds: ArrayLike | None, rng: np.random.Generator
    ) -> NDArray[np.uint8]:
        """Return random selections, ``(size, n_variables)``.

        The first rows are `seeds`, models of the original clauses, up to `size` of them.
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
        """Return selections as bits, for a study."""
        return np.packbits(selections, axis=1)

    def unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the selections of :meth:`packed`."""
        return np.unpackbits(bits, axis=1, count=self.n_variables)

    def valid_part(self, population: NDArray[np.uint8]) -> tuple[Mask, float]:
        """Return the members that are products by the original clauses, and their share of the population."""
        selections: Mask = self.presolved.restore(population.astype(bool))
        valid = self.clauses.satisfied(selections)
        return selections[valid], float(valid.mean()) if len(valid) else 0.0


class Generations:
    """Run of a method, generation by generation; this base keeps no state."""

    name: str
    """Name of the method."""

    def __init__(
        self, problem: EvolvedProblem, settings: Evolution, seeds: ArrayLike | None, budget: Budget
    ) -> None:
        self._problem, self._settings = problem, settings
        self._rng = np.random.default_rng(as_seed(budget.seed))
        self.population = problem.first_population(settings.population_size, seeds, self._rng)

    def begin(self) -> None:
        """Evaluate the first population."""

    def resume(self, known: KeptState) -> None:
        """Continue from a kept state."""

    def step(self, left: int) -> bool:
        """Make a generation of at most `left` evaluations; return whether there may be another one."""
        raise NotImplementedError

    def state(self) -> KeptState:
        """Return the state for :meth:`resume`."""
        return KeptState()

    def members(self) -> NDArray[np.uint8]:
        """Return the members of the front."""
        return self.population


StartRun: TypeAlias = Callable[[EvolvedProblem, Evolution, ArrayLike | None, Budget], Generations]
"""Function of a method from problem, settings, seeds and budget to a run; the budget's seed is for all
randomness.
"""


def evolve(
    method: StartRun,
    clauses: Clauses,
    costs: ArrayLike,
    objectives: Sequence[Objective],
    candidates: Sequence[str],
    *,
    offsets: ArrayLike | None = None,
    settings: Evolution = DEFAULT_EVOLUTION,
    seeds: ArrayLike | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return the valid, mutually non-dominated products that a method ends with.

    Nothing is proved about them.

    Violated clauses are the first objective, before the given ones (Sayyad et al. 2013). The preprocessing
    fixes core and dead features and joins equivalent features. Raises BadInputError if shapes disagree, the
    clauses have no model, a seed is no product, or the study belongs to another problem.

    `method`: :class:`~shortlist_papers.product_evolution.ibea.Ibea`, ``Ibed`` or ``Nsga2``. `clauses`:
    conditions of a product; further fixed features by ``clauses.with_units``. `costs`: coefficients to
    minimise, scaled to integers, ``(n_objectives, n_variables)``. `objectives`: names, senses and scales, one
    per row of `costs`. `offsets`: constant parts of the objectives, minimised and scaled,
    ``(n_objectives,)``. `settings`: evaluations, population and rates. `seeds`: products in the first
    population, ``(n_seeds, n_variables)``. `budget`: time limit, seed of all randomness, progress, and the
    study. The study keeps the state after a generation, at most once a second, and a run continues from the
    kept state. `extras` of the front: `correctness`, the share of valid members, `n_evaluations` and `seed`.

    >>> from shortlist_papers.product_evolution.ibea import Ibea, Ibed
    >>> shop = Clauses.from_clauses(3, [(-1, -2)])
    >>> few = Evolution(n_evaluations=400, population_size=20)
    >>> asked = shop, [[-3, -1, 0], [2, 1, 0]], [Objective("value", "max"), Objective("price")], "abc"
    >>> fronts = [evolve(method, *asked, settings=few) for method in (Ibea, Ibed)]
    >>> [(front.method, front.extras["n_evaluations"], str(front.proof.kind)) for front in fronts]
    [('ibea', 400, 'approximate'), ('ibed', 400, 'approximate')]
    """
    budget = budget or Budget()
    problem = EvolvedProblem(clauses, costs, offsets, budget)
    if len(objectives) != len(problem.costs):
        raise BadInputError(
            "objectives", f"must be {len(problem.costs)}, one per row of costs", len(objectives)
        )
    if not problem.has_products:
        raise BadInputError("clauses", "must have a model", "a contradiction", "Check the requirements.")
    run = method(problem, settings, seeds, budget)
    limit = _run_generations(
        run, problem, settings, budget, _bound_checkpoint(run, problem, settings, budget)
    )
    chosen, share = problem.valid_part(run.members())
    points: Points = chosen.astype(np.int64) @ problem.costs.T + problem.offsets
    kept = nondominated(points)
    return Front.from_points(
        objectives, points[kept], chosen[kept].astype(np.uint8), candidates,
        Proof(ProofKind.APPROXIMATE, limit=limit), method=run.name, seconds=budget.elapsed,
        extras={"correctness": share, "n_evaluations": problem.n_evaluated, "seed": budget.seed},
    )  # fmt: skip


def _run_generations(
    run: Generations, problem: EvolvedProblem, settings: Evolution, budget: Budget, checkpoint: Checkpoint
) -> str:
    """Make generations until all evaluations are used.

    Return the limit that ended the run earlier, or an empty text.
    """
    known = checkpoint.last()
    if known is None:
        run.begin()
    else:
        run.resume(known)
    limit = ""
    while (left := settings.n_evaluations - problem.n_evaluated) > 0:
        budget.report(Progress(GENERATIONS, problem.n_evaluated, settings.n_evaluations))
        if budget.stopped:
            limit = budget.limit_text
            break
        try:
            more = run.step(left)
        except SearchStoppedError:  # what was begun is begun again from the state before
            return budget.limit_text
        if not more:
            break
        checkpoint.keep(run.state)
    budget.report(Progress(GENERATIONS, problem.n_evaluated, settings.n_evaluations))
    if limit:
        checkpoint.keep(run.state, now=True)
    else:
        checkpoint.finish(run.state, budget.elapsed)
    return limit


def _bound_checkpoint(
    run: Generations, problem: EvolvedProblem, settings: Evolution, budget: Budget
) -> Checkpoint:
    """Return the checkpoint of a study for a run and its first population.

    Raises BadInputError if the study belongs to another run.
    """
    study = budget.study
    if study.keeps:
        clauses = problem.clauses
        digest = digest_of_arrays(
            [clauses.literals, clauses.offsets, problem.costs, problem.offsets, run.population]
        )
        bound = dataclasses.asdict(settings)
        del bound["improve"]  # the method says so
        study.bind({"method": run.name, "seed": budget.seed, **bound, "the question": digest})
    return Checkpoint(GENERATIONS, study)


def random_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a random state for the kernels' own generator."""
    return rng.integers(0, 2**63, size=1, dtype=np.uint64)


def repaired(solver: SatSolver, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a model found by a search that tries the values of `bits` first; a model must exist.

    Most values that no clause forbids stay unchanged, but the model need not be the nearest to `bits`.

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
