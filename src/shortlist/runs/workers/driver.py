"""The loop that keeps workers busy: a few batches in flight, and what a dead worker had is run again."""

import itertools
import math
import queue
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from shortlist.errors import ShortlistError, WorkerError
from shortlist.runs.cancellation import Cancellation, undisturbed
from shortlist.runs.workers.completed import Completed, machine_name
from shortlist.runs.workers.shipping import Parcel, Shelf, parcels
from shortlist.runs.workers.worker_side import Answer

if TYPE_CHECKING:
    from shortlist.runs.unit import Unit

BATCH_S = 0.2
"""Seconds that a batch of short units should last, so that sending it costs little beside."""

MOST_IN_BATCH = 200
"""Units in a batch at most."""

IN_FLIGHT = 2
"""Short batches in flight per worker: one that runs, and one that waits for its end."""

LONG_S = 1.0
"""From so many seconds on a unit is long: none waits behind another one while some worker may be idle."""

MOST_DEATHS = 2
"""How often a unit may end the worker that it has for itself."""


class Engine(Protocol):
    """What runs batches of parcels elsewhere."""

    n_workers: int

    def submit(self, batch: Sequence[Parcel], shelf: Shelf) -> Any:
        """Send a batch; return a future, whose result is a list of Answer."""

    def outcome(self, future: Any) -> "list[Answer] | None":
        """Return the answers of a future that has ended, or None if its worker died.

        Raises
        ------
        ShortlistError
            If no worker can go on.
        """

    def mend(self) -> bool:
        """Replace workers that died; return whether all that was in flight is lost."""

    def check(self) -> None:
        """Raise ShortlistError if there are no workers any more; asked from time to time."""

    def stop(self) -> None:
        """Tell all workers that the run is cancelled."""

    def abandon(self, futures: Sequence[Any]) -> None:
        """Give up what is in flight, and workers that would take long to end."""


def drive(
    engine: Engine, units: "Sequence[Unit]", cancellation: Cancellation, *, check_s: float = 1.0
) -> Iterator[Completed]:
    """Yield what each unit came to, in the order in which they end, without those that never began.

    Parameters
    ----------
    engine : Engine
    units : sequence of Unit
    cancellation : Cancellation
        Looked at before each batch, and passed on to the workers. Units that count only whole are given up
        some seconds after it.
    check_s : float
        How often the engine is asked whether it still has workers, while nothing ends.
    """
    trip = _Trip(engine, units, cancellation)
    with cancellation.telling(trip.wake):
        try:
            while trip.fill():
                yield from trip.landed(check_s)
        finally:
            if trip.flying or cancellation.cancelled:
                with undisturbed():
                    engine.abandon(list(trip.flying))


class _Trip:
    """What is in flight, and what has to fly again alone because a worker died that had it."""

    def __init__(self, engine: Engine, units: "Sequence[Unit]", cancellation: Cancellation) -> None:
        self.engine = engine
        self.units = units
        self.cancellation = cancellation
        self.shelf = Shelf()
        self.fresh = parcels(units, self.shelf)
        self.pace = _Pace(len(units), engine.n_workers)
        self.flying: dict[Any, list[Parcel]] = {}
        self.alone: deque[Parcel] = deque()
        self.deaths: Counter[int] = Counter()
        self.told_at = math.inf
        self.grace_s = cancellation.grace_s if all(unit.whole for unit in units) else math.inf
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def wake(self) -> None:
        """Let the loop look at the cancellation; called from within a signal handler."""
        self._ended.put(None)

    def fill(self) -> bool:
        """Send what there is room for; return whether anything is in flight."""
        if self.cancellation.cancelled:
            if self.told_at == math.inf:
                self.engine.stop()
                self.told_at = time.monotonic()
            elif time.monotonic() >= self.told_at + self.grace_s:
                return False
        elif self.alone:
            if not self.flying:
                self._send([self.alone[0]])
        else:
            while len(self.flying) < self.pace.room:
                batch = self.pace.batch(self.fresh)
                if not batch:
                    break
                self._send(batch)
        return bool(self.flying)

    def landed(self, check_s: float) -> Iterator[Completed]:
        """Wait for a batch to end, and yield what its units came to; nothing if there was none."""
        try:
            future = self._ended.get(timeout=check_s)
        except queue.Empty:
            self.engine.check()
            return
        if future is None or future not in self.flying:
            return
        answers = self.engine.outcome(future)
        batch = self.flying.pop(future)
        was_alone = bool(self.alone) and batch[0] is self.alone[0]
        if answers is None:
            yield from self._mended(batch, was_alone=was_alone)
            return
        if was_alone:
            self.alone.popleft()
        for answer in answers:
            if answer.refused:
                raise WorkerError(f"a worker on {answer.machine} {answer.refused}")
            if not answer.skipped:
                self.pace.note(answer.seconds)
                yield answer.completed()

    def _send(self, batch: list[Parcel]) -> None:
        with undisturbed():  # or workers that were just started would be known to nobody
            future = self.engine.submit(batch, self.shelf)
            self.flying[future] = batch
            future.add_done_callback(self._ended.put)

    def _mended(self, batch: list[Parcel], *, was_alone: bool) -> Iterator[Completed]:
        """Queue what was lost; yield the unit that was alone with its worker and has ended it too often."""
        if not was_alone:
            self.alone.extend(batch)
        else:
            index = batch[0].index
            self.deaths[index] += 1
            if self.deaths[index] >= MOST_DEATHS:
                self.alone.popleft()
                yield Completed(index, None, 0.0, machine_name(), _killed(self.units[index].key))
        if self.engine.mend():
            for lost in self.flying.values():
                self.alone.extend(lost)
            self.flying.clear()


class _Pace:
    """How many units go into a batch, from how long the last ones took."""

    def __init__(self, n_units: int, n_workers: int) -> None:
        self.left = n_units
        self.n_workers = n_workers
        self.seconds: float | None = None

    def note(self, seconds: float) -> None:
        self.seconds = seconds if self.seconds is None else 0.8 * self.seconds + 0.2 * seconds

    @property
    def room(self) -> int:
        """How many batches may be in flight; one for each worker until it is known that units are short."""
        is_short = self.seconds is not None and self.seconds < LONG_S
        return self.n_workers * (IN_FLIGHT if is_short else 1)

    def batch(self, fresh: Iterator[Parcel]) -> list[Parcel]:
        """Take the next batch; empty if nothing is left."""
        size = 1
        if self.seconds is not None:
            fair = self.left // (IN_FLIGHT * self.n_workers)
            size = max(1, min(int(BATCH_S / max(self.seconds, 1e-6)), MOST_IN_BATCH, fair))
        batch = list(itertools.islice(fresh, size))
        self.left -= len(batch)
        return batch


def _killed(key: str) -> ShortlistError:
    return WorkerError(
        f"unit {key} ended its worker each time that it ran. Most often memory is short: use fewer workers."
    )
