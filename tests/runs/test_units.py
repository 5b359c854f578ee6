"""Units of work."""

import operator
import threading
import warnings
from unittest.mock import patch

import pytest
from joblib import parallel_config

from shortlist.runs import Cancellation, Progress, Unit, Work, run_units, workers

UNITS = [Unit(f"square {i}", operator.mul, (i, i)) for i in range(6)]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_order_whatever_the_number_of_workers(n_jobs: int) -> None:
    events: list[Progress] = []

    results = list(run_units(UNITS, Work(n_jobs, report=events.append), stage="squares"))

    assert results == [(f"square {i}", i * i) for i in range(6)]
    assert [(event.stage, event.done, event.total) for event in events] == [
        ("squares", i, 6) for i in range(7)
    ]


def test_a_cancellation_starts_nothing_more() -> None:
    cancellation = Cancellation()
    done = []
    for key, _ in run_units(UNITS, Work(cancellation=cancellation)):
        done.append(key)
        if len(done) == 2:
            cancellation.cancel()
    assert done == ["square 0", "square 1"]


def test_an_error_in_a_unit_reaches_the_caller() -> None:
    results = run_units([UNITS[2], Unit("broken", operator.truediv, (1, 0))])
    assert next(results) == ("square 2", 4)
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_who_leaves_early_waits_for_what_runs_and_hears_nothing_of_the_rest() -> None:
    left, begun, ended = threading.Event(), [], []

    class Leaving(Cancellation):
        def cancel(self) -> None:
            super().cancel()
            left.set()

    def slow(number: int) -> None:
        begun.append(number)
        if number:
            left.wait()
        ended.append(number)

    units = [Unit(str(i), slow, (i,)) for i in range(40)]
    with (
        parallel_config(backend="threading"),
        patch.object(workers, "Cancellation", Leaving),
        warnings.catch_warnings(action="error"),
    ):
        for key, _ in run_units(units, Work(2)):
            assert key == "0"
            break
    assert sorted(begun) == sorted(ended)
    assert len(ended) <= 3
