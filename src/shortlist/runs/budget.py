"""Budget of a method: limits on time, nodes and threads, one clock, and the receiver of progress."""

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from shortlist._jit import COMPILING
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.study import NO_STUDY, Study

SECONDS = "s"
"""Unit of stages whose progress is the elapsed time in seconds."""


@dataclass(frozen=True)
class Progress:
    """Progress of a long method."""

    stage: str
    """Activity of the method, for people."""
    done: float
    """Amount finished, in units of work or, for a time limit, in seconds."""
    total: float | None = None
    """Total amount, in the same unit; None if it cannot be known."""
    value: float | None = None
    bound: float | None = None
    """Best value so far, and the best bound so far, in the user's sign; None if the method has no such
    number.
    """
    unit: str = ""
    """Unit: ``"s"`` if `done` and `total` are seconds, and the stage may end long before `total`."""
    outer: bool = False
    """Whether other stages report between the steps of this stage, as the parts of a run do."""
    more_follows: bool = False
    """Whether work of unknown length follows this stage; the remaining time is then that of the stage alone.
    """
    left_s: float | None = None
    """Expected seconds until the end, where a better estimate is known than the one from the finished share.
    """


Report: TypeAlias = Callable[[Progress], None]
"""Receiver of progress events; called from the thread that runs the method."""


def silent(progress: Progress) -> None:
    """Ignore a progress event."""


def of_a_part(report: Report) -> Report:
    """Return a receiver that passes events on, marked as events of a stage that other stages follow."""
    return lambda progress: report(dataclasses.replace(progress, more_follows=True))


def seconds_now() -> float:
    """Return the seconds of a clock that never goes back; only differences are meaningful.

    The clock pauses while kernels are compiled, once per installation, so that compilation does not count
    against a limit in seconds.

    >>> start = seconds_now()
    >>> seconds_now() >= start
    True
    """
    return time.perf_counter() - COMPILING.seconds


def processor_seconds() -> float:
    """Return the processor seconds of this process, which other load affects less than wall-clock time."""
    return time.process_time()


LEAST_SECONDS = 0.01
"""Least time limit of a step in seconds, as solvers behave badly under limits near zero."""


@dataclass(frozen=True)
class Budget:
    """Limits on time, nodes and threads of a method; its clock runs from its creation.

    Parts of a budget share its clock, its cancellation and its report, so that messages always name the
    user's limit. For example, a method that uses up its third of 60 seconds reports that the limit of 60 s
    stopped it.

    Parameters
    ----------
    seconds : float, default=inf
        Wall-clock limit of the whole.
    nodes : int or None, default=None
        Limit on the nodes of a search, which does not depend on the clock. With such a limit every part of a
        budget may take all of the time, so that the clock decides as little as possible.
    seed : int, default=0
        Seed of every draw.
    threads : int, default=1
        Largest number of threads.
    report : callable, optional
        Receives progress.
    cancellation : Cancellation, optional
        Stops the method with its results so far.
    study : Study, optional
        Store of finished units, and of states to resume from. The code that opens the study binds it to the
        settings.
    clock : callable, default=seconds_now
        Returns the time in seconds.
    start : float, optional
        Time on `clock` at which the budget began; default now.
    begin, part : float, default=0 and 1
        Shares of `seconds`, counted from `start`, at which this budget begins and ends.

    Examples
    --------
    >>> whole = Budget(60, clock=lambda: 100.0)
    >>> third = whole.until(1 / 3)
    >>> third.deadline, third.left, third.limit_text
    (120.0, 20.0, '')
    >>> dataclasses.replace(third, clock=lambda: 121.0).limit_text
    '60 s'
    """

    seconds: float = math.inf
    nodes: int | None = None
    seed: int = 0
    threads: int = 1
    report: Report = silent
    cancellation: Cancellation = field(default_factory=Cancellation)
    study: Study = NO_STUDY
    clock: Callable[[], float] = seconds_now
    start: float = math.nan
    begin: float = 0.0
    part: float = 1.0

    def __post_init__(self) -> None:
        if math.isnan(self.start):
            object.__setattr__(self, "start", self.clock())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the time elapsed so far, as clocks of two machines are unrelated."""
        return self.__dict__ | {"start": self.elapsed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        object.__setattr__(self, "start", self.clock() - state["start"])

    @property
    def elapsed(self) -> float:
        """Seconds since the budget began."""
        return self.clock() - self.start

    @property
    def deadline(self) -> float:
        """Time on the clock at which this budget ends; for a part of a budget, the end of the part."""
        part = 1.0 if self.is_counted else self.part
        return self.start + part * self.seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline for a step that begins now, at least :data:`LEAST_SECONDS`."""
        return max(LEAST_SECONDS, self.deadline - self.clock())

    @property
    def is_counted(self) -> bool:
        """Whether the clock ends no step: steps end by a number of nodes, or have no limit."""
        return self.nodes is not None or math.isinf(self.seconds)

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.clock() >= self.deadline

    @property
    def stopped(self) -> bool:
        """Whether the method has to return its results so far."""
        return self.cancellation.cancelled or self.expired

    @property
    def limit_text(self) -> str:
        """Reason for stopping, in the user's terms: ``"interrupted"``, ``"60 s"``, or an empty text."""
        if self.cancellation.cancelled:
            return "interrupted"
        return self.time_text if self.expired else ""

    @property
    def time_text(self) -> str:
        """Time limit of the user in words."""
        return f"{self.seconds:g} s"

    def until(self, part: float) -> "Budget":
        """Return a budget that ends after a share, from 0 to 1, of this budget's time."""
        return dataclasses.replace(self, part=self.begin + part * (self.part - self.begin))

    def share(self, part: float) -> "Budget":
        """Return a budget that begins now and ends after a share, from 0 to 1, of the time left."""
        if math.isinf(self.seconds):
            return self
        gone = min(self.part, self.elapsed / self.seconds if self.seconds else 1.0)
        return dataclasses.replace(self, begin=gone).until(part)

    def begun(self) -> "Budget":
        """Return the same budget with a clock that begins now."""
        return dataclasses.replace(self, start=self.clock())

    def tell(self, stage: str, *, value: float | None = None, bound: float | None = None) -> None:
        """Report the elapsed time, the value and the bound."""
        total = None if math.isinf(self.seconds) else self.seconds
        self.report(Progress(stage, self.elapsed, total, value, bound, unit=SECONDS))
