"""What is known of a pruned ensemble, said in one order.

The value that was counted comes first, then the bound that anyone can recheck, then who says more.
"""

import dataclasses
from typing import Any

from shortlist._validation import AUTO
from shortlist._words import all_of, counted
from shortlist.ensembles.committees.evidence import Evidence, PrunedSelection, certified_by, evidence_of_rule
from shortlist.ensembles.pruning.mean_problem import MEAN_LOSSES, asks_for_choice
from shortlist.milp import Solver
from shortlist.results.objective import Sense
from shortlist.results.proof import Status
from shortlist.solvers import TITLES

COMMITTEE_WALK = "full search of all committees"
"""Step that proved the bound of a complete front."""

CHEAPER_WALK = "full search of all committees that cost no more"
"""Step that proved the bound of a point of a front which is below the best at any cost."""

BEFORE_WALK = "exact pruning before the full search"
"""Step that proved the bound of a front that is not complete."""


def bound_of_front(proved_by: str) -> str:
    """Return which step proved a bound of a front, in words that fit where no certificate was kept."""
    return COMMITTEE_WALK if proved_by == COMMITTEE_WALK else BEFORE_WALK


def solver_name(solver: str | Solver) -> str:
    """Return what a solver calls itself; nothing for the engine, which names its steps."""
    if solver == AUTO:
        return ""
    name = solver if isinstance(solver, str) else solver.name
    return TITLES.get(name, name)


def sizes_in_words(least: int, most: int, n_classifiers: int) -> str:
    """Say which sizes selections have; nothing where it is any of the pool.

    >>> sizes_in_words(10, 10, 100), sizes_in_words(1, 10, 100), sizes_in_words(3, 10, 100)
    ('of exactly 10 members', 'of at most 10 members', 'of 3 to 10 members')
    >>> sizes_in_words(3, 100, 100), sizes_in_words(1, 100, 100)
    ('of at least 3 members', '')
    """
    if least == most:
        return f"of exactly {counted(most, 'member')}"
    if most < n_classifiers:
        return f"of at most {counted(most, 'member')}" if least <= 1 else f"of {least} to {most} members"
    return f"of at least {least} members" if least > 1 else ""


def selections_meant(pruner: Any) -> str:
    """Say among which selections a fitted exact pruner chose, to go after "selection"; empty: among all."""
    n_classifiers = len(pruner.selection_) * pruner.max_copies
    least, most = pruner.sizes_
    if hasattr(pruner, "front_"):  # the price that is paid is known of committees of few members
        most = min(most, pruner.front_.extras.get("max_size", most))
    sizes = sizes_in_words(least, most, n_classifiers)
    if least == most and pruner.max_size is None and asks_for_choice(pruner.goal):
        sizes = f"of {counted(most, 'member')}, a size that auto chose"
    limits = ["cost"] if pruner.max_cost is not None else []
    limits += ["diversity"] if pruner.diversity != "none" else []
    within = f"within the limits on {all_of(limits)}" if limits else ""
    cheaper = ""
    if pruner.result_.proved_by == CHEAPER_WALK:
        objectives = pruner.front_.objectives
        prices = [one.name for one in objectives if one.sense is Sense.MIN and one.name not in MEAN_LOSSES]
        cheaper = f"within its own {all_of(prices)}"
    return " ".join(filter(None, [sizes, within, cheaper]))


def evidence_of(
    result: PrunedSelection, solver: str, among: str = "", rows: str = "selection rows"
) -> Evidence:
    """Return what a result of exact pruning says of itself.

    `result`: with a selection. `solver`: the option `solver` that it was found with. `among`: what
    :func:`selections_meant` says. `rows`: what its value is counted on.
    """
    certified = getattr(result, "certified_bound", None)
    parts, why = "", ""
    if certified is None:
        why = _why_none(solver) if result.counted_from == "votes" else "its tangents are too many to recheck"
        if result.proved_by in {COMMITTEE_WALK, CHEAPER_WALK, BEFORE_WALK}:
            why = "a full search of committees writes none"
    else:
        parts = certified_by(result.certificate or {})
    largest = result.objective.sense is Sense.MAX
    beyond = certified is None or (result.bound < certified if largest else result.bound > certified)
    return Evidence(
        objective=result.objective.name,
        value=result.value,
        certified_bound=certified,
        certified_by=parts,
        no_certificate=why,
        bound=result.bound,
        bound_by=result.proved_by if beyond else parts,
        rows=rows,
        within_tolerance=result.status is Status.OPTIMAL,
        sense=str(result.objective.sense),
        counted_from=result.counted_from,
        among=among,
    )


def evidence_of_step(step: PrunedSelection | None, error: float, error_bound: float | None) -> Evidence:
    """Return what is known of an evolved ensemble, by its errors and its exact selection, if any.

    Shares are of one minus the errors. A bound without a step is one of a model from before steps were kept.
    """
    value, rows = 1 - error, "rows that it was evolved on"
    if error_bound is None:
        return evidence_of_rule(value, rows)
    bound = 1 - error_bound
    if step is None or step.certified_bound is None:
        none = dataclasses.replace(evidence_of_rule(value, rows), bound=bound, bound_by="the exact step")
        return dataclasses.replace(none, no_certificate="the model keeps no certificate")
    sizes = (step.certificate or {})["limits"]
    among = sizes_in_words(sizes["min_size"], sizes["max_size"], len(step.mask))
    known = dataclasses.replace(evidence_of(step, AUTO, among), value=value, bound=bound, rows=rows)
    same = step.certified_bound == step.bound
    return dataclasses.replace(known, certified_bound=bound if same else step.certified_bound)


def _why_none(solver: str) -> str:
    if solver != AUTO:
        return f"{solver_name(solver)} alone writes none"
    return "the proof was stopped early"
