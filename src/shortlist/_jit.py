"""The one place that says how kernels are compiled."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

types: Any = numba.types
"""Numba's types, for signatures of kernels that take named tuples; the others are written as text."""

P = ParamSpec("P")
R = TypeVar("R")


def kernel(signature: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for one explicit `signature`, without Python objects, and keep the result on disk."""

    def compile_kernel(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", numba.njit(signature, cache=True, nogil=True)(function))

    return compile_kernel
