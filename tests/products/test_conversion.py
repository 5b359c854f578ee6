"""Two feature models compared, and models in other formats, beside what trying everything says."""

import dataclasses
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.files import Source
from shortlist.logic.clauses import Clauses
from shortlist.products.clauses import to_clauses
from shortlist.products.conversion import (
    Edit,
    convert_model,
    difference,
    first_breach,
    first_difference,
    joined,
    renumbered,
)
from shortlist.products.formats import WRITABLE, parse_model, read_model, write_model
from shortlist.products.formulas import Linear, Literal, Or
from shortlist.products.model import FeatureModel, make_group, make_model, with_details
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.products import oracles, strategies
from tests.products.oracles import is_product
from tests.products.strategies import models

KINDS = [str(kind) for kind in WRITABLE]

MODELS = Path(__file__).parent / "models"


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
@given(model=strategies.models(max_features=5))
@examples(8)
def test_every_pair_of_formats_keeps_the_products(first: str, second: str, model: FeatureModel) -> None:
    expected = oracles.named_products(model)
    for kind in (first, second):
        made = convert_model(model, kind)
        assert made.proved
        model = parse_model(Source("model", made.text))
    assert _products_cut(model, {f"F{i}" for i in range(5)}) == sorted(expected, key=sorted)


def _products_cut(model: FeatureModel, names: set[str]) -> list[frozenset[str]]:
    """List the products, cut to names and each as often as it occurs, by trying the values of the clauses."""
    clauses = to_clauses(model)
    rows = np.zeros((1, 0), dtype=bool)
    listed = list(clauses)
    for v in range(1, clauses.n_variables + 1):  # one variable after the other, as auxiliary ones may be many
        grown = np.repeat(rows, 2, axis=0)
        rows = np.column_stack([grown, np.arange(len(grown)) % 2 == 1])
        within = Clauses.from_clauses(v, [c for c in listed if max(map(abs, c), default=0) <= v])
        rows = rows[within.satisfied(rows)]
    labels = model.labels
    found = [frozenset(n for n, has in zip(labels, row, strict=False) if has and n in names) for row in rows]
    return sorted(found, key=sorted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["phone.sxfm.xml", "phone.uvl", "phone.featureide.xml", "phone.dimacs"])
def test_a_model_of_every_format_is_written_in_every_format(name: str, kind: str) -> None:
    model = read_model(MODELS / name)
    made = convert_model(model, kind)
    assert made.proved
    again = parse_model(Source("model", made.text))
    names = set(model.labels)
    found = {frozenset(product & names) for product in oracles.named_products(again)}
    assert found == oracles.named_products(model)


@pytest.mark.parametrize("kind", ["uvl", "featureide"])
def test_attributes_and_marks_stay_where_the_format_has_them(kind: str) -> None:
    model = read_model(MODELS / "phone.uvl")
    made = convert_model(model, kind)
    again = parse_model(Source("model", made.text))
    place = {label: i for i, label in enumerate(again.labels)}
    for name, column in model.attributes.items():
        assert again.attributes[name] == {place[model.labels[i]]: value for i, value in column.items()}
    assert {again.labels[i] for i in again.abstract} >= {model.labels[i] for i in model.abstract}
    assert not [note for note in made.notes if "attribute" in note or "abstract" in note]


@pytest.mark.parametrize("kind", ["sxfm", "dimacs"])
def test_what_a_format_cannot_hold_is_said(kind: str) -> None:
    notes = convert_model(read_model(MODELS / "phone.uvl"), kind).notes
    assert "2 features no longer marked as abstract" in notes
    assert [note for note in notes if "left out: cost" in note]


@pytest.mark.parametrize("suffix", [".uvl", ".xml", ".sxfm", ".dimacs"])
@pytest.mark.parametrize("kind", ["or", "alternative", "cardinality"])
def test_a_group_at_the_root_stays_one_beside_auxiliary_features(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    group = make_group(0, [1, 2, 3, 4, 5], kind, 1, 4)
    rule = Or((Literal(2), Linear((3, 5, 4, 7, 6), (2, 3, 4, 5, 6), 6 if kind == "alternative" else 12)))
    model = make_model([f"F{i}" for i in range(6)], root=0, groups=[group], constraints=[rule])
    write_model(tmp_path / f"m{suffix}", model)
    again = read_model(tmp_path / f"m{suffix}")
    expected = sorted(oracles.named_products(model), key=sorted)
    assert _products_cut(again, set(model.labels)) == expected
    assert suffix != ".xml" or again.n_features > model.n_features, "the case needs auxiliary features"


def _odd() -> FeatureModel:
    """A model whose names, attributes and rules no format takes as they are."""
    names = ["or", "A & <B>", 'say "it"', "a.b", "é ü", "-x", "It's"]
    groups = [
        make_group(0, [1, 2], "or"),
        make_group(0, [3, 4], "alternative"),
        make_group(1, [5, 6], "cardinality", 1, 1),
    ]
    heavy = Linear((3, -2, 4), (2, 4, 6), 5)
    model = make_model(names, root=0, groups=groups, constraints=[heavy, Or((Literal(2), Literal(-5)))])
    texts = {1: "a 'b' \"c\" <d> & e", 2: "", 3: "5", 4: " x  y ", 5: "=1+1", 6: "]]>"}
    numbers = {1: Decimal("1.50"), 2: Decimal(-3), 4: Decimal("1E+3")}
    return with_details(model, attributes={"text": texts, "number": numbers, "flag": {1: True, 2: False}})


@pytest.mark.parametrize("kind", KINDS)
def test_odd_names_and_values_are_read_back_or_their_change_is_said(kind: str) -> None:
    model = _odd()
    made = convert_model(model, kind)
    assert made.proved
    again = parse_model(Source("model", made.text))
    if kind in {"uvl", "featureide"}:
        place = again.labels.index("A & <B>")
        assert (again.attributes["number"][place], again.attributes["flag"][place]) == (Decimal("1.5"), True)
        assert any("changed" in note and "text" in note for note in made.notes)
    for label in ("or", "A & <B>", "é ü", "-x", "It's"):
        assert label in again.labels


@pytest.mark.parametrize(
    ("kind", "name", "other", "shown"),
    [
        ("uvl", "max.cost", "max_cost", "max_cost_"),
        ("uvl", "weight.1", "weight_2", "weight_1"),
        ("featureide", "max  cost", "max cost", "max cost_"),
    ],
)
def test_attributes_stay_apart_where_their_names_become_one(
    kind: str, name: str, other: str, shown: str
) -> None:
    group = make_group(0, [1, 2], "or")
    rule = Linear((3, 2), (2, 3), 4)
    model = make_model(["R", "A", "B"], root=0, groups=[group], constraints=[rule])
    columns = {name: {1: Decimal(1), 2: Decimal(7)}, other: {2: Decimal(9)}}
    made = convert_model(with_details(model, attributes=columns), kind)
    again = parse_model(Source("model", made.text))
    assert again.attributes[shown] == columns[name]
    assert again.attributes[other] == columns[other]
    notes = [note for note in made.notes if "attribute" in note and "own" not in note]
    assert notes == [f"1 attribute renamed: {name!r} as {shown!r}"]


def test_values_that_were_added_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from shortlist.products import conversion

    plain = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])
    one = with_details(plain, attributes={"cost": {0: Decimal(1)}})
    two = with_details(plain, attributes={"cost": {0: Decimal(1), 1: Decimal(2)}})
    monkeypatch.setattr(conversion, "parse_model", lambda _source: two)
    assert convert_model(one, "uvl").notes == ("1 attribute changed: some values, such as empty texts: cost",)


@pytest.mark.parametrize("kind", KINDS)
def test_a_variable_given_twice_counts_with_the_sum_of_its_coefficients(kind: str) -> None:
    rule = Linear((1, 1, 2, -1), (2, 2, 3, 3), 2)
    model = make_model(list("RAB"), root=0, groups=[make_group(0, [1, 2], "or")], constraints=[rule])
    made = convert_model(model, kind)
    assert made.proved
    expected = [frozenset("RA"), frozenset("RB")]  # 2 A + B is at most 2
    assert _products_cut(parse_model(Source("model", made.text)), set("RAB")) == expected
    assert sorted(oracles.named_products(model), key=sorted) == expected


def test_a_contradiction_stays_one() -> None:
    none = make_model(["A", "B"], clauses=Clauses.from_clauses(2, [()]))
    for kind in KINDS:
        made = convert_model(none, kind)
        assert made.proved
        assert not oracles.named_products(parse_model(Source("model", made.text)))


def test_a_stopped_proof_is_no_proof() -> None:
    stopped = Cancellation()
    stopped.cancel()
    some = make_model(list("ABC"), root=0, groups=[make_group(0, [1, 2], "cardinality", 0, 1)])
    made = convert_model(some, "featureide", budget=Budget(cancellation=stopped))
    assert parse_model(Source("model", made.text)).n_features == 3
    assert not made.proved or made.notes


def test_a_text_with_other_products_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from shortlist.products import conversion

    some = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])
    other = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    monkeypatch.setattr(conversion, "parse_model", lambda _source: other)
    with pytest.raises(RuntimeError, match="does not have the same products, a defect"):
        convert_model(some, "uvl")


@given(model=strategies.models(max_features=4), other=strategies.models(max_features=4))
@examples(30)
def test_other_products_are_never_taken_for_the_same(model: FeatureModel, other: FeatureModel) -> None:
    if model.n_features != other.n_features:
        return
    same = oracles.products(model) == oracles.products(other)
    found = first_difference(model, other, range(1, model.n_features + 1))
    assert (found is None) == same
    if found is not None:
        row = tuple(found.tolist())
        assert oracles.is_product(model, row) != oracles.is_product(other, row)


def test_a_new_root_must_be_in_every_product_and_auxiliary_values_be_one() -> None:
    pair = make_model(["A", "B"], constraints=[Linear((1, 1), (1, 2), 1)])
    below = [make_group(2, [0], "optional"), make_group(2, [1], "optional")]
    rooted = make_model(["A", "B", "Root"], root=2, groups=below, constraints=[Linear((1, 1), (1, 2), 1)])
    assert first_difference(pair, rooted, [1, 2, 0]) is None
    free = make_model(["A", "B", "Root"], constraints=[Linear((1, 1), (1, 2), 1)])
    assert first_difference(pair, free, [1, 2, 0]) is not None, "each product would be there twice"


def _products(model: FeatureModel, names: tuple[str, ...]) -> set[tuple[bool, ...]]:
    """List the products over all names; a name that is no feature is not selected."""
    found = set()
    for bits in product([False, True], repeat=model.n_features):
        if is_product(model, bits):
            chosen = dict(zip(model.labels, bits, strict=True))
            found.add(tuple(chosen.get(name, False) for name in names))
    return found


@examples(80)
@given(first=models(max_features=5), second=models(max_features=6))
def test_the_witnesses_are_products_of_one_model_only(first: FeatureModel, second: FeatureModel) -> None:
    found = difference(first, second)
    one, other = _products(first, found.names), _products(second, found.names)
    assert (found.lost is None) == (one <= other)
    assert (found.gained is None) == (other <= one)
    if found.lost is not None:
        assert tuple(found.lost.tolist()) in one - other
    if found.gained is not None:
        assert tuple(found.gained.tolist()) in other - one
    kinds = {(True, True): Edit.REFACTORING, (False, True): Edit.SPECIALISATION}
    kinds |= {(True, False): Edit.GENERALISATION, (False, False): Edit.ARBITRARY}
    assert found.edit is kinds[one <= other, other <= one]


@pytest.mark.parametrize(
    ("kind", "names", "edit"),
    [
        ("or", ["Shop", "Card", "Cash"], "refactoring"),
        ("alternative", ["Shop", "Card", "Cash"], "specialisation"),
        ("cardinality", ["Shop", "Card", "Cash"], "generalisation"),
        ("alternative", ["Shop", "Card", "Coupon"], "arbitrary edit"),
    ],
)
def test_edits_have_the_names_of_the_field(kind: str, names: list[str], edit: str) -> None:
    before = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    after = make_model(names, root=0, groups=[make_group(0, [1, 2], kind, 0, 2)])
    found = difference(before, after)
    assert found.edit is Edit(edit)
    assert found.removed == tuple(n for n in before.names if n not in names)
    assert found.added == tuple(n for n in names if n not in before.names)


def test_a_stopped_comparison_says_what_the_edit_may_be() -> None:
    before = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    stopped = Cancellation()
    stopped.cancel()
    shop = make_model(["Shop"], root=0)
    found = difference(before, shop, budget=Budget(cancellation=stopped))
    assert (found.edit, found.unsure, found.lost, found.gained) == (None, ("lost", "gained"), None, None)
    assert set(found.edits) == set(Edit)
    same = difference(before, before, budget=Budget(cancellation=stopped))
    assert same.edit is Edit.REFACTORING, "the same clauses need no search"

    known = difference(before, shop)
    assert known.edits == (Edit.ARBITRARY,)
    half = dataclasses.replace(known, gained=None, unsure=("gained",))
    assert (half.edit, half.edits) == (None, (Edit.SPECIALISATION, Edit.ARBITRARY))


LITERALS = st.integers(1, 4).flatmap(lambda v: st.sampled_from([v, -v]))

LISTED = st.lists(st.lists(LITERALS, max_size=3), max_size=6)


@settings(max_examples=60, deadline=None)
@given(listed=LISTED, claims=LISTED)
def test_a_breach_is_a_model_of_the_clauses_and_of_no_claim(
    listed: list[list[int]], claims: list[list[int]]
) -> None:
    clauses = Clauses.from_clauses(4, listed)
    every = np.array(list(product([False, True], repeat=4)))
    broken = clauses.satisfied(every) & ~Clauses.from_clauses(4, claims).satisfied(every)

    found = first_breach(clauses, claims, budget=None)

    assert (found is None) == (not broken.any())
    if found is not None:
        assert broken[(every == found).all(axis=1)].all()


def test_renumbered_and_joined_clauses_say_what_they_said_of_other_variables() -> None:
    clauses = Clauses.from_clauses(2, [(1, -2), (2,)])
    assert list(renumbered(clauses, np.array([0, 3, 1]), 3)) == [(3, -1), (1,)]
    assert list(joined(3, clauses, [(3,)])) == [(1, -2), (2,), (3,)]
