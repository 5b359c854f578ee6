"""A pool in which a classifier counts several times."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.pools.pool import Pool

AGAIN = ", again"
"""What follows the name of a further copy, as often as there are copies before."""


def counted_names(names: Iterable[str]) -> list[str]:
    """Return each name once, with how often it comes where that is more than once.

    Examples
    --------
    >>> counted_names(["a", "a, again", "a, again, again", "b"])
    ['a (3 times)', 'b']
    """
    times = Counter(name.removesuffix(AGAIN * name.count(AGAIN)) for name in names)
    return [name if n == 1 else f"{name} ({n} times)" for name, n in times.items()]


def with_copies(pool: Pool, copies: NDArray[np.int64]) -> Pool:
    """Return the classifiers that are taken, each as often as it is.

    Further copies are named so, and cost nothing, as whoever is in a pool twice is asked once.

    Parameters
    ----------
    pool : Pool
        Who may be taken.
    copies : ndarray of int64, shape (n_classifiers,)
        How often each is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> pool = make_pool(*load_iris(return_X_y=True), n_classifiers=3)
    >>> with_copies(pool, np.array([2, 0, 1])).names
    ('logistic-regression-1', 'logistic-regression-1, again', 'naive-bayes-1')
    """
    places = np.repeat(np.arange(len(pool)), copies)
    each = [int(np.count_nonzero(places[:n] == place)) for n, place in enumerate(places)]
    names = tuple(pool.names[place] + AGAIN * copy for place, copy in zip(places, each, strict=True))
    return replace(
        pool,
        classifiers=tuple(pool.classifiers[place] for place in places),
        names=names,
        families=tuple(pool.families[place] for place in places),
        costs=None
        if pool.costs is None
        else np.where(np.array(each) > 0, 0.0, np.asarray(pool.costs)[places]),
    )
