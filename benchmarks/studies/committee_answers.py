"""Ways of answering by the ten members that `auto` chooses, against all hundred, on the same answers.

python -m benchmarks committee-answers --data FOLDER

The sets are those of `voting.py`. The pool is cross-fitted once a split, and everything is made of its
answers: the default, its mean as it is or with weights fitted to the answers out of fold, greedy selection
in bags, and stacking. With SHORTLIST_ANSWERS=FOLDER the answers of each split are kept there, so that another
way to use them takes seconds.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.studies.voting import HELD_OUT, N_CLASSIFIERS, SETS
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.fitting import cross_fit, make_pool, refit_members
from shortlist.ensembles.pools.pool import out_of_fold
from shortlist.ensembles.pruning.mean_pruning import prune_soft
from shortlist.ensembles.rules import greedy_means
from shortlist.ensembles.votes.soft_votes import fitted_factors, soft_votes
from shortlist.runs.budget import Budget
from shortlist.tables.splits import hold_out

DEFAULT, STACKING = "default: calibrated mean of ten", "stacking of all hundred"

SLOPE = 4.0
"""Slope of the log odds where a mean probability is one half, towards which weights are drawn."""

Floats = NDArray[np.float64]
Answers = dict[str, NDArray[Any]]


def committee_answers(folder: Path, *, seeds: int = 5) -> Iterator[dict[str, Any]]:
    """Measure every way to answer on every split that there is; yield means, with paired differences."""
    rows = [
        {"data": name, "seed": seed, "method": method, "size": size, **_measured(found, answers["y_test"])}
        for name in SETS
        for seed in range(seeds)
        if (answers := answers_of(folder, name, seed)) is not None
        for method, size, found in ways_to_answer(answers, seed)
    ]
    yield from paired_means(pd.DataFrame(rows))


def answers_of(folder: Path, name: str, seed: int) -> Answers | None:
    """Return the answers of a pool out of fold and on the test rows, and of other classifiers on the latter."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    kept = os.environ.get("SHORTLIST_ANSWERS")
    file = Path(kept) / f"{name}-{seed}.npz" if kept else None
    if file is not None and file.exists():
        return dict(np.load(file))
    table = folder / f"{name}.csv.gz"
    if not table.exists():
        return None
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="target"), np.unique(frame["target"], return_inverse=True)[1]
    rest, test = hold_out(y, HELD_OUT, seed)
    rest = np.sort(rest)
    pool = make_pool(X.iloc[rest], y[rest], n_classifiers=N_CLASSIFIERS, random_state=seed)
    crossed = cross_fit(pool, X.iloc[rest], y[rest], random_state=seed)
    again = refit_members(pool, X.iloc[rest], y[rest], seed=seed)
    assert pool.preprocessor is not None
    encoded = pool.preprocessor.transform(X)
    forest = RandomForestClassifier(100, random_state=seed).fit(encoded[rest], y[rest])
    boosting = HistGradientBoostingClassifier(random_state=seed).fit(encoded[rest], y[rest])
    answers = {
        "out_of_fold": out_of_fold(crossed, X.iloc[rest], class_probabilities)[:, :, 1],
        "test": class_probabilities(again, X.iloc[test])[:, :, 1],
        "y": y[rest],
        "y_test": y[test],
        "forest": forest.predict_proba(encoded[test])[:, 1],
        "boosting": boosting.predict_proba(encoded[test])[:, 1],
    }
    if file is not None:
        np.savez_compressed(file, **answers)
    return answers


def ways_to_answer(answers: Answers, seed: int) -> Iterator[tuple[str, int, Floats]]:
    """Yield the members that answer, their number, and the probability of the second class on the test rows."""
    from sklearn.linear_model import LogisticRegression

    known, asked, y = answers["out_of_fold"], answers["test"], answers["y"]
    soft = soft_votes(np.stack([1 - known, known], axis=2), y)
    result, _, _ = prune_soft(soft, "auto", selection_limits(known.shape[1]), Budget(10.0))
    ten, size = result.mask, int(result.mask.sum())
    mean, seen = asked[:, ten].mean(axis=1), known[:, ten].mean(axis=1)
    calibration = fitted_factors(np.column_stack([1 - seen, seen]), y)
    yield DEFAULT, size, calibration.of(np.column_stack([1 - mean, mean]))[:, 1]
    yield "mean of ten", size, mean
    members, drawn_to = (known[:, ten], asked[:, ten]), (SLOPE * (seen - 0.5), SLOPE * (mean - 0.5))
    for penalty in (1.0, 3.0, 10.0):
        found = fitted_answers(members, drawn_to, y, penalty)
        yield f"ten, weighed, penalty {penalty:g}", size, found
        yield f"ten, weighed, penalty {penalty:g}, with the mean", size, (found + mean) / 2
    copies = greedy_means(soft, n_bags=20, seed=seed)
    yield (
        "greedy with replacement, 20 bags",
        int((copies > 0).sum()),
        np.average(asked, axis=1, weights=copies),
    )
    yield "all hundred, mean", known.shape[1], asked.mean(axis=1)
    stacked = LogisticRegression(max_iter=2000).fit(known, y)
    yield STACKING, known.shape[1], stacked.predict_proba(asked)[:, 1]
    for name in ("forest", "boosting"):
        yield name, 100, answers[name]


def fitted_answers(
    columns: tuple[Floats, Floats], before: tuple[Floats, Floats], y: NDArray[Any], penalty: float
) -> Floats:
    """Fit log odds `before` + weights · `columns` + a shift, by least log loss and squared weights.

    Of each pair the first is of the rows whose classes are `y`, the second of those to be answered.
    """
    from scipy.optimize import minimize

    rows, new = (np.column_stack([each, np.ones(len(each))]) for each in columns)
    signs, weighty = np.where(y == 1, 1.0, -1.0), np.append(np.full(rows.shape[1] - 1, penalty), 1e-9)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = signs * (before[0] + rows @ weights)
        slope = -signs / (1 + np.exp(np.clip(scores, -500, 500)))
        value = np.logaddexp(0, -scores).sum() + weighty @ weights**2 / 2
        return float(value), rows.T @ slope + weighty * weights

    weights = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return np.asarray(1 / (1 + np.exp(-(before[1] + new @ weights))))


def _measured(found: Floats, truth: NDArray[Any]) -> dict[str, float]:
    own = np.where(truth == 1, found, 1 - found)
    return {
        "accuracy": float(((found > 0.5) == (truth == 1)).mean()),
        "log_loss": float(-np.log(np.clip(own, 1e-15, 1)).mean()),
    }


def paired_means(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the means of every set, then over all splits and over sets, with differences from the default."""
    splits, measures = ["data", "seed"], ["accuracy", "log_loss"]
    base = table[table["method"] == DEFAULT].set_index(splits)[measures]
    ahead = table[measures].to_numpy() - base.loc[pd.MultiIndex.from_frame(table[splits])].to_numpy()
    table = table.assign(more_accuracy=ahead[:, 0], more_log_loss=ahead[:, 1])
    shown = ["accuracy", "log_loss", "size", "more_accuracy", "more_log_loss"]
    for (name, method), rows in table.groupby(["data", "method"], sort=False):
        yield {
            "case": "committee-answers",
            "data": name,
            "method": method,
            "splits": len(rows),
            **_rounded(rows[shown].mean()),
        }
    for method, rows in table.groupby("method", sort=False):
        of_sets = rows.groupby("data")[measures].mean().mean()
        errors = rows[["more_accuracy", "more_log_loss"]].sem().add_suffix("_error")
        row = {
            "case": "committee-answers, means", "data": f"{rows['data'].nunique()} sets", "method": method,
            "splits": len(rows), **_rounded(rows[shown].mean()), **_rounded(errors),
            **_rounded(of_sets.add_suffix("_of_sets")),
        }  # fmt: skip
        print(row, flush=True)
        yield row


def _rounded(means: pd.Series) -> dict[str, float]:
    return {str(name): round(float(value), 4) for name, value in means.items()}
