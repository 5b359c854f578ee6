"""The study of a command: where it is, what was asked, and how it is opened."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import typer

from shortlist.cli.text.delivery import complain

OLD_ENDING = ".jsonl"


@dataclass(frozen=True)
class StudyPlace:
    """Where a study is.

    Attributes
    ----------
    path : Path or None
        The file of the study; None for none.
    old : Path or None
        A file of an earlier version to take over.
    wait : bool
        Whether to wait while another process works on it.
    """

    path: Path | None = None
    old: Path | None = None
    wait: bool = True

    @classmethod
    def of(cls, named: Path | None, *, wait: bool = True) -> Self:
        """Return the place that a user names; a file of an earlier version has its study beside it."""
        from shortlist.runs.studies.old_journals import is_old_journal

        if named is not None and named.is_file() and os.access(named, os.R_OK) and is_old_journal(named):
            return cls(named.with_suffix(".db"), named, wait)
        return cls(named, None, wait)

    @contextlib.contextmanager
    def opened(self, context: typer.Context) -> "Iterator[Any]":
        """Yield the study, and note in it what was asked."""
        from shortlist.runs import NO_STUDY, open_study
        from shortlist.runs.studies.old_journals import take_over
        from shortlist.runs.studies.question import ask

        if self.path is None:
            yield NO_STUDY
            return
        with open_study(self.path, wait=self.wait, say=complain) as study:
            if self.old is not None and not study.settings():
                n_units = take_over(self.old, study)
                complain(f"note: {n_units} finished units of {self.old} were taken over to {self.path}.")
            elif self.old is not None:
                complain(f"note: {self.old} was taken over to {self.path} before.")
            ask(study, str(context.info_name), sys.argv[1:])
            yield study
