"""Fits of several subsets as one call."""

import pickle

import numpy as np
import pytest

from shortlist.multistage.subclassifiers.decision_bits import subset_masks
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.logistic_fits import FitRows, fit_subsets, prepared_rows


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
