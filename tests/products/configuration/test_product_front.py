"""Fronts of product lines: every method against every product, and against each other."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.products import FeatureModel, chosen_attributes, model_attributes, read_attributes, read_model
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS, check_feasibility, summarise
from shortlist.products.configuration.product_front import Configured, configure
from shortlist.products.configuration.question import parse_limit, parse_objectives
from shortlist.products.configuration.requirements import Requirements, make_requirements
from shortlist.products.model import make_group, make_model, with_constraints
from shortlist.products.rules import are_valid, rule_text
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind, Status
from tests.examples import examples
from tests.products import oracles
from tests.products.strategies import models
from tests.stored import Stored

MODELS = Path(__file__).parents[1] / "models"
METHODS = ("diagram", "exact", "cwmoip", "epsilon-constraint")
SHOP = make_model(
    ["Shop", "Card", "Cash", "Log"],
    root=0,
    groups=[make_group(0, [1, 2], "or"), make_group(0, [3], "optional")],
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[FeatureModel, dict[str, Attribute], str]:
    """A model, attributes with ties and one decimal, and two or three objectives."""
    model = draw(models(max_features=7))
    n = model.n_features
    attributes = {
        "cost": Attribute("cost", np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))), 10),
        "worth": Attribute("worth", np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)))),
    }
    text = draw(
        st.sampled_from(
            ["min cost, max worth", "min deselected, min cost", "max worth, min cost, max selected"]
        )
    )
    return model, attributes, text


def front_by_hand(
    model: FeatureModel, attributes: dict[str, Attribute], text: str, keep: Requirements = NO_REQUIREMENTS
) -> list[tuple[int, ...]]:
    """Try every configuration."""
    goals = parse_objectives(text, model, attributes)
    points = set()
    for product in oracles.products(model):
        if all(product[i] for i in keep.select) and not any(product[i] for i in keep.deselect):
            selected = np.array([product])
            points.add(tuple(int(goal.points(selected)[0]) for goal in goals))
    return sorted(
        p
        for p in points
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    )


def as_tuples(answer: Configured) -> list[tuple[int, ...]]:
    return sorted(map(tuple, answer.front.points.tolist()))


@pytest.mark.slow
@given(question=questions())
@examples(25)
def test_every_method_gives_the_front_of_all_products(
    question: tuple[FeatureModel, dict[str, Attribute], str],
) -> None:
    model, attributes, text = question
    expected = front_by_hand(model, attributes, text)
    for method in METHODS:
        answer = configure(model, text, attributes=attributes, method=method)
        assert as_tuples(answer) == expected
        assert answer.front.proof.kind is ProofKind.COMPLETE
        assert answer.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
        assert are_valid(model, answer.front.decisions).all()
        assert answer.front.candidates == model.labels
        assert answer.front.decisions.dtype == np.uint8


@pytest.mark.slow
@given(question=questions(), data=st.data())
@examples(25)
def test_limits_and_requirements_are_those_of_the_definition(
    question: tuple[FeatureModel, dict[str, Attribute], str], data: st.DataObject
) -> None:
    model, attributes, text = question
    limits = data.draw(
        st.lists(st.sampled_from(["cost<=1.5", "cost<2", "worth>=1", "worth<=2", "selected==3"]), max_size=2)
    )
    feature = data.draw(st.integers(0, model.n_features - 1))
    wanted = data.draw(
        st.sampled_from([Requirements((feature,)), Requirements((), (feature,)), Requirements()])
    )
    limited = with_constraints(model, [parse_limit(limit, model, attributes) for limit in limits])
    expected = front_by_hand(limited, attributes, text, wanted)
    for method in ("diagram", "exact"):
        answer = configure(
            model, text, attributes=attributes, limits=limits, requirements=wanted, method=method
        )
        assert as_tuples(answer) == expected
        assert (answer.status is Status.INFEASIBLE) == (not expected)


@pytest.mark.slow
@given(model=models(max_features=7), data=st.data())
@examples(30)
def test_implied_features_are_those_of_all_products_with_the_required_ones(
    model: FeatureModel, data: st.DataObject
) -> None:
    feature = data.draw(st.integers(0, model.n_features - 1))
    found = check_feasibility(model, Requirements((feature,)))
    every = oracles.products(model)
    having = [product for product in every if product[feature]]
    if not having:
        assert found.conflict
        return

    def shared(products: list[tuple[bool, ...]]) -> set[int]:
        columns = list(zip(*products, strict=True))
        return {i + 1 for i, c in enumerate(columns) if all(c)} | {
            -i - 1 for i, c in enumerate(columns) if not any(c)
        }

    assert set(found.fixed) == shared(having)
    assert set(found.implied) == shared(having) - shared(every) - {feature + 1}


@pytest.mark.slow
@given(model=models(max_features=6), data=st.data())
@examples(40)
def test_a_conflict_is_a_contradiction_and_minimal(model: FeatureModel, data: st.DataObject) -> None:
    literals = data.draw(st.lists(st.integers(1, model.n_features), unique=True, max_size=3))
    wanted = Requirements(tuple(sorted(v - 1 for v in literals)))
    conflict = check_feasibility(model, wanted).conflict
    every = oracles.products(model)
    assert bool(conflict) == (not any(all(p[i] for i in wanted.select) for p in every))
    named = {i for i in wanted.select if f"{model.labels[i]} is required" in conflict}
    texts = {rule_text(model, rule) for rule in range(model.n_rules)}
    assert set(conflict) <= texts | {f"{model.labels[i]} is required" for i in named}
    for left_out in named:  # the model's own rules and the other requirements of the conflict
        rest = named - {left_out}
        if not any(text in texts for text in conflict):
            assert any(all(p[i] for i in rest) for p in every)
    if named:
        assert not any(all(p[i] for i in named) for p in every)


@pytest.mark.slow
@given(question=questions())
@examples(25)
def test_configurations_of_a_point_are_all_its_products(
    question: tuple[FeatureModel, dict[str, Attribute], str],
) -> None:
    model, attributes, text = question
    goals = parse_objectives(text, model, attributes)
    for method in ("diagram", "exact"):
        answer = configure(model, text, attributes=attributes, method=method)
        for index, point in enumerate(as_tuples(answer)[:2]):
            place = [tuple(p) for p in answer.front.points.tolist()].index(point)
            found = sorted(tuple(map(bool, selected)) for selected in answer.configurations(place))
            assert found == sorted(
                product
                for product in oracles.products(model)
                if tuple(int(g.points(np.array([product]))[0]) for g in goals) == point
            ), index


@pytest.mark.parametrize("method", METHODS)
def test_one_objective_has_one_point(method: str) -> None:
    answer = configure(SHOP, "max selected", method=method)
    assert answer.front.values.tolist() == [[4.0]]
    assert answer.front.decisions.tolist() == [[1, 1, 1, 1]]
    assert answer.front.names == ["selected"]


def test_auto_says_what_it_took_and_why() -> None:
    small = configure(SHOP, "max selected")
    assert small.diagram is not None
    assert small.front.method == "diagram"
    assert f"{small.diagram.n_nodes} nodes, within the budget of 500,000" in small.front.extras["why"]
    wide = make_model([f"F{i}" for i in range(40)], constraints=[], root=None)
    costs = {"cost": Attribute("cost", np.arange(40) ** 2 * 37 + 1)}
    chain = with_constraints(wide, [parse_limit("cost >= 200000", wide, costs)])
    integer = configure(chain, "min selected", attributes=costs)
    assert integer.front.method == "exact"
    assert "clauses" in integer.front.extras["why"]


def test_a_diagram_over_budget_is_replaced_or_refused() -> None:
    groups = [make_group(0, range(1, 16), "cardinality", 5, 8)]
    model = make_model([f"F{i}" for i in range(16)], root=0, groups=groups)
    answer = configure(
        model, "min selected, max F", attributes={"F": Attribute("F", np.arange(16))}, max_nodes=40
    )
    assert answer.front.method == "exact"
    assert "no variable order gave a diagram within 40 nodes; " in answer.front.extras["why"]
    assert answer.front.proof.kind is ProofKind.COMPLETE
    assert len(answer.front) == 4
    with pytest.raises(BadInputError, match="needs a diagram, but no variable order"):
        configure(model, "min selected", method="diagram", max_nodes=40)


def test_limits_that_contradict_each_other_are_named(stored: Stored) -> None:
    answer = configure(SHOP, "min selected", limits=["selected>=3", "deselected>=2", "selected<=4"])
    assert answer.status is Status.INFEASIBLE
    stored(answer.reason, *answer.conflict)


def test_a_limit_in_seconds_is_named_as_given() -> None:
    groups = [make_group(0, [i], "optional") for i in range(1, 60)]
    model = make_model([f"F{i}" for i in range(60)], root=0, groups=groups)
    rng = np.random.default_rng(0)
    attributes = {name: Attribute(name, rng.integers(1, 10_000, 60)) for name in ("cost", "weight", "risk")}
    answer = configure(
        model,
        "max selected, min cost, min weight, min risk",
        attributes=attributes,
        method="exact",
        time_limit_s=0.7,
    )
    assert answer.front.proof.limit == "0.7 s"
    assert answer.front.proof.kind is ProofKind.NONDOMINATED
    assert answer.status in {Status.FEASIBLE, Status.UNKNOWN}


def test_a_method_that_errs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> Front:
        good = configure(SHOP, "min selected, max deselected", method="exact").front
        return Front.from_points(
            good.objectives, good.points, 1 - good.decisions, good.candidates, good.proof
        )

    monkeypatch.setattr("shortlist.methods.diagram.diagram_front.diagram_front", wrong)
    with pytest.raises(RuntimeError, match="breaks a rule of the model"):
        configure(SHOP, "min selected, max deselected")


def test_the_same_seed_gives_the_same_answer() -> None:
    model = read_model(MODELS / "phone.uvl")
    attributes = chosen_attributes(["cost"], [model_attributes(model)], model, defaults={"cost": 0})
    first, second = (
        configure(model, "max selected, min cost", attributes=attributes, seed=4) for _ in range(2)
    )
    assert (first.front.values == second.front.values).all()
    assert (first.front.decisions == second.front.decisions).all()


def test_requirements_from_files_count_too(tmp_path: Path) -> None:
    (tmp_path / "wishes.txt").write_text("Log\n-Cash\n", encoding="utf-8")
    wanted = make_requirements(SHOP, fixed=[tmp_path / "wishes.txt"])
    answer = configure(SHOP, "max selected", requirements=wanted)
    assert answer.front.decisions.tolist() == [[1, 1, 0, 1]]
    assert answer.implied == Requirements((1,))


JCS = [f"ChatSystem_{kind}" for kind in ("PREDEFINE_ONE", "RAND2", "RAND3", "RAND4")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "table", "methods"),
    [
        *[("jcs", table, METHODS) for table in JCS],
        *[("web-portal", f"WebPortal_RAND{i}", ("auto",)) for i in range(1, 5)],
    ],
)
def test_real_fronts_equal_those_of_enumeration(
    name: str, table: str, methods: tuple[str, ...], data_folder: Path
) -> None:
    folder = data_folder / "feature-models"
    model = read_model(folder / "splot" / f"{name}.sxfm.xml")
    path = folder / "paper-instances" / "attributes" / f"{table}.csv"
    columns = read_attributes(path, model, renames={"Enrcyption": "Encryption"})
    attributes = chosen_attributes(["cost", "defects", "not_used_before"], [columns], model)
    with (folder / "paper-instances" / "reference-fronts" / f"{table}.csv").open() as file:
        expected = sorted(
            tuple(float(row[name]) for name in ("deselected_features", "not_used_before", "defects", "cost"))
            for row in csv.DictReader(file)
        )
    for method in methods:
        answer = configure(
            model,
            "min deselected, min not_used_before, min defects, min cost",
            attributes=attributes,
            method=method,
        )
        assert sorted(map(tuple, answer.front.values.tolist())) == expected
        assert answer.status is Status.OPTIMAL


FORMATS = {
    "berkeleydb": ("berkeleydb.sxfm.xml", "berkeleydb.uvl", "berkeleydb.dimacs"),
    "uclinux-base": ("uclinux-base.featureide.xml.gz", "uclinux-base.uvl.gz", "uclinux-base.dimacs"),
    "busybox-1.18.0": ("busybox-1.18.0.featureide.xml", "busybox-1.18.0.uvl", "busybox-1.18.0.dimacs"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_formats_agree_on_core_dead_and_the_number_of_products(name: str, data_folder: Path) -> None:
    summaries = []
    for file in FORMATS[name]:
        model = read_model(data_folder / "feature-models" / "formats" / file)
        summary = summarise(model)
        core, dead = (frozenset(model.labels[i] for i in part) for part in (summary.core, summary.dead))
        summaries.append((core, dead, summary.n_products))
        assert summary.uncounted == ""
    assert len(set(summaries)) == 1
