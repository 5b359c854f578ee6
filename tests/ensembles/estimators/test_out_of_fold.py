"""Committees that are chosen by answers out of fold: what is chosen, what answers, and what is rechecked."""

import copy
import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist import BadInputError, SelectiveClassifier, Status
from shortlist.ensembles import ExactPruner, make_pool, verify
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.pools.answers import class_answers, class_probabilities
from shortlist.ensembles.pools.fitting import cross_fit, refit_members
from shortlist.ensembles.pools.pool import out_of_fold
from shortlist.ensembles.pruned_table import prune_table
from shortlist.ensembles.votes.soft_votes import WHOLE, fitted_factors, whole_shares
from shortlist.saved_models import SavedModel, load_model, save_model
from shortlist.tables.splits import deal_folds, keep_rows_apart
from shortlist_papers import OrderedPruner
from tests.stored import Stored

X, Y = make_classification(240, 6, n_informative=4, flip_y=0.15, random_state=3)


FLOWERS, KINDS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def folded() -> ExactPruner:
    pruned = ExactPruner(pruning_rows="out-of-fold", n_classifiers=6, max_size=3, min_size=3, random_state=4)
    return pruned.fit(X, Y)


def test_members_are_chosen_by_answers_out_of_fold(folded: ExactPruner) -> None:
    pool = make_pool(X, Y, n_classifiers=6, random_state=4)
    fold_of = deal_folds(Y, 5, 4)
    table = np.empty((len(Y), 6, 2))
    for fold in range(5):
        others = fold_of != fold
        table[~others] = class_probabilities(refit_members(pool, X[others], Y[others], seed=4), X[~others])
    own = whole_shares(table)[np.arange(len(Y)), :, Y] / WHOLE

    losses = {
        members: -np.log(np.maximum(own[:, members].mean(axis=1), 1e-15)).mean()
        for members in itertools.combinations(range(6), 3)
    }

    assert tuple(np.flatnonzero(folded.selection_).tolist()) == min(losses, key=losses.__getitem__)
    assert folded.objective_value_ == pytest.approx(min(losses.values()), abs=1e-5)
    assert folded.status_ is Status.OPTIMAL
    assert folded.counted_on == "out-of-fold answers of 240 rows"
    refitted = refit_members(pool.subset(folded.selection_), X, Y, seed=4)
    calibration = fitted_factors(table[:, folded.selection_].mean(axis=1), Y)  # by answers out of fold, too
    mean = class_probabilities(refitted, X).mean(axis=1)
    assert folded.calibration_ == calibration
    assert np.array_equal(folded.predict_proba(X), calibration.of(mean))


def test_without_a_refit_members_answer_as_the_pool_has_them() -> None:
    made = ExactPruner(pruning_rows="out-of-fold", n_classifiers=4, refit=False, random_state=0)
    pruned = made.set_params(probabilities="mean").fit(X, Y)
    pool = make_pool(X, Y, n_classifiers=4, random_state=0).subset(pruned.selection_)

    assert np.array_equal(pruned.predict_proba(X), class_probabilities(pool, X).mean(axis=1))
    assert verify(pruned, X, Y).failures == ()


@pytest.mark.parametrize(
    "options", [{"objective": "accuracy"}, {"objective": "accuracy", "voting": "averaged"}]
)
@pytest.mark.parametrize("several", [False, True])
def test_votes_may_be_out_of_fold_too(options: Any, several: bool) -> None:
    rows, classes = (FLOWERS[::2], KINDS[::2]) if several else (X, Y)
    pruned = ExactPruner(
        pruning_rows="out-of-fold", n_classifiers=5, node_limit=50, random_state=0, **options
    )
    pruned.fit(rows, classes)

    crossed = pruned.cross_fitted_
    assert crossed is not None
    found = verify(pruned, rows, classes)
    assert found.failures == ()
    assert found.value == pruned.objective_value_
    assert "out-of-fold answers" in found.evidence.sentence()  # type: ignore[union-attr]
    if pruned.voting_ == "hard":
        decided, _ = pruned.chosen_.predict_as_chosen(rows)
        assert (decided == classes).mean() == pytest.approx(found.value)


def test_verify_asks_the_members_of_each_fold(folded: ExactPruner, stored: Stored) -> None:
    order = np.random.default_rng(0).permutation(len(Y))
    found = verify(folded, X[order], Y[order])

    assert found.failures == ()
    assert found.out_of_fold
    stored(*found.notes)
    crossed = cross_fit(make_pool(X, Y, n_classifiers=6, random_state=4), X, Y, random_state=4)
    assert verify(folded, X, Y, pool=crossed).failures == ()
    for other in (crossed.pool, dataclasses.replace(crossed, fold_of=crossed.fold_of[::-1])):
        with pytest.raises(BadInputError, match="which the pool that was given cannot repeat"):
            verify(folded, X, Y, pool=other)


def test_verify_notices_members_of_another_fold(folded: ExactPruner) -> None:
    changed = copy.copy(folded)
    crossed = folded.cross_fitted_
    assert crossed is not None
    changed.cross_fitted_ = dataclasses.replace(crossed, without_fold=crossed.without_fold[::-1])

    failures = verify(changed, X, Y).failures

    assert len(failures) == 1
    assert "rows that it was pruned on the classifiers find other probabilities" in failures[0]


def test_a_class_with_one_row_takes_no_part_in_pruning() -> None:
    classes = np.append(KINDS[::3], "another")
    rows = np.vstack([FLOWERS[::3], FLOWERS[:1]])
    pruned = ExactPruner(pruning_rows="out-of-fold", n_classifiers=3, random_state=0).fit(rows, classes)

    assert pruned.validation_.rows.tolist() == list(range(len(rows) - 1))
    assert verify(pruned, rows, classes).failures == ()


def test_a_cross_fitted_pool_serves_several_objectives() -> None:
    crossed = cross_fit(make_pool(X, Y, n_classifiers=4), X, Y)
    by_default = ExactPruner(crossed, random_state=0).fit(X, Y)

    assert by_default.cross_fitted_ is not None
    assert by_default.pool_ is not by_default.chosen_pool_
    assert ExactPruner(crossed, objective="accuracy", random_state=0).fit(X, Y).voting_ == "hard"
    with pytest.raises(BadInputError, match="the 240 rows that it was fitted on, got 239 rows"):
        ExactPruner(crossed).fit(X[1:], Y[1:])
    ruled = OrderedPruner(crossed).fit(X, Y)
    right = out_of_fold(crossed, X, class_answers) == Y[:, None]
    assert ruled.members_[0] == right.sum(axis=0).argmax()


def test_which_rows_prune_is_a_choice() -> None:
    with pytest.raises(BadInputError, match="pruning_rows must be one of"):
        ExactPruner(pruning_rows="folds").fit(X, Y)
    with pytest.raises(BadInputError, match="pruning_rows must be 'auto' or 'held-out' with a pool of your"):
        ExactPruner(make_pool(X, Y, n_classifiers=2), pruning_rows="out-of-fold").fit(X, Y)
    held_out = ExactPruner(pruning_rows="held-out", n_classifiers=2, random_state=0).fit(X, Y)
    assert held_out.cross_fitted_ is None
    assert len(held_out.validation_.rows) == 72


@pytest.mark.parametrize(
    ("options", "n_rows", "expected"),
    [
        ({}, 2000, True),
        ({}, 2001, False),
        ({"pruning_rows": "out-of-fold"}, 10**6, True),
        ({"pruning_rows": "held-out"}, 100, False),
        ({"objective": "brier"}, 100, True),
        ({"objective": "accuracy"}, 100, False),
        ({"objective": "accuracy", "voting": "averaged"}, 100, False),
        ({"diversity": "each"}, 100, False),
    ],
)
def test_means_on_few_rows_are_chosen_out_of_fold_by_default(
    options: Any, n_rows: int, expected: bool
) -> None:
    assert ExactPruner(**options).prunes_out_of_fold(n_rows) is expected


def test_a_promise_rests_on_rows_that_fitted_and_chose_nothing() -> None:
    committee = ExactPruner(pruning_rows="out-of-fold", n_classifiers=4, random_state=0)
    selective = SelectiveClassifier(committee, answer_accuracy=0.6, random_state=0).fit(X, Y)

    _, calibration = keep_rows_apart(len(Y), 0.25, 0)
    assert selective.guarantee_.n_rows == len(calibration)
    assert len(selective.classifier_.validation_.rows) == len(Y) - len(calibration)
    chosen, probabilities = selective.classifier_.chosen_.predict_as_chosen(np.delete(X, calibration, axis=0))
    assert (chosen != selective.classifier_.predict(np.delete(X, calibration, axis=0))).any()
    assert np.array_equal(probabilities.argmax(axis=1), chosen)


def test_a_saved_committee_is_rechecked_by_its_folds(tmp_path: Any, folded: ExactPruner) -> None:
    save_model(SavedModel(folded, tuple(f"c{k}" for k in range(6)), "y"), tmp_path / "model.joblib")

    loaded = load_model(tmp_path / "model.joblib").estimator

    assert np.array_equal(loaded.predict_proba(X), folded.predict_proba(X))
    assert verify(loaded, X, Y).failures == ()
    assert exit_report(loaded.committee).n_rows == len(Y)  # type: ignore[union-attr]


def test_all_rows_of_a_table_fit_choose_and_measure() -> None:
    committee = ExactPruner(pruning_rows="out-of-fold", random_state=0)
    pruned = prune_table(X, Y, committee, n_classifiers=4)

    assert pruned.n_rows == {
        "test": 240, "folds": 5, "parts": 2, "partitions": 10, "train": 240, "validation": 240,
    }  # fmt: skip
    assert set(pruned.test) == {"pruned", "full", "best_single", "backfitting"}
    made = pruned.pruner
    assert isinstance(made, ExactPruner)
    assert made.pool_ is not made.chosen_pool_
    assert verify(made, X, Y).failures == ()
    assert np.array_equal(pruned.pool.subset(made.selection_).names, made.pool_.names)
