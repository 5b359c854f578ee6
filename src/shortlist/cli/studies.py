"""The study of a command: where it is, what was asked, how it is opened, and when it goes."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist._words import counted
from shortlist.cli.files import Named
from shortlist.cli.text.output import complain

if TYPE_CHECKING:
    from shortlist.runs import Study


UNDECIDING = frozenset(["workers", "jobs", "json", "out", "report", "rows", "study", "trust"])
"""Parameters that do not decide which answer is found, so that studies of the cache do not depend on them."""

answered: list[Path] = []
"""Studies of the cache whose command has its answer; they are removed when it has been printed."""

unfinished: set[Path] = set()
"""Studies whose command was interrupted."""


@dataclass(frozen=True)
class StudyPlace:
    """Where a study is."""

    path: Path | None = None
    """The file of the study; None for none."""
    cached: bool = False
    """Whether it lies in the cache because no file was named: then the command does not wait while another
    process works on it.
    """

    @contextlib.contextmanager
    def opened(self, context: typer.Context) -> "Iterator[Study]":
        """Yield the study, and note in it what was asked."""
        from shortlist.runs import NO_STUDY, open_study
        from shortlist.runs.studies.question import AFTER_S, ask, clear_cache

        if self.path is None:
            yield NO_STUDY
            return
        if self.cached:
            clear_cache()
            self._remove_damaged()
        with open_study(
            self.path, wait=not self.cached, say=complain, after_s=AFTER_S if self.cached else 0.0
        ) as study:
            self._begin(study)
            if study.noted("begun") is not None and context.params.get("time_limit") is not None:
                complain("note: the time limit starts again.")
            ask(study, context.command_path.partition(" ")[2], sys.argv[1:])
            yield study
        if self.cached and self.path not in unfinished:
            answered.append(self.path)

    def _remove_damaged(self) -> None:
        """Remove a study of the cache that cannot be opened; no user named it, so none is asked."""
        from shortlist.errors import BadFileError, ShortlistError
        from shortlist.runs import open_study
        from shortlist.runs.studies.study_file import remove_study

        if self.path is None or not self.path.exists():
            return
        try:
            with open_study(self.path, wait=False):
                pass
        except ShortlistError as error:
            if not isinstance(error, BadFileError) or not os.access(self.path, os.W_OK):
                return  # in use, or not to be written, which is told when it is opened
            complain(
                "note: what an earlier run of this command had kept is damaged, so it starts from scratch."
            )
            with contextlib.suppress(OSError):
                remove_study(self.path)

    def _begin(self, study: "Study") -> None:
        if self.cached and study.settings():
            units = counted(study.n_finished, "finished unit")
            complain(
                f"note: resumes an earlier run of this command, {units}. --study none starts from scratch."
            )


def place_in_cache(context: typer.Context, data: str) -> StudyPlace:
    """Return where the study of a command lies that names none."""
    from shortlist.runs.studies.question import study_in_cache

    given = {name: str(value) for name, value in context.params.items() if name not in UNDECIDING}
    path = study_in_cache(context.command_path.partition(" ")[2], given, data)
    return StudyPlace(path, cached=path is not None)


def digest_of(paths: Iterable[Named]) -> str:
    """Return a digest of the files among `paths`."""
    digest = hashlib.sha256()
    for named in paths:
        for path in [named] if isinstance(named, str | Path) else named or ():
            if Path(path).is_file():
                digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def remove_answered() -> None:
    """Remove the studies of the cache whose answer the user has."""
    if not answered:
        return
    from shortlist.runs.studies.study_file import remove_study

    while answered:
        with contextlib.suppress(OSError):
            remove_study(answered.pop())


NONE = Path("none")
"""What stands for no study at all."""


@dataclass(frozen=True)
class StudyOptions:
    """The study of a command."""

    study: Annotated[
        Path | None,
        typer.Option(
            help="File ending in .db that keeps finished units, so that a stopped or killed run can "
            "resume; none keeps nothing. By default a file in the cache is used, and removed once the "
            "answer is printed."
        ),
    ] = None

    @property
    def file(self) -> Path | None:
        """The file that the user named."""
        return None if self.study == NONE else self.study

    def place(self, context: typer.Context, data: str) -> "StudyPlace":
        """Return where the study is.

        `context`: of the command; its parameters tell a study of the cache from others. `data`: a digest of
        what the command reads.
        """
        if self.file is not None:
            return StudyPlace(self.file)
        return StudyPlace() if self.study == NONE else place_in_cache(context, data)
