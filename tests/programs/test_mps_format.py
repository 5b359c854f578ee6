"""MPS files: what is read, what HiGHS reads of the same, and one sentence for what cannot be read."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadFileError
from shortlist.files import Source
from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_mps, read_program
from shortlist.programs.named_program import MAXIMISED_ROWS, NamedProgram
from shortlist.programs.solve import solve_program
from tests.programs.other_readers import agrees_with_highs, our_reading

SEVERAL = """* two objectives
NAME          lamp
OBJSENSE
    MAX
ROWS
 N  value  2 1 0 0
 N  light
 L  room
 G  least
 E  exact
COLUMNS
    M1  'MARKER'  'INTORG'
    x  value  3  room  1
    x  exact  1
    y  light  2.5  room  2
    y  least  1
    M2  'MARKER'  'INTEND'
    z  value  -1  exact  -1
RHS
    RHS  room  7  value  -4
    RHS  least  -1
    RHS  exact  2
RANGES
    RNG  room  3  least  2.5
    RNG  exact  -1.5
BOUNDS
 UP BND  x  5
 MI BND  z
 UP BND  z  8
ENDATA
"""
ONE = SEVERAL.replace(" N  light\n", "").replace("light  2.5  ", "").replace("  2 1 0 0", "")


def _read(text: str) -> NamedProgram:
    return read_mps(Source("p.mps", text))


def test_rows_ranges_bounds_and_every_free_row_are_read() -> None:
    named = _read(SEVERAL)
    program = named.program
    assert (named.columns, named.rows) == (("x", "y", "z"), ("room", "least", "exact"))
    assert program.rows.toarray().tolist() == [[1, 2, 0], [0, 1, 0], [1, 0, -1]]
    assert program.row_lower.tolist() == [4, -1, 0.5]
    assert program.row_upper.tolist() == [7, 1.5, 2]
    assert program.column_lower.tolist() == [0, 0, -np.inf]
    assert program.column_upper.tolist() == [5, 1, 8]
    assert program.integer.tolist() == [True, True, False]
    told = [
        (o.objective.name, str(o.objective.sense), o.costs.tolist(), o.offset) for o in program.objectives
    ]
    assert told == [("value", "max", [3, 0, -1], 4), ("light", "max", [0, 2.5, 0], 0)]
    assert [note.split()[0] for note in named.notes] == ["Priorities,", "Integer", "Rows"]
    assert named.notes[-1] == f"{MAXIMISED_ROWS}: light. Use `objectives` to minimise some."


def test_highs_reads_the_same_and_gzip_is_undone(tmp_path: Path) -> None:
    path = tmp_path / "p.mps"
    path.write_text(ONE, encoding="utf-8")
    agrees_with_highs(read_program(path), path)
    (tmp_path / "p.mps.gz").write_bytes(gzip.compress(ONE.encode()))
    assert read_program(tmp_path / "p.mps.gz").columns == ("x", "y", "z")


INFINITE = """name
rows
 N value
 N size
 L room
columns
 x value 1 size -1
 x room 1
rhs
 r room 1e30
bounds
 UI b x 3
endata
"""


def test_headings_may_be_small_and_a_row_of_an_infinite_limit_is_an_objective(tmp_path: Path) -> None:
    (tmp_path / "p.mps").write_text(INFINITE, encoding="utf-8")
    named = read_program(tmp_path / "p.mps")
    assert [linear.objective.name for linear in named.program.objectives] == ["value", "size", "room"]
    assert named.rows == ()
    assert named.notes == ()


PULP_LP = """\\* p *\\
Maximize
p1: 3 a + 2 b
Subject To
cap: a + 2 b <= 4
p2: a - b >= -1e+20
Bounds
 b <= 2
Generals
b
Binaries
a
End
"""
PULP_MPS = """*SENSE:Maximize
NAME          p
ROWS
 N  p1
 L  cap
 G  p2
COLUMNS
    MARK      'MARKER'                 'INTORG'
    a         cap        1.000000000000e+00
    a         p2         1.000000000000e+00
    a         p1         3.000000000000e+00
    MARK      'MARKER'                 'INTEND'
    MARK      'MARKER'                 'INTORG'
    b         cap        2.000000000000e+00
    b         p2        -1.000000000000e+00
    b         p1         2.000000000000e+00
    MARK      'MARKER'                 'INTEND'
RHS
    RHS       cap        4.000000000000e+00
    RHS       p2        -1.000000000000e+20
BOUNDS
 BV BND       a
 UP BND       b          2.000000000000e+00
ENDATA
"""


def test_the_twins_that_pulp_writes_are_one_program_with_one_front() -> None:
    lp, mps = read_lp(Source("p.lp", PULP_LP)), _read(PULP_MPS)
    assert our_reading(lp) == our_reading(mps)
    told = [(one.objective.name, str(one.objective.sense)) for one in mps.program.objectives]
    assert told == [("p1", "max"), ("p2", "max")]
    assert mps.notes[0] == "The file maximises, as PuLP's comment *SENSE:Maximize says."
    fronts = [solve_program(named).values.tolist() for named in (lp, mps)]
    assert fronts[0] == fronts[1] == [[5, 0], [3, 1]]
    stated = _read(PULP_MPS.replace("ROWS", "OBJSENSE MIN\nROWS"))
    assert [str(one.objective.sense) for one in stated.program.objectives] == ["min", "min"]


def test_a_negative_weight_turns_the_sense_and_an_empty_objective_is_a_placeholder() -> None:
    turned = _read(SEVERAL.replace("value  2 1 0 0", "value  2 -1 0 0"))
    assert [str(one.objective.sense) for one in turned.program.objectives] == ["min", "max"]
    named = _read("ROWS\n N o\n G a\n N b\nCOLUMNS\n x a 1 b -2\nRHS\n r a -1e20 b 3\nENDATA\n")
    told = [(one.objective.name, one.costs.tolist(), one.offset) for one in named.program.objectives]
    assert told == [("a", [1], 0), ("b", [-2], -3)]


def test_a_row_and_a_column_may_be_called_marker() -> None:
    named = _read(
        "ROWS\n N o\n L MARKER\nCOLUMNS\n M 'MARKER' 'INTORG'\n MARKER MARKER 2\n MARKER o 1\n"
        " M 'MARKER' 'INTEND'\nRHS\n r MARKER 3\nENDATA\n"
    )
    assert (named.columns, named.rows) == (("MARKER",), ("MARKER",))
    assert named.program.integer.tolist() == [True]


def test_comments_after_a_dollar_and_exponents_of_fortran(tmp_path: Path) -> None:
    text = """NAME p $ a comment
ROWS
 N  cost $ a comment
 N  $value
 L  room
COLUMNS
    x  cost  1.0D3  $value  -2d0  $ a comment
    x  room  1 $cost
RHS
    RHS  room  5E-1
BOUNDS
 UP BND  x  3  $ a comment
ENDATA
"""
    (tmp_path / "p.mps").write_text(text, encoding="utf-8")
    program = read_program(tmp_path / "p.mps").program
    assert [linear.costs.tolist() for linear in program.objectives] == [[1000], [-2]]
    assert (program.row_upper.tolist(), program.column_upper.tolist()) == ([0.5], [3])


def _said(text: str) -> str:
    """Return the sentence of a file that cannot be read, nothing of another."""
    try:
        _read(text)
    except BadFileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("ENDATA\n", "", None, "cut off"),
        ("ENDATA\n", "ENDATA\n UP BND  y  5\n", 31, "nothing may follow ENDATA, got 'UP BND y 5'"),
        (" L  room", " Q  room", 8, "a row must be N, L, G or E"),
        (" L  room", " L  my room", 8, "a row must be N, L, G or E"),
        (" G  least", " G  room", 9, "the name 'room' is used twice"),
        ("x  exact  1", "x  exat  1", 14, "'exat' must be a row"),
        ("x  exact  1", "x  room  1", 14, "two numbers in row 'room'"),
        ("x  exact  1", "x  exact  1e999999999", 14, "below 10^19"),
        ("x  exact  1", "x  exact  nan", 14, "below 10^19"),
        ("x  exact  1", "x  exact", 14, "a column must be a name and one or two pairs"),
        ("'MARKER'  'INTEND'", "'MARKER'  'SOSEND'", 17, "a marker must be INTORG or INTEND"),
        ("RNG  exact  -1.5", "RNG  value  1", 25, "objective 'value' must have no range"),
        ("RHS  exact  2", "OTHER  exact  2", 22, "RHS must hold one set"),
        (" UP BND  x  5", " UP BND  x  -5", 27, "has an upper bound below 0 and no lower one"),
        (" UP BND  x  5", " SC BND  x  5", 27, "a semi-continuous one"),
        (" UP BND  x  5", " UP BND  w  5", 27, "'w' must be a column"),
        (" UP BND  x  5", " XX BND  x  5", 27, "a bound must be LO, UP, FX"),
        ("RANGES\n", "QUADOBJ\n", 23, "got 'QUADOBJ'"),
        ("RANGES\n", "SOS1\n", 23, "got 'SOS1'"),
        ("RANGES\n", "INDICATORS\n", 23, "got 'INDICATORS'"),
        ("RANGES\n", "RHS\n", 23, "the section RHS comes twice"),
        ("    MAX\n", "    MOST\n", 4, "OBJSENSE must be MIN or MAX"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_its_line(
    old: str, new: str, line: int | None, said: str
) -> None:
    assert SEVERAL.count(old) == 1
    with pytest.raises(BadFileError) as error:
        _read(SEVERAL.replace(old, new))
    place = "" if line is None else f":{line}"
    assert str(error.value).startswith(f"p.mps{place}: "), str(error.value)
    assert said in str(error.value)


def test_every_file_cut_anywhere_is_refused_or_read() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = SEVERAL[: rng.integers(len(SEVERAL))]
        if rng.random() < 0.7:
            place = int(rng.integers(len(SEVERAL)))
            text = SEVERAL[:place] + str(rng.choice(list("x9.-N\n \0e'"))) + SEVERAL[place + 1 :]
        assert re.match(r"(p\.mps(:\d+)?: .|$)", _said(text))


def test_binary_data_and_empty_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mps").write_bytes(b"NAME\0\1\2")
    (tmp_path / "b.lp").write_bytes(b"  \n")
    for name in ("a.mps", "b.lp"):
        with pytest.raises(BadFileError, match=re.escape(name)):
            read_program(tmp_path / name)
