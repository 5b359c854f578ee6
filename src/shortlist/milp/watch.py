"""Running a solver in a thread of its own, so that the caller stays reachable.

A solver's loop returns to Python seldom, and Python runs its signal handlers only in the main thread. So the solver
runs in a worker thread without the interpreter's lock, while the caller's thread waits: it takes the bounds that the
solver posts, looks at the cancellation, and feels Ctrl-C at once.
"""

import math
import queue
import threading
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from shortlist.runs.cancellation import Cancellation

T = TypeVar("T")

Post: TypeAlias = Callable[[float, float], None]
"""Tells the waiting thread (objective or NaN or inf, bound or -inf); cheap, callable from any thread."""

OnBound: TypeAlias = Callable[[float, float], None]
"""Called during a solve with (objective of the incumbent or NaN, bound), both to minimise."""

POLL_S = 0.05


def run_watched(
    run: Callable[[Post], T],
    stop: Callable[[], None],
    *,
    on_bound: OnBound | None = None,
    cancellation: Cancellation | None = None,
) -> T:
    """Return ``run(post)``, computed in another thread.

    `on_bound` is called in this thread, whenever the objective or the bound got better. `stop` is called, repeatedly,
    once the cancellation is set, or once an exception (KeyboardInterrupt included) comes up here; the exception goes
    on when the solver has stopped. An exception in `run` is raised here.
    """
    inbox: queue.SimpleQueue[tuple[float, float]] = queue.SimpleQueue()
    results: list[T] = []
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
    worker.start()
    best, bound = math.inf, -math.inf
    try:
        while not results and not failures:
            if cancellation is not None and cancellation.cancelled:
                stop()
            try:
                news = inbox.get(timeout=POLL_S)
            except queue.Empty:
                continue
            better = (min(best, _or(news[0], math.inf)), max(bound, _or(news[1], -math.inf)))
            if better != (best, bound) and on_bound is not None:
                best, bound = better
                on_bound(best if math.isfinite(best) else math.nan, bound)
        worker.join()
    except BaseException:
        while worker.is_alive():
            stop()
            worker.join(POLL_S)
        raise
    if failures:
        raise failures[0]
    return results[0]


def _or(value: float, default: float) -> float:
    """Return `value` unless it is NaN."""
    return default if math.isnan(value) else value
