"""Classifiers of users' own pools as plain numbers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist.export.member_numbers import numbers_of
from shortlist.export.onnx_graph import check_onnx, onnx_of
from shortlist.export.policies import check_policy, policy_of
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner
from tests.export.test_policies import CODES, KINDS, X

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
}


@pytest.mark.parametrize("y", [CODES, KINDS], ids=["two classes", "three classes"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_member_answers_as_plain_numbers_and_as_a_graph_do(kind: str, y: Any) -> None:
    member: Any = WRITTEN[kind]
    member = member.fit(ROWS[:150], y[:150])
    pruner = OrderedPruner([member], random_state=0).fit(ROWS[150:], y[150:])
    model = SavedModel(pruner, tuple(ROWS.columns), "class")
    policy = policy_of(model)

    assert check_policy(policy, model, ROWS[100:200]) == 100
    assert check_onnx(onnx_of(policy), model, ROWS, policy) == len(ROWS)


@pytest.mark.parametrize(
    "member",
    [
        SGDClassifier(loss="log_loss", random_state=0),  # which has probabilities of its own kind
        make_pipeline(MinMaxScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
        make_pipeline(StandardScaler(), StandardScaler(), LogisticRegression()),
    ],
    ids=["probabilities", "another scaler", "scaled tree", "three steps"],
)
def test_what_would_answer_otherwise_is_not_written(member: Any) -> None:
    assert numbers_of(member.fit(np.asarray(ROWS), CODES)) is None
