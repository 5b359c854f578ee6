"""Models of clauses by trying every assignment, and small random clauses."""

import itertools

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.logic.clauses import Clauses


def all_assignments(n_variables: int) -> NDArray[np.bool_]:
    return np.array(list(itertools.product([False, True], repeat=n_variables)), dtype=bool).reshape(
        2**n_variables, n_variables
    )


def true_in(assignment: tuple[bool, ...], literal: int) -> bool:
    return assignment[abs(literal) - 1] == (literal > 0)


def models(clauses: Clauses) -> list[tuple[bool, ...]]:
    """Every model, by trying all."""
    return [
        assignment
        for assignment in itertools.product([False, True], repeat=clauses.n_variables)
        if all(any(true_in(assignment, literal) for literal in clause) for clause in clauses)
    ]


@st.composite
def clause_sets(draw: st.DrawFn, *, most_variables: int = 8, most_clauses: int = 20) -> Clauses:
    """Few variables and short clauses, so that units, equivalences and contradictions are common."""
    n = draw(st.integers(1, most_variables))
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v]))
    clause = st.lists(literal, min_size=1, max_size=4)
    return Clauses.from_clauses(n, draw(st.lists(clause, max_size=most_clauses)))
