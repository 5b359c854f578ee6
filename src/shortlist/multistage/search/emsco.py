"""EMSCO, the evolutionary search for stage assignments (Algorithms 1 to 3 of Hamilton & Fulp 2022)."""

import dataclasses
import math
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count
from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.exact import as_fraction
from shortlist.multistage.problem.stages import stage_counts
from shortlist.multistage.search._evaluation import domination_levels
from shortlist.multistage.search._variation import (
    Mutation,
    breed_assignments,
    mutate_again,
    mutate_row,
    recombine_rows,
)
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.pickles import saved_from
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Progress
from shortlist.runs.records import KeptState, random_facts
from shortlist.runs.study import Checkpoint, StageNote


@dataclass(frozen=True, eq=False)
class EmscoPlace:
    """State from which the next generation follows, apart from the random numbers."""

    number: int
    """Number of the generation."""
    assignments: NDArray[np.int8]
    """Assignments of the generation, ``(population, n_features)``."""
    seen: set[bytes]
    """Assignments measured so far, as rows of bytes; empty where repeats are allowed."""
    evaluations: int
    """Number of evaluations."""
    unchanged: int = 0
    """Number of generations since the fittest assignment last changed."""


def kept_place(place: EmscoPlace, rng: np.random.Generator) -> KeptState:
    """Return the state of an evolution for a study."""
    seen = np.frombuffer(b"".join(sorted(place.seen)), dtype=np.int8)
    facts = {"number": place.number, "evaluations": place.evaluations, "unchanged": place.unchanged}
    arrays = {"assignments": place.assignments, "seen": seen}
    return KeptState(arrays, {**facts, "random": random_facts(rng)})


def opened_place(state: KeptState, rng: np.random.Generator) -> EmscoPlace:
    """Return the state of an evolution from a study, and restore the state of the random generator."""
    facts, assignments = state.facts, state.arrays["assignments"]
    rows = state.arrays["seen"].reshape(-1, assignments.shape[1])
    rng.bit_generator.state = facts["random"]
    return EmscoPlace(
        facts["number"],
        assignments,
        {row.tobytes() for row in rows},
        facts["evaluations"],
        facts["unchanged"],
    )


RULES = ("distinct", "paper")
"""Rules of breeding: see :attr:`EmscoOptions.rules`."""

TRIES = 5
"""Number of further mutations of a child that was measured before; used by the rules ``"distinct"``."""

ELITE_FILLS = "elite fills the population"
"""Stop reason of a run whose elite is as large as the population: all later generations would be the same."""

ENDS = ("generations", "patience", ELITE_FILLS)
"""Stop reasons of a run that ends by itself."""


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class EmscoOptions:
    """Parameters of the search, with the paper's letters and the defaults of its Credit experiments."""

    population: int = 300
    """Number of assignments in a generation, ‖G‖."""
    generations: int = 150
    """Largest number of generations (max_iter)."""
    patience: int | None = 20
    """Stop when the fittest chromosome has not changed for this many generations (g); None: no such stop."""
    mutation: float = 0.075
    recombination: float = 0.8
    """Probabilities of mutation and of recombination, m̂ and r̂, in [0, 1]."""
    elitism: float = 0.2
    """Share b of a generation that is elite, in (0, 1)."""
    beta: float = 2.5
    """Parameter β ≥ 1 of the stage distribution; a larger β gives earlier stages more weight."""
    epsilon: float = 0.01
    """Summand ε > 0 of γ = u/l + ε."""
    rules: str = "distinct"
    """Rules of breeding, ``"distinct"`` or ``"paper"``.

    ``"distinct"`` keeps one elite for each objective vector: the first chromosome with the vector. A child
    that was measured before is mutated up to :data:`TRIES` times more. ``"paper"`` does what Algorithms 1 to
    3 print: every non-dominated chromosome is an elite, and a child is mutated once. Where millions of
    chromosomes tie, the paper's elites fill the population, and the search stops.
    """
    removal: float = 0.2
    """Probability that a mutated feature leaves all stages; used only where the problem allows removal."""

    @property
    def tries(self) -> int:
        """Return the number of further mutations of a child that was measured before.

        Late in a run most children are copies.
        """
        return TRIES if self.rules == "distinct" else 0

    def __post_init__(self) -> None:
        as_count(self.population, "population", at_least=2)
        as_count(self.generations, "generations", at_least=0)
        if self.patience is not None:
            as_count(self.patience, "patience")
        as_choice(self.rules, "rules", RULES)
        for name in ("mutation", "recombination", "removal"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInputError(name, "must be in [0, 1]", repr(getattr(self, name)))
        if not 0 < self.elitism < 1:
            raise BadInputError("elitism", "must be in (0, 1)", repr(self.elitism))
        if not (math.isfinite(self.beta) and self.beta >= 1):
            raise BadInputError("beta", "must be at least 1", repr(self.beta))
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise BadInputError("epsilon", "must be above 0", repr(self.epsilon))


@dataclass(frozen=True, eq=False)
class Scores:
    """Ranks and fitness of the rows of one generation."""

    ranks: NDArray[np.int64]
    """Pareto rank of each row; non-dominated rows have the largest rank (Eq. 8)."""
    norms: NDArray[np.float64]
    """E, the ℓ2 norm of the objectives as numbers in [0, 1]."""
    log_fitness: NDArray[np.float64]
    """Logarithm of Eq. 9, as the value of Eq. 9 may overflow; minus infinity where E is 0."""


@dataclass(frozen=True, eq=False)
class EmscoGeneration:
    """Assignments of one generation with their measures and scores, sorted by fitness, best first."""

    number: int
    assignments: NDArray[np.int8]
    measures: NDArray[np.int64]
    vectors: NDArray[np.int64]
    scores: Scores


Observe: TypeAlias = Callable[[EmscoGeneration], None]
"""Callback that receives every generation, the first and the last included."""


def emsco(
    problem: StageProblem,
    options: EmscoOptions | None = None,
    *,
    start: NDArray[np.int8] | None = None,
    observe: Observe | None = None,
    budget: Budget | None = None,
) -> StageResult:
    """Search for non-dominated stage assignments by evolution.

    Algorithm 3 of :cite:t:`Hamilton2022`: elitism, roulette selection, recombination (Algorithm 2), mutation
    (Algorithm 1), until one of the two convergence tests holds. With ``rules="paper"`` a chromosome that no
    assignment of the whole space dominates is kept once it is found (Property 1). With ``rules="distinct"``
    the chromosome's objective vector is kept, but another chromosome may stand for the vector.

    `start`: assignments of the first generation, ``(n_assignments, n_features)``, fewer than the population;
    mutants fill up the generation. `budget`: time limit, seed, and progress. If time ends in the first
    generation, the assignments fitted by then are kept, at least one. If time ends in a later generation, the
    generation is dropped. A generation from a study is measured whatever the time. The budget's study keeps
    generations with the state of the random numbers, so a killed run continues to the same end. The observer
    of a continued run receives the generations from the kept one on.

    Time per generation is O(population²) for the ranks, plus the fits of feature subsets not seen before.

    The result holds all non-dominated chromosomes of the last generation, each once, sorted by fitness, best
    first. Its facts give the stop reason: ``"generations"``, ``"patience"``, ``"elite fills the
    population"``, ``"interrupted"`` or the time limit. Nothing is proved.
    """
    options = options or EmscoOptions()
    budget = budget or Budget()
    rng = np.random.default_rng(budget.seed)
    cumulative = beta_binomial(problem.max_stages, options.beta)
    checkpoint = Checkpoint("evolution", budget.study)
    kept = checkpoint.last()
    if kept is None:
        first = _first_assignments(problem, start, options, rng)
        seen = set(_as_keys(first).tolist()) if options.tries else set()
        place = EmscoPlace(0, first, seen, options.population)
    else:
        place = opened_place(kept, rng)
    current = _first_generation(problem, options, place, budget, whole=kept is not None)
    n_missing = len(place.assignments) - len(current.assignments)  # for want of time
    stopped = budget.limit_text if n_missing else ""
    n_generations = None if options.generations == sys.maxsize else options.generations
    while not stopped and current.number < options.generations:
        budget.report(Progress("generations", current.number, n_generations))
        if observe is not None:
            observe(current)
        elites = elite(current, options)
        n_children = options.population - len(elites)
        stopped = _end(options, place, n_children, budget)
        if stopped:
            if stopped not in ENDS:
                checkpoint.keep(partial(kept_place, place, rng), now=True)
            break
        children = _children(problem, current, n_children, options, cumulative, rng=rng, seen=place.seen)
        try:
            following = _generation(
                problem, options, current.number + 1, np.concatenate([current.assignments[elites], children])
            )
        except FitsStoppedError:  # the random numbers are past this generation: the last state stands
            stopped = budget.limit_text
            break
        same = (following.assignments[0] == current.assignments[0]).all()
        current = following
        place = EmscoPlace(
            current.number, current.assignments, place.seen, place.evaluations + n_children,
            place.unchanged + 1 if same else 0,
        )  # fmt: skip
        checkpoint.keep(partial(kept_place, place, rng), stage=partial(_stage_note, current, options))
    else:
        if observe is not None:
            observe(current)
    stopped = stopped or "generations"
    budget.report(Progress("generations", current.number, n_generations))
    if stopped in ENDS:
        checkpoint.finish(
            partial(kept_place, place, rng), budget.elapsed, stage=_stage_note(current, options)
        )
    best = _first_of_each(current.assignments)
    best &= current.scores.ranks == current.scores.ranks.max()
    proof = Proof(ProofKind.APPROXIMATE, limit="" if stopped in {"generations", "patience"} else stopped)
    facts = {
        "n_generations": current.number,
        "n_evaluations": place.evaluations - n_missing,
        "stopped": stopped,
        "n_chromosomes": int(best.sum()),
    }
    return StageResult(
        problem, current.assignments[best], current.measures[best], "emsco", proof, budget.elapsed, facts
    )


def _end(options: EmscoOptions, place: EmscoPlace, n_children: int, budget: Budget) -> str:
    """Return the reason why the run ends after this generation; empty if a further generation follows."""
    if options.patience is not None and place.unchanged >= options.patience:
        return "patience"
    if n_children <= 0:
        return ELITE_FILLS
    return budget.limit_text if budget.stopped else ""


def _first_generation(
    problem: StageProblem, options: EmscoOptions, place: EmscoPlace, budget: Budget, *, whole: bool
) -> EmscoGeneration:
    """Measure the first generation: all assignments if `whole`, else as many as there is time for.

    The first assignment is fitted whatever the time, so that there is an answer.
    """
    fits, first = problem.decisions.subclassifiers, place.assignments
    endless = dataclasses.replace(budget, seconds=math.inf)
    fits.serve(endless)
    problem.measures(first if whole else first[:1])
    fits.serve(budget)
    try:
        problem.measures(first)
    except FitsStoppedError:
        first = problem.fitted(first)
    fits.serve(endless)  # what is left is fitted
    generation = _generation(problem, options, place.number, first)
    fits.serve(budget)
    return generation


def _first_assignments(
    problem: StageProblem, start: NDArray[np.int8] | None, options: EmscoOptions, rng: np.random.Generator
) -> NDArray[np.int8]:
    removal = options.removal if problem.removal else 0.0
    n, k = problem.n_features, problem.max_stages
    drawn = initial_population(n, k, options, rng, removal=removal)
    return drawn if start is None else np.concatenate([start, drawn])[: options.population]


def initial_population(
    n_features: int, max_stages: int, options: EmscoOptions, rng: np.random.Generator, *, removal: float = 0.0
) -> NDArray[np.int8]:
    """Return mutants of the one-stage assignment (``init`` of Sec. 3.4)."""
    population = np.zeros((options.population, n_features), dtype=np.int8)
    cumulative = beta_binomial(max_stages, options.beta)
    mutation = Mutation(max_stages, options.mutation, cumulative, removal)
    for row in population:
        mutate_row(row, mutation, rng.random(n_features), rng.random(n_features))
    return population


def beta_binomial(max_stages: int, beta: float) -> NDArray[np.float64]:
    """Return the distribution functions of BB(m, 1, β) for m from 0 to `max_stages` - 1, one per row (Eq. 7).

    >>> beta_binomial(2, 2.0).round(3)
    array([[1.   , 1.   ],
           [0.667, 1.   ]])
    """
    table = np.ones((max_stages, max_stages))
    for m in range(max_stages):
        mass = [
            math.comb(m, j) * math.exp(_log_beta(j + 1, m - j + beta) - _log_beta(1, beta))
            for j in range(m + 1)
        ]
        table[m, : m + 1] = np.cumsum(mass)
        table[m, m] = 1.0
    return table


def score(problem: StageProblem, measures: NDArray[np.int64], *, epsilon: float = 0.01) -> Scores:
    """Rank a generation and compute its fitness (Eqs. 8 and 9).

    The merits are relative to the generation: the least cost in it has inverse cost 1 (Eq. 5). Where some E
    is 0, γ is computed from the E above 0, and a fitness of 0 comes last within its rank.
    """
    # equal vectors have equal rank, and converged generations hold many
    same = np.unique(_as_keys(problem.vectors(measures)), return_index=True, return_inverse=True)
    levels = domination_levels(*problem.comparable(measures[same[1]]))[same[2]]
    ranks = levels.max(initial=0) - levels
    norms = np.linalg.norm(problem.merits(measures), axis=1)
    positive = norms[norms > 0]
    gamma = (positive.max() / positive.min() if len(positive) else 1.0) + epsilon
    with np.errstate(divide="ignore"):
        log_fitness = ranks * math.log(gamma) + np.log(norms)
    return Scores(ranks, norms, log_fitness)


def elite(generation: EmscoGeneration, options: EmscoOptions) -> NDArray[np.int64]:
    """Return the indices of the rows that continue unchanged (Sec. 3.2.2).

    The rows are the best max(⌈b‖G*‖⌉, ‖E0*‖) unique ones. By the paper's rules a row is unique by its
    chromosome, otherwise by its objective vector.
    """
    rows = generation.assignments if options.rules == "paper" else generation.vectors
    unique = np.flatnonzero(_first_of_each(rows))
    top = int((generation.scores.ranks[unique] == generation.scores.ranks.max()).sum())
    share = as_fraction(options.elitism)  # 0.07 · 100 is 7, and not a little more
    assert share is not None
    return unique[: max(math.ceil(share * len(unique)), top)]


def roulette(scores: Scores) -> NDArray[np.float64]:
    """Return the running sum of selection probabilities, proportional to fitness."""
    largest = scores.log_fitness.max()
    if math.isinf(largest):
        return np.arange(1, len(scores.ranks) + 1) / len(scores.ranks)
    wheel = np.cumsum(np.exp(scores.log_fitness - largest))
    return np.asarray(wheel / wheel[-1])


def recombine(
    first: NDArray[np.int8], second: NDArray[np.int8], n_child: int, picks: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Return the child of two assignments with `n_child` stages, before gaps are closed (Algorithm 2).

    >>> parent = np.array([0, 2, 1, 2, 1], dtype=np.int8)  # Figure 5
    >>> recombine(parent, parent, 2, np.zeros(5))
    array([0, 1, 0, 1, 0], dtype=int8)
    """
    child = np.empty(len(first), dtype=np.int8)
    recombine_rows(first, second, int(first.max()) + 1, int(second.max()) + 1, n_child, picks, child)
    return child


def _stage_note(current: EmscoGeneration, options: EmscoOptions) -> StageNote:
    """Return the progress of a run; the number of trade-offs measures its success."""
    best = current.scores.ranks == current.scores.ranks.max()
    points = len(np.unique(current.vectors[best], axis=0))
    return StageNote("generations", options.generations, current.number, 1, counted(points, "point"))


def _generation(
    problem: StageProblem, options: EmscoOptions, number: int, assignments: NDArray[np.int8]
) -> EmscoGeneration:
    """Return a generation, measured, scored and sorted.

    Equal assignments keep their order, so elites stay before their copies.
    """
    measures = problem.measures(assignments)
    scores = score(problem, measures, epsilon=options.epsilon)
    # within a rank E decides alone (Property 2), and the logarithm may lose a bit of it
    order = np.lexsort((-scores.norms, -scores.ranks))
    return EmscoGeneration(
        number,
        assignments[order],
        measures[order],
        problem.vectors(measures[order]),
        Scores(scores.ranks[order], scores.norms[order], scores.log_fitness[order]),
    )


def _children(
    problem: StageProblem,
    parents: EmscoGeneration,
    n_children: int,
    options: EmscoOptions,
    cumulative: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    seen: set[bytes],
) -> NDArray[np.int8]:
    """Return bred children, ``(n_children, n_features)``, and add them to `seen`.

    Children that were measured before are mutated again.
    """
    n = parents.assignments.shape[1]
    removal = options.removal if problem.removal else 0.0
    mutation = Mutation(len(cumulative), options.mutation, cumulative, removal)
    children = np.empty((n_children, n), dtype=np.int8)
    breed_assignments(
        parents.assignments, stage_counts(parents.assignments), roulette(parents.scores),
        rng.random((n_children, 4 + 3 * n)), options.recombination, mutation, children,
    )  # fmt: skip
    for _ in range(options.tries):
        again = _known(children, seen)
        if not len(again):
            break
        draws = rng.random((len(again), 2 * n))
        mutate_again(children, again, mutation, draws)
    if options.tries:
        seen.update(_as_keys(children).tolist())
    return children


def _known(children: NDArray[np.int8], seen: Collection[bytes]) -> NDArray[np.int64]:
    """Return the indices of rows that were measured before, or that repeat an earlier row of `children`."""
    fresh = _first_of_each(children)
    for row, key in enumerate(_as_keys(children).tolist()):
        fresh[row] &= key not in seen
    return np.flatnonzero(~fresh)


def _first_of_each(rows: NDArray[np.int8] | NDArray[np.int64]) -> Mask:
    mask = np.zeros(len(rows), dtype=bool)
    mask[np.unique(_as_keys(rows), return_index=True)[1]] = True
    return mask


def _as_keys(rows: NDArray[np.int8] | NDArray[np.int64]) -> NDArray[np.void]:
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
