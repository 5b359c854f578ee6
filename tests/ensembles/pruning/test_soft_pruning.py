"""The choice of an objective of mean probabilities."""

import numpy as np

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning.soft_pruning import prune_soft
from shortlist.ensembles.votes.soft_votes import soft_votes

TABLE = np.random.default_rng(0).dirichlet(np.ones(3), (12, 4))


def test_a_class_without_rows_does_not_keep_rows_from_being_held_out() -> None:
    _, _, choice = prune_soft(soft_votes(TABLE, [0, 1] * 6), "auto", selection_limits(4))

    assert choice is not None
    assert choice.reason == ""
    assert len(choice.tried) == 4


def test_a_class_of_a_single_row_does() -> None:
    _, goal, choice = prune_soft(soft_votes(TABLE, [0, 1] * 5 + [0, 2]), "auto", selection_limits(4))

    assert choice is not None
    assert "a single row" in choice.reason
    assert goal.objective.name == "log-loss"
