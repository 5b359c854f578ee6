"""Recall of evolution: the share of the true front that evolution finds (the paper's Figure 7)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search.emsco import EmscoGeneration, EmscoOptions, emsco
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.runs import NO_STUDY, Budget, Unit, Work, run_units, silent
from shortlist.runs.workers import Where


@dataclass(frozen=True, eq=False)
class Recall:
    """Recall per generation, one row per seed."""

    points: NDArray[np.float64]
    """Share of the front's objective vectors that the population holds, ``(n_seeds, n_generations + 1)``."""
    assignments: NDArray[np.float64]
    """Share of all assignments on the front, ties counted, that the population holds.

    Its shape is that of `points`.
    """


def recall(
    truth: StageResult,
    options: EmscoOptions,
    *,
    seeds: Sequence[int],
    budget: Budget | None = None,
    workers: Where = 1,
) -> Recall:
    """Run evolution once per seed and compare every generation with the complete front.

    `truth`: result of a complete enumeration. `options`: ``patience=None`` turns the second convergence test
    off, as for the paper's figure. A run that stops early keeps its last value. `seeds`: seeds, of one run
    each. `budget`: time limit of all runs, with progress after each run; at its end only finished runs are
    returned, possibly none. The budget's study keeps every finished run.
    """
    budget = budget or Budget()
    vectors = frozenset(row.tobytes() for row in truth.problem.vectors(truth.measures))
    sought = _Sought(truth.problem, options, vectors, int(truth.n_tied.sum()))
    alone = dataclasses.replace(budget, report=silent, study=NO_STUDY)
    units = [Unit(str(seed), recall_of_seed, (sought, seed, alone)) for seed in seeds]
    work = Work(workers, budget.study.part("recall"), budget.report, budget.cancellation)
    runs: list[list[list[float]]] = []
    for _, curves in run_units(units, work, stage="evolution"):
        if curves is None:
            break
        runs.append(curves)
    table = np.array(runs, dtype=np.float64).reshape(len(runs), 2, options.generations + 1)
    return Recall(table[:, 0], table[:, 1])


@dataclass(frozen=True, eq=False)
class _Sought:
    """Inputs of all runs: the problem, the options, and the points of the true front."""

    problem: StageProblem
    options: EmscoOptions
    vectors: frozenset[bytes]
    n_tied: int


def recall_of_seed(sought: _Sought, seed: int, budget: Budget) -> list[list[float]] | None:
    """Return the share of points and the share of assignments after every generation of a run.

    None if the run was stopped.
    """
    points, assignments = np.zeros((2, sought.options.generations + 1))

    def note(generation: EmscoGeneration) -> None:
        hits = [vector.tobytes() in sought.vectors for vector in generation.vectors]
        found = {vector.tobytes() for vector, hit in zip(generation.vectors, hits, strict=True) if hit}
        chromosomes = {q.tobytes() for q, hit in zip(generation.assignments, hits, strict=True) if hit}
        points[generation.number :] = len(found) / len(sought.vectors)
        assignments[generation.number :] = len(chromosomes) / sought.n_tied

    emsco(sought.problem, sought.options, observe=note, budget=dataclasses.replace(budget, seed=seed))
    return None if budget.stopped else [points.tolist(), assignments.tolist()]
