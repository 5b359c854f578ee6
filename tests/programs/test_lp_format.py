"""LP files: what is read, what HiGHS reads of the same, and one sentence for what cannot be read."""

import re
from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadFileError
from shortlist.files import Source
from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_program
from shortlist.programs.named_program import MAXIMISED_ROWS, NamedProgram, chosen_objectives
from shortlist.programs.solve import solve_program
from tests.programs.other_readers import agrees_with_highs

SEVERAL = r"""\ two objectives, of which the second is wanted the other way
Maximize multi-objectives
 value: Priority=2 Weight=1 AbsTol=0.0 RelTol=0.0
  3 x + 2 y - 0.5 z + 4
 cost: Weight = -1
  x + y
Subject To
 room: x + y + 2 x
   <= 7
 -2 <= x - z <= 4
 3 >= y
 spread: x - y >= -inf
Bounds
 -1 <= x <= 5
 y free
 z <= 1e30
General
 x y z
End
"""
HEAD = "Minimize\n a: x\nSubject To\n"


def _read(text: str) -> NamedProgram:
    return read_lp(Source("p.lp", text))


def test_objectives_rows_and_bounds_are_read_as_written() -> None:
    named = _read(SEVERAL)
    program = named.program
    assert named.columns == ("x", "y", "z")
    assert named.rows == ("room", "R2", "R3")
    assert program.rows.toarray().tolist() == [[3, 1, 0], [1, 0, -1], [0, 1, 0]]
    assert program.row_lower.tolist() == [-np.inf, -2, -np.inf]
    assert program.row_upper.tolist() == [7, 4, 3]
    assert program.column_lower.tolist() == [-1, -np.inf, 0]
    assert program.column_upper.tolist() == [5, np.inf, np.inf]
    assert program.integer.all()
    told = [
        (o.objective.name, str(o.objective.sense), o.costs.tolist(), o.offset) for o in program.objectives
    ]
    assert told == [
        ("value", "max", [3, 2, -0.5], 4),
        ("cost", "min", [1, 1, 0], 0),
        ("spread", "max", [1, -1, 0], 0),
    ]
    assert named.notes == (
        "Priorities, weights and tolerances of objectives are left out: a front needs none.",
        f"{MAXIMISED_ROWS}: spread. Use `objectives` to minimise some.",
    )


def test_a_row_without_limits_has_the_sense_of_the_file_unless_objectives_say_otherwise() -> None:
    text = "Maximize\n a: x + 2 y\nSubject To\n b: 3 x - y >= -1e20\n c: x + y <= 4\nEnd\n"
    named = _read(text)
    assert [str(one.objective.sense) for one in named.program.objectives] == ["max", "max"]
    chosen = chosen_objectives(named, "max a, min b")
    assert [str(one.objective.sense) for one in chosen.program.objectives] == ["max", "min"]
    assert (len(named.notes), chosen.notes) == (1, ())
    least = _read(text.replace("Maximize", "Minimize"))
    assert [str(one.objective.sense) for one in least.program.objectives] == ["min", "min"]
    assert least.notes == ()


def test_the_second_objective_that_pulp_writes_beside_maximize_is_maximised(data_folder: Path) -> None:
    named = read_program(data_folder / "cases" / "pulp_maximize_two_objectives.lp")
    assert [str(one.objective.sense) for one in named.program.objectives] == ["max", "max"]
    assert len(solve_program(named)) == 152


def test_a_column_that_is_binary_keeps_the_bounds_within_0_to_1(tmp_path: Path) -> None:
    text = f"{HEAD} c: x + y >= 1\nBounds\n x = 1\n y <= 0\nBinary\n x y\nEnd\n"
    (tmp_path / "p.lp").write_text(text, encoding="utf-8")
    named = read_program(tmp_path / "p.lp")
    assert (named.program.column_lower.tolist(), named.program.column_upper.tolist()) == ([1, 0], [1, 0])
    agrees_with_highs(named, tmp_path / "p.lp")
    wide = _read(text.replace("y <= 0", "-3 <= y <= 5"))
    assert (wide.program.column_lower.tolist(), wide.program.column_upper.tolist()) == ([1, 0], [1, 1])


def test_bounds_after_the_list_of_binary_columns_leave_these_within_0_to_1() -> None:
    named = _read(f"{HEAD} c: x + y <= 9\nBinary\n x\nGeneral\n y\nBounds\n x <= 5\n y <= 4\nEnd\n")
    assert named.program.column_upper.tolist() == [1, 4]
    assert named.notes == ("Binary columns stay within 0 to 1, whatever their bounds: x.",)


def test_rows_and_objectives_of_zeros_are_read_as_in_mps() -> None:
    named = _read("min\n obj:\nst\n r0: <= 3\n r1: 0 x >= -1\n r2: x + y >= 1\nsemi\nend\n")
    assert [linear.objective.name for linear in named.program.objectives] == ["obj"]
    assert named.program.rows.toarray().tolist() == [[0, 0], [0, 0], [1, 1]]
    assert named.program.row_upper.tolist() == [3, np.inf, np.inf]
    named = _read("min\n obj:\nst\n value: 0 x >= -inf\n size: x >= -inf\n never: 0 x >= 1\nend\n")
    assert [linear.objective.name for linear in named.program.objectives] == ["value", "size"]
    assert (named.rows, named.program.row_lower.tolist()) == (("never",), [1])


def test_a_column_that_only_bounds_or_lists_name_is_read_with_a_note() -> None:
    named = _read(f"{HEAD} c1: x >= 1\nBounds\n w <= 4\nGeneral\n v\nEnd\n")
    assert named.columns[-2:] == ("w", "v")
    assert named.notes == tuple(f"Column {name!r} is in no row and no objective." for name in "wv")


def test_the_line_of_an_error_is_counted_over_empty_lines() -> None:
    with pytest.raises(BadFileError, match=r"^p\.lp:9: "):
        _read(f"\n\n{HEAD}\n \n c: x ^ 2 >= 1\nEnd\n".replace(" c:", "\n c:"))


def test_the_constant_of_a_row_without_limits_belongs_to_its_objective() -> None:
    named = _read(f"{HEAD} v: 2 x + 3 y + 5 >= -inf\n c: x + y + 1 >= 2\nEnd\n")
    assert [linear.offset for linear in named.program.objectives] == [0, 5]
    assert named.program.row_lower.tolist() == [1]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} c1: x + 2 y >= 2\n c2: 3x - y <= 4.5\nBounds\n x <= 9\n -3 <= y <= 8\nGeneral\n x\nBinary\n z\nEnd\n".replace(
            "x + 2 y", "x + 2 y + z"
        ),
        f"{HEAD} c1: x - y = -2\n c2: x + z <= 1e3\nBounds\n y >= -4\n z = 3\n x free\nEnd\n",
        "max\n obj: 2 a - 3 b + 5\nst\n r: - a - b >= -7\nbounds\n -inf <= a <= 4\nend\n",
    ],
    ids=["rows, bounds, integers", "equalities, fixed and free columns", "a constant, other headings"],
)
def test_highs_reads_the_same_where_it_reads(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.lp"
    path.write_text(text, encoding="utf-8")
    agrees_with_highs(read_program(path), path)


def _said(text: str) -> str:
    """Return the sentence of a file that cannot be read, nothing of another."""
    try:
        _read(text)
    except BadFileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f"{HEAD} c1: x >= 1\n", None, "cut off"),
        (f"{HEAD} c1: x + y\nEnd\n", 4, "must read like '3 x + 2 y <= 4'"),
        (f"{HEAD} c1: x + y >= -7=0\nEnd\n", 4, "with numbers on one side, got numbers on both"),
        (f"{HEAD} c1: x >= 1\nGeneral\n x\nMaximize\n y\nEnd\n", 7, "'Maximize' may be a column or begin"),
        (f"{HEAD} c1: x + y >= z\nEnd\n", 4, "must be one number, got 'z'"),
        (f"{HEAD} c1: x >= 1\n c1: x >= 2\nEnd\n", 5, "the name 'c1' is used twice"),
        (f"{HEAD} c1: 1e40 x >= 1\nEnd\n", 4, "below 10^19, got '1e40'"),
        (f"{HEAD} c1: 1e-400 x >= 1\nEnd\n", 4, "must be 0 or larger than 10^-323 in size"),
        (f"{HEAD} c1: x + [ x ^2 ] >= 1\nEnd\n", 4, "got a quadratic term"),
        (f"{HEAD} c1: x >= 1\nSOS\n s: x:1\nEnd\n", 5, "got a section 'SOS'"),
        (f"{HEAD} c1: x >= 1\nSemi-Continuous\n x\nEnd\n", 5, "got a section 'Semi-Continuous'"),
        (f"{HEAD} c1: b = 1 -> x >= 1\nEnd\n", 4, "got an indicator"),
        (f"{HEAD} c1: x >= 1\nBounds\n x y\nEnd\n", 6, "a bound must read like"),
        (f"{HEAD} c1: x >= 1\nBounds\n 2 x <= 4\nEnd\n", 6, "a bound must read like"),
        ("Minimize multi-objectives\n x + y\nEnd\n", 2, "must begin with its name and a colon"),
        ("Minimize multi-objectives\n a: Wait=1\n x\nEnd\n", 2, "has Priority, Weight, AbsTol and RelTol"),
        ("max: 3x;\nx<=4;\n", 1, "must begin with 'minimize' or 'maximize'"),
        ("Minimize\n x y\nSubject To\n x >= 1\nEnd\n", 2, "must be a sum of terms"),
        ("Minimize\nEnd\n", None, "at least one column"),
        (f"{HEAD} c1: x >= 1 {'+' * 5000}\nEnd\n", 4, "must"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_its_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(BadFileError) as error:
        _read(text)
    place = "" if line is None else f":{line}"
    assert str(error.value).startswith(f"p.lp{place}: "), str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_every_file_cut_anywhere_is_refused_or_read() -> None:
    """No cut, and no changed character, ends in another error than a sentence."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = SEVERAL[: rng.integers(len(SEVERAL))]
        if rng.random() < 0.7:
            place = int(rng.integers(len(SEVERAL)))
            text = SEVERAL[:place] + str(rng.choice(list("x9.-+<=:[^\0\n\\e"))) + SEVERAL[place + 1 :]
        assert re.match(r"(p\.lp(:\d+)?: .|$)", _said(text))


def test_names_that_a_file_does_not_give_give_way_to_those_that_it_does() -> None:
    text = (
        "Minimize\n x + y\nSubject To\n x >= 1\n obj: y >= 2\n R1: x + y <= 9\n y <= 7\n R1_3: x <= 8\nEnd\n"
    )
    read = read_lp(Source("p.lp", text))
    assert [each.objective.name for each in read.program.objectives] == ["obj_2"]
    assert [*read.rows] == ["R1_2", "obj", "R1", "R4", "R1_3"]
