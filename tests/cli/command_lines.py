"""Every command, found from the command line itself, so that a new one cannot be forgotten."""

from typing import Any

from shortlist.cli.command_line import all_commands

WRITTEN = {"out", "files_out", "study", "certificate"}
"""Parameters that name files to write; every other file is read. A new option for writing belongs here."""

TABLES = {"table", "products", "attributes"}
"""Files that are no paths, as ``example:NAME`` and ``-`` are tables too."""


def commands() -> dict[str, Any]:
    """Return every command by its words, such as ``front show``."""
    return dict(all_commands())


def called(parameter: Any) -> str:
    """Return what the user calls a parameter: its option, or its place in capitals."""
    return str(parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.name.upper())


def files(command: Any) -> tuple[list[Any], list[Any]]:
    """Return the parameters of a command that name files to read, and those to write."""
    named = [
        one
        for one in command.params
        if not getattr(one, "hidden", False)
        and ("Path" in str(one.type_descriptor.annotation) or one.name in TABLES)
    ]
    return [one for one in named if one.name not in WRITTEN], [one for one in named if one.name in WRITTEN]


def line(words: str, command: Any, given: dict[str, str]) -> list[str]:
    """Return a command line with these files, by the names of their parameters.

    What it must have beside them is called ``needed``, or ``new`` where it is written.
    """
    places, options = [], []
    for one in command.params:
        needed = "new" if one.name in WRITTEN else "needed"
        value = given.get(one.name, needed if one.required else None)
        if value is None:
            continue
        if called(one).startswith("-"):
            options += [called(one), value]
        else:
            places.append(value)
    return [*words.split(), *places, *options]
