"""Budgets: one clock, parts of it, and limits that are always the user's."""

import dataclasses
import math

import pytest

from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import LEAST_SECONDS, Budget, processor_seconds, seconds_now


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_part_ends_at_its_part_of_the_whole_and_speaks_of_the_whole(clock: Clock) -> None:
    part = Budget(10, clock=clock).until(0.25)

    clock.now = 52.4
    assert (part.expired, part.stopped, part.limit_text) == (False, False, "")
    assert part.left == pytest.approx(0.1)
    clock.now = 52.5
    assert (part.expired, part.stopped, part.limit_text) == (True, True, "10 s")
    assert part.left == LEAST_SECONDS


def test_a_share_is_of_what_is_left(clock: Clock) -> None:
    whole = Budget(10, clock=clock)
    clock.now = 54.0

    assert whole.share(0.5).deadline == pytest.approx(57.0)
    assert whole.until(0.8).share(0.5).deadline == pytest.approx(56.0)


def test_a_part_of_a_part_never_ends_later(clock: Clock) -> None:
    assert Budget(10, clock=clock).until(0.2).until(0.9).deadline == pytest.approx(51.8)


def test_parts_of_a_share_are_counted_from_where_it_begins(clock: Clock) -> None:
    whole = Budget(10, clock=clock)
    clock.now = 54.0

    assert whole.share(0.5).until(0.1).deadline == pytest.approx(54.3)
    assert whole.share(0.5).until(1.0).deadline == pytest.approx(57.0)


def test_a_budget_that_is_begun_again_has_all_of_its_time(clock: Clock) -> None:
    whole = Budget(10, clock=clock).until(0.5)
    clock.now = 54.0

    assert (whole.deadline, whole.begun().deadline, whole.begun().elapsed) == (55.0, 59.0, 0.0)


def test_under_a_limit_in_nodes_a_part_may_take_all_the_time(clock: Clock) -> None:
    counted = Budget(10, nodes=5, clock=clock)

    assert counted.until(0.1).deadline == counted.deadline == 60.0
    assert counted.is_counted


@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_without_a_limit_nothing_expires(clock: Clock, part: float) -> None:
    endless = Budget(clock=clock)
    clock.now = 1e12

    assert endless.is_counted
    assert endless.until(part).deadline == math.inf
    assert endless.share(part).deadline == math.inf
    assert not endless.stopped


def test_no_time_at_all_is_over_at_once(clock: Clock) -> None:
    nothing = Budget(0, clock=clock)

    assert nothing.expired
    assert nothing.share(0.5).expired
    assert nothing.limit_text == "0 s"


def test_an_interruption_comes_before_the_clock(clock: Clock) -> None:
    cancellation = Cancellation()
    budget = Budget(10, cancellation=cancellation, clock=clock)
    clock.now = 100.0
    cancellation.cancel()

    assert budget.stopped
    assert budget.limit_text == budget.until(0.5).limit_text == "interrupted"


def test_what_is_told_has_the_time_of_the_whole(clock: Clock) -> None:
    told: list[Progress] = []
    part = Budget(10, report=told.append, clock=clock).until(0.5)
    clock.now = 53.0

    part.tell("proving", value=0.5, bound=0.75)
    dataclasses.replace(part, seconds=math.inf).tell("searching")

    assert told == [Progress("proving", 3.0, 10, 0.5, 0.75, "s"), Progress("searching", 3.0, unit="s")]


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
