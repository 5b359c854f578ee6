"""Report of `shortlist compare` on methods that were measured on one table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.output import json_records, print_fitted

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.tables.learning import LearningTable

MOST_METHODS = 12
"""Largest number of methods on the first screen."""


@dataclass
class TableQuestion:
    """Comparison on a table: its rows, the requirements on all methods, and the files of the answer."""

    file: str
    """Name of the file in reports."""
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
    details: bool
    json: bool
    notes: list[str]
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the table in results and studies: the name of its file without endings."""
        return self.file.split(".")[0]


class Column(NamedTuple):
    """Column of a measure: heading, width, format of digits, and text of a missing value."""

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
    """Report of one kind of methods."""

    unit: str
    rows: str
    """Unit of repetition, ``fold`` or ``seed``, and the name of several units in reports."""
    how: str
    """Text after the number of units."""
    first: str
    """Heading of the column of methods, in its full width."""
    columns: tuple[Column, ...]
    """Columns of the measures."""
    below: tuple[str, ...]
    """Sentences below the table."""
    details: tuple[str, ...]
    """Sentences on the meaning of the columns."""
    by: str
    """Order of the methods, in words."""
    caution: str
    """Sentence of caution about the order of the methods."""
    meaning: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    """JSON entries before the methods, and after them."""


@dataclass(frozen=True)
class TableComparison:
    """Methods that were measured on folds or splits of one table."""

    table: str
    """Name of the table."""
    results: "pd.DataFrame"
    means: "pd.DataFrame"
    """Rows per unit and method, and rows per method."""
    n_wanted: int
    """Number of requested units."""
    seconds: float
    """Duration of the comparison, in seconds."""
    told: Told
    """Report of such methods."""

    @property
    def n_done(self) -> int:
        """Number of units in which every method was measured."""
        return int(self.means[f"n_{self.told.unit}s"].iloc[0])

    def facts(self, out: Path | None, study: Path | None) -> dict[str, Any]:
        """Return the facts that every command has, and the facts of a comparison."""
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

    def print(self, out: Path | None, report: Path | None = None, *, details: bool = False) -> None:
        """Print the first method, the table best first, and the files; with details all methods."""
        told, rows = self.told, self.told.rows
        how = f"{self.table}: {self.n_done} {rows}{told.how}."
        head = told.first + "".join(f"{column.heading:>{column.width}}" for column in told.columns)
        methods = [
            f"{row['method']:<{len(told.first)}}"
            + "".join(column.cell(row[column.measure]) for column in told.columns)
            for row in self.means.to_dict("records")
        ]
        done = self.n_done >= self.n_wanted
        stopped = [] if done else [f"Stopped after {self.n_done} of {self.n_wanted} {rows}."]
        below = [*(["", *told.details] if details else []), *told.below, *stopped]
        below += [] if out is None else [f"Every {rows.removesuffix('s')} in {out}."]
        below += [] if report is None else [f"Report in {report}."]
        if not details:
            keeps = "" if out else f"--out FILE.parquet keeps every {told.unit}; "
            below.append(f"Next: {keeps}--details says what the columns mean.")
        first = [self._answer(), told.caution, "", how, head]
        print_fitted(first, methods, ["", *below], most=MOST_METHODS + 1, details=details)

    def _answer(self) -> str:
        """Return a sentence on the first method and the next one."""
        column = self.told.columns[0]
        best, *others = self.means.to_dict("records")
        accuracy = f"{best['accuracy']:.4f}"
        if not others:
            return f"Measured {best['method']} alone: accuracy {accuracy}."
        after = f"{others[0]['method']}: {column.cell(others[0][column.measure]).strip()}"
        value = column.cell(best[column.measure]).strip()
        return (
            f"First of {len(self.means):,} methods by {self.told.by}: {best['method']}, {value}, with "
            f"accuracy {accuracy}. Next is {after}, with accuracy {others[0]['accuracy']:.4f}."
        )
