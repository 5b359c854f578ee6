"""A walk over all stage assignments as units that need nothing of each other, for workers elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search.kept_walks import WALKING, FinishedWalk
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
) -> FinishedWalk:
    """Run every task as a unit with a walker of its own.

    A unit knows nothing of what others have found, so all of them together look at more than threads do. What
    is found is the same.

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
    """
    units = [Unit(str(number), walk_task, (make, join, firsts)) for number, firsts in enumerate(tasks)]
    work = Work(workers, study, budget.report, budget.cancellation)
    done, looked = 0, 0
    nothing = make()
    parts = [nothing.found()]
    for _, answer in run_units(units, work, stage=WALKING):
        arrays = {name: np.array(answer[name], dtype=np.int64) for name in ("measures", "ties", "chains")}
        if len(arrays["ties"]):
            parts.append(FoundAssignments(**arrays))
        looked += answer["looked"]
        done += 1
        if budget.expired:
            break
    return FinishedWalk(join(nothing.problem, parts), done, looked)


def walk_task(make: Callable[[], Walker], join: Join, firsts: NDArray[np.int64]) -> dict[str, Any]:
    """Look at all assignments that begin with one of `firsts`; return what was found as JSON holds it."""
    walker = make()
    looked = walker.walk(firsts)
    found = join(walker.problem, [walker.found()])
    return {"looked": looked, **{name: array.tolist() for name, array in vars(found).items()}}
