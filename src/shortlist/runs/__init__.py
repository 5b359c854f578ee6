"""Units of work, with progress, cancellation and workers, for all long methods."""

from shortlist.runs.budget import Budget, Progress, Report, silent
from shortlist.runs.cancellation import Cancellation, cancel_on_interrupt
from shortlist.runs.study import NO_STUDY, Finished, Study, open_study
from shortlist.runs.units import Work, run_units
from shortlist.runs.workers import Unit

__all__ = [
    "NO_STUDY",
    "Budget",
    "Cancellation",
    "Finished",
    "Progress",
    "Report",
    "Study",
    "Unit",
    "Work",
    "cancel_on_interrupt",
    "open_study",
    "run_units",
    "silent",
]
