"""Where units run: a number of workers of this machine, or the address of a Dask scheduler."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from shortlist.errors import BadInputError
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.workers.completed import Completed, run_here

if TYPE_CHECKING:
    from shortlist.runs.unit import Unit

Where: TypeAlias = int | str | None
"""A number of workers of this machine, -1 for every core, None for the enclosing joblib context, or the
address of a Dask scheduler.
"""

EVERY_CORE = -1
"""Stands for as many workers as there are cores."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://([^\s/:]+|\[[0-9a-f:.%]+\]):[0-9]{1,5}", re.IGNORECASE)
"""A scheduler's, with the port at which it listens; Dask takes 20 s to find out that there is none."""


def as_where(value: Where, argument: str) -> Where:
    """Return workers as :func:`open_workers` takes them.

    Raises
    ------
    BadInputError
        If they are no number from 1 on and not -1, no address, and not None.
    """
    if isinstance(value, str) and _ADDRESS.fullmatch(value):
        return value
    if value is None or (isinstance(value, int) and (value > 0 or value == EVERY_CORE)):
        return value
    raise BadInputError(
        argument,
        "must be a number of workers, -1 for every core, or a scheduler's address such as tcp://host:8786",
        repr(value),
    )


class Workers:
    """What runs units, opened by :func:`open_workers`.

    Attributes
    ----------
    n_workers : int
        How many units run at a time.
    """

    def __init__(self, n_workers: int, engine: Any = None) -> None:
        self.n_workers = n_workers
        self._engine = engine

    def completed(
        self, units: "Sequence[Unit]", cancellation: Cancellation | None = None
    ) -> Iterator[Completed]:
        """Yield what every unit came to, in the order in which they end.

        An error that a unit raises comes with its :class:`Completed` and is not raised here.

        Parameters
        ----------
        units : sequence of Unit
            Calls and arguments must pickle unless they run in this process.
        cancellation : Cancellation, optional
            Once set, no unit is begun any more, and the iteration ends with those that run. Cancellations in
            the arguments of a unit are set along with it, wherever it runs.

        Raises
        ------
        WorkerError
            If there is no worker any more that could go on, or one has other packages.
        """
        stop = cancellation or Cancellation()
        if self._engine is not None:
            from shortlist.runs.workers.driver import drive

            yield from drive(self._engine, units, stop)
        elif self.n_workers == 1:
            for index, unit in enumerate(units):
                if stop.cancelled:
                    return
                yield run_here(index, unit)
        else:
            yield from _in_context(units, self.n_workers, stop)


@contextlib.contextmanager
def open_workers(where: Where = 1) -> Iterator[Workers]:
    """Yield workers, and let them go at the end.

    Parameters
    ----------
    where : int, str or None, default=1
        1 runs units in this process; other numbers take so many processes of this machine, -1 one for every
        core. An enclosing ``joblib.parallel_config`` that names a backend decides instead what they are,
        such as threads; with None it says how many, too. An address such as ``tcp://host:8786`` is that of a
        Dask scheduler.

    Raises
    ------
    BadInputError
        If `where` is something else.
    WorkerError
        If the scheduler cannot be reached within ten seconds, has no workers, or a worker has another version
        of Shortlist, of Python or of a package that decides answers.
    MissingDependencyError
        If an address is given and Dask is not installed.

    Notes
    -----
    Processes and clusters exchange pickles, so whoever controls a scheduler can run code here and on its
    workers: name one that you trust. Processes are kept for the next run, and end with this process.
    """
    where = as_where(where, "workers")
    if isinstance(where, str):
        from shortlist.runs.workers.cluster import ClusterEngine

        cluster = ClusterEngine(where)
        with contextlib.closing(cluster):
            yield Workers(cluster.n_workers, cluster)
        return
    n_workers, in_processes = _of_this_machine(where)
    if not in_processes:
        yield Workers(n_workers)
        return
    from shortlist.runs.workers.processes import ProcessEngine

    engine = ProcessEngine(n_workers)
    with contextlib.closing(engine):
        yield Workers(n_workers, engine)


def _of_this_machine(where: int | None) -> tuple[int, bool]:
    """Return how many workers joblib's context allows, and whether they are processes of ours."""
    if where == 1:
        return 1, False
    from joblib.parallel import get_active_backend

    backend, n_configured = get_active_backend()
    wanted = n_configured if where is None else where
    n_workers = int(backend.effective_n_jobs(1 if wanted is None else wanted))
    return n_workers, n_workers > 1 and type(backend).__name__ == "LokyBackend"


def _in_context(units: "Sequence[Unit]", n_workers: int, stop: Cancellation) -> Iterator[Completed]:
    """Run units in the backend of the enclosing joblib context.

    Whoever leaves before all have come back waits for those that run; no other begins.
    """
    from joblib import Parallel, delayed

    left = Cancellation()
    calls = (delayed(_unless_cancelled)(index, unit, (stop, left)) for index, unit in enumerate(units))
    running = Parallel(n_jobs=n_workers, return_as="generator_unordered")(calls)
    try:
        for done in running:
            if done is not None:
                yield done
    finally:
        left.cancel()
        for _ in running:
            pass


def _unless_cancelled(index: int, unit: "Unit", stops: tuple[Cancellation, ...]) -> Completed | None:
    return None if any(stop.cancelled for stop in stops) else run_here(index, unit)
