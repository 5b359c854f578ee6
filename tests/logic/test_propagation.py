"""Unit propagation against repeating the rule by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.propagation import propagate
from tests.logic.oracles import clause_sets


def propagated(clauses: Clauses, literals: list[int]) -> set[int] | None:
    """Add the last open literal of every clause until nothing changes; None on a contradiction."""
    true = set(literals)
    changed = True
    while changed:
        changed = False
        if any(-literal in true for literal in true):
            return None
        for clause in clauses:
            left = {literal for literal in clause if -literal not in true}
            if not left:
                return None
            if len(left) == 1 and not left <= true:
                true |= left
                changed = True
    return None if any(-literal in true for literal in true) else true


@given(clauses=clause_sets(), data=st.data())
def test_propagation_equals_repeating_the_rule(clauses: Clauses, data: st.DataObject) -> None:
    literal = st.integers(1, clauses.n_variables).flatmap(lambda v: st.sampled_from([v, -v]))
    given_literals = data.draw(st.lists(literal, max_size=3))
    # a clause that repeats a literal is a unit by hand, and the watched pair sees two literals: same conclusions
    distinct = Clauses.from_clauses(clauses.n_variables, [tuple(dict.fromkeys(c)) for c in clauses])

    found = propagate(distinct, given_literals)
    expected = propagated(distinct, given_literals)

    assert found.consistent == (expected is not None)
    if expected is not None:
        assert set(found.literals) == expected


def test_an_empty_clause_is_a_contradiction() -> None:
    assert not propagate(Clauses.from_clauses(1, [()])).consistent


def test_unknown_variables_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"variables 1 to 2, got \[3\]"):
        propagate(Clauses.from_clauses(2, []), [3])
