"""Pruning for a sum of sigmoids of margins.

A search finds the value, and branch and bound, or one solver's programs, prove it.
"""

import dataclasses
import itertools
import math

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.goals.margin_worth import MarginUtility, most_gain, utility_bounds, utility_scale
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.certificate import make_line_certificate
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, EnsembleSelection, Incumbent, PrunedSelection
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_proof import prove_slope
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, slope_rows
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.search.tabu_search import search_selection
from shortlist.ensembles.votes.binary_votes import confusion
from shortlist.milp import Solver
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget


def prune_by_slope(
    problem: ThresholdProblem,
    utility: MarginUtility,
    budget: Budget,
    *,
    solver: Solver | None = None,
    solver_name: str = "",
    settings: SlopeSettings | None = None,
) -> PrunedSelection:
    """Return the selection with the best utility.

    The value is its share of what it would be if every row were worth 1.

    Parameters
    ----------
    problem : ThresholdProblem
        Votes, weights and limits.
    utility : MarginUtility
        One that leads.
    budget : Budget
        Its limit in nodes is of the branch and bound, or of each program in the solver's unit; without a
        time limit the answer then depends on nothing but the problem and the seed.
    solver : Solver, optional
        A backend: that one alone, on :func:`shortlist.ensembles.proofs.lines.slope_program.slope_program`
        for every size, and its bounds are its word. By default
        :func:`shortlist.ensembles.proofs.lines.slope_proof.prove_slope`, whose bounds are integers
        throughout.
    solver_name : str
        What that backend is called.
    settings : SlopeSettings, optional
        How the time is shared, and how large proofs may become.

    Returns
    -------
    EnsembleSelection
        OPTIMAL where value and bound are the same integer, for this objective; a solver's bound counts as the
        value where the two differ by no more than
        :data:`shortlist.ensembles.proofs.lines.slope_program.PRECISION` of what all rows could be worth. The
        certificate proves the bound before any classifier is decided; a solver leaves none.
    """
    settings = settings or SlopeSettings()
    best = Incumbent(problem)
    votes, weights, limits = problem.votes, problem.weights, problem.limits
    if conflict := limits.conflict():
        nothing = best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
        return dataclasses.replace(nothing, objective=named(weights, utility))
    rows = slope_rows(votes, weights, utility, limits)
    first_bounds = utility_bounds(votes, weights, utility, limits)
    unit = utility_scale(votes, weights) * most_gain(votes, weights)
    history: list[tuple[float, float | None, float]] = []

    def tell(stage: str, total: int | None, bound: int) -> None:
        seconds = budget.elapsed
        now = None if total is None else total / unit, bound / unit
        if not history or history[-1][1] != now[0] or seconds - history[-1][0] >= settings.news_seconds:
            history.append((seconds, *now))
            budget.tell(stage, value=now[0], bound=now[1])

    tell("searching", None, int(first_bounds.max()))
    found = search_selection(
        votes,
        weights,
        limits,
        budget.until(settings.search_share),
        utility=utility,
        max_steps=settings.search_steps,
        on_better=lambda found: tell("searching", found.utility, int(first_bounds.max())),
    )
    mask = _simple_selection(rows) if found is None else found.mask
    first = None if mask is None else (mask, *rows.best_threshold(mask))

    def on_news(total: int | None, bound: int) -> None:
        tell("proving", total, bound)

    if solver is None:
        answer = prove_slope(rows, first_bounds, budget, start=first, on_news=on_news, settings=settings)
    else:
        answer = solve_slope_programs(
            rows, first_bounds, solver, budget, start=first, on_news=on_news, settings=settings
        )
    seconds, limit = budget.elapsed, answer.limit
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
