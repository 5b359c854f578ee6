"""Split of the rows into fitting, pruning and held-out rows."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.pools.fitting import cross_fit, make_pool
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.pools.plain import USUAL
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold, rows_without_values
from shortlist.errors import BadInputError
from shortlist.runs import Work
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import (
    IN_NO_FOLD,
    N_FOLDS,
    SELECTION_SHARE,
    Cases,
    RowNumbers,
    classes_of_cases,
    hold_out,
    split_cases,
)


def rows_to_fit_and_prune(y: Labels, seed: int, cases: Cases | None = None) -> tuple[RowNumbers, RowNumbers]:
    """Split rows 70 : 30, stratified, into fitting and pruning rows.

    Rows of one case stay together. A class with a single row, or case, is in the fitting rows alone. Raises
    BadInputError if no class has two rows (or cases).
    """
    if np.unique(classes_of_cases(y, cases), return_counts=True)[1].max(initial=0) < 2:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    fitted, validation = split_cases(
        y, cases, lambda labels: hold_out(labels, SELECTION_SHARE, seed, rounded=math.ceil)
    )
    return np.sort(fitted), np.sort(validation)


class PruningRows(NamedTuple):
    """Pool, with the rows that choose its members."""

    pool: Pool
    """Pool whose members are chosen: given by the user, or fitted here."""
    X: Any
    y: Labels
    """Rows that prune, and their classes."""
    places: NDArray[np.intp] | None
    """Indices of the pruning rows among all rows; None if all rows prune."""
    crossed: CrossFittedPool | None = None
    """Classifiers fitted without each fold of the pruning rows; None unless these rows also fitted the pool.
    """
    empty: Labels | None = None
    """Classes of the rows without a single value, which were left out; None if there were no such rows."""

    def answers(self, ask: Callable[[Pool, Any], NDArray[Any]]) -> NDArray[Any]:
        """Return the answers of the classifiers on the pruning rows, out of fold for a cross-fitted pool."""
        if self.crossed is None:
            return ask(self.pool, self.X)
        return out_of_fold(*self.crossed.prepared(self.X), ask)


def own_pool(
    X: Any,
    y: Labels,
    fitted: RowNumbers | None,
    *,
    n_classifiers: int,
    seed: int,
    work: Work,
    folds: int | NDArray[np.int8] = N_FOLDS,
    plain: Sequence[str] = USUAL,
) -> Pool | CrossFittedPool:
    """Fit a pool on the rows `fitted`; None: fit it on all rows, and again without each fold.

    In a cross-fitted pool, all rows prune. `plain`: names of the plain classifiers in the pool; with no names
    it is the pool of the paper.
    """
    how: dict[str, Any] = {
        "random_state": seed,
        "n_jobs": work.workers,
        "report": work.report,
        "cancellation": work.cancellation,
    }
    rows, labels = (X, y) if fitted is None else (take_rows(X, fitted), y[fitted])
    pool = make_pool(
        rows, labels, n_classifiers=n_classifiers, plain=plain, study=work.study.part("pool"), **how
    )
    if fitted is not None:
        return pool
    return cross_fit(pool, X, y, folds=folds, study=work.study.part("folds"), **how)


def pruning_rows_of(pool: Any, X: Any, y: Labels) -> PruningRows:
    """Return the rows that prune a given pool: all rows, or for a cross-fitted pool the rows in a fold.

    Rows without a single value are left out. Raises BadInputError if the pool was cross-fitted on another
    number of rows, or a class has no row with a value.
    """
    return with_values(_given_rows(pool, X, y))


def with_values(rows: PruningRows) -> PruningRows:
    """Leave out the pruning rows without a single value, which no committee answers.

    Raises BadInputError if a class has no row with a value.
    """
    empty = rows_without_values(rows.pool, rows.X)
    if not empty.any():
        return rows
    kept = rows_with_values(empty, rows.y)
    return PruningRows(
        rows.pool, take_rows(rows.X, kept), rows.y[kept], kept if rows.places is None else rows.places[kept],
        None if rows.crossed is None else rows.crossed.of_rows(kept), rows.y[empty],
    )  # fmt: skip


def rows_with_values(empty: Mask, y: Labels) -> RowNumbers:
    """Return the indices of the rows that have a value, by the mask of the rows without one.

    Raises BadInputError if a class has no row with a value.
    """
    kept = np.flatnonzero(~empty)
    if lost := set(y.tolist()) - set(y[kept].tolist()):
        raise BadInputError(
            "every class needs a row with a value, since rows without any are not answered, "
            f"got no such row of {all_of(sorted(lost))}. Fill in cells, or leave the class out."
        )
    return kept


def _given_rows(pool: Any, X: Any, y: Labels) -> PruningRows:
    if not isinstance(pool, CrossFittedPool):
        return PruningRows(as_pool(pool), X, y, None)
    if len(pool.fold_of) != len(y):
        raise BadInputError(
            f"a cross-fitted pool is pruned on the {len(pool.fold_of):,} rows that it was fitted on, got "
            f"{len(y):,} rows. Pass those, or a pool fitted on others."
        )
    places = np.flatnonzero(pool.fold_of != IN_NO_FOLD)
    if len(places) == len(y):
        return PruningRows(pool.pool, X, y, None, pool)
    return PruningRows(pool.pool, take_rows(X, places), y[places], places, pool.of_rows(places))


def check_pool_classes(pool: Pool, classes: Labels, *, may_lack: bool) -> None:
    """Refuse a pool whose classes differ from `classes`; with `may_lack`, these may be some of the pool's."""
    known, asked = pool.classes.tolist(), classes.tolist()
    if not (set(asked) <= set(known) if may_lack else asked == known):
        raise BadInputError(
            f"the pool tells {all_of(pool.classes)} apart, but the target holds {all_of(classes)}. "
            "Use a pool fitted on these classes."
        )


def split_rows(
    rows: RowNumbers, y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers]:
    """Split row numbers in two, stratified; the second part has this share of the rows, or of the cases."""
    refuse_lonely_class(y, cases)
    kept, held = split_cases(y, cases, lambda labels: hold_out(labels, share, seed))
    return rows[kept], rows[held]


def refuse_lonely_class(y: Labels, cases: Cases | None) -> None:
    """Raise BadInputError if a class has one row (or case), which cannot be in both parts of a split."""
    classes, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    if counts.min() < 2:
        what = "rows" if cases is None else "cases"
        raise BadInputError(
            f"every class needs {what} in each part of the split, got {counts.min()} of "
            f"{str(classes[np.argmin(counts)])!r}. Add {what}."
        )
