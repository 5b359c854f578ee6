"""The paper on evolved ensembles, at its smallest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.reproduce.evolution import EVOLUTION, EvolutionSize, eel_table, plan_evolution
from shortlist.reproduce.paper import reproduce
from tests.reproduce.made_sets import write_made_set

SMALLEST = EvolutionSize(("bld", "bos", "spa"), 10, 1, 20, 3, 5)


@pytest.mark.slow
def test_the_smallest_reproduction_measures_every_method(tmp_path: Path) -> None:
    write_made_set(tmp_path, "bupa-liver-disorders")
    write_made_set(tmp_path, "boston-housing")
    plan = plan_evolution(tmp_path, SMALLEST)
    assert [unit.key for unit in plan.units] == ["bld/0", "bos/0"]
    assert plan.missing == ("spambase is missing: shortlist datasets fetch spambase.",)
    found = reproduce(EVOLUTION, plan)
    errors, ranks = found.tables
    methods = ["offline", "online", "single", "least-squares", "adaboost-stumps"]
    assert [(row["set"], row["method"]) for row in errors.rows] == [
        (name, method) for name in ("bld", "bos") for method in methods
    ]
    assert all(0 <= row["error %"] <= 100 for row in errors.rows)
    assert sum(row["mean rank"] for row in ranks.rows) == pytest.approx(15, abs=0.05)


def test_sets_are_read_as_the_paper_says() -> None:
    prices = pd.DataFrame({"rooms": range(9), "target": np.linspace(5, 50, 9)})
    X, y = eel_table("bos", prices)
    assert np.bincount(y).tolist() == [3, 3, 3]
    assert list(X) == ["rooms"]
    gaps = pd.DataFrame({"bare_nuclei": [1.0, None, 3.0], "target": [0, 1, 1]})
    assert eel_table("bcw", gaps)[1].tolist() == [0, 1]
    assert eel_table("pid", gaps)[1].tolist() == [0, 1, 1]
