"""What `shortlist compare` tells of methods that were measured on one table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.output import json_records

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.tables.learning import LearningTable


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


class Column(NamedTuple):
    """A measure as people read it: heading, width, digits, and what stands for a missing one."""

    measure: str
    heading: str
    width: int
    digits: str
    missing: str = ""

    def cell(self, value: float) -> str:
        """Return a value as wide as the column."""
        return f"{self.missing if math.isnan(value) else format(value, self.digits):>{self.width}}"


@dataclass(frozen=True)
class Told:
    """What is told of one kind of methods."""

    unit: str
    rows: str
    """What units are counted as, ``fold`` or ``seed``, and what the results of all are called."""
    how: str
    """What stands behind their number."""
    first: str
    """Heading of the methods, as wide as their column."""
    columns: tuple[Column, ...]
    """The measures."""
    below: tuple[str, ...]
    """Sentences below the table."""
    meaning: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    """What JSON says before the methods, and behind them."""


@dataclass(frozen=True)
class TableComparison:
    """Methods that were measured on folds or splits of one table."""

    table: str
    """What the table is called."""
    results: "pd.DataFrame"
    means: "pd.DataFrame"
    """A row per unit and method, and a row per method."""
    n_wanted: int
    """Units that were asked for."""
    seconds: float
    """What the comparison took."""
    told: Told
    """What is told of such methods."""

    @property
    def n_done(self) -> int:
        """Units in which every method was measured."""
        return int(self.means[f"n_{self.told.unit}s"].iloc[0])

    def facts(self, out: Path | None, study: Path | None) -> dict[str, Any]:
        """Return the contract of every command, and what only a comparison has."""
        return {
            "command": "compare",
            "method": "comparison",
            "status": "feasible",
            "seconds": self.seconds,
            "limit": "interrupted" if self.n_done < self.n_wanted else "",
            "table": self.table,
            f"n_{self.told.unit}s": self.n_done,
            f"n_{self.told.unit}s_wanted": self.n_wanted,
            **self.told.meaning,
            "methods": json_records(self.means),
            **self.told.more,
            self.told.rows: json_records(self.results),
            "out": None if out is None else str(out),
            "study": None if study is None else str(study),
        }

    def print(self, out: Path | None) -> None:
        """Print the table for people."""
        told, rows = self.told, self.told.rows
        if self.n_done < self.n_wanted:
            print(f"Stopped after {self.n_done} of {self.n_wanted} {rows}.")
        print(f"{self.table}: {self.n_done} {rows}{told.how}.\n")
        print(told.first + "".join(f"{column.heading:>{column.width}}" for column in told.columns))
        for row in self.means.to_dict("records"):
            cells = "".join(column.cell(row[column.measure]) for column in told.columns)
            print(f"{row['method']:<{len(told.first)}}{cells}")
        print()
        for sentence in told.below:
            print(sentence)
        if out is not None:
            print(f"Every {rows.removesuffix('s')} in {out}.")
