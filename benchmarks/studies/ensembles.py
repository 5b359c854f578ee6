"""Pruning rules and evolution at full size.

python -m benchmarks ensembles --data FOLDER
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
from shortlist.tables.files import read_set
from shortlist_papers.evolution import SETS, eel_table
from shortlist_papers.paper import how_to_get

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


def read_eel_table(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read one of the paper's six tables."""
    table = read_set(SETS[name], folder)
    assert table is not None, how_to_get(SETS[name])
    return eel_table(name, table)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    print(row, flush=True)
    return row
