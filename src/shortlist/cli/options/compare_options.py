"""What `shortlist compare` is asked: how often methods run, and what they are compared on."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.settings import Fills
from shortlist.cli.options.shared import TableOptions

if TYPE_CHECKING:
    from shortlist.tables.learning import LearningTable


@dataclass(frozen=True)
class ComparedTable(TableOptions):
    """How a table is read, and what its columns cost."""

    costs: Annotated[
        Path | None,
        typer.Option(help="CSV with the prices of judges, as for prune, or of features, as for stage."),
        Fills("member_costs", "feature_costs"),
    ] = None


@dataclass(frozen=True)
class SeedOptions:
    """How often methods run."""

    seeds: Annotated[
        int | None,
        "Runs of each evolutionary method (default 30), or splits of the table for stages (10), with seeds "
        "from --seed on.",
    ] = None


@dataclass(frozen=True)
class AskedOfBoth:
    """What may be asked of a table too, as of a model."""

    objectives: str | None = None
    limit: list[str] | None = None


@dataclass
class TableQuestion:
    """What is compared on a table: its rows, what was asked of all methods, and where the answer goes."""

    name: str
    learning: "LearningTable"
    dropped: tuple[str, ...]
    costs: Path | None
    objectives: str | None
    limit: list[str]
    time_limit: float | None
    seeds: int | None
    seed: int
    workers: int | str
    out: Path | None
    report: Path | None
    json: bool
    notes: list[str]
    about: dict[str, Any] = field(default_factory=dict)
