"""Weights of decisions by class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.class_weights import (
    decision_table,
)
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
