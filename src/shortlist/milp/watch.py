"""Running a solver in a thread of its own, so that the caller stays reachable.

A solver's loop returns to Python seldom, and Python runs its signal handlers only in the main thread. So the
solver runs in a worker thread without the interpreter's lock, while the caller's thread waits: it takes the
bounds that the solver posts, looks at the cancellation, and feels Ctrl-C at once.
"""

import contextlib
import math
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import Cancellation

Watched = TypeVar("Watched")

Post: TypeAlias = Callable[[float, float], None]
"""Tells the waiting thread (objective or NaN or inf, bound or -inf); cheap, callable from any thread."""

OnBound: TypeAlias = Callable[[float, float], None]
"""Called during a solve with (objective of the incumbent or NaN, bound), both to minimise."""

POLL_S = 0.05


@dataclass(frozen=True)
class Patience:
    """How long one waits for a solver that does not stop.

    `late_s`: seconds after its limit at which a solver that goes on is told to stop. `told_s`: seconds
    that it may go on after it was first told; SCIP has been seen to look at neither clock nor flag for
    minutes.
    """

    late_s: float = 1.0
    told_s: float = 10.0


PATIENCE = Patience()


class NotStoppedError(Exception):
    """A solver did not stop when it was told to, and was left alone in its thread."""


def run_watched(
    run: Callable[[Post], Watched],
    stop: Callable[[], None],
    *,
    seconds: float = math.inf,
    on_bound: OnBound | None = None,
    cancellation: Cancellation | None = None,
    left_alone: Callable[[], object] = lambda: None,
    patience: Patience = PATIENCE,
    clock: Callable[[], float] = seconds_now,
) -> Watched:
    """Return ``run(post)``, computed in another thread.

    `on_bound` is called in this thread, whenever the objective or the bound got better. `stop` is called,
    repeatedly, once the cancellation is set, or once an exception (KeyboardInterrupt included) comes up here;
    the exception goes on when the solver has stopped. An exception in `run` is raised here. A solver knows
    its limit in `seconds`, of this `clock`, and is told to stop when it is late, by `patience`.

    Raises NotStoppedError if it goes on for longer than `patience` allows after it was first told to stop.
    `left_alone` is called then, as what it works on may not be touched again.
    """
    inbox: queue.SimpleQueue[tuple[float, float]] = queue.SimpleQueue()
    results: list[Watched] = []
    failures: list[BaseException] = []
    wake = (math.nan, math.nan)

    def work() -> None:
        try:
            results.append(run(lambda objective, bound: inbox.put((objective, bound))))
        except BaseException as error:  # noqa: BLE001  # raised again in the waiting thread
            failures.append(error)
        finally:
            inbox.put(wake)

    worker = threading.Thread(target=work, daemon=True)
    tell = _Stop(stop, left_alone, patience.told_s)
    deadline = clock() + seconds + patience.late_s
    worker.start()
    best, bound = math.inf, -math.inf
    try:
        while not results and not failures:
            if clock() > deadline or (cancellation is not None and cancellation.cancelled):
                tell()
            try:
                news = inbox.get(timeout=POLL_S)
            except queue.Empty:
                continue
            better = (min(best, _or(news[0], math.inf)), max(bound, _or(news[1], -math.inf)))
            if better != (best, bound) and on_bound is not None:
                best, bound = better
                on_bound(best if math.isfinite(best) else math.nan, bound)
        worker.join()
    except NotStoppedError:
        raise
    except BaseException:
        tell.until_over(worker)
        raise
    if failures:
        raise failures[0]
    return results[0]


class _Stop:
    def __init__(self, stop: Callable[[], None], left_alone: Callable[[], object], told_s: float) -> None:
        self._stop, self._left_alone, self._told_s = stop, left_alone, told_s
        self._first = math.inf

    def __call__(self) -> None:
        now = seconds_now()
        self._first = min(self._first, now)
        self._stop()
        if now - self._first > self._told_s:
            self._left_alone()
            raise NotStoppedError

    def until_over(self, worker: threading.Thread) -> None:
        with contextlib.suppress(NotStoppedError):
            while worker.is_alive():
                self()
                worker.join(POLL_S)


def _or(value: float, default: float) -> float:
    return default if math.isnan(value) else value
