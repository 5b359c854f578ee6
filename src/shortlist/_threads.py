"""Thread limits of the numeric libraries of this process."""

import contextlib
import functools
import sys
from typing import Any


def limited_threads(n_threads: int | None) -> contextlib.AbstractContextManager[Any]:
    """Limit the numeric libraries to `n_threads` threads within the context; None changes nothing.

    The search for these libraries takes longer than a small fit, so it is repeated only if modules were
    imported since.
    """
    limit: contextlib.AbstractContextManager[Any] = _thread_pools(len(sys.modules)).limit(limits=n_threads)
    return limit


@functools.lru_cache(maxsize=1)
def _thread_pools(_n_modules: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
