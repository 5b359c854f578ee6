"""Forced features against all products."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.logic.sat import SearchStoppedError
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.configuration.least_values import Least, best_product
from shortlist.products.configuration.question import FeatureObjective, parse_limit
from shortlist.products.decisions import decision_state as module
from shortlist.products.decisions.decision_state import Forced, LimitedModel, forced_features, limited_model
from shortlist.products.feature_models.model import Constraint, FeatureModel, make_model, with_constraints
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.products.decisions.lines import PHONE, left, lines, shared

Line = tuple[FeatureModel, tuple[FeatureObjective, ...], list[Constraint]]


@given(line=lines(), data=st.data())
@examples(40)
def test_decision_state_are_those_that_all_products_share(line: Line, data: st.DataObject) -> None:
    model, _, limits = line
    chosen = data.draw(
        st.dictionaries(st.integers(1, model.n_features), st.sampled_from([1, -1]), max_size=2)
    )
    literals = [variable * sign for variable, sign in chosen.items()]
    products = left(model, limits, literals)
    joined = with_constraints(model, limits)
    by_clauses = limited_model(model, limits)
    assert by_clauses.whole
    by_programs = LimitedModel(joined, None, whole=False)
    by_both = LimitedModel(joined, limited_model(model, []).clauses, whole=False)
    for limited in (by_clauses, by_programs, by_both):
        found = forced_features(limited, literals)
        if not products:
            assert found is None
        else:
            assert found is not None
            assert (found.literals, found.complete) == (shared(products), True)


def test_limits_with_too_many_clauses_leave_those_of_the_others() -> None:
    wide = make_model([f"F{i}" for i in range(41)])
    costs = {"cost": Attribute("cost", np.append(np.arange(40) ** 2 * 37 + 1, 10**6))}
    limits = [parse_limit("cost<=400000", wide, costs), parse_limit("selected>=2", wide, costs)]
    limited = limited_model(wide, limits)
    assert not limited.whole
    assert limited.clauses is not None
    assert len(limited.model.constraints) == 2
    assert forced_features(limited) == Forced((-41,))
    assert forced_features(limited, [41]) is None


def test_propagation_is_told_where_the_time_is_over_and_nothing_is_claimed() -> None:
    over = Budget(0.0, clock=lambda: 1.0, start=0.0)
    found = forced_features(limited_model(PHONE, []), [3], budget=over)
    assert found is not None
    assert (found.literals, found.complete) == ((1, 2, 3, -4), False)
    assert forced_features(limited_model(PHONE, []), [3, 5, 6], budget=over) == Forced((1, 2, 3, -4, 5, 6))
    stopped = Cancellation()
    stopped.cancel()
    with pytest.raises(SearchStoppedError):
        forced_features(LimitedModel(PHONE, None, whole=False), [3], budget=Budget(cancellation=stopped))


def test_a_limit_without_clauses_leaves_what_propagation_finds_where_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = Budget(0.0, clock=lambda: 1.0, start=0.0)

    def without_time(*asked: Any, budget: Budget) -> tuple[Least, Mask | None]:
        return (Least(), None) if budget.expired else best_product(*asked, budget=budget)

    monkeypatch.setattr(module, "best_product", without_time)
    limit = parse_limit("selected>=3", PHONE, {})
    limited = LimitedModel(with_constraints(PHONE, [limit]), limited_model(PHONE, []).clauses, whole=False)
    assert forced_features(limited, [3], budget=over) == Forced((1, 2, 3, -4), complete=False)
    none = parse_limit("selected>=6", PHONE, {})
    limited = LimitedModel(with_constraints(PHONE, [none]), limited.clauses, whole=False)
    assert forced_features(limited, [3], budget=over) is None
