"""Implications of clauses beyond their letters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import without_subsumed
from shortlist.logic.probing import (
    components_of,
    further_implications,
    implied_by_pairs,
    propagate,
    shortened,
    without_chained,
)
from shortlist.runs import Budget
from shortlist.runs.cancellation import Cancellation
from tests.logic.oracles import clause_sets, models


def literal(code: int) -> int:
    """Return the signed variable of a literal's code."""
    return -(code >> 1) - 1 if code & 1 else (code >> 1) + 1


def all_implications(clauses: Clauses) -> tuple[list[int], list[int]]:
    """Return what propagation finds from each literal alone, with its contraposition, as codes."""
    heads, tails = [], []
    for code in range(2 * clauses.n_variables):
        found = propagate(clauses, [literal(code)])
        if found.consistent:
            for other in found.literals:
                to = 2 * (abs(other) - 1) + (other < 0)
                heads += [code, to ^ 1]
                tails += [to, code ^ 1]
    return heads, tails


@given(clauses=clause_sets())
def test_further_implications_hold_and_make_the_same_literals_equivalent(clauses: Clauses) -> None:
    further = further_implications(clauses)
    for model in models(clauses):
        for pair in further.tolist():
            if_, then = (model[code >> 1] == (not code & 1) for code in pair)
            assert then or not if_
    if not propagate(clauses).consistent or any(propagate(clauses).literals):
        return  # what is fixed is taken out before literals are probed
    n = clauses.n_variables
    heads, tails = implied_by_pairs(clauses)
    own = components_of(
        np.concatenate([heads, further[:, 0], further[:, 1] ^ 1]),
        np.concatenate([tails, further[:, 1], further[:, 0] ^ 1]),
        n,
    )
    all_heads, all_tails = all_implications(clauses)
    every = components_of(np.array(all_heads, dtype=np.int32), np.array(all_tails, dtype=np.int32), n)
    # what either finds to be equivalent, the other does not deny
    for first in range(len(own)):
        for second in range(first):
            if every[first] == every[second]:
                assert own[first] == own[second]


@given(clauses=clause_sets(), known=clause_sets())
def test_shorter_clauses_are_parts_with_the_same_models(clauses: Clauses, known: Clauses) -> None:
    n = max(clauses.n_variables, known.n_variables)
    clauses, known = (Clauses(n, one.literals, one.offsets) for one in (clauses, known))
    shorter = shortened(clauses, known)
    both = [Clauses.from_clauses(n, [*one, *known]) for one in (clauses, shorter)]

    assert models(both[0]) == models(both[1])
    assert all(set(a) <= set(b) for a, b in zip(shorter, clauses, strict=True))


@given(clauses=clause_sets())
def test_clauses_that_shorten_each_other_keep_their_models(clauses: Clauses) -> None:
    assert models(shortened(clauses, clauses)) == models(clauses)


@given(clauses=clause_sets())
def test_a_chain_replaces_no_more_than_it_implies(clauses: Clauses) -> None:
    tidy = without_subsumed(clauses)
    left = without_chained(tidy)

    assert set(left) <= set(tidy)
    assert models(left) == models(tidy)
    assert all(len(clause) == 2 for clause in set(tidy) - set(left))


@pytest.mark.parametrize("length", [3, 4, 7])
def test_of_all_pairs_in_a_row_neighbours_are_left(length: int) -> None:
    pairs = [(-i, j) for i in range(1, length + 1) for j in range(i + 1, length + 1)]
    left = without_chained(Clauses.from_clauses(length, pairs))
    assert list(left) == [(-i, i + 1) for i in range(1, length)]


def test_a_circle_stays() -> None:
    circle = Clauses.from_clauses(3, [(-1, 2), (-2, 3), (-3, 1), (-1, 3)])
    assert list(without_chained(circle)) == list(circle)


def test_a_budget_that_has_ended_leaves_everything_as_it_is() -> None:
    stop = Cancellation()
    stop.cancel()
    budget = Budget(cancellation=stop)
    clauses = Clauses.from_clauses(3, [(1, -2), (1, 2, 3)])
    assert not len(further_implications(clauses, budget))
    assert list(shortened(clauses, clauses, budget)) == list(clauses)


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
