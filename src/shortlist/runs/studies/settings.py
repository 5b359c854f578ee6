"""What decides results, as a study is bound to it: parameters of any type, and arrays by a digest."""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a study is bound to them, whatever their types are.

    >>> as_settings({"weights": {0: 1.5}, "prices": np.array([1, 2])})
    {'weights': [[0, 1.5]], 'prices': [1, 2]}
    """
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    """Return what JSON holds of a value; of what it cannot hold, the text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(each)] for name, each in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else repr(value)


def digest_of_arrays(arrays: Iterable[NDArray[Any]]) -> str:
    """Return a digest of arrays of numbers, with their shapes and types."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
