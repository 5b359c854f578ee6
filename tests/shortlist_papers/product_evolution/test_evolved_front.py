"""Finds of evolution for a product line: products all of them, and nothing proved."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.products import FeatureModel
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.question import (
    EVOLUTIONARY_METHODS,
    make_question,
    parse_limit,
    parse_question,
)
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.model import make_group, make_model, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from shortlist_papers.product_evolution import evolved_front
from shortlist_papers.product_methods import method_options
from tests.products.configuration.test_front_search import COSTS, GOALS, LINE
from tests.products.configuration.test_product_front import questions


def evolve(
    model: FeatureModel, goals: str, method: str, *, attributes: dict[str, Attribute] | None = None,
    limits: tuple[str, ...] = (), wanted: Requirements = NO_REQUIREMENTS, seconds: float = math.inf,
    **options: Any,
) -> Front | None:  # fmt: skip
    """Return what a method finds, None where nothing meets what is asked."""
    question, feasible = make_question(model, *parse_question(model, goals, limits, attributes), wanted)
    chosen = method_options(method, **options)
    budget = Budget(seconds, seed=chosen.seed)
    return None if feasible.conflict else evolved_front.find_front(question, method, chosen, budget)


@pytest.mark.slow
@pytest.mark.parametrize("method", EVOLUTIONARY_METHODS)
@given(question=questions(), data=st.data())
@settings(max_examples=12)
def test_every_product_is_valid(
    method: str, question: tuple[FeatureModel, dict[str, Attribute], str], data: st.DataObject
) -> None:
    model, attributes, text = question
    wanted = data.draw(st.sampled_from([Requirements(), Requirements((0,)), Requirements((), (0,))]))
    front = evolve(model, text, method, attributes=attributes, wanted=wanted, n_evaluations=200)
    if front is None:
        return
    assert are_valid(model, front.decisions).all()
    assert front.decisions[:, list(wanted.select)].all()
    assert not front.decisions[:, list(wanted.deselect)].any()
    assert (front.method, front.proof.kind) == (method, ProofKind.APPROXIMATE)
    assert front.proof.missing is None
    assert 0 <= front.extras["correctness"] <= 1


@pytest.mark.parametrize("method", EVOLUTIONARY_METHODS)
def test_limits_hold(method: str) -> None:
    limits = ("cost<=60", "selected>=4")
    front = evolve(LINE, GOALS, method, attributes=COSTS, limits=limits, n_evaluations=2_000)
    assert front is not None
    bounded = with_constraints(LINE, [parse_limit(limit, LINE, COSTS) for limit in limits])
    assert len(front) > 1
    assert are_valid(bounded, front.decisions).all()


def test_the_seed_decides() -> None:
    fronts = [
        evolve(LINE, GOALS, "ibed", attributes=COSTS, seed=seed, n_evaluations=150) for seed in (3, 3, 4)
    ]
    first, second, other = (front.decisions for front in fronts if front is not None)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", ["ibea", "nsga2"])
def test_a_time_limit_ends_evolution_and_is_named(method: str) -> None:
    front = evolve(LINE, GOALS, method, attributes=COSTS, n_evaluations=10**8, seconds=0.3)
    assert front is not None
    assert front.proof.limit == "0.3 s"


def test_starts_are_products_that_evolution_begins_with() -> None:
    n = 30
    one_of = [make_group(0, range(1, n), "alternative")]
    hard = make_model([f"F{i}" for i in range(n)], root=0, groups=one_of)
    without = evolve(hard, "min selected", "nsga2", n_evaluations=100)
    begun = evolve(hard, "min selected", "nsga2", n_evaluations=100, n_starts=5)
    assert without is not None
    assert begun is not None
    assert (len(without), without.extras["correctness"]) == (0, 0)
    assert begun.extras["correctness"] > 0


def test_clauses_that_are_too_many_are_named() -> None:
    wide = make_model([f"F{i}" for i in range(40)], constraints=[], root=None)
    costs = {"cost": Attribute("cost", np.arange(40) ** 2 * 37 + 1)}
    with pytest.raises(BadInputError, match="method 'ibea' needs clauses, but limit 'cost >= 200000' needs"):
        evolve(wide, "min selected", "ibea", attributes=costs, limits=("cost >= 200000",))
    chain = with_constraints(wide, [parse_limit("cost >= 200000", wide, costs)])
    with pytest.raises(BadInputError, match="but a linear constraint needs too many"):
        evolve(chain, "min selected", "ibed")


def test_a_wrong_product_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    good = configure(LINE, GOALS, attributes=COSTS, method="diagram").front
    wrong = Front.from_points(good.objectives, good.points, 1 - good.decisions, good.candidates, good.proof)
    monkeypatch.setattr(evolved_front, "front_by_evolution", lambda *_, **__: wrong)
    with pytest.raises(SolverError, match="'ibea' found a configuration that breaks a rule"):
        evolve(LINE, GOALS, "ibea", attributes=COSTS)
