"""Merging identical rows: the size is the number of rows, 100 classifiers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.ensembles.votes.hard_votes import merge_rows


def build(size: int) -> Callable[[], Any]:
    """Make votes of 100 classifiers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size)
    votes = (rng.random((size, 100), dtype=np.float32) < np.where(labels == 1, 0.8, 0.2)[:, None]).astype(
        np.uint8
    )
    return lambda: merge_rows(votes, labels)


register(Case("merge-rows", build, sizes=(500, 20_000)))
