"""A walk over all stage assignments as units that need nothing of each other, for workers elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.walkers import FoundAssignments, Walker
from shortlist.runs import Budget, Study, Unit, Work, run_units
from shortlist.runs.workers import Where

Join: TypeAlias = Callable[[StageProblem, list[FoundAssignments]], FoundAssignments]
"""Makes one of what several walkers found, the non-dominated alone."""


def walk_units(
    make: Callable[[], Walker],
    tasks: Sequence[NDArray[np.int64]],
    join: Join,
    budget: Budget,
    *,
    workers: Where,
    study: Study,
) -> tuple[list[FoundAssignments], int]:
    """Run every task as a unit with a walker of its own.

    A unit knows nothing of what others have found, so all of them together look at more than threads do; how
    many they look at depends on nothing but the problem.

    Parameters
    ----------
    make : callable
        Returns a walker with nothing found yet. It pickles, and is sent to each worker once.
    tasks : sequence of ndarray of int64
        First sets of the chains, as bit masks.
    join : callable
        A function of a module.
    budget : Budget
        How long it may take. What is not finished in time is left out.
    workers : int, str or None
        See :func:`shortlist.runs.workers.open_workers`.
    study : Study
        Keeps what every task found.

    Returns
    -------
    found : list of FoundAssignments
        Of each finished task; arrays of one dimension where there is nothing.
    looked : int
        Chains that were looked at.
    """
    units = [Unit(str(number), walk_task, (make, join, firsts)) for number, firsts in enumerate(tasks)]
    work = Work(workers, study, budget.report, budget.cancellation)
    found, looked = [], 0
    for _, answer in run_units(units, work, stage="walking stage assignments"):
        parts = {name: np.array(answer[name], dtype=np.int64) for name in ("measures", "ties", "chains")}
        found.append(FoundAssignments(**parts))
        looked += answer["looked"]
        if budget.expired:
            break
    return found, looked


def walk_task(make: Callable[[], Walker], join: Join, firsts: NDArray[np.int64]) -> dict[str, Any]:
    """Look at all assignments that begin with one of `firsts`; return what was found as JSON holds it."""
    walker = make()
    looked = walker.walk(firsts)
    found = join(walker.problem, [walker.found()])
    return {"looked": looked, **{name: array.tolist() for name, array in vars(found).items()}}
