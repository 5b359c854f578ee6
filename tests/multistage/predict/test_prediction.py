"""Stages of a fitted model, against what is known by then."""

import numpy as np

from shortlist.multistage.predict.prediction import fitted_stages
from shortlist.multistage.problem.costs import feature_costs


def test_a_stage_buys_what_it_knows_and_the_one_before_did_not() -> None:
    costs = feature_costs([1, 2.5, 10], "abc")
    known = np.array([[True, False, False], [True, False, True], [True, True, True]])
    stages = fitted_stages(known, lambda subset: (f"of {subset.sum()}", 0.1 * subset.sum()), costs)
    assert [stage.bought.tolist() for stage in stages] == [[0], [2], [1]]
    assert [stage.model for stage in stages] == ["of 1", "of 2", "of 3"]
    assert [stage.least for stage in stages] == [0.1, 0.2, 0.1 * 3]
    assert [stage.price / costs.scale for stage in stages] == [1, 11, 13.5]
