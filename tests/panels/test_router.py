"""Routers: the exported reader and Python send every case the same way, whatever its columns hold."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.panels.router import Fork, columns_of, router_of
from tests.panels.test_saved_panels import HOSTILE

TOPICS = ("1", "True", "code", "law")


def router_at_random(rng: np.random.Generator, depth: int = 3) -> Fork:
    """A router over a column of numbers and two of words, with branches from 1."""
    numbers = iter(range(1, 1 << depth))

    def way(left: int) -> Any:
        if left == 0 or (left < depth and rng.random() < 0.3):
            return next(numbers)
        if rng.random() < 0.5:
            return Fork("length", float(rng.normal(0, 2)), (), (), way(left - 1), way(left - 1))
        words = tuple(rng.choice(np.array(TOPICS), 2, replace=False).tolist())
        return Fork(str(rng.choice(["topic", "language"])), None, words, TOPICS, way(left - 1), way(left - 1))

    made = way(depth)
    assert isinstance(made, Fork)
    return made


def branch_of(router: Fork, row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The branch by the loop of the reader, and which column could not tell."""
    policy = {"router": json.loads(json.dumps(router.plain())), "stages": ["none"]}
    policy["branches"] = [[n] for n in range(1, 40)]
    stages, told = reader._way_of(policy, row)
    assert stages == (["none"] if told["branch"] == 0 else [told["branch"]])
    return told["branch"], told["unrouted"]


@pytest.mark.parametrize("seed", range(8))
def test_the_reader_sends_every_case_where_python_does_with_hostile_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    router = router_at_random(rng)
    values = [*HOSTILE, *TOPICS, "Code", 0.5, -3.0, "1e-3", 10**400]
    rows = [
        {name: values[rng.integers(len(values))] for name in ("length", "topic", "language")}
        for _ in range(150)
    ]
    features = pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]})
    found = router.branches(features)
    told = [branch_of(router, row) for row in rows]
    assert found.tolist() == [branch for branch, _ in told]
    for row, (branch, unrouted) in zip(rows, told, strict=True):
        assert (branch == 0) == bool(unrouted)
        for name in unrouted:
            assert name in columns_of(router)
            value = row[name]
            is_gap = value is None or value == "" or (isinstance(value, float) and math.isnan(value))
            assert unrouted[name] == (None if is_gap else str(value))
    assert len(set(found)) > 2


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "bool"])
def test_numbers_in_columns_of_any_kind_go_where_the_same_numbers_go(dtype: str) -> None:
    values = pd.Series([0, 1, 2, -5, 1]).astype(dtype)
    router = Fork("length", 0.5, (), (), 1, 2)
    wanted = [branch_of(router, {"length": value.item()})[0] for value in values.to_numpy()]
    assert router.branches(pd.DataFrame({"length": values})).tolist() == wanted


def test_the_reader_names_the_columns_of_a_router() -> None:
    for seed in range(10):
        router = router_at_random(np.random.default_rng(seed))
        assert set(reader.routed_by({"router": router.plain()})) == set(columns_of(router))
    assert reader.routed_by({"stages": []}) == []


def test_a_router_comes_back_from_plain_data_as_it_was() -> None:
    for seed in range(10):
        router = router_at_random(np.random.default_rng(seed))
        assert router_of(json.loads(json.dumps(router.plain()))) == router


def test_a_column_that_is_not_there_is_named() -> None:
    router = Fork("topic", None, ("a",), ("a", "b"), 1, Fork("length", 1.0, (), (), 2, 3))
    with pytest.raises(BadInputError, match="the columns of the router; missing: length"):
        router.branches(pd.DataFrame({"topic": ["a"]}))


def test_conditions_say_what_is_left_of_each_column() -> None:
    words = ("a", "b", "c")
    inner = Fork("topic", None, ("b",), words, 2, Fork("length", 3.0, (), (), 3, 4))
    router = Fork("topic", None, ("a",), words, 1, Fork("length", 9.5, (), (), inner, 1))
    assert router.conditions() == {
        1: "topic is a, or topic is b or c and length is above 9.5",
        2: "topic is b and length is at most 9.5",
        3: "topic is c and length is at most 3",
        4: "topic is c and length is above 3 and at most 9.5",
    }
