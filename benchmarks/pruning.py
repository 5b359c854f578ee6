"""How fast pruning is proved, and how far general solvers come where it is not.

python -m benchmarks pruning --data FOLDER [--seconds 300]
"""

import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.real_data import read_uci, validation_votes
from shortlist.ensembles.diversity import diversity_limits
from shortlist.ensembles.exact import DEFAULT_SOLVER, prune_exactly
from shortlist.ensembles.limits import selection_limits
from shortlist.ensembles.votes import Votes
from shortlist.ensembles.weights import named_weights
from shortlist.front import relative_gap
from shortlist.milp import SOLVERS
from shortlist.runs import Progress

SETTINGS = {
    "F1": ("accuracy", "none"),
    "F2": ("accuracy", "average"),
    "F3": ("accuracy", "each"),
    "theta": ("theta-weighted", "none"),
}
SMALL = {"wdbc": 60.0, "parkinsons": 60.0, "musk_v1": 100.0}
THREADS = {"highs": 1, "cpsat": 8, "scip": 1}
"""CP-SAT runs its kinds of search side by side from eight threads on; the others use one."""
LARGE = ("qsar_biodegradation", "diabetic_retinopathy_debrecen", "spambase")


def proofs(folder: Path, solvers: tuple[str, ...] = (DEFAULT_SOLVER,)) -> Iterator[dict[str, Any]]:
    """Time every setting on the paper's three small sets, by the default solver."""
    for name, limit_s in SMALL.items():
        votes = _votes(folder, name)
        for setting in SETTINGS:
            for solver in solvers:
                yield _solve(votes, name, setting, solver, limit_s=limit_s, marks=())


def gaps(
    folder: Path, seconds: float = 300.0, solvers: tuple[str, ...] = SOLVERS
) -> Iterator[dict[str, Any]]:
    """Run every solver on the larger sets; value, bound and gap after 60 s and at the end."""
    for name in LARGE:
        votes = _votes(folder, name)
        for solver in solvers:
            yield _solve(votes, name, "F1", solver, limit_s=seconds, marks=(60.0,))


def _solve(
    votes: Votes, name: str, setting: str, solver: str, *, limit_s: float, marks: tuple[float, ...]
) -> dict[str, Any]:
    """Solve once; the state at each mark is the last one reported before it."""
    objective, diversity = SETTINGS[setting]
    weights = named_weights(objective, votes)
    events: list[tuple[float, Progress]] = []
    start = time.monotonic()
    result = prune_exactly(
        votes,
        weights,
        selection_limits(votes.n_classifiers, diversity=diversity_limits(diversity, votes)),
        solver=solver,
        time_limit_s=limit_s,
        threads=THREADS[solver],
        report=lambda event: events.append((time.monotonic() - start, event)),
    )
    row: dict[str, Any] = {
        "case": "pruning", "data": name, "size": votes.n_samples, "merged": len(votes.labels), "seed": 0,
        "classifiers": votes.n_classifiers, "setting": setting, "method": solver, "threads": THREADS[solver],
        "status": str(result.status), "value": result.value, "bound": result.bound, "gap": result.gap,
        "seconds": round(result.seconds, 3),
    }  # fmt: skip
    for mark in marks:
        before = [event for seconds, event in events if seconds <= mark]
        last = before[-1] if before else None
        known = last is not None and last.value is not None and last.bound is not None
        row[f"value_{mark:g}s"] = last.value if last is not None and known else None
        row[f"bound_{mark:g}s"] = last.bound if last is not None and known else None
        row[f"gap_{mark:g}s"] = (
            relative_gap(last.value, last.bound)
            if last is not None and last.value is not None and last.bound is not None
            else None
        )
    print(row, flush=True)
    return row


@functools.cache
def _votes(folder: Path, name: str) -> Votes:
    return validation_votes(*read_uci(folder, name))
