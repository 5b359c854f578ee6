"""Time to proof in pruning, and gaps of general solvers where there is none.

python -m benchmarks pruning-engine pruning-gaps pruning-large pruning-pairs pruning-proofs pruning-turns --data FOLDER
"""

import functools
import itertools
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.uci import read_uci, validation_votes
from shortlist._validation import AUTO
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import best_threshold, named_weights
from shortlist.ensembles.pruning.engines import (
    CUTS,
    PAIRS,
    PATIENT_SEARCH,
    QUICK_CUTS,
    SCIP,
    SHORT_WALK,
    VOTES,
    WALK,
    EngineSettings,
)
from shortlist.ensembles.pruning.problems import problem_of
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.pruning.search_starts import START_RULES, rule_starts
from shortlist.ensembles.pruning.vote_steps import prove
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.results.proof import relative_gap
from shortlist.runs import Progress
from shortlist.runs.budget import Budget, processor_seconds

SETTINGS = {
    "F1": ("accuracy", "none"),
    "F2": ("accuracy", "average"),
    "F3": ("accuracy", "each"),
    "theta": ("theta-weighted", "none"),
}
SMALL = {"wdbc": 60.0, "parkinsons": 60.0, "musk_v1": 100.0}
THREADS = {"highs": 1, "cpsat": 8, "scip": 1, "gurobi": 2, "cplex": 2, AUTO: 2}
"""CP-SAT runs its kinds of search side by side from eight threads on; the others use one."""
ENGINE = (
    *((name, setting) for name in SMALL for setting in SETTINGS),
    ("qsar_biodegradation", "F1"),
    ("qsar_biodegradation", "F2"),
    ("spambase", "F1"),
    ("diabetic_retinopathy_debrecen", "F1"),
    ("default_credit_card_clients", "F1"),
    ("bank_additional_full", "F1"),
)
"""Instances that the engine is timed on."""
PAIRED = (
    "pima_diabetes",
    "australian_credit",
    "qsar_biodegradation",
    "diabetic_retinopathy_debrecen",
    "spambase",
    "musk_v1",
    "wdbc",
)
"""Instances proved with and without pairs of rows."""
LARGE = (
    "qsar_biodegradation",
    "diabetic_retinopathy_debrecen",
    "spambase",
    "default_credit_card_clients",
    "bank_additional_full",
)


def proofs(folder: Path, solvers: tuple[str, ...] = ("highs",)) -> Iterator[dict[str, Any]]:
    """Time every setting on the paper's three small sets, on the paper's program."""
    for name, limit_s in SMALL.items():
        votes = _votes(folder, name)
        for setting in SETTINGS:
            for solver in solvers:
                yield _solve(votes, name, setting, solver, limit_s=limit_s, marks=())


def gaps(
    folder: Path,
    seconds: float = 300.0,
    solvers: tuple[str, ...] = ("highs", "cpsat", "scip"),
    tables: tuple[str, ...] = LARGE,
) -> Iterator[dict[str, Any]]:
    """Run every solver on the larger sets; value, bound and gap after 60 s and at the end."""
    for name in tables:
        votes = _votes(folder, name)
        for solver in solvers:
            yield _solve(votes, name, "F1", solver, limit_s=seconds, marks=(60.0,))


def engine(folder: Path, seconds: float = 60.0) -> Iterator[dict[str, Any]]:
    """Run the engine on every set; value, bound and gap after 2 s, 10 s and at the end, beside the best of all rules."""
    for name, setting in ENGINE:
        votes = _votes(folder, name)
        yield _solve(votes, name, setting, AUTO, limit_s=seconds, marks=(2.0, 10.0)) | _best_rule(
            votes, setting
        )


def pairs(
    folder: Path, seconds: float = 100.0, tables: tuple[str, ...] = PAIRED, sizes: tuple[int, ...] = (30, 100)
) -> Iterator[dict[str, Any]]:
    """Prove with and without pairs of rows and SCIP, one thread, in seconds of processor time."""
    without = tuple(turn for turn in VOTES if turn.engine not in {PAIRS, PATIENT_SEARCH, SCIP})
    for name, size in itertools.product(tables, sizes):
        votes = _votes(folder, name, size)
        weights = named_weights("accuracy", votes)
        problem = problem_of(votes, weights, selection_limits(size))
        for pairs, turns in (("yes", VOTES), ("no", without)):
            start = time.process_time()
            budget = Budget(seconds, clock=processor_seconds)
            result = prove(problem, budget, settings=EngineSettings(turns=turns))
            row = {
                "case": "pruning", "data": name, "size": votes.n_samples, "merged": len(votes.labels),
                "classifiers": size, "pairs": pairs, "status": str(result.status),
                "right": round(result.value * votes.n_samples), "bound": round(result.bound * votes.n_samples),
                "certified": round((result.certified_bound or 1) * votes.n_samples), "by": result.proved_by,
                "processor_s": round(time.process_time() - start, 2),
            }  # fmt: skip
            print(row, flush=True)
            yield row


SWITCHED_OFF = {
    "all": (),
    "no cuts": (QUICK_CUTS, CUTS),
    "no SCIP": (SCIP,),
    "no walk": (SHORT_WALK, WALK),
    "none of three": (QUICK_CUTS, CUTS, SCIP, SHORT_WALK, WALK),
}
"""Engines of the vote engine that are left out, by the name of the row."""


def turns(
    folder: Path, seconds: float = 22.0, tables: tuple[str, ...] = PAIRED, sizes: tuple[int, ...] = (30, 100)
) -> Iterator[dict[str, Any]]:
    """Prove without some engines, one thread, within seconds of processor time."""
    for name, size, objective in itertools.product(tables, sizes, ("accuracy", "balanced-accuracy")):
        votes = _votes(folder, name, size)
        problem = problem_of(votes, named_weights(objective, votes), selection_limits(size))
        for label, engines in SWITCHED_OFF.items():
            asked = EngineSettings(turns=tuple(turn for turn in VOTES if turn.engine not in engines))
            start = time.process_time()
            result = prove(problem, Budget(seconds, clock=processor_seconds), settings=asked)
            yield {
                "case": "pruning-turns", "data": name, "classifiers": size, "objective": objective,
                "rows": votes.n_samples, "limit_s": seconds, "turns": label, "status": str(result.status),
                "value": result.value, "bound": result.bound, "certified": result.certified_bound,
                "by": result.proved_by, "found_by": result.found_by,
                "processor_s": round(time.process_time() - start, 2),
            }  # fmt: skip


def large(
    n_classifiers: int = 1000, n_rows: int = 100_000, seconds: float = 60.0
) -> Iterator[dict[str, Any]]:
    """Run the engine on many classifiers and rows: linear classifiers near the truth in four dimensions, one label in ten turned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    labels = ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.uint8)
    directions = np.eye(4)[:, [0]] + 0.7 * rng.normal(size=(4, n_classifiers))
    votes = (X @ directions > 0.5 * rng.normal(size=n_classifiers)).astype(np.uint8)
    merged = merge_rows(votes, labels)
    del votes
    row = _solve(merged, "made", "F1", AUTO, limit_s=seconds, marks=(2.0, 10.0))
    yield row | {"peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)}


def _best_rule(votes: Votes, setting: str) -> dict[str, Any]:
    """Return the best value of any prefix of any rule of step by step pruning that keeps the limits."""
    objective, diversity = SETTINGS[setting]
    weights = named_weights(objective, votes)
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits(diversity, votes))
    starts = rule_starts(votes, weights, limits, Budget(), rules=START_RULES)
    found = [weights.value(best_threshold(votes, weights, mask)[1]) for _, mask in starts]
    return {"best_rule": max(found, default=None)}


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
        Budget(
            limit_s,
            threads=THREADS[solver],
            report=lambda event: events.append((time.monotonic() - start, event)),
        ),
        solver=solver,
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
def _votes(folder: Path, name: str, n_classifiers: int = 100) -> Votes:
    return validation_votes(*read_uci(folder, name), n_classifiers=n_classifiers)
