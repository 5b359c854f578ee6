"""The last resort of long work, with a clock of its own."""

import threading

from shortlist.cli.work import STILL_AT_WORK_S, last_resort


def ended_at(seconds: float | None, clock: list[float]) -> list[str]:
    """Return what is said at the end of the process when the clock shows these times, one after the other."""
    said: list[str] = []
    times, watched = list(clock), threading.Event()

    def now() -> float:
        return times.pop(0)

    def wait(_: threading.Event) -> bool:
        if times and not said:
            return False
        watched.set()
        return True

    def end(sentence: str) -> None:
        said.append(sentence)
        watched.set()

    with last_resort(seconds, clock=now, wait=wait, end=end):
        assert seconds is None or watched.wait(60)
    return said


def test_work_that_goes_on_long_after_its_limit_is_ended_with_a_sentence() -> None:
    late = 100.0 + 3 + STILL_AT_WORK_S + 1
    assert ended_at(3.0, [100.0, 102.0, 104.0, late]) == [
        "still at work 60 s after the limit of 3 s; nothing was written."
    ]


def test_work_within_its_limit_and_without_one_is_left_alone() -> None:
    assert ended_at(3.0, [100.0, 102.0, 104.0, 100.0 + 3 + STILL_AT_WORK_S]) == []
    assert ended_at(None, [100.0]) == []
