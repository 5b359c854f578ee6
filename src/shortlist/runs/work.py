"""Who works, where finished units are kept, who is told, and who may stop it."""

from dataclasses import dataclass, field

from shortlist.runs.cancellation import Cancellation
from shortlist.runs.progress import Report, silent
from shortlist.runs.studies import NO_STUDY, Study
from shortlist.runs.workers import Where


@dataclass(frozen=True)
class Work:
    """How long work is done; it decides nothing of its results.

    Parameters
    ----------
    workers : int, str or None, default=1
        As :func:`shortlist.runs.workers.open_workers` takes them: a number of workers of this machine, -1 for
        every core, None for the enclosing joblib context, or the address of a scheduler.
    study : Study, optional
        Where finished units are kept, and from where they are taken.
    report : callable, optional
        Receives progress.
    cancellation : Cancellation, optional
        Stops the work with what it has.
    """

    workers: Where = 1
    study: Study = NO_STUDY
    report: Report = silent
    cancellation: Cancellation = field(default_factory=Cancellation)
