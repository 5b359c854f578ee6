"""Rows that measure a choice: rows of another file, a part of the table, or all rows by repeated choice."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from shortlist._validation import AUTO
from shortlist.arrays import Labels
from shortlist.results.intervals import MARGIN
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import RowNumbers

PAPER = "paper"
"""Protocol of the papers, with a part of the table held out."""

PROTOCOLS = (AUTO, PAPER)


class TableRows(NamedTuple):
    """Features and classes of some rows."""

    X: Any
    y: Labels

    def some(self, rows: RowNumbers) -> "TableRows":
        """Return the features and classes of the rows with the given numbers."""
        return TableRows(take_rows(self.X, rows), self.y[rows])


@dataclass(frozen=True)
class Measuring:
    """Rows that measure a table's choice, and the rule of the saved model.

    `protocol`: ``auto`` or ``paper``. `test`: rows outside the table. `margin`: margin in the objective
    within which a worse value counts as good. `take`: rule whose model is saved, such as ``best_single``; by
    default the recommended rule.
    """

    protocol: str = AUTO
    test: TableRows | None = None
    margin: float = MARGIN
    take: str = AUTO
