"""`shortlist study`: content of a study, and its continuation."""

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist._words import counted
from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import check_files
from shortlist.cli.options.shared import Details
from shortlist.cli.text.output import print_fitted

StudyFileArgument = Annotated[Path, typer.Argument(help="Study written with --study.")]


def _read(file: Path) -> dict[str, Any]:
    from shortlist.runs.study_file import summary

    check_files(inputs={"FILE": file}, outputs={})
    return summary(file)


@answers
def show(file: StudyFileArgument, *, details: Details = False) -> CommandAnswer:
    """Print the progress of a study, and the best so far.

    Also printed are what was asked, the units done, running and failed, and the time left.
    """
    found = _read(file)
    return CommandAnswer(found, partial(_print, file, found, details=details))


def _print(file: Path, found: dict[str, Any], *, details: bool) -> None:
    from shortlist.cli.work import duration
    from shortlist.runs.study_file import clock_text

    asked, driver = found["asked"], found["running_in"]
    units = f"{counted(found['n_done'], 'unit')} finished, {found['n_failed']:,} failed"
    begun = f"begun {clock_text(asked['begun'])}" if "begun" in asked else "begun at an unknown time"
    running = f"; process {driver} works on it" if driver else ""
    goes_on = f"Next: shortlist study resume {shlex.quote(str(file))}"
    print_fitted(
        [
            f"{units} in {duration(found['seconds'])} of work; {begun}{running}.",
            f"Command: {_command(asked)}",
            f"Folder:  {asked.get('folder', 'unknown')}",
        ],
        [
            *map(_stage, found["stages"]),
            *(
                f"  {one['unit']} goes on from its state of {clock_text(one['saved'])}"
                for one in found["checkpoints"]
            ),
            *(f"  failed: {failure}" for failure in found["failures"]),
        ],
        [
            f"Study {file}, {found['bytes'] / 1e6:.3g} MB.",
            *([] if driver or not asked.get("words") else [goes_on]),
        ],
        details=details,
    )


def _stage(stage: Mapping[str, Any]) -> str:
    from shortlist.cli.work import duration

    name = f"{stage['part']}: {stage['stage']}" if stage["part"] else stage["stage"]
    running = f", {stage['running']:,} running" if stage["running"] else ""
    left = f", about {duration(stage['seconds_left'])} left" if stage["seconds_left"] else ""
    best = f", best {stage['best']}" if stage["best"] else ""
    return f"  {name}: {stage['done']:,} of {stage['total']:,}{running}{left}{best}"


def _command(asked: Mapping[str, Any]) -> str:
    return shlex.join(["shortlist", *map(str, asked.get("words", []))])


def resume(context: typer.Context, file: StudyFileArgument) -> None:
    """Resume a study.

    Its command runs again with the same options in the same folder.
    """
    found = _read(file)
    words, folder = _words_to_run(file, found), Path(str(found["asked"].get("folder", "")))
    before, sys.argv[1:] = sys.argv[1:], [*words, "--study", str(file.resolve())]
    try:
        with contextlib.chdir(folder):
            context.obj()  # the whole command line once more, as the outermost command passes it on
    except SystemExit as stop:
        raise typer.Exit(int(stop.code or 0)) from None
    finally:
        sys.argv[1:] = before


def _words_to_run(study: Path, found: Mapping[str, Any]) -> list[str]:
    """Return the words of a study's command line, without the option that names the study.

    Raises BadInputError if the command cannot or must not be run again, with the command to type if the study
    is another user's, or its command reads from a pipe.
    """
    from shortlist.errors import BadInputError
    from shortlist.runs.records import own_words

    asked, command = found["asked"], _command(found["asked"])
    folder = Path(str(asked.get("folder", "")))
    words = own_words(asked)
    if found["running_in"]:
        raise BadInputError(
            f"the study {study} is in use by process {found['running_in']}. Wait until it has ended."
        )
    if not asked.get("words"):
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
    named = {place + 1 for place, word in enumerate(words) if word == "--study"}
    return [
        word
        for place, word in enumerate(words)
        if place not in named and word != "--study" and not word.startswith("--study=")
    ]
