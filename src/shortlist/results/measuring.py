"""Rows that measure: those of a file of their own, a part of the table, or all of it by repeated choice."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from shortlist._validation import AUTO
from shortlist.arrays import Labels
from shortlist.results.intervals import MARGIN
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import RowNumbers

PAPER = "paper"
"""Protocol of the papers: a part of the table is held out."""

PROTOCOLS = (AUTO, PAPER)


class TableRows(NamedTuple):
    """Features and classes of some rows."""

    X: Any
    y: Labels

    def some(self, rows: RowNumbers) -> "TableRows":
        """Return some of the rows."""
        return TableRows(take_rows(self.X, rows), self.y[rows])


@dataclass(frozen=True)
class Measuring:
    """Rows that measure a table's choice, and the model that is saved.

    `protocol`: ``auto`` or ``paper``. `test`: rows that the table does not hold. `margin`: how much worse
    still is as good, in the objective. `take`: rule whose model is saved, such as ``best_single``; by
    default the one that the advice names.
    """

    protocol: str = AUTO
    test: TableRows | None = None
    margin: float = MARGIN
    take: str = AUTO
