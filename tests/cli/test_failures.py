"""How the command ends when something fails: a sentence, an exit code, and no result lost."""

import contextlib
import errno
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shortlist.cli import main
from shortlist.cli.main import ended
from shortlist.cli.signals import handled, interrupting
from shortlist.runs.studies import study_file
from tests.cli.command_lines import called, commands, files
from tests.cli.made import ADDING, CONFIGURE, PRINTING, WRITING
from tests.cli.running import Ran, shortlist


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of the command."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def full(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk that is full when a finished file is to be moved into the folder."""
    move = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if target.parent == made:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return move(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    before = sorted(made.iterdir())
    yield
    assert sorted(made.iterdir()) == before


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("option", WRITING)
def test_a_result_that_does_not_fit_where_it_should_is_put_elsewhere_whole(
    option: str, made: Path, elsewhere: Path
) -> None:
    words = WRITING[option]
    run = shortlist(*words, cwd=made)
    [place] = elsewhere.glob("shortlist-*/w.*")
    assert place.suffix == Path(words[-1]).suffix
    assert place.stat().st_size > 20
    assert run.returncode == 74
    last = run.stderr.splitlines()[-1]
    assert (
        last
        == f"shortlist: {words[-1]} cannot be written: No space left on device. It is in {place} instead."
    )
    assert str(place) in run.stdout or "of a page" in option or option.startswith("verify")


def test_every_option_that_names_an_output_is_tried() -> None:
    known = {(words, called(one)) for words, command in commands().items() for one in files(command)[1]}
    known -= {("reproduce", "--study")}  # minutes of work; tested with made papers
    plain = [option.partition(" of ")[0] for option in [*WRITING, *ADDING]]
    assert {(" ".join(option.split()[:-1]), option.split()[-1]) for option in plain} == known


@pytest.mark.parametrize("option", ADDING)
def test_a_study_that_cannot_go_on_says_that_what_was_finished_is_in_it(
    option: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, prepared = study_file._connected, study_file._prepare

    def small(path: Path) -> sqlite3.Connection:
        connection = connected(path)
        connection.execute("PRAGMA page_size = 512")
        return connection

    def full(path: Path, connection: sqlite3.Connection) -> None:
        """Let SQLite take no page more, as on a full disk."""
        prepared(path, connection)
        (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {n_pages + 4}")

    monkeypatch.setattr(study_file, "_connected", small)
    monkeypatch.setattr(study_file, "_prepare", full)
    place = tmp_path / "w.db"
    words = [*ADDING[option][:-1], str(place)]
    run = shortlist(*words, cwd=made)
    assert run.returncode == 74, run.stderr
    last = run.stderr.splitlines()[-1]
    assert last.startswith(
        f"shortlist: {place} cannot be written: No space left on device. What was finished"
    )
    monkeypatch.undo()
    again = shortlist(*words, cwd=made)
    assert again.returncode == 0, again.stderr


def _run_into(stream: io.TextIOBase, words: list[str], folder: Path) -> Ran:
    """Run a command whose stdout is `stream`."""
    stderr = io.StringIO()
    with (
        contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(stderr),
        handled(interrupting()),
    ):  # fmt: skip
        patch.setattr(sys, "argv", ["shortlist", *words])
        patch.setattr(sys, "stdout", stream)
        code = 0
        try:
            main.run_command()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, "", stderr.getvalue())


@pytest.mark.parametrize("words", PRINTING.values(), ids=PRINTING)
def test_what_a_full_stdout_does_not_take_is_kept_in_a_file(
    words: list[str], made: Path, elsewhere: Path
) -> None:
    shown = shortlist(*words, cwd=made).stdout
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        run = _run_into(stream, words, made)
    [place] = elsewhere.iterdir()
    assert run.returncode == 74
    assert run.stderr.splitlines()[-1] == (
        f"shortlist: stdout cannot be written: No space left on device. What was to be printed is in {place} instead."
    )
    kept = place.read_text(encoding="utf-8")
    assert kept.count("\n") == shown.count("\n")
    if words[-1] != "--json":
        assert kept.splitlines()[-1] == shown.splitlines()[-1]
    else:
        assert json.loads(kept)["n_points"] == json.loads(shown)["n_points"]


@pytest.mark.parametrize("words", PRINTING.values(), ids=PRINTING)
def test_a_closed_pipe_ends_quietly(words: list[str], made: Path, elsewhere: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        run = _run_into(stream, words, made)
    assert run.returncode == 0
    assert "cannot be written" not in run.stderr
    assert list(elsewhere.iterdir()) == []


UNEXPECTED = [
    (KeyError(220), "something went wrong that should not (KeyError: 220). Run it again", 70),
    (MemoryError(), "there is not enough memory for this.", 70),
    (RecursionError("deep"), "the input is nested more deeply than can be followed.", 70),
    (OSError(errno.EIO, "Input/output error", "m.uvl"), "m.uvl cannot be read or written: Input/output error.", 74),
    (KeyboardInterrupt(), "interrupted; nothing was written.", 130),
]  # fmt: skip


@pytest.mark.parametrize(("error", "sentence", "code"), UNEXPECTED, ids=lambda one: type(one).__name__)
def test_whatever_happens_is_one_sentence_and_the_traceback_only_comes_when_asked_for(
    error: BaseException, sentence: str, code: int, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("shortlist.products.formats.read_model", fail)
    run = shortlist("model", "info", "m.uvl", cwd=made)
    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr.startswith(f"shortlist: {sentence}")
    assert run.stderr.count("\n") == 1
    for words in (["--debug", "model", "info", "m.uvl"], ["model", "info", "m.uvl", "--debug"]):
        run = shortlist(*words, cwd=made)
        assert run.returncode == code
        assert "Traceback" in run.stderr or code == 130
        assert f"shortlist: {sentence}" in run.stderr.splitlines()[-1]


def test_a_warning_of_the_library_is_a_note(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: Any, **__: Any) -> None:
        warnings.warn("few rows.", stacklevel=1)
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.products.formats.read_model", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run = shortlist("model", "info", "m.uvl", cwd=made)
    assert run.stderr.splitlines()[0] == "shortlist: note: few rows."


def test_a_result_for_which_there_is_no_place_at_all_is_said_so(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    run = shortlist(*CONFIGURE, "--out", "w.parquet", cwd=made)
    assert run.returncode == 74
    assert run.stderr.splitlines()[-1] == (
        "shortlist: w.parquet cannot be written: No space left on device; nor can the temporary folder: "
        "No space left on device."
    )


def test_what_is_wrong_with_the_input_is_not_taken_for_a_full_disk(made: Path, elsewhere: Path) -> None:
    (made / "other.uvl").write_text("features\n\tOther\n", encoding="utf-8")
    for model in ("other.uvl", "table.csv"):
        run = shortlist("front", "pick", "front.parquet", "--model", model, "--out", "w.uvl", cwd=made)
        assert run.returncode == 2
        assert model in run.stderr
    assert list(elsewhere.iterdir()) == []
    (made / "other.uvl").unlink()


def test_what_fails_on_the_way_out_of_an_interruption_is_one() -> None:
    late, other = RuntimeError("generator did not stop"), RuntimeError("something else")
    late.__context__ = KeyboardInterrupt()

    assert [ended(error, str)[1] for error in (late, other)] == [130, 70]


def test_the_completion_of_a_shell_is_printed_and_ends_well(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "shortlist", "--show-completion", "bash"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "SHELL": "/bin/bash", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "something went wrong" not in run.stderr
