"""Independent units of work, run in order by one or many workers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.runs.cancellation import Cancellation
from shortlist.runs.progress import Progress, Report, silent


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit; `key` names it in stores and messages."""

    key: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


def run_units(
    units: Sequence[Unit],
    *,
    n_jobs: int | None = 1,
    stage: str = "",
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield ``(key, result)`` for every unit, in the order of `units`, whatever the number of workers.

    Parameters
    ----------
    units : sequence of Unit
        What to run. Calls and arguments must pickle when `n_jobs` is not 1.
    n_jobs : int or None, default=1
        Workers, in joblib's sense: -1 for every core, None for the enclosing joblib context, so a Dask or
        another joblib backend takes over from outside.
    stage : str
        What the progress events say is being done.
    report : callable, optional
        Receives one event at the start and one after every unit.
    cancellation : Cancellation, optional
        Looked at before every unit; once set, nothing more is started and the iteration ends early.

    Raises
    ------
    Exception
        Whatever a unit raises, when its turn comes.
    """
    from joblib import Parallel, delayed

    total = len(units)
    report(Progress(stage, 0, total, outer=True))
    calls = (
        delayed(unit.call)(*unit.arguments)
        for unit in units
        if cancellation is None or not cancellation.cancelled
    )
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    for done, (result, unit) in enumerate(zip(results, units, strict=False), start=1):
        report(Progress(stage, done, total, outer=True))
        yield unit.key, result
