"""Members that were chosen on rows held out, fitted again on all rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist.arrays import Labels
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.members import Member, calm_fits, draw_stratified
from shortlist.ensembles.pools.pool import Pool


def refit_members(pool: Pool, X: Any, y: Labels, *, seed: int = 0) -> Pool:
    """Return the same classifiers, each fitted on all these rows with its own parameters and columns.

    Parameters
    ----------
    pool : Pool
        Members that :func:`shortlist.ensembles.make_pool` fitted; their preprocessing stays as it is.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Rows, with the columns of those that fitted the pool.
    y : ndarray of shape (n_samples,)
        Their classes, each of the pool at least once.
    seed : int, default=0
        Decides which rows a family leaves out that takes a limited number of them.

    Notes
    -----
    Takes the time of fitting the members, with more rows.

    Examples
    --------
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
    again: dict[int, Member] = {}
    with calm_fits():
        for member, family in zip(pool.classifiers, pool.families, strict=True):
            if id(member) in again:  # a copy
                continue
            every = FAMILIES[family]._replace(replace=False, rows=(1.0, 1.0))
            rows = draw_stratified(every, indices, np.random.default_rng(seed))
            estimator = clone(member.estimator).fit(encoded[np.ix_(rows, member.columns)], indices[rows])
            again[id(member)] = Member(estimator, member.classes_, member.columns)
    return replace(pool, classifiers=tuple(again[id(member)] for member in pool.classifiers))
