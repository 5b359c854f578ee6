"""What holds for every command, whichever it is."""

import itertools
from pathlib import Path

import pytest

from tests.cli.commands import called, commands, files, line
from tests.cli.running import shortlist

COMMANDS = commands()
PAIRS = [
    pytest.param(words, one.name, other.name, id=f"{words} {called(one)} {called(other)}")
    for words, command in COMMANDS.items()
    for one, other in [
        *itertools.product(*files(command)),
        *itertools.combinations(files(command)[1], 2),
    ]
]
INPUTS = [
    pytest.param(words, one.name, id=f"{words} {called(one)}")
    for words, command in COMMANDS.items()
    for one in files(command)[0]
]
OUTPUTS = [
    pytest.param(words, one.name, id=f"{words} {called(one)}")
    for words, command in COMMANDS.items()
    for one in files(command)[1]
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "needed").write_text("of no use")
    (tmp_path / "file").write_text("precious")
    (tmp_path / "link").symlink_to("file")
    return tmp_path


def _left(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(("words", "one", "other"), PAIRS)
def test_no_file_is_overwritten_by_another_of_the_same_command(
    folder: Path, words: str, one: str, other: str
) -> None:
    before = _left(folder)
    run = shortlist(*line(words, COMMANDS[words], {one: "file", other: "./link"}), cwd=folder)
    assert run.returncode == 2
    assert "is the same file as" in run.stderr
    assert _left(folder) == before


@pytest.mark.parametrize(("words", "name"), INPUTS)
def test_a_file_that_is_not_there_is_said_by_its_name(folder: Path, words: str, name: str) -> None:
    run = shortlist(*line(words, COMMANDS[words], {name: "no.csv"}), cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "shortlist: no.csv cannot be read: No such file or directory. Check the path.\n"


@pytest.mark.parametrize(("words", "name"), OUTPUTS)
def test_an_output_with_a_wrong_ending_or_without_a_folder_is_refused(
    folder: Path, words: str, name: str
) -> None:
    option = next(called(one) for one in COMMANDS[words].params if one.name == name)
    for value, message in (("x.wrong", f"{option} must end in ."), ("no/x", "its folder does not exist")):
        run = shortlist(*line(words, COMMANDS[words], {name: value}), cwd=folder)
        assert (run.returncode, run.stdout) == (2, "")
        assert message in run.stderr
        assert run.stderr.count("\n") == 1


def test_a_model_is_not_destroyed_by_what_lies_beside_it(folder: Path) -> None:
    (folder / "m.dimacs.augment").write_text("#FEATURE_INDEX COST USED_BEFORE DEFECTS\n")
    (folder / "m.dimacs").write_text("p cnf 1 0\n")
    for words in ("configure", "compare"):
        run = shortlist(words, "m.dimacs", "--out", "m.dimacs.augment", cwd=folder)
        assert run.returncode == 2
        assert "is the same file as the file with its attributes" in run.stderr


def test_every_option_that_names_a_file_is_known_as_read_or_written() -> None:
    assert {called(one) for command in COMMANDS.values() for one in files(command)[1]} == {
        "--out", "--model-out", "--report", "--study", "--store", "--certificate",
    }  # fmt: skip
    assert {called(one) for command in COMMANDS.values() for one in files(command)[0]} == {
        "TABLE", "MODEL", "FRONT", "--pool", "--member-costs", "--costs", "--attributes", "--fixed", "--model",
    }  # fmt: skip
