"""NSGA-II through pymoo."""

import builtins
import functools
import importlib
import sys
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.logic.clauses import Clauses
from shortlist.pareto import nondominated
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import Budget
from shortlist_papers.product_evolution.variation import Evolution, evolve

pytest.importorskip("pymoo", reason="NSGA-II is an extra: pip install 'shortlist[nsga2]'")
from shortlist_papers.product_evolution.nsga2 import Nsga2

nsga2 = functools.partial(evolve, Nsga2)

SHOP = Clauses.from_clauses(6, [(1,), (-2, 3), (-4, -5), (2, 4, 6)])
COSTS = [[-1, -1, -1, -1, -1, -1], [3, 1, 4, 1, 5, 9]]
GOALS = [Objective("left out"), Objective("price")]
FEW = Evolution(n_evaluations=310, population_size=20)


def every_product() -> np.ndarray[Any, np.dtype[np.bool_]]:
    bits = np.array([[(number >> i) & 1 for i in range(6)] for number in range(64)], dtype=bool)
    return bits[SHOP.satisfied(bits)]


def test_small_fronts_are_found_and_points_are_the_costs_of_the_products() -> None:
    front = nsga2(SHOP, COSTS, GOALS, "abcdef", offsets=[6, 0], settings=FEW, budget=Budget(seed=3))
    points = every_product().astype(int) @ np.array(COSTS).T + [6, 0]
    expected = np.unique(points[nondominated(points)], axis=0)

    assert np.array_equal(front.points, expected)
    assert np.array_equal(front.points, front.decisions.astype(int) @ np.array(COSTS).T + [6, 0])
    assert SHOP.satisfied(front.decisions.astype(bool)).all()
    assert (front.method, front.proof.kind) == ("nsga2", ProofKind.APPROXIMATE)
    assert 0 < front.extras["correctness"] <= 1


def test_the_same_seed_gives_the_same_products_and_evaluations_are_not_passed() -> None:
    wide = Clauses.from_clauses(40, [(-i, i + 1) for i in range(1, 40, 3)])
    costs = np.random.default_rng(0).integers(-9, 9, size=(3, 40))
    goals = [Objective(name) for name in "xyz"]
    names = [f"F{i}" for i in range(40)]
    first, second, other = (
        nsga2(wide, costs, goals, names, settings=FEW, budget=Budget(seed=seed)) for seed in (5, 5, 6)
    )
    assert np.array_equal(first.decisions, second.decisions)
    assert not np.array_equal(first.points, other.points)
    assert first.extras["n_evaluations"] == 310


def test_clauses_with_one_product_and_with_few_configurations_are_answered() -> None:
    one = nsga2(Clauses.from_clauses(2, [(1,), (-2,)]), [[1, 1]], GOALS[:1], "ab", settings=FEW)
    assert one.decisions.tolist() == [[1, 0]]
    free = nsga2(Clauses.from_clauses(2, []), [[1, 1]], GOALS[:1], "ab", settings=FEW)
    assert free.decisions.tolist() == [[0, 0]]


def test_seeds_are_in_the_first_population() -> None:
    hard = Clauses.from_clauses(
        30, [(-i, -j) for i in range(1, 31) for j in range(1, i)] + [tuple(range(1, 31))]
    )
    product = np.eye(30, dtype=bool)[:1]
    front = nsga2(
        hard, [[1] * 30], GOALS[:1], [f"F{i}" for i in range(30)],
        seeds=product, settings=Evolution(n_evaluations=20, population_size=20),
    )  # fmt: skip
    assert front.decisions.tolist() == product.astype(int).tolist()


def test_progress_has_a_total_and_cancellation_keeps_what_there_is() -> None:
    stop, events = Cancellation(), list[Progress]()

    def report(event: Progress) -> None:
        events.append(event)
        if len(events) == 3:
            stop.cancel()

    front = nsga2(SHOP, COSTS, GOALS, "abcdef", settings=FEW, budget=Budget(report=report, cancellation=stop))
    assert front.proof.limit == "interrupted"
    assert {event.total for event in events} == {310}
    assert len(front) > 0


def test_wrong_input_is_named() -> None:
    with pytest.raises(BadInputError, match="must have a model"):
        nsga2(Clauses.from_clauses(1, [(1,), (-1,)]), [[1]], GOALS[:1], "a")


def test_without_pymoo_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("pymoo"):
            raise ImportError(name)
        return genuine(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "shortlist_papers.product_evolution.nsga2")
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingDependencyError, match=r"pip install 'shortlist\[nsga2\]'"):
        importlib.import_module("shortlist_papers.product_evolution.nsga2")
