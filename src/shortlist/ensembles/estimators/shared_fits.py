"""Pools that clones of one pruner fit on the same rows, each once, as a search has the same for many."""

import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

import joblib
from sklearn.utils import check_random_state

from shortlist.ensembles.pools.pool import CrossFittedPool, Pool

MOST_POOLS, MOST_ROWS = 12, 20_000
"""Number of pools that are kept, which suffices for ten folds, and of rows up to which they are."""

Sharing: TypeAlias = tuple[str, int]
"""Name of the clones of one pruner, and a seed for those without one; it is pickled with them."""

_sharing_of: "weakref.WeakKeyDictionary[Any, Sharing]" = weakref.WeakKeyDictionary()
"""Sharing of each clone; attributes would be parameters that scikit-learn does not know."""


class _Kept:
    """Pool of one key, and the lock under which it is fitted."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pool: Pool | CrossFittedPool | None = None


_kept: "OrderedDict[tuple[str, str], _Kept]" = OrderedDict()
_lock = threading.Lock()


def share_fits(clone: Any, original: Any) -> None:
    """Have a clone share the fits of its original, and of all its other clones."""
    if original not in _sharing_of:
        seed = check_random_state(None).randint(2**31 - 1) if original.random_state is None else 0
        _sharing_of[original] = (uuid.uuid4().hex, int(seed))
        weakref.finalize(original, _forget, _sharing_of[original][0])
    _sharing_of[clone] = _sharing_of[original]


def sharing_of(pruner: Any) -> Sharing | None:
    """Return the clones that a pruner is one of; None for one that was never cloned."""
    return _sharing_of.get(pruner)


def restore_sharing(pruner: Any, sharing: Sharing) -> None:
    """Say again after unpickling, perhaps in another process, which clones a pruner is one of."""
    _sharing_of[pruner] = sharing


def shared_fit(
    pruner: Any,
    rows: tuple[Any, Any],
    how: tuple[Any, ...],
    fit: Callable[[], Pool | CrossFittedPool],
    *,
    most_pools: int = MOST_POOLS,
    most_rows: int = MOST_ROWS,
) -> Pool | CrossFittedPool:
    """Return the pool that a clone of a pruner has fitted on the same rows in the same way, or fit it.

    `rows`: table and classes. `how`: all else that the pool depends on. `most_pools`, `most_rows`: limits of
    what is kept.
    """
    sharing = sharing_of(pruner)
    if sharing is None or len(rows[1]) > most_rows:
        return fit()
    key = (sharing[0], str(joblib.hash((rows, how))))
    with _lock:
        kept = _kept.setdefault(key, _Kept())
        _kept.move_to_end(key)
        while len(_kept) > most_pools:
            _kept.popitem(last=False)
    with kept.lock:  # two threads do not fit the same pool
        if kept.pool is None:
            kept.pool = fit()
        return kept.pool


def _forget(name: str) -> None:
    with _lock:
        for key in [key for key in _kept if key[0] == name]:
            del _kept[key]
