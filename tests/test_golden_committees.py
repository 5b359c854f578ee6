"""Golden answers of committees: every ballot, two and three classes, folds, judges, promises.

Rewritten by ``pytest tests/test_golden_committees.py --bless``; the difference is then read before it is
committed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import SelectiveClassifier
from shortlist.ensembles import ExactPruner, FrontPruner, Pool
from shortlist_papers import OrderedPruner

GOLDEN = Path(__file__).parent / "golden" / "committees.json"

N_NEW = 30


def _rows(n_classes: int) -> tuple[Any, Any]:
    X, y = make_classification(
        210, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    return X.round(3), np.array(["a", "b", "c"])[y]


def _trees(X: Any, y: Any, n: int = 7) -> list[Any]:
    rng = np.random.default_rng(5)
    trees = []
    for _ in range(n):
        rows = rng.choice(len(y), 60)
        trees.append(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[rows], y[rows]))
    return trees


def _judges(X: Any, y: Any, *, probable: bool, gaps: bool) -> Any:
    """Return the answers of trees as a table, some of them missing."""
    rng = np.random.default_rng(6)
    columns: dict[str, Any] = {}
    for number, tree in enumerate(_trees(X[:90], y[:90], 5)):
        silent = rng.random(len(X)) < (0.2 if gaps else 0.0)
        if probable:
            shares = tree.predict_proba(X)
            for place, label in enumerate(tree.classes_):
                columns[f"tree{number}:{label}"] = np.where(silent, np.nan, shares[:, place])
        else:
            columns[f"tree{number}"] = np.where(silent, None, tree.predict(X).astype(object))
    return pd.DataFrame(columns)


CASES: dict[str, dict[str, Any]] = {
    f"{kind}, {n_classes} classes": {"kind": kind, "n_classes": n_classes}
    for n_classes in (2, 3)
    for kind in (
        "hard, given",
        "averaged, given",
        "soft, given",
        "hard, held out",
        "hard, out of fold",
        "soft, out of fold",
        "averaged, out of fold",
        "rule, hard",
        "rule, averaged",
        "front, votes",
        "front, means",
        "judges, votes",
        "judges, votes, gaps",
        "judges, means, gaps",
        "promise, hard",
        "promise, soft",
        "promise, judges",
    )
} | {kind: {"kind": kind, "n_classes": 2} for kind in ("hard, first is positive", "hard, nobody")}

FITTED: dict[str, Any] = {
    "hard": {"voting": "hard", "objective": "accuracy"},
    "averaged": {"voting": "averaged", "objective": "accuracy"},
    "soft": {"voting": "soft"},
}


OPTIONS: dict[str, dict[str, Any]] = {
    "given": {},
    "first is positive": {"positive": "a", "objective": "recall"},
    "nobody": {"min_size": 0, "max_size": 0},
}


def _fitted(kind: str, X: Any, y: Any) -> tuple[Any, Any]:
    """Return a fitted estimator of that kind, and rows that it answers."""
    how: dict[str, Any] = {"node_limit": 50, "time_limit_s": None, "random_state": 0}
    old, new = slice(90, 180), slice(180, None)
    if "judges" in kind:
        table = _judges(X, y, probable="means" in kind, gaps="votes" not in kind or "gaps" in kind)
        prices = {name.split(":")[0]: 1 + place for place, name in enumerate(table.columns)}
        pool = Pool.from_answers(table[old], y[old], costs=prices)
        pruner = ExactPruner(pool, **how, **FITTED["soft" if "means" in kind else "hard"])
        return pruner.fit(table[old], y[old]), table[new]
    trees = _trees(X[:90], y[:90])
    if "front" in kind:
        objectives = ["max accuracy", "min size"] if "votes" in kind else ["min log-loss", "min size"]
        front = FrontPruner(trees, objectives=objectives, time_limit_s=None, random_state=0)
        return front.fit(X[old], y[old]), X[new]
    if "rule" in kind:
        voting = kind.removeprefix("rule, ")
        return OrderedPruner(trees, voting=voting, random_state=0).fit(X[old], y[old]), X[new]
    voting, way = kind.split(", ", 1)
    options = how | FITTED[voting]
    if way in ("held out", "out of fold"):
        of_pool: Any = {"n_classifiers": 5, "pruning_rows": way.replace("held out", "held-out")}
        of_pool["pruning_rows"] = of_pool["pruning_rows"].replace(" ", "-")
        return ExactPruner(**options, **of_pool).fit(X[:180], y[:180]), X[new]
    return ExactPruner(trees, **options | OPTIONS[way]).fit(X[old], y[old]), X[new]


def _answers(kind: str, n_classes: int) -> dict[str, Any]:
    X, y = _rows(n_classes)
    if not kind.startswith("promise"):
        fitted, rows = _fitted(kind, X, y)
        committee = fitted
    else:
        inner = {"promise, hard": "hard, given", "promise, soft": "soft, given"}
        committee, rows = _fitted(inner.get(kind, "judges, votes, gaps"), X, y)
        fitted = SelectiveClassifier(committee, answer_accuracy=0.7, random_state=0)
        told = _judges(X, y, probable=False, gaps=True) if "judges" in kind else X
        fitted.calibrate(told[120:], y[120:])
    found = {
        "labels": fitted.predict(rows).tolist(),
        "probabilities": [[round(p, 9) for p in row] for row in committee.predict_proba(rows).tolist()],
        "unanswered": committee.predict(rows).tolist().count(committee.reject_label_),
    }
    if kind != "hard, nobody":
        early = fitted.predict_early(rows)
        found |= {"early": early.labels.tolist(), "calls": early.calls.tolist(), "order": list(early.order)}
        found["costs"] = None if early.costs is None else early.costs.tolist()
    if "judges" in kind:  # one of them was not asked yet
        fewer = rows.drop(columns=[name for name in rows if name.startswith("tree1")])
        early = fitted.predict_early(fewer)
        found |= {"fewer": fitted.predict(fewer).tolist(), "needs": list(early.needs)}
    return found


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_committee_answers_as_it_did(name: str, request: pytest.FixtureRequest) -> None:
    answer = json.loads(json.dumps(_answers(**CASES[name])))
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if request.config.getoption("--bless"):
        GOLDEN.write_text(json.dumps(known | {name: answer}, sort_keys=True) + "\n")
        return
    wanted = known[name]
    assert answer | {"probabilities": None} == wanted | {"probabilities": None}
    assert np.allclose(answer["probabilities"], wanted["probabilities"], rtol=0, atol=1e-8)
