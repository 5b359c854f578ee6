"""Fits of several subsets as one call."""

import pickle

import numpy as np
import pytest

from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.logistic_fits import (
    FitRows,
    fit_subsets,
    in_own_units,
    prepared_rows,
    standardised,
)
from shortlist.multistage.subclassifiers.subclassifiers import subset_masks
from tests.layouts import check_rows_stand_alone


def fit_rows(n_scores: int) -> FitRows:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    labels = rng.integers(0, 2 if n_scores == 1 else n_scores, 90)
    encoding = learn_encoding(X, ["a", "b", "c", "d"])
    return prepared_rows(encoding, X, labels, n_scores=n_scores, C=1.0, scale=True)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_a_call_that_was_sent_elsewhere_gives_the_same_coefficients(n_scores: int) -> None:
    rows, subsets = fit_rows(n_scores), subset_masks(4)
    call, arguments = pickle.loads(pickle.dumps((fit_subsets, (rows, subsets))))
    assert call(*arguments).tolist() == fit_subsets(rows, subsets).tolist()


@pytest.mark.parametrize("n_scores", [1, 3])
def test_how_subsets_are_put_together_changes_no_coefficient(n_scores: int) -> None:
    rows, subsets = fit_rows(n_scores), subset_masks(4)
    alone = [fit_subsets(rows, subset[None, :])[0].tolist() for subset in subsets]
    assert fit_subsets(rows, subsets).tolist() == alone


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, -3.0, 1e155, 1e300])
def test_the_unit_of_a_column_makes_no_difference(unit: float) -> None:
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(5, 2, 50), rng.normal(size=50), np.full(50, 7.0), np.zeros(50)])
    other = rows * np.array([unit, 1, unit, 1])
    (plain, *_), (design, centres, spreads) = standardised(rows), standardised(other)

    assert np.allclose(design * np.array([np.sign(unit), 1, 1, 1, 1]), plain, rtol=0, atol=1e-12)
    beta = np.array([0.3, -1.0, 0.0, 0.0, 0.1])  # constants have no coefficient
    own = in_own_units(beta, centres, spreads)
    assert np.allclose(other @ own[:-1] + own[-1], design @ beta, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7, 9, 40, 300])
def test_coefficients_in_own_units_hang_on_no_other_subset(n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    centres, spreads = rng.normal(size=n_columns), rng.uniform(0.1, 10, n_columns)
    check_rows_stand_alone(
        lambda batch: in_own_units(batch, centres, spreads), rng.normal(size=(60, n_columns + 1))
    )


def test_a_time_stamp_with_a_small_spread_is_no_constant() -> None:
    seconds = np.random.default_rng(2).integers(0, 60, (50, 1)).astype(np.float64)
    (plain, *_), (stamps, *_) = standardised(seconds), standardised(seconds + 1.7e9)

    assert np.allclose(stamps, plain, rtol=0, atol=1e-6)


def test_a_constant_stays_a_constant() -> None:
    design, centres, spreads = standardised(np.full((7, 1), 0.1))

    assert (design[:, 0].tolist(), centres.tolist(), spreads.tolist()) == ([0.0] * 7, [0.1], [1.0])
