"""Remaining values of objectives, and the costs of a choice, against all products."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.products import choices as module
from shortlist.products import read_model
from shortlist.products.attributes import random_attributes
from shortlist.products.choices import Side, cost_of, finish, values_left
from shortlist.products.configuration.explanation import Least
from shortlist.products.configuration.question import FeatureObjective, parse_objectives
from shortlist.products.decisions import decide_feature, start, undo, why
from shortlist.products.model import Constraint, FeatureModel
from shortlist.results.proof import Status
from tests.examples import examples
from tests.products.small_lines import COST, PHONE, left, lines

Line = tuple[FeatureModel, tuple[FeatureObjective, ...], list[Constraint]]


def assert_is_left(
    side: Side | None, goals: tuple[FeatureObjective, ...], products: list[tuple[bool, ...]]
) -> None:
    assert (side is None) == (not products)
    if side is None:
        return
    for left_of_one, goal in zip(side.values, goals, strict=True):
        values = goal.points(np.array(products)).tolist()
        assert left_of_one.ideal.proved
        assert left_of_one.worst.proved
        assert (left_of_one.ideal.value, left_of_one.worst.value) == (min(values), max(values))


@pytest.mark.parametrize("max_nodes", [pytest.param(None, id="diagram"), pytest.param(0, id="programs")])
@given(line=lines(), data=st.data())
@examples(15)
def test_costs_are_those_of_all_products_that_are_left(
    max_nodes: int | None, line: Line, data: st.DataObject
) -> None:
    model, goals, limits = line
    if not left(model, limits, []):
        return
    state = start(model, goals, limits=limits, max_nodes=max_nodes)
    decided = data.draw(st.integers(0, model.n_features - 1))
    if left(model, limits, [decided + 1]):
        state = decide_feature(state, decided, selected=True)
    feature = data.draw(st.integers(0, model.n_features - 1))
    choice = cost_of(state, feature)
    for side, literals in (
        (choice.now, ()),
        (choice.selected, (feature + 1,)),
        (choice.deselected, (-feature - 1,)),
    ):
        products = left(model, limits, [*state.literals, *literals])
        assert_is_left(side, goals, products)
        if side is not None and max_nodes is None:
            assert side.n_products == len(products)


@given(line=lines(), data=st.data())
@examples(15)
def test_finishing_takes_the_best_product_that_is_left(line: Line, data: st.DataObject) -> None:
    model, goals, limits = line
    feature = data.draw(st.integers(0, model.n_features - 1))
    products = left(model, limits, [feature + 1])
    if not products:
        return
    state = decide_feature(start(model, goals, limits=limits), feature, selected=True)
    if model.n_features == 1:
        return
    finished = finish(state, goals[0], by="finish")
    assert finished.answer.status is Status.OPTIMAL
    assert finished.state.open == ()
    chosen = tuple(literal > 0 for literal in sorted(finished.state.literals, key=abs))
    assert chosen in products
    best = min(goals[0].points(np.array(products)).tolist())
    assert goals[0].points(np.array([chosen]))[0] == best
    assert undo(finished.state) is state


def test_what_is_left_is_told_in_the_users_unit_and_sense() -> None:
    state = start(PHONE, "min cost, max selected", attributes=COST)
    values = values_left(state)
    assert values is not None
    assert [one.text() for one in values] == ["12 EUR to 22.5 EUR", "5 features to 3 features"]
    choice = cost_of(state, 4)
    assert choice.selected is not None
    assert choice.deselected is not None
    assert (choice.selected.n_products, choice.deselected.n_products) == (4, 4)
    assert choice.selected.values[0].text() == "16 EUR to 22.5 EUR"
    assert cost_of(decide_feature(state, 2, selected=True), 3).selected is None
    assert cost_of(start(PHONE, max_nodes=0), 0).deselected is None


def test_what_is_not_proved_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    known = iter([Least(130, 125), Least(None, -300)])
    monkeypatch.setattr(module, "least_value", lambda *_, **__: next(known))
    monkeypatch.setattr(module, "are_valid", lambda *_: np.array([False]))
    values = values_left(start(PHONE, "min cost", attributes=COST, max_nodes=0))
    assert values is not None
    assert not values[0].ideal.proved
    assert values[0].text() == "? (found 13 EUR, not beyond 12.5 EUR) to ? (not beyond 30 EUR)"


@given(line=lines(), data=st.data())
@examples(20)
def test_without_any_answer_of_a_program_values_are_products_and_bounds_are_true(
    line: Line, data: st.DataObject
) -> None:
    model, goals, limits = line
    feature = data.draw(st.integers(0, model.n_features - 1))
    products = left(model, limits, [feature + 1])
    if not products:
        return
    state = decide_feature(start(model, goals, limits=limits, max_nodes=0), feature, selected=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "least_value", lambda *_, **__: Least())
        values = values_left(state)
    assert values is not None
    for one, goal in zip(values, goals, strict=True):
        points = goal.points(np.array(products)).tolist()
        assert one.ideal.value in points
        assert one.worst.value in points
        assert one.ideal.bound is not None
        assert one.worst.bound is not None
        assert one.ideal.bound <= min(points)
        assert max(points) <= one.worst.bound


def test_a_finished_configuration_cannot_be_finished_again() -> None:
    goal = parse_objectives("min cost", PHONE, COST)[0]
    state = finish(start(PHONE), goal).state
    assert [PHONE.labels[v - 1] for v in state.literals if v > 0] == ["Phone", "Screen", "Basic"]
    with pytest.raises(BadInputError, match="every feature is decided already"):
        finish(state, goal)
    with pytest.raises(BadInputError, match="feature must be"):
        cost_of(state, 6)


REAL: dict[str, tuple[str, int | None, list[str]]] = {
    "web portal": ("splot/web-portal.sxfm.xml", None, []),
    "E-Shop within a limit of too many clauses": ("splot/e-shop.sxfm.xml", None, ["cost<=800"]),
    "uClinux": ("lvat/uClinux.dimacs", None, []),
    "eCos without a diagram": ("lvat/ecos-icse11.dimacs", 0, []),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_models_add_up_at_every_step(name: str, data_folder: Path) -> None:
    """The products with and without a feature are all, and the ideal of all is that of one of the sides."""
    file, max_nodes, limits = REAL[name]
    model = read_model(data_folder / "feature-models" / file)
    attributes = random_attributes(model, rng=np.random.default_rng(1))
    state = start(
        model, "min cost", attributes=attributes, limits=limits, max_nodes=max_nodes, time_limit_s=60
    )
    rng = np.random.default_rng(0)
    for step in range(1 if limits else 2):
        feature = int(rng.choice(state.open))
        choice = cost_of(state, feature)
        assert choice.selected is not None
        assert choice.deselected is not None
        sides = (choice.selected, choice.deselected)
        now, (one, other) = choice.now.values[0], [side.values[0] for side in sides]
        assert now.ideal.proved
        assert now.worst.proved
        assert now.ideal.value == min(one.ideal.value or 0, other.ideal.value or 0)
        assert now.worst.value == max(one.worst.value or 0, other.worst.value or 0)
        if max_nodes is None and not limits:
            assert choice.now.n_products == sum(side.n_products or 0 for side in sides)
        state = decide_feature(state, feature, selected=step == 0)
        assert state.complete
        for literal in state.follows[:3]:
            found, _ = why(state, abs(literal) - 1)
            assert found is not None
            assert found.irreducible
