"""Output that commands have in common: JSON, notes, and the facts of the run."""

import io
import json
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import pytest
import typer
from typer.testing import CliRunner

from shortlist import __version__
from shortlist.cli.answers import written_page
from shortlist.cli.text.output import (
    Held,
    complain,
    deliver_now,
    finite,
    print_json,
    print_notes,
    run_facts,
    save_page,
    warn,
    warned,
    wrapped,
)
from shortlist.report.page import Part, Text


def test_json_is_one_object_without_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"value": 1, "notes": ["one"]})
    assert json.loads(capsys.readouterr().out) == {"value": 1, "notes": ["one"]}
    with pytest.raises(ValueError, match="JSON"):
        print_json({"value": math.inf})


def test_a_warning_is_said_once_and_is_among_the_notes_of_the_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shortlist.cli.text.output.warned", warned.copy())
    for message in ("rounded", "rounded", "few rows"):
        warn(message)
    assert capsys.readouterr().err.count("note: ") == 2
    print_json({"notes": ["few rows", "kept"]})
    assert json.loads(capsys.readouterr().out) == {"notes": ["few rows", "kept", "rounded"]}


def test_notes_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_notes(["first", "second"])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split("note: ")[1] for line in printed.err.splitlines()] == ["first", "second"]


@pytest.mark.parametrize(("number", "said"), [(1.5, 1.5), (math.inf, None), (math.nan, None)])
def test_what_json_cannot_say_is_none(number: float, said: float | None) -> None:
    assert finite(number) == said


def test_facts_of_a_run_have_every_option_as_it_was_used() -> None:
    seen: list[dict[str, Any]] = []
    app = typer.Typer()

    @app.command()
    def run(
        context: typer.Context,
        *,
        out_file: Path = Path("a.csv"),
        seed: int = 3,
        json: bool = False,
        secret: Annotated[int, typer.Option(hidden=True)] = 1,
    ) -> None:
        assert (out_file, seed, json, secret) == (Path("b.csv"), 3, False, 1)
        seen.append(run_facts(context))

    ran = CliRunner().invoke(app, ["--out-file", "b.csv"])
    assert ran.exit_code == 0, ran.output
    assert seen == [{"version": __version__, "seed": 3, "options": {"out-file": "b.csv", "seed": 3}}]


def test_a_page_is_made_and_told_where_it_was_asked_for(tmp_path: Path) -> None:
    def parts() -> Sequence[Part]:
        return [Text("one <part>")]

    path = save_page(tmp_path / "x.html", "Result & more", parts)
    assert path == tmp_path / "x.html"
    text = path.read_text(encoding="utf-8")
    assert "<h1>Result &amp; more</h1>" in text
    assert "<p>one &lt;part&gt;</p>" in text
    assert written_page(path) == [f"Report in {path}."]


def test_nothing_is_made_where_no_page_was_asked_for() -> None:
    def parts() -> NoReturn:
        raise AssertionError

    assert save_page(None, "t", parts) is None
    assert written_page(None) == []


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda **_: os.terminal_size((40, 20)))


SENTENCE = "Chosen by cross-validation among 12 settings: the objective recall+margin, at most 7 members.\n"
TABLE = "method                  rank  accuracy       ±  balanced  size\n"
JSON = '  "reason": "every program was solved, and none of them was left without an answer.",\n'


def test_sentences_wrap_at_words_in_a_terminal_and_tables_and_json_do_not() -> None:
    text = wrapped(SENTENCE + TABLE + JSON + "\n", _Terminal())
    assert text.endswith(TABLE + JSON + "\n")
    lines = text.removesuffix(TABLE + JSON + "\n").splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines) == SENTENCE.strip()


def test_elsewhere_nothing_is_wrapped() -> None:
    assert wrapped(SENTENCE, io.StringIO()) == SENTENCE


def test_sentences_on_stderr_wrap_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := _Terminal())
    complain(SENTENCE.strip())
    assert terminal.getvalue().count("\n") == 3
    assert terminal.getvalue().startswith("shortlist: Chosen by")


def test_indented_sentences_stay_indented_and_long_words_whole() -> None:
    text = wrapped(f"    a rule that is broken, and {'x' * 60}.\n", _Terminal())
    assert text == f"    a rule that is broken, and\n    {'x' * 60}.\n"


def test_what_a_dialogue_has_printed_is_delivered_at_once_and_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = io.StringIO()
    held = Held(seen)
    monkeypatch.setattr("sys.stdout", held)
    print("first")
    assert seen.getvalue() == ""
    deliver_now()
    print("second")
    assert (seen.getvalue(), held.getvalue()) == ("first\n", "second\n")
    monkeypatch.setattr("sys.stdout", seen)
    deliver_now()
    assert seen.getvalue() == "first\n"
