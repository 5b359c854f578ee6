"""Fronts found with one classifier for all subsets."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.refined_fronts import sampled_rows
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.results.proof import ProofKind

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

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
    assert front.extras["n_searched_points"] >= len(front)
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


@pytest.mark.parametrize("subclassifier", [None, TREE])
def test_a_search_with_some_rows_is_measured_on_all(subclassifier: object) -> None:
    with pytest.warns(UserWarning, match="the search saw 39 of 200 rows that fit; measured on all rows"):
        classifier = MultiStageClassifier(
            subclassifier=subclassifier, sample_rows=40, max_stages=3, confidence=0.8, random_state=0
        ).fit(X[:200], Y[:200], validation=(X[200:], Y[200:]))

    rows = classifier.problem_.decisions.subclassifiers.rows
    assert (len(rows.fit_labels), len(rows.validation_labels)) == (200, 100)
    assert classifier.front_.proof.kind is ProofKind.APPROXIMATE
    for point in range(len(classifier.front_)):
        report = classifier.use(point).decision_report(X[200:])
        assert classifier.front_.values[point][[0, 2]].tolist() == pytest.approx(
            [(~report["rejected"]).mean(), report["cost"].mean()]
        )
    assert set(classifier.front_.extras["largest_change"]) == set(classifier.front_.names)
    same = MultiStageClassifier(sample_rows=300, max_stages=3, random_state=0).fit(X, Y)
    assert same.front_.proof.kind is ProofKind.COMPLETE


@pytest.mark.parametrize("option", [{"share_fits": True}, {"sample_rows": 120}], ids=["shared", "sampled"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of what the measures changed
def test_seeds_that_the_subclassifier_leaves_open_follow_from_that_of_the_search(
    option: dict[str, Any],
) -> None:
    fronts = []
    for tree in (None, 7, 0):
        classifier = MultiStageClassifier(
            subclassifier=DecisionTreeClassifier(max_depth=3, max_features=1, random_state=tree),
            max_stages=2, confidence=0.7, random_state=7, **option,
        ).fit(X, Y)  # fmt: skip
        fronts.append([*classifier.front_.values.tolist(), classifier.predict(X).tolist()])
    assert fronts[0] == fronts[1]
    assert fronts[0] != fronts[2]


def test_a_sample_has_its_share_of_each_class() -> None:
    rows = StageRows(
        learn_encoding(X, list("abcde")), X[:200], Y[:200], X[200:], np.r_[np.zeros(97, int), [1, 1, 1]], 2
    )
    some = sampled_rows(rows, 50, 0)

    shares = np.bincount(rows.fit_labels) / 200
    assert np.abs(np.bincount(some.fit_labels) - 50 * shares).max() <= 1
    assert np.bincount(some.validation_labels).tolist() == [48, 1]
    places = [rows.fit_rows.tolist().index(row) for row in some.fit_rows.tolist()]
    assert len(set(places)) == len(places)
    assert some.fit_labels.tolist() == rows.fit_labels[places].tolist()
    assert sampled_rows(rows, 200, 0) is rows


def test_shared_fits_need_a_classifier() -> None:
    with pytest.raises(BadInputError, match="share_fits needs a subclassifier, got none"):
        MultiStageClassifier(share_fits=True).fit(X, Y)
