"""Rows that fit and judge: each is judged by classifiers that were fitted without its fold."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError
from shortlist._bits import unpack
from shortlist.multistage.problem.reject_rules import confident_answers, reject_rule
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    ForeignSubclassifiers,
    SharedSubclassifiers,
    with_gaps,
)
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import (
    DecisionBits,
    StageRows,
    rows_in_folds,
    subset_masks,
)
from shortlist.tables.splits import IN_NO_FOLD, deal_folds

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def folded(n_classes: int, *, n_rows: int = 131) -> tuple[StageRows, np.ndarray]:
    """Return rows in five folds, whose last row is alone in its class, and the order in which they judge."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 4)) + 3
    y = (X @ rng.normal(size=(4, n_classes)) + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)
    fold_of = deal_folds(y, 5, 3)
    fold_of[:4] = IN_NO_FOLD
    order = np.concatenate([np.flatnonzero(fold_of == fold) for fold in range(5)])
    return rows_in_folds(learn_encoding(X, list("abcd")), X, y, fold_of, n_classes), order


def plain(rows: StageRows, subset: np.ndarray, kind: object) -> tuple[np.ndarray, list[object]]:
    """Fit by hand without every fold, and return the probabilities of the rows in the fold."""
    found, models = [], []
    assert rows.fold_of is not None
    for fold in range(5):
        others = rows.fold_of != fold
        model = kind().fit(rows.fit_rows[others][:, subset], rows.fit_labels[others])  # type: ignore[operator]
        models.append(model)
        found.append(model.predict_proba(rows.fit_rows[rows.fold_of == fold][:, subset]))
    return np.concatenate(found), models


def logistic() -> object:
    return make_pipeline(StandardScaler(), LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10))


def tree() -> object:
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["logistic", "tree"])
def test_every_row_is_judged_by_what_was_fitted_without_its_fold(kind: str, n_classes: int) -> None:
    rows, order = folded(n_classes)
    by_hand = {"logistic": logistic, "tree": tree}[kind]
    ours = LogisticSubclassifiers(rows) if kind == "logistic" else ForeignSubclassifiers(rows, TREE)
    rule = reject_rule(0.6, np.arange(n_classes))
    bits = DecisionBits(ours, rule).every_subset()
    answered = 0

    assert rows.validation_rows.tolist() == rows.fit_rows[order].tolist()
    assert rows.validation_labels.tolist() == rows.fit_labels[order].tolist()
    for mask, subset in itertools.islice(enumerate(subset_masks(4), start=1), 2, None, 4):
        expected, _ = plain(rows, subset, by_hand)
        found = ours.validation_probabilities(subset)
        assert np.abs(found - expected).max() < 1e-6
        labels, confident = confident_answers(found, rule)
        assert unpack(bits[mask, 0], len(order)).tolist() == confident.tolist()
        right = confident & (labels == rows.validation_labels)
        assert unpack(bits[mask, 1], len(order)).tolist() == right.tolist()
        answered += int(confident.sum())
        whole = by_hand().fit(rows.fit_rows[:, subset], rows.fit_labels)  # type: ignore[attr-defined]
        model = ours.model(subset)
        expected = whole.predict_proba(rows.fit_rows[:, subset])
        assert np.abs(model.probabilities(rows.fit_rows) - expected).max() < 1e-6
    assert answered


def test_classifiers_that_are_shared_by_all_subsets_judge_rows_that_they_have_not_seen() -> None:
    rows, order = folded(2)
    own = ForeignSubclassifiers(rows, TREE)
    ours = SharedSubclassifiers(own)
    rule = reject_rule(0.6, np.arange(2))
    bits = DecisionBits(ours, rule).every_subset()

    assert ours.n_fits == 5
    for mask, subset in enumerate(subset_masks(4), start=1):
        found = np.empty((len(order), 2))
        for model, part in zip(ours._models, rows.parts, strict=True):
            known = np.tile(subset, (len(rows.validation_labels), 1))
            seen = with_gaps(rows.validation_rows, known)[part.validates]
            found[part.validates] = model.estimator.predict_proba(seen)
        _, confident = confident_answers(found, rule)
        assert unpack(bits[mask, 0], len(order)).tolist() == confident.tolist()
        assert ours.validation_probabilities(subset).tolist() == own.validation_probabilities(subset).tolist()


@pytest.mark.parametrize("kind", ["logistic", "tree"])
def test_rows_that_are_held_out_are_judged_by_what_predicts(kind: str) -> None:
    rows, _ = folded(3)
    held = StageRows(rows.encoding, rows.fit_rows[:80], rows.fit_labels[:80], rows.fit_rows[80:],
                     rows.fit_labels[80:], 3)  # fmt: skip
    ours = LogisticSubclassifiers(held) if kind == "logistic" else ForeignSubclassifiers(held, TREE)
    for subset in subset_masks(4):
        expected = ours.model(subset).probabilities(held.validation_rows)
        assert ours.validation_probabilities(subset).tolist() == expected.tolist()
    assert ours.n_fits == 15


def test_a_class_within_one_fold_is_in_none_so_that_every_classifier_knows_it() -> None:
    rows, _ = folded(3)
    assert rows.fold_of is not None
    labels = rows.fit_labels.copy()
    labels[np.flatnonzero(rows.fold_of == 2)[:2]] = 3
    found = rows_in_folds(rows.encoding, rows.fit_rows, labels, rows.fold_of, 4)

    assert found.fold_of is not None
    assert set(found.fold_of[labels == 3].tolist()) == {IN_NO_FOLD}
    assert len(found.validation_labels) == len(rows.validation_labels) - 2
    assert all(set(part.labels.tolist()) == {0, 1, 2, 3} for part in found.parts)
    few = rows_in_folds(
        rows.encoding, rows.fit_rows, rows.fit_labels, np.where(rows.fold_of == 1, 2, rows.fold_of), 3
    )
    assert len(few.runs) == 4
    assert sum(run.stop - run.start for run in few.runs) == len(rows.validation_labels)
    alone = np.arange(3)
    with pytest.raises(BadInputError, match="some class needs 2 rows, one to fit and one to validate"):
        rows_in_folds(rows.encoding, rows.fit_rows[:3], alone, np.zeros(3, dtype=np.int8), 3)
