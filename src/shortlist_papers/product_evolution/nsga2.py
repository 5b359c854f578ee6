"""Evolution by non-dominated sorting (NSGA-II, Deb et al. 2002), through pymoo, for reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_seed
from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.logic.clauses import Clauses
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget
from shortlist_papers.product_evolution.variation import (
    DEFAULT_EVOLUTION,
    Evolution,
    EvolvedProblem,
    run_generations,
)

try:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.pntx import TwoPointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
except ImportError:
    raise MissingDependencyError(
        "NSGA-II needs the pymoo package. Install it: pip install 'shortlist[nsga2]'."
    ) from None


def nsga2(
    clauses: Clauses,
    costs: ArrayLike,
    objectives: Sequence[Objective],
    candidates: Sequence[str],
    *,
    offsets: ArrayLike | None = None,
    settings: Evolution = DEFAULT_EVOLUTION,
    crossover: float = 0.9,
    seeds: ArrayLike | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return products found by NSGA-II: fewer violated clauses win, then dominance.

    The preprocessing fixes core and dead features and joins equivalent ones, as in
    :func:`shortlist_papers.product_evolution.ibea.ibea`; crossover at two points, mutation of one bit per
    child on average and the elimination of duplicates are pymoo's. There is no feedback-directed mutation and
    no repair.

    Raises MissingDependencyError when this module is imported without pymoo. Raises BadInputError as in
    :func:`shortlist_papers.product_evolution.ibea.ibea`, or if `crossover` is no probability.

    `front`, which it returns: APPROXIMATE: the valid, mutually non-dominated members of the last population.
    `extras` as in :func:`~shortlist_papers.product_evolution.ibea.ibea`.

    The search ends early when pymoo finds no child that is not in the population yet.

    `clauses`, `costs`, `objectives`, `candidates`, `offsets`, `seeds`, `budget`: as in
    :func:`shortlist_papers.product_evolution.ibea.ibea`. `settings`: evaluations and population; the rates of
    the other methods are not used. `crossover`: probability of crossover per pair.
    """
    budget = budget or Budget()
    if not 0 <= crossover <= 1:
        raise BadInputError("crossover", "must be a probability", crossover)
    problem = EvolvedProblem(clauses, costs, offsets, budget)
    problem.check(objectives)
    rng = np.random.default_rng(as_seed(budget.seed))
    population = problem.first_population(settings.population_size, seeds, rng)
    limit = ""
    if problem.n_variables:  # otherwise there is one product, and it is there
        algorithm = _algorithm(problem, population, settings, crossover, budget.seed)

        def step(left: int) -> bool:
            children = algorithm.ask() if algorithm.has_next() else None
            if children is None or not len(children):
                return False
            children = children[:left]
            algorithm.evaluator.eval(algorithm.problem, children)
            algorithm.tell(infills=children)
            return True

        limit = run_generations(problem, settings, budget, step)
        if algorithm.pop is not None and len(algorithm.pop):
            population = np.ascontiguousarray(algorithm.pop.get("X"), dtype=np.uint8)
    return problem.front(
        population,
        objectives,
        candidates,
        method="nsga2",
        seconds=budget.elapsed,
        limit=limit,
        extras={"seed": budget.seed},
    )


def _algorithm(
    problem: EvolvedProblem, population: NDArray[np.uint8], settings: Evolution, crossover: float, seed: int
) -> Any:
    algorithm = NSGA2(
        pop_size=settings.population_size,
        sampling=population.astype(bool),
        crossover=TwoPointCrossover(prob=crossover),
        mutation=BitflipMutation(),
        eliminate_duplicates=True,
    )
    termination = ("n_eval", settings.n_evaluations)
    algorithm.setup(_Configurations(problem), termination=termination, seed=seed, verbose=False)
    return algorithm


class _Configurations(Problem):
    """Costs to minimise, and one constraint: no violated clause."""

    def __init__(self, problem: EvolvedProblem) -> None:
        self._problem = problem
        n, n_objectives = problem.n_variables, len(problem.costs)
        super().__init__(n_var=n, n_obj=n_objectives, n_ieq_constr=1, xl=0, xu=1, vtype=bool)

    def _evaluate(self, x: NDArray[Any], out: dict[str, Any], *_: Any, **__: Any) -> None:
        points = self._problem.evaluate(np.ascontiguousarray(x, dtype=np.uint8))
        out["F"], out["G"] = points[:, 1:].astype(np.float64), points[:, :1].astype(np.float64)
