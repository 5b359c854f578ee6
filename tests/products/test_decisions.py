"""Configuring step by step, beside what trying everything says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.errors import BadInputError, ContradictionError, OutOfReachError
from shortlist.logic.sat import SearchStoppedError
from shortlist.products import decisions as module
from shortlist.products.attributes import Attribute
from shortlist.products.choices import cost_of
from shortlist.products.configuration.explanation import Least, best_product
from shortlist.products.configuration.feasibility import Forced, LimitedModel, forced_features, limited_model
from shortlist.products.configuration.question import FeatureObjective, parse_limit
from shortlist.products.decisions import (
    Decision,
    DecisionState,
    decide_all,
    decide_feature,
    start,
    undo,
    why,
)
from shortlist.products.model import Constraint, FeatureModel, make_model, with_constraints
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.products.configuration.test_contradictions import possible, smaller
from tests.products.small_lines import COST, PHONE, left, lines, shared
from tests.stored import Stored

Line = tuple[FeatureModel, tuple[FeatureObjective, ...], list[Constraint]]


@given(line=lines(), data=st.data())
@examples(10)
def test_reasons_force_the_value_and_none_can_be_left_out(line: Line, data: st.DataObject) -> None:
    model, _, limits = line
    feature = data.draw(st.integers(0, model.n_features - 1))
    if not left(model, limits, [feature + 1]):
        return
    state = decide_feature(start(model, limits=limits), feature, selected=True)
    for literal in state.forced:
        found, sentences = why(state, abs(literal) - 1)
        if abs(literal) == feature + 1:
            assert found is None
            continue
        assert found is not None
        assert found.irreducible
        assert sentences
        assert not possible(model, found, limits, [-literal])
        assert all(possible(model, less, limits, [-literal]) for less in smaller(found))


def test_reasons_are_told_in_words(stored: Stored) -> None:
    state = decide_feature(start(PHONE, attributes=COST, limits=["cost<=16"]), 4, selected=True, by="Anna")
    assert why(state, 4) == (None, ("GPS is selected (by Anna)",))
    found, sentences = why(state, 5)
    assert found is not None
    assert found.smallest
    stored(*sentences[:2], *why(start(PHONE), 1)[1])
    with pytest.raises(BadInputError, match="GPS is open: nothing that is known decides it"):
        why(start(PHONE), 4)


def assert_is_what_is_left(state: DecisionState) -> None:
    """Compare a state with all products."""
    products = left(state.problem.model, state.problem.limits, state.literals)
    assert state.forced == shared(products)
    assert state.complete
    assert state.open == tuple(
        i for i in range(state.problem.model.n_features) if not {i + 1, -i - 1} & {*state.forced}
    )
    assert state.n_products == len(products)


@given(line=lines(), data=st.data())
@examples(25)
def test_every_step_leaves_the_products_that_have_the_decisions_and_can_be_taken_back(
    line: Line, data: st.DataObject
) -> None:
    model, goals, limits = line
    if not left(model, limits, []):
        with pytest.raises(ContradictionError, match="no product is left"):
            start(model, goals, limits=limits)
        return
    states = [start(model, goals, limits=limits)]
    for _ in range(4):
        assert_is_what_is_left(states[-1])
        feature = data.draw(st.integers(0, model.n_features - 1))
        selected = data.draw(st.booleans())
        literal = Decision(feature, selected).literal
        if literal in states[-1].literals:
            continue
        before = states[-1]
        if left(model, limits, [*before.literals, literal]):
            states.append(decide_feature(before, feature, selected=selected))
            assert {*states[-1].follows} == {*states[-1].forced} - {*before.forced} - {literal}
        else:
            with pytest.raises(ContradictionError) as refused:
                decide_feature(before, feature, selected=selected)
            found = refused.value.contradiction
            assert found.irreducible
            assert {*found.literals} <= {*before.literals}
            assert len(refused.value.sentences) == len(found.rules) + len(found.limits) + len(found.literals)
    for steps in range(1, len(states)):
        assert undo(states[-1], steps) is states[-1 - steps]


def test_a_refused_decision_names_the_fewest_that_it_contradicts() -> None:
    state = decide_feature(start(PHONE), 4, selected=True, stage="design", by="Anna")
    state = decide_feature(state, 2, selected=True, stage="design")
    with pytest.raises(ContradictionError) as refused:
        decide_feature(state, 3, selected=True)
    assert str(refused.value).startswith(
        "HD cannot be selected: Basic is selected (stage design); exactly one "
    )
    assert refused.value.contradiction.literals == (3,)


def test_limits_refuse_with_their_numbers() -> None:
    state = start(PHONE, "min cost", attributes=COST, limits=["cost<=16"])
    assert state.forced == (1, 2)
    state = decide_feature(state, 4, selected=True)
    assert state.follows == (3, -4, -6)
    with pytest.raises(ContradictionError) as refused:
        decide_feature(state, 3, selected=True)
    assert "limit cost<=16: the others leave at least 19.5 EUR" in refused.value.sentences
    assert {*refused.value.contradiction.literals} == {5}
    with pytest.raises(ContradictionError, match="limit cost<=9: the least cost of a product is 12 EUR, "):
        start(PHONE, attributes=COST, limits=["cost<=9"])


def test_several_decisions_are_one_step_and_the_first_that_contradicts_is_refused() -> None:
    first = start(PHONE)
    both = decide_all(first, [Decision(4, True), Decision(4, True), Decision(2, True)])
    assert both.decisions == (Decision(4, True), Decision(2, True))
    assert undo(both) is first
    assert decide_all(both, [Decision(4, True)]) is both
    with pytest.raises(ContradictionError, match="HD cannot be selected: Basic is selected"):
        decide_all(first, [Decision(4, True), Decision(2, True), Decision(3, True), Decision(0, False)])
    with pytest.raises(ContradictionError, match="GPS cannot be deselected: GPS is selected contradicts"):
        decide_all(first, [Decision(4, True), Decision(4, False)])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda state: decide_feature(state, 6, selected=True), "feature must be"),
        (lambda state: decide_feature(decide_feature(state, 4, selected=True), 4, selected=True), "GPS is selected already"),
        (undo, "there are 0 steps to take back, got 1"),
        (lambda state: undo(decide_feature(state, 4, selected=True), 3), "there is 1 step to take back, got 3"),
        (lambda _: start(PHONE, max_nodes=3), "max_nodes must be"),
        (lambda _: start(PHONE, time_limit_s=0), "time_limit_s must be"),
        (lambda _: start(PHONE, "min price"), "price"),
    ],
)  # fmt: skip
def test_bad_input_is_told(ask: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        ask(start(PHONE))


def test_products_are_not_counted_where_nothing_was_asked_to_count() -> None:
    state = start(PHONE, max_nodes=0)
    assert (state.n_products, state.problem.uncounted) == (None, "no nodes to count with")
    assert decide_feature(state, 2, selected=True).n_products is None


def test_nothing_is_claimed_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from shortlist.logic.sat import SearchStoppedError

    def stopped(*_: object, **__: object) -> None:
        raise SearchStoppedError

    monkeypatch.setattr(module, "forced_features", stopped)
    with pytest.raises(OutOfReachError, match=r"not known after 10 s\. Raise `time_limit_s`"):
        start(PHONE)


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

    monkeypatch.setattr("shortlist.products.configuration.explanation.best_product", without_time)
    limit = parse_limit("selected>=3", PHONE, {})
    limited = LimitedModel(with_constraints(PHONE, [limit]), limited_model(PHONE, []).clauses, whole=False)
    assert forced_features(limited, [3], budget=over) == Forced((1, 2, 3, -4), complete=False)
    none = parse_limit("selected>=6", PHONE, {})
    limited = LimitedModel(with_constraints(PHONE, [none]), limited.clauses, whole=False)
    assert forced_features(limited, [3], budget=over) is None


def test_a_feature_is_named_as_well_as_numbered() -> None:
    state = start(PHONE)
    number = PHONE.names.index("GPS")
    named = decide_feature(state, "gps", selected=True)
    assert named.forced == decide_feature(state, number, selected=True).forced
    assert why(named, "GPS") == why(named, number)
    assert cost_of(state, "GPS").feature == number
    with pytest.raises(BadInputError, match=r"feature names no feature: 'GSP'\. Did you mean 'GPS'"):
        decide_feature(state, "GSP", selected=True)
