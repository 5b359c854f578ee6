"""Where a command keeps what is finished, so that it can go on: its options."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shortlist.cli.studies import StudyPlace


NONE = Path("none")
"""What stands for no study at all."""


@dataclass(frozen=True)
class StudyOptions:
    """The study of a command."""

    study: Annotated[
        Path | None,
        typer.Option(
            help="File of finished parts, ending in .db, from which a stopped or killed run goes on, or none "
            "to begin anew and keep nothing; default: one in the cache, until the answer is there."
        ),
    ] = None

    @property
    def file(self) -> Path | None:
        """The file that the user named."""
        return None if self.study == NONE else self.study

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

        if self.file is not None:
            return StudyPlace(self.file)
        return StudyPlace() if self.study == NONE else place_in_cache(context, data)
