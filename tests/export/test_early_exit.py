"""Committees of classifiers as policies ask for the features of one member after the other."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, ExactPruner, SelectiveClassifier
from shortlist.ensembles import GreedyMeansPruner, make_pool
from shortlist.ensembles.estimators.rule_pruners import BaselinePruner
from shortlist.export import reader
from shortlist.export.policies import check_policy, policy_of
from shortlist.saved_models import SavedModel
from tests.export.test_pipelines import codes, records, table

pytestmark = pytest.mark.filterwarnings("ignore")


def own_models(rows: pd.DataFrame, y: Any) -> dict[str, Any]:
    """Return models that read few columns each."""

    def of(columns: list[str], model: Any, before: Any = None) -> Any:
        return make_pipeline(ColumnTransformer([("c", before or SimpleImputer(), columns)]), model).fit(
            rows, y
        )

    return {
        "age": of(["age"], DecisionTreeClassifier(max_depth=3)),
        "income": of(["income", "visits"], GaussianNB()),
        "ward": of(["ward", "plan"], LogisticRegression(), OneHotEncoder(handle_unknown="ignore")),
        "rich": of(["income"], DecisionTreeClassifier(max_depth=4)),
        "all": make_pipeline(codes(), SimpleImputer(), LogisticRegression(max_iter=500)).fit(rows, y),
    }


COMMITTEES: dict[str, Any] = {
    "votes": BaselinePruner,
    "means": lambda own: BaselinePruner(own, voting="averaged"),
    "uncalibrated means": lambda own: BaselinePruner(own, voting="averaged", probabilities="mean"),
    "threshold": lambda own: ExactPruner(own, voting="hard", objective="accuracy", min_size=4, node_limit=50),
    "copies": lambda own: GreedyMeansPruner(own, n_bags=4, random_state=0),
    "promise": lambda own: SelectiveClassifier(BaselinePruner(own, voting="averaged"), answer_accuracy=0.7, random_state=0),
    "promise on votes": lambda own: SelectiveClassifier(BaselinePruner(own), answer_accuracy=0.7, random_state=0),
}  # fmt: skip


def followed(policy: dict[str, Any], row: dict[str, Any]) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the decision of a service, and what it was asked for, request by request."""
    known, asked = dict[str, Any](), list[list[str]]()
    while (step := reader.next_step(policy, known))["ask"]:
        asked.append(step["ask"])
        known |= {name: row[name] for name in step["ask"]}
    return step["decision"], asked


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", COMMITTEES)
def test_the_answer_is_that_of_all_and_as_many_are_asked_as_by_the_model(kind: str, n_classes: int) -> None:
    if kind == "threshold" and n_classes > 2:
        pytest.skip("Several classes have no threshold.")
    rows, y = table(n_classes)
    pruner = COMMITTEES[kind](own_models(rows[:100], y[:100])).fit(rows[100:], y[100:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy, early = policy_of(model), model.estimator.predict_early(rows[:60])
    copies = {name for name in (one["name"] for one in policy["members"]) if name.endswith(", again")}
    wanted = model.estimator.predict(rows[:60])

    assert check_policy(policy, model, rows[:60]) == 60
    first = reader.features_of(policy, policy["order"][0])
    for place, row in enumerate(records(rows[:60])):
        told, asked = followed(policy, row)
        assert told["label"] == wanted[place]
        assert len({*told["members"]} - copies) == early.calls[place]
        assert not asked or asked[0] == [policy["features"][one]["name"] for one in first]
        assert told["members"] == reader.answer(policy, row)["members"]


def test_fewer_columns_are_asked_where_the_first_members_agree() -> None:
    rows, y = table(2)
    own = own_models(rows[:100], y[:100])
    pruner = BaselinePruner({name: own[name] for name in ("age", "income", "rich")}).fit(rows[100:], y[100:])
    policy = policy_of(SavedModel(pruner, tuple(rows.columns), "class"))
    n_asked = [sum(map(len, followed(policy, row)[1])) for row in records(rows[:60])]

    assert min(n_asked) < 3
    assert max(n_asked) == 3
    assert [feature["name"] for feature in policy["features"]] == ["age", "income", "visits"]


def test_a_row_is_answered_only_if_it_has_a_value() -> None:
    rows, y = table(2)
    own = own_models(rows[:100], y[:100])
    pruner = BaselinePruner({name: own[name] for name in ("age", "rich", "ward")}).fit(rows[100:], y[100:])
    policy = policy_of(SavedModel(pruner, tuple(rows.columns), "class"))
    empty = dict.fromkeys(rows.columns)

    told, asked = followed(policy, empty)
    assert not told["answered"]
    assert sorted(itertools.chain(*asked)) == ["age", "income", "plan", "ward"]
    last = policy["features"][reader.features_of(policy, policy["order"][-1])[0]]["name"]
    given = records(rows.dropna())[0]
    told, _ = followed(policy, empty | {last: given[last]})
    assert told["answered"]
    assert told["label"] == reader.answer(policy, empty | {last: given[last]})["label"]


def test_features_that_cannot_be_had_are_gaps() -> None:
    rows, y = table(2)
    pruner = BaselinePruner(own_models(rows[:100], y[:100])).fit(rows[100:], y[100:])
    policy = policy_of(SavedModel(pruner, tuple(rows.columns), "class"))
    row = records(rows.dropna())[0]

    step = reader.next_step(policy, {name: row[name] for name in row if name != "age"}, {"age": "timed out"})
    assert not step["ask"]
    assert step["decision"]["label"] == reader.answer(policy, row | {"age": None})["label"]
    assert step["decision"]["failed"] == {"age": "timed out"}


def test_pools_that_are_fitted_here_are_asked_so_too() -> None:
    rows, y = table(3)
    pool = make_pool(rows[:140], y[:140], n_classifiers=6, random_state=0)
    pruner = BaselinePruner(pool).fit(rows[140:], y[140:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy, wanted = policy_of(model), model.estimator.predict(rows[:40])
    calls = model.estimator.predict_early(rows[:40]).calls

    for place, row in enumerate(records(rows[:40])):
        told, _ = followed(policy, row)
        assert told["label"] == wanted[place]
        assert len(told["members"]) == calls[place]


def test_a_policy_without_an_order_asks_for_all() -> None:
    rows, y = table(2)
    pruner = BaselinePruner(own_models(rows[:100], y[:100])).fit(rows[100:], y[100:])
    policy = policy_of(SavedModel(pruner, tuple(rows.columns), "class"))
    del policy["order"]

    assert sorted(reader.next_step(policy, {})["ask"]) == sorted(rows.columns)


def test_an_order_that_settles_otherwise_is_refused_and_a_damaged_one_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, y = table(2)
    pruner = BaselinePruner(own_models(rows[:100], y[:100])).fit(rows[100:], y[100:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy = policy_of(model)
    for order in ([0, 0, 1, 2, 3], [0, 1], [0, 1, 2, 3, 9]):
        with pytest.raises(reader.ReaderError, match="order cannot be used"):
            reader.check(policy | {"order": order})
    few = {name: own_models(rows[:100], y[:100])[name] for name in ("age", "income", "ward")}
    model = SavedModel(BaselinePruner(few).fit(rows[100:], y[100:]), tuple(rows.columns), "class")
    policy = policy_of(model)
    monkeypatch.setattr(reader, "_outcomes", lambda *_: {0})  # as if every row were settled at once
    with pytest.raises(BadInputError, match="must be answered alike by all members and by those that settle"):
        check_policy(policy, model, rows[np.asarray(model.estimator.predict(rows) == 1)][:5])
