"""The one clock."""

from shortlist.runs import Budget
from shortlist.runs.clock import processor_seconds, seconds_now


def test_seconds_never_go_back() -> None:
    seen = [seconds_now() for _ in range(100)]
    assert seen == sorted(seen)


def test_a_budget_begins_on_the_same_clock() -> None:
    before = seconds_now()
    start = Budget(60).start
    assert before <= start <= seconds_now()


def test_work_takes_processor_seconds() -> None:
    start = processor_seconds()
    while processor_seconds() == start:
        sum(range(1000))
    assert processor_seconds() > start
