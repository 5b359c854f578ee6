"""Figures 2, 3 and 6."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.multistage.problem.stages import has_gaps, space_size
from shortlist.runs import Budget
from shortlist_papers.emsco_tables import emsco_tables
from shortlist_papers.landscapes import (
    measure_landscape,
    measure_neighbours,
    measure_thresholds,
    random_assignments,
)
from tests.multistage.search.test_emsco import tied_problem
from tests.multistage.strategies import problem_of
from tests.shortlist_papers.made_sets import write_made_set


def test_a_higher_threshold_answers_fewer_rows_at_a_higher_cost() -> None:
    rows = measure_thresholds(budget=Budget())
    *_, table = emsco_tables(pd.DataFrame(rows))
    assert table.name == "figure-2"
    for column, sign in (("coverage", -1), ("cost", 1)):
        values = np.array([row[column] for row in rows])
        assert (sign * np.diff(values) >= 0).all()
    assert rows[-1]["accuracy"] > rows[0]["accuracy"]


def test_random_assignments_are_without_gaps_and_all_equally_likely() -> None:
    problem = problem_of(tied_problem(), 3)
    drawn = random_assignments(problem, 20_000, np.random.default_rng(0))
    assert not any(has_gaps(row) for row in drawn[:200])
    known = [row for row in itertools.product(range(3), repeat=6) if not has_gaps(row)]
    assert len(known) == space_size(6, 3)
    counts = pd.Series([tuple(row.tolist()) for row in drawn]).value_counts()
    assert len(counts) == len(known)
    expected = len(drawn) / len(known)
    assert ((counts - expected) ** 2 / expected).mean() < 1.2  # 1 on average, give or take 0.06


@pytest.mark.slow
def test_the_cells_of_figure_3_hold_the_whole_sample(tmp_path: Path) -> None:
    write_made_set(tmp_path, "heart-failure-clinical-records")
    rows = measure_landscape(tmp_path, 300, budget=Budget())
    assert sum(row["n"] for row in rows) == 300
    assert all(0 < row["inverse"] <= 1 for row in rows)
    *_, table = emsco_tables(pd.DataFrame(rows))
    assert table.picture is not None
    assert sum(len(line.points) for line in table.picture.lines) == len(rows)


@pytest.mark.slow
def test_no_neighbour_dominates_the_fittest_assignment(tmp_path: Path) -> None:
    write_made_set(tmp_path, "australian-credit")
    rows = measure_neighbours(tmp_path, 2, budget=Budget())
    values = np.array([[row["coverage"], row["accuracy"], row["inverse"]] for row in rows])
    assert len(values) == 1 + 14  # with two stages a feature has one neighbour
    assert not ((values >= values[0]).all(axis=1) & (values > values[0]).any(axis=1)).any()
    assert values[:, 2].max() <= 1
