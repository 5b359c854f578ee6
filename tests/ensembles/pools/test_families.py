"""The ten model families."""

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from shortlist.ensembles.pools.families import FAMILIES, NearestRows, RidgeCovariance
from shortlist.ensembles.pools.fitting import draw_columns, draw_stratified, fit_member
from shortlist.ensembles.pools.plain import OF_TABLES, PLAIN
from shortlist.errors import BadInputError
from tests.examples import examples

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "model-families.md"
CLASSES = np.array(["no", "perhaps", "yes"])


def test_there_are_ten_families() -> None:
    assert len(FAMILIES) == 10


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_states_rows_and_columns_of_every_family(name: str) -> None:
    family = FAMILIES[name]
    kind = "bootstrap" if family.replace else "subsample"
    row = (
        f"| `{name}` | {family.description} | {kind}, {family.rows[0]} to {family.rows[1]} | "
        f"{family.most_rows:,} | {family.columns[0]} to {family.columns[1]} |"
    )

    assert row in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_names_the_class_of_every_family(name: str) -> None:
    built = FAMILIES[name].build(np.random.default_rng(0), 100, 5)
    steps = [step for _, step in built.steps] if hasattr(built, "steps") else [built]
    classes = ", ".join(f"`{type(step).__name__}`" for step in steps)

    assert f"| `{name}` | {classes} |" in PAGE.read_text(encoding="utf-8")


def test_the_page_names_no_family_that_is_not_there() -> None:
    named = re.findall(r"^\| `([^`]+)`", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)

    assert named == [*FAMILIES, *PLAIN, *OF_TABLES] * 2


@pytest.mark.parametrize("name", FAMILIES)
def test_two_seeds_give_different_parameters_and_one_seed_the_same(name: str) -> None:
    first, again, other = (str(_parameters(name, seed)) for seed in (0, 0, 1))

    assert first == again
    assert first != other


@pytest.mark.parametrize("name", FAMILIES)
@examples(8)
@given(
    n_columns=st.integers(1, 4),
    per_class=st.lists(st.integers(2, 6), min_size=2, max_size=3),
    levels=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_every_family_fits_tiny_tables_with_ties_without_a_warning(
    name: str, n_columns: int, per_class: list[int], levels: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    indices = np.repeat(np.arange(len(per_class)), per_class)
    X = rng.integers(0, levels, size=(len(indices), n_columns)).astype(float)
    X.flags.writeable = False

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("error")
        member = fit_member(name, X, indices, CLASSES[: len(per_class)], np.random.SeedSequence(seed))
        probabilities = member.predict_proba(X)

    assert probabilities.shape == (len(X), len(per_class))
    assert np.isfinite(probabilities).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert set(member.predict(X)) <= set(CLASSES)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_learns_a_clear_difference_and_survives_absurd_rows(name: str) -> None:
    rng = np.random.default_rng(0)
    indices = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 6)) + 3 * indices[:, None]
    X[:, 5] = X[:, 4]
    absurd = np.array([[1000.0] * 6, [-1000.0] * 6])
    member = fit_member(name, X, indices, CLASSES[:2], np.random.SeedSequence(1))

    assert (member.predict(X) == CLASSES[indices]).mean() > 0.9
    assert np.isfinite(member.predict_proba(absurd)).all()


@given(
    name=st.sampled_from(list(FAMILIES)),
    per_class=st.lists(st.integers(1, 20), min_size=2, max_size=3),
    seed=st.integers(0, 1000),
)
def test_drawn_rows_hold_every_class_twice_within_the_family_range(
    name: str, per_class: list[int], seed: int
) -> None:
    family = FAMILIES[name]
    indices = np.repeat(np.arange(len(per_class)), per_class)
    rows = draw_stratified(family, indices, np.random.default_rng(seed))

    for index, size in enumerate(per_class):
        drawn = rows[indices[rows] == index]
        assert max(2, round(family.rows[0] * size)) <= len(drawn) <= max(2, round(family.rows[1] * size))
        if not family.replace and size >= 2:
            assert len(set(drawn)) == len(drawn)


def test_large_tables_are_cut_to_the_most_rows_of_a_family() -> None:
    indices = np.repeat([0, 1], [90_000, 10_000])
    rows = draw_stratified(FAMILIES["nearest-neighbours"], indices, np.random.default_rng(0))

    assert len(rows) == 4_000
    assert (indices[rows] == 1).sum() == 400


@given(name=st.sampled_from(list(FAMILIES)), n_columns=st.integers(1, 40), seed=st.integers(0, 1000))
def test_drawn_columns_differ_and_are_within_the_family_range(name: str, n_columns: int, seed: int) -> None:
    low, high = FAMILIES[name].columns
    columns = draw_columns(FAMILIES[name], n_columns, np.random.default_rng(seed))

    assert (np.diff(columns) > 0).all()
    assert max(1, round(low * n_columns)) <= len(columns) <= max(1, round(high * n_columns))


def test_the_ridge_covariance_is_the_stated_mixture() -> None:
    X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])

    expected = 0.75 * np.cov(X.T, bias=True) + 0.25 * np.eye(2)
    assert RidgeCovariance(0.25).fit(X).covariance_ == pytest.approx(expected)


def _parameters(name: str, seed: int) -> dict[str, object]:
    built = FAMILIES[name].build(np.random.default_rng(seed), 100, 5)
    found = dict(built.get_params())
    ridge = found.get("covariance_estimator")
    if isinstance(ridge, RidgeCovariance):
        found["covariance_estimator"] = ridge.r
    return found


def plainly(model: NearestRows, row: list[float]) -> list[float]:
    """The shares of classes, by the definition."""
    sums = []
    for other in model.rows_.tolist():
        total = 0.0
        for a, b in zip(row, other, strict=True):
            total += abs(a - b) if model.p == 1 else (a - b) * (a - b)
        sums.append(total)
    nearest = sorted(range(len(sums)), key=lambda i: (sums[i], i))[: model.n_neighbors]
    away = [math.sqrt(sums[i]) if model.p == 2 else sums[i] for i in nearest]
    shares = [0.0] * len(model.classes_)
    for i, one in zip(nearest, away, strict=True):
        weight = 1.0
        if model.weights == "distance":
            weight = float(one == 0) if away[0] == 0 else away[0] / one
        shares[model.codes_[i]] += weight
    total = 0.0
    for share in shares:
        total += share
    return [share / total for share in shares]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("p", [1, 2])
@examples(40)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 4)),
    levels=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_answers_are_those_of_the_definition_to_the_last_bit(
    weights: str, p: int, shape: tuple[int, int], levels: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_columns = shape
    spread = rng.uniform(0.1, 3, n_columns)  # as if standardised: equal distances of the table are rounded
    rows = rng.integers(0, levels, (n_rows, n_columns)) / spread
    asked = rng.integers(0, levels, (5, n_columns)) / spread
    model = NearestRows(int(rng.integers(1, n_rows + 1)), weights=weights, p=p)
    model.fit(rows, rng.integers(0, 3, n_rows))
    assert model.predict_proba(asked).tolist() == [plainly(model, row) for row in asked.tolist()]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("p", [1, 2])
def test_without_ties_answers_are_those_of_scikit_learn(weights: str, p: int) -> None:
    rng = np.random.default_rng(0)
    rows, classes, asked = rng.normal(size=(80, 4)), rng.integers(0, 3, 80), rng.normal(size=(1500, 4))
    own = NearestRows(7, weights=weights, p=p).fit(rows, classes)
    other = KNeighborsClassifier(7, weights=weights, p=p, algorithm="brute").fit(rows, classes)
    assert own.predict_proba(asked) == pytest.approx(other.predict_proba(asked))
    assert (own.predict(asked) == other.predict(asked)).all()


def test_of_equally_near_rows_the_first_ones_count() -> None:
    rows = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    model = NearestRows(2, weights="uniform", p=1).fit(rows, np.array([0, 1, 1, 1]))
    assert model.predict_proba(np.zeros((1, 1))).tolist() == [[0.5, 0.5]]
    assert model.predict_proba(np.full((1, 1), -1.0)).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("n_neighbors", [0, 3, 5])
def test_more_neighbours_than_rows_are_refused(n_neighbors: int) -> None:
    model = NearestRows(n_neighbors).fit(np.array([[0.0], [1.0]]), np.array([0, 1]))
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(BadInputError, match=f"from 1 to the 2 rows that were fitted, got {n_neighbors}"):
            ask(np.array([[0.5]]))
