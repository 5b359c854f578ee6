"""Pools shared by the clones of one pruner: clones with the same rows and options fit one pool only once."""

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
"""Largest number of pools that are kept, which suffices for ten folds, and largest number of rows of a kept
pool.
"""

Sharing: TypeAlias = tuple[str, int]
"""Name that the clones of one pruner share, and the seed of clones without a seed; it is pickled with a
clone.
"""

_sharing_of: "weakref.WeakKeyDictionary[Any, Sharing]" = weakref.WeakKeyDictionary()
"""Sharing of each clone; it is no attribute, as scikit-learn would take that for a parameter."""


class _Kept:
    """Pool of one key, and the lock under which it is fitted."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pool: Pool | CrossFittedPool | None = None


_kept: "OrderedDict[tuple[str, str], _Kept]" = OrderedDict()
_lock = threading.Lock()


def share_fits(clone: Any, original: Any) -> None:
    """Let a clone share the fits of its original, and of all other clones of this original."""
    if original not in _sharing_of:
        seed = check_random_state(None).randint(2**31 - 1) if original.random_state is None else 0
        _sharing_of[original] = (uuid.uuid4().hex, int(seed))
        weakref.finalize(original, _forget, _sharing_of[original][0])
    _sharing_of[clone] = _sharing_of[original]


def sharing_of(pruner: Any) -> Sharing | None:
    """Return the sharing of a pruner; None for a pruner that was never cloned."""
    return _sharing_of.get(pruner)


def restore_sharing(pruner: Any, sharing: Sharing) -> None:
    """Set the sharing of a pruner after unpickling, perhaps in another process."""
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
    """Return the pool that a clone has fitted on the same rows in the same way; else fit it.

    `rows`: table and classes. `how`: all further values that the pool depends on. `fit`: fits the pool.
    `most_pools`: largest number of kept pools. `most_rows`: largest number of rows of a kept pool.
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
