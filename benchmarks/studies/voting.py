"""Votes and probabilities on new rows: exact pruning, rules, greedy selection, stacking, forests and boosting, paired.

python -m benchmarks voting --data FOLDER

FOLDER holds each set as NAME.csv.gz, with a header and the classes in the last column, `target`. With
SHORTLIST_VOTING=FILE.db units that are finished are kept there, and a run that was stopped goes on.
"""

import contextlib
import copy
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shortlist.ensembles.estimators.base import AVERAGED, HARD
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.fitting import make_pool, refit_members
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.rules import greedy_means
from shortlist.ensembles.votes.soft_votes import soft_votes
from shortlist.runs import Unit, Work, open_study, run_units
from shortlist.tables.splits import hold_out, shuffled_folds
from shortlist_papers.pruning_comparison import remembered_pool
from shortlist_papers.rules.rule_pruners import pruning_methods

SETS = (
    "hepatitis",
    "sonar",
    "heart_disease_cleveland",
    "ionosphere",
    "german_credit",
    "diabetic_retinopathy_debrecen",
)
"""The sets of the table; whatever is not in the folder is left out, and said."""

HELD_OUT = 0.3
"""Share of all rows that test, and of the others that prune."""

NOT_HERE = frozenset(["exact", "kappa-pairs", "greedy-means"])
"""Methods that are left out: exact pruning and greedy selection are here with options of their own."""

N_CLASSIFIERS = 100
N_FOLDS = 5

Rows = list[dict[str, Any]]


def voting(folder: Path, *, seeds: int = 5, seconds: float = 2.0) -> Iterator[dict[str, Any]]:
    """Measure every method on every set and seed; then means over all, and paired differences from the default."""
    there = [name for name in SETS if (folder / f"{name}.csv.gz").exists()]
    print(f"not in {folder}: {sorted(set(SETS) - set(there))}", flush=True)
    units = [
        Unit(f"{name}/{seed}", measure_split, (folder, name, seed, seconds))
        for seed in range(seeds)
        for name in there
    ]
    with contextlib.ExitStack() as stack:
        kept = os.environ.get("SHORTLIST_VOTING")
        work = Work(study=stack.enter_context(open_study(Path(kept)))) if kept else Work()
        measured = [row for _, rows in run_units(units, work, stage="voting") for row in rows]
    yield from means(pd.DataFrame(measured))


def means(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield means over the splits of every set, then over all, with paired differences from the default.

    The default chooses out of fold, and fits its members again; how much more accurate it is, is told of others
    as they are, and of others whose members are fitted again too.
    """
    numbers = ["accuracy", "log_loss", "refit_accuracy", "refit_log_loss", "size", "seconds"]
    for (name, method), rows in table.groupby(["data", "method"], sort=False):
        yield {"case": "voting", "data": name, "method": method, "splits": len(rows)} | _rounded(
            rows[numbers].mean()
        )
    splits = ["data", "seed"]
    once, again = (
        table.pivot(index=splits, columns="method", values=of) for of in ("accuracy", "refit_accuracy")
    )
    for method, rows in table.groupby("method", sort=False):
        row = {
            "case": "voting, means", "data": f"{table['data'].nunique()} sets", "method": method,
            "splits": len(rows), **_rounded(rows[numbers].mean()),
        }  # fmt: skip
        for name, others_of in (("", once), ("refit_", again)):
            more = again["auto"] - others_of[method]
            row[f"auto_over_{name}accuracy"] = round(float(more.mean()), 4)
            row[f"auto_over_{name}error"] = round(float(more.std() / np.sqrt(len(more))), 4)
        print(row, flush=True)
        yield row


def measure_split(folder: Path, name: str, seed: int, seconds: float) -> Rows:
    """Fit a pool on one split of one set, and measure every method on the test rows."""
    begun = time.perf_counter()
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    X, y = frame.drop(columns="target"), np.unique(frame["target"], return_inverse=True)[1]
    rest, test = hold_out(y, HELD_OUT, seed)
    fitted, pruned = (np.sort(rest[part]) for part in hold_out(y[rest], HELD_OUT, seed))
    rest = np.sort(rest)
    pool = make_pool(X.iloc[fitted], y[fitted], n_classifiers=N_CLASSIFIERS, random_state=seed)
    again = refit_members(pool, X.iloc[rest], y[rest], seed=seed)
    asked = np.concatenate([pruned, test])
    answers = [class_probabilities(one, X.iloc[asked]) for one in (pool, again)]
    first, second = (remembered_pool(pool, one, asked, len(y)) for one in answers)
    rows: Rows = []
    for method, estimator in chosen(seconds, seed).items():
        start = time.process_time()
        made = estimator.set_params(pool=first).fit(pruned[:, None], y[pruned])
        took = time.process_time() - start
        for shown, one in as_asked(method, made):
            refit = copy.copy(one)
            refit.committee_ = refit.committee_.with_members(second.subset(made.selection_))
            both = [each.predict_proba(test[:, None]) for each in (one, refit)]
            rows.append(_row(shown, both, y[test], int(made.selection_.sum()), took))
            rows[-1] |= {"status": str(getattr(made, "status_", ""))}
            decided = [each.predict(test[:, None]) == y[test] for each in (one, refit)]
            rows[-1] |= {"accuracy": float(decided[0].mean()), "refit_accuracy": float(decided[1].mean())}
    n_pruned = len(pruned)
    rows.append(_default(X, y, rest, test, seed))
    soft = soft_votes(answers[0][:n_pruned], y[pruned])
    for bags in (0, 20):
        start = time.process_time()
        copies = greedy_means(soft, n_bags=bags, seed=seed)
        took = time.process_time() - start
        both = [np.average(each[n_pruned:], axis=1, weights=copies) for each in answers]
        rows.append(_row(f"greedy, {bags} bags", both, y[test], int((copies > 0).sum()), took))
    rows += others(X, y, {"rest": rest, "pruned": pruned, "test": test}, pool, answers, seed)
    for row in rows:
        row |= {"data": name, "seed": seed}
    print(f"{name} {seed}: {time.perf_counter() - begun:.0f} s", flush=True)
    return rows


def _default(
    X: pd.DataFrame, y: NDArray[np.int64], rest: NDArray[np.intp], test: NDArray[np.intp], seed: int
) -> dict[str, Any]:
    """Measure the default, which fits and chooses on all rows but the test rows, out of fold."""
    start = time.process_time()
    made = ExactPruner(random_state=seed).fit(X.iloc[rest], y[rest])
    took = time.process_time() - start
    both = [made.predict_proba(X.iloc[test])] * 2
    row = _row("auto", both, y[test], int(made.selection_.sum()), took) | {"status": str(made.status_)}
    decided = float((made.predict(X.iloc[test]) == y[test]).mean())
    return row | {"accuracy": decided, "refit_accuracy": decided}


def chosen(seconds: float, seed: int) -> dict[str, Any]:
    """Return the pruners of members of the pool."""

    def exact(objective: str, voting: str, limit: float = seconds, **options: Any) -> ExactPruner:
        return ExactPruner(
            objective=objective, voting=voting, time_limit_s=limit, random_state=seed, **options
        )

    names = [name for name in pruning_methods() if name not in NOT_HERE]
    return {
        "auto, held out": exact("auto", "auto", 10.0),
        "accuracy": exact("accuracy", HARD),
        "soft log-loss": exact("log-loss", "soft", 10.0),
        "soft log-loss, at most 10": exact("log-loss", "soft", 10.0, max_size=10),
        "soft brier": exact("brier", "soft", 10.0),
        "soft brier, 10": exact("brier", "soft", 10.0, min_size=10, max_size=10),
    } | pruning_methods(names)


def as_asked(method: str, made: Any) -> Iterator[tuple[str, Any]]:
    """Return the ways in which a fitted committee may answer: as chosen; and if by votes, by the mean too."""
    if made.averages:
        yield method, made
        return
    for name, voting in (("hard", HARD), ("averaged", AVERAGED)):
        other = copy.copy(made)
        other.voting_, other.gains_ = voting, np.ones(len(made.classes_), dtype=np.int64)
        yield f"{method}, {name}", other


def others(  # noqa: PLR0917  # one split
    X: pd.DataFrame,
    y: NDArray[np.int64],
    parts: dict[str, NDArray[np.intp]],
    pool: Pool,
    answers: list[NDArray[np.float64]],
    seed: int,
) -> Rows:
    """Measure what asks all classifiers, or has its own, fitted on all rows but the test rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    rest, pruned, test = parts["rest"], parts["pruned"], parts["test"]
    truth, n_pruned = y[test], len(pruned)
    assert pool.preprocessor is not None
    encoded = pool.preprocessor.transform(X)
    rows: Rows = []
    for method, one in (
        ("random forest", RandomForestClassifier(100, random_state=seed)),
        ("histogram boosting", HistGradientBoostingClassifier(random_state=seed)),
    ):
        start = time.process_time()
        one.fit(encoded[rest], y[rest])
        took = time.process_time() - start
        size = len(one.estimators_) if method == "random forest" else one.n_iter_
        rows.append(_row(method, [one.predict_proba(encoded[test])] * 2, truth, size, took))
    held = np.zeros((len(rest), len(pool), len(pool.classes)))
    start = time.process_time()
    for kept, out in shuffled_folds(y[rest], N_FOLDS, seed):
        part = refit_members(pool, X.iloc[rest[kept]], y[rest[kept]], seed=seed)
        held[out] = class_probabilities(part, X.iloc[rest[out]])
    flat = [each[:, :, 1:].reshape(len(each), -1) for each in (held, *answers)]
    stacked = LogisticRegression(max_iter=2000).fit(flat[0], y[rest])
    took = time.process_time() - start
    rows.append(
        _row("stacking, out of fold", [stacked.predict_proba(flat[2][n_pruned:])] * 2, truth, len(pool), took)
    )
    start = time.process_time()
    beside = LogisticRegression(max_iter=2000).fit(flat[1][:n_pruned], y[pruned])
    both = [beside.predict_proba(each[n_pruned:]) for each in flat[1:]]
    rows.append(_row("stacking, rows that prune", both, truth, len(pool), time.process_time() - start))
    return rows


def _row(
    method: str, both: list[NDArray[np.float64]], truth: NDArray[np.int64], size: int, took: float
) -> dict[str, Any]:
    """Return accuracy and log loss, with members as they were chosen and fitted again."""
    row: dict[str, Any] = {"method": method, "size": size, "seconds": took}
    for prefix, probabilities in zip(("", "refit_"), both, strict=True):
        own = probabilities[np.arange(len(truth)), truth]
        row[f"{prefix}accuracy"] = float((probabilities.argmax(axis=1) == truth).mean())
        row[f"{prefix}log_loss"] = float(-np.log(np.clip(own, 1e-15, 1)).mean())
    return row


def _rounded(means: pd.Series) -> dict[str, float]:
    return {str(name): round(float(value), 4) for name, value in means.items()}
