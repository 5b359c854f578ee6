"""Contract of every opponent: scikit-learn's, the reject, prices per row, tuning, and good errors."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage import feature_costs
from shortlist.multistage.holdout import split_three
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.question import rows_to_fit_and_validate
from shortlist.multistage.search.stage_objectives import stage_problem
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits
from shortlist.runs import Cancellation
from shortlist_papers.opponents.budgeted_classifier import CostOrderedStages, SingleStage
from shortlist_papers.opponents.cost_sensitive_tree import CSTC
from shortlist_papers.opponents.greedy_miser import GreedyMiser
from shortlist_papers.opponents.lasso import CactLasso, L1Path
from shortlist_papers.opponents.lightgbm_trees import CostAwareLightGBM
from shortlist_papers.opponents.submodular_tree import ASTC
from tests.contract import keeps_contract

QUICK: list[Any] = [
    GreedyMiser(trade_off=(0.1, 0.01), n_trees=(5, 20)),
    GreedyMiser(loss="squared", trade_off=0.1, n_trees=20),
    CSTC(trade_off=(1.0, 0.1), n_levels=2),
    ASTC(node_budget=(0.3, 1.0)),
    CostOrderedStages(),
    CactLasso(penalty=(3.0, 0.3)),
    SingleStage(),
    L1Path(n_penalties=10),
    CostAwareLightGBM(trade_off=(0.1, 0.0), n_trees=(5, 20)),
]
every = pytest.mark.parametrize(
    "opponent", QUICK, ids=lambda each: f"{type(each).__name__}-{getattr(each, 'loss', '')}"
)


@keeps_contract(QUICK[0])
def test_scikit_learns_contract_is_kept(estimator: Any, check: Any) -> None:
    check(estimator)


@keeps_contract(*QUICK[1:], GreedyMiser(trade_off=0.01, n_trees=20, answer_rejected=True), tables=False)
def test_every_other_opponent_keeps_it(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n_rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Rows with numbers, gaps and text."""
    X, y = make_classification(n_rows, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=seed)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["c"] = np.where(frame["c"] > 0.5, "high", np.where(frame["c"] > -0.5, "mid", "low"))
    frame.loc[::7, "b"] = np.nan
    return frame, np.where(y == 1, "ill", "well")


COSTS = {"a": 5, "b": 1, "c": 1.5, "d": 2}


@every
def test_rows_pay_for_what_they_bought_and_unsure_ones_are_rejected(opponent: Any) -> None:
    X, y = mixed()
    clf = type(opponent)(**opponent.get_params()).set_params(confidence=0.8, random_state=0)
    clf.fit(X, y, costs=COSTS)
    new = mixed(90, seed=1)[0].set_index(np.arange(90) * 2)
    bought, report = clf.features_bought(new), clf.decision_report(new)
    prices = np.array(list(COSTS.values()))
    assert clf.predict_cost(new) == pytest.approx(bought @ prices)
    assert report["cost"].tolist() == clf.predict_cost(new).tolist()
    assert report["features"].iloc[0] == ", ".join(np.array(list(COSTS))[bought[0]])
    assert report.index.tolist() == new.index.tolist()
    probabilities = clf.probabilities(new)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(90))
    unsure = (probabilities.max(axis=1) < 0.8) & (type(clf) is not SingleStage)
    assert (report["rejected"] == unsure).all()
    labels = clf.predict(new)
    assert (labels[unsure] == "REJECT").all()
    assert (labels[~unsure] == clf.classes_[probabilities.argmax(axis=1)][~unsure]).all()
    # what a row did not buy, it does not read
    scrambled = new.copy()
    for place, name in enumerate(COSTS):
        rows = ~bought[:, place]
        scrambled.loc[rows, name] = scrambled.loc[rows, name].to_numpy()[::-1]
    assert clf.probabilities(scrambled) == pytest.approx(probabilities)


@every
def test_the_setting_that_is_kept_has_the_largest_sum_on_the_validation_rows(opponent: Any) -> None:
    X, y = mixed()
    judged = mixed(120, seed=2)
    clf = type(opponent)(**opponent.get_params()).set_params(feature_costs=COSTS, confidence=0.7)
    clf.fit(X, y, validation=judged)
    labels, cost = clf.predict(judged[0]), clf.predict_cost(judged[0])
    answered = labels != "REJECT"
    right = (labels == judged[1])[answered].sum() / max(1, answered.sum())
    value = answered.mean() + right + 1 - cost.mean() / sum(COSTS.values())
    assert value == pytest.approx(max(each["aggregate"] for each in clf.tuning_))
    kept = next(each for each in clf.tuning_ if each.items() >= clf.settings_.items())
    assert kept["aggregate"] == pytest.approx(value)


@every
def test_tuned_by_accuracy_it_has_the_most_right_answers_without_a_reject(opponent: Any) -> None:
    X, y = mixed()
    judged = mixed(120, seed=2)
    clf = type(opponent)(**opponent.get_params()).set_params(feature_costs=COSTS, confidence=0.7)
    clf.fit(X, y, validation=judged)
    tuned, before = clf.tuned_by("accuracy"), clf.settings_
    probable = clf.classes_[tuned.probabilities(judged[0]).argmax(axis=1)]
    right = float((probable == judged[1]).mean())
    assert right == pytest.approx(max(each["right"] for each in clf.tuning_))
    kept = [each for each in clf.tuning_ if each["right"] == max(one["right"] for one in clf.tuning_)]
    assert kept[0].items() >= tuned.settings_.items(), "the first of equals, as candidates get dearer"
    assert clf.settings_ is before
    assert clf.tuned_by("sum").settings_ == before


@every
def test_the_same_seed_gives_the_same_model_and_pickles_keep_it(opponent: Any) -> None:
    X, y = load_iris(return_X_y=True)
    first, second = (
        type(opponent)(**opponent.get_params()).set_params(random_state=3).fit(X, y) for _ in range(2)
    )
    assert (first.probabilities(X) == second.probabilities(X)).all()
    again = pickle.loads(pickle.dumps(first))
    assert (again.probabilities(X) == first.probabilities(X)).all()
    assert (again.predict_cost(X) == first.predict_cost(X)).all()
    assert b"baselines" not in pickle.dumps(first)  # so that files outlive a move of the modules


def test_shared_first_prices_are_paid_once_per_row() -> None:
    X, y = make_classification(200, 3, n_informative=3, n_redundant=0, random_state=0)
    costs = feature_costs([1, 1, 1], "012", groups={"0": "blood", "1": "blood"}, first_prices={"blood": 10})
    assert set(SingleStage(feature_costs=costs).fit(X, y).predict_cost(X)) == {13.0}
    steps = CostOrderedStages(feature_costs=costs, confidence=0.999, random_state=0).fit(X, y)
    assert set(steps.predict_cost(X)) <= {1.0, 13.0}


def test_cost_ordered_stages_are_stages_with_that_assignment() -> None:
    X, y = mixed()
    judged = mixed(120, seed=2)
    ordered = CostOrderedStages(feature_costs=COSTS).fit(X, y, validation=judged)
    names = list(COSTS)
    rows = rows_to_fit_and_validate(ordered, X, y, names, validation=judged, share=0.5, seed=0)
    bits = DecisionBits(LogisticSubclassifiers(rows), reject_rule(0.75, ordered.classes_))
    problem = stage_problem(bits, feature_costs(COSTS, names), max_stages=4)
    conclusive, right, cost = problem.measures(np.array([[3, 0, 1, 2]], dtype=np.int8))[0][:3].tolist()
    labels = ordered.predict(judged[0])
    assert (labels != "REJECT").sum() == conclusive
    assert (labels == judged[1]).sum() == right
    assert ordered.predict_cost(judged[0]).sum() == pytest.approx(cost / problem.costs.scale)


@every
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param({"feature_costs": {"a": 1}}, "must price every feature", id="missing price"),
        pytest.param({"feature_costs": COSTS | {"z": 1}}, "must name columns of the table, got 'z'", id="no such column"),
        pytest.param({"feature_costs": COSTS | {"a": -1}}, "at least 0, got -1", id="negative price"),
        pytest.param({"confidence": 1.5}, r"confidence must be in \(0, 1\]", id="confidence"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(opponent: Any, options: dict[str, Any], sentence: str) -> None:
    X, y = mixed(40)
    with pytest.raises(BadInputError, match=sentence):
        type(opponent)(**opponent.get_params()).set_params(**options).fit(X, y)


@every
def test_one_class_is_refused(opponent: Any) -> None:
    X, _ = mixed(40)
    with pytest.raises(BadInputError, match="one class"):
        opponent.fit(X, ["ill"] * 40)


@pytest.mark.parametrize(
    ("opponent", "sentence"),
    [
        (GreedyMiser(trade_off=[]), "trade_off must be a number, or several"),
        (GreedyMiser(trade_off=(0.1, -1)), "trade_off must be a number of at least 0, got -1"),
        (GreedyMiser(n_trees=0), "n_trees must be at least 1"),
        (GreedyMiser(loss="hinge"), "loss must be one of"),
        (CSTC(n_levels=9), "n_levels must be at least 1 and at most 8"),
        (ASTC().set_params(node_budget="much"), "node_budget must be a number"),
        (CactLasso(penalty=float("nan")), "penalty must be a number"),
        (L1Path(n_penalties=1), "n_penalties must be at least 2"),
        (CostAwareLightGBM(n_leaves=1), "n_leaves must be at least 2"),
        (CostAwareLightGBM(charge="rows"), "charge must be one of feature or row"),
    ],
)
def test_settings_are_checked(opponent: Any, sentence: str) -> None:
    X, y = mixed(40)
    with pytest.raises(BadInputError, match=sentence):
        opponent.fit(X, y)


def test_a_stopped_fit_keeps_the_best_so_far_or_says_that_there_is_none() -> None:
    X, y = mixed()
    stop = Cancellation()
    stop.cancel()
    clf = GreedyMiser(feature_costs=COSTS, random_state=0).fit(X, y, cancellation=stop)
    assert len(clf.tuning_) == 1

    class NothingToTry(SingleStage):
        def _candidates(self, *_: Any) -> Any:
            return iter(())

    with pytest.raises(FitsStoppedError):
        NothingToTry().fit(X, y)


def test_without_a_class_for_rejected_rows_there_are_no_probabilities_of_classes() -> None:
    X, y = load_iris(return_X_y=True)
    assert not hasattr(GreedyMiser().fit(X, y), "predict_proba")
    assert hasattr(SingleStage().fit(X, y), "predict_proba")
    sure = GreedyMiser(answer_rejected=True, confidence=0.99, random_state=0).fit(X, y)
    assert (sure.predict(X) == sure.classes_[sure.predict_proba(X).argmax(axis=1)]).all()
    assert sure.decision_report(X)["rejected"].any()


def test_tuning_never_sees_the_test_rows() -> None:
    X, y = mixed()
    fit, judge, test = split_three(y, seed=0)
    clf = L1Path(feature_costs=COSTS).fit(X.iloc[fit], y[fit], validation=(X.iloc[judge], y[judge]))
    changed = X.copy()
    changed.iloc[test, 0] = 0.0
    same = L1Path(feature_costs=COSTS).fit(
        changed.iloc[fit], y[fit], validation=(changed.iloc[judge], y[judge])
    )
    assert clf.tuning_ == same.tuning_
