import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.problem.stages import (
    PurchaseRules,
    acquired,
    assignment_of_chain,
    check_max_stages,
    completions,
    compress,
    has_gaps,
    n_ordered_partitions,
    space_size,
    stage_counts,
)
from tests.multistage import oracles

assignments = st.lists(st.integers(-1, 5), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        pytest.param(8, (255, 6_051, 46_875), id="Pima"),
        pytest.param(12, (4_095, 523_251, 15_199_275), id="Heart"),
        pytest.param(14, (16_383, 4_750_203, 254_152_083), id="Credit"),
    ],
)
def test_the_spaces_of_the_paper_have_their_known_sizes(n: int, sizes: tuple[int, ...]) -> None:
    assert tuple(space_size(n, k) for k in (2, 3, 4)) == sizes


@pytest.mark.parametrize("n", range(1, 6))
def test_counts_equal_factorial_times_stirling_and_listing(n: int) -> None:
    for j in range(1, n + 1):
        stirling = sum(
            Fraction((-1) ** (j - i) * math.comb(j, i) * i**n, math.factorial(j)) for i in range(j + 1)
        )
        listed = [q for q in oracles.all_assignments(n, j) if max(q) == j - 1]
        assert n_ordered_partitions(n, j) == math.factorial(j) * stirling == len(listed)


def test_the_space_grows_like_the_power_of_theorem_1() -> None:
    ratios = [space_size(n, 3) / 3**n for n in (5, 10, 20, 40)]

    assert all(abs(1 - a) > abs(1 - b) for a, b in itertools.pairwise(ratios))
    assert ratios[-1] == pytest.approx(1, abs=1e-6)


def test_compress_follows_the_papers_example() -> None:
    assert compress([0, 0, 0, 2]).tolist() == [0, 0, 0, 1]


@given(assignments)
def test_compress_closes_gaps_and_keeps_order(assignment: list[int]) -> None:
    closed = compress(assignment)

    assert not has_gaps(closed)
    for i, a in enumerate(assignment):
        for j, b in enumerate(assignment):
            if a >= 0 and b >= 0:
                assert (a < b) == (closed[i] < closed[j])
        assert (a < 0) == (closed[i] < 0)
    assert compress(closed).tolist() == closed.tolist()
    assert compress([assignment, assignment]).tolist() == [closed.tolist()] * 2


@given(assignments)
def test_compress_equals_the_papers_loop_where_that_ends(assignment: list[int]) -> None:
    stages = [max(0, a) for a in assignment]
    for _ in range(100):
        missing = [j for j in range(max(stages)) if j not in stages]
        if not missing:
            assert stages == compress([max(0, a) for a in assignment]).tolist()
            return
        before = list(stages)
        stages = [missing[0] if a == missing[0] + 1 else a for a in stages]
        if stages == before:
            return  # a double gap: the paper's loop would go round for ever


@given(assignments)
def test_an_assignment_is_its_chain_of_feature_sets(assignment: list[int]) -> None:
    closed = compress(assignment)
    if closed.max() < 0:
        return
    count = int(stage_counts(closed[None, :])[0])
    masks = acquired(closed[None, :], count)[0]
    chain = [int(mask @ (1 << np.arange(len(closed)))) for mask in masks]

    assert assignment_of_chain(chain, len(closed), removal=True).tolist() == closed.tolist()
    if closed.min() >= 0:
        assert assignment_of_chain(chain[:-1], len(closed)).tolist() == closed.tolist()


def test_completions_count_what_can_follow() -> None:
    table = completions(4, 3)

    assert table[0].tolist() == [1, 1, 1, 1]
    assert table[3].tolist() == [0, 1, 7, 13]


def test_more_stages_than_features_is_refused() -> None:
    with pytest.raises(BadInputError, match="max_stages must be at most the number of features, 3, got 4"):
        check_max_stages(4, 3)


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
