"""Files of decisions: written and read back, refused with their place, and in stages."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError, BadInputError, ContradictionError
from shortlist.products.decision_files import read_decisions, staged_decisions, write_decisions
from shortlist.products.decisions import Decision
from shortlist.products.formulas import Literal
from shortlist.products.model import make_model
from tests.examples import examples
from tests.products.small_lines import PHONE

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6
)

NAMES = WORDS.map(str.strip).filter(bool)


@pytest.mark.parametrize("ending", ["json", "csv"])
@given(labels=st.lists(NAMES, min_size=1, max_size=4, unique=True), data=st.data())
@examples(15)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, labels: list[str], data: st.DataObject
) -> None:
    model = make_model(labels)
    decisions = [
        Decision(feature, data.draw(st.booleans()), data.draw(NAMES), data.draw(NAMES | st.just("")))
        for feature in range(len(labels))
    ]
    path = tmp_path_factory.mktemp("decided") / f"d.{ending}"
    write_decisions(path, model, decisions)
    assert read_decisions(path, model) == tuple(decisions)


def test_names_that_look_like_formulas_are_guarded_in_tables(tmp_path: Path) -> None:
    model = make_model(["=SUM(1)", "-Xmx"])
    write_decisions(tmp_path / "d.csv", model, [Decision(0, True, "@stage", "+me"), Decision(1, False, "s")])
    assert (tmp_path / "d.csv").read_text().splitlines() == [
        "feature,decision,stage,by", "'=SUM(1),selected,'@stage,'+me", "'-Xmx,deselected,s,",
    ]  # fmt: skip
    assert read_decisions(tmp_path / "d.csv", model)[0] == Decision(0, True, "@stage", "+me")


def test_a_stage_that_nobody_named_is_called_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("Decision;Feature\nselected;gps\nDESELECTED;Camera\n")
    assert read_decisions(tmp_path / "sales.csv", PHONE) == (
        Decision(4, True, "sales"), Decision(5, False, "sales"),
    )  # fmt: skip


def _json(**changed: object) -> str:
    stage = {"name": "s", "decisions": [{"feature": "GPS", "decision": "selected"}]}
    return json.dumps({"format": "shortlist decisions", "version": 1, "stages": [stage]} | changed)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("feature,decision\nGPX,selected\n", r"f:2: the row names no feature of the model: 'GPX'\. Did you mean 'GPS'"),
        ("feature,decision\nGPS,perhaps\n", "f:2: the decision of the row must be selected or deselected, got 'perhaps'"),
        ("feature,decision\nGPS\n", "f:2: the row must have 2 columns, got 1"),
        ("feature,choice\nGPS,selected\n", "f:1: decisions must be JSON, or a table with the columns feature and"),
        ("feature,decision,decision\nGPS,selected,selected\n", "f:1: decisions must be JSON, or a table"),
        ("", "f is empty"),
        ("{", r"f:1: the JSON breaks off or is damaged"),
        ("[" * 10**5, "f: the JSON is nested more deeply"),
        ('{"version": ' + "9" * 5000 + "}", "f: the JSON has a number of too many digits"),
        ("[]", 'f: the JSON must be an object with "format": "shortlist decisions"'),
        (_json(version=2), "f: the version of the format must be 1, got 2. Use a newer Shortlist"),
        (_json(stages={}), "f: the file must have a list of objects called 'stages'"),
        (_json(stages=[{"name": "s"}]), "f: stage 1 must have a list of objects called 'decisions', got 'None'"),
        (
            _json(stages=[{"name": 3, "decisions": [{"feature": "GPS", "decision": "selected"}]}]),
            "f: decision 1 of stage 1 must have texts called feature, decision, stage and by, got 'stage': '3'",
        ),
        (
            _json(stages=[{"decisions": [{"feature": "GPS", "decision": "selected", "why": "x"}]}]),
            "decision 1 of stage 1 must have texts called feature, decision, stage and by, got 'why': 'x'",
        ),
        (_json(stages=[{"decisions": [{"feature": "GPS"}]}]), "must be selected or deselected, got ''"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "f").write_text(content)
    with pytest.raises(BadFileError, match=message):
        read_decisions(tmp_path / "f", PHONE)


@pytest.mark.parametrize("text", ["\ud800", "a\nGPS is selected", "\x1b[2K", "\x85", "\u2028", "\t"])
@pytest.mark.parametrize("name", ["stage", "by"])
def test_a_stage_or_a_person_that_is_no_line_of_text_is_refused(tmp_path: Path, name: str, text: str) -> None:
    one = {"feature": "GPS", "decision": "selected", name: f"x{text}y"}
    (tmp_path / "f").write_text(_json(stages=[{"decisions": [one]}]))
    message = f"f: decision 1 of stage 1: {name} must be one line of text without control characters, got 'x"
    with pytest.raises(BadFileError, match=message) as refused:
        read_decisions(tmp_path / "f", PHONE)
    assert str(refused.value).isprintable()
    (tmp_path / "g").write_text(f'feature,decision,{name}\nGPS,selected,"x\ny"\n')
    with pytest.raises(BadFileError, match=f"g:3: the row: {name} must be one line of text"):
        read_decisions(tmp_path / "g", PHONE)


def test_a_file_of_another_ending_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"a file ending in \.json or \.csv, got"):
        write_decisions(tmp_path / "d.txt", PHONE, [])
    assert list(tmp_path.iterdir()) == []


def test_stages_follow_each_other_and_the_first_contradiction_names_its_file(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("design.json", "sales.csv", "late.csv"))
    write_decisions(first, PHONE, [Decision(4, True, "design", "Anna")])
    write_decisions(second, PHONE, [Decision(4, True, "sales"), Decision(2, True, "sales")])
    write_decisions(
        third, PHONE, [Decision(5, False, "late"), Decision(3, True, "late"), Decision(0, False, "late")]
    )
    assert staged_decisions(PHONE, []) == ()
    assert staged_decisions(PHONE, [first, second]) == (
        Decision(4, True, "design", "Anna"), Decision(2, True, "sales"),
    )  # fmt: skip
    with pytest.raises(ContradictionError) as refused:
        staged_decisions(PHONE, [first, second, third])
    assert str(refused.value) == (
        f"{third}: HD cannot be selected: Basic is selected (stage sales); exactly one of Basic, HD below "
        "Screen contradict this."
    )
    assert refused.value.contradiction.literals == (3,)


def test_a_model_without_products_is_not_the_fault_of_a_decision(tmp_path: Path) -> None:
    void = make_model(["A", "B"], constraints=[Literal(1), Literal(-1)])
    write_decisions(tmp_path / "d.csv", void, [Decision(1, True, "s")])
    assert staged_decisions(void, [tmp_path / "d.csv"]) == (Decision(1, True, "s"),)
