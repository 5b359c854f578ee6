import pickle
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage import MultiStageClassifier, method_choice
from shortlist.multistage.method_choice import n_subsets, sampled_rows
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.subclassifiers import decision_bits
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.results.proof import ProofKind
from tests.multistage import oracles


def test_an_enumeration_that_does_not_fit_into_memory_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(150, 4, n_informative=3, n_redundant=0, random_state=0)
    many = make_classification(1000, 4, n_informative=3, n_redundant=0, random_state=1)
    clf = MultiStageClassifier(random_state=0)
    clf.fit(X, y, validation=many)
    assert clf.front_.method == "enumerate"
    enough = decision_bits.bytes_of_every_subset(clf.problem_.decisions.subclassifiers.rows)
    for module in ("subclassifiers.decision_bits", "method_choice"):
        monkeypatch.setattr(f"shortlist.multistage.{module}.MOST_BYTES", enough - 1)

    assert clf.fit(X, y, validation=many).front_.method == "windows"
    with pytest.raises(BadInputError, match="4 features and 1000 rows to validate on"):
        clf.set_params(method="enumerate").fit(X, y, validation=many)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_an_enumeration_without_time_for_its_fits_gives_way_to_windows() -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)

    enumerated = MultiStageClassifier(random_state=0).fit(X, y)
    with pytest.warns(
        UserWarning, match="not all subsets of the features could be fitted in half of the 1e-09 s"
    ):
        searched = MultiStageClassifier(random_state=0, time_limit_s=1e-9).fit(X, y)

    assert (enumerated.front_.method, enumerated.notes_) == ("enumerate", ())
    assert (searched.front_.method, searched.front_.proof.kind) == ("windows", ProofKind.APPROXIMATE)
    assert "windows were searched instead" in searched.notes_[0]
    assert searched.predict(X).tolist() == pickle.loads(pickle.dumps(searched)).predict(X).tolist()


def test_where_one_window_is_looked_through_in_time_the_front_is_complete_and_nothing_is_doubted() -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)

    with patch.object(method_choice, "enumerate_front", side_effect=FitsStoppedError("no time")):
        found = MultiStageClassifier(random_state=0, time_limit_s=1e6).fit(X, y)

    assert (found.front_.method, found.front_.proof.kind) == ("windows", ProofKind.COMPLETE)
    assert not any("nothing is proved" in note for note in found.notes_)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize(
    ("n", "shared", "method"), [(4, False, "enumerate"), (9, False, "windows"), (9, True, "enumerate")]
)
def test_auto_fits_few_classifiers_where_every_subset_needs_one(n: int, shared: bool, method: str) -> None:
    X, y = make_classification(120, n, n_informative=n - 1, n_redundant=0, random_state=1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)

    found = MultiStageClassifier(subclassifier=tree, share_fits=shared, max_stages=2, random_state=0).fit(
        X, y
    )

    n_fits = found.problem_.decisions.subclassifiers.n_fits
    assert found.front_.method == method
    if shared:  # those of five folds for the search, and as many and one for every set that a point uses
        assert n_fits == 5 + 6 * n_subsets(found.result_.assignments)
    else:
        assert n_fits == 6 * (2**n - 1) if method == "enumerate" else n_fits < 2 * 2**n


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("removal", [False, True])
def test_every_method_finds_the_front_with_hours_that_brute_force_has(removal: bool) -> None:
    X, y = make_classification(150, 4, n_informative=3, n_redundant=0, random_state=3)
    costs = feature_costs(
        [1, 1, 2, 3], "0123", groups={"1": "blood", "2": "blood"}, first_prices={"blood": 2},
        attributes={"hours": {"0": 2, "1": 24, "2": 5, "3": 9, "blood": 6}},
    )  # fmt: skip
    names = ("coverage", "conclusive_accuracy", "hours")
    fronts = {}
    for method in ("enumerate", "windows", "emsco"):
        clf = MultiStageClassifier(
            feature_costs=costs, objectives=names, method=method, max_stages=3, removal=removal,
            confidence=0.8, limits={"hours": 12}, validation_share=1 / 3, random_state=0,
        ).fit(X, y)  # fmt: skip
        assert clf.front_.values[clf.point_, 2] <= 12
        fronts[method] = {tuple(values) for values in clf.front_.values.tolist()}

    expected = oracles.facts_of(clf.problem_).front(
        3, names, removal=removal, penalties={}, call_cost=Fraction(1), call_cost_per_feature=Fraction(0)
    )
    wanted = {(-float(a), -float(b), float(c)) for a, b, c in expected}
    assert fronts == dict.fromkeys(fronts, wanted)


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
