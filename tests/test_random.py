"""The generator of the kernels against its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist._random import draw_below, draw_share, draw_word

seeds = st.integers(0, 2**64 - 1)


def _plain(seed: int, n: int) -> list[int]:
    """SplitMix64, from the paper."""
    words = []
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = seed
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        words.append(z ^ (z >> 31))
    return words


@given(seeds)
def test_words_are_those_of_the_definition(seed: int) -> None:
    state = np.array([seed], dtype=np.uint64)
    assert [int(draw_word(state)) for _ in range(5)] == _plain(seed, 5)


@given(seeds, st.integers(1, 10**9))
def test_whole_numbers_and_shares_come_from_the_same_words(seed: int, n: int) -> None:
    word = _plain(seed, 1)[0]
    assert draw_below(np.array([seed], dtype=np.uint64), n) == (word >> 1) % n
    assert draw_share(np.array([seed], dtype=np.uint64)) == (word >> 11) / 2**53


def test_the_first_words_of_the_reference_implementation() -> None:
    state = np.array([1234567], dtype=np.uint64)
    assert [int(draw_word(state)) for _ in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip
