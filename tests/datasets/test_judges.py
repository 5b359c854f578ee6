"""The made table of answers."""

import numpy as np

from shortlist.datasets.judges import (
    JUDGE_KINDS,
    NEEDS,
    THINGS,
    judged_messages,
    needs_of_judges,
    prices_of_judges,
)


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
