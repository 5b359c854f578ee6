"""The command line, run in the tests' own process: imports are paid once."""

import contextlib
import functools
import io
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from shortlist.cli import main
from shortlist.cli.signals import handled, interrupting

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
        patch.setattr("shortlist.cli.text.progress.FIRST_S", math.inf)  # or a slow machine says more
        patch.setattr(typer.main, "get_command", COMMAND_OF)
        patch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        try:
            main.run_command()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, stdout.getvalue(), stderr.getvalue())
