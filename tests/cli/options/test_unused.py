"""Options that a command would ignore."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from shortlist.cli.options.unused import Use, refuse_unused
from shortlist.errors import BadInputError

USES = (
    Use(("folds", "n_repeats"), lambda given: given["methods"] is not None, "--methods", "add --methods all"),
    Use(("trust",), lambda given: given["methods"] is None, "a pool from a file"),
)


def command(
    context: typer.Context,
    *,
    methods: str | None = None,
    folds: int = 10,
    n_repeats: Annotated[int, typer.Option("--repeats", "-r")] = 1,
    trust: Annotated[bool, typer.Option("--trust")] = False,
) -> None:
    refuse_unused(context, USES)
    print("ran", methods, folds, n_repeats, trust)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--folds", "5"], "--folds belongs to --methods. Leave it out, or add --methods all."),
        (["--folds", "10"], "--folds belongs to --methods. Leave it out, or add --methods all."),
        (
            ["-r", "2", "--folds", "5"],
            "--folds and --repeats belong to --methods. Leave them out, or add --methods all.",
        ),
        (["--methods", "all", "--trust"], "--trust belongs to a pool from a file. Leave it out."),
        (["--methods", "all", "--folds", "10"], None),
        (["--trust"], None),
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
