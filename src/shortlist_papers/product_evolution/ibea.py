"""Indicator-based evolution: IBEA (Zitzler & Künzli 2004), SATIBEA and SMTIBEA with repair, and IBED."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from shortlist.arrays import Mask, Points
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.solution import Limits
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState, random_facts
from shortlist_papers.product_evolution import _kernels as kernels
from shortlist_papers.product_evolution.variation import (
    Evolution,
    EvolvedProblem,
    Generations,
    random_state,
    repaired,
)

N_NODES = 100
"""Largest number of branch-and-bound nodes of one question; the authors' program stops Z3 after six
seconds.
"""


class Improvement:
    """Solver for products that are no worse than given bits in every objective.

    Guo and others (2019) use the solver Z3, of satisfiability modulo theories, in place of SATIBEA's solver
    of clauses, so that rules may hold sums. In the third version of their program Z3 is asked for a product
    that costs no more and has no more defects than the child. Over 0/1 variables an integer program decides
    the same questions, clauses and linear inequalities together: here HiGHS replaces Z3.

    Open details of their texts were chosen: all objectives are bounded by the child's. If there is no such
    product, or no such product is found within :data:`N_NODES` nodes, the child is repaired as in SATIBEA;
    their program takes random values.
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
        """Return a product that is no worse than `bits`, or the repaired bits if none is found."""
        most = (bits.astype(np.int64) @ self._costs).astype(float)
        self._session.set_row_bounds(self._bounded, -np.inf, most)
        values = self._session.solve(Limits(nodes=N_NODES), cancellation=self._cancellation).values
        if values is not None:
            found = np.rint(values).astype(np.uint8)
            is_better = (found.astype(np.int64) @ self._costs <= most).all()
            if is_better and self._clauses.satisfied(found[None].astype(bool)).all():
                return found
        return repaired(self._sat, bits)


class Ibea(Generations):
    """Indicator-based evolution with feedback-directed mutation (Tan et al. 2015).

    The mutation draws the features of violated clauses anew. With ``settings.repair`` some offspring are
    replaced by models of the clauses, as in SATIBEA (Henard et al. 2015): a satisfiability solver searches
    for a model and tries the child's values first. With ``settings.improve`` the replacement is a product
    that is no worse than the child in any objective, as in SMTIBEA (Guo et al. 2019). When a study continues,
    the questions of all repairs are asked again, because a solver learns from them.
    """

    def __init__(
        self, problem: EvolvedProblem, settings: Evolution, seeds: ArrayLike | None, budget: Budget
    ) -> None:
        super().__init__(problem, settings, seeds, budget)
        self.name = ("smtibea" if settings.improve else "satibea") if settings.repair else "ibea"
        self._repair = self._repairing(budget)
        self._state = random_state(self._rng)
        self._asked = self.population[:0]
        self._points: Points
        self._fitness: NDArray[np.float64]

    def begin(self) -> None:
        """Evaluate the first population."""
        self._points = self._problem.evaluate(self.population)
        self._fitness = fitness_of(self._points, self._settings.kappa)

    def resume(self, known: KeptState) -> None:
        """Continue from a kept state.

        A state of IBED from version 0.3.0 lacks the part that only repairs need.
        """
        arrays, unpacked = known.arrays, self._problem.unpacked
        self.population = unpacked(arrays["population"])
        self._asked = unpacked(arrays["asked"]) if "asked" in arrays else self.population[:0]
        self._points, self._fitness, self._state = (arrays[one] for one in ("points", "fitness", "state"))
        self._problem.n_evaluated = known.facts["n_evaluated"]
        if "random" in known.facts:
            self._rng.bit_generator.state = known.facts["random"]
        if self._repair is not None:
            with contextlib.suppress(SearchStoppedError):
                for bits in self._asked:
                    self._repair(bits)

    def step(self, left: int) -> bool:
        """Make a generation of at most `left` evaluations."""
        children = self.children(left)
        if self._repair is not None:
            before = repair_some(self._repair, children, self._settings.repair, self._rng)
            self._asked = np.vstack([self._asked, before])
        self.survive(children, self._problem.evaluate(children))
        return True

    def children(self, left: int) -> NDArray[np.uint8]:
        """Return as many children as members, by tournament, crossover and feedback-directed mutation."""
        problem, rates = self._problem, self._settings
        children = np.empty((min(rates.population_size, left), problem.n_variables), dtype=np.uint8)
        if problem.n_variables:
            kernels.breed(
                self.population, self._fitness, problem.clause_lists, rates.crossover, rates.error_mutation,
                rates.mutation, self._state, children,
            )  # fmt: skip
        return children

    def survive(self, others: NDArray[np.uint8], points: Points) -> None:
        """Select the population by the indicator from the present members and other selections."""
        union, points = np.vstack([self.population, others]), np.vstack([self._points, points])
        size, kappa = self._settings.population_size, self._settings.kappa
        if self._settings.valid_first:
            union, points = _fewest_violations(union, points, size)
        kept, fitness = np.empty(size, dtype=np.int64), np.empty(len(points))
        kernels.select_by_indicator(points, kappa, size, kept, fitness)
        self.population, self._points, self._fitness = union[kept], points[kept], fitness[kept]

    def state(self) -> KeptState:
        """Return the state for :meth:`resume`."""
        arrays: dict[str, NDArray[Any]] = {
            "population": self._problem.packed(self.population), "asked": self._problem.packed(self._asked),
            "points": self._points, "fitness": self._fitness, "state": self._state,
        }  # fmt: skip
        facts = {"n_evaluated": self._problem.n_evaluated, "random": random_facts(self._rng)}
        return KeptState(arrays, facts)

    def _repairing(self, budget: Budget) -> Callable[[NDArray[np.uint8]], NDArray[np.uint8]] | None:
        """Return the function that turns a child into a product; None without repair."""
        if not self._settings.repair:
            return None
        if self._settings.improve and self._problem.n_variables:
            return Improvement(self._problem, budget)
        return functools.partial(repaired, SatSolver(self._problem.presolved.clauses, budget))


def repair_some(
    repair: Callable[[NDArray[np.uint8]], NDArray[np.uint8]],
    children: NDArray[np.uint8],
    share: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Repair each child with probability `share`, in place.

    Return the bits that the repaired children had before.
    """
    rows = np.flatnonzero(rng.random(len(children)) < share)
    before = children[rows]
    for row in rows.tolist():
        children[row] = repair(children[row])
    return before


def fitness_of(points: Points, kappa: float) -> NDArray[np.float64]:
    """Return the indicator's fitness of each point, ``(n_points,)``."""
    kept, fitness = np.empty(len(points), dtype=np.int64), np.empty(len(points))
    kernels.select_by_indicator(points, kappa, len(points), kept, fitness)
    return fitness


def _fewest_violations(
    union: NDArray[np.uint8], points: Points, size: int
) -> tuple[NDArray[np.uint8], Points]:
    """Return at least `size` distinct members with the fewest violations.

    Members that tie with the last one are included. Equal members are added only if there are too few
    distinct members.
    """
    _, first = np.unique(points, axis=0, return_index=True)
    fresh = np.zeros(len(points), dtype=bool)
    fresh[first] = True
    worst = np.sort(points[:, 0])[size - 1]
    offered: Mask = points[:, 0] <= worst
    if (offered & fresh).sum() >= size:
        offered &= fresh
    return np.ascontiguousarray(union[offered]), np.ascontiguousarray(points[offered])


class Ibed(Ibea):
    """Two populations: one led by the ε-indicator, and one by differential evolution.

    The first population is that of :class:`Ibea`, without repair. In the second, of the same size, each
    member has a trial made from differences of other members, then mutated with feedback. The trial replaces
    the member if it violates fewer clauses, or equally many and is neither dominated by the member nor equal
    to it. The indicator selects the first population from its members, its offspring and all trials, so that
    the first population receives the results of differential evolution. The paper says little about
    replacement and exchange; these rules are ours. Offspring of both populations count as evaluations, and
    the front is of both.
    """

    def __init__(
        self, problem: EvolvedProblem, settings: Evolution, seeds: ArrayLike | None, budget: Budget
    ) -> None:
        super().__init__(problem, dataclasses.replace(settings, repair=0.0, improve=False), seeds, budget)
        self.name = "ibed"
        self._rivals: NDArray[np.uint8]
        self._rival_points: Points

    def begin(self) -> None:
        """Evaluate the first population, a copy of which becomes the second one."""
        super().begin()
        self._rivals, self._rival_points = self.population.copy(), self._points.copy()

    def resume(self, known: KeptState) -> None:
        """Continue from a kept state."""
        super().resume(known)
        self._rivals = self._problem.unpacked(known.arrays["rivals"])
        self._rival_points = known.arrays["rival_points"]

    def step(self, left: int) -> bool:
        """Make a generation of both populations."""
        children = self.children(left)
        trials = self._trials()[: max(0, left - len(children))]
        child_points, trial_points = self._problem.evaluate(children), self._problem.evaluate(trials)
        better = np.flatnonzero(_replaces(trial_points, self._rival_points[: len(trials)]))
        self._rivals[better], self._rival_points[better] = trials[better], trial_points[better]
        self.survive(np.vstack([children, trials]), np.vstack([child_points, trial_points]))
        return True

    def state(self) -> KeptState:
        """Return the state for :meth:`resume`."""
        kept = super().state()
        own: dict[str, NDArray[Any]] = {
            "rivals": self._problem.packed(self._rivals), "rival_points": self._rival_points,
        }  # fmt: skip
        return KeptState({**kept.arrays, **own}, kept.facts)

    def members(self) -> NDArray[np.uint8]:
        """Return both populations."""
        return np.vstack([self.population, self._rivals])

    def _trials(self) -> NDArray[np.uint8]:
        """Return one trial per member of the second population."""
        trials, rates = np.empty_like(self._rivals), self._settings
        if self._problem.n_variables:
            kernels.breed_by_differences(
                self._rivals, self._problem.clause_lists, rates.differential_weight,
                rates.differential_crossover, rates.error_mutation, rates.mutation, self._state, trials,
            )  # fmt: skip
        return trials


def _replaces(trials: Points, targets: Points) -> Mask:
    fewer = trials[:, 0] < targets[:, 0]
    as_many = trials[:, 0] == targets[:, 0]
    beaten = (targets[:, 1:] <= trials[:, 1:]).all(axis=1)
    mask: Mask = fewer | (as_many & ~beaten)
    return mask
