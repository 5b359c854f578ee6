"""NAME=VALUE, as options read it."""

import pytest

from shortlist.cli.options.pairs import read_numbers, read_pairs
from shortlist.errors import BadInputError


def test_pairs_and_numbers_are_read_with_spaces_around_them() -> None:
    assert read_pairs(["a = b", "c=d=e"], "rename") == [("a", "b"), ("c", "d=e")]
    assert read_numbers("cost=2, defects = 1e-3", "weights") == {"cost": 2.0, "defects": 0.001}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cost", "--weights must read NAME=VALUE, got 'cost'"),
        ("=3", "--weights must read NAME=VALUE"),
        ("cost=dear", "--weights must read NAME=NUMBER, got 'dear' for 'cost'"),
        ("cost=1,cost=2", "--weights must name each number once, got 'cost' twice"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_numbers(text, "weights")
