"""Products of arrays: their last bits, and flags that the processor sets although the numbers are right."""

import numpy as np
import pytest

from shortlist.arrays import products_in_order, stray_flags_ignored
from tests.layouts import check_rows_stand_alone


def test_the_flag_is_ignored_within_the_block_only() -> None:
    invalid = np.array([np.inf], dtype=np.float32)
    with stray_flags_ignored():
        assert np.isnan(invalid - invalid).all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(invalid - invalid).all()


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("n_sums", [None, 1, 4])
def test_products_in_order_are_plain_sums_from_the_first_column_on(
    n_columns: int, n_sums: int | None
) -> None:
    rng = np.random.default_rng(n_columns)
    rows = rng.normal(size=(60, n_columns))
    factors = rng.normal(size=n_columns if n_sums is None else (n_columns, n_sums))

    found = products_in_order(rows, factors)

    assert found.shape == (rows @ factors).shape
    for row, sums in zip(rows.tolist(), found.reshape(60, -1).tolist(), strict=True):
        for place, total in enumerate(sums):
            plain = 0.0
            for a, b in zip(row, factors.reshape(n_columns, -1)[:, place].tolist(), strict=True):
                plain += a * b
            assert total == plain
    check_rows_stand_alone(lambda batch: products_in_order(batch, factors), rows)
