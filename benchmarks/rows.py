"""Result rows: what was measured, on which machine, with which versions."""

import csv
import datetime as dt
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("highspy", "moocore", "numba", "numpy", "ortools", "oxidd", "pyscipopt", "scikit-learn")


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def versions() -> str:
    """List the versions of Python and of what the figures depend on."""
    packages = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return "; ".join([f"Python {platform.python_version()}", *packages])


def write_rows(name: str, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows to `results/NAME.csv`, each with the day, the processor and the versions."""
    facts = {
        "day": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "processor": processor(),
        "versions": versions(),
    }
    full = [dict(row) | facts for row in rows]
    columns = list(dict.fromkeys(column for row in full for column in row))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(full)
    return path
