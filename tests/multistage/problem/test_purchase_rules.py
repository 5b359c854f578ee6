"""Which columns may be bought together: against a look at every set, and repairs that keep what they can."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.multistage.problem.purchase_rules import PurchaseRules
from shortlist.multistage.problem.stages import has_gaps
from tests.multistage import oracles


@st.composite
def rules(draw: Any, n_columns: int = 4) -> PurchaseRules:
    """Rules with a further variable, at least one of whose sets has a column."""
    n = n_columns + draw(st.integers(0, 1))
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v]))
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=3).map(tuple), max_size=5))
    found = PurchaseRules(tuple("abcdef"[:n_columns]), n, tuple(clauses))
    return found if any(any(one) for one in valid_by_looking(found)) else PurchaseRules(found.columns, n, ())


def valid_by_looking(rules: PurchaseRules) -> set[tuple[bool, ...]]:
    """Try every value of every variable."""
    return {
        values[: len(rules.columns)]
        for values in itertools.product([False, True], repeat=rules.n_variables)
        if all(any(values[abs(v) - 1] == (v > 0) for v in clause) for clause in rules.clauses)
    }


def is_valid_assignment(assignment: Any, valid: set[tuple[bool, ...]], *, removal: bool) -> bool:
    stages = np.asarray(assignment)
    bought = [tuple(((stages >= 0) & (stages <= stage)).tolist()) for stage in range(stages.max() + 1)]
    return all(one in valid for one in bought) and (removal or min(stages) >= 0)


@given(rules=rules())
def test_valid_sets_are_those_that_a_look_at_every_set_finds(rules: PurchaseRules) -> None:
    valid = valid_by_looking(rules)
    sets = rules.valid_sets(100)
    assert sets is not None
    assert {tuple(one) for one in sets.tolist()} == {one for one in valid if any(one)}
    assert len(sets) == len({tuple(one) for one in sets.tolist()})
    assert (np.diff(sets.sum(axis=1)) >= 0).all()
    assert rules.allow_everything == ((True,) * 4 in valid)
    if len(sets) > 1:
        assert rules.valid_sets(len(sets) - 1) is None
    for one in itertools.product([False, True], repeat=4):
        assert rules.is_valid(np.array(one)) == (one in valid)


@given(rules=rules(), stages=st.lists(st.integers(-1, 2), min_size=4, max_size=4), data=st.data())
def test_a_repaired_assignment_is_valid_and_a_valid_one_stays(
    rules: PurchaseRules, stages: list[int], data: st.DataObject
) -> None:
    valid = valid_by_looking(rules)
    removal = not rules.allow_everything or data.draw(st.booleans())
    if has_gaps(stages) or max(stages) < 0 or (not removal and min(stages) < 0):
        return
    assignment = np.array(stages, dtype=np.int8)
    repaired = rules.repaired(assignment, removal=removal)
    assert not has_gaps(repaired)
    assert repaired.max() <= assignment.max()
    assert is_valid_assignment(repaired, valid, removal=removal)
    if is_valid_assignment(assignment, valid, removal=removal):
        assert repaired.tolist() == stages
    # whatever was asked before, the answer is the same
    assert (
        PurchaseRules(rules.columns, rules.n_variables, rules.clauses)
        .repaired(assignment, removal=removal)
        .tolist()
        == repaired.tolist()
    )


def test_columns_in_another_order_keep_their_rules() -> None:
    rules = PurchaseRules(("a", "b", "c"), 4, ((-1, 2), (4,), (-4, 3)))
    turned = rules.of_columns(["c", "a", "b"])
    sets = turned.valid_sets(10)
    assert sets is not None
    assert sets.tolist() == [[True, False, False], [True, False, True], [True, True, True]]


def test_pickled_rules_are_the_same() -> None:
    rules = PurchaseRules(("a", "b"), 2, ((-1, 2),))
    assert rules.allow_everything
    assert pickle.loads(pickle.dumps(rules)) == rules


@pytest.mark.parametrize(
    ("names", "clauses", "message"),
    [
        (["a", "x"], (), "must be of the columns of the table, got no rule for column 'x'"),
        (["a"], (), "got rules for other columns too"),
        (["a", "b"], ((-1,), (-2,)), "must let some columns be bought, but no set of them is valid"),
        (["a", "b"], ((1,), (-1,)), "must let some columns be bought, but no set of them is valid"),
    ],
)
def test_rules_that_fit_no_table_are_refused(names: list[str], clauses: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        PurchaseRules(("a", "b"), 2, clauses).of_columns(names)


def test_every_assignment_is_valid_without_clauses() -> None:
    free = PurchaseRules(("a", "b", "c"), 3, ())
    for assignment in oracles.all_assignments(3, 3):
        assert free.repaired(np.array(assignment, dtype=np.int8), removal=False).tolist() == list(assignment)
