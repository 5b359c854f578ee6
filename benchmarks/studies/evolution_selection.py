"""Members of evolved ensembles, chosen by margins as the paper does or by exact pruning, on the same populations.

python -m benchmarks evolution-selection --data FOLDER
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.studies.ensembles import read_eel_table
from shortlist.ensembles.evolution.evolution import EnsembleChoice, EvolutionSettings, Evolved, evolve
from shortlist.ensembles.evolution.scored_spaces import LinearClassifiers
from shortlist.ensembles.evolution.spaces import Population
from shortlist.ensembles.evolution.training_rows import TrainingRows
from shortlist.ensembles.pools.encoder import fit_table
from shortlist.ensembles.votes.hard_votes import class_tally, plurality
from shortlist.runs.budget import Budget
from shortlist.tables.splits import hold_out

TABLES = ("bcw", "bld", "bos", "cmc", "pid", "spa")

BRED: dict[str, Any] = {"population_size": 200, "n_generations": 40}

LIMITED = 25
"""Most members where there is a limit for both selections."""

ONLINE: dict[str, Any] = {"mode": "online", "max_members": 100, "smoothing": 0}

EXACT: dict[str, Any] = {"selection": "exact", "exact_every": 20, "exact_time_limit_s": 3.0}

SELECTED: dict[str, dict[str, Any]] = {"margins": {}, "exact": EXACT}
"""Selections that are compared."""

TEST_SHARE = 0.3


def evolution_selection(
    folder: Path, *, tables: tuple[str, ...] = TABLES, n_seeds: int = 5
) -> Iterator[dict[str, Any]]:
    """Measure both selections on test rows, paired by table and seed."""
    for seed in range(n_seeds):
        for name in tables:
            X, y = read_eel_table(folder, name)
            yield from _measured(name, X, y, seed)


def _measured(name: str, X: pd.DataFrame, y: NDArray[Any], seed: int) -> Iterator[dict[str, Any]]:
    """Measure the selections on one split: after one evolution offline, and as part of one online."""
    train, test = hold_out(y, TEST_SHARE, seed)
    encoder = fit_table(X.iloc[train])
    fitted, tested = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
    classes, labels = np.unique(y, return_inverse=True)
    space = LinearClassifiers(fitted.shape[1], len(classes))
    judged = TrainingRows(space, fitted, labels[train], len(classes), "histogram")

    def bred(**more: Any) -> Evolved:
        settings = EvolutionSettings(**BRED | more)
        return evolve(
            space, fitted, labels[train], settings, n_classes=len(classes), rng=np.random.default_rng(seed)
        )

    def row(
        method: str, members: Population, error: float, bound: float | None, seconds: float
    ) -> dict[str, Any]:
        decided = plurality(class_tally(space.predict(members, tested), len(classes)))
        found = {
            "case": "evolution-selection", "data": name, "seed": seed, "method": method,
            "members": len(members), "training_error": round(error, 5),
            "proved_at_least": None if bound is None else round(bound, 5),
            "test_error": round(float((decided != labels[test]).mean()), 5), "seconds": round(seconds, 2),
        }  # fmt: skip
        print(found, flush=True)
        return found

    population = bred().population
    codes = judged.codes(population)
    for most in (None, LIMITED):
        for selection, more in SELECTED.items():
            settings = EvolutionSettings(**BRED | more | {"max_members": most})
            start = time.perf_counter()
            found, step = EnsembleChoice(judged, settings, Budget(seed=seed)).at_end(
                judged.single_best(population, codes), population, codes
            )
            method = f"Off-EEL {selection}" + ("" if most is None else f", at most {most}")
            seconds, bound = (
                time.perf_counter() - start,
                None if step is None else step.error_bound(len(judged.labels)),
            )
            yield row(method, found.genomes, judged.error(found), bound, seconds)
    for selection, more in SELECTED.items():
        start = time.perf_counter()
        grown = bred(**ONLINE | more)
        yield row(
            f"On-EEL {selection}", grown.members, grown.error, grown.error_bound, time.perf_counter() - start
        )
