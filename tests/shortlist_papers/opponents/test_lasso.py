"""LASSO paths against scikit-learn's own."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression

from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist_papers.opponents._miser_kernels import minimise_quadratic
from shortlist_papers.opponents.lasso import PAPERS_PENALTIES, lasso_path, least_empty_penalty


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_path_is_scikit_learns(n_classes: int) -> None:
    X, y = make_classification(
        120, 6, n_informative=4, n_redundant=1, n_classes=n_classes, flip_y=0.2, random_state=3
    )
    design, _, _ = standardised(X)
    penalties = (20.0, 5.0, 1.0)
    for penalty, found in zip(penalties, lasso_path(design, y, n_classes, penalties), strict=True):
        theirs = LogisticRegression(
            l1_ratio=1, C=1 / penalty, solver="saga", max_iter=100_000, tol=1e-7, random_state=0
        ).fit(design[:, :-1], y)
        assert found[:, :-1] == pytest.approx(theirs.coef_, abs=1e-4)
        ours = design @ found.T
        assert ours - ours.mean(axis=1, keepdims=True) == pytest.approx(
            theirs.decision_function(design[:, :-1]).reshape(ours.shape)
            - theirs.decision_function(design[:, :-1]).reshape(ours.shape).mean(axis=1, keepdims=True),
            abs=1e-3,
        )


def test_without_a_penalty_it_is_the_maximum_likelihood() -> None:
    X, y = make_classification(100, 3, n_informative=3, n_redundant=0, flip_y=0.3, random_state=0)
    design, _, _ = standardised(X)
    (found,) = lasso_path(design, y, 2, [0.0])
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(design[:, :-1], y)
    assert found[0, :-1] == pytest.approx(theirs.coef_[0], abs=1e-4)


def test_classes_that_can_be_separated_end_without_a_penalty_too() -> None:
    X, y = load_iris(return_X_y=True)
    design, _, _ = standardised(X[y < 2])
    *_, found = lasso_path(design, y[y < 2], 2, [1.0, 0.0])
    assert np.isfinite(found).all()
    assert ((design @ found[0] > 0) == y[y < 2]).all()


def test_the_least_penalty_that_leaves_everything_out_is_the_least() -> None:
    X, y = make_classification(90, 5, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1)  # fmt: skip
    design, _, _ = standardised(X)
    edge = least_empty_penalty(design, y, 3)
    out, inside = lasso_path(design, y, 3, [edge * 1.001, edge * 0.99])
    assert not out[:, :-1].any()
    assert inside[:, :-1].any()


def test_the_quadratic_is_minimised_as_by_its_conditions() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    curvature, gradient, start = root @ root.T, rng.normal(size=5), rng.normal(size=5)
    penalties, beta, slope = np.array([0.5, 0.5, 0.5, 0.5, 0.0]), start.copy(), gradient.copy()
    minimise_quadratic(curvature, slope, penalties, beta, 1e-12)
    at_end = gradient + curvature @ (beta - start)
    assert slope == pytest.approx(at_end, abs=1e-8)
    for j in range(5):  # the subgradient holds 0
        if beta[j] == 0:
            assert abs(at_end[j]) <= penalties[j] + 1e-8
        else:
            assert at_end[j] == pytest.approx(-np.sign(beta[j]) * penalties[j], abs=1e-8)


def test_the_papers_penalties_are_those_of_the_paper() -> None:
    assert len(PAPERS_PENALTIES) == 1001
    assert sorted(PAPERS_PENALTIES)[:3] == [0, 0.1, 0.2]
    assert max(PAPERS_PENALTIES) == 100
