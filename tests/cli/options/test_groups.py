"""Options in groups, as a command has them."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from shortlist.cli.options.groups import excludes, grouped, needs, refuse_unused
from shortlist.errors import BadInputError
from tests.cli.command_lines import commands


@dataclass(frozen=True)
class Size:
    rows: Annotated[int, typer.Option(help="How many rows.")]
    columns: int = 3


def test_fields_are_options_where_the_group_stands_and_come_back_as_the_group() -> None:
    seen = []

    @grouped
    def command(table: str, *, first: int = 0, size: Size, last: bool = False) -> None:
        seen.append((table, first, size, last))

    app = typer.Typer()
    app.command()(command)
    click = typer.main.get_command(app)
    assert [one.name for one in click.params][:5] == ["table", "first", "rows", "columns", "last"]
    assert click.params[2].required
    click.main(["t.csv", "--rows", "7", "--last"], standalone_mode=False)
    assert seen == [("t.csv", 0, Size(7, 3), True)]


def test_no_command_has_two_options_of_one_name() -> None:
    for words, command in commands().items():
        names = [one.name for one in command.params]
        assert len(names) == len(set(names)), words


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
