"""Names of the parts in which two objects differ."""

import math
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

WHOLE = (
    bool, int, float, complex, str, bytes, Enum, np.ndarray, np.generic, np.dtype, type, types.FunctionType,
    types.BuiltinFunctionType, set, frozenset,
)  # fmt: skip
"""Types that are compared as a whole."""


def differences(kept: Any, meant: Any, name: str = "", *, within: float = 0.0) -> Iterator[str]:
    """Yield the names, such as ``ballot.gains``, of parts of an object that differ from the expected parts.

    Numbers of any type are compared by value, arrays as a whole, and other objects attribute by attribute.
    Attributes that only `kept` has are skipped, as they are computed on demand.

    `name`: name of the whole object. `within`: relative tolerance of real numbers, as a share of the larger
    number.

    >>> list(differences({"cost": [1, 2], "size": 3}, {"cost": [1.0, 2.5], "size": 3}, "front"))
    ['front.cost.1']
    """
    parts = _parts(meant)
    if parts is None:
        if not _equal(kept, meant, within):
            yield name
        return
    own = _parts(kept) if type(kept) is type(meant) or isinstance(meant, list | tuple) else None
    if own is None or (isinstance(meant, Mapping | list | tuple) and own.keys() != parts.keys()):
        yield name
        return
    for key, part in parts.items():
        below = f"{name}.{key}" if name else str(key)
        if key not in own:
            yield below
        elif own[key] is not part:
            yield from differences(own[key], part, below, within=within)


def _parts(thing: Any) -> Mapping[Any, Any] | None:
    """Return the parts of an object by name; None if it is compared as a whole."""
    if isinstance(thing, Mapping):
        return thing
    if isinstance(thing, list | tuple):
        return dict(enumerate(thing))
    if thing is None or isinstance(thing, WHOLE):
        return None
    if hasattr(thing, "__dict__"):
        return dict(vars(thing))
    try:
        reduced = thing.__reduce_ex__(4)  # for compiled classes
    except TypeError:
        return None
    return None if isinstance(reduced, str) else dict(zip(("arguments", "state"), reduced[1:3], strict=False))


def _equal(kept: Any, meant: Any, within: float) -> bool:
    if isinstance(meant, np.ndarray):
        return _equal_arrays(kept, meant, within)
    if isinstance(meant, float | np.floating):
        is_number = isinstance(kept, int | float | np.number) and not isinstance(kept, bool)
        both_none = is_number and math.isnan(kept) and math.isnan(meant)
        return is_number and (both_none or math.isclose(kept, meant, rel_tol=within, abs_tol=within))
    same_kind = isinstance(kept, bool | np.bool_) == isinstance(meant, bool | np.bool_)
    return bool(same_kind and kept == meant)


def _equal_arrays(kept: Any, meant: np.ndarray, within: float) -> bool:
    if not isinstance(kept, np.ndarray) or kept.shape != meant.shape:
        return False
    if meant.dtype.kind == "O":
        return all(_equal(one, other, within) for one, other in zip(kept.flat, meant.flat, strict=True))
    if meant.dtype.kind != "f":
        return bool((kept == meant).all())
    return bool(np.allclose(kept, meant, rtol=within, atol=within, equal_nan=True))
