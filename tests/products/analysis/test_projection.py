"""What clauses say of some variables, against all models."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.products.analysis.projection import asked, eliminated
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples

LITERALS = st.integers(1, 6).flatmap(lambda v: st.sampled_from([v, -v]))
LISTED = st.lists(st.lists(LITERALS, max_size=4).map(tuple), max_size=9)
EVERY = np.array(list(product([False, True], repeat=6)))


def _cut(clauses: Clauses, kept: list[int]) -> set[tuple[bool, ...]]:
    """List the models, cut to the kept variables."""
    return {tuple(row) for row in EVERY[clauses.satisfied(EVERY)][:, [v - 1 for v in kept]].tolist()}


@examples(100)
@given(listed=LISTED, gone=st.sets(st.integers(1, 6)))
def test_elimination_and_questions_say_what_is_left_of_all_models(
    listed: list[tuple[int, ...]], gone: set[int]
) -> None:
    clauses = Clauses.from_clauses(6, listed)
    kept = [v for v in range(1, 7) if v not in gone]

    resolved = eliminated(listed, gone)
    known = [clause for clause in listed if not {abs(v) for v in clause} & gone]
    answered = asked(clauses, kept, known)

    assert resolved is not None
    assert answered is not None
    for found in (resolved, [*known, *answered]):
        assert not {abs(v) for clause in found for v in clause} & gone
        assert _cut(Clauses.from_clauses(6, found), kept) == _cut(clauses, kept)


def test_limits_end_both_without_an_answer() -> None:
    pigeons = [(1, 2), (3, 4), (5, 6), (-1, -3), (-1, -5), (-3, -5), (-2, -4)]
    assert eliminated(pigeons, {1, 3}, most_literals=3) is None
    stopped = Cancellation()
    stopped.cancel()
    budget = Budget(cancellation=stopped)
    assert eliminated(pigeons, {1}, budget=budget) is None
    assert asked(Clauses.from_clauses(6, pigeons), [1, 2, 4], [], budget=budget) is None
    assert asked(Clauses.from_clauses(6, pigeons), [1, 2, 4], [], most_questions=1) is None
