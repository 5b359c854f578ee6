"""The estimator of evolved ensembles."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist import BadInputError
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from tests.contract import keeps_contract

X, Y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.15, random_state=3)


@pytest.mark.slow
@keeps_contract(EvolutionaryEnsembleClassifier(population_size=30, n_generations=15, random_state=0))
def test_the_estimator_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_text_gaps_and_labels_of_any_kind_are_evolved(mode: str) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["town"] = np.where(Y == 2, "Rome", "Oslo")
    frame.loc[::7, "b"] = np.nan
    labels = np.array(["no", "perhaps", "yes"])[Y]
    evolved = EvolutionaryEnsembleClassifier(mode, population_size=60, n_generations=20, random_state=1)
    evolved.fit(frame, labels)

    assert set(evolved.predict(frame)) <= set(labels)
    assert evolved.score(frame, labels) == pytest.approx(1 - evolved.result_.error)
    assert evolved.score(frame, labels) > 0.6
    assert (pickle.loads(pickle.dumps(evolved)).predict(frame) == evolved.predict(frame)).all()


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        pytest.param(EvolutionaryEnsembleClassifier(space="trees"), Y, "space must be one of", id="space"),
        pytest.param(
            EvolutionaryEnsembleClassifier(space=lambda _n_features, _n_classes: {}),
            Y,
            "sample, mutate, recombine and predict, got a dict",
            id="no space",
        ),
    ],
)
def test_bad_input_is_one_sentence(estimator: Any, y: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        estimator.fit(X, y)
