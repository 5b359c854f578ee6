"""Answer of a command: notes, facts for JSON or lines for people, and an exit code."""

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from shortlist.cli.options.shared import Json
from shortlist.cli.text.output import print_json, print_lines, print_notes, run_facts

CONTEXT = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
JSON = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)


class CommandAnswer(NamedTuple):
    """Answer of a command, as facts for JSON and as lines for people."""

    facts: dict[str, Any] | Callable[[], dict[str, Any]]
    """Facts for JSON, or a function that returns them; paths are written as texts."""
    show: Sequence[str] | Callable[[], object] = ()
    """Lines for people, or a function that prints lines for people."""
    notes: Sequence[str] = ()
    """Notes that have not been printed yet."""
    last: Sequence[str] = ()
    """Lines for people on the written files; printed after all other lines."""
    exit_code: int = 0
    error: Exception | None = None
    """Error that ends the command after the answer is printed."""


def answers(command: Callable[..., CommandAnswer]) -> Callable[..., None]:
    """Return a command that takes ``--json`` and prints its answer as JSON or for people.

    `command`: reads its options, does the work, writes the files, and returns the answer. It may also take
    `context` and `json`.
    """
    taken = inspect.signature(command).parameters

    @functools.wraps(command)
    def run(context: typer.Context, *, json: bool, **given: Any) -> None:
        own = {"context": context, "json": json}
        given |= {name: value for name, value in own.items() if name in taken}
        print_answer(command(**given), context, json=json)

    flat = [CONTEXT, *(one for name, one in taken.items() if name not in {"context", "json"}), JSON]
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # a function takes any
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run


def print_answer(answer: CommandAnswer, context: typer.Context, *, json: bool) -> None:
    """Print an answer, and end the command by its error or its exit code.

    The JSON holds the facts, the name of the command, every note of the run, and the value of every option.
    """
    print_notes(answer.notes)
    if json:
        facts = answer.facts() if callable(answer.facts) else answer.facts
        name = context.command_path.partition(" ")[2]
        print_json({"command": name, **facts, "notes": [], **run_facts(context)} | facts)
    else:
        answer.show() if callable(answer.show) else print_lines(answer.show)
        for line in answer.last:
            print(line)
    if answer.error is not None:
        raise answer.error
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)


def written(out: Path | None, what: str) -> list[str]:
    """Return a line on a written file as a list; an empty list if there is no file."""
    return [] if out is None else [f"Written: {out}, {what}."]


def written_page(page: Path | None) -> list[str]:
    """Return a line on a written page as a list; an empty list if there is no page."""
    return [] if page is None else [f"Report in {page}."]
