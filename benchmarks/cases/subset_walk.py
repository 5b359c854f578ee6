"""A walk over all selections, to the end of the proof: the size is the number of classifiers, on 300 noisy rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.row_forms import normalise
from shortlist.ensembles.proofs.subset_walk import walk_subsets
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.runs.budget import Budget


def build(size: int) -> Callable[[], Any]:
    """Make votes, and return the call that walks."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    right = rng.random((300, size)) < rng.beta(4, 2.5, (300, 1))
    votes = merge_rows(np.where(right, labels[:, None], 1 - labels[:, None]).astype(np.uint8), labels)
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(size))
    return partial(walk_subsets, rows, Budget())


register(Case("subset-walk", build, sizes=(12, 24)))
