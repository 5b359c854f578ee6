"""Reading of a command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from shortlist.cli.command_line import FORMS
from shortlist.cli.main import app
from tests.cli.command_lines import commands, line
from tests.cli.refusals import is_refused, refusals
from tests.cli.running import done, shortlist

COMMANDS = commands()


def forms(command: Any) -> set[str]:
    """Return the names of the forms that the answer of a command has."""
    return {one.name for one in command.forms}


@pytest.mark.parametrize(
    "words", ["--json model info m.uvl", "model --json info m.uvl", "model info m.uvl --json"]
)
def test_a_form_of_the_answer_is_said_before_or_after_the_command(words: str, made: Path) -> None:
    run = done(*words.split(), cwd=made)
    assert run.stdout.startswith('{\n  "command": "model info"')


def test_forms_are_no_options_of_single_commands() -> None:
    root = typer.main.get_command(app)
    assert {one.name for one in root.params} >= {*FORMS}
    for words, command in COMMANDS.items():
        assert not {one.name for one in command.params} & {*FORMS}, words


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_of_a_command_names_the_forms_that_it_has_in_its_last_line(
    words: str, tmp_path: Path
) -> None:
    run = shortlist(*words.split(), "--help", cwd=tmp_path)
    *_, last = run.stdout.partition("As for every command: ")
    assert {name for name in FORMS if f"--{name}" in last} == forms(COMMANDS[words])
    assert run.stdout.count("--json") <= 1


@pytest.mark.parametrize(
    ("words", "form"),
    [(words, form) for words, command in COMMANDS.items() for form in FORMS if form not in forms(command)],
)
def test_a_form_that_a_command_does_not_have_is_refused(words: str, form: str, tmp_path: Path) -> None:
    run = shortlist(f"--{form}", *line(words, COMMANDS[words], {}), cwd=tmp_path)
    is_refused(run, f"{words} has no --{form}. Leave it out. See: shortlist {words} --help")


@refusals("options")
def test_an_option_that_there_is_not_is_said_with_what_to_do(
    made: Path, refused: Callable[[Path], None]
) -> None:
    refused(made)
