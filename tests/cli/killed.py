"""Commands that are killed after a number of records of their study."""

import os
import signal
import subprocess
import sys
from pathlib import Path

KILLING = """
import os, signal, sys
from shortlist.runs.studies import study

left = int(sys.argv.pop(1))

def counted(method):
    def call(self, *arguments, **named):
        global left
        result = method(self, *arguments, **named)
        if self.keeps:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

keep = study.Study.keep
study.Study.record = counted(study.Study.record)
study.Study.keep = counted(lambda self, *words, **named: keep(self, *words, **named | {"now": True}))
from shortlist.cli.main import run_command
run_command()
"""
"""Runs the command line behind a number, and kills the process after so many records."""


def kill_after(n_records: int, *words: str, cwd: Path, first: str = "") -> bool:
    """Run a command that is killed so, after the lines `first`; return whether it was, and did not end before."""
    run = subprocess.run(
        [sys.executable, "-c", first + KILLING, str(n_records), *words], cwd=cwd, check=False, timeout=300,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ}, text=True,
    )  # fmt: skip
    assert run.returncode in {0, -signal.SIGKILL}, run.stderr
    return run.returncode != 0
