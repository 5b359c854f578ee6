"""The command line, run in the tests' own process: imports are paid once."""

import contextlib
import functools
import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shortlist.cli import main, work
from shortlist.cli.signals import handled, interrupting

STANDING_STILL = functools.partial(work.ProgressLines, clock=lambda: 0.0)
"""Progress by a clock that stands still, or a slow machine would say more than a fast one."""


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
        patch.setattr(work, "ProgressLines", STANDING_STILL)
        patch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        try:
            main.run_command()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, stdout.getvalue(), stderr.getvalue())


def done(*arguments: str | Path, cwd: Path) -> Ran:
    """Run a command that has to succeed."""
    run = shortlist(*arguments, cwd=cwd)
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def facts_of(*arguments: str | Path, cwd: Path) -> Any:
    """Return the JSON of a command that has to succeed."""
    return json.loads(done(*arguments, "--json", cwd=cwd).stdout)


def without_seconds(text: str) -> str:
    r"""Return what was printed with run times as ``#``, and without spaces at the end of lines.

    >>> print(without_seconds("37 points (0.20 s) \nmethod   seconds\nfull        0.03"))
    37 points (# s)
    method   seconds
    full           #
    """
    lines: list[str] = []
    width = 0  # of a table that ends with a column of seconds
    for line in re.sub(r"\d+(?:\.\d+)? s\b", "# s", text).strip("\n").splitlines():
        last = re.search(r"\d+\.\d+$", line) if len(line) == width else None
        lines.append(f"{line[: last.start()]}{'#':>{len(last[0])}}" if last else line.rstrip())
        width = len(line) if line.endswith("  seconds") else width if last else 0
    return "\n".join(lines)


def printed(run: Ran) -> str:
    """Return the sentences on stderr without progress, what was printed with run times as ``#``, and the exit code."""
    told = [line for line in run.stderr.splitlines() if line.startswith("shortlist: ")]
    return "\n".join(
        [*told, without_seconds(run.stdout), *([f"exit {run.returncode}"] if run.returncode else [])]
    )


def unwrapped(text: str) -> str:
    """Return what was printed with each sentence on a line again."""
    return text.replace("\n  ", " ")
