"""Fronts of committees: how long a complete one takes, and how many points are proved within a limit.

python -m benchmarks committee-fronts --data FOLDER
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from benchmarks.data.uci import read_uci
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import committee_problem
from shortlist.ensembles.pools.answers import positive_votes
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.runs.budget import Budget
from shortlist.tables.splits import hold_out

FRONTS = (
    ("breast-cancer", 40, 60.0, "max accuracy, min cost, min size"),
    ("breast-cancer", 40, 60.0, "max true-positives, max true-negatives"),
    ("breast-cancer", 40, 60.0, "max true-positives, max true-negatives, min cost"),
    ("diabetic_retinopathy_debrecen", 100, 300.0, "max accuracy, min cost, min size"),
    ("diabetic_retinopathy_debrecen", 100, 300.0, "max true-positives, max true-negatives, min size"),
    (
        "diabetic_retinopathy_debrecen",
        100,
        300.0,
        "max true-positives, max true-negatives, min cost, min size",
    ),
)
"""Table, classifiers, limit in seconds, and objectives; costs are drawn, with two decimals."""

MOST_ROWS = 300
"""Rows that prune, at most."""


def committee_fronts(
    folder: Path, *, fronts: tuple[tuple[str, int, float, str], ...] = FRONTS, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Look for each front, and say how many points it has and how many are proved."""
    walk_up()
    asked: dict[tuple[str, int], Any] = {}
    for name, n_classifiers, seconds, objectives in fronts:
        key = (name, n_classifiers)
        if key not in asked:
            X, y = load_breast_cancer(return_X_y=True) if name == "breast-cancer" else read_uci(folder, name)
            asked[key] = _answers(X, np.asarray(y), n_classifiers, seed)
        votes, prices = asked[key]
        problem = committee_problem(votes, objectives.split(","), costs=prices)
        start = time.perf_counter()
        front = committee_front(problem, Budget(seconds, seed=seed))
        missing = front.proof.missing
        row = {
            "case": "committee-fronts", "data": name, "seed": seed, "classifiers": n_classifiers,
            "rows": votes.n_samples, "objectives": objectives, "limit_s": seconds,
            "seconds": round(time.perf_counter() - start, 2), "points": len(front),
            "proved": sum(front.extras["proved"]), "proof": str(front.proof.kind),
            "missing": "" if missing is None else " ".join(f"{gap:.4g}" for gap in missing),
            "final_to": " ".join(f"{price}={to:g}" for price, to in front.extras["final_to"].items()),
            "nodes": front.extras["n_nodes"],
        }  # fmt: skip
        print(row, flush=True)
        yield row


def walk_up() -> None:
    """Compile, so that no timing holds a compilation."""
    votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    committee_front(committee_problem(votes, ["max accuracy", "min size"]))


def _answers(X: Any, y: NDArray[Any], n_classifiers: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """Split 63 : 27 : 10, fit the pool, and return its votes on the rows that prune, and its prices."""
    rest, _ = hold_out(y, 0.1, seed)
    fitted, pruned = hold_out(y[rest], 0.3, seed)
    train, validation = rest[fitted], rest[pruned]
    rows = X.iloc if hasattr(X, "iloc") else X
    pool = make_pool(rows[train], y[train], n_classifiers=n_classifiers, random_state=seed)
    pruning = validation[:MOST_ROWS]
    positive = pool.classes[1]
    votes = merge_rows(
        positive_votes(pool, rows[pruning], positive),
        (y[pruning] == positive).astype(int),
    )
    drawn = np.random.default_rng(seed).integers(10, 1000, n_classifiers) / 100
    return votes, {"cost": drawn}
