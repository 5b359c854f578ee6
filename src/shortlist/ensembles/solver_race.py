"""Several solvers on one program beside each other, until their answers meet."""

import contextlib
import math
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.front import Status
from shortlist.milp import Limits, Program, open_solver
from shortlist.milp.solution import Solution
from shortlist.runs import Cancellation

POLL_S = 0.05

CPSAT_THREADS = 8
"""From so many on CP-SAT runs its kinds of search side by side, which closes more than fewer do, on two cores too."""

Hear: TypeAlias = Callable[[float, float], bool]
"""Receives (cost of the best solution so far or NaN, bound); answers whether to go on."""


def threads_by_solver(threads: int, node_limit: int | None) -> dict[str, int]:
    """Return which solvers run beside each other, with how many threads: HiGHS alone where the answer must repeat."""
    if threads > 1 and node_limit is None:
        return {"highs": 1, "cpsat": CPSAT_THREADS}
    return {"highs": 1}


@dataclass
class _Runner:
    """A solver in a thread of its own, and what became of it."""

    name: str
    threads: int
    solution: Solution | None = None
    failure: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether the others need not go on: it failed, or left nothing to find."""
        proved = self.solution is not None and self.solution.status in {Status.OPTIMAL, Status.INFEASIBLE}
        return proved or self.failure is not None


def race(
    program: Program,
    threads: Mapping[str, int],
    *,
    limits: Limits,
    seed: int,
    start: NDArray[np.float64] | None,
    cutoff: float | None,
    hear: Hear,
    cancellation: Cancellation,
) -> list[Solution]:
    """Solve one program by several solvers at once; the first that proves its answer stops the others.

    Parameters
    ----------
    program : Program
        Its integer columns bounded, for CP-SAT.
    threads : mapping of str to int
        Threads by name of the solver.
    limits : Limits
        For each of them.
    seed : int
        For each of them.
    start : ndarray or None
        A solution to start from.
    cutoff : float or None
        Only solutions that cost at most this.
    hear : callable
        Called in this thread with news of any solver; False stops all of them.
    cancellation : Cancellation
        Stops all of them, with what they have.

    Returns
    -------
    list of Solution
        One per solver, in the order of `threads`.

    Raises
    ------
    SolverError
        If one of them fails or contradicts itself.
    """
    stop = Cancellation()
    inbox: queue.SimpleQueue[tuple[float, float]] = queue.SimpleQueue()

    def work(runner: _Runner) -> None:
        try:
            session = open_solver(runner.name).open(program, seed=seed, threads=runner.threads)
            session.set_cutoff(cutoff)
            session.set_start(start)
            runner.solution = session.solve(
                limits, on_bound=lambda cost, bound: inbox.put((cost, bound)), cancellation=stop
            )
        except BaseException as error:  # noqa: BLE001  # raised again in the waiting thread
            runner.failure = error
        finally:
            inbox.put((math.nan, -math.inf))

    runners = [_Runner(name, number) for name, number in threads.items()]
    workers = [threading.Thread(target=work, args=(runner,), daemon=True) for runner in runners]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            if cancellation.cancelled or any(runner.is_done for runner in runners):
                stop.cancel()
            with contextlib.suppress(queue.Empty):
                if not hear(*inbox.get(timeout=POLL_S)):
                    stop.cancel()
    finally:
        stop.cancel()
        for worker in workers:
            worker.join()
    for runner in runners:
        if runner.failure is not None:
            raise runner.failure
    return [runner.solution for runner in runners if runner.solution is not None]
