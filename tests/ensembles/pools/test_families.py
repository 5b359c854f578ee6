"""The ten model families."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from shortlist.ensembles.pools.families import FAMILIES, RidgeCovariance
from shortlist.ensembles.pools.fitting import draw_columns, draw_stratified, fit_member
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

    assert named == [*FAMILIES, *FAMILIES]


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
