"""Result rows: what was measured, on which machine, with which versions."""

import csv
import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shortlist_papers.tables import listed_versions, processor

RESULTS = Path(__file__).parent / "results"


def row_facts() -> dict[str, str]:
    """Return the day, the processor and the versions, as every row of results has them."""
    return {
        "day": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "processor": processor(),
        "versions": listed_versions(),
    }


def write_rows(name: str, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows to `results/NAME.csv`, each with the day, the processor and the versions."""
    facts = row_facts()
    full = [dict(row) | facts for row in rows]
    columns = list(dict.fromkeys(column for row in full for column in row))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(full)
    return path
