"""Headings of LP files: names that hold their words are names, and doubtful places are refused."""

from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.files import Source
from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_program
from shortlist.programs.named_program import NamedProgram

WORDS = [
    "subject", "such", "st", "st.", "s.t.", "bound", "bounds", "general", "generals", "gen", "integer", "integers",
    "int", "binary", "binaries", "bin", "end", "semi", "semis", "sos", "sos1", "sos2", "pwlobj", "pwl", "gencons",
    "scenario", "user", "lazy", "free", "inf", "infinity", "min", "max", "minimize", "maximum",
]  # fmt: skip
FORMS = ("{}_b", "{}1", "x_{}", "x{}", "{}.x", "{}[")
PLACES = {
    "a list, one a line": "Binary\n a\n {}\n b\n",
    "a list, in one line": "Binary\n a {} b\n",
    "a list, first in a line": "Binary\n a\n {} b\n",
    "a list, last in a line": "Binary\n a {}\n b\n",
    "a list, in the line of the heading": "Binary {} a b\n",
    "a list at the end of the file": "General\n a\n b\n {}\n",
    "a bound": "Bounds\n {} <= 3\n a <= 4\nGeneral\n a b\n",
    "a bound without spaces": "Bounds\n {}<=3\n a <= 4\nGeneral\n a b\n",
    "a bound from below": "Bounds\n 2 <= {}\n -1 <= {} <= 3\n a >= 1\nGeneral\n a b\n",
    "a free column": "Bounds\n {} free\n a <= 4\nGeneral\n a b\n",
    "a fixed column": "Bounds\n {} = 3\n a <= 4\nGeneral\n a b\n",
    "a label": " {}: a + b >= 1\n d: a - b <= 3\nGeneral\n a b\n",
    "a label on a line of its own": " {}:\n a + b >= 1\n d: a - b <= 3\nGeneral\n a b\n",
    "a row begins": " {} + a >= 1\n d: a - b <= 3\nGeneral\n a b\n",
    "a row begins, less": " {} - a >= 1\n d: a - b <= 3\nGeneral\n a b\n",
    "a row alone": " {} >= 1\n d: a - b <= 3\nGeneral\n a b\n",
    "a row behind a sign": " d: a - b +\n {} <= 3\nGeneral\n a b\n",
    "a row alone behind a sign": " d: a - b +\n {}\n <= 3\nGeneral\n a b\n",
    "a row behind a number": " d: a - 2\n {} <= 3\nGeneral\n a b\n",
    "a row alone behind a number": " d: a - 2\n {}\n <= 3\nGeneral\n a b\n",
}
OBJECTIVES = {
    "label": "Minimize\n {}: a + b\n",
    "label in the line of the heading": "Minimize {}: a + b\n",
    "first": "Minimize\n {} + b\n",
    "first in the line of the heading": "Minimize {} + b\n",
    "behind a label": "Minimize\n o:\n {} + b\n",
    "behind a sign": "Minimize\n o: a +\n {}\n + b\n",
    "behind a number": "Minimize\n o: a + 2\n {}\n",
    "attributes": "Minimize multi-objectives\n {}: Priority=1 Weight=2\n a + b\n o: Weight=1\n a + {}\n",
}


def _file(place: str, name: str) -> str:
    """Return a program with a name in one place, which rows have already."""
    objective = OBJECTIVES.get(place, "Minimize\n o: a + {} + 2 b\n")
    return f"{objective}Subject To\n c: a + b + {{}} >= 1\n{PLACES.get(place, '')}End\n".format(*[name] * 9)


def _read(text: str) -> NamedProgram:
    return read_lp(Source("p.lp", text))


def _read_or_said(text: str) -> tuple[NamedProgram | None, str]:
    """Return a program, or the sentence of a file that cannot be read."""
    try:
        return _read(text), ""
    except BadFileError as error:
        return None, str(error)


def _parts(named: NamedProgram, name: str) -> list[object]:
    """Return what was read, with another word for a name."""
    program = named.program
    other = {name: "zz"}
    return [
        tuple(other.get(one, one) for one in named.columns),
        tuple(other.get(one, one) for one in named.rows),
        program.rows.toarray().tolist(),
        *(getattr(program, field).tolist() for field in ("row_lower", "row_upper", "column_lower")),
        *(getattr(program, field).tolist() for field in ("column_upper", "integer")),
        [
            (
                other.get(one.objective.name, one.objective.name),
                str(one.objective.sense),
                one.costs.tolist(),
                one.offset,
            )
            for one in program.objectives
        ],
        [note.replace(repr(name), "'zz'") for note in named.notes],
    ]


@pytest.mark.parametrize("place", [*PLACES, *OBJECTIVES])
def test_names_that_hold_a_word_of_a_heading_are_names(place: str) -> None:
    right = _parts(_read(_file(place, "zz")), "zz")
    for word in WORDS:
        for name in (form.format(word) for form in FORMS):
            if name not in WORDS:
                assert _parts(_read(_file(place, name)), name) == right, name


@pytest.mark.parametrize("place", [*PLACES, *OBJECTIVES])
def test_a_name_that_is_a_word_of_a_heading_is_read_or_refused(place: str) -> None:
    right = _parts(_read(_file(place, "zz")), "zz")
    for word in WORDS:
        for spelt in (word, word.capitalize()):
            named, said = _read_or_said(_file(place, spelt))
            if named is not None:
                assert _parts(named, spelt) == right, spelt
            else:
                assert "list" not in place or ("ename the column" in said and spelt in said), said


@pytest.mark.parametrize("place", [place for place in PLACES if "list" not in place])
def test_outside_of_lists_such_names_are_read(place: str) -> None:
    """Except behind a number that is no limit, where such a word may begin a section as well."""
    right = _parts(_read(_file(place, "zz")), "zz")
    refused = []
    for word in WORDS:
        named, _ = _read_or_said(_file(place, word))
        if named is None:
            refused.append(word)
        else:
            assert _parts(named, word) == right, word
    if place.startswith("a row begins"):
        assert set(refused) <= {"st", "st.", "s.t.", "end"}
    elif place != "a row alone behind a number":
        assert set(refused) <= {"end", "inf", "infinity"}, refused


@pytest.mark.parametrize(
    "text",
    [
        "Minimize\n o: x\nSubject To\n c: x + y >= 1\nGeneral\n x y Binary z\nEnd\n",
        "Minimize\n o: x\nSubject To\n c: x + y >= 1\nGeneral\n x y\nEnd Binary\n y\n",
        "Minimize\n o: x\nSubject To\n c: x + y >= 1\nGeneral\n x y\nEnd\nBounds\n y <= 3\nEnd\n",
        "Minimize\n o: x\nSubject To\n c: x + y >= 1\nSemi-Continuous x\nEnd\n",
        "Minimize\n o: x\nSubject To\n c: x + y >= 1\nGeneral\n x\nScenario base\nBounds\n x <= 3\nEnd\n",
        "Minimize\n o: x\nSubject To\n c: x + y >= 1 Bounds\n x <= 3\nEnd\n",
    ],
)
def test_sections_in_the_wrong_place_are_refused(text: str) -> None:
    with pytest.raises(BadFileError):
        _read(text)


def test_headings_in_the_line_of_their_content_are_read() -> None:
    named = _read("Minimize o: x\nst x + y >= 1\nBounds -3 <= x <= 4\nGeneral x\nBinary y\nEnd\n\\ over\n")
    program = named.program
    assert (program.column_lower.tolist(), program.column_upper.tolist()) == ([-3, 0], [4, 1])
    assert program.integer.all()


@pytest.mark.parametrize(
    ("file", "name", "other"),
    [
        ("lp-end-row.lp", "end_b", "zz_b"),
        ("lp-int-name.lp", "int_on", "zz_on"),
        ("pulp-list.lp", "gen_1", "h_1"),
    ],
)
def test_files_of_heading_words_are_read_as_with_other_names(
    file: str, name: str, other: str, data_folder: Path, tmp_path: Path
) -> None:
    text = (data_folder / "cases" / file).read_text(encoding="utf-8")
    (tmp_path / "p.lp").write_text(text.replace(name, other), encoding="utf-8")
    named = read_program(data_folder / "cases" / file)
    assert _parts(named, name) == _parts(read_program(tmp_path / "p.lp"), other)
