"""Options that a command would ignore."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from shortlist.cli.options.groups import grouped
from shortlist.cli.options.unused import excludes, needs, refuse_unused
from shortlist.errors import BadInputError

ALL = needs("methods", "all")


@dataclass(frozen=True)
class One:
    folds: Annotated[int, typer.Option(), ALL] = 10
    repeats: Annotated[int, typer.Option("--repeats", "-r"), ALL] = 1
    trust: Annotated[bool, typer.Option("--trust"), excludes("methods")] = False


@dataclass(frozen=True)
class Front:
    pick: str = "ideal"


KINDS: dict[str, tuple[type, ...]] = {"one": (One,), "--objectives": (Front,)}


@grouped
def command(context: typer.Context, *, methods: str | None = None, one: One, front: Front) -> None:
    refuse_unused(context, KINDS, "one")
    print("ran", methods, one, front)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--folds", "5"], "--folds belongs to `methods`. Leave it out, or add `methods='all'`."),
        (["--folds", "10"], "--folds belongs to `methods`. Leave it out, or add `methods='all'`."),
        (
            ["-r", "2", "--folds", "5"],
            "--folds and --repeats belong to `methods`. Leave them out, or add `methods='all'`.",
        ),
        (["--methods", "all", "--trust"], "--trust belongs to a run without `methods`. Leave it out."),
        (["--methods", "all", "--folds", "10"], None),
        (["--trust"], None),
        (["--pick", "knee"], "--pick belongs to --objectives. Leave it out."),
        ([], None),
    ],
)
def test_given_options_that_nothing_uses_are_refused_also_when_they_equal_the_default(
    arguments: list[str], message: str | None
) -> None:
    app = typer.Typer()
    app.command()(command)
    ran = CliRunner().invoke(app, arguments)
    if message is None:
        assert ran.stdout.startswith("ran")
    else:
        assert isinstance(ran.exception, BadInputError)
        assert str(ran.exception) == message
