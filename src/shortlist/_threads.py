"""Number of threads that the numeric libraries of this process use."""

import contextlib
import functools
import sys
from typing import Any


def limited_threads(n_threads: int | None) -> contextlib.AbstractContextManager[Any]:
    """Let the numeric libraries use `n_threads` threads within the context; None changes nothing.

    Looking for these libraries takes longer than many a small fit, so it is done again only when modules have
    been imported since.
    """
    limit: contextlib.AbstractContextManager[Any] = _thread_pools(len(sys.modules)).limit(limits=n_threads)
    return limit


@functools.lru_cache(maxsize=1)
def _thread_pools(_n_modules: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
