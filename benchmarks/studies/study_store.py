"""What studies cost: the share of a run whose units last 50 ms, and a study of a million units.

python -m benchmarks study-overhead study-million
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist.runs import Finished, Unit, Work, open_study, run_units
from shortlist.runs.studies.summary import summary

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


def million(n_units: int = 1_000_000, batch: int = 1000) -> Iterator[dict[str, Any]]:
    """Record a million units, and time opening and showing the study."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.db")
        start = time.process_time()
        with open_study(path) as study:
            for first in range(0, n_units, batch):
                study.record(
                    *[Finished(f"table/{n % 10}/{n}/uwa", {"accuracy": n / n_units, "size": 7}, 0.05, "here")
                      for n in range(first, first + batch)]
                )  # fmt: skip
        yield {"case": "million", "what": "recording", "seconds": time.process_time() - start}
        start = time.process_time()
        found = summary(path)
        yield {"case": "million", "what": "show", "seconds": time.process_time() - start, "units": found.n_done,
               "megabytes": found.size / 1e6}  # fmt: skip
        start = time.process_time()
        with open_study(path) as study:
            opened = time.process_time() - start
            n_results = len(study.results())
        yield {"case": "million", "what": "opening with its check", "seconds": opened, "units": n_results}
