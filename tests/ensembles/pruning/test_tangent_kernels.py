"""What bounds sums of functions of means, against every selection."""

import numpy as np
import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning._tangent_kernels import (
    FREE,
    IN,
    FoundTangents,
    Looked,
    better_tangents,
)
from shortlist.ensembles.pruning.mean_problem import SCALE, MeanProblem, mean_goal
from tests.ensembles import mean_oracles


@pytest.mark.parametrize("n_steps", [1, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_tangents_bound_every_selection_of_a_node(objective: str, n_classes: int, n_steps: int) -> None:
    votes = mean_oracles.random_pool(14, 7, n_classes, seed=n_steps)
    problem = MeanProblem(votes, mean_goal(objective, votes), selection_limits(7))
    terms = problem.terms
    fixed = np.full(7, FREE, dtype=np.uint8)
    fixed[3] = IN
    parts = np.where(fixed == IN, 1.0, 2 / 6)
    found = FoundTangents(np.zeros(7), np.zeros(len(terms.aims)))

    looked = Looked(3 * terms.whole, fixed, 2, n_steps, -1e9)
    bound = better_tangents(terms, looked, parts, found)

    worths = [
        problem.rate(problem.tally(mean_oracles.as_mask(members, 7)), 3)[0] / SCALE
        for members in mean_oracles.selections(7, selection_limits(7, min_size=3, max_size=3))
        if 3 in members
    ]
    assert bound >= max(worths) - 1e-7
    assert parts.sum() == pytest.approx(3)
