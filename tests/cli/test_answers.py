"""Answers of commands: notes, facts or lines, and the exit code."""

import inspect
import json
from pathlib import Path

import pytest
import typer

from shortlist.cli.answers import CommandAnswer, answers, written
from shortlist.cli.text import output
from shortlist.cli.text.output import print_notes


@pytest.fixture(autouse=True)
def _no_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "noted", [])
    monkeypatch.setattr(output, "warned", [])


@answers
def weigh(things: str, *, out: Path | None = None) -> CommandAnswer:
    """Weigh things."""
    print_notes(["early"])
    facts = {"weight": 3, "out": out, "seed": 7}
    return CommandAnswer(
        lambda: facts, [f"{things} weigh 3."], ["late"], written(out, "the weights"), int(out is not None)
    )


def _run(words: list[str]) -> int:
    app = typer.Typer(add_completion=False)
    app.command()(weigh)
    command = typer.main.get_command(app)
    return int(command.main(words, "shortlist weigh", standalone_mode=False) or 0)


def test_a_command_has_the_context_first_and_json_last() -> None:
    assert [*inspect.signature(weigh).parameters] == ["context", "things", "out", "json"]
    assert [*weigh.__annotations__] == ["context", "things", "out", "json"]


@pytest.mark.parametrize(("more", "code"), [([], 0), (["--out", "w.csv"], 1)])
def test_people_get_lines_and_programs_get_the_same_facts_and_notes(
    more: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["apples", *more]) == code
    said = capsys.readouterr()
    assert said.out.splitlines() == ["apples weigh 3.", *(["Written: w.csv, the weights."] if more else [])]
    assert said.err == "shortlist: note: early\nshortlist: note: late\n"
    output.noted.clear()
    assert _run(["apples", "--json", *more]) == code
    said = capsys.readouterr()
    facts = json.loads(said.out)
    assert [*facts] == ["command", "weight", "out", "seed", "notes", "version", "options"]
    assert facts["command"] == "weigh"
    assert facts["out"] == (more[1] if more else None)
    assert (facts["seed"], facts["notes"]) == (7, ["early", "late"])
    assert facts["options"] == {"things": "apples", "out": facts["out"]}
    assert said.err == "shortlist: note: early\nshortlist: note: late\n"
