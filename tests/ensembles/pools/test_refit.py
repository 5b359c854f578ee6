"""Classifiers that are fitted again: on all rows, and without each fold, and what those answer."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist import BadInputError
from shortlist.ensembles import make_pool
from shortlist.ensembles.pools.answers import class_answers, class_probabilities
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.fitting import cross_fit, refit_members
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, out_of_fold
from shortlist.errors import ShortlistError
from shortlist.runs import Cancellation, Progress, open_study
from shortlist.tables.splits import IN_NO_FOLD, deal_folds

X, Y = make_classification(300, 6, n_informative=4, random_state=1)
ROWS, KINDS = make_classification(90, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=2)


def test_every_family_is_fitted_again_with_its_own_parameters_and_columns() -> None:
    pool = make_pool(X[::3], Y[::3], n_classifiers=len(FAMILIES))

    events: list[Progress] = []

    again = refit_members(pool, X, Y, report=events.append)

    assert [(event.done, event.total) for event in events] == [
        (done, len(FAMILIES)) for done in range(len(FAMILIES) + 1)
    ]
    assert again.names == pool.names
    assert again.preprocessor is pool.preprocessor
    for before, after in zip(pool.classifiers, again.classifiers, strict=True):
        given, again_given = before.estimator.get_params(), after.estimator.get_params()
        plain = {name: value for name, value in given.items() if isinstance(value, (int, float, str))}
        assert plain.items() <= again_given.items()
        assert np.array_equal(after.columns, before.columns)
    changed = (class_probabilities(pool, X) != class_probabilities(again, X)).any(axis=(0, 2))
    assert changed.all()


def test_the_same_seed_fits_the_same_members() -> None:
    pool = make_pool(X[::3], Y[::3], n_classifiers=4)

    first, second = (class_probabilities(refit_members(pool, X, Y, seed=3), X) for _ in range(2))

    assert np.array_equal(first, second)


@pytest.fixture(scope="module")
def crossed() -> CrossFittedPool:
    return cross_fit(make_pool(ROWS, KINDS, n_classifiers=len(FAMILIES)), ROWS, KINDS, random_state=3)


def test_every_row_is_answered_by_classifiers_that_were_fitted_without_its_fold(
    crossed: CrossFittedPool,
) -> None:
    answers = out_of_fold(crossed, ROWS, class_probabilities)

    for fold in range(5):
        held = crossed.fold_of == fold
        fitted_anew = refit_members(crossed.pool, ROWS[~held], KINDS[~held], seed=3)
        assert np.array_equal(answers[held], class_probabilities(fitted_anew, ROWS[held]))
    everything = class_probabilities(crossed.pool, ROWS)
    assert (answers != everything).any(axis=(0, 2)).all()


def test_folds_are_dealt_by_class_and_a_lonely_class_is_in_none() -> None:
    y = np.append(KINDS, 7)
    fold_of = deal_folds(y, 5, 0)

    assert fold_of[-1] == IN_NO_FOLD
    for label in range(3):
        sizes = np.bincount(fold_of[y == label], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(deal_folds(y, 5, 0), fold_of)
    assert not np.array_equal(deal_folds(y, 5, 1), fold_of)
    assert set(deal_folds(np.array([0, 0, 1]), 5, 0).tolist()) == {0, 1, IN_NO_FOLD}
    with pytest.raises(BadInputError, match="a class needs at least 2 rows"):
        deal_folds(np.arange(3), 5, 0)


def test_a_class_with_one_row_fits_every_fold() -> None:
    y = np.append(KINDS[:40], 7)
    crossed = cross_fit(make_pool(ROWS[:41], y, n_classifiers=3), ROWS[:41], y)

    assert crossed.fold_of[-1] == IN_NO_FOLD
    for pool in crossed.without_fold:
        assert class_probabilities(pool, ROWS[40:41])[0, :, 3].max() > 0
    in_folds = crossed.of_rows(np.arange(40))
    assert out_of_fold(in_folds, ROWS[:40], class_answers).shape == (40, 3)


@pytest.mark.parametrize("n_rows", [12, 24])
def test_few_rows_are_enough_for_every_family(n_rows: int) -> None:
    pool = make_pool(ROWS[:n_rows], KINDS[:n_rows] > 0, n_classifiers=len(FAMILIES), random_state=1)

    crossed = cross_fit(pool, ROWS[:n_rows], KINDS[:n_rows] > 0)

    answers = out_of_fold(crossed, ROWS[:n_rows], class_probabilities)
    assert np.allclose(answers.sum(axis=2), 1)


def test_a_pool_fitted_elsewhere_answers_as_it_is(crossed: CrossFittedPool) -> None:
    assert np.array_equal(out_of_fold(crossed.pool, ROWS, class_answers), class_answers(crossed.pool, ROWS))
    assert whole_pool(crossed) is crossed.pool
    assert whole_pool(crossed.pool) is crossed.pool


def test_other_rows_are_refused() -> None:
    pool = make_pool(ROWS, KINDS, n_classifiers=1)
    with pytest.raises(BadInputError, match="got 90 and 89 rows"):
        cross_fit(pool, ROWS, KINDS[1:])
    with pytest.raises(BadInputError, match="folds must be at least 2"):
        cross_fit(pool, ROWS, KINDS, folds=1)


def test_a_study_goes_on_in_the_fold_where_it_was_stopped(tmp_path: Any) -> None:
    pool = make_pool(ROWS, KINDS, n_classifiers=2)
    cancellation, told = Cancellation(), []

    def stop(event: Progress) -> None:
        told.append((event.stage, event.done))
        if told[-1] == ("fitting fold 2 of 3", 1):
            cancellation.cancel()

    with open_study(tmp_path / "s.db") as study:
        with pytest.raises(ShortlistError, match="stopped in fold 2 of 3"):
            cross_fit(pool, ROWS, KINDS, folds=3, study=study, report=stop, cancellation=cancellation)
        assert study.n_finished == 3
        again = cross_fit(pool, ROWS, KINDS, folds=3, study=study)
    plain = cross_fit(pool, ROWS, KINDS, folds=3)

    first, second = (out_of_fold(one, ROWS, class_probabilities) for one in (again, plain))
    assert np.array_equal(first, second)
