import pickle
from fractions import Fraction
from unittest.mock import patch

import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage import MultiStageClassifier, method_choice
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.refined_fronts import n_subsets
from shortlist.multistage.subclassifiers import decision_bits
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
    with pytest.raises(BadInputError, match="4 features and 1000 rows to judge by"):
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
