"""Exact pruning: the paper's program in one solver, or the engine made for the problem."""

import math
import time

from shortlist.ensembles.incumbent import EnsembleSelection, Incumbent
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.proving import prove
from shortlist.ensembles.pruning_program import PruningProgram, pruning_program, without_selection
from shortlist.ensembles.votes import Votes
from shortlist.ensembles.weights import Weights
from shortlist.errors import SolverError
from shortlist.front import Status
from shortlist.milp import Limits, Solver, open_solver
from shortlist.runs import Cancellation, Progress, Report, silent
from shortlist.runs.progress import SECONDS

AUTO = "auto"
"""The engine of :mod:`shortlist.ensembles.proving`, which takes solvers to its last step only."""


def prune_exactly(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    *,
    solver: str | Solver = AUTO,
    time_limit_s: float = math.inf,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> EnsembleSelection:
    """Return the members and the threshold that maximise Eq. 1 of :cite:t:`Bastos2022` within limits.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    weights : Weights
        What decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity.
    solver : str or Solver, default="auto"
        ``"auto"``: :func:`shortlist.ensembles.proving.prove`. The name of a backend, or a backend: that one alone,
        on the paper's program as it stands.
    time_limit_s : float, default=inf
        Wall-clock limit, in seconds.
    node_limit : int, optional
        Limit that does not depend on the clock, in the solver's unit (see :class:`shortlist.milp.Limits`).
    seed, threads : int
        For the searches; with one thread and only a node limit the answer is reproducible.
    report : callable, optional
        Receives progress events with value and bound in the user's unit; done and total are seconds.
    cancellation : Cancellation, optional
        Stops with the best selection found.

    Returns
    -------
    EnsembleSelection
        Threshold, value and confusion are computed from the votes, whatever the solver says. OPTIMAL: the value equals
        the bound, both integers before they are scaled; a solver's bound is its word. INFEASIBLE and UNKNOWN carry a
        reason and choose nothing.

    Raises
    ------
    SolverError
        If the solver's bound is below the value of a selection that keeps the limits: then it is wrong.
    """
    start = time.monotonic()
    best = Incumbent(votes, weights, limits)
    conflict = limits.conflict()
    if conflict:
        return best.no_selection(
            Status.INFEASIBLE, limit="", seconds=time.monotonic() - start, reason=conflict
        )
    if solver == AUTO:
        return prove(
            best,
            time_limit_s=time_limit_s,
            node_limit=node_limit,
            seed=seed,
            threads=threads,
            report=report,
            cancellation=cancellation,
        )
    backend = open_solver(solver) if isinstance(solver, str) else solver
    built = pruning_program(votes, weights, limits)
    best.offer_simple_selections()

    def on_bound(objective: float, bound: float) -> None:
        best.lower_bound_to(_weighted(built, bound, best.bound))
        best.record(time.monotonic() - start)
        total = None if math.isinf(time_limit_s) else time_limit_s
        value = None if math.isnan(objective) else weights.value(-round(objective + built.offset))
        values = [one for one in (value, best.value) if one is not None]
        report(
            Progress(
                "proving",
                time.monotonic() - start,
                total,
                max(values, default=None),
                weights.value(best.bound),
                unit=SECONDS,
            )
        )

    program = built.program
    while True:
        remaining = max(0.01, time_limit_s - (time.monotonic() - start))
        session = backend.open(program, seed=seed, threads=threads)
        session.set_start(None if best.mask is None else built.encode(votes, best.mask, best.threshold))
        solution = session.solve(
            Limits(remaining, node_limit, absolute_gap=weights.step * (1 - 1e-6)),
            on_bound=on_bound,
            cancellation=cancellation,
        )
        rejected = None
        if solution.values is not None:
            mask = built.members(solution.values)
            rejected = None if limits.satisfied_by(mask) else mask
            best.offer(mask)
        if rejected is None or time.monotonic() - start >= time_limit_s:
            break
        program = without_selection(program, rejected)
    limit = {"seconds": f"{time_limit_s:g} s"}.get(solution.limit, solution.limit)
    infeasible = solution.status is Status.INFEASIBLE
    seconds = time.monotonic() - start
    if not infeasible:
        best.lower_bound_to(_weighted(built, solution.bound, best.bound))
    if best.mask is None:
        status = Status.INFEASIBLE if infeasible else Status.UNKNOWN
        return best.no_selection(status, limit=limit, seconds=seconds)
    if infeasible:
        raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
    return best.selection(limit=limit, seconds=seconds)


def _weighted(built: PruningProgram, bound: float, otherwise: int) -> int:
    """Turn a bound on the cost into one on the weighted sum."""
    return otherwise if math.isinf(bound) else math.floor(-(bound + built.offset) + 1e-6)
