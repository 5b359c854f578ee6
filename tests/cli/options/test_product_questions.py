"""A question about a product line: what is taken, what is decided for the user, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from shortlist.cli.options.product_questions import AskedQuestion, QuestionOptions, read_question
from shortlist.errors import BadFileError, BadInputError
from tests.stored import Stored

MODEL = """features
    Phone
        optional
            GPS {cost 4}
            Camera {cost 2.505}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(MODEL)
    (tmp_path / "a.csv").write_text(
        "feature,cost,defects,colour\nPhone,1,0,red\nGPS,5,2,blue\nCamera,6,1,red\n"
    )
    (tmp_path / "more.csv").write_text("feature,weight\nPhone,1\nGPS,5\nCamera,6\n")
    return tmp_path / "m.uvl"


def asked(model: Path, **given: Any) -> AskedQuestion:
    return read_question(model, QuestionOptions(**given))


def test_without_objectives_every_number_takes_part_and_what_does_not_is_told(
    model: Path, stored: Stored
) -> None:
    found = asked(model, attributes=[str(model.with_name("a.csv"))])
    assert found.objectives == "min deselected, min defects, min cost"
    assert list(found.left_out) == ["colour"]
    assert any(note.startswith("Objectives by default: min deselected") for note in found.notes)
    stored(*found.notes)
    assert found.sources["cost"].endswith("a.csv")
    assert found.facts["left_out"] == found.left_out


def test_the_first_file_that_has_an_attribute_gives_it_and_the_model_comes_last(model: Path) -> None:
    own = asked(model, objectives="min cost", default="cost=0")
    assert own.attributes["cost"].values.tolist() == [0, 4000, 2505]
    assert own.sources["cost"].endswith("m.uvl")
    table = asked(model, objectives="min cost", attributes=[str(model.with_name("a.csv"))])
    assert table.attributes["cost"].values.tolist() == [1, 5, 6]


def test_drawn_attributes_are_the_same_for_the_same_seed_and_give_way_to_given_ones(model: Path) -> None:
    first, again, other = (
        asked(model, attributes=[f"random:{seed}"], default="cost=0") for seed in (1, 1, 2)
    )
    assert first.sources["defects"] == "drawn at random, seed 1"
    assert first.sources["cost"].endswith("m.uvl")
    assert first.attributes["defects"].values.tolist() == again.attributes["defects"].values.tolist()
    draws = [
        [one.attributes[n].values.tolist() for n in ("defects", "not_used_before")] for one in (first, other)
    ]
    assert draws[0] != draws[1]


@pytest.mark.parametrize("given", ["random:1", "a.csv"])
def test_the_file_beside_a_model_counts_only_where_no_attributes_are_named(
    given: str, tmp_path: Path
) -> None:
    (tmp_path / "m.dimacs").write_text("c 1 GPS\nc 2 Camera\np cnf 2 1\n1 2 0\n")
    (tmp_path / "m.dimacs.augment").write_text("#FEATURE_INDEX COST\n1 5\n9 1\n")
    (tmp_path / "a.csv").write_text("feature,cost\nGPS,5\nCamera,2\n")
    named = str(tmp_path / given) if given == "a.csv" else given
    found = asked(tmp_path / "m.dimacs", objectives="min cost", attributes=[named])
    assert found.sources["cost"] == (named if given == "a.csv" else "drawn at random, seed 1")
    with pytest.raises(BadFileError, match=r"m\.dimacs\.augment:3: the feature number must be 1 to 2"):
        asked(tmp_path / "m.dimacs", objectives="min cost")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"objectives": "min price"}, "has no attribute 'price'"),
        ({"objectives": "min cost", "default": "cost=much"}, "--set default of 'cost' must be a number"),
        ({"objectives": "min selected", "default": "selected=1"}, "which counts features. Leave it out"),
        ({"objectives": "min cost", "default": "weight=1"}, "--set default must name an attribute, got 'weight'"),
        ({"objectives": "min cost", "default": "cost=0", "attributes": ["random"]}, r"none of these is requested beyond what .*m\.uvl gives\. Leave"),
        ({"objectives": "min selected", "attributes": ["random"], "default": ""}, r"none of these is requested.*\. Leave it out"),
    ],
    ids=["unknown objective", "default no number", "default of a count", "default of another", "nothing to draw", "nothing drawn is asked for"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_a_sentence(
    model: Path, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        asked(model, **given)


def test_a_default_of_an_attribute_that_is_not_asked_for_is_a_note(model: Path) -> None:
    table = [str(model.with_name("a.csv"))]
    found = asked(model, objectives="min cost", attributes=table, default="defects=0")
    assert "--set default=defects=0 is not used: defects is no objective and no limit." in found.notes


def test_a_file_from_which_nothing_is_taken_is_refused(model: Path) -> None:
    with pytest.raises(BadInputError, match=r"more\.csv adds no requested attribute"):
        asked(
            model,
            objectives="min cost",
            attributes=[str(model.with_name(name)) for name in ("a.csv", "more.csv")],
        )
