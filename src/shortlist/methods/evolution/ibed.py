"""Indicator-based evolution beside differential evolution, in two populations (IBED, Xue et al. 2016)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_seed
from shortlist.arrays import Mask, Points
from shortlist.logic.clauses import Clauses
from shortlist.methods.evolution import _kernels as kernels
from shortlist.methods.evolution.ibea import fitness_of, offspring, survivors
from shortlist.methods.evolution.variation import (
    DEFAULT_EVOLUTION,
    Evolution,
    EvolvedProblem,
    random_state,
    run_checkpoint,
    run_generations,
)
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget
from shortlist.runs.studies import NO_STUDY, Study
from shortlist.runs.studies.checkpoints import KeptState


def ibed(
    clauses: Clauses,
    costs: ArrayLike,
    objectives: Sequence[Objective],
    candidates: Sequence[str],
    *,
    offsets: ArrayLike | None = None,
    settings: Evolution = DEFAULT_EVOLUTION,
    seeds: ArrayLike | None = None,
    budget: Budget | None = None,
    study: Study = NO_STUDY,
) -> Front:
    """Return products found by two populations, one led by the ε-indicator and one by differential evolution.

    The first population is that of :func:`shortlist.methods.evolution.ibea.ibea`. In the second, each member
    has a trial made from differences of other members, then mutated with feedback; the trial takes its place
    if it violates fewer clauses, or as many without being dominated by it or equal to it. The indicator
    selects the first population from its members, its offspring and all trials, so that what differential
    evolution finds enters there. The paper of the method says little about replacement and exchange; these
    rules are ours.

    Parameters
    ----------
    clauses, costs, objectives, candidates, offsets, settings, seeds, budget, study
        As in :func:`shortlist.methods.evolution.ibea.ibea`. Both populations have the size of `settings`, and
        offspring of both count as evaluations.

    Returns
    -------
    front : Front
        APPROXIMATE: the valid, mutually non-dominated members of both populations. `extras` as in
        :func:`~shortlist.methods.evolution.ibea.ibea`; `correctness` is that of both populations.

    Examples
    --------
    >>> shop = Clauses.from_clauses(3, [(-1, -2)])
    >>> few = Evolution(n_evaluations=400, population_size=20)
    >>> front = ibed(shop, [[-3, -1, 0], [2, 1, 0]], [Objective("value", "max"), Objective("price")], "abc",
    ...     settings=few)
    >>> front.extras["n_evaluations"], front.method
    (400, 'ibed')
    """
    budget = budget or Budget()
    problem = EvolvedProblem(clauses, costs, offsets, budget)
    problem.check(objectives)
    rng = np.random.default_rng(as_seed(budget.seed))
    size = settings.population_size
    population = problem.first_population(size, seeds, rng)
    state = random_state(rng)
    asked = {"method": "ibed", "seed": budget.seed}
    checkpoint = run_checkpoint(study, problem, settings, asked, population)
    known = checkpoint.last()
    if known is None:
        points = problem.evaluate(population)
        fitness = fitness_of(points, settings.kappa)
        rivals, rival_points = population.copy(), points.copy()
    else:
        population, rivals = (problem.unpacked(known.arrays[name]) for name in ("population", "rivals"))
        points, rival_points = known.arrays["points"], known.arrays["rival_points"]
        fitness, state = known.arrays["fitness"], known.arrays["state"]
        problem.n_evaluated = known.facts["n_evaluated"]

    def step(left: int) -> bool:
        nonlocal population, points, fitness
        children = offspring(problem, population, fitness, settings, n_children=min(size, left), state=state)
        trials = _trials(problem, rivals, settings, state)
        trials = trials[: max(0, left - len(children))]
        child_points, trial_points = problem.evaluate(children), problem.evaluate(trials)
        better = _replaces(trial_points, rival_points[: len(trials)])
        rivals[: len(trials)][better] = trials[better]
        rival_points[: len(trials)][better] = trial_points[better]
        population, points, fitness = survivors(
            np.vstack([population, children, trials]),
            np.vstack([points, child_points, trial_points]),
            settings,
        )
        return True

    def reached() -> KeptState:
        arrays: dict[str, NDArray[Any]] = {
            "population": problem.packed(population),
            "rivals": problem.packed(rivals),
            "points": points,
            "rival_points": rival_points,
            "fitness": fitness,
            "state": state,
        }
        return KeptState(arrays, {"n_evaluated": problem.n_evaluated})

    limit = run_generations(problem, settings, budget, step, checkpoint=checkpoint, state=reached)
    return problem.front(
        np.vstack([population, rivals]),
        objectives,
        candidates,
        method="ibed",
        seconds=budget.elapsed,
        limit=limit,
        extras={"seed": budget.seed},
    )


def _trials(
    problem: EvolvedProblem, rivals: NDArray[np.uint8], settings: Evolution, state: NDArray[np.uint64]
) -> NDArray[np.uint8]:
    """Return one trial per member of the second population."""
    trials = np.empty_like(rivals)
    smaller = problem.presolved.clauses
    clauses = kernels.ClauseLists(smaller.literals, smaller.offsets)
    if problem.n_variables:
        kernels.breed_by_differences(
            rivals,
            clauses,
            settings.differential_weight,
            settings.differential_crossover,
            settings.error_mutation,
            settings.mutation,
            state,
            trials,
        )
    return trials


def _replaces(trials: Points, targets: Points) -> Mask:
    fewer = trials[:, 0] < targets[:, 0]
    as_many = trials[:, 0] == targets[:, 0]
    beaten = (targets[:, 1:] <= trials[:, 1:]).all(axis=1)
    mask: Mask = fewer | (as_many & ~beaten)
    return mask
