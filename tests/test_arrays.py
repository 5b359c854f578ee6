"""Flags that the processor sets although the numbers are right."""

import numpy as np
import pytest

from shortlist.arrays import stray_flags_ignored


def test_the_flag_is_ignored_within_the_block_only() -> None:
    invalid = np.array([np.inf], dtype=np.float32)
    with stray_flags_ignored():
        assert np.isnan(invalid - invalid).all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(invalid - invalid).all()
