"""Indicator-based evolution (IBEA, Zitzler & Künzli 2004), "f+p" and with repair (SATIBEA, SMTIBEA)."""

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from shortlist._validation import as_seed
from shortlist.arrays import Mask, Points
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.solution import Limits
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget
from shortlist.runs.studies import NO_STUDY, Study
from shortlist.runs.studies.checkpoints import KeptState, random_facts
from shortlist_papers.product_evolution import _kernels as kernels
from shortlist_papers.product_evolution.variation import (
    DEFAULT_EVOLUTION,
    Evolution,
    EvolvedProblem,
    random_state,
    repaired,
    run_checkpoint,
    run_generations,
)

N_NODES = 100
"""Branch-and-bound nodes that one question may take; the authors' program stops Z3 after six seconds."""


class Improvement:
    """Answers with products that are no worse than what is given, in every objective.

    Guo and others (2019) put the solver Z3, of satisfiability modulo theories, where SATIBEA has a solver of
    clauses, so that rules may hold sums; in the third version of their program it is asked for a product that
    costs no more and has no more defects than the child. Over 0/1 variables an integer program decides the
    same questions, clauses and linear inequalities together: here HiGHS takes the place of Z3.

    What their texts leave open was chosen: all objectives are bounded by the child's; where there is no such
    product, or none within :data:`N_NODES` nodes, the child is repaired as in SATIBEA, where their program
    takes random values.
    """

    def __init__(self, problem: EvolvedProblem, budget: Budget) -> None:
        clauses, costs = problem.presolved.clauses, problem.own_costs
        sizes, signs = np.diff(clauses.offsets), np.sign(clauses.literals)
        numbers = np.repeat(np.arange(clauses.n_clauses), sizes)
        n_negated = np.bincount(numbers[signs < 0], minlength=clauses.n_clauses)
        shape = (clauses.n_clauses, problem.n_variables)
        rows = sparse.coo_array((signs.astype(float), (numbers, np.abs(clauses.literals) - 1)), shape)
        n_objectives = costs.shape[1]
        program = make_program(
            sparse.vstack([rows, costs.T.astype(float)]),
            row_lower=np.concatenate([1.0 - n_negated, np.full(n_objectives, -np.inf)]),
            row_upper=np.inf,
            column_lower=0,
            column_upper=1,
            integer=True,
            objectives=[LinearObjective(Objective("any product"), np.zeros(problem.n_variables))],
        )
        self._clauses, self._costs = clauses, costs
        self._bounded = clauses.n_clauses + np.arange(n_objectives)
        self._session = open_solver("highs", short_programs=True).open(program)
        self._sat = SatSolver(clauses, budget)
        self._cancellation = budget.cancellation

    def __call__(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return a product that is no worse than `bits`, or the repaired bits where none is found."""
        most = (bits.astype(np.int64) @ self._costs).astype(float)
        self._session.set_row_bounds(self._bounded, -np.inf, most)
        values = self._session.solve(Limits(nodes=N_NODES), cancellation=self._cancellation).values
        if values is not None:
            found = np.rint(values).astype(np.uint8)
            is_better = (found.astype(np.int64) @ self._costs <= most).all()
            if is_better and self._clauses.satisfied(found[None].astype(bool)).all():
                return found
        return repaired(self._sat, bits)


def ibea(
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
    """Return products found by indicator-based evolution.

    Violated clauses are the first objective, before those given (Sayyad et al. 2013). The preprocessing fixes
    core and dead features and joins equivalent ones; feedback-directed mutation draws the features of
    violated clauses anew (Tan et al. 2015). With ``settings.repair`` some offspring are replaced by the model
    that a satisfiability solver finds when it tries their values first, as in SATIBEA (Henard et al. 2015).
    With ``settings.improve`` it is a product that is no worse than the child in any objective, as in SMTIBEA
    (Guo et al. 2019).

    Raises BadInputError if shapes disagree, the clauses have no model, a seed is no product, or the study
    belongs to something else.

    `front`, which it returns: APPROXIMATE: the valid, mutually non-dominated members of the last population.
    `extras` holds `correctness`, the share of valid members, and `n_evaluations`. `clauses`: what a product
    satisfies. Features that are to be fixed besides: ``clauses.with_units``. `costs`: coefficients to
    minimise, scaled to integers, ``(n_objectives, n_variables)``. `objectives`: names, senses and scales, one
    per row of `costs`. `offsets`: constant parts of the objectives, minimised and scaled,
    ``(n_objectives,)``. `settings`: evaluations, population and rates. `seeds`: products that the first
    population starts with, ``(n_seeds, n_variables)``. `budget`: how long the evolution may take, the seed of
    all randomness, and who is told, with a total. `study`: where the state is kept after a generation, at
    most once a second, and from where it is taken. What repairs have asked is asked again then, because a
    solver learns from its questions.

    >>> shop = Clauses.from_clauses(3, [(-1, -2)])
    >>> few = Evolution(n_evaluations=400, population_size=20)
    >>> front = ibea(shop, [[-3, -1, 0], [2, 1, 0]], [Objective("value", "max"), Objective("price")], "abc",
    ...     settings=few)
    >>> front.extras["n_evaluations"], str(front.proof.kind)
    (400, 'approximate')
    """
    budget = budget or Budget()
    problem = EvolvedProblem(clauses, costs, offsets, budget)
    problem.check(objectives)
    method = ("smtibea" if settings.improve else "satibea") if settings.repair else "ibea"
    rng = np.random.default_rng(as_seed(budget.seed))
    repair = _repair(problem, settings, budget)
    size = settings.population_size
    population = problem.first_population(size, seeds, rng)
    state = random_state(rng)
    asked = population[:0]
    checkpoint = run_checkpoint(study, problem, settings, {"method": method, "seed": budget.seed}, population)
    known = checkpoint.last()
    if known is None:
        points = problem.evaluate(population)
        fitness = fitness_of(points, settings.kappa)
    else:
        population, asked = (problem.unpacked(known.arrays[name]) for name in ("population", "asked"))
        points, fitness, state = (known.arrays[name] for name in ("points", "fitness", "state"))
        problem.n_evaluated, rng.bit_generator.state = known.facts["n_evaluated"], known.facts["random"]
        if repair is not None:
            with contextlib.suppress(SearchStoppedError):
                for bits in asked:
                    repair(bits)

    def step(left: int) -> bool:
        nonlocal population, points, fitness, asked
        children = offspring(problem, population, fitness, settings, n_children=min(size, left), state=state)
        if repair is not None:
            asked = np.vstack([asked, repair_some(repair, children, settings.repair, rng)])
        population, points, fitness = survivors(
            np.vstack([population, children]), np.vstack([points, problem.evaluate(children)]), settings
        )
        return True

    def reached() -> KeptState:
        arrays: dict[str, NDArray[Any]] = {
            "population": problem.packed(population),
            "asked": problem.packed(asked),
            "points": points,
            "fitness": fitness,
            "state": state,
        }
        return KeptState(arrays, {"n_evaluated": problem.n_evaluated, "random": random_facts(rng)})

    limit = run_generations(problem, settings, budget, step, checkpoint=checkpoint, state=reached)
    return problem.front(
        population,
        objectives,
        candidates,
        method=method,
        seconds=budget.elapsed,
        limit=limit,
        extras={"seed": budget.seed},
    )


def offspring(
    problem: EvolvedProblem,
    population: NDArray[np.uint8],
    fitness: NDArray[np.float64],
    settings: Evolution,
    *,
    n_children: int,
    state: NDArray[np.uint64],
) -> NDArray[np.uint8]:
    """Return children by tournament, crossover and feedback-directed mutation."""
    children = np.empty((n_children, problem.n_variables), dtype=np.uint8)
    smaller = problem.presolved.clauses
    clauses = kernels.ClauseLists(smaller.literals, smaller.offsets)
    if problem.n_variables:
        kernels.breed(
            population,
            fitness,
            clauses,
            settings.crossover,
            settings.error_mutation,
            settings.mutation,
            state,
            children,
        )
    return children


def _repair(
    problem: EvolvedProblem, settings: Evolution, budget: Budget
) -> Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None:
    """Return what makes a product of a child; None without repair."""
    if not settings.repair:
        return None
    if settings.improve and problem.n_variables:
        return Improvement(problem, budget)
    return functools.partial(repaired, SatSolver(problem.presolved.clauses, budget))


def repair_some(
    repair: Callable[[NDArray[np.uint8]], NDArray[np.uint8]],
    children: NDArray[np.uint8],
    share: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Repair each child with probability `share`, in place; return what they were before."""
    rows = np.flatnonzero(rng.random(len(children)) < share)
    before = children[rows]
    for row in rows.tolist():
        children[row] = repair(children[row])
    return before


def fitness_of(points: Points, kappa: float) -> NDArray[np.float64]:
    """Return the indicator's fitness of each point among all of them."""
    kept, fitness = np.empty(len(points), dtype=np.int64), np.empty(len(points))
    kernels.select_by_indicator(points, kappa, len(points), kept, fitness)
    return fitness


def survivors(
    union: NDArray[np.uint8], points: Points, settings: Evolution
) -> tuple[NDArray[np.uint8], Points, NDArray[np.float64]]:
    """Return the members that the indicator keeps, their points and their fitness."""
    size = settings.population_size
    if settings.valid_first:
        union, points = _fewest_violations(union, points, size)
    kept, fitness = np.empty(size, dtype=np.int64), np.empty(len(points))
    kernels.select_by_indicator(points, settings.kappa, size, kept, fitness)
    return union[kept], points[kept], fitness[kept]


def _fewest_violations(
    union: NDArray[np.uint8], points: Points, size: int
) -> tuple[NDArray[np.uint8], Points]:
    """Return the distinct members with the fewest violations, and those with as many as the last of `size`.

    Equal members come in only when there are too few others.
    """
    _, first = np.unique(points, axis=0, return_index=True)
    fresh = np.zeros(len(points), dtype=bool)
    fresh[first] = True
    worst = np.sort(points[:, 0])[size - 1]
    offered: Mask = points[:, 0] <= worst
    if (offered & fresh).sum() >= size:
        offered &= fresh
    return np.ascontiguousarray(union[offered]), np.ascontiguousarray(points[offered])


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

    The first population is that of :func:`shortlist_papers.product_evolution.ibea.ibea`. In the second, each
    member has a trial made from differences of other members, then mutated with feedback; the trial takes its
    place if it violates fewer clauses, or as many without being dominated by it or equal to it. The indicator
    selects the first population from its members, its offspring and all trials, so that what differential
    evolution finds enters there. The paper of the method says little about replacement and exchange; these
    rules are ours.

    `front`, which it returns: APPROXIMATE: the valid, mutually non-dominated members of both populations.
    `extras` as in :func:`~shortlist_papers.product_evolution.ibea.ibea`; `correctness` is that of both
    populations. `clauses`, `costs`, `objectives`, `candidates`, `offsets`, `settings`, `seeds`, `budget`,
    `study`: as in :func:`shortlist_papers.product_evolution.ibea.ibea`. Both populations have the size of
    `settings`, and offspring of both count as evaluations.

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
