"""The study of a command: the file that keeps what is finished, and what was asked."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist._words import counted
from shortlist.cli.text.output import complain

if TYPE_CHECKING:
    from shortlist.runs import Study


@dataclass(frozen=True)
class StudyOptions:
    """The study of a command."""

    study: Annotated[
        Path | None,
        typer.Option(
            help="File ending in .db that keeps finished units, so that a stopped or killed run can resume."
        ),
    ] = None

    @contextlib.contextmanager
    def opened(self, context: typer.Context) -> "Iterator[Study]":
        """Yield the study, note in it what was asked, and say what it gave; without a file it keeps nothing."""
        from shortlist.runs import NO_STUDY, open_study
        from shortlist.runs.studies.question import ask

        if self.study is None:
            yield NO_STUDY
            return
        with open_study(self.study, say=complain) as study:
            if study.noted("begun") is not None and context.params.get("time_limit") is not None:
                complain("note: the time limit starts again.")
            ask(study, context.command_path.partition(" ")[2], sys.argv[1:])
            known = study.n_finished
            yield study
            if known:
                units = counted(known, "finished unit")
                complain(
                    f"note: {units} came from {self.study}; what a study does not keep was computed again."
                )
            elif study.is_empty:
                complain(f"note: nothing is kept in {self.study}: this method answers anew every time.")
