"""How kernels are compiled, and when: at the first call, so that importing them costs nothing."""

import threading
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_COMPILING = threading.RLock()


class Deferred(Generic[P, R]):
    """A function that is made when it is first called, by Python or by a kernel that is compiled.

    Loading numba and the compiled kernels takes a second of processor time, and most commands call few
    kernels or none.

    Parameters
    ----------
    make : callable
        Returns the function.
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
                self._made = self._make()
            return self._made


def kernel(signature: str | Callable[[Any], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for one explicit `signature`, without Python objects, and keep the result on disk.

    A signature is text, or, for kernels that take named tuples, a function that makes it from
    ``numba.types``.
    """

    def defer_kernel(function: Callable[P, R]) -> Callable[P, R]:
        def compile_kernel() -> Callable[P, R]:
            import numba

            # numba reads the globals of a function while it compiles it, and knows only what is made
            names: dict[str, Any] = function.__globals__
            for name in function.__code__.co_names:
                if isinstance(names.get(name), Deferred):
                    names[name] = names[name].made()
            types = signature if isinstance(signature, str) else signature(numba.types)
            return cast("Callable[P, R]", numba.njit(types, cache=True, nogil=True)(function))

        return Deferred(compile_kernel)

    return defer_kernel
