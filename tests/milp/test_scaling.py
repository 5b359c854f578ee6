from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.milp.backends.cpsat_engine import scaled_to_integers

decimals = st.builds(lambda whole, places: whole / 10**places, st.integers(-9999, 9999), st.integers(0, 4))


@given(rows=st.lists(st.lists(decimals, max_size=4), min_size=1, max_size=5))
def test_scaled_rows_are_the_decimals_times_the_smallest_power_of_ten(rows: list[list[float]]) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    scaled, scales = scaled_to_integers(np.array([value for row in rows for value in row]), starts, "rows")
    for i, row in enumerate(rows):
        exact = [Fraction(str(value)) for value in row]
        smallest = next(10**k for k in range(10) if all((value * 10**k).denominator == 1 for value in exact))
        assert scales[i] == smallest
        assert [value * smallest for value in exact] == scaled[starts[i] : starts[i + 1]].tolist()


@pytest.mark.parametrize(
    "values",
    [[1 / 3], [1e-10], [2.0**53], [0.5, 2.0**53]],
    ids=["a third", "ten places", "large", "large and half"],
)
def test_what_is_no_short_decimal_is_refused(values: list[float]) -> None:
    with pytest.raises(BadInputError, match=r"in row 1\. Round them, or use `solver='highs'`"):
        scaled_to_integers(np.array([1.0, *values]), np.array([0, 1, 1 + len(values)]), "rows")
