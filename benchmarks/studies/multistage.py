"""Multi-stage classifiers: complete fronts, evolution against them and against the authors' figures, prediction.

python -m benchmarks multistage multistage-recall --data FOLDER [--seeds 100]
"""

import dataclasses
import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import aggregate
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.recall import recall
from shortlist.multistage.search.emsco import RULES, EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.subclassifiers.subclassifiers import subset_masks
from shortlist.runs.budget import Budget
from shortlist_papers.landscapes import (
    PAPER_EXAMPLE,
    SETS,
    example_problem,
    measured_on_test,
    paper_problem,
)

THREADS = 2
SPLITS = 5


def multistage(folder: Path) -> Iterator[dict[str, Any]]:
    """Run everything but recall."""
    yield from complete_fronts(folder)
    yield from evolution(folder)
    yield from example(folder)
    yield from prediction()


def complete_fronts(
    folder: Path,
    data: tuple[str, ...] = tuple(SETS),
    stages: tuple[int, ...] = (2, 3, 4),
    credit_stages: tuple[int, ...] = (5, 6),
) -> Iterator[dict[str, Any]]:
    """Enumerate each table, fits included; for Credit also more stages than the paper."""
    _warm_up(folder)
    for name in data:
        for k in (*stages, *(credit_stages if name == "credit" else ())):
            start = time.perf_counter()
            problem = paper_problem(folder, name, max_stages=k).problem
            problem.decisions.every_subset()
            fits_s = time.perf_counter() - start
            result = enumerate_front(problem, workers=THREADS)
            yield _row(
                "multistage-front", name, 0, "enumerate", time.perf_counter() - start,
                max_stages=k, size=len(result.measures), tied=int(result.n_tied.sum()), looked=result.n_looked,
                fits_s=round(fits_s, 4), walk_s=round(result.seconds, 4), proof=str(result.proof.kind), threads=THREADS,
            )  # fmt: skip


def evolution(folder: Path, generations: int = 500) -> Iterator[dict[str, Any]]:
    """Time 500 generations of 300 on each table with the fits they need, convergence test off."""
    _warm_up(folder)
    for name in SETS:
        options = _options(name, generations)
        problem = paper_problem(folder, name, max_stages=4).problem
        result, seconds = _timed(
            lambda problem=problem, options=options: emsco(problem, options, budget=Budget(seed=0))
        )
        yield _row(
            "multistage-emsco", name, 0, "emsco", seconds, max_stages=4, size=len(result.measures),
            generations=result.facts["n_generations"], evaluations=result.facts["n_evaluations"],
            fits=problem.decisions.subclassifiers.n_fits,
        )  # fmt: skip


def example(
    folder: Path, seeds: int = 10, levels: tuple[float, ...] = tuple(PAPER_EXAMPLE)
) -> Iterator[dict[str, Any]]:
    """Run the authors' example on their splits: mean of the seeds on the test rows, beside their published figures.

    All subsets are fitted first, which `first_run_s` of the first confidence includes; then nothing is left to fit for
    another seed (`seconds`, the mean) or another confidence (`first_run_s` of the others).
    """
    start = time.perf_counter()
    for level, (accuracy, coverage, cost) in sorted(PAPER_EXAMPLE.items()):
        if level not in levels:
            continue
        found = []
        began, first_s = time.perf_counter(), 0.0
        split = example_problem(folder, level)
        subclassifiers = split.problem.decisions.subclassifiers
        subclassifiers.slots(subset_masks(split.problem.n_features))
        for seed in range(seeds):
            before = time.perf_counter()
            result = emsco(split.problem, EmscoOptions(), budget=Budget(seed=seed))
            seconds = time.perf_counter() - before
            first_s = first_s or time.perf_counter() - began
            # the fittest comes first
            found.append(measured_on_test(split, result.assignments[0]) | {"seconds": seconds})
        ours = {name: float(np.mean([run[name] for run in found])) for name in found[0]}
        share = cost / (split.problem.costs.total / split.problem.costs.scale)
        yield _row(
            "multistage-example", "emsco-example", seeds, "emsco", ours.pop("seconds"), confidence=level,
            first_run_s=round(first_s, 4), fits=subclassifiers.n_fits,
            since_start_s=round(time.perf_counter() - start, 3),
            **ours,
            published_accuracy=accuracy, published_coverage=coverage, published_cost=cost,
            published_aggregate=aggregate(coverage, accuracy, share),
        )  # fmt: skip


def recalls(
    folder: Path,
    *,
    seeds: int = 10,
    splits: int = SPLITS,
    generations: int = 500,
    data: tuple[str, ...] = tuple(SETS),
) -> Iterator[dict[str, Any]]:
    """Compare evolution with the complete front (the paper's Figure 7), by both rules."""
    for name in data:
        for split in range(splits):
            truth = enumerate_front(
                paper_problem(folder, name, max_stages=4, split=split).problem, workers=THREADS
            )
            for rules in RULES:
                options = _options(name, generations, rules=rules)
                found, seconds = _timed(lambda t=truth, o=options: recall(t, o, seeds=range(seeds)))
                yield _row(
                    "multistage-recall", name, split, f"emsco, rules={rules}", seconds, max_stages=4, seeds=seeds,
                    size=len(truth.measures), generations=generations,
                    points=float(found.points[:, -1].mean()), assignments=float(found.assignments[:, -1].mean()),
                    points_halfway=float(found.points[:, generations // 2].mean()),
                )  # fmt: skip


def prediction(n_rows: int = 1_000_000) -> Iterator[dict[str, Any]]:
    """Time predicting many rows of 15 features in 3 stages, one thread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 15))
    y = (X @ np.linspace(1, 0.2, 15) + rng.normal(size=n_rows) > 0).astype(np.int64)
    classifier = MultiStageClassifier(
        removal=False,
        feature_costs=list(range(1, 16)), confidence=0.9, max_stages=3, method="emsco", random_state=0,
        emsco_options=EmscoOptions(population=60, generations=20),
    ).fit(X[:600], y[:600])  # fmt: skip
    counts = classifier.front_.decisions.max(axis=1) + 1
    # of the points with three stages the one that answers most rows: rows reach every stage
    classifier.use(int(np.flatnonzero(counts == 3)[0]))
    classifier.predict(X[:1000])
    labels, seconds = _timed(lambda: classifier.predict(X))
    yield _row(
        "multistage-predict", "made", 0, "predict", seconds, size=n_rows, max_stages=3, rows_per_s=round(n_rows / seconds),
        coverage=float((labels != classifier.reject_label_).mean()),
    )  # fmt: skip


def _options(name: str, generations: int, **more: Any) -> EmscoOptions:
    return dataclasses.replace(
        PRESETS[name].options, population=300, generations=generations, patience=None, **more
    )


@functools.cache
def _warm_up(folder: Path) -> None:
    """Compile and import outside the clock."""
    problem = paper_problem(folder, "pima", max_stages=2).problem
    enumerate_front(problem, workers=THREADS)
    emsco(problem, EmscoOptions(population=20, generations=2))
    paper_problem.cache_clear()


def _timed(call: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    answer = call()
    return answer, time.perf_counter() - start


def _row(case: str, data: str, seed: int, method: str, seconds: float, **more: Any) -> dict[str, Any]:
    row = {"case": case, "data": data, "seed": seed, "method": method, "seconds": round(seconds, 4)} | more
    print(row, flush=True)
    return row
