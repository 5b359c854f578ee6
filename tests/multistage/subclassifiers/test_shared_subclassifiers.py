"""One classifier for all feature subsets."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist._bits import pack
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits, subset_masks
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignSubclassifiers
from shortlist.multistage.subclassifiers.shared_subclassifiers import SharedSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.runs import Budget, Cancellation

X, Y = make_classification(240, 4, n_informative=3, n_redundant=0, flip_y=0.05, random_state=2)
ROWS = StageRows(learn_encoding(X, list("abcd")), X[:160], Y[:160], X[160:], Y[160:], 2)
TREE = DecisionTreeClassifier(max_depth=6, random_state=0)


def shared(**options: object) -> SharedSubclassifiers:
    return SharedSubclassifiers(ForeignSubclassifiers(ROWS, TREE), **options)  # type: ignore[arg-type]  # a seed


@pytest.mark.parametrize("risk", [None, 0.3])
def test_bits_are_those_of_the_one_classifier_with_gaps_elsewhere(risk: float | None) -> None:
    ours = shared()
    rule = reject_rule(0.8, np.array([0, 1]), risk=risk, max_stages=2)
    bits = DecisionBits(ours, rule).every_subset()

    assert ours.n_fits == 1
    for number, subset in enumerate(subset_masks(4), start=1):
        gaps = X.copy()
        gaps[:, ~subset] = np.nan
        found = ours._models[0].estimator.predict_proba(gaps[160:])
        sure = found.max(axis=1) >= np.maximum(0.8, ours._least(subset, rule))
        assert bits[number, 0].tolist() == pack(sure, ROWS.n_words).tolist()
        right = sure & (found.argmax(axis=1) == Y[160:])
        assert bits[number, 1].tolist() == pack(right, ROWS.n_words).tolist()


def test_a_seed_gives_the_same_gaps_and_a_subset_has_a_classifier_of_its_own() -> None:
    rule = reject_rule(0.8, np.array([0, 1]))
    first, same, other = (DecisionBits(shared(seed=seed), rule).every_subset() for seed in (1, 1, 2))
    subset = np.array([True, False, True, False])

    assert first.tolist() == same.tolist() != other.tolist()
    alone = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X[:160][:, subset], Y[:160])
    found = shared().model(subset).probabilities(X[160:])
    assert found.tolist() == alone.predict_proba(X[160:][:, subset]).tolist()


def test_it_knows_the_rows_better_the_more_it_sees() -> None:
    found = DecisionBits(shared(), reject_rule(0.5, np.array([0, 1]))).every_subset()
    right = [sum(int(word).bit_count() for word in found[number, 1]) for number in range(1, 16)]
    sizes = [number.bit_count() for number in range(1, 16)]

    assert np.corrcoef(right, sizes)[0, 1] > 0.5
    assert right[14] > 60  # of 80


@pytest.mark.parametrize(("estimator", "takes"), [
    (HistGradientBoostingClassifier(max_iter=3), True),
    (CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=3)), True),
    (GaussianNB(), False),
])  # fmt: skip
def test_a_classifier_must_take_gaps(estimator: object, takes: bool) -> None:
    own = ForeignSubclassifiers(ROWS, estimator)
    if takes:
        ours = SharedSubclassifiers(own)
        ours.slots(subset_masks(4))
        assert ours.n_fits == 1
        return
    with pytest.raises(BadInputError, match=r"takes missing values, such as .*, got GaussianNB. Leave out"):
        SharedSubclassifiers(own)


def test_nothing_is_fitted_after_a_cancellation() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    own = ForeignSubclassifiers(ROWS, TREE, budget=Budget(cancellation=cancellation))
    with pytest.raises(FitsStoppedError):
        SharedSubclassifiers(own).slots(subset_masks(4))
