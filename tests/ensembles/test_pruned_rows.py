"""Rows of a table that fit, select, calibrate and measure."""

from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.pools.racing import RaceSettings
from shortlist.ensembles.pruned_rows import MOST_ROWS_REPEATED, PoolRows, RowPlan, fit_rows, plan_rows
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.results.measuring import PAPER, Measuring, TableRows
from shortlist.runs import Work

RACE = RaceSettings(least_rows=100, n_fitted=40, n_asked=40, n_kept=1, n_boosting=0)


def table(n: int) -> TableRows:
    return TableRows(np.random.default_rng(0).normal(size=(n, 3)), np.arange(n) % 2)


@pytest.mark.parametrize(
    ("n", "measuring", "n_tested", "apart"),
    [
        (200, Measuring(), None, False),
        (200, Measuring(protocol=PAPER), 20, True),
        (200, Measuring(test=table(30)), 30, False),
        (MOST_ROWS_REPEATED, Measuring(), None, False),
        (MOST_ROWS_REPEATED + 10, Measuring(), (MOST_ROWS_REPEATED + 10) // 10, False),
    ],
)
def test_rows_are_held_out_of_large_tables_and_for_the_papers_alone(
    n: int, measuring: Measuring, n_tested: int | None, apart: bool
) -> None:
    plan = plan_rows(table(n), None, measuring, seed=0, cases=None)
    assert (None if plan.tested is None else len(plan.tested.y)) == n_tested
    held = 0 if measuring.test is not None or n_tested is None else n_tested
    assert len(plan.rest) == n - held
    assert len(plan.calibration) == 0
    assert plan.fits_apart == apart


def test_a_promise_takes_rows_to_calibrate_of_those_that_are_not_held_out() -> None:
    promised = SelectiveClassifier(ExactPruner())
    plan = plan_rows(table(200), promised, Measuring(), seed=0, cases=None)
    assert plan.tested is not None
    assert len(plan.rest) + len(plan.calibration) + len(plan.tested.y) == 200
    assert not set(plan.rest.tolist()) & set(plan.calibration.tolist())


def test_counts_are_of_rows_and_of_classifiers_that_raced() -> None:
    rows, everything = table(120), np.arange(120)
    plan = RowPlan(everything, everything[:0], None, fits_apart=False)
    given = PoolRows(None, rows, None, everything, everything)
    assert given.counts(plan) == {"train": 0, "validation": 120}
    how: dict[str, Any] = {"n_classifiers": 5, "seed": 0, "work": Work(), "race": RACE}
    raced = fit_rows(None, rows, None, apart=False, **how)
    assert raced.counts(plan) == {"train": 120, "validation": 120, "folds": 3, "raced": 5}
    assert raced.encoded is not None
    assert len(raced.encoded) == 120
    apart = fit_rows(None, rows, None, apart=True, **how)
    assert apart.counts(plan) == {"train": 84, "validation": 36}
    assert apart.encoded is None
