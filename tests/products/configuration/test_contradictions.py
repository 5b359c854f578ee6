"""Contradictions against all configurations: they contradict, and nothing can be left out."""

import dataclasses
import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shortlist.logic.sat import SearchStoppedError
from shortlist.products.attributes import Attribute
from shortlist.products.configuration import contradictions as module
from shortlist.products.configuration.contradictions import (
    Contradiction,
    contradiction_sentences,
    find_contradiction,
)
from shortlist.products.configuration.explanation import fewest_rules, only_rules
from shortlist.products.configuration.question import QuantityLimit, parse_limit
from shortlist.products.formulas import And, Linear, Literal
from shortlist.products.model import Constraint, FeatureModel, make_group, make_model
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.products import oracles
from tests.products.strategies import models
from tests.stored import Stored

NUMBERED_PHONE = make_model(
    ["Phone", "GPS", "MP3", "Radio"], root=0, groups=[make_group(0, [1, 2, 3], "optional")]
)
ATTRIBUTES = {
    "cost": Attribute("cost", np.array([50, 60, 30, 0]), 10, "EUR"),
    "worth": Attribute("worth", np.array([0, 3, 1, 1])),
}


@st.composite
def questions(draw: st.DrawFn) -> tuple[FeatureModel, list[Constraint], list[int]]:
    """A model, limits on attributes with one decimal, and choices; many contradict each other."""
    model = draw(models(max_features=5))
    n = model.n_features
    attributes = {
        "cost": Attribute("cost", np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))), 10),
        "worth": Attribute("worth", np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)))),
    }
    limits = draw(st.lists(st.sampled_from(LIMITS), max_size=3, unique=True))
    chosen = draw(st.dictionaries(st.integers(1, n), st.sampled_from([1, -1]), max_size=3))
    return (
        model,
        [parse_limit(limit, model, attributes) for limit in limits],
        [v * s for v, s in chosen.items()],
    )


def said(limits: Sequence[str], literals: Sequence[int], model: FeatureModel = NUMBERED_PHONE) -> list[str]:
    bounds = [parse_limit(limit, model, ATTRIBUTES) for limit in limits]
    found = find_contradiction(model, bounds, literals)
    assert found is not None
    return list(contradiction_sentences(found, model, bounds, literals))


@pytest.mark.parametrize(
    ("limits", "literals"),
    [
        pytest.param(["cost<=10"], [2, 3, 4], id="a limit and a choice, with what it costs"),
        pytest.param(["cost<=3"], [], id="a limit below every product"),
        pytest.param(["worth>=50", "cost>2"], [-2], id="a limit above every product"),
        pytest.param(
            ["worth>=5", "cost<13.5", "cost>2"], [], id="two limits, each with what the other leaves"
        ),
        pytest.param(["worth==2", "cost>10"], [], id="an equality from one side"),
        pytest.param(["worth==2"], [-3], id="an equality from both sides"),
        pytest.param(["cost<=9007"], [2, -1], id="no limit takes part"),
    ],
)
def test_sentences_have_the_numbers_of_the_products(
    limits: list[str], literals: list[int], stored: Stored
) -> None:
    stored(*said(limits, literals))


@given(question=questions())
@settings(max_examples=20, deadline=None)
def test_what_the_others_leave_is_the_least_or_most_of_all_products(
    question: tuple[FeatureModel, list[Constraint], list[int]],
) -> None:
    model, limits, literals = question
    found = find_contradiction(model, limits, literals)
    if found is None:
        return
    sentences = contradiction_sentences(found, model, limits, literals)
    if len(sentences) == 1 and " of a product is " in sentences[0]:
        _check_the_best_of_all_products(sentences[0], found, question)
        return
    assert len(sentences) == len(found.rules) + len(found.literals) + len(found.limits)
    for place, sentence in zip(found.limits, sentences[len(found.literals) :], strict=False):
        limit = limits[place]
        assert isinstance(limit, QuantityLimit)
        assert limit.quantity is not None
        assert sentence.startswith(limit.name)
        values = [
            int(limit.quantity.points(np.array([selected]))[0])
            for selected in oracles.products(only_rules(model, found.rules))
            if all(oracles.truth(limits[other].formula, selected) for other in found.limits if other != place)
            and all(selected[abs(v) - 1] == (v > 0) for v in found.literals)
        ]
        others = sentence.removeprefix(limit.name).partition(", and all")[0]
        ends = re.findall(r"at (least|most) (-?[\d.]+)", others)
        assert ends
        for end, number in ends:
            scaled = int(Decimal(number) * (limit.quantity.objective.scale or 1))
            if "==" in limit.name:
                assert scaled in values
            else:
                assert scaled == (min(values) if end == "least" else max(values))


def _check_the_best_of_all_products(
    sentence: str, found: Contradiction, question: tuple[FeatureModel, list[Constraint], list[int]]
) -> None:
    model, limits, literals = question
    (place,) = found.limits
    assert not found.literals
    limit = limits[place]
    assert isinstance(limit, QuantityLimit)
    assert limit.quantity is not None
    values = [
        int(limit.quantity.points(np.array([selected]))[0])
        for selected in oracles.products(model)
        if all(oracles.truth(one.formula, selected) for one in limits if one is not limit)
        and all(selected[abs(v) - 1] == (v > 0) for v in literals)
    ]
    told = re.fullmatch(r".* the (least|greatest) \S+ of a product is (-?[\d.]+).*", sentence)
    assert told is not None
    scaled = int(Decimal(told[2]) * (limit.quantity.objective.scale or 1))
    assert scaled == (min(values) if told[1] == "least" else max(values))


def test_a_limit_without_a_name_or_quantity_is_told_by_its_formula(stored: Stored) -> None:
    limit = Constraint(Linear((2, 3), (2, 3), 1))
    found = find_contradiction(NUMBERED_PHONE, [limit], [2])
    assert found is not None
    stored(*contradiction_sentences(found, NUMBERED_PHONE, [limit], [2], chosen=lambda _: "a choice"))


LIMITS = ("cost<=1.5", "cost>2", "cost==1.3", "worth>=2", "worth<=-1", "selected<=2", "deselected<=1")


def possible(
    model: FeatureModel, found: Contradiction, limits: Sequence[Constraint], assumed: Sequence[int] = ()
) -> bool:
    """Whether some configuration meets the parts of a contradiction, by trying all."""
    rules = set(found.rules)
    own = oracles_rules(model)
    return any(
        all(oracles.is_product(own[rule], selected) for rule in rules)
        and all(oracles.truth(limits[place].formula, selected) for place in found.limits)
        and all(selected[abs(v) - 1] == (v > 0) for v in (*found.literals, *assumed))
        for selected in oracles.configurations(model.n_features)
    )


def oracles_rules(model: FeatureModel) -> list[FeatureModel]:
    """Return a model for each rule, in the order of their numbers."""
    bare = dataclasses.replace(model, root=None, groups=(), constraints=(), clauses=None)
    parts = [dataclasses.replace(bare, root=model.root)] if model.root is not None else []
    parts += [dataclasses.replace(bare, groups=(group,)) for group in model.groups]
    parts += [dataclasses.replace(bare, constraints=(one,)) for one in model.constraints]
    if model.clauses is not None:
        kind = type(model.clauses)
        parts += [
            dataclasses.replace(bare, clauses=kind.from_clauses(model.n_features, [clause]))
            for clause in model.clauses
        ]
    return parts


def _with(found: Contradiction, parts: dict[str, tuple[int, ...]]) -> Contradiction:
    kept = {kind: parts.get(kind, getattr(found, kind)) for kind in ("rules", "limits", "literals")}
    return Contradiction(kept["rules"], kept["limits"], kept["literals"])


def smaller(found: Contradiction) -> list[Contradiction]:
    """Return what is left with each part left out."""
    return [
        _with(found, {kind: tuple(one for one in getattr(found, kind) if one != left_out)})
        for kind in ("rules", "limits", "literals")
        for left_out in getattr(found, kind)
    ]


def stopped(*_: object) -> None:
    raise SearchStoppedError


@pytest.mark.parametrize("by", ["clauses", "programs"])
@given(question=questions())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_of_a_contradiction_can_be_left_out(
    by: str, question: tuple[FeatureModel, list[Constraint], list[int]]
) -> None:
    model, limits, literals = question
    every = [
        selected
        for selected in oracles.products(model)
        if all(oracles.truth(limit.formula, selected) for limit in limits)
        and all(selected[abs(v) - 1] == (v > 0) for v in literals)
    ]
    with pytest.MonkeyPatch.context() as patch:
        if by == "programs":
            patch.setattr(module, "fewest_rules", stopped)
        found = find_contradiction(model, limits, literals)
    assert (found is None) == bool(every)
    if found is None:
        return
    assert found.irreducible
    assert not found.whole_model
    assert not possible(model, found, limits)
    assert all(possible(model, less, limits) for less in smaller(found))
    assert set(found.literals) <= set(literals)


@given(question=questions())
@examples(10)
def test_no_fewer_parts_contradict_each_other_where_that_is_said(
    question: tuple[FeatureModel, list[Constraint], list[int]],
) -> None:
    model, limits, literals = question
    found = find_contradiction(model, limits, literals)
    if found is None:
        return
    assert found.smallest
    parts = [("rules", rule) for rule in range(model.n_rules)]
    parts += [("limits", place) for place in range(len(limits))]
    parts += [("literals", literal) for literal in literals]
    size = len(found.rules) + len(found.limits) + len(found.literals)
    for chosen in combinations(parts, min(size - 1, 2)):
        kinds = {
            kind: tuple(one for k, one in chosen if k == kind) for kind in ("rules", "limits", "literals")
        }
        assert possible(model, _with(found, kinds), limits)


PHONE = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1, 2], "optional")])
COST = {"cost": Attribute("cost", np.array([5, 6, 3]))}


def test_what_is_assumed_is_no_part_of_the_answer() -> None:
    limits = [parse_limit("cost<=10", PHONE, COST)]
    found = find_contradiction(PHONE, limits, [3], assumed=[2])
    assert found == Contradiction((0,), (0,), (), smallest=True, irreducible=True)
    assert find_contradiction(PHONE, limits, [3]) is None


@pytest.mark.parametrize("by", ["clauses", "programs"])
def test_sums_of_many_digits_are_decided_in_integers(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "programs":
        monkeypatch.setattr(module, "fewest_rules", stopped)
    large = 9 * 10**14
    costs = {"cost": Attribute("cost", np.array([large, large + 1, large + 3]))}
    for limit, contradicts in ((f"cost<={2 * large}", True), (f"cost<={2 * large + 1}", False)):
        found = find_contradiction(PHONE, [parse_limit(limit, PHONE, costs)], [2])
        assert (found is not None) == contradicts


def test_nothing_is_claimed_once_the_time_is_over() -> None:
    budget = Budget(0.0, clock=lambda: 1.0, start=0.0)
    with pytest.raises(SearchStoppedError):
        find_contradiction(PHONE, [parse_limit("cost<=10", PHONE, COST)], [2], budget=budget)


def test_constraints_of_other_kinds_may_be_limits() -> None:
    both = Constraint(And((Linear((1, 1), (2, 3), 1), Literal(2))), name="one of them, and GPS")
    found = find_contradiction(PHONE, [both], [3])
    assert found is not None
    assert (found.limits, found.literals, found.rules) == ((0,), (3,), ())


@given(model=models(max_features=5), data=st.data())
@examples(20)
def test_limits_within_one_unit_of_a_large_sum_are_decided_in_integers(
    model: FeatureModel, data: st.DataObject
) -> None:
    n, size = model.n_features, 10 ** data.draw(st.integers(6, 14))
    values = np.array(data.draw(st.lists(st.integers(-size, size), min_size=n, max_size=n)))
    some = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    operator = data.draw(st.sampled_from(["<=", ">=", "==", "<", ">"]))
    text = f"cost{operator}{int(values[some].sum()) + data.draw(st.integers(-1, 1))}"
    limit = parse_limit(text, model, {"cost": Attribute("cost", values)})
    every = [selected for selected in oracles.products(model) if oracles.truth(limit.formula, selected)]
    for by_clauses in (fewest_rules, stopped):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "fewest_rules", by_clauses)
            assert (find_contradiction(model, [limit]) is None) == bool(every)
