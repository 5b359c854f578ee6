"""What commands print alike."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.options.arguments import as_typed
from shortlist.cli.text.delivery import complain

if TYPE_CHECKING:
    import pandas as pd
    import typer


warned: list[str] = []
"""Warnings of the run so far, each once, which JSON has under ``notes``."""


def warn(message: str) -> None:
    """Say a warning of the library as a note, once."""
    note = as_typed(message)
    if note not in warned:
        warned.append(note)
        complain(f"note: {note}")


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout; infinity and NaN do not exist in JSON and must be None by now."""
    if "notes" in facts:
        facts |= {"notes": list(dict.fromkeys([*map(as_typed, facts["notes"]), *warned]))}
    print(json.dumps(facts, indent=2, allow_nan=False))


def print_notes(notes: Sequence[str]) -> None:
    """Print what a user should know beside the answer, a line each on stderr.

    A command's JSON has the same sentences under ``notes``.
    """
    for note in notes:
        complain(f"note: {as_typed(note)}")


def finite(number: float) -> float | None:
    """Return the number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None


def json_records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, which has no NaN."""
    return [
        {name: value if value == value else None for name, value in row.items()}  # noqa: PLR0124  # not NaN
        for row in frame.to_dict("records")
    ]


def run_facts(context: "typer.Context") -> dict[str, Any]:
    """Return what a command's JSON says of the run: version, seed and every option as it was used."""
    from shortlist import __version__
    from shortlist.cli.options.settings import read_settings, settings_of
    from shortlist.cli.options.unused import typed_name

    given = read_settings(context.params.get("settings"), settings_of(context.command))
    hidden = {one.name for one in context.command.params if getattr(one, "hidden", False)}
    options = {
        typed_name(context, name).removeprefix("--set ").lstrip("-"): _typed_value(value)
        for name, value in (given | context.params).items()
        if name not in {"json", "settings"} and name not in hidden
    }
    return {"version": __version__, "seed": context.params.get("seed"), "options": options}


def _typed_value(value: Any) -> Any:
    """Return an option's value as JSON can have it: paths as texts."""
    if isinstance(value, list | tuple):
        return [_typed_value(one) for one in value]
    return str(value) if isinstance(value, Path) else value
