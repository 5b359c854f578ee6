"""The command `shortlist`."""

import sys
from typing import Annotated

import typer

from shortlist import __version__
from shortlist.cli import front, model
from shortlist.cli.arguments import in_options
from shortlist.cli.compare import compare
from shortlist.cli.configure import configure
from shortlist.cli.evolve import evolve
from shortlist.cli.predict import predict
from shortlist.cli.prune import prune
from shortlist.cli.stage import stage
from shortlist.cli.verify import verify
from shortlist.errors import ShortlistError

app = typer.Typer(
    name="shortlist",
    help="Choose well when several things matter at once, with proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes longer to import than --help should take
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(prune)
app.command()(evolve)
app.command()(predict)
app.command()(verify)
app.command()(configure)
app.command()(compare)
app.command()(stage)
app.add_typer(front.app, name="front")
app.add_typer(model.app, name="model")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"shortlist {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Choose well when several things matter at once, with proof."""


def run() -> None:
    """Run the command line; an error raised on purpose is one sentence on stderr and exit code 2."""
    try:
        app()
    except ShortlistError as error:
        print(f"shortlist: {in_options(str(error))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("shortlist: interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)
