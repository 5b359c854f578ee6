"""Published multi-objective programs and their fronts."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.data.moip import read_known_front, read_moip
from shortlist.errors import BadFileError
from shortlist.methods.integer.engines import WHOLE
from shortlist.methods.integer.search_zones import search_zones
from shortlist.results.objective import Sense

FOLDER = "feature-models/moip-benchmarks"

SMALL_LP = """Minimize
  obj: 0
Subject To

\\true constraint
c0:  + 2 x0 + x1 - 3 x2 <= 4
x0 + x1 = 1

\\multiple objectives
c1:  - 5 x0 + 2 x1 < 1
 + 1.5 x2 < 2

BINARY
x0 x1
x2
End
"""

KNAPSACK = "2\n3\n4.5\n[[1.0,2.0,3.0],[3.0,2.0,1.0]]\n[2.0,3.0,4.0]\n"


def test_rows_below_a_strict_relation_are_objectives(tmp_path: Path) -> None:
    path = tmp_path / "small.lp"
    path.write_text(SMALL_LP)

    program = read_moip(path)

    assert program.rows.toarray().tolist() == [[2, 1, -3], [1, 1, 0]]
    assert program.row_lower.tolist() == [-np.inf, 1]
    assert program.row_upper.tolist() == [4, 1]
    assert [linear.costs.tolist() for linear in program.objectives] == [[-5, 2, 0], [0, 0, 1.5]]
    assert [linear.objective.name for linear in program.objectives] == ["f1", "f2"]


def test_a_knapsack_maximises_its_profits(tmp_path: Path) -> None:
    path = tmp_path / "small.dat.gz"
    path.write_bytes(gzip.compress(KNAPSACK.encode()))

    program = read_moip(path)

    assert program.row_upper.tolist() == [4.5]
    assert {linear.objective.sense for linear in program.objectives} == {Sense.MAX}
    assert search_zones(program).values.tolist() == [[3, 1], [2, 2], [1, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(SMALL_LP.replace("BINARY", "GENERAL"), "after a line 'BINARY'", id="no columns"),
        pytest.param(SMALL_LP.replace("x0 + x1 = 1", "x0 + x1"), "line 7 must be a row", id="no relation"),
        pytest.param(SMALL_LP.replace("- 3 x2", "- 3 y"), "line 6, column 1[0-9] must be a term", id="unknown column"),
        pytest.param("2\n3\n4.5\n[[1.0,2.0],[3.0,2.0]]\n[2.0,3.0,4.0]\n", "five lines", id="ragged"),
        pytest.param("2\n3\n", "five lines", id="truncated"),
        pytest.param("", "five lines", id="empty"),
        pytest.param("2\n3\n4\n__import__('os')\n[1]\n", "five lines", id="code"),
    ],
)  # fmt: skip
def test_a_broken_program_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.lp"
    path.write_text(text)

    with pytest.raises(BadFileError, match=message):
        read_moip(path)


def test_a_front_is_sorted_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "small.sol"
    path.write_text("2\t1\t\n1\t2\t\n\n---\n      26 IPs solved\n       2 Solutions found\n")

    front = read_known_front(path)

    assert front.points.tolist() == [[1, 2], [2, 1]]
    assert front.n_programs == 26


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("1 2\n---\n 3 IPs solved\n 2 Solutions found\n", "2 points as it says, got 1", id="truncated"),
        pytest.param("1 2\n1\n---\n 3 IPs solved\n 2 Solutions found\n", "rows of integers", id="ragged"),
        pytest.param("1 2\n", "two counts", id="no counts"),
        pytest.param("1 x\n---\n 3 IPs solved\n 1 Solutions found\n", "rows of integers", id="words"),
    ],
)  # fmt: skip
def test_a_broken_front_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.sol"
    path.write_text(text)

    with pytest.raises(BadFileError, match=message):
        read_known_front(path)


def test_a_missing_or_broken_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.lp.gz"
    path.write_bytes(gzip.compress(SMALL_LP.encode())[:40])

    with pytest.raises(BadFileError, match="cannot be unpacked"):
        read_moip(path)
    with pytest.raises(BadFileError, match="cannot be read"):
        read_moip(tmp_path / "missing.lp")


def test_every_benchmark_file_is_read(data_folder: Path) -> None:
    knapsacks = sorted((data_folder / FOLDER / "tamby-mokp").glob("*.dat"))
    assert len(knapsacks) == 50
    for path in knapsacks:
        n_objectives, n_items = (int(part.split("-")[1]) for part in path.stem.split("_")[1:3])
        program = read_moip(path)
        assert (len(program.objectives), program.n_columns) == (n_objectives, n_items)

    for path in sorted((data_folder / FOLDER / "kirlik-sayin-selected").glob("*.lp*")):
        if ".sol" in path.name:
            assert len(read_known_front(path).points) > 0
        else:
            n_items = int(path.name.split("_")[2].split("-")[1])
            n_columns = n_items**2 if path.name.startswith("AP") else n_items
            assert read_moip(path).n_columns == n_columns


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_points"), [("KP_p-3_n-10", 7), ("KP_p-4_n-10", 10), ("KP_p-5_n-10", 20)])
def test_small_programs_have_their_published_fronts_with_fewer_programs(
    data_folder: Path, name: str, n_points: int
) -> None:
    path = data_folder / FOLDER / f"kirlik-sayin-selected/{name}_ins-1.lp"
    known = read_known_front(path.with_name(path.name + ".sol"))
    assert len(known.points) == n_points

    front, whole = search_zones(read_moip(path)), search_zones(read_moip(path), engine=WHOLE)

    np.testing.assert_array_equal(front.values, known.points)
    np.testing.assert_array_equal(whole.values, known.points)
    assert whole.extras["n_programs"] <= known.n_programs
