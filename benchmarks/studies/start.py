"""Cost of a short command from start to end: processor time of a process of its own, imports included.

python -m benchmarks start
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist.tables.learning import read_table

N_RUNS = 5
FITS = {
    "prune": ["--classifiers", "100", "--time-limit", "10"],
    "stage": [
        "--drop",
        "mean smoothness",
        "--set",
        "max-stages=2",
        "--method",
        "emsco",
        "--set",
        "generations=20",
    ],
    "evolve": ["--set", "generations=10", "--set", "population=100"],
}
"""The commands that fit a model, and what makes them end soon."""


def starts() -> Iterator[dict[str, Any]]:
    """Measure ``predict`` of 20 rows for a model of each kind, and every way to name a file that is not there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read_table("example:breast-cancer").head(20).drop(columns="target").to_csv(folder / "new.csv")
        for command, options in FITS.items():
            _run(folder, command, "example:breast-cancer", "--out", f"{command}.joblib", *options)
        cases = {
            f"predict with a model of {command}": ["predict", f"{command}.joblib", "new.csv"]
            for command in FITS
        }
        cases |= {f"{command} without its table": [command, "missing.csv"] for command in FITS}
        cases |= {
            "predict without its table": ["predict", "prune.joblib", "missing.csv"],
            "predict without its model": ["predict", "missing.joblib", "new.csv"],
            "configure without its model": ["configure", "missing.uvl"],
            "front show without its front": ["front", "show", "missing.parquet"],
            "help": ["--help"],
        }
        for case, arguments in cases.items():
            seconds = [_run(folder, *arguments) for _ in range(N_RUNS)]
            yield {"case": case, "median_cpu_s": statistics.median(seconds), "min_cpu_s": min(seconds)}


def _run(folder: Path, *arguments: str) -> float:
    """Run the command, and return the seconds of processor time that it took."""
    command = [sys.executable, "-m", "shortlist", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == (2 if any("missing" in one for one in arguments) else 0), arguments
    return usage.ru_utime + usage.ru_stime
