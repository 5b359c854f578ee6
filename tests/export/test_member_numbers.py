"""Classifiers of users' own pools, and evolved ensembles, as plain numbers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import KNNImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError
from shortlist.ensembles import EvolutionaryEnsembleClassifier, make_pool
from shortlist.ensembles.evolution.scored_spaces import GeneticPrograms
from shortlist.ensembles.evolution.spaces import SPACES
from shortlist.export import reader
from shortlist.export.member_numbers import numbers_of
from shortlist.export.onnx_graph import check_onnx, onnx_of
from shortlist.export.policies import check_policy, policy_of
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner
from tests.export.test_policies import CODES, KINDS, TABLE, TARGETS, X, saved

ROWS = pd.DataFrame(5 + 3 * X, columns=list("abcde"))

WRITTEN = {
    "ridge": RidgeClassifier(),
    "ridge without intercept": RidgeClassifier(fit_intercept=False),
    "hinge": SGDClassifier(random_state=0),
    "perceptron": Perceptron(random_state=0),
    "linear machine": LinearSVC(random_state=0),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "moved alone": make_pipeline(StandardScaler(with_std=False), LogisticRegression()),
    "stretched alone": make_pipeline(StandardScaler(with_mean=False), RidgeClassifier()),
    "scaled kernel": make_pipeline(
        Nystroem(gamma=0.1, n_components=20, random_state=0), LogisticRegression()
    ),
    "scaled neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(weights="distance")),
    "scaled network": make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=50, random_state=0)),
    "scaled tree": make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=4, random_state=0)),
    "older boosting": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "boosting from zero": GradientBoostingClassifier(n_estimators=3, init="zero", random_state=0),
    "adaptive boosting": AdaBoostClassifier(n_estimators=8, random_state=0),
    "bagging": BaggingClassifier(n_estimators=5, max_features=0.6, max_samples=0.2, random_state=0),
    "bagged machines": BaggingClassifier(make_pipeline(StandardScaler(), LinearSVC()), 3, random_state=0),
    "calibrated machine": CalibratedClassifierCV(LinearSVC(random_state=0), cv=3),
    "calibrated forest": CalibratedClassifierCV(RandomForestClassifier(4, random_state=0), cv=3),
    "LightGBM": LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1, random_state=0),
    "Huber": SGDClassifier(loss="modified_huber", random_state=0),
    "polynomial machine": SVC(kernel="poly"),
    "isotonic": CalibratedClassifierCV(LinearSVC(random_state=0), method="isotonic", cv=3),
    "bagged kernels": BaggingClassifier(SVC(kernel="poly"), 2, random_state=0),
    "another scaler": make_pipeline(MinMaxScaler(), LogisticRegression()),
    "three steps": make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression()),
}
OF_TWO_CLASSES = {
    "kernel machine": make_pipeline(StandardScaler(), SVC()),
    "calibrated kernel": CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), cv=3),
    "log loss": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "y"),
    [
        *(pytest.param(kind, y, id=f"{kind}, {n}") for kind in WRITTEN for n, y in ((2, CODES), (3, KINDS))),
        *(pytest.param(kind, CODES, id=kind) for kind in OF_TWO_CLASSES),
    ],
)
def test_a_member_answers_as_plain_numbers_and_as_a_graph_do(kind: str, y: Any) -> None:
    member: Any = (WRITTEN | OF_TWO_CLASSES)[kind]
    member = member.fit(ROWS[:150], y[:150])
    pruner = OrderedPruner([member], random_state=0).fit(ROWS[150:], y[150:])
    model = SavedModel(pruner, tuple(ROWS.columns), "class")
    policy = policy_of(model)

    assert check_policy(policy, model, ROWS[100:200]) == 100
    assert check_onnx(onnx_of(policy), model, ROWS, policy) == len(ROWS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_over_words_and_gaps_answers_as_plain_numbers_and_as_a_graph(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    rows = pd.DataFrame({"size": rng.normal(size=240), "age": rng.normal(50, 10, 240)})
    rows["colour"] = rng.choice(["red", "green", "blue"], 240).astype(object)
    y = np.where(rows["colour"] == "red", 1, np.where(rows["size"] > 1, n_classes - 1, 0))
    rows.loc[::7, "age"], rows.loc[::5, "colour"] = np.nan, None
    pool = make_pool(rows[:160], y[:160], n_classifiers=5, plain=("plain-boosting",)).subset([4])
    pruner = OrderedPruner(pool, random_state=0).fit(rows[160:], y[160:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy = policy_of(model)

    assert pool.names == ("plain-boosting",)
    assert check_policy(policy, model, rows[100:200]) == 100
    assert check_onnx(onnx_of(policy), model, rows, policy) == len(rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "member",
    [
        GaussianProcessClassifier(),
        SVC(break_ties=True, decision_function_shape="ovr"),
        CalibratedClassifierCV(GaussianNB(), method="temperature", cv=3),
        CalibratedClassifierCV(QuadraticDiscriminantAnalysis(reg_param=0.1), cv=3),
        KNeighborsClassifier(metric="chebyshev"),
        MLPClassifier((3,), activation="logistic", max_iter=5),
        make_pipeline(StandardScaler(), KNNImputer(), LogisticRegression()),
        BaggingClassifier(GaussianProcessClassifier(), 2, random_state=0),
    ],
    ids=[
        "no numbers",
        "ties",
        "temperature",
        "scores of its own",
        "distance",
        "activation",
        "neighbours fill",
        "bagged",
    ],
)
def test_what_would_answer_otherwise_is_not_written(member: Any) -> None:
    assert numbers_of(member.fit(np.asarray(ROWS), CODES)) is None


def evolved(target: str, **options: Any) -> EvolutionaryEnsembleClassifier:
    given = {"population_size": 30, "n_generations": 4, "max_members": 7, **options}
    return EvolutionaryEnsembleClassifier(random_state=0, **given).fit(TABLE[:150], TARGETS[target][:150])


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_space_is_written(space: str, target: str) -> None:
    model = saved(evolved(target, space=space))
    policy = policy_of(model)
    assert len(policy["members"]) == len(model.estimator.members_)
    assert check_policy(policy, model, TABLE[100:200]) == 100


def test_expressions_that_overflow_or_divide_by_nothing_have_the_values_of_the_space() -> None:
    space, rng = GeneticPrograms(3, 3, depth=4), np.random.default_rng(0)
    members = space.sample(40, rng)
    members["constants"] *= 1e200
    rows = np.array([[0.0, 1e-7, -1e150], [1e160, -1e160, 1e-3], [2.0, 2.0, 2.0], [1e-18, 0.0, 0.0]])
    ensemble = evolved("three classes", space="genetic-programs")
    ensemble.space_, ensemble.members_ = space, members
    wanted = space.predict(members, rows)
    for member, codes in zip(policy_of(saved(ensemble))["members"], wanted.T, strict=True):
        found = [reader._score(member["model"], row) for row in rows.tolist()]
        assert [one.index(max(one)) for one in found] == codes.tolist()


def test_a_space_of_ones_own_and_onnx_are_refused() -> None:
    ensemble = evolved("two classes")
    with pytest.raises(BadInputError, match="got an evolved ensemble"):
        onnx_of(policy_of(saved(ensemble)))
    ensemble.space_ = object()  # type: ignore[assignment]
    with pytest.raises(BadInputError, match="a policy holds members of Shortlist"):
        policy_of(saved(ensemble))
