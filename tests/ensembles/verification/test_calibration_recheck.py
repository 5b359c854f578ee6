"""A calibration is fitted again from the table, and one that was changed is told."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles import ExactPruner, make_pool, verify
from shortlist.ensembles.verification.recheck import other_calibration
from shortlist_papers import MarginPruner

X, Y = make_classification(160, 5, flip_y=0.2, random_state=1)


@pytest.mark.parametrize(
    "pruner",
    [
        ExactPruner(objective="accuracy", node_limit=20, random_state=0),
        ExactPruner(objective="log-loss", voting="soft", node_limit=20, random_state=0),
        ExactPruner(n_classifiers=6, node_limit=20, random_state=0),
        MarginPruner(random_state=0),
    ],
    ids=["votes", "mean", "out-of-fold", "rule"],
)
def test_a_calibration_that_was_changed_is_told(pruner: Any) -> None:
    if pruner.n_classifiers != 6:
        pruner.set_params(pool=make_pool(X[:80], Y[:80], n_classifiers=8, random_state=0))
    fitted = pruner.fit(X[80:], Y[80:])
    assert verify(fitted, X[80:], Y[80:]).failures == ()
    kept = fitted.calibration_
    own = fitted.committee_
    other = dataclasses.replace(kept, factors=tuple(np.array(kept.factors) * [1, 0.9]))
    fitted.committee_ = dataclasses.replace(own, calibration=other)
    assert "calibrate the probabilities otherwise" in verify(fitted, X[80:], Y[80:]).failures[0]
    fitted.committee_ = dataclasses.replace(own, calibration=None)
    assert other_calibration(fitted.chosen_, X[80:], Y[80:])
    fitted.committee_ = dataclasses.replace(own, calibration=None, probabilities="mean")
    assert other_calibration(fitted.chosen_, X[80:], Y[80:]) == []
