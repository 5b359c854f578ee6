"""Fronts of integer programs with several objectives."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shortlist._validation import as_positive_seconds
from shortlist._words import counted
from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.integer_objectives import UNLIMITED, integer_objectives
from shortlist.methods.program_methods import ProgramOptions, integer_method, method_options
from shortlist.milp.program import Program
from shortlist.pareto import nondominated_unique
from shortlist.programs.continuous_part import ContinuousPart
from shortlist.programs.integer_form import IntegerForm, exact_values, leaves_nothing, searched_form
from shortlist.programs.named_program import NamedProgram, with_steps
from shortlist.programs.recheck import broken_limits, program_facts, proof_tolerances
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, rounding
from shortlist.runs import Cancellation, Report, silent
from shortlist.runs.budget import Budget

MOST_OBJECTIVES = 6
"""Most objectives: with more, fronts hold nearly every solution."""


def solve_program(
    named: NamedProgram,
    *,
    method: str = "auto",
    tolerance: Mapping[str, float] | None = None,
    time_limit_s: float | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    **options: Any,
) -> Front:
    """Find the non-dominated points of a program, each with one solution.

    Raises BadInputError if there is nothing to decide, an objective is unbounded, its front may be
    infinite, or an option does not belong to the method. Raises SolverError if a solution fails the check
    in integers.

    The candidates of the front returned are the integer columns by name. An infeasible program has a complete
    front without points. `named`: program with two to six objectives. `method`: ``exact`` (search zones),
    ``cwmoip`` and ``epsilon-constraint`` find complete fronts, ``solrep`` a representation of proved points;
    ``auto`` is ``exact``. `tolerance`: step of each objective with continuous columns, by name. Values of
    this objective are rounded to multiples of the step: up if it is minimised, down if it is maximised.
    `time_limit_s`: wall-clock limit. `**options`: the fields of the method's class in
    :mod:`~shortlist.methods.program_methods`: `solver`, `seed`, and further ones for ``solrep``.
    ``front.extras["why"]`` names the engine and the reason.
    """
    chosen = method_options(method, **options)
    if tolerance is not None and not isinstance(tolerance, Mapping):
        raise BadInputError("tolerance", "must be a mapping of objectives to steps", repr(tolerance)[:60])
    _check_program(named)
    steps = dict(tolerance or {})
    stepped = with_steps(named, steps)
    _check_solver(named, chosen)
    form = searched_form(stepped)
    program = form.program
    budget = Budget(
        as_positive_seconds(time_limit_s, "time_limit_s"),
        seed=chosen.seed,
        report=report,
        cancellation=cancellation or Cancellation(),
    )
    if leaves_nothing(program):
        found = _no_points(stepped)
    else:
        find = _with_true_bounds(integer_method(method, chosen), method, program)
        candidates = (*stepped.candidates, *form.further)
        found = find(program, solver=chosen.solver, budget=budget, candidates=candidates)
    front = _as_written(found, named, form, steps)
    _check_solutions(named, front)
    why = front.extras.get("why", f"asked for {method}")
    if not named.program.integer.all():
        values = ContinuousPart(named, steps).solved(front)
        front = dataclasses.replace(front, columns=named.columns, continuous=values)
    return dataclasses.replace(
        front,
        method="exact" if method == "auto" else method,
        seconds=budget.elapsed,
        extras={**front.extras, "why": why, "program": program_facts(named, form, steps)},
    )


def _check_program(named: NamedProgram) -> None:
    """Refuse programs without a useful front, with one sentence about the reason."""
    program, n = named.program, len(named.program.objectives)
    if not program.n_columns:
        raise BadInputError("the program must have at least one column, got none.")
    if not 2 <= n <= MOST_OBJECTIVES:
        raise BadInputError(
            f"the program must have 2 to {MOST_OBJECTIVES} objectives, got {n}. "
            + (
                "Name more of them, or add a row without limits for each further one."
                if n < 2
                else "Choose some of them."
            )
        )
    if not program.integer.any():
        raise BadInputError(
            "the program must have integer columns, got continuous ones only: "
            "its front has infinitely many points."
        )


def _check_solver(named: NamedProgram, options: ProgramOptions) -> None:
    if options.solver == "cpsat" and not named.program.integer.all():
        column = named.columns[int(np.argmin(named.program.integer))]
        raise BadInputError(
            f"`solver='cpsat'` needs integer columns, and {column!r} is continuous. Use `solver='highs'`."
        )


def _no_points(named: NamedProgram) -> Front:
    objectives = tuple(linear.objective for linear in named.program.objectives)
    none = np.empty((0, len(objectives))), np.empty((0, len(named.candidates)), dtype=np.int64)
    proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(objectives))
    return Front.from_values(objectives, *none, named.candidates, proof, extras={"n_programs": 0})


def _with_true_bounds(find: Any, method: str, program: Program) -> Any:
    """Make the ε-constraint method compute the ends of objectives that the columns do not bound."""
    if method != "epsilon-constraint":
        return find
    integers = integer_objectives(program)
    endless = max(-integers.lower.min(), integers.upper.max()) >= UNLIMITED
    return partial(find, true_bounds=True) if endless else find


def _as_written(front: Front, named: NamedProgram, form: IntegerForm, steps: Mapping[str, float]) -> Front:
    """Return a front over the columns of the original program, with exact values.

    The tolerances of its proof are the steps, and the rounding of costs. A point that is dominated by exact
    values is left out.
    """
    n = len(named.candidates)
    narrower = dataclasses.replace(front, decisions=front.decisions[:, :n], candidates=front.candidates[:n])
    if not steps and not form.rounded:
        return narrower
    values = narrower.values.copy()
    objectives = list(front.objectives)
    ideal = list(front.extras.get("ideal", []))
    for number, name in enumerate(front.names):
        if name in form.rounded:
            sums = exact_values(named, number, narrower.decisions)
            values[:, number] = [float(one) for one in sums]
            objectives[number] = named.program.objectives[number].objective
            ideal[number : number + 1] = [None] * bool(ideal)
    signs = np.array([objective.sign for objective in objectives])
    kept = nondominated_unique(values * signs) if form.rounded else np.ones(len(front), dtype=bool)
    extras = front.extras if not ideal else {**front.extras, "ideal": ideal}
    return Front.from_values(
        objectives,
        values[kept],
        narrower.decisions[kept],
        narrower.candidates,
        dataclasses.replace(front.proof, tolerances=proof_tolerances(front.names, form, steps)),
        method=front.method,
        seconds=front.seconds,
        extras=extras,
    )


def _check_solutions(named: NamedProgram, front: Front) -> None:
    """Raise an error if a solution breaks a row or a bound of the program as read."""
    broken = next((text for text in broken_limits(named, front.decisions.astype(np.int64)) if text), "")
    if broken:
        raise SolverError(
            f"the solver found a solution that breaks {broken}. Use another solver, or round the "
            "numbers of the row to fewer digits."
        )


def notes_on(named: NamedProgram, front: Front) -> list[str]:
    """Return notes on a front for the user."""
    program, notes = named.program, []
    costs = program.minimised_costs()
    alike = all(np.array_equal(costs[0], other) for other in costs[1:])
    if alike and len(front) == 1:
        notes.append("The objectives are all alike, so the front is one point: their optimum.")
    n_continuous = int((~program.integer).sum())
    if n_continuous:
        notes.append(
            f"The program has {counted(n_continuous, 'continuous column')}; at each point they have one of "
            "the best values that its integer columns leave."
        )
    notes += filter(None, [rounding(front)])
    return notes


def named_objectives(objectives: str | Sequence[str] | None, n: int) -> list[tuple[str, str]]:
    """Return sense and name of each of `n` objectives.

    >>> named_objectives("min cost, max value", 2), named_objectives(None, 1)
    ([('min', 'cost'), ('max', 'value')], [('min', 'objective 1')])
    """
    from shortlist.results.objective import objective_names

    if objectives is None:
        return [("min", f"objective {i + 1}") for i in range(n)]
    if not isinstance(objectives, str) and not (
        isinstance(objectives, Sequence) and all(isinstance(one, str) for one in objectives)
    ):
        raise BadInputError("objectives", "must read like 'min cost, max selected'", repr(objectives)[:60])
    text = objectives if isinstance(objectives, str) else ", ".join(objectives)
    found = [(str(sense), name) for sense, name in objective_names(text)]
    if len(found) != n:
        raise BadInputError("objectives", f"must name one for each of the {n} rows of C", len(found))
    return found
