import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.problem.costs import feature_costs

NAMES = ["a", "b", "c"]


@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=3),
    st.lists(st.sampled_from(["", "x", "y"]), min_size=3, max_size=3),
)
def test_the_price_table_equals_one_sum_per_subset(prices: list[int], groups: list[str]) -> None:
    of_group = {name: group for name, group in zip(NAMES, groups, strict=True) if group}
    costs = feature_costs([p / 10 for p in prices], NAMES, groups=of_group, first_prices={"x": 2.1, "y": 0.5})
    table = costs.table()
    for mask in range(8):
        inside = [i for i in range(3) if mask >> i & 1]
        opened = {groups[i] for i in inside} - {""}
        wanted = sum(prices[i] / 10 for i in inside) + sum({"x": 2.1, "y": 0.5}[g] for g in opened)
        assert table[mask] / costs.scale == pytest.approx(wanted)
        subset = np.array([i in inside for i in range(3)])
        assert costs.price(subset) == table[mask]
    assert costs.total == table[7]


def test_a_mapping_is_read_by_name() -> None:
    costs = feature_costs({"c": 3, "a": 1, "b": 2}, NAMES)

    assert costs.prices.tolist() == [1, 2, 3]
    assert feature_costs(costs, ["b", "c", "a"]).prices.tolist() == [2, 3, 1]
    assert feature_costs(None, NAMES).prices.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ({"a": 1}, "feature_costs must price every feature, got none for 'b' and 'c'. Add each price, or 0."),
        ({"a": 1, "b": 1e-10, "c": 3}, "the cost of 'b' must keep its first 9 digits .*, got 1e-10"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "feature_costs must name columns of the table, got 'd'"),
        ({"a": 1, "b": -2, "c": 3}, "the cost of 'b' must be a number of at least 0, got -2"),
        ({"a": 1, "b": float("nan"), "c": 3}, "the cost of 'b' must be a number"),
        ({"a": 1, "b": "dear", "c": 3}, "the cost of 'b' must be a number"),
        ([1, 2], "feature_costs must have one cost per feature, 3, got 2"),
    ],
)
def test_bad_prices_are_refused(costs: object, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        feature_costs(costs, NAMES)  # type: ignore[arg-type]  # bad on purpose


def test_prices_that_were_computed_are_kept_as_what_was_meant() -> None:
    costs = feature_costs([0.1 + 0.2, 1 / 3, 1e-9], NAMES)
    assert [int(price) * 10**9 // costs.scale for price in costs.prices] == [3 * 10**8, 333333333, 1]


def test_bad_groups_are_refused() -> None:
    with pytest.raises(BadInputError, match="first_prices must hold every group, got none for 'x'"):
        feature_costs(None, NAMES, groups={"a": "x"})
    with pytest.raises(BadInputError, match="groups must name columns"):
        feature_costs(None, NAMES, groups={"z": "x"}, first_prices={"x": 1})


@pytest.mark.parametrize(
    ("hours", "sentence"),
    [
        ({"a": 1}, "the attribute 'hours' must have a number for every feature, got none for 'b'"),
        ({"a": 1, "b": 1, "c": 1}, "the attribute 'hours' must name columns of the table, got 'c'"),
        ({"a": 1, "b": -1}, "hours of 'b' must be a number of at least 0, got -1"),
    ],
)
def test_bad_attributes_are_refused(hours: dict[str, float], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        feature_costs([1, 2], "ab", attributes={"hours": hours})


def test_a_group_that_is_called_like_a_feature_takes_nothing_itself() -> None:
    costs = feature_costs(
        [1, 2], "ab", groups={"b": "a"}, first_prices={"a": 4}, attributes={"hours": {"a": 9, "b": 1}}
    )
    assert costs.taken(np.array([[False, True], [True, True]]), costs.attributes).tolist() == [[1], [9]]
