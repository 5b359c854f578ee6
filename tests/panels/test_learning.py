"""Learned decisions, against scikit-learn and a plain expectation maximisation."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from shortlist.panels.learning import (
    EM_ROUNDS,
    LEARNERS,
    PENALTY,
    OutOfFold,
    fit_dawid_skene,
    fit_logistic,
    folds_of,
)
from tests.panels.made import log_of, priced_log
from tests.panels.oracles import dawid_skene, heard_at_random


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("sure", [True, False])
def test_logistic_regression_is_that_of_scikit_learn_on_the_same_columns(n_classes: int, sure: bool) -> None:
    rng = np.random.default_rng(n_classes)
    answers = heard_at_random(rng, 300, 3, n_classes, sure=sure)
    truth = np.where(rng.random(300) < 0.7, answers.words[:, 0] % n_classes, rng.integers(0, n_classes, 300))
    table = fit_logistic((0, 1, 2), answers, truth)
    labels = (answers.words[:, :, None] == np.arange(n_classes + 1)).astype(float)
    slopes = labels[:, :, :-1] * answers.confidence[:, :, None]
    ones = np.ones((300, 1))  # the bias is penalised as all weights are
    columns = np.hstack([ones, labels.reshape(300, -1), slopes.reshape(300, -1)])
    # with two classes scikit-learn has one vector of weights, the difference of ours: half the penalty
    strength = (2 if n_classes == 2 else 1) / PENALTY
    peer = LogisticRegression(C=strength, fit_intercept=False, tol=1e-8, max_iter=5000).fit(columns, truth)
    shares, theirs = table.probabilities(answers), peer.predict_proba(columns)
    assert shares == pytest.approx(theirs, abs=2e-2)
    weights = peer.coef_ if n_classes > 2 else np.vstack([-peer.coef_, peer.coef_]) / 2
    ours, least = (
        -np.log(told[np.arange(300), truth]).sum() + PENALTY / 2 * (squares**2).sum()
        for told, squares in ((shares, table.weights), (theirs, weights))
    )
    assert least * (1 - 1e-9) <= ours <= least * (1 + 1e-4)


@pytest.mark.parametrize("share_known", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_dawid_and_skene_are_those_of_a_plain_loop(share_known: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 40)
    answers = heard_at_random(rng, 40, 4, 3, sure=False)
    words = np.where(rng.random(answers.words.shape) < 0.6, truth[:, None], answers.words)
    answers = answers._replace(words=words)
    known = np.where(rng.random(40) < share_known, truth, -1)
    table = fit_dawid_skene((0, 1, 2, 3), answers, known)
    slow = dawid_skene(words, known, 3, EM_ROUNDS if (known < 0).any() else 0)
    assert table.probabilities(answers) == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_decided_about_a_case_does_not_depend_on_its_truth(learner: str) -> None:
    rng = np.random.default_rng(3)
    answers, truth = heard_at_random(rng, 60, 2, 2), rng.integers(0, 2, 60)
    folds = np.arange(60) % 5
    before = OutOfFold(answers, truth, folds, learner).of((0, 1))
    changed = np.where(folds == 2, 1 - truth, truth)
    after = OutOfFold(answers, changed, folds, learner).of((0, 1))
    assert (before.decided.codes == after.decided.codes)[folds == 2].all()
    assert (before.decided.sure == after.decided.sure)[folds == 2].all()
    if learner in {"logistic", "dawid-skene"}:
        assert before.decided.sure[folds != 2] != pytest.approx(after.decided.sure[folds != 2], abs=2e-2)


def test_sets_of_judges_are_fitted_once() -> None:
    rng = np.random.default_rng(0)
    judged = OutOfFold(heard_at_random(rng, 30, 3, 2), rng.integers(0, 2, 30), np.arange(30) % 3, "logistic")
    assert judged.of((2, 0)) is judged.of((0, 2))


def test_folds_keep_groups_together_and_spread_classes() -> None:
    from dataclasses import replace

    log = priced_log(n_cases=200)
    folds = folds_of(log, 5, 1)
    for code in range(3):
        counts = np.bincount(folds[log.truth == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    groups = np.random.default_rng(0).integers(0, 40, 200)
    grouped = folds_of(replace(log, groups=groups), 5, 1)
    assert all(len(np.unique(grouped[groups == group])) == 1 for group in np.unique(groups))
    assert len(np.unique(grouped)) == 5
    assert (
        folds_of(log_of(np.random.default_rng(0), 2), 4, 0)
        == folds_of(log_of(np.random.default_rng(0), 2), 4, 0)
    ).all()
