"""Answers of commands: notes, facts for JSON or lines for people, and the exit code."""

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
    """Answer of a command, in both of its forms."""

    facts: dict[str, Any] | Callable[[], dict[str, Any]]
    """Facts for JSON, or a function that returns them; paths are written as texts."""
    show: Sequence[str] | Callable[[], object] = ()
    """Lines for people, or a function that prints them."""
    notes: Sequence[str] = ()
    """Notes that have not been printed yet."""
    last: Sequence[str] = ()
    """Lines for people behind the others, on the files that were written."""
    exit_code: int = 0
    error: Exception | None = None
    """Error that ends the command once the answer is printed."""


def answers(command: Callable[..., CommandAnswer]) -> Callable[..., None]:
    """Return a command that takes ``--json`` and prints its answer in one of both forms.

    `command`: reads its options, does the work, and writes the files. It may take `context` and `json`, too.
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

    JSON has the facts, with the name of the command, every note of the run, and the options as they were
    used.
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
    """Return the line on a written file, if there is one."""
    return [] if out is None else [f"Written: {out}, {what}."]


def written_page(page: Path | None) -> list[str]:
    """Return the line on a written page, if there is one."""
    return [] if page is None else [f"Report in {page}."]
