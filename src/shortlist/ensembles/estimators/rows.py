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
    """Split rows, or cases, 70 : 30, stratified; a class with one of them is fitted and does not prune.

    Raises BadInputError if no class has two rows.
    """
    if np.unique(classes_of_cases(y, cases), return_counts=True)[1].max(initial=0) < 2:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    fitted, validation = split_cases(
        y, cases, lambda labels: hold_out(labels, SELECTION_SHARE, seed, rounded=math.ceil)
    )
    return np.sort(fitted), np.sort(validation)


class PruningRows(NamedTuple):
    """A pool, and the rows that choose its members."""

    pool: Pool
    """The pool that was given, or one fitted on the other rows."""
    X: Any
    y: Labels
    """The rows that prune, and their classes."""
    places: NDArray[np.intp] | None
    """Indices of the rows that prune among all rows; None: they are all rows."""
    crossed: CrossFittedPool | None = None
    """Classifiers of the pool without each fold of the rows that prune, where these rows fitted it too."""
    empty: Labels | None = None
    """Classes of the rows without a single value, which were left out; None: there were none."""

    def answers(self, ask: Callable[[Pool, Any], NDArray[Any]]) -> NDArray[Any]:
        """Return the answers of the classifiers on the pruning rows, out of fold where they are in folds."""
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
    """Fit a pool on some of the rows; None: on all, and again without each fold, so that all prune it.

    `plain`: the plain classifiers in it; none gives the pool of the paper.
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
    """Return the rows that prune a pool: all, but those in no fold of one that is cross-fitted.

    Rows without a single value are left out too. Raises BadInputError if the pool was cross-fitted on another
    number of rows, or a class has no row with a value.
    """
    return with_values(_given_rows(pool, X, y))


def with_values(rows: PruningRows) -> PruningRows:
    """Leave out rows without a single value, which no committee answers, whoever its members are.

    Raises BadInputError if a class has no other rows.
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
    """Return the rows that are not empty; refuse a class that has none.

    Raises BadInputError as said.
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
    """Refuse a pool of other classes than those of the rows, which may lack some where `may_lack` says so."""
    known, asked = pool.classes.tolist(), classes.tolist()
    if not (set(asked) <= set(known) if may_lack else asked == known):
        raise BadInputError(
            f"the pool tells {all_of(pool.classes)} apart, but the target holds {all_of(classes)}. "
            "Use a pool fitted on these classes."
        )


def split_rows(
    rows: RowNumbers, y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers]:
    """Split row numbers in two, stratified, the second part with this share of the rows, or of the cases."""
    refuse_lonely_class(y, cases)
    kept, held = split_cases(y, cases, lambda labels: hold_out(labels, share, seed))
    return rows[kept], rows[held]


def refuse_lonely_class(y: Labels, cases: Cases | None) -> None:
    """Raise BadInputError if a class has one row, or case, which cannot be in both parts of a split."""
    classes, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    if counts.min() < 2:
        what = "rows" if cases is None else "cases"
        raise BadInputError(
            f"every class needs {what} in each part of the split, got {counts.min()} of "
            f"{str(classes[np.argmin(counts)])!r}. Add {what}."
        )
