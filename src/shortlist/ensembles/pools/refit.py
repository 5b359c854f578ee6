"""Classifiers fitted again with their own parameters and columns: on all rows, or without each fold."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from shortlist._validation import as_count, as_seed
from shortlist.arrays import Labels
from shortlist.ensembles.pools.encoder import as_classes
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.fitting import calm_fits, columns_that_vary, draw_stratified, fit_all
from shortlist.ensembles.pools.members import Member
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.errors import BadInputError, ShortlistError
from shortlist.runs import NO_STUDY, Cancellation, Report, Study, Unit, Work, silent
from shortlist.runs.studies.question import versions
from shortlist.runs.studies.study import as_settings, digest_of_arrays
from shortlist.tables.splits import N_FOLDS, deal_folds

AT_MOST_ROWS = ("batch_size", "n_neighbors", "nystroem__n_components")
"""Parameters that must not exceed the number of rows."""


def refit_members(
    pool: Pool, X: Any, y: Labels, *, seed: int = 0, n_jobs: int | None = 1, report: Report = silent
) -> Pool:
    """Return the same classifiers, each fitted on all these rows with its own parameters and columns.

    Takes the time of fitting the members, with more rows.

    `pool`: members that :func:`shortlist.ensembles.make_pool` fitted; their preprocessing stays as it is.
    `X`: rows, with the columns of those that fitted the pool, ``(n_samples, n_features)``. `y`: their
    classes, each of the pool at least once, ``(n_samples,)``. `seed`: decides which rows a family leaves out
    that takes a limited number of them.

    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> again = refit_members(make_pool(X[::2], y[::2], n_classifiers=2), X, y)
    >>> again.names
    ('logistic-regression-1', 'decision-tree-1')
    """
    assert pool.preprocessor is not None, "pools that are fitted here prepare their rows"
    encoded = pool.preprocessor.transform(X)
    indices = np.searchsorted(pool.classes, y)
    once = {id(member): place for place, member in reversed(list(enumerate(pool.classifiers)))}
    places = sorted(once.values())  # the others are copies
    units = _refits(pool, places, (encoded, indices, seed))
    again = dict(zip(places, fit_all(units, Work(n_jobs, report=report), stage=REFITTING), strict=True))
    return replace(pool, classifiers=tuple(again[once[id(member)]] for member in pool.classifiers))


REFITTING = "fitting the members again"


def _refits(pool: Pool, places: Sequence[int], rows: tuple[Any, ...]) -> list[Unit]:
    """Return the units that fit members of a pool again, unfitted, so that none is sent to a worker twice."""
    members = [(pool.names[place], pool.classifiers[place], pool.families[place]) for place in places]
    return [
        Unit(name, refit_member, (replace(member, estimator=clone(member.estimator)), family, *rows))
        for name, member, family in members
    ]


def refit_member(
    member: Member, family: str, encoded: NDArray[np.float64], indices: NDArray[np.intp], seed: int
) -> Member:
    """Return a classifier fitted on all of these rows, or on as many as its family takes.

    `member`: whose parameters and columns are taken; of the columns those that vary in these rows, or all.
    `family`: a name in :data:`shortlist.ensembles.pools.families.FAMILIES`. `encoded`: rows as the
    preprocessing of its pool makes them, ``(n_samples, n_columns)``. `indices`: their classes as indices,
    ``(n_samples,)``. `seed`: draws the rows, and their order.
    """
    assert member.columns is not None, "classifiers that are fitted here know their columns"
    every = FAMILIES[family]._replace(replace=False, rows=(1.0, 1.0))
    rows = draw_stratified(every, indices, np.random.default_rng(seed))
    varying = columns_that_vary(encoded, rows, member.columns)
    columns = varying if len(varying) else member.columns
    estimator = clone(member.estimator)
    given = estimator.get_params()
    estimator.set_params(**{name: min(given[name], len(rows)) for name in AT_MOST_ROWS if name in given})
    with calm_fits():
        estimator.fit(encoded[np.ix_(rows, columns)], indices[rows])
    return Member(estimator, member.classes_, columns)


def cross_fit(
    pool: Pool,
    X: Any,
    y: ArrayLike,
    *,
    folds: int | NDArray[np.int8] = N_FOLDS,
    random_state: int = 0,
    n_jobs: int | None = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    study: Study = NO_STUDY,
) -> CrossFittedPool:
    """Fit the classifiers of a pool once for every fold, on the rows of the others.

    Each keeps its parameters and columns, and sees all rows of the other folds, or as many as its family
    takes. Folds are dealt class by class. A class with one row is in no fold, and fits always. Columns are
    prepared as the pool prepares them: medians, scales and categories are of all rows; they know no class.
    Raises BadInputError if no class has two rows, lengths differ, or a parameter is out of range. Raises
    ShortlistError if the work was cancelled before every classifier was fitted.

    Takes as many times as there are folds, each on the rows of the others.

    `pool`: what :func:`shortlist.ensembles.make_pool` fitted on these rows. `X`: rows, ``(n_samples,
    n_features)``. `folds`: how many, at least 2; of fewer rows, as many as there are. Or the fold of every
    row from 0, -1 for rows that fit always, as :func:`shortlist.tables.splits.deal_folds` says. `study`:
    where every fitted classifier is kept, signed, a part for each fold.

    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> crossed = cross_fit(make_pool(X, y, n_classifiers=2), X, y, folds=3)
    >>> len(crossed.without_fold), np.bincount(crossed.fold_of).tolist()
    (3, [50, 50, 50])
    """
    assert pool.preprocessor is not None, "pools that are fitted here prepare their rows"
    n_wanted = as_count(folds, "folds", at_least=2) if isinstance(folds, int) else 0
    seed = as_seed(random_state, "random_state")
    classes, indices = as_classes(y)
    encoded = pool.preprocessor.transform(X)
    if len(encoded) != len(indices):
        raise BadInputError(
            f"X and y must have one entry per row, got {len(encoded)} and {len(indices)} rows."
        )
    places = np.searchsorted(pool.classes, classes)[indices]
    fold_of = deal_folds(places, n_wanted, seed) if isinstance(folds, int) else folds
    n = int(fold_of.max()) + 1
    without = []
    for fold in range(n):
        kept = np.flatnonzero(fold_of != fold)
        part = study.part(f"fold {fold + 1} of {n}")
        if part.keeps:
            facts = as_settings({"random_state": seed, "the versions": versions()})
            part.bind({"the rows": digest_of_arrays([encoded[kept], places[kept]]), **facts})
        units = _refits(pool, range(len(pool)), (encoded[kept], places[kept], seed))
        work = Work(n_jobs, part, report, cancellation or Cancellation())
        members = fit_all(units, work, stage=f"fitting fold {fold + 1} of {n}")
        if len(members) < len(pool):
            raise ShortlistError(
                f"fitting was stopped in fold {fold + 1} of {n}. Run it again, with fewer classifiers, or "
                "with `pruning_rows='held-out'`, which fits each of them once."
            )
        without.append(replace(pool, classifiers=members))
    return CrossFittedPool(pool, tuple(without), fold_of)
