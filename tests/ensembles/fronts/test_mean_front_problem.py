"""What a front of means refuses."""

import numpy as np
import pytest

from shortlist.ensembles.fronts.mean_front_problem import MOST_ROWS_OF_LOSSES, mean_front_problem
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from tests.ensembles import mean_oracles


def test_objectives_that_count_votes_and_sums_that_are_too_large_are_refused() -> None:
    votes = mean_oracles.random_pool(12, 3, 2)
    with pytest.raises(BadInputError, match="log-loss goes with objectives of members only"):
        mean_front_problem(votes, ["min log-loss", "max recall"])
    with pytest.raises(BadInputError, match="limits of a front must be on the size"):
        mean_front_problem(votes, ["min log-loss", "min size"], limits=selection_limits(3, min_size=0))
    many = SoftVotes(np.repeat(votes.shares, 5_000, axis=0), np.repeat(votes.labels, 5_000))
    with pytest.raises(BadInputError, match=r"must have at most 47,662 rows that prune, .* 60,000"):
        mean_front_problem(many, ["min log-loss", "min size"])
    assert MOST_ROWS_OF_LOSSES == 47_662
