"""Facts about public sets, and tables that are always there."""

import re

import numpy as np
import pytest

from shortlist.datasets.registry import (
    JUDGE_KINDS,
    NEEDS,
    SHIPPED,
    THINGS,
    judged_messages,
    needs_of_judges,
    prices_of_judges,
    public_set,
    public_sets,
    shipped_table,
)
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


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_table_has_its_class_last(name: str) -> None:
    table = shipped_table(name)
    assert table.columns[-1] == "target"
    assert table["target"].nunique() >= 2
    assert len(table) >= 100


def test_another_name_is_refused() -> None:
    with pytest.raises(BadInputError, match="Did you mean 'wine'"):
        shipped_table("wines")


def test_every_judge_has_a_price_and_cells_are_empty_where_they_were_not_asked() -> None:
    table, prices = judged_messages(), prices_of_judges()
    assert prices["name"].tolist() == [name for name in table if name != "target"]
    assert len(prices) == sum(kind.number for kind in JUDGE_KINDS) == 30
    asked = table.drop(columns="target").notna().mean()
    for kind in JUDGE_KINDS:
        own = asked[[name for name in asked.index if name.startswith(kind.name)]]
        assert np.allclose(own, kind.asked, atol=0.1)


def test_the_table_is_the_same_every_time_and_dearer_judges_see_more() -> None:
    table = judged_messages()
    assert table.equals(judged_messages())
    right = table.drop(columns="target").eq(table["target"], axis=0).mean()
    by_kind = right.groupby([name.rpartition("-")[0] for name in right.index]).mean()
    assert by_kind["words"] < by_kind["small-model"] < by_kind["large-model"]


def test_whatever_a_judge_needs_has_a_price() -> None:
    table = needs_of_judges().set_index("name")
    assert set(table["needs"]) - {""} == set(THINGS) < set(table.index)
    assert table.drop(index=list(THINGS))["cost"].tolist() == prices_of_judges()["cost"].tolist()
    assert set(NEEDS) <= {kind.name for kind in JUDGE_KINDS}
