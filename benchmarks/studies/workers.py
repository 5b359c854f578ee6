"""What workers cost per unit, and how much faster two are than one: processes here, or a cluster.

    python -m benchmarks.studies.workers [tcp://scheduler:8786]

Each round times one and two workers in turn, so that what else the machine does hits both; rows hold every round, with
the processor's load. A cluster must have as many workers as it is measured with: start it with one and with two.
"""

import csv
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist.runs import Unit
from shortlist.runs.workers import Where, open_workers

RESULTS = Path(__file__).parents[1] / "results" / "workers.csv"
COLUMNS = ("units", "milliseconds_each", "where", "n_workers", "round", "seconds", "load", "cores")
ROUNDS = 3


def spin(rows: NDArray[np.float64], milliseconds: float) -> float:
    """Compute for so much processor time."""
    end = time.process_time() + milliseconds / 1000
    found = 0.0
    while time.process_time() < end:
        found += float(rows[:1000].sum())
    return found


def timed(where: Where, n_units: int, milliseconds: float) -> tuple[int, float]:
    """Return the number of workers, and the seconds that units take once the workers are there."""
    rows = np.arange(1e6)
    warm = [Unit(str(i), spin, (rows, 1.0)) for i in range(16)]
    units = [Unit(str(i), spin, (rows, milliseconds)) for i in range(n_units)]
    with open_workers(where) as workers:
        list(workers.completed(warm))
        start = time.perf_counter()
        ended = list(workers.completed(units))
        assert len(ended) == n_units
        return workers.n_workers, time.perf_counter() - start


def main(addresses: list[str]) -> None:
    places: list[Where] = [*addresses] or [1, 2]
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file)
        if not file.tell():
            writer.writerow(COLUMNS)
        for n_units, milliseconds in ((2000, 0.0), (400, 10.0), (40, 200.0)):
            for number in range(ROUNDS):
                for where in places:
                    n_workers, seconds = timed(where, n_units, milliseconds)
                    kind = "cluster" if isinstance(where, str) else "here"
                    row = (n_units, milliseconds, kind, n_workers, number, round(seconds, 4))
                    writer.writerow([*row, round(os.getloadavg()[0], 1), os.cpu_count()])
                    file.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
