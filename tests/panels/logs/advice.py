"""The advice that a refusal of a log prints, followed as a user would."""

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.tables.numbers import CellRules

OPTION = re.compile(r"`(\w+)=('[^']*'|\"[^\"]*\"|NAME)`")
ROLES = {one.name for one in fields(LogColumns)}


def advised(error: BadInputError) -> list[dict[str, str]]:
    """Return the alternatives that a refusal names, each as options by name; NAME stands for what it lists."""
    found = []
    for clause in re.split(r"\. |; |, or | or |, if ", str(error)):
        options = {name: value.strip("'\"") for name, value in OPTION.findall(clause)}
        if options:
            found.append(options)
    names = re.findall(r"'([^']+)'", str(error.got))
    return [
        {role: name if value == "NAME" else value for role, value in options.items()}
        for options in found
        for name in (names if "NAME" in options.values() else [""])
    ]


def followed(paths: Any, error: BadInputError, **given: Any) -> Iterator[tuple[dict[str, str], AnswerLog]]:
    """Yield each alternative and the log that it leads to, perhaps by the advice of a second refusal."""
    for options in advised(error):
        yield options, _answered(paths, options, given)


def _answered(paths: Any, options: dict[str, str], given: dict[str, Any], depth: int = 2) -> AnswerLog:
    said: dict[str, Any] = dict(given)
    columns = said.pop("columns", LogColumns())
    for name, value in options.items():
        if name in {"drop", "features"}:
            columns = replace(columns, **{name: (*getattr(columns, name), *value.split(","))})
        elif name in ROLES:
            columns = replace(columns, **{name: value})
        elif name in {"decimal", "gaps"}:
            said["rules"] = CellRules(decimal=value) if name == "decimal" else CellRules(gaps=(value,))
        else:
            said[name] = value
    said["columns"] = columns
    try:
        return read_log(paths, **said)
    except BadInputError as error:
        alternatives = advised(error)
        if not depth or not alternatives:
            raise
        return _answered(paths, alternatives[0], said, depth - 1)


def refusal(paths: Any, **given: Any) -> BadInputError:
    """Return the error that refuses a log."""
    try:
        log = read_log(paths, **given)
    except BadInputError as error:
        return error
    raise AssertionError(f"{paths} is read: {log.notes}")


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
