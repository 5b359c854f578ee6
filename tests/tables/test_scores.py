"""Every kind of class, where a row holds a word that no fitted row had."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from shortlist import MultiStageClassifier
from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner
from shortlist.errors import UnknownWordWarning

POSITIVE = np.random.default_rng(0).normal(size=90) > 0

CLASSES: dict[str, Any] = {
    "truth values": POSITIVE,
    "numbers": np.where(POSITIVE, 7, -1),
    "words": np.where(POSITIVE, "yes", "REJECT"),
    "nullable truth values": pd.Series(POSITIVE, dtype="boolean"),
    "nullable numbers": pd.Series(np.where(POSITIVE, 2**60, 2**60 + 1), dtype="Int64"),
}


@pytest.mark.parametrize("y", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(
    "estimator",
    [
        ExactPruner(n_classifiers=4, random_state=0),
        EvolutionaryEnsembleClassifier(n_generations=3, population_size=6, random_state=0),
        MultiStageClassifier(max_stages=1, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_rare_word_ends_no_cross_validation(estimator: Any, y: Any) -> None:
    X = pd.DataFrame({"a": np.where(POSITIVE, 1.0, -1.0), "kind": np.where(np.arange(90) % 2, "p", "q")})
    X.loc[[7, 8], "kind"] = ["rare", None]
    with pytest.warns(UnknownWordWarning, match="1 cell with words .*: 'rare' of 'kind'"):
        scores = cross_val_score(estimator, X, y, cv=3, error_score="raise")
    assert scores.min() > 0.9
    fitted = estimator.fit(X, y)
    assert fitted.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
