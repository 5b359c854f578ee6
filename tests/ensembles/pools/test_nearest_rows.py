"""Nearest rows: the first of equally near ones count, and a few plain lines say the same to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from shortlist.ensembles.pools.nearest_rows import NearestRows
from shortlist.errors import BadInputError
from tests.examples import examples


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
