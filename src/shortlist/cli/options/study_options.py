"""Where a command keeps what is finished, so that it can go on: its options."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shortlist.cli.studies import StudyPlace


@dataclass(frozen=True)
class StudyOptions:
    """The study of a command."""

    study: Annotated[
        Path | None,
        typer.Option(
            help="File of finished parts, ending in .db, from which a stopped or killed run goes on."
        ),
    ] = None
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Refuse a study that another process works on, and do not wait.")
    ] = False

    def place(self, former: Path | None = None) -> "StudyPlace":
        """Return the files behind the options; `former` is what a file of an earlier version was called."""
        from shortlist.cli.studies import StudyPlace

        return StudyPlace.of(self.study or former, wait=not self.no_wait)
