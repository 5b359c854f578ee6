"""Commands that are killed after a number of records of their study."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORKING = multiprocessing.get_context("forkserver")
"""A process that imports once what commands need; every command that is killed is a fork of it."""
FORKING.set_forkserver_preload(["shortlist.cli.main", "sklearn.ensemble", "pyarrow.parquet", "numba"])


def kill_after(n_records: int, *words: str, cwd: Path, first: Callable[[], None] | None = None) -> bool:
    """Run a command that is killed after n records; return whether it was, and did not end before.

    In its process `first` is called before the command begins.
    """
    process = FORKING.Process(target=_run_counted, args=(n_records, words, cwd, dict(os.environ), first))
    process.start()
    process.join(300)
    assert process.exitcode in {0, -signal.SIGKILL}, process.exitcode
    return process.exitcode != 0


def _run_counted(
    left: int, words: list[str], cwd: Path, environment: dict[str, str], first: Callable[[], None] | None
) -> None:
    from shortlist.cli.main import run_command
    from shortlist.runs import study

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: study.Study, *arguments: Any, **named: Any) -> Any:
            nonlocal left
            result = method(self, *arguments, **named)
            left -= self.keeps
            if self.keeps and left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    os.environ.update(environment)
    keep = study.Study.keep
    at_once: Any = lambda self, *given, **named: keep(self, *given, **named | {"now": True})  # noqa: E731
    study.Study.record, study.Study.keep = counted(study.Study.record), counted(at_once)  # type: ignore[method-assign]
    each = study.KeepSettings(every_s=0.0)
    study.Study.keeping = property(lambda _: each, lambda _, __: None)  # type: ignore[assignment]
    if first:
        first()
    sys.argv = ["shortlist", *words]
    with contextlib.chdir(cwd), Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        run_command()
