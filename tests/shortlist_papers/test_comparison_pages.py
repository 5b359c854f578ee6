"""Comparisons: every run is drawn, and methods are joined only where the test cannot tell them apart."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.report.page import Chart, Text
from shortlist_papers.comparison_pages import alike, joint_picks, pruning_comparison_parts
from tests.report.made import front_of


def results(n_tables: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"dataset": f"t{t}", "repeat": 0, "fold": fold, "method": method, "accuracy": 0.8 + worth + rng.random() / 100,
         "balanced_accuracy": 0.8, "size": 3.0, "seconds": 0.1}
        for t in range(n_tables) for fold in range(4) for method, worth in (("good", 0.1), ("bad", 0.0), ("mid", 0.05))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_folds_of_one_table_get_no_critical_difference_and_several_tables_do() -> None:
    one = pruning_comparison_parts(results(1))
    assert any("takes several tables" in part.text for part in one if isinstance(part, Text))
    (ranks,) = [part for part in one if isinstance(part, Chart) and part.data["kind"] == "ranks"]
    assert ranks.data["critical"] is None
    assert ranks.text.startswith("Best is good with 1.00")
    (several,) = [
        part
        for part in pruning_comparison_parts(results(4))
        if isinstance(part, Chart) and part.data["kind"] == "ranks"
    ]
    assert several.data["critical"] == pytest.approx(1.657, abs=0.01)


def test_every_fold_is_a_dot() -> None:
    boxes = [
        p for p in pruning_comparison_parts(results(2)) if isinstance(p, Chart) and p.data["kind"] == "box"
    ]
    assert [len(values) for values in boxes[0].data["values"]] == [8, 8, 8]
    with pytest.raises(BadInputError, match="columns"):
        pruning_comparison_parts(pd.DataFrame({"method": [1]}))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(1, 6))
def test_groups_hold_exactly_the_pairs_that_are_closer_than_the_difference(
    ranks: list[int], wide: int
) -> None:
    ordered = sorted(ranks)
    groups = alike(ordered, wide)
    for i, low in enumerate(ordered):
        for high in ordered[i + 1 :]:
            joined = any(start <= low and high <= end for start, end in groups)
            assert joined == (high - low < wide)


def test_the_picks_are_those_of_the_joint_front_as_the_first_method_that_has_them() -> None:
    joint = front_of([[1, 0, 9], [2, 5, 5], [9, 9, 1]])
    fronts = {"a": front_of([[1, 0, 9], [9, 9, 1]]), "b": front_of([[2, 5, 5], [9, 9, 1]])}
    for name, pick, why in joint_picks(fronts, joint):
        wanted = joint.pick(pick.rule)
        assert pick.values == wanted.values
        assert fronts[name].point(pick.index).values == wanted.values
        assert name == ("b" if pick.values["cost"] == 2 else "a")
        assert why.startswith("Of the joint front. ")
    assert [pick.rule for _, pick, _ in joint_picks(fronts, joint)] == ["ideal", "knee"]
    assert joint_picks(fronts, front_of([])) == []
