"""Which methods `shortlist compare` measures on a table, and with which options."""

from typing import Any

import pandas as pd
import pytest

from shortlist.cli.commands.compare_pruned import chosen_methods
from shortlist.cli.options.compare_options import TableQuestion
from shortlist.cli.options.prune_options import PoolOptions
from shortlist.tables.learning import LearningTable, split_target


def _asked(learning: LearningTable) -> TableQuestion:
    return TableQuestion(
        name="t", learning=learning, dropped=(), costs=None, objectives=None, limit=[], time_limit=None,
        seeds=None, seed=3, workers=1, out=None, report=None, json=False, notes=[],
    )  # fmt: skip


@pytest.fixture
def asked() -> TableQuestion:
    table = pd.DataFrame(
        {"a": ["no", "yes"] * 20, "b": ["yes", "no", "no", "yes"] * 10, "target": ["no", "yes"] * 20}
    )
    return _asked(split_target(table, "target"))


def test_methods_get_their_options_and_each_proof_one_thread(asked: TableQuestion) -> None:
    settings: dict[str, Any] = {"objective": "tp=1,fp=-5", "max_size": 3}
    chosen = chosen_methods(asked, ["uwa", "exact"], settings, PoolOptions())
    assert list(chosen) == ["uwa", "exact"]
    exact = chosen["exact"]
    assert (exact.objective, exact.max_size, exact.n_jobs) == ({"tp": 1.0, "fp": -5.0}, 3, None)
    assert chosen["uwa"].voting == "hard"
    assert set(chosen_methods(asked, None, {}, PoolOptions())) > {"full", "drep", "exact", "greedy-means"}
    assert asked.notes == []


def test_rules_beside_soft_votes_are_averaged_and_that_is_said(asked: TableQuestion) -> None:
    chosen = chosen_methods(asked, ["uwa", "exact"], {"voting": "soft"}, PoolOptions())
    assert {name: method.voting for name, method in chosen.items()} == {"uwa": "averaged", "exact": "soft"}
    assert asked.notes == [
        "--set voting=soft is of exact and greedy-means. Rules choose by votes, and answer by the mean."
    ]


def test_what_needs_probabilities_is_left_out_of_judges_without_them_and_that_is_said(
    asked: TableQuestion,
) -> None:
    chosen = chosen_methods(asked, None, {}, PoolOptions(answers=True))
    assert "greedy-means" not in chosen
    assert asked.notes == [
        "greedy-means is left out: it needs probabilities of every judge, and some give classes alone."
    ]
