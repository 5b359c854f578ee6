"""Rows of one table that fit, select, calibrate and measure, and the pool that they fit."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.estimators.rows import own_pool, split_rows
from shortlist.ensembles.pools.pool import CrossFittedPool
from shortlist.ensembles.pools.racing import RaceSettings, raced_pool
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.results.measuring import PAPER, Measuring, TableRows
from shortlist.runs import Work
from shortlist.tables.splits import (
    N_FOLDS,
    PRUNING_SHARE,
    TEST_SHARE,
    Cases,
    RowNumbers,
    cases_of_rows,
    deal_folds,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)

MOST_ROWS_REPEATED = 50_000
"""Rows up to which all fit, select and measure by repeated choice (decisions 134 and 148)."""


class RowPlan(NamedTuple):
    """Split of the rows: to fit and select, to calibrate a promise, and to measure."""

    rest: RowNumbers
    """Rows that fit and select."""
    calibration: RowNumbers
    tested: TableRows | None
    """Rows held out, or of a file of their own; None: the rows that select measure by repeated choice."""
    fits_apart: bool
    """Whether other rows fit than select."""


def plan_rows(
    table: TableRows,
    selective: SelectiveClassifier | None,
    how: Measuring,
    *,
    seed: int,
    cases: Cases | None,
) -> RowPlan:
    """Say which rows fit and select, calibrate and measure."""
    everything = np.arange(len(table.y))
    is_large = len(everything) > MOST_ROWS_REPEATED
    rest, tested = everything, how.test
    if tested is None and (is_large or how.protocol == PAPER or selective is not None):
        rest, held = split_rows(everything, table.y, TEST_SHARE, seed, cases)
        tested = table.some(held)
    calibration = rest[:0]
    if selective is not None:
        kept, drawn = split_cases(
            table.y[rest], cases_of_rows(cases, rest),
            lambda labels: keep_rows_apart(len(labels), selective.calibration_share, seed),
        )  # fmt: skip
        rest, calibration = rest[kept], one_row_a_case(rest[drawn], cases, seed)
    return RowPlan(rest, calibration, tested, how.protocol == PAPER)


class PoolRows(NamedTuple):
    """A pool, and the rows of a table that fit it and that select its members."""

    pool: Any
    rest: TableRows
    """All rows that fit or select."""
    cases: Cases | None
    """Case of each of them."""
    fitted: RowNumbers
    """Numbers of the rows that fitted the pool."""
    selecting: RowNumbers
    """Numbers of the rows that select."""
    fits: bool = False
    """Whether the pool was fitted here."""
    n_raced: int = 0
    """Classifiers that raced to be in it."""

    @property
    def encoded(self) -> NDArray[np.float64] | None:
        """The rest as a pool that was fitted on all of it has prepared them, ``(n_rows, n_columns)``."""
        return self.pool.encoded if self.fits and isinstance(self.pool, CrossFittedPool) else None

    def counts(self, plan: RowPlan) -> dict[str, int]:
        """Return the numbers of rows that fit, select and calibrate, and of classifiers that raced."""
        crossed = self.pool if isinstance(self.pool, CrossFittedPool) else None
        n_fit = len(self.rest.y) - (0 if crossed is not None else len(self.selecting))
        counts = {"train": n_fit if self.fits else 0, "validation": len(self.selecting)}
        if len(plan.calibration):
            counts["calibration"] = len(plan.calibration)
        if crossed is not None and self.fits:
            counts["folds"] = len(crossed.without_fold)
        return counts | ({"raced": self.n_raced} if self.n_raced else {})


def fit_rows(
    given: Any, rest: TableRows, cases: Cases | None, *, n_classifiers: int, seed: int, work: Work,
    apart: bool, race: RaceSettings | None,
) -> PoolRows:  # fmt: skip
    """Fit a pool on all rows, and again without each fold, unless one is given.

    Of many rows, where members are fitted again, classifiers race to be in the pool.

    `given`: pool of the pruner's own, or None. `apart`: whether three tenths of the rows select and fit
    nothing. `race`: None never holds one.
    """
    everything = np.arange(len(rest.y))
    if given is not None:
        return PoolRows(given, rest, cases, everything, everything)
    if race is not None and not apart and len(everything) >= race.least_rows:
        raced = raced_pool(
            *rest, n_classifiers=n_classifiers, seed=seed, work=work, cases=cases, settings=race
        )
        return PoolRows(raced, rest, cases, everything, everything, True, n_classifiers)
    fitted, selecting = None, everything
    if apart:
        share = PRUNING_SHARE / (1 - TEST_SHARE)
        fitted, selecting = split_rows(everything, rest.y, share, seed, cases)
    pool = own_pool(
        *rest, fitted, n_classifiers=n_classifiers, seed=seed, work=work,
        folds=N_FOLDS if cases is None else deal_folds(rest.y, N_FOLDS, seed, cases),
    )  # fmt: skip
    return PoolRows(pool, rest, cases, everything if fitted is None else fitted, selecting, True)
