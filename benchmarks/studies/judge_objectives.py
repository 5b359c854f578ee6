"""Objectives of votes on tables of judges: right rows, margins and slopes, beside the log loss of their shares.

python -m benchmarks judge-objectives --data FOLDER
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.pools.pool import Pool
from shortlist.tables.learning import read_table

OBJECTIVES = ("accuracy", "accuracy+margin", "accuracy+slope-8", "accuracy+auto")
"""Objectives of votes; ``soft:log-loss`` is that of the shares of votes."""

SIZES = (3, 5, 9)
"""Most members."""


def tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """Yield name, answers and truth, of judges who have answered every row and not all rows alike."""
    example = read_table("example:judges")
    yield "example:judges", _answers(example.drop(columns="target")), example["target"].to_numpy()
    pairs = read_table(folder / "judges" / "llmbar.csv.gz")
    judges = [name for name in pairs if "/" in str(name)]
    (truth,) = (name for name in pairs if name not in judges and not str(name).startswith("id_"))
    yield "llmbar", _answers(pairs[judges]), pairs[truth].astype(str).to_numpy()
    crowd = read_table(folder / "judges" / "crowd-bluebird.long.csv.gz")
    told = read_table(folder / "judges" / "crowd-bluebird.truth.csv")
    wide = crowd.pivot(index="task", columns="worker", values="label").loc[told["task"]]
    yield "crowd-bluebird", _answers(wide.add_prefix("worker ")), told["truth"].astype(str).to_numpy()


def _answers(table: pd.DataFrame) -> pd.DataFrame:
    whole = table.loc[:, table.notna().all() & (table.nunique() > 1)]
    return whole.map(lambda one: str(int(one)) if isinstance(one, float) else str(one)).reset_index(drop=True)


def compared(folder: Path, *, n_halves: int = 20, seconds: float = 1.5) -> Iterator[dict[str, Any]]:
    """Yield a row for each table, half, size and objective: the accuracy on the other half."""
    for name, answers, truth in tables(folder):
        classes = sorted(set(truth))
        shares = pd.DataFrame(
            {f"{judge}:{label}": 1.0 * (answers[judge] == label) for judge in answers for label in classes}
        )
        for half in range(n_halves):
            order = np.random.default_rng(half).permutation(len(truth))
            chose, new = order[: len(truth) // 2], order[len(truth) // 2 :]
            for size in SIZES:
                for objective in (*OBJECTIVES, "soft:log-loss"):
                    soft = objective.startswith("soft:")
                    X = shares if soft else answers
                    start = time.perf_counter()
                    pruner = ExactPruner(
                        Pool.from_answers(X.iloc[chose], truth[chose]),
                        objective=objective.removeprefix("soft:"),
                        voting="soft" if soft else "hard",
                        max_size=size,
                        time_limit_s=seconds,
                        random_state=0,
                    ).fit(X.iloc[chose], truth[chose])
                    yield {
                        "case": "judge-objectives",
                        "table": name,
                        "half": half,
                        "size": size,
                        "objective": objective,
                        "accuracy": float((pruner.predict(X.iloc[new]) == truth[new]).mean()),
                        "seconds": round(time.perf_counter() - start, 2),
                    }
