"""What bounds sums of functions of means, against every selection."""

import numpy as np
import pytest

from shortlist.ensembles.averaging._tangent_kernels import (
    FREE,
    IN,
    Envelopes,
    FoundTangents,
    Looked,
    better_tangents,
    envelope_at,
    find_envelopes,
    worth_of_exchanges,
    worth_of_reach,
)
from shortlist.ensembles.averaging.mean_problem import mean_terms, reach_of, scale_of, total_of
from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.goals.selection_limits import selection_limits
from tests.ensembles import mean_oracles


@pytest.mark.parametrize("n_steps", [1, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_tangents_bound_every_selection_of_a_node(objective: str, n_classes: int, n_steps: int) -> None:
    votes = mean_oracles.random_pool(14, 7, n_classes, seed=n_steps)
    goal = mean_goal(objective, votes)
    terms = mean_terms(votes, goal)
    fixed = np.full(7, FREE, dtype=np.uint8)
    fixed[3] = IN
    envelopes = Envelopes(*(np.zeros(terms.columns.shape[1]) for _ in range(4)))
    parts = np.where(fixed == IN, 1.0, 2 / 6)
    found = FoundTangents(np.zeros(7), np.zeros(len(terms.worth), np.int64), np.zeros(len(terms.worth)))
    find_envelopes(terms, 3 * terms.whole, fixed, 2, 1.0, envelopes)

    looked = Looked(3 * terms.whole, fixed, 2, n_steps, -1e9)
    bound = better_tangents(terms, looked, envelopes, parts, found)

    worths = [
        total_of(terms, reach_of(terms, mean_oracles.as_mask(members, 7)), 3) / scale_of(terms)
        for members in mean_oracles.selections(7, selection_limits(7, min_size=3, max_size=3))
        if 3 in members
    ]
    assert bound >= max(worths) - 1e-7
    assert parts.sum() == pytest.approx(3)


@pytest.mark.parametrize("objective", ["accuracy", "accuracy+slope-8", "accuracy+slope-30"])
def test_an_envelope_is_above_the_function_and_concave(objective: str) -> None:
    votes = mean_oracles.random_pool(14, 7, 3)
    terms = mean_terms(votes, mean_goal(objective, votes))
    n_forms = terms.columns.shape[1]
    envelopes = Envelopes(*(np.zeros(n_forms) for _ in range(4)))
    unit = 4 * terms.whole
    find_envelopes(terms, unit, np.full(7, FREE, dtype=np.uint8), 4, 1.0, envelopes)
    for form in range(n_forms):
        ranked = np.sort(terms.columns[:, form].astype(np.int64))
        reaches = np.linspace(ranked[:4].sum(), ranked[-4:].sum(), 50)
        above = np.array([envelope_at(terms, unit, envelopes, form, reach) for reach in reaches])
        under = [worth_of_reach(terms.kind, terms.slope, terms.aims[form], unit, reach) for reach in reaches]
        assert (above >= np.array(under) - 1e-9).all()
        assert (np.diff(above, 2) <= 1e-9).all()


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_exchanges_are_worth_what_the_changed_selection_is(objective: str) -> None:
    votes = mean_oracles.random_pool(12, 5, 3)
    goal = mean_goal(objective, votes)
    terms = mean_terms(votes, goal)
    reach = reach_of(terms, mean_oracles.as_mask([0, 1], 5)).astype(float)
    worths = np.empty((2, 3))

    worth_of_exchanges(terms, 2 * terms.whole, reach, np.array([0, 1]), np.array([2, 3, 4]), worths)

    sign = -1 if goal.kind in {"log-loss", "brier"} else 1
    offset = goal.offset if goal.kind == "right" else 0
    for i, stays in enumerate([1, 0]):
        for j, joins in enumerate([2, 3, 4]):
            expected = mean_oracles.worth(votes, goal, [stays, joins]) * goal.denominator - offset
            assert sign * worths[i, j] == pytest.approx(expected)
