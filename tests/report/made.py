"""Fronts for tests of pages."""

from collections.abc import Sequence

import numpy as np

from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind

HOSTILE = "</script><script src='https://evil.example/x.js'></script><img src=x onerror=alert(1)> & \"cost\""

GOALS = (
    Objective("cost", unit="EUR"),
    Objective("quality", Sense.MAX),
    Objective("defects"),
    Objective("weight", scale=1000, unit="kg"),
)


def front_of(
    values: Sequence[Sequence[float]],
    *,
    goals: Sequence[Objective] = GOALS[:3],
    n_candidates: int = 6,
    seed: int = 0,
    method: str = "exact",
    names: Sequence[str] | None = None,
) -> Front:
    """Return a front with these values, and with choices that are drawn."""
    own = np.array(values, dtype=float).reshape(-1, len(goals))
    decisions = np.random.default_rng(seed).integers(0, 2, (len(own), n_candidates))
    named = names or [f"feature {i}" for i in range(n_candidates)]
    return Front.from_values(goals, own, decisions, named, Proof(ProofKind.COMPLETE), method=method)


def sphere(n_points: int, n_goals: int = 3, *, seed: int = 0, method: str = "exact") -> Front:
    """Return points on a sphere, none of which dominates another: the second objective is maximised."""
    drawn = np.random.default_rng(seed).random((n_points, n_goals)) + 1e-3
    values = np.round(1000 * drawn / np.linalg.norm(drawn, axis=1)[:, None], 3)
    values[:, 1] = 1000 - values[:, 1]
    return front_of(values.tolist(), goals=GOALS[:n_goals], n_candidates=30, seed=seed, method=method)
