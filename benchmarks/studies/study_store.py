"""Costs of studies: the share of a run whose units last 50 ms, and a study of a million units.

python -m benchmarks study-overhead study-million
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist.runs import Finished, Unit, Work, open_study, run_units
from shortlist.runs.study_file import summary

UNIT_S = 0.05
RESULT = {"points": [[i, i + 1, i + 2] for i in range(20)], "seconds": 0.05, "proof": "nondominated"}


def busy(number: int) -> dict[str, Any]:
    """Use the processor for a unit's time, and return a result of some hundred bytes."""
    end = time.thread_time() + UNIT_S
    while time.thread_time() < end:
        pass
    return RESULT | {"number": number}


def overhead(n_units: int = 100, n_repeats: int = 5) -> Iterator[dict[str, Any]]:
    """Compare the processor time of a run with a study and without, in turns within one process."""
    units = [Unit(f"unit {number}", busy, (number,)) for number in range(n_units)]
    shares = []
    for repeat in range(n_repeats):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            list(run_units(units, Work()))
            without = time.process_time() - start
            start = time.process_time()
            with open_study(Path(folder, "s.db")) as study:
                list(run_units(units, Work(study=study)))
            with_study = time.process_time() - start
        shares.append(with_study / without - 1)
        yield {"case": "overhead", "repeat": repeat, "share": shares[-1]}
    yield {"case": "overhead", "repeat": "median", "share": statistics.median(shares)}


def million(n_units: int = 1_000_000, batch: int = 1000, n_single: int = 20_000) -> Iterator[dict[str, Any]]:
    """Record a million units, and time recording one at a time, showing the study and opening it.

    Seconds are those on the clock and those of the processor.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.db")
        with open_study(path) as study:
            start = _Clocks()
            for first in range(0, n_units - n_single, batch):
                study.record(*(_unit(number, n_units) for number in range(first, first + batch)))
            yield {"what": "recording, a thousand at a time", "units": n_units - n_single, **start.since()}
            start = _Clocks()
            for number in range(n_units - n_single, n_units):
                study.record(_unit(number, n_units))
            yield {"what": "recording, one at a time", "units": n_single, **start.since()}
        start = _Clocks()
        found = summary(path)
        yield {"what": "show", "units": found["n_done"], **start.since(), "megabytes": found["bytes"] / 1e6}
        start = _Clocks()
        with open_study(path) as study:
            yield {"what": "opening with its check", "units": found["n_done"], **start.since()}
            start = _Clocks()
            yield {"what": "reading all results", "units": len(study.results()), **start.since()}


def _unit(number: int, n_units: int) -> Finished:
    """Return a unit such as a fold's."""
    result = {"accuracy": number / n_units, "size": 7}
    return Finished(f"table/{number % 10}/{number}/uwa", result, 0.05, "here")


class _Clocks:
    """Seconds since it was made, on the clock and of the processor."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def since(self) -> dict[str, float]:
        """Return both."""
        now = time.perf_counter(), time.process_time()
        return {"seconds": now[0] - self._start[0], "processor_s": now[1] - self._start[1]}
