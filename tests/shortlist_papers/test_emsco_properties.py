"""Theorem 1 and Properties 2 and 3: what is compared by brute force, and what would break them."""

import numpy as np
import pandas as pd
import pytest

from shortlist.runs import Budget
from shortlist_papers.claims import FAILS, HOLDS
from shortlist_papers.emsco_properties import (
    broken_pairs,
    brute_force_ranks,
    every_assignment,
    fittest,
    growth,
    measure_growth,
    property_table,
    selection,
)
from shortlist_papers.emsco_rows import EmscoRows


def _peeled(merits: np.ndarray) -> list[int]:
    """Return ranks row by row, with loops."""
    left, levels, level = set(range(len(merits))), dict[int, int](), 0
    while left:
        front = {
            one
            for one in left
            if not any(
                (merits[other] >= merits[one]).all() and (merits[other] > merits[one]).any() for other in left
            )
        }
        levels |= dict.fromkeys(front, level)
        left, level = left - front, level + 1
    return [max(levels.values()) - levels[one] for one in range(len(merits))]


def test_ranks_are_those_of_peeling_row_by_row() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        merits = rng.integers(0, 4, size=(12, 3)) / 4
        assert brute_force_ranks(merits).tolist() == _peeled(merits)


def test_a_pair_breaks_the_property_where_rank_or_norm_is_higher_and_fitness_is_not() -> None:
    ranks, norms = np.array([1, 0, 0]), np.array([0.5, 0.9, 0.4])
    assert broken_pairs(ranks, norms, np.array([3.0, 2.0, 1.0])) == 0
    assert broken_pairs(ranks, norms, np.array([3.0, 1.0, 2.0])) == 1
    assert broken_pairs(ranks, norms, np.array([1.0, 1.0, 1.0])) == 3


def test_every_assignment_is_listed_once_and_uses_its_stages() -> None:
    listed = every_assignment(4, 3)
    assert len(np.unique(listed, axis=0)) == len(listed) == 1 + 14 + 36
    assert all(set(row.tolist()) == set(range(row.max() + 1)) for row in listed)


def test_theorem_1_is_judged_by_what_was_listed_and_by_the_ratio() -> None:
    rows = pd.DataFrame(measure_growth(budget=Budget()))
    assert growth(EmscoRows(rows)).verdict == HOLDS
    assert growth(EmscoRows(rows.assign(ratio=rows["ratio"] * 2))).verdict != HOLDS
    assert growth(EmscoRows(rows.assign(listed=rows["listed"] + 1))).verdict != HOLDS


@pytest.mark.parametrize(("broken", "verdict"), [(0, HOLDS), (1, FAILS)])
def test_one_exception_is_enough_against_a_property(broken: int, verdict: str) -> None:
    rows = EmscoRows(
        pd.DataFrame(
            [
                {"kind": "selection", "set": "pima", "generations": 2, "pairs": 30, "broken": broken,
                 "ranks_off": 0},
                {"kind": "fittest", "set": "pima", "stages": 2, "assignments": 255, "vectors": 1,
                 "dominating": broken},
            ]
        )
    )  # fmt: skip
    assert selection(rows).verdict == fittest(rows).verdict == verdict


def test_the_table_counts_what_was_compared_and_what_broke() -> None:
    (table,) = property_table(pd.DataFrame(measure_growth(budget=Budget())))
    assert [(row["of"], row["compared"], row["broken"]) for row in table.rows] == [
        ("k = 2", 4, 0), ("k = 3", 4, 0), ("k = 4", 4, 0),
    ]  # fmt: skip
