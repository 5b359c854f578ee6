"""Committee that `--pick as-good` takes: how often it is truly worse than the best single classifier, and its price.

python -m benchmarks as-good

Pools of made classifiers, which share errors and have prices, answer 300 or 1,000 rows that choose and 20,000 others,
which tell the truth. The oracle takes the cheapest point of the same front that is truly no worse than the best single
classifier by more than a point.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shortlist.ensembles import Pool
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.results.intervals import MARGIN

N_JUDGES, N_TRUE, SIZES = 14, 20_000, (300, 1000)
KINDS = {"alike": 0.25, "apart": 1.0}
"""Spread of the skill of made classifiers, by kind of pool."""


def made_answers(n: int, kind: str, seed: int) -> tuple[pd.DataFrame, NDArray[np.intp], NDArray[np.float64]]:
    """Return answers, classes and prices: better classifiers are dearer on the whole, and share what is hard."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    skill = 1.0 + KINDS[kind] * rng.uniform(-0.5, 0.5, N_JUDGES)
    shared = rng.normal(size=(n, 3)) @ (0.6 * rng.normal(size=(3, N_JUDGES)))
    score = (2 * y[:, None] - 1) * skill + shared + rng.normal(size=(n, N_JUDGES))
    prices: NDArray[np.float64] = np.exp(1.5 * skill + 0.7 * rng.normal(size=N_JUDGES)).round(2)
    said = pd.DataFrame((score > 0).astype(int), columns=[f"j{k:02}" for k in range(N_JUDGES)])
    return said, y, prices


def as_good(*, seeds: int = 40) -> Iterator[dict[str, Any]]:
    """Yield a row for each draw, size and kind of pool."""
    for kind in KINDS:
        for n_rows in SIZES:
            for seed in range(seeds):
                yield draw(kind, n_rows, seed)


def draw(kind: str, n_rows: int, seed: int) -> dict[str, Any]:
    """Pick on some rows, and measure all points of the front on the others."""
    said, y, prices = made_answers(n_rows + N_TRUE, kind, seed)
    pool = Pool.from_answers(said, y, costs=dict(zip(said.columns, prices.tolist(), strict=True)))
    fitted = FrontPruner(pool, objectives=["max accuracy", "min cost"], pick="as-good", random_state=seed)
    fitted.fit(said[:n_rows], y[:n_rows])
    votes, truth = said[n_rows:].to_numpy(), y[n_rows:]
    single = int((said[:n_rows].to_numpy() == y[:n_rows, None]).mean(axis=0).argmax())
    alone = float((votes[:, single] == truth).mean())
    front, thresholds = fitted.front_, fitted.front_.extras["thresholds"]
    true = np.array(
        [
            ((votes[:, mask].sum(axis=1) > threshold) == truth).mean()
            for mask, threshold in zip(front.decisions.astype(bool), thresholds, strict=True)
        ]
    )
    cost = front.values[:, front.names.index("cost")]
    known = front.extras["beside_single"]["differences"]
    told, lows = (np.array([one[place] for one in known]) for place in (0, 1))
    good = np.flatnonzero(true >= alone - MARGIN)
    point = fitted.point_
    return {
        "kind": kind, "n_rows": n_rows, "seed": seed, "points": len(front), "point": point, "alone": alone,
        "true": true[point], "worse": bool(true[point] < alone - MARGIN), "cost": cost[point], "single_cost": prices[single],
        "oracle_cost": cost[good].min() if len(good) else np.nan, "told": told[point], "low": lows[point],
        "sure": bool(lows[point] >= -MARGIN), "bias": float((told - (true - alone)).mean()),
    }  # fmt: skip
