import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.problem.stages import (
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
