"""Pruning for a sum of sigmoids of margins.

A search finds the value, and branch and bound, or one solver's programs, prove it.
"""

import dataclasses
import itertools
import math
import time

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.goals.margin_worth import MarginUtility, most_gain, utility_bounds, utility_scale
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.certificate import make_line_certificate
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, EnsembleSelection, Incumbent, PrunedSelection
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_proof import prove_slope
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, slope_rows
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.search.threshold_search import search_selection
from shortlist.ensembles.votes.binary_votes import confusion
from shortlist.milp import Solver
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs import Cancellation, Progress, Report
from shortlist.runs.progress import SECONDS

SEARCH_SHARE = 0.2
"""Part of the time limit after which the search gives way; it usually ends sooner."""

SEARCH_STEPS = 20_000
"""Moves of the search."""

NEWS_S = 0.1
"""Seconds between two entries of the history for bounds alone."""


def prune_by_slope(
    problem: ThresholdProblem,
    utility: MarginUtility,
    *,
    solver: Solver | None,
    solver_name: str = "",
    time_limit_s: float,
    node_limit: int | None,
    seed: int,
    threads: int,
    report: Report,
    cancellation: Cancellation | None,
) -> PrunedSelection:
    """Return the selection with the best utility.

    The value is its share of what it would be if every row were worth 1.

    Parameters
    ----------
    problem : ThresholdProblem
        Votes, weights and limits.
    utility : MarginUtility
        One that leads.
    solver : Solver or None
        A backend: that one alone, on :func:`shortlist.ensembles.proofs.lines.slope_program.slope_program` for
        every size, and its bounds are its word. None:
        :func:`shortlist.ensembles.proofs.lines.slope_proof.prove_slope`, whose bounds are integers
        throughout.
    time_limit_s : float
        Wall-clock limit, in seconds; inf for none.
    node_limit : int or None
        Nodes of the branch and bound, or each program's limit in the solver's unit; without a clock the
        answer then depends on nothing but the problem and the seed.
    seed, threads, report, cancellation
        Those of :class:`~shortlist.runs.budget.Budget`.

    Returns
    -------
    EnsembleSelection
        OPTIMAL where value and bound are the same integer, for this objective; a solver's bound counts as the
        value where the two differ by no more than
        :data:`shortlist.ensembles.proofs.lines.slope_program.PRECISION` of what all rows could be worth. The
        certificate proves the bound before any classifier is decided; a solver leaves none.
    """
    start = time.monotonic()
    best = Incumbent(problem)
    votes, weights, limits = problem.votes, problem.weights, problem.limits
    if conflict := limits.conflict():
        nothing = best.no_selection(Status.INFEASIBLE, limit="", seconds=0.0, reason=conflict)
        return dataclasses.replace(nothing, objective=named(weights, utility))
    rows = slope_rows(votes, weights, utility, limits)
    first_bounds = utility_bounds(votes, weights, utility, limits)
    unit = utility_scale(votes, weights) * most_gain(votes, weights)
    history: list[tuple[float, float | None, float]] = []

    def tell(stage: str, total: int | None, bound: int) -> None:
        seconds = time.monotonic() - start
        now = None if total is None else total / unit, bound / unit
        if not history or history[-1][1] != now[0] or seconds - history[-1][0] >= NEWS_S:
            history.append((seconds, *now))
            report(
                Progress(
                    stage, seconds, None if math.isinf(time_limit_s) else time_limit_s, *now, unit=SECONDS
                )
            )

    tell("searching", None, int(first_bounds.max()))
    found = search_selection(
        votes,
        weights,
        limits,
        utility=utility,
        max_steps=SEARCH_STEPS,
        seed=seed,
        deadline=start + time_limit_s * (SEARCH_SHARE if node_limit is None else 1.0),
        cancellation=cancellation,
        on_better=lambda found: tell("searching", found.utility, int(first_bounds.max())),
    )
    deadline = start + time_limit_s
    mask = _simple_selection(rows) if found is None else found.mask
    first = None if mask is None else (mask, *rows.best_threshold(mask))

    def on_news(total: int | None, bound: int) -> None:
        tell("proving", total, bound)

    if solver is None:
        answer = prove_slope(
            rows, first_bounds, start=first, deadline=deadline, max_nodes=node_limit, threads=threads,
            cancellation=cancellation, on_news=on_news,
        )  # fmt: skip
    else:
        answer = solve_slope_programs(
            rows, first_bounds, solver, start=first, deadline=deadline, max_nodes=node_limit, seed=seed,
            threads=threads, cancellation=cancellation, on_news=on_news,
        )  # fmt: skip
    seconds = time.monotonic() - start
    limit = f"{time_limit_s:g} s" if answer.limit == "seconds" else answer.limit
    value, bound = answer.total / unit, answer.bound / unit
    if answer.mask is None:
        status = Status.UNKNOWN if limit else Status.INFEASIBLE
        reason = f"{NONE_FEASIBLE}, says {solver.name}" if solver is not None and not limit else ""
        nothing = best.no_selection(status, limit=limit, seconds=seconds, reason=reason)
        bound = bound if limit else math.nan
        return dataclasses.replace(
            nothing, objective=named(weights, utility), bound=bound, history=tuple(history)
        )
    optimal = answer.bound == answer.total
    history.append((seconds, value, bound))
    certificate = None
    if answer.cover:
        certificate = make_line_certificate(votes, weights, utility, rows, answer)
    return EnsembleSelection(
        mask=answer.mask,
        objective=named(weights, utility),
        value=value,
        bound=bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            missing=(bound - value,),
            limit="" if optimal else limit,
        ),
        seconds=seconds,
        threshold=answer.threshold,
        confusion=confusion(votes, answer.mask, answer.threshold),
        history=tuple(history),
        certificate=certificate,
        certified_bound=None if certificate is None else certificate["bound"] / unit,
        proved_by="lines"
        if certificate is not None and certificate["bound"] == answer.bound
        else solver_name or "branch and bound",
    )


def _simple_selection(rows: SlopeRows) -> Mask | None:
    """Return the full ensemble, or the first single classifier that keeps the limits.

    The search found nothing.
    """
    full = np.ones(rows.n_classifiers, dtype=bool)
    masks = itertools.chain([full], np.eye(len(full), dtype=bool))
    return next((mask for mask in masks if rows.limits.satisfied_by(mask)), None)


def named(weights: Weights, utility: MarginUtility) -> Objective:
    """Return the objective with the utility in its name."""
    second = f"slope-{utility.slope:g}" if utility.leads else "margin"
    return Objective(f"{weights.objective.name}+{second}", Sense.MAX, scale=None)
