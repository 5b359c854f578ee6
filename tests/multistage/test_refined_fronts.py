"""Fronts found with one classifier for all subsets."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError
from shortlist.multistage import EmscoOptions, MultiStageClassifier
from shortlist.results.proof import ProofKind

X, Y = make_classification(300, 5, n_informative=4, n_redundant=0, flip_y=0.05, random_state=2)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@pytest.mark.parametrize("method", ["enumerate", "emsco"])
def test_points_are_what_their_own_classifiers_reach(method: str) -> None:
    judging = slice(200, 300)
    classifier = MultiStageClassifier(
        method=method, subclassifier=TREE, share_fits=True, max_stages=3, confidence=0.8, random_state=0,
        emsco_options=EmscoOptions(population=30, generations=8),
    ).fit(X[:200], Y[:200], validation=(X[judging], Y[judging]))  # fmt: skip
    each = MultiStageClassifier(
        method=method, subclassifier=TREE, max_stages=3, confidence=0.8, random_state=0,
        emsco_options=EmscoOptions(population=30, generations=8),
    ).fit(X[:200], Y[:200], validation=(X[judging], Y[judging]))  # fmt: skip

    front = classifier.front_
    assert (front.proof.kind, front.method) == (ProofKind.APPROXIMATE, method)
    assert front.extras["n_shared_points"] >= len(front)
    assert classifier.problem_.decisions.subclassifiers.n_fits < each.problem_.decisions.subclassifiers.n_fits
    for point in range(len(front)):
        report = classifier.use(point).decision_report(X[judging])
        answered = ~report["rejected"]
        accuracy = (report["label"][answered] == Y[judging][answered]).mean() if answered.any() else 0.0
        expected = [answered.mean(), accuracy, report["cost"].mean()]
        assert front.values[point].tolist() == pytest.approx(expected)
    values = front.values * [1, 1, -1]
    for one in values:
        assert not ((values >= one).all(axis=1) & (values > one).any(axis=1)).any()
    assert len(np.unique(front.values, axis=0)) == len(front)


def test_shared_fits_need_a_classifier() -> None:
    with pytest.raises(BadInputError, match="share_fits needs a subclassifier, got none"):
        MultiStageClassifier(share_fits=True).fit(X, Y)
