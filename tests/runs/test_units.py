"""Units of work: their order, those that count only whole, and the time that is left."""

import itertools
import operator
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from joblib import parallel_config

from shortlist.runs import (
    NO_STUDY,
    Budget,
    Cancellation,
    Finished,
    Progress,
    Unit,
    Work,
    cancel_on_interrupt,
    open_study,
    run_units,
    workers,
)
from shortlist.runs.cancellation import STILL_STOPPING, STOPPING
from shortlist.runs.units import Unfinished, UnitGivenUp, run_whole


def square(number: int, *, budget: Budget) -> int:
    assert not budget.stopped
    return number * number


def until_stopped(seen: Path, *, budget: Budget) -> str:
    """Go on until the budget says that it is time to stop, and return something half done."""
    begun_of(seen).touch()
    while not budget.stopped:
        time.sleep(0.001)
    seen.touch()
    return "half"


def begun_of(seen: Path) -> Path:
    return seen.with_name("begun")


def deaf(*, budget: Budget) -> None:
    while budget is not None:
        time.sleep(0.001)


def stop_after_first(cancellation: Cancellation) -> Any:
    def report(event: Progress) -> None:
        if event.done == 1:
            cancellation.cancel()

    return report


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_unit_sees_it_and_is_not_recorded_and_what_was_finished_is(
    workers: int, tmp_path: Path
) -> None:
    seen, finished = tmp_path / "seen", threading.Event()
    units = [
        Unit("a", square, (3,), whole=True),
        Unit("b", until_stopped, (seen,), whole=True),
        Unit("c", square, (5,), whole=True),
    ]
    stop = Cancellation(grace_s=600.0)  # however slow the machine is, the unit itself sees it

    def stop_within_second() -> None:
        finished.wait()
        while not begun_of(seen).exists():
            time.sleep(0.001)
        stop.cancel()

    def report(event: Progress) -> None:
        if event.done == 1:
            finished.set()

    threading.Thread(target=stop_within_second, daemon=True).start()
    with open_study(tmp_path / "study.db") as study:
        first = dict(run_units(units[:2], Work(workers, study, report, stop)))
        assert first["a"] == study.results()["a"] == 9
        assert first.get("b") is None
        assert list(study.results()) == ["a"]
        again = [units[0], Unit("b", square, (4,), whole=True), units[2]]
        assert list(run_units(again, Work(workers, study))) == [("a", 9), ("b", 16), ("c", 25)]
    assert seen.exists()


@pytest.mark.parametrize("swallowed", [0, 1])
def test_a_unit_that_does_not_look_is_given_up_even_if_a_library_swallows_it(swallowed: int) -> None:
    stop, times = Cancellation(grace_s=0.01), 0
    handler = signal.getsignal(signal.SIGALRM)

    def unit(*, budget: Budget) -> str:
        nonlocal times
        stop.cancel()
        for _ in range(swallowed):
            try:
                deaf(budget=budget)
            except UnitGivenUp:
                times += 1
        deaf(budget=budget)
        return "never"

    assert run_whole(stop, NO_STUDY, unit) is None
    assert times == swallowed
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) is handler


@pytest.mark.slow
def test_a_worker_process_that_does_not_look_is_ended() -> None:
    stop = Cancellation(grace_s=0.05)
    units = [Unit("a", square, (3,), whole=True), *(Unit(f"{i}", deaf, whole=True) for i in range(3))]
    assert list(run_units(units, Work(2, report=stop_after_first(stop), cancellation=stop))) == [("a", 9)]


def test_a_unit_that_ends_before_it_has_seen_the_cancellation_is_whole() -> None:
    stop = Cancellation()

    def nearly_finished(*, budget: Budget) -> str:
        assert not budget.stopped
        stop.cancel()
        return "whole"

    assert list(run_units([Unit("a", nearly_finished, whole=True)], Work(cancellation=stop))) == [
        ("a", "whole")
    ]


def test_the_parts_of_an_unfinished_unit_are_recorded_but_it_is_not_done(tmp_path: Path) -> None:
    stop, events = Cancellation(), list[Progress]()

    def half(*, budget: Budget) -> Unfinished:
        stop.cancel()
        return Unfinished([budget.stopped])

    def parts(key: str, result: list[bool]) -> list[Finished]:
        return [Finished(f"{key}/{place}", each) for place, each in enumerate(result)]

    with open_study(tmp_path / "study.db") as study:
        work = Work(1, study, events.append, stop)
        assert list(run_units([Unit("a", half, whole=True)], work, parts=parts)) == [("a", [True])]
        assert study.results() == {"a/0": True}
    assert [event.done for event in events] == [0, 0]


def test_an_error_counts_unless_it_came_of_the_stop() -> None:
    stop = Cancellation()

    def fails(*, budget: Budget) -> None:
        raise ValueError(str(budget.stopped))

    with pytest.raises(ValueError, match="False"):
        run_whole(stop, NO_STUDY, fails)
    stop.cancel()
    assert run_whole(stop, NO_STUDY, fails) is None


def test_a_second_signal_within_a_unit_waits_and_the_third_gives_it_up(tmp_path: Path) -> None:
    said: list[str] = []

    def pressed(times: int, *, budget: Budget) -> int:
        assert not budget.stopped
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return times

    for times in (2, 3):
        said.clear()
        with open_study(tmp_path / f"{times}.db") as study, cancel_on_interrupt(said.append) as stop:
            run = run_units([Unit("a", pressed, (times,), whole=True)], Work(1, study, cancellation=stop))
            if times == 2:
                assert list(run) == [("a", 2)]
                assert study.results() == {"a": 2}
            else:
                with pytest.raises(KeyboardInterrupt):
                    list(run)
                assert study.results() == {}
        assert said == [STOPPING, STILL_STOPPING]


def test_signals_while_a_unit_is_recorded_wait_until_it_is(tmp_path: Path) -> None:
    def parts(key: str, result: int) -> list[Finished]:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        return [Finished(key, result)]

    units = [Unit("a", operator.neg, (1,))]
    with open_study(tmp_path / "study.db") as study, cancel_on_interrupt(lambda _: None) as stop:
        with pytest.raises(KeyboardInterrupt):
            list(run_units(units, Work(1, study, cancellation=stop), parts=parts))
        assert study.results() == {"a": -1}


class MadeClock:
    """A clock that only units move."""

    now = 0.0

    def seconds_now(self) -> float:
        return self.now

    def run(self, seconds: float) -> float:
        self.now += seconds
        return seconds


def made_units(clock: MadeClock) -> list[Unit]:
    """Return ten short units of one kind, and five of another that take a thousand times as long."""
    short = [Unit(f"short {i}", clock.run, (2.0,), kind="short", size=2.0) for i in range(10)]
    return short + [Unit(f"long {i}", clock.run, (2000.0,), kind="long", size=1000.0) for i in range(5)]


def test_the_time_left_is_told_by_kind_and_size_and_never_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = MadeClock()
    monkeypatch.setattr(workers, "seconds_now", clock.seconds_now)
    events: list[Progress] = []
    results = list(run_units(made_units(clock), Work(report=events.append)))
    assert [key for key, _ in results] == [unit.key for unit in made_units(clock)]
    left = [event.left_s for event in events]
    assert left[0] is None
    known = [seconds for seconds in left if seconds is not None]
    assert known[1:] == [18 + 8000 - 2 * i for i in range(10)] + [6000, 4000, 2000, 0]
    assert known[0] == 18 + 5000, "of all kinds while one is not seen: a long unit seems half as long"
    assert all(later <= before for before, later in itertools.pairwise(known[1:]))


def test_the_time_left_of_a_run_that_goes_on_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = MadeClock()
    monkeypatch.setattr(workers, "seconds_now", clock.seconds_now)
    units, events, stop = made_units(clock), list[Progress](), Cancellation()
    with open_study(tmp_path / "study.db") as study:

        def report(event: Progress) -> None:
            if event.done == 4:
                stop.cancel()

        list(run_units(units, Work(1, study, report, stop)))
        list(run_units(units, Work(1, study, events.append)))
    assert (events[0].done, events[0].left_s) == (4, 7 * 2 + 4 * 2000)


def test_a_unit_of_no_size_says_nothing_of_the_time_left() -> None:
    from shortlist.runs.units import _TimeLeft

    units = [Unit("count", operator.neg, size=0.0), *(Unit(str(i), operator.neg, size=1e6) for i in range(2))]
    left = _TimeLeft(units)
    left.ended(units[0], 0.001)
    assert left.seconds(1) is None
    left.ended(units[1], 10.0)
    assert left.seconds(1) == 10.0


def test_two_workers_halve_the_time_left_but_not_that_of_one_unit() -> None:
    from shortlist.runs.units import _TimeLeft

    units = [Unit(str(i), operator.neg, kind="a") for i in range(4)]
    left = _TimeLeft(units)
    assert left.seconds(2) is None
    left.ended(units[0], 10.0)
    assert left.seconds(2) == 15.0
    left.ended(units[1], 10.0)
    left.ended(units[2], 10.0)
    assert left.seconds(2) == 10.0


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
