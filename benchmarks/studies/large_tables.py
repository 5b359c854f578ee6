"""Committee of large tables beside what one would try first, on rows that no method has seen.

python -m benchmarks large-tables --data FOLDER

Three tenths of the rows of each table are held out. `prune` with its defaults, histogram boosting, a forest
of 500 trees and extra trees are fitted on the others, by one thread. Rows that are in the results are not measured again.
The lead of the committee over the best single classifier is held against the one that `prune` tells.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from benchmarks.rows import RESULTS, write_rows
from benchmarks.studies.verdicts import Table, _uci, noisy_classes, scania, words_and_gaps
from shortlist.ensembles import ExactPruner
from shortlist.ensembles.pruned_table import prune_table
from shortlist.results.measuring import Measuring

NAME = "large-tables"
HELD_OUT = 0.3
N_SPLITS = 1
LEAST_SHARE = 1e-4
"""Probability below which none counts in a log loss, so that a forest that is sure and wrong has a finite one."""


def steps_and_gaps(n: int = 16_000) -> Table:
    """Return a made table of 30 numbers, a fifth of them missing, where a gap says something, and three words."""
    rng = np.random.default_rng(11)
    numbers = rng.normal(size=(n, 30))
    gaps = rng.random((n, 30)) < 0.2
    score = (
        1.2 * (numbers[:, 0] > 0.3) + np.sin(2 * numbers[:, 1]) + numbers[:, 2] * (numbers[:, 3] > 0)
        + 0.8 * gaps[:, 4] + 0.4 * numbers[:, 5:12].sum(axis=1) / np.sqrt(7)
    )  # fmt: skip
    X = pd.DataFrame(np.where(gaps, np.nan, numbers), columns=[f"number {k}" for k in range(30)])
    for k in range(3):
        word = rng.integers(0, 6, n)
        score = score + np.array([-0.9, -0.3, 0.0, 0.2, 0.4, 0.6])[word] * (k < 2)
        X[f"word {k}"] = np.array([f"w{one}" for one in range(6)], dtype=object)[word]
    y = score + rng.logistic(0, 0.7, n) > np.quantile(score, 0.7)
    return X, y.astype(np.intp)


TABLES: dict[str, Callable[[Path], Table]] = {
    "scania": scania,
    "words": lambda _folder: words_and_gaps(20_000),
    "gaps": lambda _folder: steps_and_gaps(),
    "classes": lambda _folder: noisy_classes(12_000),
    "default": _uci("default_credit_card_clients"),
    "bank": _uci("bank_additional_full"),
}


def _columns(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    return words, [name for name in X.columns if name not in words]


def _boosting(X: pd.DataFrame) -> Any:
    words, numbers = _columns(X)
    as_codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    columns = make_column_transformer((as_codes, words), ("passthrough", numbers))
    return make_pipeline(
        columns, HistGradientBoostingClassifier(categorical_features=list(range(len(words))), random_state=0)
    )


def _trees(kind: Any, n: int) -> Callable[[pd.DataFrame], Any]:
    def build(X: pd.DataFrame) -> Any:
        words, numbers = _columns(X)
        as_columns = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
        median = SimpleImputer(strategy="median", add_indicator=True)
        columns = make_column_transformer((as_columns, words), (median, numbers), sparse_threshold=0)
        return make_pipeline(columns, kind(n, random_state=0, n_jobs=1))

    return build


OPPONENTS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "boosting": _boosting,
    "forest of 500": _trees(RandomForestClassifier, 500),
    "extra trees of 500": _trees(ExtraTreesClassifier, 500),
}
COMMITTEE = "committee"


def large_tables(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each table and method, after measuring those that are not kept."""
    file = RESULTS / f"{NAME}.csv"
    known = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=["table", "method", "split"])
    rows = [{name: cell for name, cell in row.items() if pd.notna(cell)} for row in known.to_dict("records")]
    done = set(zip(known["table"], known["method"], known["split"], strict=True))
    for split in range(N_SPLITS):
        methods = [*OPPONENTS, COMMITTEE]
        for name, read in TABLES.items():
            missing = [method for method in methods if (name, method, split) not in done]
            if not missing:
                continue
            X, y = read(folder)
            fit, held = train_test_split(
                np.arange(len(y)), test_size=HELD_OUT, stratify=y, random_state=split
            )
            parts = X.iloc[fit].reset_index(drop=True), y[fit], X.iloc[held].reset_index(drop=True), y[held]
            for method in missing:
                row = {"table": name, "split": split, "n_rows": len(y), "method": method}
                rows.append(row | _told(method, *parts))
                write_rows(NAME, rows)
    yield from rows


def _told(
    method: str, X: pd.DataFrame, y: NDArray[np.intp], X_held: pd.DataFrame, y_held: NDArray[np.intp]
) -> dict[str, Any]:
    """Fit a method, and return what it does on the rows held out; a committee with the best single classifier."""
    start, processor = time.perf_counter(), time.process_time()
    if method in OPPONENTS:
        model = OPPONENTS[method](X).fit(X, y)
        return _row(model, X_held, y_held, time.process_time() - processor, time.perf_counter() - start)
    pruned = prune_table(X, y, ExactPruner(), measuring=Measuring(take="best_single"))
    spent = time.process_time() - processor, time.perf_counter() - start
    assert pruned.chosen is not None
    assert pruned.saved is not None
    assert pruned.advice is not None
    own = _row(pruned.chosen.committee, X_held, y_held, *spent)
    single = _row(pruned.saved.committee, X_held, y_held, *spent)
    taken = single if pruned.advice.take == "best_single" else own
    low, high = pruned.advice.difference.interval
    return own | {
        "size": len(pruned.chosen.committee.members), "pool": len(pruned.pool), "status": str(pruned.pruner.result_.status),
        "verdict": pruned.advice.verdict.word.value, "take": pruned.advice.take, "single": pruned.best_single,
        "single_accuracy": single["accuracy"], "single_log_loss": single["log_loss"],
        "taken_accuracy": taken["accuracy"], "taken_log_loss": taken["log_loss"],
        "told_lead": pruned.advice.difference.gain, "told_low": low, "told_high": high,
        "true_lead": own["accuracy"] - single["accuracy"],
    }  # fmt: skip


def _row(
    model: Any, X: pd.DataFrame, y: NDArray[np.intp], processor_s: float, seconds: float
) -> dict[str, Any]:
    shares = np.maximum(model.predict_proba(X), LEAST_SHARE)
    return {
        "accuracy": float((model.predict(X) == y).mean()),
        "log_loss": float(log_loss(y, shares / shares.sum(axis=1, keepdims=True))),
        "processor_s": round(processor_s, 1), "seconds": round(seconds, 1),
    }  # fmt: skip
