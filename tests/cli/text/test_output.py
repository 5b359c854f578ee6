"""What commands print alike: JSON, notes, and what the run was."""

import json
import math
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from shortlist import __version__
from shortlist.cli.text.output import finite, print_json, print_notes, run_facts, warn, warned


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
