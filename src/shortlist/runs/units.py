"""Independent units of work, run in order by one or many workers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.runs.cancellation import Cancellation
from shortlist.runs.progress import Progress, Report, silent
from shortlist.runs.workers import Completed, Where, open_workers


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit; `key` names it in stores and messages."""

    key: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


def run_units(
    units: Sequence[Unit],
    *,
    n_jobs: Where = 1,
    stage: str = "",
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield ``(key, result)`` for every unit, in the order of `units`, whatever the number of workers.

    Parameters
    ----------
    units : sequence of Unit
        What to run. Calls and arguments must pickle when `n_jobs` is not 1.
    n_jobs : int, str or None, default=1
        Workers, as :func:`shortlist.runs.workers.open_workers` takes them.
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
    total, done = len(units), 0
    report(Progress(stage, 0, total, outer=True))
    ended: dict[int, Completed] = {}
    turn = 0
    with open_workers(n_jobs) as workers:
        for completed in workers.completed(units, cancellation):
            ended[completed.index] = completed
            while turn in ended:
                key, result = _opened(units[turn].key, ended.pop(turn))
                turn, done = turn + 1, done + 1
                report(Progress(stage, done, total, outer=True))
                yield key, result
    for index in sorted(ended):  # a cancellation left out some before them
        done += 1
        report(Progress(stage, done, total, outer=True))
        yield _opened(units[index].key, ended[index])


def _opened(key: str, completed: Completed) -> tuple[str, Any]:
    """Return key and result, or raise the unit's error with its key."""
    if completed.error is not None:
        completed.error.add_note(f"in unit {key}")
        raise completed.error
    return key, completed.result
