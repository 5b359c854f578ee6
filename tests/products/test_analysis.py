"""Analyses of a feature model, and products drawn from it, beside trying everything."""

import collections
import dataclasses
import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

from shortlist.errors import BadInputError
from shortlist.logic.sat import SearchStoppedError
from shortlist.products import analysis
from shortlist.products.analysis import (
    KINDS,
    Analysis,
    Finding,
    analyse,
    diverse_products,
    uniform_sample,
)
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.formulas import Literal
from shortlist.products.model import FeatureModel, GroupKind, make_group, make_model
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.products.oracles import is_product, products
from tests.products.strategies import models
from tests.products.strategies import models as feature_models


def _products(model: FeatureModel) -> list[tuple[bool, ...]]:
    return [bits for bits in product([False, True], repeat=model.n_features) if is_product(model, bits)]


def _features(found: tuple[Finding, ...]) -> list[int]:
    return [each.feature for each in found]


def _without(model: FeatureModel, rule: int) -> FeatureModel:
    """Leave out one constraint or clause."""
    place = rule - (model.root is not None) - len(model.groups)
    constraints = [c for i, c in enumerate(model.constraints) if i != place]
    clauses = model.clauses
    if clauses is not None:
        kept = [c for i, c in enumerate(clauses, len(model.constraints)) if i != place]
        clauses = type(clauses).from_clauses(model.n_features, kept)
    return make_model(
        model.names, root=model.root, groups=model.groups, constraints=constraints, clauses=clauses
    )


@examples(60)
@given(model=models(max_features=6))
def test_findings_are_those_of_all_configurations(model: FeatureModel) -> None:
    products = _products(model)
    found = analyse(model, n_explained=0)
    assert found.complete
    assert (found.void is not None) == (not products)
    if not products:
        return
    n = model.n_features
    core = [f for f in range(n) if all(p[f] for p in products)]
    dead = [f for f in range(n) if not any(p[f] for p in products)]
    assert (_features(found.core), _features(found.dead)) == (core, dead)
    optional = [
        child
        for group in model.groups
        if group.kind is GroupKind.OPTIONAL
        for child in group.children
        if child not in {*core, *dead} and all(p[child] for p in products if p[group.parent])
    ]
    assert _features(found.false_optional) == optional
    columns: dict[tuple[bool, ...], list[int]] = {}
    for feature in range(n):
        if feature not in {*core, *dead}:
            columns.setdefault(tuple(p[feature] for p in products), []).append(feature)
    assert found.atomic_sets == tuple(sorted(tuple(each) for each in columns.values() if len(each) > 1))
    first = (model.root is not None) + len(model.groups)
    redundant = [
        r for r in range(first, model.n_rules) if len(_products(_without(model, r))) == len(products)
    ]
    assert list(found.redundant) == redundant
    assert found.n_products == len(products)
    assert list(found.products_with) == [sum(p[f] for p in products) for f in range(n)]


def test_an_analysis_that_is_stopped_says_so() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    groups = [make_group(0, [1], "optional")]
    model = make_model(["A", "B"], root=0, groups=groups)
    found = analyse(model, budget=Budget(cancellation=cancellation))
    assert (found.unanswered, found.complete) == (("void", *KINDS), False)
    assert dataclasses.replace(found, unanswered=(), uncounted="") == Analysis()


@examples(30)
@given(model=models(max_features=6))
def test_what_a_stopped_analysis_calls_answered_is_what_the_whole_one_says(model: FeatureModel) -> None:
    whole = analyse(model, n_explained=0)
    assert whole.complete
    for steps in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        clock = map(float, itertools.count()).__next__
        found = analyse(model, n_explained=0, budget=Budget(steps, clock=clock))
        if whole.void or found.void:
            assert found.void is not None or "void" in found.unanswered
            continue
        for kind in KINDS:
            here, all_of_them = getattr(found, kind), getattr(whole, kind)
            assert set(here) <= set(all_of_them)
            assert here == all_of_them or kind in found.unanswered
        assert found.n_products in {whole.n_products, None}
        assert (found.n_products is None) == bool(found.uncounted)


def test_a_model_without_products_is_called_so_where_there_was_no_time_to_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*_: object) -> None:
        raise SearchStoppedError

    model = make_model(
        ["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")], constraints=[Literal(-2)]
    )
    monkeypatch.setattr(analysis, "fewest_rules", stopped)
    assert analyse(model) == Analysis(void=Explanation((0, 1, 2), smallest=False), unanswered=("void",))


@pytest.mark.parametrize("nodes", [0, 100_000])
def test_products_are_counted_within_nodes(nodes: int) -> None:
    model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "or")])
    found = analyse(model, max_nodes=nodes)
    assert (found.n_products, found.products_with) == ((3, (3, 2, 2)) if nodes else (None, ()))


@given(model=feature_models())
@examples(40)
def test_what_is_drawn_is_a_product(model: FeatureModel) -> None:
    every = set(products(model))
    if every:
        assert {tuple(row) for row in uniform_sample(model, 8).tolist()} <= every
    else:
        with pytest.raises(BadInputError, match="must have a product"):
            uniform_sample(model, 8)


def test_each_product_is_drawn_as_often() -> None:
    model = make_model(
        list("ABCDE"), root=0, groups=[make_group(0, [1, 2], "or"), make_group(1, [3, 4], "optional")]
    )
    drawn = collections.Counter(
        map(tuple, uniform_sample(model, 9000, rng=np.random.default_rng(1)).tolist())
    )
    assert len(drawn) == 9
    assert chisquare(list(drawn.values())).pvalue > 1e-4


def test_a_diagram_that_does_not_fit_is_refused() -> None:
    names = ["root", *(f"f{i}" for i in range(12))]
    model = make_model(names, root=0, groups=[make_group(0, range(1, 13), "cardinality", 6, 6)])
    with pytest.raises(BadInputError, match="did not fit into 16 nodes"):
        uniform_sample(model, 1, max_nodes=16)


def nearest(table: np.ndarray, chosen: tuple[int, ...]) -> int:
    """Return the smallest distance between two of the chosen rows."""
    return min(int((table[a] != table[b]).sum()) for a, b in itertools.combinations(chosen, 2))


@given(table=arrays(bool, st.tuples(st.integers(2, 8), st.integers(1, 6))), n=st.integers(2, 4))
def test_no_choice_is_twice_as_far_apart(table: np.ndarray, n: int) -> None:
    chosen = diverse_products(table, n)
    n = min(n, len(table))
    assert len(set(chosen.tolist())) == len(chosen) == n
    best = max(nearest(table, some) for some in itertools.combinations(range(len(table)), n))
    assert 2 * nearest(table, tuple(chosen.tolist())) >= best


def test_fewer_products_than_asked_for_are_all_taken() -> None:
    assert diverse_products([[0], [1]], 5).tolist() == [0, 1]
    with pytest.raises(BadInputError, match="one product a row"):
        diverse_products([0, 1], 1)
