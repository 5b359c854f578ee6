"""Words of 64 bits: flags packed into them, and random ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist._bits import Words, draw_below, draw_share, draw_word, pack, popcount, unpack
from shortlist._jit import kernel


@kernel("int64(uint64[::1])")
def count_all(words: Words) -> int:
    """Count the ones of all words."""
    total = 0
    for word in words:
        total += popcount(word)
    return total


@given(st.lists(st.booleans(), max_size=200))
def test_flag_i_is_bit_i_of_the_words_and_comes_back(flags: list[bool]) -> None:
    words = pack(np.array(flags, dtype=bool))
    assert len(words) == max(1, -(-len(flags) // 64))
    number = sum(int(word) << (64 * place) for place, word in enumerate(words))
    assert number == sum(1 << place for place, flag in enumerate(flags) if flag)
    assert unpack(words, len(flags)).tolist() == flags


@pytest.mark.parametrize("shape", [(3, 70), (2, 3, 5), (4, 0)])
def test_the_last_axis_is_packed(shape: tuple[int, ...]) -> None:
    flags = np.random.default_rng(1).random(shape) < 0.5
    words = pack(flags)
    assert words.shape == (*shape[:-1], max(1, -(-shape[-1] // 64)))
    assert (unpack(words, shape[-1]) == flags).all()


def test_flags_may_be_given_more_words_than_they_need() -> None:
    assert pack(np.array([True, True]), 3).tolist() == [3, 0, 0]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_ones_are_counted(words: list[int]) -> None:
    assert count_all(np.array(words, dtype=np.uint64)) == sum(word.bit_count() for word in words)


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
