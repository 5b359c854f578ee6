"""Flags in words: nothing is lost, and ones are counted as plain Python counts them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist._bits import Words, pack, popcount, unpack
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
