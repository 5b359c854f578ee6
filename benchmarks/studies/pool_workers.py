"""Speedup of fitting a pool of 600 classifiers by two workers over one; the pool must be the same.

python -m benchmarks pool-workers
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from shortlist.ensembles import make_pool
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.tables.learning import read_table, split_target

N_CLASSIFIERS, N_PAIRS = 600, 3


def pool_workers() -> Iterator[dict[str, Any]]:
    """Fit the pools in turn, and yield the seconds of each pair, the first of which starts the processes."""
    for name in ("breast-cancer", "digits"):
        learning = split_target(read_table(f"example:{name}", []), "target")
        for pair in range(N_PAIRS):
            seconds, answers = {}, []
            for n_jobs in (1, 2):
                start = time.perf_counter()
                pool = make_pool(
                    learning.X,
                    learning.y.to_numpy(),
                    n_classifiers=N_CLASSIFIERS,
                    random_state=0,
                    n_jobs=n_jobs,
                )
                seconds[n_jobs] = time.perf_counter() - start
                answers.append(class_probabilities(pool, learning.X.iloc[:50]))
            yield {
                "table": name,
                "pair": pair,
                "one_worker_s": seconds[1],
                "two_workers_s": seconds[2],
                "ratio": seconds[2] / seconds[1],
                "same": bool(np.array_equal(answers[0], answers[1])),
            }
