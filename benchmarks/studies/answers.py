"""Progress of pruning with a large table of answers: many judges, many rows, votes and probabilities.

python -m benchmarks answers
"""

import os
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from shortlist.ensembles import ExactPruner, Pool

QUESTIONS = {"hard": "accuracy", "soft": "log-loss"}
"""Objective that is maximised with votes, and minimised with probabilities."""


def answers(n_judges: int = 1000, n_rows: int = 100_000, seconds: float = 30.0) -> Iterator[dict[str, Any]]:
    """Prune judges near the truth in four dimensions, one label in ten turned, from a table of their answers.

    Seconds are of the clock and of the processor, from the table on; `bound_s` is when a bound was first told
    below the one that holds without any work. Peak memory is that of the process so far, the table included.
    """
    for voting, objective in QUESTIONS.items():
        table, truth = _made(voting, n_judges, n_rows)
        clock, used = time.perf_counter(), _processor_seconds()
        pool = Pool.from_answers(table, truth)
        read = time.perf_counter() - clock
        pruner = ExactPruner(pool, objective=objective, voting=voting, time_limit_s=seconds, random_state=0)
        result = pruner.fit(table, truth).result_
        first = result.history[0][2]
        told = [at for at, value, bound in result.history if value is not None and bound != first]
        row = {
            "case": "answers", "voting": voting, "objective": objective, "size": n_rows, "judges": n_judges,
            "seed": 0, "method": "exact", "status": str(result.status), "value": result.value,
            "bound": result.bound, "gap": result.gap, "members": int(result.mask.sum()), "limit_s": seconds,
            "read_s": round(read, 1), "bound_s": round(told[0], 1) if told else None,
            "seconds": round(time.perf_counter() - clock, 1),
            "processor_s": round(_processor_seconds() - used, 1), "load": round(os.getloadavg()[0], 1),
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        }  # fmt: skip
        print(row, flush=True)
        yield row


def _made(voting: str, n_judges: int, n_rows: int) -> tuple[pd.DataFrame, Any]:
    """Return a table of answers, and the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    truth = ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.int64)
    directions = np.eye(4)[:, [0]] + 0.7 * rng.normal(size=(4, n_judges))
    bounds = 0.5 * rng.normal(size=n_judges)
    columns: dict[str, Any] = {}
    for judge in range(n_judges):
        lead = X @ directions[:, judge].astype(np.float32) - np.float32(bounds[judge])
        if voting == "hard":
            columns[f"judge-{judge}"] = (lead > 0).astype(np.int8)
            continue
        share = (1 / (1 + np.exp(-2 * lead))).astype(np.float32)
        columns |= {f"judge-{judge}:0": 1 - share, f"judge-{judge}:1": share}
    return pd.DataFrame(columns, copy=False), truth


def _processor_seconds() -> float:
    """Return the seconds that this process has used, all threads together."""
    return sum(os.times()[:2])
