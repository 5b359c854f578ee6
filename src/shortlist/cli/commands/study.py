"""`shortlist study`: what a study holds, and going on with it."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.shared import Details, Json
from shortlist.cli.text.output import print_fitted, print_json

if TYPE_CHECKING:
    from shortlist.runs.studies.summary import StageSummary, Summary

StudyFileArgument = Annotated[Path, typer.Argument(help="Study written with --study.")]


def show(file: StudyFileArgument, *, details: Details = False, json: Json = False) -> None:
    """Print the progress of a study, and the best so far.

    Also printed are what was asked, the units done, running and failed, and the time left.
    """
    from shortlist.cli.files import check_files

    check_files(inputs={"FILE": file}, outputs={})
    from shortlist.cli.work import duration
    from shortlist.runs.studies.summary import age_text, summary

    found = summary(file)
    if json:
        print_json({"command": "study show", **_facts(found)})
        return
    goes_on = f"Next: shortlist study resume {shlex.quote(str(file))}"
    print_fitted(
        [
            f"{_units(found)} in {duration(found.seconds)} of work; {_begun(found)}{_running(found)}.",
            f"Command: {_asked(found)}",
            f"Folder:  {found.asked.get('folder', 'unknown')}",
        ],
        [
            *map(_stage, found.stages),
            *(f"  {key} goes on from its state of {age_text(saved)}" for key, saved in found.checkpoints),
            *(f"  failed: {failure}" for failure in found.failures),
        ],
        [
            f"Study {file}, {found.size / 1e6:.3g} MB.",
            *([] if found.driver or not found.asked.get("words") else [goes_on]),
        ],
        details=details,
    )


def _stage(stage: "StageSummary") -> str:
    from shortlist.cli.work import duration

    name = f"{stage.part}: {stage.name}" if stage.part else stage.name
    running = f", {stage.running:,} running" if stage.running else ""
    left = "" if not stage.left_s else f", about {duration(stage.left_s)} left"
    best = f", best {stage.best}" if stage.best else ""
    return f"  {name}: {stage.done:,} of {stage.total:,}{running}{left}{best}"


def resume(context: typer.Context, file: StudyFileArgument) -> None:
    """Resume a study.

    Its command runs again with the same options in the same folder.
    """
    from shortlist.cli.files import check_files

    check_files(inputs={"FILE": file}, outputs={})
    from shortlist.runs.studies.question import own_words
    from shortlist.runs.studies.summary import summary

    found = summary(file)
    words = own_words(found.asked)
    folder = Path(str(found.asked.get("folder", "")))
    _check_resumable(file, found, words, folder)
    assert words is not None, "checked above"
    words = _with_study(words, file.resolve())
    before, sys.argv[1:] = sys.argv[1:], words
    try:
        with contextlib.chdir(folder):
            context.obj()  # the whole command line once more, as the outermost command passes it on
    except SystemExit as stop:
        raise typer.Exit(int(stop.code or 0)) from None
    finally:
        sys.argv[1:] = before


def _check_resumable(study: Path, found: "Summary", words: list[str] | None, folder: Path) -> None:
    """Refuse a study if its command cannot or must not be run again.

    Raises BadInputError with the command to type where it is another user's, or reads from a pipe.
    """
    from shortlist.errors import BadInputError

    command = _asked(found)
    if found.driver:
        raise BadInputError(
            f"the study {study} is in use by process {found.driver}. Wait until it has ended."
        )
    if not found.asked.get("words"):
        raise BadInputError(f"the study {study} holds no command. Name it with --study in the command.")
    if words is None:
        raise BadInputError(
            f"the command of {study} was not noted by your Shortlist on this machine. If you want what it "
            f"says, type it: {command}"
        )
    if "-" in words:
        raise BadInputError(f"the rows came from a pipe, which is gone. Pipe them again into: {command}")
    if not folder.is_dir() or not os.access(folder, os.X_OK):
        raise BadInputError(f"the folder {folder} of the command is not there any more. Type it: {command}")


def _with_study(words: list[str], study: Path) -> list[str]:
    """Return the words with this study in place of the one that they name."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and not word.startswith("--study=") and word != "--study":
            kept.append(word)
        skip = not skip and word == "--study"
    return [*kept, "--study", str(study)]


def _facts(found: "Summary") -> dict[str, Any]:
    return {
        "study": str(found.path),
        "asked": found.asked,
        "running_in": found.driver or None,
        "n_done": found.n_done,
        "n_failed": found.n_failed,
        "seconds": found.seconds,
        "bytes": found.size,
        "stages": [
            {
                "part": stage.part, "stage": stage.name, "done": stage.done, "total": stage.total,
                "running": stage.running, "seconds_left": stage.left_s, "best": stage.best or None,
            }
            for stage in found.stages
        ],
        "failures": list(found.failures),
        "checkpoints": [{"unit": key, "saved": saved} for key, saved in found.checkpoints],
    }  # fmt: skip


def _asked(found: "Summary") -> str:
    return shlex.join(["shortlist", *map(str, found.asked.get("words", []))])


def _units(found: "Summary") -> str:
    from shortlist._words import counted

    return f"{counted(found.n_done, 'unit')} finished, {found.n_failed:,} failed"


def _begun(found: "Summary") -> str:
    from shortlist.runs.studies.summary import age_text

    begun = found.asked.get("begun")
    return "begun at an unknown time" if begun is None else f"begun {age_text(float(begun))}"


def _running(found: "Summary") -> str:
    return f"; process {found.driver} works on it" if found.driver else ""
