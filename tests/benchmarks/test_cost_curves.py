"""The arithmetic of the study of accuracy against cost: choosing, ranking, reading off curves, and margins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.studies.cost_curves import at_costs, chosen_within, compared, margin, surest
from tests.examples import examples


@examples(30)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12), data=st.data())
def test_of_equally_sure_rows_each_is_as_likely_to_be_answered(
    rows: list[tuple[int, bool]], data: st.DataObject
) -> None:
    wanted = data.draw(st.integers(1, len(rows)))
    found, left = 0.0, wanted
    for level in sorted({level for level, _ in rows}, reverse=True):
        here = [right for each, right in rows if each == level]
        found += sum(here) * min(1, left / len(here))
        left -= min(left, len(here))
    levels, right = (np.array(each) for each in zip(*rows, strict=True))
    assert surest(levels, right, wanted / len(rows)) == pytest.approx(found / wanted)


def test_the_best_within_a_limit_is_taken_and_the_cheapest_of_equals() -> None:
    judged = np.array([[0.0, 0.61], [0.2, 0.9], [0.1, 0.9], [0.3, 0.89], [0.5, 1.0]])
    assert [chosen_within(judged, 1, limit) for limit in (0.0, 0.15, 0.3, 0.6)] == [0, 2, 2, 4]
    assert chosen_within(judged, 1, 0.6, n_rows=10) == 4  # an accuracy of 1 has no standard error
    assert chosen_within(judged, 1, 0.3, n_rows=4) == 2  # 0.75 or more is enough
    assert chosen_within(judged, 1, 0.3, n_rows=1) == 0


def test_between_two_points_of_a_curve_a_lot_decides() -> None:
    costs, accuracies = np.array([0.4, 0.0, 0.2, 0.2]), np.array([0.9, 0.5, 0.6, 0.8])
    assert at_costs(costs, accuracies, (0.0, 0.1, 0.2, 0.3, 1.0)) == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9])


def test_margins_count_that_splits_share_rows() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4])
    # t of 3 degrees of freedom at 97.5 % is 3.182; the variance is 1/60
    assert margin(values) == pytest.approx(3.182446 * np.sqrt((1 / 4 + 1 / 3) / 60), rel=1e-6)
    assert np.isnan(margin(values[:1]))


def test_methods_are_compared_on_the_same_splits() -> None:
    curves = [
        {"method": method, "seed": seed, "cost": cost, "accuracy": 0.5 + cost * slope + 0.1 * seed}
        for method, slope in (("stages", 0.2), ("other", 0.4))
        for seed in (0, 1, 2)
        for cost in (0.0, 1.0)
    ]
    found = pd.DataFrame(compared(pd.DataFrame(curves), (0.5, 1.0))).set_index(["method", "cost"])
    assert found.loc[("other", 0.5), "accuracy"] == pytest.approx(0.8)
    assert found.loc[("other", 0.5), "difference"] == pytest.approx(0.1)
    assert found.loc[("other", 0.5), "difference_margin"] == pytest.approx(0, abs=1e-12)
    assert found.loc[("other", 0.5), "accuracy_margin"] > 0.1
    assert found["difference"]["stages"].tolist() == [0, 0, 0]
    assert found["difference"]["other"].tolist() == pytest.approx([0.1, 0.2, 0.15])
