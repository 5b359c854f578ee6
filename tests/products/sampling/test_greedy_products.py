"""Products with many open interactions."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver
from shortlist.products.sampling.greedy_products import GreedyProducts

N = 5
LITERALS = st.integers(1, N).flatmap(lambda v: st.sampled_from([v, -v]))


@settings(max_examples=60, deadline=None)
@given(
    listed=st.lists(st.lists(LITERALS, min_size=1, max_size=3), max_size=6),
    t=st.integers(1, 3),
    data=st.data(),
)
def test_a_product_satisfies_the_clauses_and_what_it_must_have(
    listed: list[list[int]], t: int, data: st.DataObject
) -> None:
    clauses = Clauses.from_clauses(N, listed)
    solver = SatSolver(clauses)
    literals = data.draw(st.lists(LITERALS, max_size=t, unique_by=abs))
    first = solver.solve(literals).model
    if first is None:
        return
    places = np.array(list(itertools.combinations(range(N), t)), dtype=np.int32)
    state = data.draw(st.binary(min_size=len(places) << t, max_size=len(places) << t))
    marks = np.frombuffer(state, dtype=np.uint8).reshape(len(places), -1) % 2

    found = GreedyProducts(places, N, solver).product(literals, marks, np.zeros(2 * N), first)

    assert clauses.satisfied(found[None, :]).all()
    assert all(found[abs(literal) - 1] == (literal > 0) for literal in literals)


def test_without_clauses_the_value_that_completes_most_is_taken() -> None:
    """After x, y is the value with an open interaction, and z follows y."""
    places = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    state = np.ones((3, 4), dtype=np.uint8)
    state[0, 3] = 0  # x and y
    state[2, 2] = 0  # z without y
    state[2, 3] = 0  # y and z
    solver = SatSolver(Clauses.from_clauses(3, []))
    first = np.array([True, False, False])
    found = GreedyProducts(places, 3, solver).product([1], state, np.zeros(6), first)
    assert found.tolist() == [True, True, True]
