"""Weights of decisions by class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.goals.class_weights import class_weights, decision_table, for_classes
from shortlist.ensembles.votes.class_votes import class_votes
from tests.ensembles import rule_oracles
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.plurality_oracles import members_of


@given(pool=class_pools(), data=st.data())
def test_decisions_are_counted_by_class(pool: Pool, data: st.DataObject) -> None:
    samples, k, n_classes = pool
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)))

    table = decision_table(as_votes(pool, merged=True), mask)

    expected = np.zeros((n_classes, n_classes), dtype=int)
    for votes, label in samples:
        expected[label, rule_oracles.decision(votes, list(members_of(mask)), n_classes)] += 1
    assert table.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        pytest.param({0: -1, 1: 2}, "at least 0, one of them above 0, got 0=-1, 1=2", id="negative"),
        pytest.param({0: 0}, "at least 0, one of them above 0, got 0=0", id="nothing is worth anything"),
        pytest.param({}, "got none", id="none"),
        pytest.param({0: float("nan")}, "must be a finite number", id="no number"),
        pytest.param({0: 1e-9, 1: 1e9}, "fewer digits", id="too many digits"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: dict[int, float], said: str) -> None:
    votes = class_votes([[0], [1], [2]], [0, 1, 2])
    with pytest.raises(BadInputError, match=said):
        class_weights(weights, votes)


def test_weights_are_named_after_classes() -> None:
    three = np.array(["a", "b", "tp"])
    assert for_classes({"tp": 2, "a": 1}, three) == {2: 2, 0: 1}
    with pytest.raises(BadInputError, match="must be named a, b or tp, got 'fp'"):
        for_classes({"fp": 1}, three)
    assert for_classes({0: 1, "1": 3}, np.array([0, 1]), 0) == {"tp": 1, "tn": 3}
    assert for_classes({"fn": 1}, np.array([0, 1]), 0) == {"fn": 1}
    assert for_classes("accuracy", three) == "accuracy"
