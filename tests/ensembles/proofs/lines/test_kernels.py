"""Kernels of the bound from lines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.proofs.lines import _kernels as kernels


@given(values=st.lists(st.integers(-4, 4), min_size=1, max_size=30), data=st.data())
def test_the_largest_come_first(values: list[int], data: st.DataObject) -> None:
    m = data.draw(st.integers(0, len(values)))
    order = np.arange(len(values))
    numbers = np.array(values, dtype=np.float64)
    kernels.put_largest_first(numbers, order, len(values), m)

    assert sorted(order.tolist()) == list(range(len(values)))
    assert sorted(numbers[order[:m]].tolist(), reverse=True) == sorted(values, reverse=True)[:m]
