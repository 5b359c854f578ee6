"""Products far apart."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shortlist.errors import BadInputError
from shortlist.products.analysis.uniform import diverse_products


def nearest(table: np.ndarray, chosen: tuple[int, ...]) -> int:
    """Return the smallest distance between two of the chosen rows."""
    return min(int((table[a] != table[b]).sum()) for a, b in itertools.combinations(chosen, 2))


@given(table=arrays(bool, st.tuples(st.integers(2, 8), st.integers(1, 6))), n=st.integers(2, 4))
def test_no_choice_is_twice_as_far_apart(table: np.ndarray, n: int) -> None:
    chosen = diverse_products(table, n)
    n = min(n, len(table))
    assert len(set(chosen.tolist())) == len(chosen) == n
    best = max(nearest(table, some) for some in itertools.combinations(range(len(table)), n))
    assert 2 * nearest(table, tuple(chosen.tolist())) >= best


def test_fewer_products_than_asked_for_are_all_taken() -> None:
    assert diverse_products([[0], [1]], 5).tolist() == [0, 1]
    with pytest.raises(BadInputError, match="one product a row"):
        diverse_products([0, 1], 1)
