import functools
import itertools
import pickle
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule, reject_rule
from shortlist.multistage.subclassifiers import foreign_subclassifiers, logistic_fits, subclassifiers
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignSubclassifiers
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows, subset_masks
from shortlist.runs import Budget, Cancellation, Unit


def stage_rows(n_classes: int, *, n: int = 4, seed: int = 0, spread: float = 1.0) -> StageRows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n)) * spread ** np.arange(n) + 3
    y = (X @ rng.normal(size=(n, n_classes)) / X.std() + rng.gumbel(size=(120, n_classes))).argmax(axis=1)
    encoding = learn_encoding(X, [str(i) for i in range(n)])
    return StageRows(encoding, X[:80], y[:80], X[80:], y[80:], n_classes)


def unpacked(words: NDArray[np.uint64], n_rows: int) -> list[bool]:
    return [bool(words[r // 64] >> np.uint64(r % 64) & np.uint64(1)) for r in range(n_rows)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("C", [0.1, 50.0])
def test_probabilities_equal_scikit_learns(n_classes: int, scale: bool, C: float) -> None:
    rows = stage_rows(n_classes)
    X, V = rows.fit_rows, rows.validation_rows
    if scale:
        X, V = (X - rows.fit_rows.mean(axis=0)) / X.std(axis=0), (V - X.mean(axis=0)) / X.std(axis=0)
    ours = LogisticSubclassifiers(rows, C=C, scale=scale)
    for subset in subset_masks(4)[[0, 4, 8, 14]]:
        theirs = LogisticRegression(C=C, tol=1e-12, max_iter=100_000).fit(X[:, subset], rows.fit_labels)
        probabilities = ours.model(subset).probabilities(rows.validation_rows)
        assert np.abs(probabilities - theirs.predict_proba(V[:, subset])).max() < 1e-6


def test_wildly_different_units_and_separable_classes_converge() -> None:
    rows = stage_rows(2, spread=1e3)
    labels = (rows.fit_rows[:, 0] > 3).astype(np.int64)
    separable = StageRows(
        rows.encoding, rows.fit_rows, labels, rows.validation_rows, rows.validation_labels, 2
    )
    model = LogisticSubclassifiers(separable, C=1e6).model(np.ones(4, dtype=bool))

    assert (model.probabilities(rows.fit_rows).argmax(axis=1) == labels).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.75, 0.99, 1.0])
def test_bits_say_who_is_confident_and_who_is_right(n_classes: int, confidence: float) -> None:
    rows = stage_rows(n_classes)
    ours = LogisticSubclassifiers(rows)
    bits = DecisionBits(ours, reject_rule(confidence, np.arange(n_classes))).every_subset()
    for mask, subset in enumerate(subset_masks(4), start=1):
        probabilities = ours.model(subset).probabilities(rows.validation_rows)
        confident = probabilities.max(axis=1) >= confidence
        right = confident & (probabilities.argmax(axis=1) == rows.validation_labels)
        assert unpacked(bits[mask, 0], 40) == confident.tolist()
        assert unpacked(bits[mask, 1], 40) == right.tolist()
    assert not bits[0].any()


def test_each_class_can_have_its_own_threshold() -> None:
    rows = stage_rows(2)
    ours = LogisticSubclassifiers(rows)
    rule = reject_rule({0: 0.6, 1: 0.9}, np.array([0, 1]))
    bits = DecisionBits(ours, rule).every_subset()
    probabilities = ours.model(np.ones(4, dtype=bool)).probabilities(rows.validation_rows)
    wanted = np.where(probabilities[:, 1] > 0.5, probabilities[:, 1] >= 0.9, probabilities[:, 0] >= 0.6)

    assert unpacked(bits[15, 0], 40) == wanted.tolist()


def test_subsets_are_fitted_once_and_threads_change_nothing() -> None:
    rows = stage_rows(2, n=8)
    one, two = LogisticSubclassifiers(rows), LogisticSubclassifiers(rows, n_jobs=2)
    for each in (one, two):
        each.slots(subset_masks(8)[:20])
        each.slots(subset_masks(8))
        assert each.n_fits == 255
    for subset in subset_masks(8):
        assert one.model(subset).coefficients.tolist() == two.model(subset).coefficients.tolist()


def test_with_many_features_places_are_given_up_when_full(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stage_rows(2, n=5)
    dense = DecisionBits(LogisticSubclassifiers(rows), RejectRule((0.75, 0.75)))
    dense.every_subset()
    monkeypatch.setattr(subclassifiers, "DENSE_FEATURES", 3)
    small = LogisticSubclassifiers(rows, capacity=10)
    sparse = DecisionBits(small, RejectRule((0.75, 0.75)))
    for start in range(0, 31, 7):
        some = subset_masks(5)[start : start + 7]
        slots = sparse.slots(some)
        assert sparse.bits[slots].tolist() == dense.bits[dense.slots(some)].tolist()
    assert small.places.epoch > 0
    with pytest.raises(BadInputError, match="at most 3 features, got 5"):
        sparse.every_subset()


def test_any_classifier_with_probabilities_will_do() -> None:
    rows = stage_rows(3)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours = ForeignSubclassifiers(rows, tree)
    bits = DecisionBits(ours, RejectRule((0.6,) * 3)).every_subset()
    for mask, subset in enumerate(subset_masks(4), start=1):
        fitted = tree.fit(rows.fit_rows[:, subset], rows.fit_labels)
        confident = fitted.predict_proba(rows.validation_rows[:, subset]).max(axis=1) >= 0.6
        assert unpacked(bits[mask, 0], 40) == confident.tolist()
    with pytest.raises(BadInputError, match="subclassifier must have predict_proba, got LinearSVC"):
        ForeignSubclassifiers(rows, LinearSVC())


@pytest.mark.slow
def test_classifiers_fitted_in_other_processes_are_the_same() -> None:
    rows = stage_rows(2)
    some = subset_masks(4)[[0, 6, 14]]
    here = ForeignSubclassifiers(rows, DecisionTreeClassifier(random_state=0))
    elsewhere = ForeignSubclassifiers(rows, DecisionTreeClassifier(random_state=0), n_jobs=2)
    for subset in some:
        elsewhere.slots(some)
        expected = here.model(subset).probabilities(rows.validation_rows)
        assert elsewhere.model(subset).probabilities(rows.validation_rows).tolist() == expected.tolist()
    assert elsewhere.n_fits == 3


@pytest.mark.parametrize("own", [Budget(), Budget(5, cancellation=Cancellation())], ids=["none", "all"])
def test_what_fits_goes_to_other_processes_without_its_budget(own: Budget) -> None:
    # a budget has locks and callables, which do not pickle
    rows, subset = stage_rows(2), np.array([[True, False, True, True]])
    for here in (
        LogisticSubclassifiers(rows, n_jobs=2, budget=own),
        ForeignSubclassifiers(rows, DecisionTreeClassifier(random_state=0), n_jobs=2, budget=own),
    ):
        there = pickle.loads(pickle.dumps(here))
        assert there.n_jobs == 1
        there.slots(subset)
        expected = type(here)(rows, *([here.estimator] if hasattr(here, "estimator") else []))
        one, same = (each.model(subset[0]).probabilities(rows.validation_rows) for each in (there, expected))
        assert one.tolist() == same.tolist()


@pytest.mark.parametrize("foreign", [False, True])
def test_what_was_fitted_in_time_stays_fitted(foreign: bool) -> None:
    now = itertools.count()
    budget = Budget(3, clock=functools.partial(next, now))  # each look at the clock takes a second
    rows = stage_rows(2, n=7)
    kind = (
        functools.partial(ForeignSubclassifiers, rows, GaussianNB())
        if foreign
        else functools.partial(LogisticSubclassifiers, rows)
    )
    ours, whole = kind(budget=budget), kind()
    with pytest.raises(FitsStoppedError):
        ours.slots(subset_masks(7))
    fitted = ours.n_fits
    ours.budget = Budget()
    ours.slots(subset_masks(7))

    assert 0 < fitted < ours.n_fits == 127
    whole.slots(subset_masks(7))
    for subset in subset_masks(7)[::9]:
        own, other = (one.model(subset).probabilities(rows.fit_rows) for one in (ours, whole))
        assert np.array_equal(own, other)


def test_cancelled_fits_say_so_and_can_go_on() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    ours = LogisticSubclassifiers(stage_rows(2), budget=Budget(cancellation=cancellation))
    with pytest.raises(FitsStoppedError):
        ours.slots(subset_masks(4))
    ours.budget = Budget()
    ours.slots(subset_masks(4))

    assert ours.n_fits == 15


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("foreign", [False, True])
def test_fits_behind_one_that_a_cancellation_left_out_are_made_again(dense: bool, foreign: bool) -> None:
    rows, masks = stage_rows(2, n=7), subset_masks(7)

    def fresh() -> LogisticSubclassifiers | ForeignSubclassifiers:
        if foreign:
            return ForeignSubclassifiers(rows, GaussianNB(), dense=dense)
        return LogisticSubclassifiers(rows, dense=dense)

    def without_the_second(units: list[Unit], *_: object, **__: object) -> Iterator[tuple[str, Any]]:
        for unit in [units[0], *units[2:]]:
            yield unit.key, unit.call(*unit.arguments)

    ours, whole = fresh(), fresh()
    room = foreign_subclassifiers if foreign else logistic_fits
    with patch.object(room, "run_units", without_the_second), pytest.raises(FitsStoppedError):
        ours.slots(masks)
    ours.slots(masks)

    for subset in masks[::5]:
        own, other = (one.model(subset).probabilities(rows.fit_rows) for one in (ours, whole))
        assert np.array_equal(own, other)


@pytest.mark.parametrize(
    ("confidence", "sentence"),
    [
        (0.0, r"confidence must be in \(0, 1\], got 0.0"),
        (1.2, r"confidence must be in \(0, 1\], got 1.2"),
        ("high", r"confidence must be in \(0, 1\], got 'high'"),
        ({0: 0.5}, "confidence must hold one threshold per class"),
    ],
)
def test_bad_thresholds_are_refused(confidence: object, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        reject_rule(confidence, np.array([0, 1]))  # type: ignore[arg-type]  # bad on purpose
