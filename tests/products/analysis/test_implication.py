"""Which clauses imply others, against all models."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.products.analysis.implication import first_breach, joined, renumbered
from tests.examples import examples

LITERALS = st.integers(1, 4).flatmap(lambda v: st.sampled_from([v, -v]))
LISTED = st.lists(st.lists(LITERALS, max_size=3), max_size=6)


@examples(60)
@given(listed=LISTED, claims=LISTED)
def test_a_breach_is_a_model_of_the_clauses_and_of_no_claim(
    listed: list[list[int]], claims: list[list[int]]
) -> None:
    clauses = Clauses.from_clauses(4, listed)
    every = np.array(list(product([False, True], repeat=4)))
    broken = clauses.satisfied(every) & ~Clauses.from_clauses(4, claims).satisfied(every)

    found = first_breach(clauses, claims, budget=None)

    assert (found is None) == (not broken.any())
    if found is not None:
        assert broken[(every == found).all(axis=1)].all()


def test_renumbered_and_joined_clauses_say_what_they_said_of_other_variables() -> None:
    clauses = Clauses.from_clauses(2, [(1, -2), (2,)])
    assert list(renumbered(clauses, np.array([0, 3, 1]), 3)) == [(3, -1), (1,)]
    assert list(joined(3, clauses, [(3,)])) == [(1, -2), (2,), (3,)]
