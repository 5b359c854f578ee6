"""Members that are fitted again on all rows."""

import numpy as np
from sklearn.datasets import make_classification

from shortlist.ensembles import make_pool
from shortlist.ensembles.pools.class_probabilities import class_probabilities
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.refit import refit_members

X, Y = make_classification(300, 6, n_informative=4, random_state=1)


def test_every_family_is_fitted_again_with_its_own_parameters_and_columns() -> None:
    pool = make_pool(X[::3], Y[::3], n_classifiers=len(FAMILIES))

    again = refit_members(pool, X, Y)

    assert again.names == pool.names
    assert again.preprocessor is pool.preprocessor
    for before, after in zip(pool.classifiers, again.classifiers, strict=True):
        given, again_given = before.estimator.get_params(), after.estimator.get_params()
        plain = {name: value for name, value in given.items() if isinstance(value, (int, float, str))}
        assert plain.items() <= again_given.items()
        assert np.array_equal(after.columns, before.columns)
    changed = (class_probabilities(pool, X) != class_probabilities(again, X)).any(axis=(0, 2))
    assert changed.all()


def test_the_same_seed_fits_the_same_members() -> None:
    pool = make_pool(X[::3], Y[::3], n_classifiers=4)

    first, second = (class_probabilities(refit_members(pool, X, Y, seed=3), X) for _ in range(2))

    assert np.array_equal(first, second)
