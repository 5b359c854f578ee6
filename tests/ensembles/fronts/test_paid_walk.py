"""The price that is paid for committees, against every committee, every order and every completion."""

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.committees.orders import FEW_MEMBERS
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import (
    CommitteeProblem,
    committee_problem,
    mean_front_problem,
)
from shortlist.ensembles.fronts.front_claims import looked_at
from shortlist.ensembles.fronts.paid_walk import paid_front
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.ensembles import mean_oracles, oracles, strategies
from tests.ensembles.oracles import Rows
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools
from tests.examples import examples

prices = st.sampled_from(["0", "0.1", "0.25", "1", "2", "3.75"])
Winner = Callable[[list[int]], int]
"""Gives the class of votes, of which those that nobody has cast are absent."""


def exact(front: Front) -> set[tuple[Fraction, ...]]:
    """The points as fractions, from the integers behind them."""
    scales = [objective.sign * (objective.scale or 1) for objective in front.objectives]
    return {
        tuple(Fraction(value, scale) for value, scale in zip(point, scales, strict=True))
        for point in front.points.tolist()
    }


def least_paid(
    rows: list[list[int]], members: tuple[int, ...], costs: list[str], n_classes: int, winner: Winner
) -> Fraction:
    """Price of a row by the cheapest of all orders, where a row leaves when all completions agree."""

    def calls(votes: list[int], order: tuple[int, ...]) -> int:
        for n_asked in range(1, len(order) + 1):
            known = [votes[k] for k in order[:n_asked]]
            rest = itertools.product(range(n_classes), repeat=len(order) - n_asked)
            if len({winner([*known, *answers]) for answers in rest}) == 1:
                return n_asked
        raise AssertionError("who has heard everybody knows the class")

    return min(
        sum((Fraction(costs[k]) for votes in rows for k in order[: calls(votes, order)]), Fraction(0))
        for order in itertools.permutations(members)
    ) / len(rows)


def _is_above(threshold: int, votes: list[int]) -> int:
    return int(sum(votes) > threshold)


def plural_winner(n_classes: int) -> Winner:
    return lambda votes: int(np.argmax([votes.count(c) for c in range(n_classes)]))


@given(
    rows=strategies.labelled_votes(max_classifiers=4, max_rows=7),
    others=st.lists(
        st.sampled_from(["max recall", "max specificity", "min size", "min cost"]), max_size=2, unique=True
    ),
    data=st.data(),
)
@examples(30)
def test_against_a_threshold_the_front_is_that_of_all_committees_and_orders(
    rows: Rows, others: list[str], data: st.DataObject
) -> None:
    k = len(rows[0][0])
    costs = data.draw(st.lists(prices, min_size=k, max_size=k))
    least = data.draw(st.integers(1, k))
    names = ["max accuracy", *others, "min price-paid"]
    problem = committee_problem(
        merge_rows(*oracles.as_arrays(rows)), data.draw(st.permutations(names)),
        costs={"cost": list(map(float, costs))}, limits=selection_limits(k, min_size=least),
    )  # fmt: skip

    front = committee_front(problem)

    names = [f"{one.sense} {one.name}" for one in front.objectives]
    points = []
    for members in oracles.subsets(k):
        if len(members) < least:
            continue
        linear = {
            "size": Fraction(len(members)),
            "cost": sum((Fraction(costs[m]) for m in members), Fraction(0)),
        }
        for worth, threshold in mean_oracles.committees(rows, members):
            above = functools.partial(_is_above, threshold)
            paid = least_paid([list(votes) for votes, _ in rows], members, costs, 2, above)
            known = worth | linear | {"price-paid": paid}
            points.append(tuple(known[name[4:]] for name in names))
    assert exact(front) == mean_oracles.best_points(
        points, [1 if name.startswith("min") else -1 for name in names]
    )
    assert front.proof.kind is ProofKind.COMPLETE
    assert looked_at(front) == ""


@given(pool=class_pools(max_classifiers=4, max_rows=6), data=st.data())
@examples(30)
def test_of_several_classes_and_abstentions_too(pool: Pool, data: st.DataObject) -> None:
    samples, k, n_classes = pool
    costs = data.draw(st.lists(prices, min_size=k, max_size=k))
    problem = committee_problem(
        as_votes(pool), ["max accuracy", "min price-paid"], costs={"cost": list(map(float, costs))}
    )

    front = committee_front(problem)

    points = [
        (
            mean_oracles.plural(pool, members)["accuracy"],
            least_paid(
                [list(votes) for votes, _ in samples], members, costs, n_classes, plural_winner(n_classes)
            ),
        )
        for members in oracles.subsets(k)
        if members
    ]
    assert exact(front) == mean_oracles.best_points(points, [-1, 1])
    assert front.proof.kind is ProofKind.COMPLETE


@pytest.mark.parametrize("seed", range(4))
def test_of_means_the_price_is_that_of_the_cheapest_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = SoftVotes(
        (first := rng.integers(0, WHOLE + 1, (9, 3), dtype=np.int16))[:, :, None] * np.array([1, 0], np.int16)
        + (WHOLE - first)[:, :, None] * np.array([0, 1], np.int16),
        rng.integers(0, 2, 9).astype(np.uint8),
    )
    costs = rng.integers(0, 5, 3).astype(float).tolist()
    front = committee_front(
        mean_front_problem(votes, ["min log-loss", "min price-paid"], costs={"cost": costs})
    )

    def paid(members: tuple[int, ...]) -> float:
        spent = []
        for order in itertools.permutations(members):
            total = 0.0
            for row in votes.shares.astype(int):
                sums = np.zeros(2, dtype=int)
                for place, k in enumerate(order):
                    left = WHOLE * (len(order) - place)
                    if (
                        place
                        and len({int(np.argmax(sums + left * np.eye(2, dtype=int)[c])) for c in (0, 1)}) == 1
                    ):
                        break
                    total += costs[k]
                    sums += row[k]
            spent.append(total / 9)
        return min(spent)

    assert front.proof.kind is ProofKind.COMPLETE
    for mask, price in zip(front.decisions.astype(bool), front.values[:, 1], strict=True):
        assert price == pytest.approx(paid(tuple(np.flatnonzero(mask).tolist())))
    cheapest = min(paid(members) for members in oracles.subsets(3) if members)
    assert front.values[:, 1].min() == pytest.approx(cheapest)


def made(
    n_classifiers: int, objectives: tuple[str, ...] = ("max accuracy", "min price-paid")
) -> CommitteeProblem:
    votes = strategies.hard_votes(n_rows=60, n_classifiers=n_classifiers)
    costs = np.random.default_rng(0).integers(1, 50, n_classifiers) / 4
    return committee_problem(votes, objectives, costs={"cost": costs})


def test_of_more_candidates_than_are_looked_at_nothing_is_called_complete() -> None:
    whole = committee_front(made(9))
    some = paid_front(made(9), Budget(), None, committee_front, most=5)

    assert whole.proof.kind is ProofKind.COMPLETE
    assert some.proof.kind is ProofKind.APPROXIMATE
    assert some.proof.missing is None
    assert not any(some.extras["proved"])
    assert "Searched: all committees of 5 of the 9 candidates" in looked_at(some)
    assert some.proof.limit == ""
    for point in some.points:  # all of them were counted, and none is better than what there is
        assert (whole.points <= point).all(axis=1).any()
    by_cost = committee_front(made(9, ("max accuracy", "min cost")))
    for mask, threshold in zip(by_cost.decisions.astype(bool), by_cost.extras["thresholds"], strict=True):
        assert (some.points <= made(9).point(mask, threshold)).all(axis=1).any()


def test_committees_have_as_many_members_as_an_order_is_known_of() -> None:
    front = committee_front(made(FEW_MEMBERS + 2))

    assert front.proof.kind is ProofKind.COMPLETE
    assert f"at most {FEW_MEMBERS} members" in looked_at(front)
    votes = strategies.hard_votes(n_rows=20, n_classifiers=14)
    with pytest.raises(BadInputError, match="min_size must be at most 12 with min price-paid, got 13"):
        committee_problem(
            votes, ["max accuracy", "min price-paid"], costs={"cost": [1.0] * 14},
            limits=selection_limits(14, min_size=13),
        )  # fmt: skip


@pytest.mark.parametrize("n_classifiers", [8, 30])
def test_a_walk_that_is_stopped_proves_nothing_and_has_a_committee(n_classifiers: int) -> None:
    stop = Cancellation()
    stop.cancel()
    front = committee_front(made(n_classifiers), Budget(cancellation=stop))

    assert len(front) > 0
    assert front.proof.kind is ProofKind.APPROXIMATE
    assert front.proof.limit == "interrupted"
    problem = made(n_classifiers)
    for point, mask, threshold in zip(
        front.points, front.decisions.astype(bool), front.extras["thresholds"], strict=True
    ):
        assert point.tolist() == problem.point(mask, threshold).tolist()


def test_prices_that_cannot_stay_exact_are_refused() -> None:
    votes = strategies.hard_votes(n_rows=60, n_classifiers=3)
    with pytest.raises(BadInputError, match="`cost` must have fewer digits for price-paid to stay exact"):
        committee_problem(votes, ["max accuracy", "min price-paid"], costs={"cost": [1e14, 1e14, 1e14]})
    with pytest.raises(BadInputError, match="min cost needs the cost of every member"):
        committee_problem(votes, ["max accuracy", "min price-paid"])
