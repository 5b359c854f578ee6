"""Live progress on stderr: bars in a terminal, a line now and then elsewhere."""

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from shortlist.cli.text.output import written_out
from shortlist.results.proof import relative_gap
from shortlist.runs import Progress
from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import say_on_stderr

if TYPE_CHECKING:
    from rich.console import Console

FIRST_S = 5.0
"""Seconds until the first line off a terminal, after the one that names the stage."""

EVERY_S = 15.0
"""Seconds from one line to the next."""

Clock = Callable[[], float]


@contextlib.contextmanager
def working(stage: str) -> Iterator[None]:
    """Show that work goes on which has no steps to report, once it takes longer."""
    with shown_progress(announce=False) as display:
        display.report(Progress(stage, 0))
        yield


@contextlib.contextmanager
def shown_progress(*, announce: bool = True) -> "Iterator[Bars | ProgressLines]":
    """Yield what shows progress on stderr: bars where it is a terminal, otherwise lines.

    Without `announce` the first line comes after some seconds.
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
    """Print a line on stderr; work goes on where it is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(written_out(line), file=sys.stderr, flush=True)


@dataclass
class _Stage:
    """A stage as last reported, and what the time left is reckoned from."""

    event: Progress
    since: float
    done_since: float
    told: float

    @property
    def open(self) -> bool:
        """Whether it encloses others and is not done."""
        return self.event.outer and self.event.total is not None and self.event.done < self.event.total

    def update(self, event: Progress, now: float) -> None:
        """Take the next event; one with less done is another run of the stage."""
        if event.done < self.event.done or event.total != self.event.total:
            self.since, self.done_since = now, event.done
        self.event, self.told = event, now

    def text(self, now: float) -> str:
        text = ", ".join(filter(None, (_done(self.event), _state(self.event), self._left(now))))
        return f"{self.event.stage}: {text}" if text else self.event.stage

    def _left(self, now: float) -> str:
        """Return the time left: as told, or reckoned from what was done since the stage began."""
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
    """The stages that are worth showing: those that are open, and the latest."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.known: dict[str, _Stage] = {}
        self._latest = ""

    def update(self, event: Progress) -> bool:
        """Take an event; return whether its stage is new."""
        new = event.stage not in self.known
        now = self.clock()
        if new:
            self.known[event.stage] = _Stage(event, now, event.done, now)
        else:
            self.known[event.stage].update(event, now)
        self._latest = event.stage
        return new

    def shown(self) -> list[_Stage]:
        """Return the open stages, and the latest behind them."""
        opened = [stage for name, stage in self.known.items() if stage.open and name != self._latest]
        return [*opened, *([self.known[self._latest]] if self._latest else [])]


class ProgressLines:
    """Progress off a terminal: the name of each stage, then a line every 15 seconds.

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
        """Take an event; the first of a stage is a line at once, unless another stage encloses it."""
        with self._lock:
            if self._stages.update(event) and self._announce and len(self._stages.shown()) == 1:
                self._write(f"{event.stage} ...")
        self.tick()

    def tick(self) -> None:
        """Write a line if one is due, whether or not anything happened."""
        with self._lock:
            now = self._stages.clock()
            shown = self._stages.shown()
            if now < self._due or not shown:
                return
            self._due = now + EVERY_S
            texts = "; ".join(stage.text(now) for stage in shown)
            self._write(f"{texts} ({_clock(now - self._start)})")

    def say(self, sentence: str) -> None:
        """Show a sentence past all buffers."""
        say_on_stderr(sentence)


class Bars:
    """Progress in a terminal: a bar for each stage that is open, and for the latest."""

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
        """Draw an event, and hide the stages that are over."""
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


def _done(event: Progress) -> str:
    unit = f" {event.unit}" if event.unit else ""
    if event.total is None:
        return f"{event.done:,.0f}{unit or ' done'}" if event.done else ""
    return f"{min(event.done, event.total):,.0f}{unit} of {event.total:,.0f}{unit}"


def _state(event: Progress) -> str:
    if event.value is None:
        return ""
    if event.bound is None:
        return f"value {event.value:.5g}"
    gap = relative_gap(event.value, event.bound)
    shown = f", gap {100 * gap:.2f} %" if math.isfinite(gap) else ""
    return f"value {event.value:.5g}, bound {event.bound:.5g}{shown}"


def duration(seconds: float) -> str:
    """Say a duration as people do, in one unit and with two digits.

    >>> duration(42.4), duration(150), duration(7000), duration(500000)
    ('42 s', '2.5 min', '1.9 h', '5.8 days')
    """
    for limit, length, unit in ((100, 1, "s"), (6000, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{_two_digits(seconds / length) if unit != 's' else f'{seconds:.0f}'} {unit}"
    return f"{_two_digits(seconds / 86400)} days"


def _two_digits(number: float) -> str:
    return f"{number:.1f}" if number < 9.95 else f"{number:.0f}"


def _clock(seconds: float) -> str:
    """Show hours, minutes and seconds.

    >>> _clock(7), _clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
