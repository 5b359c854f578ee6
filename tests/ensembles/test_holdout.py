"""Evolution on one table, split, and figures of rules on rows that nothing has seen."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.holdout import evolve_table
from shortlist.ensembles.measured import TEST_SHARE

X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
LABELS = np.array(["a", "b", "c"])[Y]


def _test_rows(y: Any, seed: int) -> Any:
    return split_rows(np.arange(len(y)), y, TEST_SHARE, seed)[1]


def test_decisions_on_the_test_rows_are_the_predictions() -> None:
    evolved = evolve_table(
        X, LABELS, EvolutionaryEnsembleClassifier(population_size=20, n_generations=5, random_state=0), seed=4
    )
    rows = _test_rows(LABELS, 4)
    predicted = evolved.classifier.predict(X[rows])
    measured = evolved.test["evolved"]
    assert measured.decisions[:, :-1].tolist() == confusion_matrix(LABELS[rows], predicted).tolist()
    assert not measured.decisions[:, -1].any(), "rows without an answer"
    assert measured.accuracy == (predicted == LABELS[rows]).mean()
    assert measured.balanced_accuracy == pytest.approx(balanced_accuracy_score(LABELS[rows], predicted))
    assert measured.confusion is None
    assert measured.as_dict()["confusion"]["b"]["c"] == ((LABELS[rows] == "b") & (predicted == "c")).sum()
