"""Covering samples: every possible interaction occurs, and the lower bound is one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.products.feature_models.formulas import Implies, Literal
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model
from shortlist.products.sampling.t_wise import covering_sample
from shortlist.runs import Budget
from shortlist.runs.cancellation import Cancellation
from tests.products.oracles import products
from tests.products.strategies import models as feature_models


def interactions(rows: list[tuple[bool, ...]], t: int) -> set[tuple[tuple[int, bool], ...]]:
    """Return every choice of t features with their values that occurs in a product."""
    n = len(rows[0]) if rows else 0
    t = min(t, n)
    return {
        tuple((i, row[i]) for i in chosen) for row in rows for chosen in itertools.combinations(range(n), t)
    }


@given(model=feature_models(), t=st.integers(1, 3))
@settings(max_examples=60)
def test_every_possible_interaction_occurs_in_products(model: FeatureModel, t: int) -> None:
    every = sorted(products(model))
    if not every:
        with pytest.raises(BadInputError, match="must have a product"):
            covering_sample(model, t)
        return
    found = covering_sample(model, t)
    sample = [tuple(row) for row in found.products.tolist()]

    assert set(sample) <= set(every)
    assert interactions(sample, t) == interactions(every, t)
    assert found.n_undecided == 0
    assert 1 <= found.lower_bound <= len(sample)


@given(model=feature_models(max_features=5))
@settings(max_examples=40)
def test_no_smaller_sample_than_the_bound_covers_everything(model: FeatureModel) -> None:
    every = sorted(products(model))
    if not every or len(every) > 12:
        return
    wanted = interactions(every, 2)
    least = next(
        size
        for size in range(1, len(every) + 1)
        if any(interactions(list(some), 2) == wanted for some in itertools.combinations(every, size))
    )
    assert covering_sample(model, 2).lower_bound <= least


def test_two_groups_of_alternatives_need_all_pairs() -> None:
    names = ["Shop", "Pay", "Card", "Cash", "Gift", "Ship", "Post", "Van"]
    groups = [make_group(0, [1], "mandatory"), make_group(0, [5], "mandatory")]
    groups += [make_group(1, [2, 3, 4], "alternative"), make_group(5, [6, 7], "alternative")]
    found = covering_sample(make_model(names, root=0, groups=groups), 2)
    assert (len(found.products), found.lower_bound) == (6, 6)


def test_what_excludes_each_other_is_impossible() -> None:
    groups = [make_group(0, [1, 2], "optional")]
    model = make_model(["A", "B", "C"], root=0, groups=groups, constraints=[Implies(Literal(2), Literal(-3))])
    found = covering_sample(model, 2)
    assert (found.n_covered, found.n_impossible) == (3, 1)


def test_a_budget_that_has_ended_says_what_is_undecided() -> None:
    stop = Cancellation()
    stop.cancel()
    model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "optional")])
    found = covering_sample(model, 2, budget=Budget(cancellation=stop))
    assert (len(found.products), found.n_undecided) == (0, 4)


def test_the_same_seed_gives_the_same_sample() -> None:
    model = make_model(list("ABCDEFG"), root=0, groups=[make_group(0, range(1, 7), "or")])
    first, second = (covering_sample(model, 3, rng=np.random.default_rng(4)) for _ in range(2))
    assert first.products.tolist() == second.products.tolist()


def test_too_many_interactions_are_refused_before_anything_is_tried() -> None:
    model = make_model(
        [f"f{i}" for i in range(400)], root=0, groups=[make_group(0, range(1, 400), "optional")]
    )
    with pytest.raises(BadInputError, match="Take a smaller t"):
        covering_sample(model, 5)
