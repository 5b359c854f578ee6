"""Classifiers with plain settings: words as categories, gaps as gaps, and their export."""

import importlib.util
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from shortlist.ensembles.pools.encoder import MISSING, FoldedColumns, fit_table
from shortlist.ensembles.pools.fitting import cross_fit, fit_member, make_pool, refit_members
from shortlist.ensembles.pools.plain import PLAIN, USUAL, PlainBoosting, with_plain
from shortlist.errors import MissingDependencyError
from shortlist.export import reader
from shortlist.export.member_numbers import numbers_of
from tests.examples import examples


def gappy_table(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Words, numbers, and gaps in both; the class hangs on all of them."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    size, age = rng.normal(size=n), rng.normal(50, 10, n)
    code = rng.choice([f"c{k:02}" for k in range(40)], n).astype(object)
    y = ((colour == "red") | (size > 0.7) | (age > 60)).astype(int)
    colour[rng.random(n) < 0.1] = None
    age[rng.random(n) < 0.2] = np.nan
    y[np.isnan(age)] = 1
    return pd.DataFrame({"size": size, "colour": colour, "age": age, "code": code}), y


def plainly_unfolded(frame: pd.DataFrame, fitted: pd.DataFrame) -> list[list[object]]:
    """The cells of a table: words as they count (rare ones share one), gaps of numbers as None."""
    seen = {name: fitted[name].fillna(MISSING).value_counts() for name in ("colour", "code")}
    rows = []
    for _, row in frame.iterrows():
        cells: list[object] = []
        for name in ("colour", "code"):
            word = MISSING if pd.isna(row[name]) else row[name]
            ranked = sorted(seen[name].items(), key=lambda one: (-one[1], one[0]))
            rare = len(ranked) > 30 and word not in [one for one, _ in ranked[:29]]
            cells.append("rare" if rare else word)
        cells.extend(None if pd.isna(row[name]) else row[name] for name in ("size", "age"))
        rows.append(cells)
    return rows


def test_unfolding_gives_one_column_for_each_feature_with_equal_words_equal_and_gaps_back() -> None:
    frame, _ = gappy_table()
    encoder = fit_table(frame)
    unfolded = encoder.folded.unfold(encoder.transform(frame))
    expected = plainly_unfolded(frame, frame)

    assert unfolded.shape == (200, 4)
    for place in (0, 1):
        pairs = {(row[place], code) for row, code in zip(expected, unfolded[:, place], strict=True)}
        if place == 0:
            assert len(pairs) == len({word for word, _ in pairs}) == len({code for _, code in pairs}) == 5
        else:  # of words that are equally rare scikit-learn decides which of them is rare
            assert len({code for _, code in pairs}) == 30
    for place, name in ((2, "size"), (3, "age")):
        gap = np.isnan(unfolded[:, place])
        assert gap.tolist() == frame[name].isna().tolist()
        order = frame[name][~gap].argsort()
        assert (np.diff(unfolded[~gap, place][order]) >= 0).all()


def test_numbers_without_gaps_stay_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    encoder = fit_table(X)

    assert encoder.folded == FoldedColumns()
    assert np.array_equal(encoder.folded.unfold(encoder.transform(X)), encoder.transform(X))


def test_a_word_that_was_not_fitted_on_is_a_gap() -> None:
    encoder = fit_table(pd.DataFrame({"word": ["a", "b", "a"]}))
    encoded = encoder.transform(pd.DataFrame({"word": ["b", "new"]}))

    assert encoder.folded.unfold(encoded).ravel().tolist() == pytest.approx([1, np.nan], nan_ok=True)


@examples(12)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 3),
    n_rows=st.integers(12, 150),
    kept=st.sampled_from([["colour", "code"], ["size", "age"], ["age", "colour", "size", "code"]]),
)
def test_exported_numbers_answer_as_boosting_over_words_and_gaps_does(
    seed: int, n_classes: int, n_rows: int, kept: list[str]
) -> None:
    frame, y = gappy_table(n_rows + 20, seed)
    fitted, asked = frame[kept][:n_rows], frame[kept][n_rows:]
    encoder = fit_table(fitted)
    places = np.random.default_rng(seed).integers(0, n_classes, n_rows)
    y = np.where(y[:n_rows] == 1, 0, places)
    y[:n_classes] = range(n_classes)
    model = PlainBoosting(encoder.folded, random_state=1).fit(encoder.transform(fitted), y)
    others = encoder.transform(asked)
    others[0] = 0  # a row with no known word

    found = [reader._score(numbers_of(model), row.tolist()) for row in others]

    assert np.array(found) == pytest.approx(model.predict_proba(others), abs=1e-12)


def test_boosting_on_words_and_gaps_learns_them() -> None:
    frame, y = gappy_table(2000)
    encoder = fit_table(frame[:1000])
    model = PlainBoosting(encoder.folded).fit(encoder.transform(frame[:1000]), y[:1000])

    assert (model.predict(encoder.transform(frame[1000:])) == y[1000:]).mean() > 0.9
    assert 0 < model.trees_.n_iter_ < 500


@pytest.mark.parametrize(("n_rows", "stops"), [(19, False), (20, True)])
def test_a_tenth_is_held_out_from_ten_rows_a_class_on(n_rows: int, stops: bool) -> None:
    X, y = np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2

    assert PlainBoosting().fit(X, y).trees_.do_early_stopping_ == stops


@pytest.mark.parametrize("name", USUAL)
@examples(8)
@given(
    n_columns=st.integers(1, 4),
    per_class=st.lists(st.integers(2, 6), min_size=2, max_size=3),
    levels=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_every_plain_classifier_fits_tiny_tables_with_ties_without_a_warning(
    name: str, n_columns: int, per_class: list[int], levels: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    indices = np.repeat(np.arange(len(per_class)), per_class)
    X = rng.integers(0, levels, size=(len(indices), n_columns)).astype(float)
    X.flags.writeable = False
    classes = np.array(["no", "perhaps", "yes"])[: len(per_class)]

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("error")
        member = fit_member(name, X, indices, classes, np.random.SeedSequence(seed))
        probabilities = member.predict_proba(X)

    assert probabilities.shape == (len(X), len(per_class))
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert member.columns is not None
    if np.ptp(X, axis=0).any():
        assert member.columns.tolist() == list(range(n_columns))


def test_plain_classifiers_see_all_rows_and_columns_where_fitted_again_and_without_folds() -> None:
    frame, y = gappy_table(120)
    frame["same"] = "constant"
    pool = make_pool(frame, y, n_classifiers=20)
    width = pool.preprocessor.transform(frame).shape[1]  # type: ignore[union-attr]
    pools = [pool, refit_members(pool, frame, y), *cross_fit(pool, frame, y, folds=3).without_fold]

    for one in pools:
        for name, member in zip(one.names, one.classifiers, strict=True):
            if name in USUAL:
                assert member.columns.tolist() == list(range(width))
                assert member.predict_proba(pool.preprocessor.transform(frame)).shape == (120, 2)  # type: ignore[union-attr]


def test_unknown_settings_are_cloned_with_the_columns_that_belong_together() -> None:
    folded = FoldedColumns(((0, 1),), ((2, 5),))

    given = {"folded": folded, "learning_rate": 0.2, "max_features": 0.5, "random_state": 3}
    model = clone(PlainBoosting(folded, learning_rate=0.2, max_features=0.5, random_state=3))
    assert {name: value for name, value in model.get_params().items() if name in given} == given


@given(n=st.integers(0, 60), n_plain=st.integers(0, 6), n_drawn=st.integers(1, 11))
def test_plain_classifiers_are_at_most_one_in_five_and_drawn_ones_keep_their_turns(
    n: int, n_plain: int, n_drawn: int
) -> None:
    drawn, plain = [f"d{k}" for k in range(n_drawn)], [f"p{k}" for k in range(n_plain)]
    found = with_plain(drawn, plain, n)

    assert len(found) == n
    assert [one for one in found if one in plain] == plain[: n // 5]
    others = [one for one in found if one in drawn]
    assert others == [drawn[k % n_drawn] for k in range(len(others))]
    assert found == with_plain(drawn, plain, n + 7)[:n]


@pytest.mark.parametrize("name", [name for name in PLAIN if name not in USUAL])
def test_other_packages_are_asked_for_by_name_and_fit_where_installed(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}")
    frame, y = gappy_table(120)
    pool = make_pool(frame, y, n_classifiers=5, plain=(name,))

    assert pool.names[-1] == name
    assert (pool.classifiers[-1].predict(pool.preprocessor.transform(frame)) == y).mean() > 0.9  # type: ignore[union-attr]


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shortlist.ensembles.pools.plain.importlib.util.find_spec", lambda _name: None)

    with pytest.raises(MissingDependencyError, match=r"needs the xgboost package\. Install it"):
        make_pool(np.arange(20.0)[:, None], np.arange(20) % 2, n_classifiers=5, plain=("xgboost",))
