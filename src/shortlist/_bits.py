"""64-bit words in kernels: packed flags and their counts, and random words.

Random words are those of SplitMix64 (Steele, Lea & Flood 2014), the same on every machine.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import Deferred, kernel
from shortlist.arrays import Mask

Words: TypeAlias = Annotated[NDArray[np.uint64], "uint64[::1]"]
"""Flags along the last axis: flag i is bit i mod 64 of word i // 64."""

WordTable: TypeAlias = Annotated[NDArray[np.uint64], "uint64[:, ::1]"]
"""Words in two dimensions, for the fields of named tuples."""

WordBlock: TypeAlias = Annotated[NDArray[np.uint64], "uint64[:, :, ::1]"]
"""Words in three dimensions."""


def pack(flags: Mask | NDArray[np.uint8], n_words: int | None = None) -> Words:
    """Pack flags along the last axis into the fewest words, at least one, or into `n_words`.

    >>> pack(np.array([[True, False, True], [False, True, False]])).tolist()
    [[5], [2]]
    """
    n_flags = flags.shape[-1]
    width = 64 * (max(1, -(-n_flags // 64)) if n_words is None else n_words)
    padded = np.zeros((*flags.shape[:-1], width), dtype=np.uint8)
    padded[..., :n_flags] = flags
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, n_flags: int) -> Mask:
    """Return the flags of packed words; the inverse of :func:`pack`.

    >>> unpack(np.array([5], dtype=np.uint64), 3).tolist()
    [True, False, True]
    """
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_flags, bitorder="little").view(np.bool_)


def _make_popcount() -> Callable[[Any], int]:
    """Return the processor's instruction, or plain Python if numba's compiler is disabled."""
    from numba import config, types
    from numba.extending import intrinsic

    if config.DISABLE_JIT:  # numba sets it while loading
        return lambda word: int(word).bit_count()

    @intrinsic
    def count_ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  # numba calls this name
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    made: Any = count_ones  # only kernels call it, with the word alone
    return cast("Callable[[Any], int]", made)


popcount = Deferred(_make_popcount)
"""Number of ones in a 64-bit word, by one instruction."""


State: TypeAlias = Annotated[NDArray[np.uint64], "uint64[::1]"]
"""State of a generator, ``(1,)``; at first the seed."""


@kernel("uint64(uint64[::1])")
def draw_word(state: State) -> np.uint64:
    """Draw 64 bits and advance the state."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.uint64(z)


@kernel("int64(uint64[::1], int64)")
def draw_below(state: State, n: int | np.int64) -> int | np.int64:
    """Draw an integer from 0 to n − 1."""
    return np.int64((draw_word(state) >> np.uint64(1)) % np.uint64(n))


@kernel("float64(uint64[::1])")
def draw_share(state: State) -> float:
    """Draw a number from [0, 1)."""
    share: float = (draw_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return share
