"""Compilation of kernels at their first call, so that importing them takes no time."""

import pickle
import re
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_type_hints

P = ParamSpec("P")
R = TypeVar("R")

_COMPILING = threading.RLock()

NOTHING_KEPT = (
    "Compiled kernels cannot be written to disk: every run compiles them again, which takes up to a minute. "
    "Set NUMBA_CACHE_DIR to a folder that can be written."
)

_SAID = threading.Event()
"""Event that is set after the warning :data:`NOTHING_KEPT`."""

_UNREADABLE = (AttributeError, ImportError, EOFError, pickle.UnpicklingError)
"""Errors of loading a stored kernel that is truncated, or names a tuple as another version of Shortlist did.
"""


class CompilingClock:
    """Seconds in which this process compiled kernels, or loaded compiled ones.

    Kernels that call each other are compiled within each other; their time is counted once.

    `clock`: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._spent = 0.0
        self._depth = 0
        self._start = 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._start = self._clock()
        self._depth += 1

    def __exit__(self, *_error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._start

    @property
    def seconds(self) -> float:
        """Seconds until now, including a compilation that is under way."""
        running = self._clock() - self._start if self._depth else 0.0
        return self._spent + running


COMPILING = CompilingClock()
"""Clock of compilations in this process."""


class Deferred(Generic[P, R]):
    """Function that is made at its first call, by Python or by a kernel that is compiled.

    Loading numba and the compiled kernels takes a second of processor time, and most commands call few
    kernels or none.

    `make`: returns the function.
    """

    def __init__(self, make: Callable[[], Callable[P, R]]) -> None:
        self._make = make
        self._made: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        made = self._made or self.made()
        return made(*args, **kwargs)

    def made(self) -> Callable[P, R]:
        """Return the function itself, made once."""
        with _COMPILING:
            if self._made is None:
                with COMPILING:
                    self._made = self._make()
            return self._made


def kernel(
    signature: str, *, makes_arrays: bool = False, inlined: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for one explicit `signature`, without Python objects, and store the result on disk.

    A signature is text in numba's notation, with names of named tuples or of annotated records as further
    types. The fields of a tuple are named tuples too, numbers, or arrays whose annotation ends in their
    numba type (:mod:`shortlist.arrays`).

    A kernel only borrows its arrays from the caller, unless `makes_arrays` is set. Then numba does no
    reference counting, which takes longer than the work of a small kernel. An `inlined` kernel is compiled
    into the kernels that call it: passing named tuples of arrays takes longer than the work of a small
    kernel too.
    """

    def defer_kernel(function: Callable[P, R]) -> Callable[P, R]:
        def compile_kernel() -> Callable[P, R]:
            # numba reads the globals of a function while it compiles it, and needs them made
            names: dict[str, Any] = function.__globals__
            for name in function.__code__.co_names:
                if isinstance(names.get(name), Deferred):
                    names[name] = names[name].made()
            options = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": makes_arrays, "forceinline": inlined}
            return _compiled(function, _signature_types(signature, names), options)

        return Deferred(compile_kernel)

    return defer_kernel


def _compiled(function: Callable[P, R], types: Any, options: dict[str, bool]) -> Callable[P, R]:
    """Load a kernel from disk, or compile and store it; only compile it if storing fails."""
    import numba

    def compile_it(*, cache: bool) -> Callable[P, R]:
        return cast("Callable[P, R]", numba.njit(types, cache=cache, **options)(function))

    try:
        try:
            return compile_it(cache=True)
        except _UNREADABLE:
            _forget(function)
            return compile_it(cache=True)
    except (OSError, RuntimeError):  # numba's, for a missing folder or a full disk
        compiled = compile_it(cache=False)
        _say_that_nothing_is_kept()
        return compiled


def _forget(function: Callable[..., Any]) -> None:
    """Empty the disk cache of a kernel, for instance a cache of another version of Shortlist."""
    from numba.core import caching

    cache: Any = caching.FunctionCache  # untyped, as all of numba
    cache(function).flush()


def _say_that_nothing_is_kept() -> None:
    """Warn once, and not in each worker, that the next process has to compile again."""
    import multiprocessing

    if not _SAID.is_set() and multiprocessing.parent_process() is None:
        _SAID.set()  # set before, so that a warning raised as an error occurs once
        warnings.warn(NOTHING_KEPT, stacklevel=2)


def _signature_types(signature: str, names: dict[str, Any]) -> Any:
    """Return the types of a signature for numba; `names` holds named tuples and types of records."""
    from numba.core import sigutils

    read: Any = sigutils.normalize_signature  # text of a signature to types
    result, _, parameters = signature.removesuffix(")").rpartition("(")
    texts = re.split(r",\s*(?![\s:])", parameters)  # not at the comma in int64[:, ::1]
    types = [
        _field_type(names[text]) if text in names else read(f"void({text})")[0][0] for text in texts if text
    ]
    return read(f"{result}()")[1](*types)


def _record_type(record: type[tuple[Any, ...]]) -> Any:
    from numba import types

    known: Any = types
    fields = get_type_hints(record, include_extras=True).values()
    return known.BaseTuple.from_types([_field_type(field) for field in fields], record)


def _field_type(annotation: Any) -> Any:
    import numpy as np
    from numba import from_dtype, types
    from numba.core import sigutils

    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return _record_type(annotation)
    if annotation in {int, float, bool}:
        return {int: types.int64, float: types.float64, bool: types.boolean}[annotation]
    note = annotation.__metadata__[-1]
    if isinstance(note, np.dtype):  # named numbers
        return types.Array(from_dtype(note), 1, "C")
    read: Any = sigutils.normalize_signature
    return read(f"void({note})")[0][0]
