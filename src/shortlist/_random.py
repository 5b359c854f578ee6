"""Random numbers in kernels, by SplitMix64 (Steele, Lea & Flood 2014), the same on every machine."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel

State: TypeAlias = NDArray[np.uint64]
"""The state of a generator, ``(1,)``; at first the seed."""


@kernel("uint64(uint64[::1])")
def draw_word(state: State) -> np.uint64:
    """Draw 64 bits, moving the state on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.uint64(z)


@kernel("int64(uint64[::1], int64)")
def draw_below(state: State, n: int | np.int64) -> int | np.int64:
    """Draw from 0 to n − 1."""
    return np.int64((draw_word(state) >> np.uint64(1)) % np.uint64(n))


@kernel("float64(uint64[::1])")
def draw_share(state: State) -> float:
    """Draw from [0, 1)."""
    share: float = (draw_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return share
