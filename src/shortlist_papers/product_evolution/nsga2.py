"""Evolution by non-dominated sorting (NSGA-II, Deb et al. 2002), through pymoo, for reference."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import MissingDependencyError
from shortlist.runs.budget import Budget
from shortlist_papers.product_evolution.variation import Evolution, EvolvedProblem, Generations

try:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.pntx import TwoPointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
except ImportError:
    raise MissingDependencyError(
        "NSGA-II needs the pymoo package. Install it: pip install 'shortlist[nsga2]'."
    ) from None


CROSSOVER = 0.9
"""Probability of crossover per pair."""


class Nsga2(Generations):
    """NSGA-II, in which fewer violated clauses win, then dominance.

    Crossover at two points, mutation of one bit per child on average and the removal of duplicates are
    pymoo's. Feedback-directed mutation and repair are missing; of the settings only evaluations and
    population are used. The search ends early when pymoo finds no child outside the population. No states are
    kept.

    Raises MissingDependencyError when this module is imported without pymoo.
    """

    name = "nsga2"

    def __init__(
        self, problem: EvolvedProblem, settings: Evolution, seeds: ArrayLike | None, budget: Budget
    ) -> None:
        super().__init__(problem, settings, seeds, budget)
        self._algorithm = None
        if problem.n_variables:  # otherwise there is one product, and it is there
            self._algorithm = NSGA2(
                pop_size=settings.population_size, sampling=self.population.astype(bool),
                crossover=TwoPointCrossover(prob=CROSSOVER), mutation=BitflipMutation(),
                eliminate_duplicates=True,
            )  # fmt: skip
            termination = ("n_eval", settings.n_evaluations)
            self._algorithm.setup(
                _Configurations(problem), termination=termination, seed=budget.seed, verbose=False
            )

    def step(self, left: int) -> bool:
        """Make a generation; return false once there are no new children."""
        algorithm = self._algorithm
        children = algorithm.ask() if algorithm is not None and algorithm.has_next() else None
        if algorithm is None or children is None or not len(children):
            return False
        children = children[:left]
        algorithm.evaluator.eval(algorithm.problem, children)
        algorithm.tell(infills=children)
        return True

    def members(self) -> NDArray[np.uint8]:
        """Return the population."""
        found = None if self._algorithm is None else self._algorithm.pop
        if found is None or not len(found):
            return super().members()
        return np.ascontiguousarray(found.get("X"), dtype=np.uint8)


class _Configurations(Problem):
    """Problem for pymoo: costs to minimise, and one constraint, no violated clause."""

    def __init__(self, problem: EvolvedProblem) -> None:
        self._problem = problem
        n, n_objectives = problem.n_variables, len(problem.costs)
        super().__init__(n_var=n, n_obj=n_objectives, n_ieq_constr=1, xl=0, xu=1, vtype=bool)

    def _evaluate(self, x: NDArray[Any], out: dict[str, Any], *_: Any, **__: Any) -> None:
        points = self._problem.evaluate(np.ascontiguousarray(x, dtype=np.uint8))
        out["F"], out["G"] = points[:, 1:].astype(np.float64), points[:, :1].astype(np.float64)
