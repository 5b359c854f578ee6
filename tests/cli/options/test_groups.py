"""Options in groups, as a command has them."""

from dataclasses import dataclass
from typing import Annotated

import typer

from shortlist.cli.options.groups import grouped
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
