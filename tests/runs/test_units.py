"""Units of work."""

import operator

import pytest

from shortlist.runs import Cancellation, Progress, Unit, Work, run_units

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
