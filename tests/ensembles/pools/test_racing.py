"""Large tables: which classifiers race, which win, and what the winners' pool holds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.pools.answers import class_shares
from shortlist.ensembles.pools.fitting import (
    cross_fit,
    encode_rows,
    members_called,
    refit_member,
    refit_members,
)
from shortlist.ensembles.pools.plain import OF_TABLES, USUAL
from shortlist.ensembles.pools.pool import out_of_fold
from shortlist.ensembles.pools.racing import (
    RaceSettings,
    candidate_names,
    drawn_rows,
    race_member,
    raced_pool,
    winners,
)
from shortlist.errors import ShortlistError
from shortlist.runs import Cancellation, Progress, Work, open_study
from tests.ensembles.pools.test_plain import gappy_table
from tests.examples import examples

SMALL = RaceSettings(least_rows=100, n_fitted=60, n_asked=50, n_kept=3, n_boosting=1)


@given(n=st.integers(1, 120), n_boosting=st.integers(0, 20))
def test_candidates_are_as_many_as_asked_for_and_one_in_five_takes_the_whole_table(
    n: int, n_boosting: int
) -> None:
    names = candidate_names(n, n_boosting)
    whole = [name for name in names if name in USUAL or name.rpartition("-")[0] in OF_TABLES]
    assert len(names) == len(set(names)) == n
    assert len(whole) == min(n // 5, len(USUAL) + n_boosting)
    assert candidate_names(n + 7, n_boosting)[:n] == names


@examples(50)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 6), n_first=st.integers(0, 2))
def test_winners_lessen_the_loss_of_the_mean_most_one_after_the_other(
    seed: int, n: int, n_first: int
) -> None:
    """The slow twin: the log loss of every mean, one row after the other."""
    truly = np.random.default_rng(seed).uniform(0.01, 1, (9, 7))
    taken, first = list(range(n_first)), list(range(n_first))
    for _ in range(min(n, 7 - n_first)):
        losses = {
            one: -sum(np.log(np.mean([row[place] for place in [*taken, one]])) for row in truly)
            for one in range(7)
            if one not in taken
        }
        taken.append(min(losses, key=lambda one: losses[one]))
    assert winners(truly, first, n) == taken[n_first:]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 40), st.integers(0, 99))
def test_rows_are_drawn_once_and_each_class_keeps_two_where_it_has_them(
    classes: list[int], n: int, seed: int
) -> None:
    indices, places = np.array(classes), np.arange(len(classes))[::2]
    drawn = drawn_rows(indices, places, n, np.random.default_rng(seed))
    assert len(set(drawn.tolist())) == len(drawn)
    assert set(drawn.tolist()) <= set(places.tolist())
    for one in set(indices[places].tolist()):
        n_drawn, n_there = (int(np.count_nonzero(indices[some] == one)) for some in (drawn, places))
        assert n_drawn >= min(2, n_there)


def test_winners_are_fitted_as_a_pool_of_their_names_is() -> None:
    """The slow twin: the same names fitted by the functions of small tables."""
    X, y = gappy_table(240)
    crossed = raced_pool(X, y, n_classifiers=30, seed=4, work=Work(), settings=SMALL)
    names = crossed.pool.names
    assert {*USUAL, "table-boosting-1"} < set(names)
    assert len(names) == len(USUAL) + 1 + 3
    assert [*names] == [name for name in candidate_names(30, 1) if name in names]
    plainly = members_called(X, y, names, seed=4)
    again = cross_fit(plainly, X, y, folds=crossed.fold_of, random_state=4)
    assert np.array_equal(out_of_fold(crossed, X, class_shares), out_of_fold(again, X, class_shares))
    first, second = (refit_members(pool, X, y, seed=4) for pool in (crossed.pool, plainly))
    assert np.array_equal(class_shares(first, X), class_shares(second, X))


def test_rows_of_a_case_are_in_one_fold_and_workers_change_nothing() -> None:
    X, y = gappy_table(240)
    cases = np.arange(240) // 3
    one = raced_pool(X, y, n_classifiers=12, seed=0, work=Work(), cases=cases, settings=SMALL)
    assert all(len(set(one.fold_of[cases == case])) == 1 for case in range(80))
    other = raced_pool(X, y, n_classifiers=12, seed=0, work=Work(2), cases=cases, settings=SMALL)
    assert one.pool.names == other.pool.names
    assert np.array_equal(out_of_fold(one, X, class_shares), out_of_fold(other, X, class_shares))


def test_a_class_with_one_row_fits_the_race_and_every_fold() -> None:
    X, y = gappy_table(240)
    y[0] = 2
    crossed = raced_pool(X, y, n_classifiers=12, seed=0, work=Work(), settings=SMALL)
    assert crossed.fold_of[0] == -1
    assert crossed.pool.classes.tolist() == [0, 1, 2]


def test_a_stopped_race_goes_on_from_its_study(tmp_path: Any) -> None:
    X, y = gappy_table(240)
    stop = Cancellation()

    def report(event: Progress) -> None:
        if (event.stage, event.done) == ("racing classifiers", 5):
            stop.cancel()

    with open_study(tmp_path / "s.db") as study:
        with pytest.raises(ShortlistError, match="race was stopped after"):
            raced_pool(X, y, n_classifiers=12, seed=0, work=Work(1, study, report, stop), settings=SMALL)
        assert study.n_finished == 5
        again = raced_pool(X, y, n_classifiers=12, seed=0, work=Work(1, study), settings=SMALL)
    whole = raced_pool(X, y, n_classifiers=12, seed=0, work=Work(), settings=SMALL)
    assert whole.pool.names == again.pool.names
    assert np.array_equal(out_of_fold(whole, X, class_shares), out_of_fold(again, X, class_shares))


def test_a_unit_returns_the_probabilities_of_the_true_classes() -> None:
    X, y = gappy_table(120)
    rows = encode_rows(X, y)
    pool = members_called(X, y, ["naive-bayes-1"], seed=0)
    fitted, asked = rows.some(np.arange(60)), rows.some(np.arange(60, 120))
    member = pool.classifiers[0]
    found = np.frombuffer(
        race_member(member, "naive-bayes", fitted.encoded, fitted.indices, asked.encoded, asked.indices, 0)
    )
    again = refit_member(member, "naive-bayes", fitted.encoded, fitted.indices, 0)
    told = again.predict_proba(asked.encoded)
    assert found.tolist() == [told[row, truth] for row, truth in enumerate(asked.indices)]
