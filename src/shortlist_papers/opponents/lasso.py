"""Logistic regressions with an ℓ1 penalty: paths over the penalty, and two opponents that use the paths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_not_negative
from shortlist.arrays import Floats, Longs
from shortlist.multistage.subclassifiers.logistic_fits import (
    LogisticModel,
    LogisticSubclassifiers,
    in_own_units,
    standardised,
)
from shortlist.pickles import saved_from
from shortlist_papers.opponents._miser_kernels import minimise_quadratic
from shortlist_papers.opponents.budgeted_classifier import (
    AskedOpponent,
    BudgetedClassifier,
    Candidates,
    OneSubset,
    tried,
)
from shortlist_papers.opponents.greedy_miser import feature_of_columns, score_probabilities

PAPERS_PENALTIES = tuple(step / 10 for step in range(1000, -1, -1))
"""Penalties λ in {0, 0.1, ..., 100}, the largest first (Section 4.3 of :cite:t:`Hamilton2022`)."""
MOST_NEWTON_STEPS = 50


def lasso_path(
    design: Floats, labels: Longs, n_classes: int, penalties: Sequence[float], *, tolerance: float = 1e-7
) -> Iterator[Floats]:
    """Yield the coefficients of ℓ1 logistic regression for each penalty, each fit started from the last.

    Minimises Σ_i loss_i + λ Σ |β|. The loss is the negative log-likelihood of two classes with one score, or
    of more classes with one score each. The last column, the ones, has no penalty. A step is Newton's: the
    quadratic at the current point with the penalty, minimised by coordinate descent (:cite:t:`Friedman2010`),
    and halved until the objective falls.

    `design`: standardised columns, ones last, ``(n_rows, n_columns + 1)``. `labels`: class indices,
    ``(n_rows,)``. `penalties`: λ, at least 0, best from large to small. `tolerance`: the fit of a penalty
    ends when Newton's step lowers the objective by less than `tolerance` times 1 + the objective.
    `coefficients`, which it yields: a new array for each penalty, ``(n_scores, n_columns + 1)``; the
    intercepts of several classes sum to 0. If λ is 0 and the classes can be separated there is no minimum;
    the result is the point after 50 steps.
    """
    n_scores = 1 if n_classes == 2 else n_classes
    indicators = np.eye(n_classes)[labels]
    targets = indicators[:, 1:] if n_scores == 1 else indicators
    beta = np.zeros(n_scores * design.shape[1])
    bears = np.ones((n_scores, design.shape[1]))
    bears[:, -1] = 0.0
    for penalty in penalties:
        weights = penalty * bears.ravel()
        value = _objective(design, targets, beta, weights)
        for _ in range(MOST_NEWTON_STEPS):
            gradient, curvature = _expansion(design, targets, beta)
            new = beta.copy()
            minimise_quadratic(curvature, gradient, weights, new, 1e-9 * len(design))
            step, new_value = new - beta, np.inf
            for halving in range(30):
                new = beta + step / 2**halving
                new_value = _objective(design, targets, new, weights)
                if new_value <= value:
                    break
            gained = value - new_value
            if gained >= 0:
                beta, value = new, new_value
            if gained <= tolerance * (1 + abs(value)) * 1e-2:
                break
        if n_scores > 1:  # a constant on all of them changes nothing
            beta[design.shape[1] - 1 :: design.shape[1]] -= beta[
                design.shape[1] - 1 :: design.shape[1]
            ].mean()
        yield beta.reshape(n_scores, -1).copy()


def _objective(design: Floats, targets: Floats, beta: Floats, weights: Floats) -> float:
    """Return the penalised negative log-likelihood."""
    scores = design @ beta.reshape(targets.shape[1], -1).T
    if scores.shape[1] == 1:
        loss = np.logaddexp(0.0, scores).sum() - (scores * targets).sum()
    else:
        largest = scores.max(axis=1)
        loss = (largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))).sum()
        loss -= (scores * targets).sum()
    return float(loss + weights @ np.abs(beta))


def _expansion(design: Floats, targets: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return gradient and Hessian of the negative log-likelihood, ordered class by class."""
    n_scores, size = targets.shape[1], design.shape[1]
    scores = design @ beta.reshape(n_scores, -1).T
    p = score_probabilities(scores, "logistic")
    p = p[:, 1:] if n_scores == 1 else p
    gradient = np.ascontiguousarray(((p - targets).T @ design).ravel())
    curvature = np.empty((n_scores * size, n_scores * size))
    for k in range(n_scores):
        for other in range(k, n_scores):
            weights = p[:, k] * ((k == other) - p[:, other])
            block = design.T @ (weights[:, None] * design)
            curvature[k * size : (k + 1) * size, other * size : (other + 1) * size] = block
            curvature[other * size : (other + 1) * size, k * size : (k + 1) * size] = block
    return gradient, curvature


def _subset(beta: Floats, feature_of: Longs, n_features: int) -> NDArray[np.bool_]:
    subset = np.zeros(n_features, dtype=bool)
    subset[feature_of[(beta[:, :-1] != 0).any(axis=0)]] = True
    return subset


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class CactLasso(BudgetedClassifier):
    """CaCT LASSO: one stage of ℓ1 logistic regression, tuned for cost and coverage, with a terminal reject.

    Section 4.3 of :cite:t:`Hamilton2022`: all rows buy the features whose coefficients are not 0, and λ has
    the largest g1 + g2 + (1 - g3* / ΣC) on the validation rows.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `penalty`: λ, at least 0: see :func:`lasso_path`. Of
    several values one is chosen by tuning; default: 0, 0.1, ..., 100.

    The paper states neither whether its loss is a sum or a mean, nor whether columns were scaled: here it is
    a sum, over standardised columns.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> lasso = CactLasso(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> bool(lasso.predict_cost(X).max() < 12)
    True
    """

    CHECKS = BudgetedClassifier.CHECKS | {"penalty": partial(tried, check=as_not_negative)}

    penalty: float | Sequence[float] = PAPERS_PENALTIES

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield the models of the path, from the largest penalty to the smallest."""
        rows = asked.rows
        penalties = sorted(tried(self.penalty, "penalty", as_not_negative), reverse=True)
        design, centres, spreads = standardised(rows.fit_rows)
        feature_of = feature_of_columns(rows)
        path = lasso_path(design, rows.fit_labels, rows.n_classes, penalties)
        for penalty, beta in zip(penalties, path, strict=True):
            columns = np.flatnonzero((beta[:, :-1] != 0).any(axis=0))
            model = LogisticModel(in_own_units(beta, centres, spreads), columns)
            yield {"penalty": penalty}, OneSubset(_subset(beta, feature_of, rows.n_features), model)


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class L1Path(BudgetedClassifier):
    """Features from an ℓ1 logistic path, then ℓ2 logistic regression on them: a common approach today.

    The penalty falls by equal factors from the least penalty that leaves every feature out to a thousandth of
    this penalty. Every set of features on the path is fitted again with scikit-learn's default penalty, which
    does not shrink the probabilities as the LASSO does. The best set on the validation rows is kept, and all
    features of the set are bought for every row.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `n_penalties`: length of the path, at least 2.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = L1Path(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> bool(path.predict_cost(X).max() < 12)
    True
    """

    CHECKS = BudgetedClassifier.CHECKS | {"n_penalties": partial(as_count, at_least=2)}

    n_penalties: int = 100

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield every set of features on the path once, the smallest first."""
        rows = asked.rows
        design, _, _ = standardised(rows.fit_rows)
        largest = least_empty_penalty(design, rows.fit_labels, rows.n_classes)
        # a little more than the least, so that rounding lets no feature in
        penalties = (1.000001 * largest * np.logspace(0, -3, self.n_penalties)).tolist()
        fitted, seen = LogisticSubclassifiers(rows), set()
        path = lasso_path(design, rows.fit_labels, rows.n_classes, penalties)
        for penalty, beta in zip(penalties, path, strict=True):
            subset = _subset(beta, feature_of_columns(rows), rows.n_features)
            if subset.tobytes() not in seen:
                seen.add(subset.tobytes())
                yield {"penalty": penalty}, OneSubset(subset, fitted.model(subset))


def least_empty_penalty(design: Floats, labels: Longs, n_classes: int) -> float:
    """Return the least λ at which every coefficient is 0: the largest gradient entry at coefficients of 0."""
    indicators = np.eye(n_classes)[labels]
    pulls = (indicators - indicators.mean(axis=0)).T @ design[:, :-1]
    return float(np.abs(pulls).max(initial=0.0))
