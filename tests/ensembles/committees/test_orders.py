"""The order in which asking costs least."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.committees.asking import Asking, ask_in_order, ask_record
from shortlist.ensembles.committees.ballots import Plurality
from shortlist.ensembles.committees.orders import cheapest_order


def calls_of(added: NDArray[np.int64], order: list[int], copies: list[int] | None = None) -> list[int]:
    """How many members each row asks, in an order, until votes settle it."""
    counts = np.ones(added.shape[1], dtype=np.int64) if copies is None else np.array(copies)
    asking = Asking(Plurality(added.shape[2]), np.array(order), counts)
    return [int(n) for n in ask_in_order(asking, len(added), ask_record(added)).calls]


def spent(codes: list[list[int]], order: list[int], costs: list[int], n_classes: int) -> int:
    """What an order costs over all rows, row after row."""
    calls = calls_of(Plurality(n_classes).added(np.array(codes, dtype=np.uint8)), order)
    return sum(sum(costs[k] for k in order[:n]) for n in calls)


@given(
    codes=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    costs=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_of_few_members_the_order_is_the_best_of_all(codes: list[list[int]], costs: list[int]) -> None:
    ballot, n = Plurality(3), len(codes[0])
    found = cheapest_order(
        ballot, ballot.added(np.array(codes, dtype=np.uint8)), np.array(costs[:n], dtype=float)
    )
    every = [spent(codes, list(order), costs, 3) for order in itertools.permutations(range(n))]
    assert found.is_best
    assert sorted(found.members.tolist()) == list(range(n))
    assert spent(codes, found.members.tolist(), costs, 3) == min(every)


@pytest.mark.parametrize("few_members", [12, 2])
@pytest.mark.parametrize("seed", range(3))
def test_with_copies_an_order_costs_what_asking_copy_after_copy_does(seed: int, few_members: int) -> None:
    rng = np.random.default_rng(seed)
    codes, costs = rng.integers(0, 2, (30, 4)).astype(np.uint8), rng.integers(1, 9, 4)
    copies, ballot = np.array([1, 4, 2, 1]), Plurality(2)
    added = ballot.added(codes) * copies[:, None]
    found = cheapest_order(ballot, added, costs.astype(float), copies=copies, few_members=few_members)

    spent_by = {}
    for order in itertools.permutations(range(4)):
        places = np.repeat(order, copies[list(order)])
        one_by_one = calls_of(ballot.added(codes[:, places]), list(range(len(places))))
        asked = [list(dict.fromkeys(places[:n].tolist())) for n in one_by_one]
        assert calls_of(added, list(order), copies.tolist()) == [len(names) for names in asked]
        spent_by[order] = sum(int(costs[names].sum()) for names in asked)
    assert found.is_best == (few_members == 12)
    least, plain = min(spent_by.values()), spent_by[0, 1, 2, 3]
    assert spent_by[tuple(found.members.tolist())] <= (least if found.is_best else max(least, plain))


@pytest.mark.parametrize("seed", range(3))
def test_of_more_members_the_order_is_near_the_best_and_never_worse_than_greed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 200)
    skill = rng.uniform(0.5, 0.95, 9)
    codes = np.where(rng.random((200, 9)) < skill, truth[:, None], 1 - truth[:, None]).astype(np.uint8)
    costs = rng.integers(1, 9, 9)
    ballot = Plurality(2)
    added = ballot.added(codes)
    best = cheapest_order(ballot, added, costs.astype(float))
    near = cheapest_order(ballot, added, costs.astype(float), few_members=3)

    least, found, plain = (
        spent(codes.tolist(), order, costs.tolist(), 2)
        for order in (best.members.tolist(), near.members.tolist(), list(range(9)))
    )
    assert not near.is_best
    assert sorted(near.members.tolist()) == list(range(9))
    assert least <= found <= 1.1 * least
    assert found < plain
