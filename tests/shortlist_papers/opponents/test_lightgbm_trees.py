"""LightGBM's prices per row against a walk over its dumped trees, a row at a time."""

import builtins
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.errors import MissingDependencyError
from shortlist.multistage import feature_costs
from shortlist_papers.opponents.lightgbm_trees import CostAwareLightGBM
from tests.shortlist_papers.opponents.oracles import walked

ROUNDS = 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_pays_for_the_features_on_its_paths_each_once(n_classes: int) -> None:
    X, y = make_classification(300, 6, n_informative=4, n_classes=n_classes, random_state=0)
    costs = feature_costs([1, 2, 4, 8, 16, 32], [str(i) for i in range(6)])
    model = CostAwareLightGBM(
        feature_costs=costs, trade_off=0.1, n_trees=ROUNDS, n_leaves=4, random_state=0
    ).fit(X, y)
    fitted: Any = model.model_
    trees = fitted.booster.dump_model()["tree_info"][: ROUNDS * (1 if n_classes == 2 else 3)]
    new = np.random.default_rng(1).normal(size=(60, 6))
    paid, said = [], []
    for row in new:
        answers = [walked(tree, row) for tree in trees]
        asked = set().union(*(columns for _, columns in answers))
        paid.append(sum(2**column for column in asked))
        said.append(
            [
                sum(value for value, _ in answers[k :: len(trees) // ROUNDS])
                for k in range(len(trees) // ROUNDS)
            ]
        )
    assert model.predict_cost(new).tolist() == paid
    assert len(set(paid)) > 1
    odds = np.array(said)
    odds = np.column_stack([np.zeros(len(odds)), odds]) if n_classes == 2 else odds
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    assert model.probabilities(new) == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize("charge", ["feature", "row"])
def test_dearer_trade_offs_buy_less(charge: str) -> None:
    X, y = make_classification(300, 6, n_informative=4, random_state=0)
    paid = [
        CostAwareLightGBM(trade_off=trade_off, n_trees=20, charge=charge, random_state=0)
        .fit(X, y)
        .predict_cost(X)
        .mean()
        for trade_off in (0.0, 0.3, 1000.0)
    ]
    assert paid[0] > paid[1] > paid[2] == 0


def test_where_rows_pay_a_feature_that_few_rows_need_is_bought() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] < 1, X[:, 0] > 0, X[:, 1] > 0).astype(int)  # one row of six needs the second
    common: dict[str, Any] = {
        "feature_costs": [1, 1],
        "trade_off": 0.5,
        "n_trees": 20,
        "confidence": 0.6,
        "random_state": 0,
    }
    paid = {
        charge: CostAwareLightGBM(charge=charge, **common).fit(X, y).features_bought(X).sum(axis=1)
        for charge in ("feature", "row")
    }
    assert paid["feature"].max() == 1
    assert 0 < (paid["row"] == 2).mean() < 0.5


def test_the_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "lightgbm":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(MissingDependencyError, match=r"pip install 'shortlist\[lightgbm\]'"):
        CostAwareLightGBM().fit(X, y)
