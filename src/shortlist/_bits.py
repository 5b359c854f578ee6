"""Flags packed into words of 64 bits, and counted in kernels."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import Deferred
from shortlist.arrays import Mask

Words: TypeAlias = NDArray[np.uint64]
"""Flags along the last axis: flag i is bit i mod 64 of word i // 64."""

WordTable: TypeAlias = Annotated[Words, 2]
"""The same in two dimensions, for the fields of named tuples."""


def pack(flags: Mask | NDArray[np.uint8], n_words: int | None = None) -> Words:
    """Pack flags along the last axis, into as many words as they need but at least one, or into `n_words`.

    >>> pack(np.array([[True, False, True], [False, True, False]])).tolist()
    [[5], [2]]
    """
    n_flags = flags.shape[-1]
    width = 64 * (max(1, -(-n_flags // 64)) if n_words is None else n_words)
    padded = np.zeros((*flags.shape[:-1], width), dtype=np.uint8)
    padded[..., :n_flags] = flags
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, n_flags: int) -> Mask:
    """Return the flags that :func:`pack` packed.

    >>> unpack(np.array([5], dtype=np.uint64), 3).tolist()
    [True, False, True]
    """
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_flags, bitorder="little").view(np.bool_)


def _make_popcount() -> Callable[[Any], int]:
    """Return the instruction of the processor, or plain Python where numba is told not to compile."""
    from numba import config, types
    from numba.extending import intrinsic

    if config.DISABLE_JIT:  # numba sets it while loading
        return lambda word: int(word).bit_count()

    @intrinsic
    def count_ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  # numba calls it so
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    made: Any = count_ones  # only kernels call it, with the word alone
    return cast("Callable[[Any], int]", made)


popcount = Deferred(_make_popcount)
"""The number of ones in a 64-bit word, in one instruction."""
