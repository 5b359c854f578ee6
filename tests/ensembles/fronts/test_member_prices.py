"""What members cost to ask and to keep."""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles.fronts.member_prices import member_bytes, member_times
from shortlist.ensembles.pools.fitting import as_pool, make_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.errors import BadInputError

X = np.arange(20.0).reshape(10, 2)
Y = np.array([0, 1] * 5)


def pool() -> Pool:
    return as_pool([DecisionTreeClassifier(max_depth=depth).fit(X, Y) for depth in (1, 3)])


def test_times_are_medians_in_milliseconds_for_a_thousand_rows() -> None:
    lengths = iter([0.001, 0.002, 0.003, 0.009, 0.001] + [0.004] * 5)
    ticks = itertools.chain.from_iterable((0.0, length) for length in lengths)

    times = member_times(pool(), X, clock=lambda: next(ticks))

    assert times.tolist() == [200.0, 400.0]


def test_members_of_a_pool_with_a_preprocessor_see_transformed_rows() -> None:
    made = make_pool(X, Y, n_classifiers=2)

    assert (member_times(made, X) > 0).all()


def test_bytes_are_those_of_the_pickled_members() -> None:
    assert member_bytes(pool()).tolist() == [len(pickle.dumps(member)) for member in pool().classifiers]


def test_a_member_that_cannot_be_saved_is_named() -> None:
    tree = DecisionTreeClassifier().fit(X, Y)
    tree.note_ = lambda: None

    with pytest.raises(BadInputError, match=r"classifier DecisionTreeClassifier-1 cannot be saved"):
        member_bytes(as_pool([tree]))
