"""Judges: tables of answers in place of classifiers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist import BadInputError
from shortlist.ensembles import BackfittingPruner, ExactPruner, Pool, verify
from shortlist.ensembles.pools.answers import class_answers, class_probabilities, class_shares
from shortlist.ensembles.pools.judges import columns_asked
from shortlist.ensembles.votes.soft_votes import whole_shares
from shortlist_papers import OrderedPruner

TRUTH = ["no", "yes", "yes", "no"]
HARD = pd.DataFrame({"ann": ["no", "yes", None, "no"], "bob": ["yes", "no", "yes", None]})
SOFT = pd.DataFrame(
    {"ann:no": [0.9, 0.5, np.nan, 0.3], "ann:yes": [0.1, 0.5, np.nan, 0.71], "b:c:yes": [0, 1, 1, 0.2], "b:c:no": [1, 0, 0, 0.8]}
)  # fmt: skip


def made(n_rows: int, n_judges: int, n_classes: int, *, absent: float, seed: int) -> tuple[Any, Any]:
    """A table of answers, some of them missing, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_rows)
    said = np.where(
        rng.random((n_rows, n_judges)) < 0.6, truth[:, None], rng.integers(0, n_classes, (n_rows, n_judges))
    )
    labels = np.array([*"abcd"[:n_classes], None], dtype=object)
    said[rng.random((n_rows, n_judges)) < absent] = -1
    return pd.DataFrame(labels[said], columns=[f"j{k}" for k in range(n_judges)]), labels[truth].astype(str)


def test_a_column_of_classes_is_a_judge_and_an_empty_cell_an_abstention() -> None:
    pool = Pool.from_answers(HARD, TRUTH, costs={"bob": 2, "ann": 1})
    assert pool.names == ("ann", "bob")
    assert pool.costs is not None
    assert pool.costs.tolist() == [1, 2]
    assert class_answers(pool, HARD).tolist() == [[0, 1], [1, 0], [2, 1], [0, 2]]
    assert pool.classifiers[1].predict(HARD).tolist() == ["yes", "no", "yes", None]
    assert columns_asked(pool.classifiers) == ("ann", "bob")


def test_prices_may_be_a_series_and_answers_must_be_a_table() -> None:
    pool = Pool.from_answers(HARD, TRUTH, costs=pd.Series([2.5, 1.0], ["bob", "ann"]))
    assert pool.costs is not None
    assert pool.costs.tolist() == [1.0, 2.5]
    with pytest.raises(BadInputError, match="a column for every judge, each with a name, got a dict"):
        Pool.from_answers(HARD.to_dict("list"), TRUTH)


def test_columns_of_probabilities_are_a_judge_and_no_answer_is_equal_shares() -> None:
    pool = Pool.from_answers(SOFT, TRUTH)
    assert pool.names == ("ann", "b:c")
    probabilities = class_probabilities(pool, SOFT)
    assert probabilities[0].tolist() == [[0.9, 0.1], [1, 0]]
    assert probabilities[2, 0].tolist() == [0.5, 0.5]
    assert probabilities[3, 0] == pytest.approx([0.3 / 1.01, 0.71 / 1.01])
    assert (class_shares(pool, SOFT) == whole_shares(probabilities)).all()
    assert class_answers(pool, SOFT)[:, 0].tolist() == [0, 0, 2, 1]  # of equal ones the first, and no answer
    assert columns_asked(pool.classifiers) == ("ann:no", "ann:yes", "b:c:no", "b:c:yes")
    assert columns_asked([*pool.classifiers, pool.classifiers[0]]) == columns_asked(pool.classifiers)


@pytest.mark.parametrize(
    ("answers", "truth"),
    [
        pytest.param({"a": [1.0, 0.0, np.nan]}, [1, 0, 1], id="floats for whole numbers"),
        pytest.param({"a": ["1", "0", None]}, [1, 0, 1], id="text for numbers"),
        pytest.param({"a": [1.0, 0.0, np.nan]}, ["1", "0", "1"], id="numbers for text"),
        pytest.param({"a": [True, False, None]}, [1, 0, 1], id="truth values for numbers"),
        pytest.param({"a": pd.Categorical(["y", "n", None])}, ["y", "n", "y"], id="categories"),
    ],
)
def test_answers_are_told_by_what_they_mean(answers: Any, truth: Any) -> None:
    table = pd.DataFrame(answers)
    assert class_answers(Pool.from_answers(table, truth), table).ravel().tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        pytest.param({"a": ["no", "maybe", "yes", "no"]}, {}, "judge 'a' must answer no or yes, got 'maybe' in row 2", id="class"),
        pytest.param({"a": ["no"] * 4}, {}, "got the answer 'no' in all 4 rows", id="one answer"),
        pytest.param({"a": [None] * 4}, {}, "got no answer in all 4 rows", id="no answer"),
        pytest.param({"a:no": [0.5] * 4, "a:yes": [0.5] * 4}, {}, "probabilities 0.5 and 0.5 in all", id="one probability"),
        pytest.param({"a:no": [0.1, 0, 1, 1], "a:yes": [1.9, 1, 0, 0]}, {}, "from 0 to 1, got '1.9' in row 1", id="range"),
        pytest.param({"a:no": ["x", 0, 1, 1], "a:yes": [1, 1, 0, 0]}, {}, "from 0 to 1, got 'x' in row 1", id="word"),
        pytest.param({"a:no": [0.1, 0, 1, 1], "a:yes": [0.8, 1, 0, 0]}, {}, "add up to 1, within 0.02, got 0.9 in row 1", id="sum"),
        pytest.param({"a:no": [0.1, 0, 1, None], "a:yes": [0.9, 1, 0, 0]}, {}, "every class or of none, got some in row 4", id="cell"),
        pytest.param({"a:no": [0.1, 0, 1, 1]}, {}, "for every class, got none for yes. Add the column 'a:yes'", id="half"),
        pytest.param({"a:no": [0, 1], "a:yes": [1, 0], "a:may": [0, 0]}, {}, "one of the classes no or yes, got 'may'", id="other"),
        pytest.param({"a": TRUTH, "a:no": [0, 1, 1, 1]}, {}, "must come once, got 'a' again in column 'a:no'", id="twice"),
        pytest.param({}, {}, "a column for every judge, each with a name, got none", id="no judge"),
        pytest.param({"a": TRUTH[:3]}, {}, "one entry per row, got 3 and 4 rows", id="lengths"),
        pytest.param({"a": ["no", None, "yes", "no"]}, {"may_abstain": False}, "got 1 empty cell, the first in row 2", id="gap"),
        pytest.param({"a": TRUTH}, {"costs": {}}, "must price every judge, got none for 'a'", id="no price"),
        pytest.param({"a": TRUTH}, {"costs": {"a": 1, "b": 1}}, "got 'b', which is no column", id="no column"),
        pytest.param({"a": TRUTH}, {"costs": {"a": -1}}, "costs must be numbers of at least 0, got '-1' for 'a'", id="bad price"),
        pytest.param({"a": TRUTH}, {"costs": {"a": None}}, "costs must be numbers of at least 0, got 'None' for 'a'", id="no number"),
        pytest.param({"a": TRUTH}, {"costs": [1]}, "costs must map the name of every judge to its price, got a list", id="list"),
        pytest.param({"a": TRUTH}, {"costs": pd.Series([1, 2], ["a", "a"])}, "got a name twice", id="two prices"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(answers: Any, options: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        Pool.from_answers(pd.DataFrame(answers), TRUTH, **options)


def test_equal_names_are_the_same_judge_twice_and_arrays_have_no_names() -> None:
    twice = pd.DataFrame([["no", "yes"], ["yes", "no"]], columns=["a", "a"])
    with pytest.raises(BadInputError, match="must come once, got 'a' again"):
        Pool.from_answers(twice, ["no", "yes"])
    with pytest.raises(BadInputError, match="each with a name"):
        Pool.from_answers(np.array([["no"], ["yes"]]), ["no", "yes"])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "pruner",
    [
        ExactPruner(objective="accuracy", node_limit=500, time_limit_s=None),
        ExactPruner(objective={"a": 1, "b": 3}, node_limit=500, time_limit_s=None),
        ExactPruner(objective="accuracy", node_limit=500, time_limit_s=None, diversity="average"),
        OrderedPruner(rule="drep"),
        OrderedPruner(rule="margin"),
        BackfittingPruner(),
    ],
    ids=["accuracy", "weights", "slope", "drep", "margins", "backfitting"],
)
def test_a_committee_of_judges_reads_the_columns_of_its_members_and_is_verified(
    pruner: Any, n_classes: int
) -> None:
    X, y = made(60, 7, n_classes, absent=0.2, seed=n_classes)
    pool = Pool.from_answers(X, y, costs=dict.fromkeys(X, 1.0))
    fitted = pruner.set_params(pool=pool, random_state=0).fit(X, y)

    asked = list(columns_asked(fitted.pool_.classifiers))
    shares = fitted.predict_proba(X[asked[::-1]])
    assert set(asked) == {name for name, chosen in zip(X, fitted.selection_, strict=True) if chosen}
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)))
    voted = X[asked].apply(lambda row: [int((row == label).sum()) for label in fitted.classes_], axis=1)
    votes = np.array(voted.tolist())
    decided = np.where(votes.any(axis=1), fitted.classes_[votes.argmax(axis=1)], "REJECT")
    assert (fitted.predict(X) == decided).all()
    assert verify(fitted, X, y).valid
    assert verify(fitted, X, y, pool=pool).valid
    with pytest.raises(BadInputError, match=f"must have the column '{asked[0]}'"):
        fitted.predict(X.drop(columns=asked))


def test_a_threshold_is_met_or_missed_whatever_later_abstentions_would_have_voted() -> None:
    X, y = made(60, 7, 2, absent=0, seed=3)
    fitted = ExactPruner(
        Pool.from_answers(X, y), objective="accuracy", node_limit=500, time_limit_s=None
    ).fit(X, y)
    assert fitted.threshold_ is not None
    later = X[list(fitted.pool_.names)].copy()
    later.iloc[:30, 0] = None
    later.iloc[:15, 1] = None
    later.iloc[:5] = None
    positive, negative = (later == "b").sum(axis=1), (later == "a").sum(axis=1)
    assert positive[:30].any()
    known = np.where(negative >= later.shape[1] - fitted.threshold_, "a", "REJECT")
    assert (fitted.predict(later) == np.where(positive > fitted.threshold_, "b", known)).all()
    assert set(fitted.predict(later)[:30]) == {"a", "b", "REJECT"}


def test_a_positive_class_is_refused_where_plurality_decides_between_two() -> None:
    X, y = made(60, 5, 2, absent=0.2, seed=3)
    with pytest.raises(BadInputError, match="positive must be left out where judges abstain"):
        ExactPruner(Pool.from_answers(X, y), positive="a").fit(X, y)


@pytest.mark.parametrize("voting", ["soft", "averaged"])
def test_probabilities_of_judges_are_averaged(voting: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 50)
    table: dict[str, Any] = {}
    for judge in "abcde":
        share = np.clip(0.6 * truth + 0.2 + 0.3 * rng.normal(size=50), 0, 1)
        share[rng.random(50) < 0.2] = np.nan
        table |= {f"{judge}:1": share, f"{judge}:0": 1 - share}
    X = pd.DataFrame(table)
    pool = Pool.from_answers(X, truth, costs=dict.fromkeys("abcde", 1.0))
    how: dict[str, Any] = {"voting": voting, "probabilities": "mean", "random_state": 0}
    fitted = ExactPruner(pool, max_cost=3, node_limit=500, time_limit_s=None, **how).fit(X, truth)

    mean = class_probabilities(fitted.pool_, X).mean(axis=1)
    assert len(fitted.pool_) <= 3
    assert fitted.predict_proba(X) == pytest.approx(mean)
    assert verify(fitted, X, truth, pool=pool).valid
    with pytest.raises(BadInputError, match="every judge gives them, in columns judge:class, got classes"):
        ExactPruner(Pool.from_answers(HARD, TRUTH), voting=voting).fit(HARD, TRUTH)
