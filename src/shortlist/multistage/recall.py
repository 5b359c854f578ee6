"""How much of the true front evolution finds: the paper's Figure 7."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search.emsco import EmscoGeneration, EmscoOptions, emsco
from shortlist.multistage.search.enumeration import EnumerationResult
from shortlist.runs import NO_STUDY, Budget, Finished, Progress, silent
from shortlist.runs.clock import seconds_now
from shortlist.runs.studies.study import StageNote


@dataclass(frozen=True, eq=False)
class Recall:
    """Recall per generation, one row per seed.

    Attributes
    ----------
    points : ndarray of float, shape (n_seeds, n_generations + 1)
        Share of the front's objective vectors that the population holds.
    assignments : ndarray of float, same shape
        Share of all assignments on the front, ties counted, that the population holds.
    """

    points: NDArray[np.float64]
    assignments: NDArray[np.float64]


def recall(
    truth: EnumerationResult,
    options: EmscoOptions,
    *,
    seeds: Sequence[int],
    budget: Budget | None = None,
) -> Recall:
    """Run evolution once per seed and compare every generation with the complete front.

    Parameters
    ----------
    truth : EnumerationResult
        A complete enumeration.
    options : EmscoOptions
        Set ``patience=None`` to turn the second convergence test off, as for the paper's figure. A run that
        stops early keeps its last value.
    seeds : sequence of int
        One run each.
    budget : Budget, optional
        How long all runs may take, and who is told after each; when it ends, only finished runs are returned,
        possibly none. Its study keeps every finished run.
    """
    budget = budget or Budget()
    problem = truth.problem
    wanted = {row.tobytes() for row in problem.vectors(truth.measures)}
    n_tied = int(truth.n_tied.sum())
    points = np.zeros((len(seeds), options.generations + 1))
    assignments = np.zeros_like(points)
    study = budget.study.part("recall")
    known = study.results()
    for row, seed in enumerate(seeds):
        if str(seed) in known:
            points[row], assignments[row] = known[str(seed)]
            continue

        def note(generation: EmscoGeneration, row: int = row) -> None:
            hits = [vector.tobytes() in wanted for vector in generation.vectors]
            found = {vector.tobytes() for vector, hit in zip(generation.vectors, hits, strict=True) if hit}
            chromosomes = {q.tobytes() for q, hit in zip(generation.assignments, hits, strict=True) if hit}
            points[row, generation.number :] = len(found) / len(wanted)
            assignments[row, generation.number :] = len(chromosomes) / n_tied

        budget.report(Progress("evolution", row, len(seeds)))
        start = seconds_now()
        alone = dataclasses.replace(budget, seed=seed, report=silent, study=NO_STUDY)
        emsco(problem, options, observe=note, budget=alone)
        if budget.stopped:
            return Recall(points[:row], assignments[:row])
        found = f"{points[row, -1]:.1%} of the front"
        study.record(
            Finished(str(seed), [points[row].tolist(), assignments[row].tolist()], seconds_now() - start),
            stage=StageNote("evolution", len(seeds), row + 1, 1, found),
        )
    budget.report(Progress("evolution", len(seeds), len(seeds)))
    return Recall(points, assignments)
