"""Rows of one table for fitting, selection, calibration and measurement, with the pool fitted on them."""

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
"""Largest number of rows for repeated choice, where all rows fit, select and measure (decisions 134 and 148).
"""


class RowPlan(NamedTuple):
    """Split of the rows into rows to fit and select, rows to calibrate a promise, and rows to measure."""

    rest: RowNumbers
    """Indices of the rows to fit and select."""
    calibration: RowNumbers
    tested: TableRows | None
    """Rows that measure: held-out rows, or rows of another file; None: the selection rows measure by repeated
    choice.
    """
    fits_apart: bool
    """Whether the fitting rows differ from the selection rows."""


def plan_rows(
    table: TableRows,
    selective: SelectiveClassifier | None,
    how: Measuring,
    *,
    seed: int,
    cases: Cases | None,
) -> RowPlan:
    """Return the split of the rows for fitting and selection, calibration and measurement."""
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
    """Pool, with the rows of a table to fit it and to select its members."""

    pool: Any
    rest: TableRows
    """All rows that are used for fitting or selection."""
    cases: Cases | None
    """Case of each row in `rest`; None without cases."""
    fitted: RowNumbers
    """Indices in `rest` of the rows on which the pool was fitted."""
    selecting: RowNumbers
    """Indices in `rest` of the selection rows."""
    fits: bool = False
    """Whether the pool was fitted on these rows; False for a pool that the user gave."""
    n_raced: int = 0
    """Number of classifiers that took part in a race; 0 without one."""

    @property
    def encoded(self) -> NDArray[np.float64] | None:
        """All rows after the preprocessing of a pool that was fitted on them, ``(n_rows, n_columns)``.

        None for a pool that was fitted on other rows.
        """
        return self.pool.encoded if self.fits and isinstance(self.pool, CrossFittedPool) else None

    def counts(self, plan: RowPlan) -> dict[str, int]:
        """Return the numbers of rows to fit, select and calibrate, and of raced classifiers, by name."""
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
    """Return the given pool, or a pool fitted on all rows and again without each fold, with its rows.

    With many rows, classifiers race to be in the pool if the members are fitted again later.

    `given`: pool of the pruner, or None. `apart`: whether 30 % of the rows are used for selection alone, and
    the other rows for fitting alone. `race`: settings of a race; None for no race.
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
