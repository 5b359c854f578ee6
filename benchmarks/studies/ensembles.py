"""Pruning rules and evolution at full size, and evolved ensembles beside their baselines.

python -m benchmarks ensembles eel-cv --data FOLDER
"""

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases.orderings import made_votes, rules
from benchmarks.data.uci import read_uci
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.papers.comparison import rank_methods
from shortlist.papers.evolution import SETS, EvolutionSize, eel_methods, eel_table
from shortlist.papers.paper import how_to_get
from shortlist.papers.pruning_comparison import compare_methods
from shortlist.tables.files import read_set

SIZES = ((1000, 16_000), (100, 8000))
"""Classifiers and rows."""


def ensembles(
    folder: Path,
    *,
    sizes: tuple[tuple[int, int], ...] = SIZES,
    population: int = 500,
    generations: int = 200,
) -> Iterator[dict[str, Any]]:
    """Time every rule on made votes, and both kinds of evolution on Spambase; one warm-up on small input."""
    small = made_votes(10, 50)
    for n_classifiers, n_rows in sizes:
        votes = made_votes(n_classifiers, n_rows)
        for name, order in rules().items():
            if name == "backfitting" and n_classifiers > 100:
                continue  # it tries every replacement after every addition, which is meant for small pools
            order(small)
            start = time.perf_counter()
            order(votes)
            seconds = time.perf_counter() - start
            tracemalloc.start()
            if seconds < 60:
                order(votes)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield _shown(
                {
                    "case": "rules", "data": "made", "size": n_rows, "classifiers": n_classifiers, "method": name,
                    "seconds": round(seconds, 4),
                    "memory_per_votes": round(peak / votes.codes.nbytes, 2) if seconds < 60 else None,
                }
            )  # fmt: skip
    X, y = read_uci(folder, "spambase")
    for mode in ("offline", "online"):
        classifier = EvolutionaryEnsembleClassifier(
            mode, population_size=population, n_generations=generations, random_state=0
        )
        start = time.perf_counter()
        classifier.fit(X, y)
        yield _shown(
            {
                "case": "evolution", "data": "spambase", "size": len(y), "method": mode, "population": population,
                "generations": generations, "seconds": round(time.perf_counter() - start, 3),
                "members": len(classifier.members_), "training_error": classifier.result_.error,
            }
        )  # fmt: skip


def eel_cv(
    folder: Path,
    *,
    tables: tuple[str, ...] = tuple(SETS),
    n_folds: int = 10,
    population: int = 500,
    generations: int = 200,
) -> Iterator[dict[str, Any]]:
    """Cross-validate evolved ensembles beside one linear classifier, a genetic algorithm and boosted stumps."""
    methods = eel_methods(EvolutionSize(tables, n_folds, 1, population, generations))
    results = []
    for name in tables:
        measured = compare_methods({name: read_eel_table(folder, name)}, methods, n_folds=n_folds)
        results.append(measured)
        for method, rows in measured.groupby("method", sort=False):
            yield _shown(
                {
                    "case": "eel-cv", "data": name, "seed": 0, "method": method, "folds": len(rows),
                    "population": population, "generations": generations,
                    "error": round(1 - rows["accuracy"].mean(), 4),
                    "error_deviation": round(rows["accuracy"].std(), 4),
                    "balanced_error": round(1 - rows["balanced_accuracy"].mean(), 4),
                    "members": None if rows["size"].isna().all() else round(rows["size"].mean(), 1),
                    "seconds": round(rows["seconds"].mean(), 3),
                }
            )  # fmt: skip
    if len(tables) > 1:
        ranks = rank_methods(pd.concat(results))
        for method, rank in ranks.mean_ranks.items():
            yield _shown(
                {
                    "case": "eel-cv ranks", "data": " ".join(tables), "seed": 0, "method": method, "rank": round(rank, 3),
                    "friedman_p": ranks.chi_square_p, "iman_davenport_p": ranks.f_p,
                    "critical_difference": round(ranks.critical_difference, 3),
                }
            )  # fmt: skip


def read_eel_table(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read one of the paper's six tables."""
    table = read_set(SETS[name], folder)
    assert table is not None, how_to_get(SETS[name])
    return eel_table(name, table)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    print(row, flush=True)
    return row
