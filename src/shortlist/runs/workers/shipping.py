"""Calls as bytes for another process, without what several calls have in common.

What is large and common to neighbouring calls is shipped once per worker and not with every call: arrays and
tables anywhere in the arguments, and whole arguments that are the same object. A pickle of the rest refers
to it by a digest of its content. Cancellations are replaced by that of the worker's run.
"""

import hashlib
import io
import itertools
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.errors import WorkerError
from shortlist.runs.cancellation import Cancellation

if TYPE_CHECKING:
    from shortlist.runs.unit import Unit

LARGE = 1 << 16
"""Bytes from which on something that calls have in common is shipped once."""

_CANCELLATION = "cancellation"


@dataclass(frozen=True)
class Parcel:
    """One call on its way to a worker.

    Attributes
    ----------
    index : int
        Place of its unit.
    body : bytes
        Pickle of the call and its arguments, which refers to parts by their numbers.
    parts : tuple of str or bytes
        Digest of each part that is shipped once, or the pickle of one that belongs to this call alone.
    """

    index: int
    body: bytes
    parts: tuple[str | bytes, ...]

    @property
    def digests(self) -> set[str]:
        """Parts that the worker must have."""
        return {part for part in self.parts if isinstance(part, str)}

    @property
    def n_bytes(self) -> int:
        """What is sent with the call itself."""
        return len(self.body) + sum(len(part) for part in self.parts)


class Shelf:
    """What is shipped once: each digest's value, an array or the bytes of a pickle."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._known: dict[
            int, tuple[Any, str | None]
        ] = {}  # the object is kept, so that its id stays its own

    def knows(self, part: Any) -> bool:
        """Whether the same object was looked at before."""
        return id(part) in self._known

    def digest(self, part: Any) -> str | None:
        """Put something common on the shelf and return its digest; None for what is too small."""
        if id(part) in self._known:
            return self._known[id(part)][1]
        value = part if _is_plain_array(part) else _pickled(part)[0]
        size = value.nbytes if isinstance(value, np.ndarray) else len(value)
        found = _digest(value) if size >= LARGE else None
        if found is not None:
            self.values.setdefault(found, value)
        self._known[id(part)] = (part, found)
        return found


def parcels(units: "Sequence[Unit]", shelf: Shelf) -> Iterator[Parcel]:
    """Pack units one after the other; what is on the shelf afterwards has to reach the workers first.

    Something large is common to calls when the same object is in the call before or after.
    """
    packed = (_pack(units, index) for index in range(len(units)))
    for index, ((body, parts), following) in enumerate(_with_next(packed)):
        after = {id(part) for part in following[1]} if following else set()
        shipped = [shelf.digest(part) if id(part) in after or shelf.knows(part) else None for part in parts]
        yield Parcel(
            index,
            body,
            tuple(_pickled(part)[0] if at is None else at for part, at in zip(parts, shipped, strict=True)),
        )


def unpack_call(
    parcel: Parcel, values: Mapping[str, Any], cancellation: Cancellation
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the call of a parcel and its arguments.

    Parameters
    ----------
    parcel : Parcel
    values : mapping of str to object
        What was shipped once, by digest, restored by :func:`restored`.
    cancellation : Cancellation
        Takes the place of every cancellation in the call.
    """
    parts = [values[part] if isinstance(part, str) else restored(part, cancellation) for part in parcel.parts]
    call, arguments = _Unpacker(io.BytesIO(parcel.body), cancellation, parts).load()
    return call, arguments


def restored(value: Any, cancellation: Cancellation) -> Any:
    """Return a shelf's value as it was: an array as it is, and anything else from its pickle."""
    if isinstance(value, np.ndarray):
        return value
    return _Unpacker(io.BytesIO(value), cancellation, ()).load()


def _pack(units: "Sequence[Unit]", index: int) -> tuple[bytes, list[Any]]:
    """Pickle a call apart from its large arrays and tables and the arguments of its neighbours."""
    unit = units[index]
    beside = [units[near].arguments for near in (index - 1, index + 1) if 0 <= near < len(units)]
    near = {id(argument) for argument in itertools.chain.from_iterable(beside)}
    common = {id(argument) for argument in unit.arguments if id(argument) in near and _can_be_large(argument)}
    try:
        return _pickled(
            (unit.call, unit.arguments), apart=lambda value: id(value) in common or _is_large(value)
        )
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise WorkerError(f"unit {unit.key} cannot be sent to a worker: {error}. Use one worker.") from error


def _pickled(value: Any, apart: Callable[[Any], bool] = lambda _: False) -> tuple[bytes, list[Any]]:
    """Pickle a value without the parts that lie apart, and return those."""
    import cloudpickle

    parts: list[Any] = []
    numbers: dict[int, int] = {}

    class Packer(cloudpickle.Pickler):
        def persistent_id(self, value: Any) -> str | int | None:
            if isinstance(value, Cancellation):
                return _CANCELLATION
            if not apart(value):
                return None
            if id(value) not in numbers:
                numbers[id(value)] = len(parts)
                parts.append(value)
            return numbers[id(value)]

    buffer = io.BytesIO()
    Packer(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue(), parts


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, cancellation: Cancellation, parts: Sequence[Any]) -> None:
        super().__init__(file)
        self._cancellation = cancellation
        self._parts = parts

    def persistent_load(self, pid: Any) -> Any:
        return self._cancellation if pid == _CANCELLATION else self._parts[pid]


def _is_large(value: Any) -> bool:
    """Whether a value is an array or a table of many bytes."""
    if isinstance(value, np.ndarray):
        return bool(value.nbytes >= LARGE)
    if type(value).__module__.startswith("pandas") and hasattr(value, "memory_usage"):
        return bool(np.sum(value.memory_usage()) >= LARGE)
    return False


def _can_be_large(value: Any) -> bool:
    return not isinstance(value, int | float | str | bool | type(None) | np.generic | Cancellation)


def _is_plain_array(value: Any) -> bool:
    return type(value) is np.ndarray and not value.dtype.hasobject


def _digest(value: Any) -> str:
    digest = hashlib.sha256()
    if isinstance(value, np.ndarray):
        digest.update(repr((value.dtype.descr, value.shape)).encode())
        value = np.ascontiguousarray(value).view(np.uint8).data if value.ndim else value.tobytes()
    digest.update(value)
    return digest.hexdigest()


def _with_next(values: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each value and the one after it, None after the last."""
    before = next(values, None)
    while before is not None:
        following = next(values, None)
        yield before, following
        before = following
