"""Where probabilities come from: fitted on all rows, and chosen by folds, against the same by hand."""

import math

import numpy as np
import pytest

from shortlist.ensembles.estimators.base import fitted_source, loss_in_folds
from shortlist.ensembles.votes.calibration import fitted_factors, fitted_power
from shortlist.tables.splits import deal_classes

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, 60)
SURE = np.clip(0.5 + (LABELS - 0.5) * 0.6 + RNG.normal(0, 0.15, 60), 0.05, 0.95)
SCORES = {"mean": np.column_stack([1 - SURE, SURE]), "shares": np.tile([0.99, 0.01], (60, 1))}


def test_what_is_named_is_fitted_on_all_rows() -> None:
    for name, calibration in {
        "mean": None,
        "shares": None,
        "calibrated-mean": fitted_factors(SCORES["mean"], LABELS),
        "calibrated-shares": fitted_power(SCORES["shares"], LABELS),
    }.items():
        found = fitted_source(name, SCORES.__getitem__, LABELS, averages=True, seed=0)
        assert found == (name, calibration, {})


def test_folds_choose_the_least_log_loss() -> None:
    found = fitted_source("cross-validated", SCORES.__getitem__, LABELS, averages=True, seed=3)
    assert found.source in {"mean", "calibrated-mean"}
    assert found.losses["calibrated-shares"] < found.losses["shares"]
    fold_of = deal_classes(LABELS, 5, np.random.default_rng(3))
    total = 0.0
    for fold in range(5):
        held = fold_of == fold
        shares = fitted_power(SCORES["shares"][~held], LABELS[~held]).of(SCORES["shares"][held])
        total -= np.log(shares[np.arange(held.sum()), LABELS[held]]).sum()
    assert found.losses["calibrated-shares"] == pytest.approx(total / 60)

    by_votes = fitted_source("cross-validated", SCORES.__getitem__, LABELS, averages=False, seed=3)
    assert by_votes.source == "calibrated-shares"


def test_fewer_rows_than_folds_choose_what_needs_no_fit() -> None:
    few = {name: scores[:4] for name, scores in SCORES.items()}
    assert loss_in_folds("calibrated-mean", few["mean"], LABELS[:4], 0) == math.inf
    found = fitted_source("cross-validated", few.__getitem__, LABELS[:4], averages=True, seed=0)
    assert (found.source, found.calibration) == ("mean", None)
