"""What follows from a model, against all its configurations one by one."""

from itertools import product

import pytest
from hypothesis import given

from shortlist.logic.sat import SearchStoppedError
from shortlist.products.analysis import analysis
from shortlist.products.analysis.analysis import Analysis, Finding, analyse
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.feature_models.formulas import Literal
from shortlist.products.feature_models.model import FeatureModel, GroupKind, make_group, make_model
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.products.oracles import is_product
from tests.products.strategies import models


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
    assert analyse(model, budget=Budget(cancellation=cancellation)) == Analysis(complete=False)


def test_a_model_without_products_is_called_so_where_there_was_no_time_to_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*_: object) -> None:
        raise SearchStoppedError

    model = make_model(
        ["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")], constraints=[Literal(-2)]
    )
    monkeypatch.setattr(analysis, "fewest_rules", stopped)
    assert analyse(model) == Analysis(void=Explanation((0, 1, 2), smallest=False), complete=False)


@pytest.mark.parametrize("nodes", [0, 100_000])
def test_products_are_counted_within_nodes(nodes: int) -> None:
    model = make_model(["A", "B", "C"], root=0, groups=[make_group(0, [1, 2], "or")])
    found = analyse(model, max_nodes=nodes)
    assert (found.n_products, found.products_with) == ((3, (3, 2, 2)) if nodes else (None, ()))
