"""Evolution of linear classifiers: the size is the population, on 1,000 rows by 20 columns and 20 generations."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.ensembles.evolution.evolution import evolve
from shortlist.ensembles.evolution.scored_spaces import LinearClassifiers
from shortlist.ensembles.evolution.settings import EvolutionSettings


def build(size: int, mode: str) -> Callable[[], Any]:
    """Make two overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20))
    labels = (X[:, :5].sum(axis=1) + 2 * rng.standard_normal(1000) > 0).astype(np.uint8)
    return partial(
        evolve,
        LinearClassifiers(20, 2),
        X,
        labels,
        EvolutionSettings(mode=mode, population_size=size, n_generations=20),
        n_classes=2,
    )


for mode in ("offline", "online"):
    register(Case(f"evolution-{mode}", partial(build, mode=mode), sizes=(20, 200)))
