"""The number of threads of numeric libraries."""

import sys
from types import ModuleType

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from shortlist._threads import _thread_pools, limited_threads


def _threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info()}


def test_libraries_have_so_many_threads_and_afterwards_as_many_as_before() -> None:
    assert np.linalg.norm([3, 4]) == 5  # with a library that has threads
    before = _threads()
    with limited_threads(2):
        assert _threads() <= {2}
        with limited_threads(1):
            assert _threads() <= {1}
        with limited_threads(None):
            assert _threads() <= {2}
    assert _threads() == before


def test_libraries_are_looked_for_again_only_once_modules_have_been_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with limited_threads(1):
        known = _thread_pools(len(sys.modules))
    with limited_threads(1):
        assert _thread_pools(len(sys.modules)) is known
    monkeypatch.setitem(sys.modules, "imported_since", ModuleType("imported_since"))
    with limited_threads(1):
        assert _thread_pools(len(sys.modules)) is not known
