"""The command line, run in the tests' own process: imports are paid once."""

import contextlib
import functools
import io
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from shortlist.cli import main
from shortlist.cli.signals import handled, interrupting
from shortlist.cli.text import progress

STANDING_STILL = functools.partial(progress.ProgressLines, clock=lambda: 0.0)
"""Progress by a clock that stands still, or a slow machine would say more than a fast one."""

COMMAND_OF = functools.cache(typer.main.get_command)
"""The command is made once, as in a process of its own: to make it takes longer than most refusals."""


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


def shortlist(*arguments: str | Path, cwd: Path) -> Ran:
    """Run `shortlist` with these arguments in a folder."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        handled(interrupting()),
    ):
        patch.setattr(progress, "ProgressLines", STANDING_STILL)
        patch.setattr(typer.main, "get_command", COMMAND_OF)
        patch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        try:
            main.run_command()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, stdout.getvalue(), stderr.getvalue())


def unwrapped(text: str) -> str:
    """Return what was printed with each sentence on a line again."""
    return text.replace("\n  ", " ")
