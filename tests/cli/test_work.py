"""Long work: its progress in terminals and off them, and its last resort, by clocks that the tests turn."""

import io
import threading

import pytest
from rich.console import Console

from shortlist.cli.work import (
    EVERY_S,
    FIRST_S,
    STILL_AT_WORK_S,
    Bars,
    ProgressLines,
    last_resort,
    shown_progress,
)
from shortlist.runs import Progress
from shortlist.runs.budget import SECONDS


class Watch:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def written(watch: Watch) -> tuple[ProgressLines, list[str]]:
    lines: list[str] = []
    return ProgressLines(lines.append, watch), lines


def test_a_line_comes_soon_and_then_every_fifteen_seconds(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("reference points", 0, 500))
    assert seen == ["reference points ..."]
    times: list[int] = []
    for second in range(1, 66):
        watch.now += 1
        lines.report(Progress("reference points", second, 500))
        if len(seen) > len(times) + 1:
            times.append(second)
    assert times == [5, 20, 35, 50, 65]
    assert (FIRST_S, EVERY_S) == (5.0, 15.0)
    assert seen[2] == "reference points: 20 of 500, about 8.0 min left (0:20)"


def test_lines_go_on_while_nothing_is_reported(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.tick()
    assert seen == []
    lines.report(Progress("programs", 0))
    for _ in range(130):
        watch.now += 1
        lines.tick()
    assert seen == ["programs ...", *(f"programs ({clock})" for clock in (
        "0:05", "0:20", "0:35", "0:50", "1:05", "1:20", "1:35", "1:50", "2:05"))]  # fmt: skip


def test_a_time_limit_is_shown_with_value_bound_and_gap(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("proving", 0, 60, unit=SECONDS))
    watch.now += 7
    lines.report(Progress("proving", 7, 60, value=0.5, bound=0.625, unit=SECONDS))
    assert seen[1] == "proving: 7 s of 60 s, value 0.5, bound 0.625, gap 25.00 %, at most 53 s left (0:07)"
    watch.now += 15
    lines.report(Progress("proving", 22, None, value=0.5, unit=SECONDS))
    assert seen[2] == "proving: 22 s, value 0.5 (0:22)"


def test_a_stage_within_another_is_shown_behind_it_and_not_announced(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("runs", 0, 90, outer=True))
    lines.report(Progress("ibed 0, generations", 0, 1000))
    watch.now += 10
    lines.report(Progress("ibed 0, generations", 500, 1000))
    lines.report(Progress("runs", 1, 90, outer=True))
    watch.now += 10
    lines.report(Progress("ibed 1, generations", 100, 1000))
    watch.now += 5
    lines.tick()
    assert seen == [
        "runs ...",
        "runs: 0 of 90; ibed 0, generations: 500 of 1,000, about 10 s left (0:10)",
        "runs: 1 of 90, about 37 min left; ibed 1, generations: 100 of 1,000 (0:25)",
    ]


def test_the_time_left_that_a_stage_tells_runs_down_and_is_left_out_when_it_is_over(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("measuring", 1, 3, outer=True, left_s=200.0))
    for _ in range(2):
        watch.now += 80
        lines.tick()
    lines.report(Progress("measuring", 2, 3, outer=True, left_s=20.0))
    watch.now += 25
    lines.tick()
    assert seen[1:] == [
        "measuring: 1 of 3, about 2.0 min left (1:20)",
        "measuring: 1 of 3, about 40 s left (2:40)",
        "measuring: 2 of 3 (3:05)",
    ]


def test_the_time_left_counts_from_where_a_resumed_or_repeated_stage_began(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("points", 400, 500))
    watch.now += 10
    lines.report(Progress("points", 410, 500))
    assert seen[-1] == "points: 410 of 500, about 90 s left (0:10)"
    lines.report(Progress("points", 0, 500))
    watch.now += 20
    lines.report(Progress("points", 100, 500))
    assert seen[-1] == "points: 100 of 500, about 80 s left (0:30)"


def test_a_stage_that_more_follows_tells_what_is_left_of_it_alone(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("looking, round 1", 0, 30, more_follows=True))
    for done, seconds in [(10, 5.0), (29, 15.0), (30, 15.0)]:
        watch.now += seconds
        lines.report(Progress("looking, round 1", done, 30, more_follows=True))
    assert seen[1:] == [
        "looking, round 1: 10 of 30, about 10 s left of this step (0:05)",
        "looking, round 1: 29 of 30, about 1 s left of this step (0:20)",
        "looking, round 1: 30 of 30 (0:35)",
    ]


def test_a_stage_that_is_over_is_not_shown_again(
    watch: Watch, written: tuple[ProgressLines, list[str]]
) -> None:
    lines, seen = written
    lines.report(Progress("fitting classifiers", 0, 2, outer=True))
    lines.report(Progress("fitting classifiers", 2, 2, outer=True))
    lines.report(Progress("searching", 1, 60, unit=SECONDS))
    lines.report(Progress("cutting", 2, 60, unit=SECONDS))
    watch.now += 6
    lines.tick()
    assert seen[:3] == ["fitting classifiers ...", "searching ...", "cutting ..."]
    assert seen[3].startswith("cutting: 2 s of 60 s")


def test_work_without_steps_is_silent_at_first(watch: Watch) -> None:
    seen: list[str] = []
    lines = ProgressLines(seen.append, watch, announce=False)
    lines.report(Progress("checking", 0))
    assert seen == []
    watch.now += 5
    lines.tick()
    assert seen == ["checking (0:05)"]


def test_work_goes_on_where_stderr_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    with shown_progress() as display:
        display.report(Progress("working", 0))
        display.say("Stopping")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_bars_keep_the_clock_whole_and_wrap_at_words(width: int, watch: Watch) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None, get_time=watch)
    state = Progress("walking stage assignments", 123456, 98765432, value=0.987654, bound=0.998765)
    with Bars(console, watch) as bars:
        bars.report(Progress(state.stage, 0, state.total))
        watch.now += 3725
        bars.report(state)
        bars._bars.refresh()
        rendered = Console(file=(shown := io.StringIO()), width=width, color_system=None)
        rendered.print(bars._bars)
        bars.say("Stopping; writing the best so far. Press again if it takes too long.")
    text = shown.getvalue()
    assert "1:02:05" in text
    assert all(len(line) <= width for line in text.splitlines())
    for word in ("123,456", "98,765,432,", "0.98765,", "0.99877,", "left"):
        assert word in text
    assert "Press again" in out.getvalue()


def test_bars_of_stages_that_are_over_disappear(watch: Watch) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, get_time=watch)
    with Bars(console, watch) as bars:
        bars.report(Progress("runs", 0, 3, outer=True))
        bars.report(Progress("ibed 0, generations", 5, 10))
        bars.report(Progress("ibed 1, generations", 5, 10))
        visible = [task.description for task in bars._bars.tasks if task.visible]
    assert visible == ["runs", "ibed 1, generations"]


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
