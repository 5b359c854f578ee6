"""A few points for every customer: regret by linear programs, and the least of it by trying all choices."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.methods import few_points as module
from shortlist.methods.few_points import covering, customers_who_regret, few_points, regrets
from shortlist.pareto import nondominated_unique
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense, read_limit
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget


def made_front(points: NDArray[np.float64], senses: Sequence[Sense] = ()) -> Front:
    """Return a front of these points, to minimise, in the signs of the senses."""
    goals = [
        Objective(f"o{place}", sense, scale=None)
        for place, sense in enumerate(senses or [Sense.MIN] * points.shape[1])
    ]
    signs = np.array([goal.sign for goal in goals])
    decisions = np.arange(len(points))[:, None]
    return Front.from_values(goals, points * signs, decisions, ["number"], Proof(ProofKind.COMPLETE))


def random_front(rng: np.random.Generator, n_objectives: int, most: int) -> Front:
    kind = int(rng.integers(3))
    points = rng.integers(0, 12, (60, n_objectives)).astype(np.float64)
    if kind:
        points = np.abs(rng.normal(size=(most, n_objectives)))
    if kind == 2:  # all of them at the border of what is possible
        points = 1 - points / np.linalg.norm(points, axis=1, keepdims=True)
    points = points[nondominated_unique(points)][:most]
    senses = [Sense(str(one)) for one in rng.choice(["min", "max"], n_objectives)]
    return made_front(points, senses)


def gains_of(front: Front) -> Floats:
    values = front.values * np.array([goal.sign for goal in front.objectives])
    lows, highs = values.min(axis=0), values.max(axis=0)
    wide = highs > lows
    gains: Floats = ((highs - values) / np.where(wide, highs - lows, 1))[:, wide]
    return gains


def regret_by_programs(gains: Floats, chosen: Sequence[int]) -> float:
    """Return the largest regret: for each point a customer who has 1 of it, and as little as can be of the few."""
    n, worst = gains.shape[1], 0.0
    for point in gains:
        found = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.column_stack([gains[list(chosen)], -np.ones(len(chosen))]),
            b_ub=np.zeros(len(chosen)),
            A_eq=np.append(point, 0.0)[None, :],
            b_eq=[1.0],
        )
        worst = max(worst, 1 - found.fun) if found.success else worst
    return worst


@pytest.mark.parametrize("n_objectives", [2, 3, 4])
def test_no_customer_regrets_more_than_the_worst_vertex_does(n_objectives: int) -> None:
    rng = np.random.default_rng(n_objectives)
    for _ in range(12):
        gains = gains_of(random_front(rng, n_objectives, 12))
        if not gains.size:
            continue
        chosen = rng.choice(len(gains), min(len(gains), int(rng.integers(1, 5))), replace=False).tolist()
        weights, lost = customers_who_regret(gains, chosen)
        assert float(lost.max()) == pytest.approx(regret_by_programs(gains, chosen), abs=1e-7)
        anybody = rng.dirichlet(np.ones(gains.shape[1]), 2000)
        assert float(regrets(gains, chosen, anybody).max()) <= float(lost.max()) + 1e-9
        assert weights.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
def test_the_least_regret_is_that_of_all_choices_or_between_bound_and_regret(n_objectives: int) -> None:
    rng = np.random.default_rng(10 + n_objectives)
    n_more = 0
    for _ in range(40):
        front = random_front(rng, n_objectives, 11)
        gains, number = gains_of(front), int(rng.integers(1, 5))
        found = few_points(front, number)
        assert 1 <= len(found.points) <= number
        if not gains.size:
            assert (found.points, found.regret) == ((0,), 0.0)
            continue
        for n, regret, bound in found.curve:
            every = itertools.combinations(range(len(gains)), n)
            least = min(float(customers_who_regret(gains, one)[1].max()) for one in every)
            assert bound - 1e-9 <= least <= regret + 1e-9
            assert regret - bound <= (1e-9 if gains.shape[1] < 3 else max(1e-4, 0.05 * regret))
        own = float(customers_who_regret(gains, found.points)[1].max())
        assert own == pytest.approx(found.regret, abs=1e-9)
        assert (found.curve[-1][1], found.curve[-1][2]) == (found.regret, found.bound)
        regrets_told = [regret for _, regret, _ in found.curve]
        assert regrets_told == sorted(regrets_told, reverse=True)
        n_more += len(found.points) > 2
        check_weights(front, gains, found)
    assert n_more > 5 or n_objectives == 1


def check_weights(front: Front, gains: Floats, found: module.FewPoints) -> None:
    """Check that each point is the best of the few for the weights that it is said to be best for."""
    assert list(found.points) == sorted(set(found.points))
    wide = [name for name, column in zip(front.names, front.values.T, strict=True) if len(set(column)) > 1]
    for point, weights in zip(found.points, found.weights, strict=True):
        assert list(weights) == wide
        worth = gains[list(found.points)] @ np.array(list(weights.values()))
        assert worth[found.points.index(point)] == pytest.approx(worth.max(), abs=1e-7)
        assert sum(weights.values()) == pytest.approx(1)


def test_a_point_in_a_dent_is_chosen_where_it_suits_most() -> None:
    """No customer takes it first, but alone it leaves less regret than either end."""
    front = made_front(np.array([[0.0, 1.0], [0.55, 0.55], [1.0, 0.0]]))
    found = few_points(front, 1)
    assert found.points == (1,)
    assert found.regret == pytest.approx(0.55)
    assert few_points(front, 2).points == (0, 2)
    assert few_points(front, 3).points == (0, 2)  # no third one is better for any weights
    assert few_points(front, 3).regret == pytest.approx(0.0, abs=1e-12)


def test_points_outside_the_limits_are_neither_chosen_nor_regretted() -> None:
    rng = np.random.default_rng(5)
    front = random_front(rng, 3, 40)
    place = front.names[0]
    middle = float(np.median(front.values[:, 0]))
    limits = [read_limit(f"{place}<={middle}")]
    found = few_points(front, 3, limits)
    kept = np.flatnonzero(front.values[:, 0] <= middle)
    assert set(found.points) <= set(kept.tolist())
    part = Front.from_values(
        front.objectives, front.values[kept], front.decisions[kept], ["number"], front.proof
    )
    alone = few_points(part, 3)
    assert found.regret == alone.regret
    assert [int(front.decisions[point, 0]) for point in found.points] == [
        int(part.decisions[point, 0]) for point in alone.points
    ]


def test_many_points_of_two_objectives_are_exact() -> None:
    angles = np.linspace(0, np.pi / 2, 4001)
    front = made_front(1 - np.column_stack([np.sin(angles), np.cos(angles)]))
    found = few_points(front, 5)
    assert found.regret - found.bound < 1e-9
    assert len(found.points) == 5
    # of a quarter of a circle, each has the same angle on both sides, and half of it is lost to a tie
    assert found.regret == pytest.approx(1 - np.cos(np.pi / 20), abs=1e-3)


def test_without_time_the_greedy_choice_has_a_bound_that_holds() -> None:
    front = random_front(np.random.default_rng(3), 3, 40)
    found = few_points(front, 4, seconds=0.0)
    assert 0 <= found.bound <= found.regret < 1
    better = few_points(front, 4)
    assert better.regret <= found.regret
    assert better.bound >= found.bound


@pytest.mark.parametrize(("n_rows", "n_columns", "most"), [(6, 9, 2), (8, 12, 3), (5, 5, 1)])
def test_a_cover_is_found_if_there_is_one(n_rows: int, n_columns: int, most: int) -> None:
    rng = np.random.default_rng(n_rows)
    answers = set()
    for share in (0.3, 0.4, 0.5, 0.6) * 5:
        enough = rng.random((n_rows, n_columns)) < share
        found = covering(enough, most, Budget())
        every = itertools.combinations(range(n_columns), most)
        possible = any(enough[:, list(one)].any(axis=1).all() for one in every)
        assert bool(found) == possible
        answers.add(possible)
        if found:
            assert len(found) <= most
            assert enough[:, found].any(axis=1).all()
    assert answers == {True, False}


@pytest.mark.parametrize(
    ("number", "n_objectives", "said"),
    [(0, 3, "n_points must be at least 1"), (60, 6, "has too many vertices to look at. Ask for fewer")],
)
def test_what_cannot_be_asked_for(number: int, n_objectives: int, said: str) -> None:
    points = (
        np.eye(n_objectives)[np.arange(n_objectives).repeat(12)] + np.arange(12 * n_objectives)[:, None] / 100
    )
    with pytest.raises(BadInputError, match=said):
        few_points(made_front(points), number)
