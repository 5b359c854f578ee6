"""Workers that run units: this process, processes or threads of this machine, or a Dask cluster."""

from shortlist.runs.workers.completed import Completed
from shortlist.runs.workers.opening import Where, Workers, as_where, open_workers

__all__ = ["Completed", "Where", "Workers", "as_where", "open_workers"]
