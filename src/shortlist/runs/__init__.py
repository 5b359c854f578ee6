"""Units of work, progress, cancellation and workers: what every long method reports to."""

from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation, cancel_on_interrupt
from shortlist.runs.progress import Progress, Report, silent
from shortlist.runs.units import Unit, run_units

__all__ = [
    "Budget",
    "Cancellation",
    "Progress",
    "Report",
    "Unit",
    "cancel_on_interrupt",
    "run_units",
    "silent",
]
