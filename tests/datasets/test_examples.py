"""Files of the examples that guides begin with."""

from pathlib import Path

import pytest

from shortlist.datasets.examples import MADE, example_files, write_example
from shortlist.errors import BadInputError
from shortlist.products import read_model
from shortlist.programs.mps_format import read_program
from shortlist.tables.learning import read_table


@pytest.mark.parametrize("name", [*MADE, "wine", "judges"])
def test_an_example_is_written_and_read_again(name: str, tmp_path: Path) -> None:
    paths = write_example(name, tmp_path)
    assert sorted(path.name for path in paths) == sorted(example_files(name))
    for path in paths:
        if path.suffix == ".csv":
            assert len(read_table(path)) > 1
        elif path.suffix == ".uvl":
            assert read_model(path).n_features > 3
        else:
            assert read_program(path) is not None
    before = {path: path.stat().st_mtime_ns for path in paths}
    assert write_example(name, tmp_path) == paths
    assert {path: path.stat().st_mtime_ns for path in paths} == before


def test_no_other_file_is_overwritten_and_nothing_is_half_written(tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("mine")
    with pytest.raises(BadInputError, match=r"costs\.csv must be free for the example 'clinic'"):
        write_example("clinic", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["costs.csv"]
    with pytest.raises(BadInputError, match="Did you mean 'clinic'"):
        write_example("clinik", tmp_path)
