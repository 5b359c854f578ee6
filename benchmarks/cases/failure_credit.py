"""Failure credit of all pairs of classifiers: the size is the number of classifiers, on 20 rows each."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.ensembles.goals.diversity import failure_credit
from shortlist.ensembles.votes.hard_votes import Votes


def build(size: int) -> Callable[[], Any]:
    """Make votes that are right three times out of four."""
    rng = np.random.default_rng(0)
    n_rows = 20 * size
    labels = rng.integers(0, 2, n_rows).astype(np.uint8)
    right = rng.random((n_rows, size), dtype=np.float32) < 0.75
    votes = np.where(right, labels[:, None], 1 - labels[:, None]).astype(np.uint8)
    data = Votes(votes, labels, np.ones(n_rows, dtype=np.int64))
    return lambda: failure_credit(data)


register(Case("failure-credit", build, sizes=(50, 1000)))
