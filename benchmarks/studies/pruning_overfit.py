"""Loss of F1 from the rows that prune to new rows, and its changes by stops, sizes and numbers of rows.

python -m benchmarks pruning-overfit --data FOLDER
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.uci import read_uci
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner
from shortlist_papers import OrderedPruner
from shortlist_papers.pruning import measure_pool
from shortlist_papers.pruning_comparison import fold_pool, stratified_folds

TABLES = (
    "parkinsons", "musk_v1", "qsar_biodegradation", "diabetic_retinopathy_debrecen", "wdbc", "spambase",
)  # fmt: skip


def methods(seconds: float) -> dict[str, Any]:
    """Return F1 and its variants, and the benchmarks with both stops."""

    def exact(objective: str = "accuracy", **options: Any) -> ExactPruner:
        return ExactPruner(objective=objective, time_limit_s=seconds, **options)

    return {
        "F1": exact(),
        "F1, at least 30": exact(min_size=30),
        "F2": exact(diversity="average"),
        "BFT": BackfittingPruner(),
        "HC-CON": OrderedPruner(rule="concurrency", stop="fitness"),
        "HC-CON, accuracy": OrderedPruner(rule="concurrency"),
        "HC-UWA": OrderedPruner(rule="uwa", stop="fitness"),
        "HC-UWA, accuracy": OrderedPruner(rule="uwa"),
        "FE": OrderedPruner(rule="full"),
    }


HALVED = ("F1", "BFT", "HC-CON", "HC-UWA")
"""Methods that are measured with every other row to prune on, too."""


def overfit(folder: Path, *, n_folds: int = 10, seconds: float = 2.0) -> Iterator[dict[str, Any]]:
    """Yield a row per table, fold and method: accuracy on the rows that pruned, and on the test rows."""
    every = methods(seconds)
    halved = {f"{name}, half": every[name] for name in HALVED}
    for number in range(n_folds):
        for table in TABLES:
            fold = stratified_folds(
                table, *read_uci(folder, table), n_folds=10, n_repeats=1, n_classifiers=100, seed=0
            )[number]
            pool, validation = fold_pool(fold)
            for row in (
                *measure_pool(table, fold, pool, validation, every),
                *measure_pool(table, fold, pool, validation[::2], halved),
            ):
                yield {"case": "pruning-overfit", "limit_s": seconds, **row}
