"""Options of ``shortlist verify``, for a recheck of a model and of a front."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from shortlist.cli.options.shared import POOL, SECONDS_HELP, Trust, output

WholePool: TypeAlias = Annotated[
    Path | None,
    typer.Option(help=f"{POOL}: the whole pool, to compute all votes again."),
]


@dataclass(frozen=True)
class EnsembleCheck:
    """The check of a pruned ensemble."""

    pool: WholePool = None
    certificate: Annotated[Path | None, output("the certificate as .json.")] = None
    trust: Trust = False


@dataclass(frozen=True)
class FrontRecheck:
    """The check of a front."""

    pruned: Annotated[
        Path | None,
        typer.Option(
            help="Model that shortlist prune wrote together with the front of committees; it holds all votes "
            "on the pruning rows."
        ),
    ] = None
    pool: WholePool = None
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            help="Table with a column feature, if it has moved since shortlist configure read it; may be "
            "repeated."
        ),
    ] = None
    time_limit: Annotated[float | None, typer.Option(help=f"{SECONDS_HELP}; by default there is none.")] = (
        None
    )
    trust: Trust = False


KINDS: dict[str, tuple[type, ...]] = {"a model": (EnsembleCheck,), "a front": (FrontRecheck,)}
"""Kinds of recheck, with the dataclasses whose options each kind uses."""
