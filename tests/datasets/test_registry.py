"""The list of public sets."""

import re

import pytest

from shortlist.datasets.registry import public_set, public_sets
from shortlist.errors import BadInputError


@pytest.mark.parametrize("name", public_sets())
def test_every_set_says_what_one_must_know(name: str) -> None:
    data_set = public_sets()[name]
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert data_set.columns[-1] == "target"
    assert len(set(data_set.columns)) == len(data_set.columns) > len(data_set.features) > 1
    assert sum(data_set.classes.values()) in {0, data_set.rows}
    assert data_set.title
    assert data_set.licence
    assert data_set.page.startswith(("https://", "http://lib.stat.cmu.edu/"))
    source = data_set.source
    if source is not None:
        assert source.url.startswith("https://")
        assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)
        assert set(source.order) <= set(data_set.columns)
        assert set(source.classes.values()) <= set(data_set.classes)
        assert bool(source.members) == bool(source.most_bytes)


def test_no_two_sets_share_a_file() -> None:
    hashes = [one.source.sha256 for one in public_sets().values() if one.source]
    assert len(hashes) == len(set(hashes)) > 5


def test_a_set_is_found_by_both_ways_to_write_it() -> None:
    assert public_set("australian_credit") is public_set("australian-credit")


def test_an_unknown_set_is_told_with_the_nearest() -> None:
    with pytest.raises(BadInputError, match=r"got 'spam_base'\. Did you mean 'spambase'\?"):
        public_set("spam_base")
