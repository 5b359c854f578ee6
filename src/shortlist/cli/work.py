"""Long work of a command: its progress is shown, and a user can stop it and keep its results."""

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shortlist.cli.signals import FAILED, NOTHING_WRITTEN, NothingKeptError, end_at_once
from shortlist.cli.text.output import written_out
from shortlist.errors import ShortlistError
from shortlist.results.proof import relative_gap
from shortlist.runs import Cancellation, Progress, Report, cancel_on_interrupt
from shortlist.runs.budget import Budget, seconds_now
from shortlist.runs.cancellation import say_on_stderr

if TYPE_CHECKING:
    from rich.console import Console


FIRST_S = 5.0
"""Seconds until the first line of progress without a terminal, after the line that names the stage."""

EVERY_S = 15.0
"""Seconds between two lines of progress without a terminal."""

Clock = Callable[[], float]


@contextlib.contextmanager
def working(stage: str) -> Iterator[None]:
    """Show a stage that reports no steps, if it takes more than a moment."""
    with shown_progress(announce=False) as display:
        display.report(Progress(stage, 0))
        yield


@contextlib.contextmanager
def shown_progress(*, announce: bool = True) -> "Iterator[Bars | ProgressLines]":
    """Yield the display of progress on stderr: bars on a terminal, otherwise lines.

    `announce`: whether lines name a stage as soon as it begins; if false, the first line comes after some
    seconds.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console

        with Bars(Console(stderr=True)) as bars:
            yield bars
        return
    lines = ProgressLines(_print_line, announce=announce)
    over = threading.Event()

    def beat() -> None:
        while not over.wait(1.0):
            lines.tick()

    threading.Thread(target=beat, daemon=True).start()
    try:
        yield lines
    finally:
        over.set()


def _print_line(line: str) -> None:
    """Print a line on stderr; if stderr is closed, do nothing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(written_out(line), file=sys.stderr, flush=True)


@dataclass
class _Stage:
    """Stage as last reported, and the numbers from which its remaining time is estimated."""

    event: Progress
    since: float
    done_since: float
    told: float

    def text(self, now: float) -> str:
        event = self.event
        unit = f" {event.unit}" if event.unit else ""
        done = f"{event.done:,.0f}{unit or ' done'}" if event.done else ""
        if event.total is not None:
            done = f"{min(event.done, event.total):,.0f}{unit} of {event.total:,.0f}{unit}"
        told = ", ".join(filter(None, [done, _state(event), self._left(now)]))
        return f"{event.stage}: {told}" if told else event.stage

    def _left(self, now: float) -> str:
        """Return the time left in words: as reported, or estimated from the work since the stage began."""
        event = self.event
        if event.total is None or event.done >= event.total:
            return ""
        rest = event.total - event.done
        if event.unit:
            return f"at most {duration(rest)} left"
        done = event.done - self.done_since
        left = (now - self.since) * rest / done if done > 0 else 0.0
        if event.left_s is not None:
            left = event.left_s - (now - self.told)
        return f"about {duration(left)} left{' of this step' * event.more_follows}" if left >= 0.5 else ""


class _Stages:
    """Stages to show: unfinished stages that enclose other stages, and the latest stage."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.known: dict[str, _Stage] = {}
        self.latest = ""

    def update(self, event: Progress) -> bool:
        """Take an event; return whether its stage is new.

        A stage that reports less work done than before is another run, and counts as new.
        """
        now, known = self.clock(), self.known.get(event.stage)
        if known is None or event.done < known.event.done or event.total != known.event.total:
            self.known[event.stage] = _Stage(event, now, event.done, now)
        else:
            known.event, known.told = event, now
        self.latest = event.stage
        return known is None

    def shown(self) -> list[_Stage]:
        """Return the open stages, then the latest stage."""
        ends = [(one, one.event.total or 0) for name, one in self.known.items() if name != self.latest]
        opened = [one for one, end in ends if one.event.outer and one.event.done < end]
        return [*opened, *([self.known[self.latest]] if self.latest else [])]


class ProgressLines:
    """Progress without a terminal: the name of each stage, then a line every 15 seconds.

    `write`: receives each line. `clock`: returns seconds. `announce`: whether a stage is named as soon as it
    begins.
    """

    def __init__(
        self, write: Callable[[str], None], clock: Clock = seconds_now, *, announce: bool = True
    ) -> None:
        self._write = write
        self._announce = announce
        self._stages = _Stages(clock)
        self._start = clock()
        self._due = self._start + FIRST_S
        self._lock = threading.Lock()

    def report(self, event: Progress) -> None:
        """Take an event; write a line at the first event of a stage, unless another stage encloses it."""
        with self._lock:
            if self._stages.update(event) and self._announce and len(self._stages.shown()) == 1:
                self._write(f"{event.stage} ...")
        self.tick()

    def tick(self) -> None:
        """Write a line if a line is due, even if no event came."""
        with self._lock:
            now = self._stages.clock()
            shown = self._stages.shown()
            if now < self._due or not shown:
                return
            self._due = now + EVERY_S
            texts = "; ".join(stage.text(now) for stage in shown)
            self._write(f"{texts} ({_clock(now - self._start)})")

    def say(self, sentence: str) -> None:
        """Show a sentence at once, without buffers."""
        say_on_stderr(sentence)


class Bars:
    """Progress on a terminal: a bar for each open stage, and for the latest stage."""

    def __init__(self, console: "Console", clock: Clock = seconds_now) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        whole = Column(no_wrap=True)
        self._console = console
        self._stages = _Stages(clock)
        self._tasks: dict[str, Any] = {}
        self._bars = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True, max_width=30)),
            BarColumn(bar_width=12, table_column=whole),
            TextColumn("{task.fields[state]}", table_column=Column(overflow="fold")),
            TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)),
            console=console, transient=True, get_time=clock,
        )  # fmt: skip

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def report(self, event: Progress) -> None:
        """Draw an event, and hide the bars of finished stages."""
        if self._stages.update(event):
            self._tasks[event.stage] = self._bars.add_task(
                written_out(event.stage), total=event.total, state=""
            )
        done = event.done if event.total is None else min(event.done, event.total)
        now = self._stages.clock()
        text = self._stages.known[event.stage].text(now).removeprefix(event.stage).removeprefix(": ")
        self._bars.update(self._tasks[event.stage], completed=done, total=event.total, state=text)
        shown = {stage.event.stage for stage in self._stages.shown()}
        for name, task in self._tasks.items():
            self._bars.update(task, visible=name in shown)

    def say(self, sentence: str) -> None:
        """Show a sentence above the bars."""
        try:
            self._console.print(f"shortlist: {sentence}", markup=False, highlight=False, soft_wrap=False)
        except RuntimeError:  # the signal came while the console was being written
            say_on_stderr(sentence)


def _state(event: Progress) -> str:
    if event.value is None:
        return ""
    if event.bound is None:
        return f"value {event.value:.5g}"
    gap = relative_gap(event.value, event.bound)
    shown = f", gap {100 * gap:.2f} %" if math.isfinite(gap) else ""
    return f"value {event.value:.5g}, bound {event.bound:.5g}{shown}"


def duration(seconds: float) -> str:
    """Return a duration in words, in one unit and with two digits.

    >>> duration(42.4), duration(150), duration(7000), duration(500000)
    ('42 s', '2.5 min', '1.9 h', '5.8 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    units = ((6000, 60, "min"), (172800, 3600, "h"), (float("inf"), 86400, "days"))
    length, unit = next((length, unit) for limit, length, unit in units if seconds < limit)
    number = seconds / length
    return f"{number:.{1 if number < 9.95 else 0}f} {unit}"


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> _clock(7), _clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


STILL_AT_WORK_S = 60.0
"""Seconds after its time limit during which a search may still check and write its results."""


@contextlib.contextmanager
def long_work(keeps: Path | None = None) -> Iterator[tuple[Cancellation, Report]]:
    """Yield the cancellation that the first Ctrl-C or SIGTERM sets, and a report that shows progress.

    `keeps`: path of the study that stores finished parts, from which the same command continues.

    Raises NothingKeptError after the second signal, and if a method stopped by the first signal has no
    answer.
    """
    with shown_progress() as display, cancel_on_interrupt(display.say) as cancellation:
        try:
            yield cancellation, display.report
        except KeyboardInterrupt:
            raise NothingKeptError(NOTHING_WRITTEN + _kept(keeps)) from None
        except ShortlistError as error:
            if cancellation.cancelled:
                raise NothingKeptError(f"interrupted: {error}{_kept(keeps)}") from None
            raise


@contextlib.contextmanager
def within(seconds: float) -> Iterator[Budget]:
    """Yield a budget of seconds that the first Ctrl-C ends, for work that shows no progress."""
    with cancel_on_interrupt() as cancellation, last_resort(seconds):
        yield Budget(seconds, cancellation=cancellation)


@contextlib.contextmanager
def last_resort(
    seconds: float | None,
    *,
    clock: Callable[[], float] = seconds_now,
    wait: Callable[[threading.Event], bool] = lambda over: over.wait(1.0),
    end: Callable[[str], None] = lambda sentence: end_at_once(sentence, FAILED)(signal.SIGTERM, None),
) -> Iterator[None]:
    """End the process with a sentence if a block still runs :data:`STILL_AT_WORK_S` after its limit.

    Every search checks its limit by itself, so this function is for unforeseen cases only.

    `clock`: returns the time in seconds. `wait`: waits between two checks of the clock; returns true once the
    block is over. `end`: ends the process.
    """
    over, start = threading.Event(), clock()

    def watch() -> None:
        while not wait(over):
            if seconds is not None and clock() - start > seconds + STILL_AT_WORK_S:
                late = f"{STILL_AT_WORK_S:g} s after the limit of {seconds:g} s"
                end(f"still at work {late}; nothing was written.")
                return

    watching = threading.Thread(target=watch, daemon=True)
    if seconds is not None:
        watching.start()
    try:
        yield
    finally:
        over.set()


def check_found(found: bool, cancellation: Cancellation) -> None:
    """Raise an error within :func:`long_work` if the work was stopped before there was a result to keep."""
    if cancellation.cancelled and not found:
        raise ShortlistError("nothing had been found yet, so nothing was written.")


def _kept(keeps: Path | None) -> str:
    if keeps is None or not keeps.exists():
        return ""
    return f" What had been finished is in {keeps}; the same command goes on from there."
