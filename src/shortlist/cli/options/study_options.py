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
            help="File of finished parts, ending in .db, from which a stopped or killed run goes on; "
            "default: one in the cache, until the answer is there."
        ),
    ] = None
    no_study: Annotated[
        bool,
        typer.Option("--no-study", help="Keep nothing, and begin anew whatever an earlier run has kept."),
    ] = False

    def place(self, context: typer.Context, data: str) -> "StudyPlace":
        """Return where the study is.

        Parameters
        ----------
        context : typer.Context
            Of the command; its parameters tell a study of the cache from others.
        data : str
            A digest of what the command reads.
        """
        from shortlist.cli.studies import StudyPlace, place_in_cache
        from shortlist.errors import BadInputError

        if self.study is not None and self.no_study:
            raise BadInputError("--no-study keeps nothing, and --study names a file. Leave one of them out.")
        if self.study is not None:
            return StudyPlace(self.study)
        return StudyPlace() if self.no_study else place_in_cache(context, data)
