"""Rules that every command obeys."""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command_lines import called, commands, files, line
from tests.cli.made import PRINTING, WRITING
from tests.cli.refusals import refusals
from tests.cli.running import done, shortlist

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
        "--out", "--study", "--certificate",
    }  # fmt: skip
    assert {called(one) for command in COMMANDS.values() for one in files(command)[0]} == {
        "TABLE", "MODEL", "PROGRAM", "FIRST", "SECOND", "FRONT", "FILE", "--pool", "--costs", "--attributes", "--decisions", "--model",
        "--front", "PRODUCTS", "--pruned", "--check", "--test", "--customers",
    }  # fmt: skip


OPTIONS = [
    pytest.param(words, option, id=f"{words} {option}")
    for words, command in COMMANDS.items()
    for option in [called(one) for one in command.params if len(called(one)) > 6][-3:]
]


@pytest.mark.parametrize(("words", "option"), OPTIONS)
def test_an_unknown_option_is_one_sentence_that_offers_the_one_that_was_meant(
    folder: Path, words: str, option: str
) -> None:
    mistyped = option[:4] + option[5:]
    run = shortlist(*line(words, COMMANDS[words], {}), mistyped, "1", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"shortlist: no such option: {mistyped}. Did you mean '--")
    assert run.stderr.endswith(f"See: shortlist {words} --help\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ["prun", "stge", "frnt", "front shw", "model inof"])
def test_an_unknown_command_is_one_sentence_that_offers_the_one_that_was_meant(
    folder: Path, words: str
) -> None:
    run = shortlist(*words.split(), cwd=folder)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert "Did you mean '" in run.stderr


SEEDED = [words for words, command in COMMANDS.items() if any(one.name == "seed" for one in command.params)]


@pytest.mark.parametrize("words", SEEDED)
@pytest.mark.parametrize("seed", ["-1", "x", "1.5", str(2**80)])
def test_a_bad_seed_is_said_before_anything_is_read(folder: Path, words: str, seed: str) -> None:
    run = shortlist(*line(words, COMMANDS[words], {}), f"--seed={seed}", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("shortlist: --seed must be ")
    assert run.stderr.count("\n") == 1


JSON = {
    **WRITING,
    **{name: words for name, words in PRINTING.items() if name.split()[0] in {"front", "model", "panel"}},
}


@pytest.mark.parametrize("option", JSON)
def test_json_is_exactly_one_object_with_the_contract_of_every_command(
    option: str, made: Path, tmp_path: Path
) -> None:
    words = [*JSON[option], "--json"]
    if option in WRITING:
        words[-2] = str(tmp_path / words[-2])
    run = done(*words, cwd=made)
    facts = json.loads(run.stdout)
    command = max((name for name in COMMANDS if " ".join(words).startswith(name)), key=len)
    assert facts["command"] == command
    assert {"method", "status", "seconds"} <= set(facts)
    if option in WRITING:
        assert str(tmp_path) in run.stdout


@refusals("columns")
def test_what_is_wrong_with_a_table_names_the_file_and_the_column(
    made: Path, tmp_path: Path, refused: Callable[[Path], None]
) -> None:
    for name in ("table.csv", "model.joblib"):
        (tmp_path / name).symlink_to(made / name)
    (tmp_path / "gaps.csv").write_text("a,target\n1,no\n2,\n3,\n", encoding="utf-8")
    (tmp_path / "numbers.csv").write_text("a,target\n1,0.5\n2,1.5\n3,0.5\n", encoding="utf-8")
    refused(tmp_path)


@pytest.mark.slow
def test_a_file_that_is_not_there_is_told_before_anything_heavy_is_loaded(folder: Path) -> None:
    lines = [
        line(words, command, {one.name: "no.csv"})
        for words, command in COMMANDS.items()
        for one in files(command)[0]
    ]
    program = (
        "import sys\n"
        "from shortlist.cli.main import run_command\n"
        f"for words in {lines!r}:\n"
        "    sys.argv = ['shortlist', *words]\n"
        "    try:\n"
        "        run_command()\n"
        "    except SystemExit as stop:\n"
        "        loaded = {'pandas', 'scipy', 'sklearn', 'numba', 'ortools', 'highspy', 'matplotlib'} & set(sys.modules)\n"
        "        print(stop.code, *sorted(loaded), *words) if stop.code != 2 or loaded else None\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.stdout == ""
    assert ran.stderr.count("no.csv cannot be read: No such file or directory.") == len(lines)
