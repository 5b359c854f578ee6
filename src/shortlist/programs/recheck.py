"""Recheck of solutions and fronts of programs, in integers, against the program as read."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, number_text
from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.boxes import BoxSearch
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of, other_objectives
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.milp.program import LinearObjective, Program
from shortlist.milp.whole_rows import whole_rows
from shortlist.programs.continuous_part import ContinuousPart
from shortlist.programs.integer_form import IntegerForm, exact_values, leaves_nothing, searched_form
from shortlist.programs.named_program import NamedProgram, chosen_objectives, with_steps
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, proof_conflict, rounding
from shortlist.runs.budget import Budget


def recheck_front(named: NamedProgram, front: Front, *, budget: Budget | None = None) -> FrontCheck:
    """Check every point of a front, and the front's claims about other solutions.

    Each solution is checked in integers against rows and bounds as read, its objectives are recomputed, and
    no point may dominate another. Continuous columns are checked in fractions, else within the tolerance of
    HiGHS, which found them. A claim of completeness is checked by sums of integers. Where the sums prove
    nothing, a solver that did not find the front checks the claim
    (:func:`shortlist.methods.boxes.search_boxes`).

    Raises BadInputError if the front is of another program, with other objectives or columns.

    `named`: program as read, with all its objectives. `front`: front found for it.

    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> from shortlist.programs.solve import solve_program
    >>> from shortlist.results.objective import Objective
    >>> costs = [LinearObjective(Objective(n), np.array(c)) for n, c in (("a", [1.0, 2]), ("b", [2.0, 1]))]
    >>> program = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=costs
    ... )
    >>> named = NamedProgram(program, ("x", "y"), ("row",))
    >>> recheck_front(named, solve_program(named)).status
    'rechecked'
    """
    budget = budget or Budget()
    known = [linear.objective.name for linear in named.program.objectives]
    if missing := [name for name in front.names if name not in known]:
        raise BadInputError(
            f"the front must be of this program, which lacks its objective{'s' * (len(missing) > 1)} "
            f"{all_of(missing)}. Name the program it was made from."
        )
    named = chosen_objectives(named, [(one.sense, one.name) for one in front.objectives])
    if named.candidates != front.candidates:
        raise BadInputError(
            f"the front must be of this program, whose {len(named.candidates):,} integer columns differ from "
            f"the {len(front.candidates):,} of the front. Name the program it was made from."
        )
    steps = dict(front.extras.get("program", {}).get("tolerance", {}))
    form = searched_form(with_steps(named, steps))
    failures, n_near = _other_facts(named, form, front, steps), 0
    if not failures:
        failures, n_near = _wrong_points(named, form, front, steps)
    if failures:
        return FrontCheck(failures, len(front), front.proof.kind, None, finder_of(front), budget.elapsed)
    if leaves_nothing(form.program):  # the front is then empty, and objective space one empty box
        nowhere = BoxSearch(1, n_by_sums=1, n_by_solver=0, n_open=0, solver="")
        return FrontCheck((), 0, front.proof.kind, nowhere, "", budget.elapsed)
    found = check_claims(form.program, _in_integers(front, form), budget=budget, exact=bool(steps))
    claim = found.claim if form.rounded else front.proof.kind
    return dataclasses.replace(found, claim=claim, n_completed=n_near, rounded=rounding(front))


def program_facts(named: NamedProgram, form: IntegerForm, steps: Mapping[str, float]) -> dict[str, Any]:
    """Return the facts about a program that the file of a front holds.

    `form`: program of the search, with the steps of objectives with continuous columns.
    """
    facts: dict[str, Any] = {"columns": named.program.n_columns, "rows": named.program.n_rows}
    if within := int((~whole_rows(form.program).whole).sum()):
        facts["rows_within_tolerance"] = within
    if not named.program.integer.all():
        facts["continuous"] = int((~named.program.integer).sum())
    if steps:
        facts["tolerance"] = dict(steps)
    if form.rounded:
        facts["rounded"] = {name: known.step for name, known in form.rounded.items()}
    return facts


def proof_tolerances(
    names: Sequence[str], form: IntegerForm, steps: Mapping[str, float]
) -> tuple[float, ...]:
    """Return the tolerance of a complete front per objective; empty if values are exact."""
    if not steps and not form.rounded:
        return ()
    return tuple(form.rounded[name].most if name in form.rounded else steps.get(name, 0.0) for name in names)


def _other_facts(
    named: NamedProgram, form: IntegerForm, front: Front, steps: Mapping[str, float]
) -> tuple[str, ...]:
    """Return sentences about wrong facts of a front on its program, objectives or rounding."""
    meant = program_facts(named, form, steps)
    told = front.extras.get("program", {})
    said = [
        f"the front says otherwise what {name} the program has"
        for name in meant
        if told.get(name) != meant[name]
    ]
    said += [
        f"the front says of the program what nothing tells: {name}" for name in told if name not in meant
    ]
    said += filter(None, [proof_conflict(front, may_round=True)])
    tolerances = proof_tolerances(front.names, form, steps)
    if front.proof.tolerances != tolerances and (tolerances or any(front.proof.tolerances)):
        said.append("the tolerances of the proof are not those by which values are rounded")
    objectives = [linear.objective for linear in named.program.objectives]
    if not leaves_nothing(form.program):
        searched = integer_objectives(form.program).objectives
        objectives = [
            own if own.name in form.rounded else one for own, one in zip(objectives, searched, strict=True)
        ]
    return (*said, *other_objectives(front, objectives))


def _in_integers(front: Front, form: IntegerForm) -> Front:
    """Return a front with the values and claims of a search with rounded costs.

    For every solution this front has a point that is worse by at most the rounding of the costs.
    """
    if not form.rounded:
        return front
    objectives, values, proof = list(front.objectives), front.values.copy(), front.proof
    missing = [0.0] * len(objectives) if proof.missing is None else list(proof.missing)
    own = np.flatnonzero(form.program.integer)[: len(front.candidates)]
    for number, linear in enumerate(form.program.objectives):
        known = form.rounded.get(linear.objective.name)
        if known is not None:
            objectives[number] = linear.objective
            values[:, number] = front.decisions @ linear.costs[own]
            missing[number] = (missing[number] + known.most) / known.step
    if proof.kind is ProofKind.COMPLETE or proof.missing is not None:
        proof = Proof(ProofKind.APPROXIMATE, (), tuple(missing), proof.n_unresolved, proof.limit)
    else:
        proof = dataclasses.replace(proof, tolerances=())
    return dataclasses.replace(front, objectives=tuple(objectives), values=values, proof=proof)


def _wrong_points(
    named: NamedProgram, form: IntegerForm, front: Front, steps: Mapping[str, float]
) -> tuple[tuple[str, ...], int]:
    """Return sentences about solutions that break a row or a bound, or do not match their points.

    The second value is the number of solutions whose continuous columns meet rows only within the tolerance
    of HiGHS.
    """
    said = []
    solutions = front.decisions.astype(np.int64)
    for number, broken in enumerate(broken_limits(named, solutions)):
        if broken:
            said.append(f"the solution of point {number} breaks {broken}")
    said = said or _other_values(named, form, front, solutions)
    if said or named.program.integer.all():
        return tuple(said), 0
    if front.continuous is not None and front.columns != named.columns:
        return ("the columns of the front are not those of the program",), 0
    kept = _kept_rows(ContinuousPart(named, steps), front)
    return tuple(
        f"the solution of point {number} has no continuous part with these values"
        for number, exact in enumerate(kept)
        if exact is None
    ), kept.count(False)


def _kept_rows(part: ContinuousPart, front: Front) -> list[bool | None]:
    """Return, for each point, whether its continuous columns meet every row and give its values.

    True for a point whose columns do so exactly, False within the tolerance of HiGHS only, None otherwise.
    HiGHS finds the values for a front that was saved without them.
    """
    kept: list[bool | None] = []
    for number, (decision, point) in enumerate(zip(front.decisions, front.values.tolist(), strict=True)):
        own = part.best(decision, point) if front.continuous is None else front.continuous[number]
        known = own is not None and bool(np.isfinite(own).all())
        kept.append(part.kept(decision, point, own.tolist()) if known and own is not None else None)
    return kept


def _other_values(
    named: NamedProgram, form: IntegerForm, front: Front, solutions: NDArray[np.int64]
) -> list[str]:
    """Return sentences about points whose integer objectives are not the sums of their solutions."""
    if not len(front):
        return []
    values = front.values.copy()
    for number, linear in enumerate(named.program.objectives):
        if linear.costs[~named.program.integer].any():
            continue
        exact = form.program.objectives[number]
        if linear.objective.name in form.rounded or exact.objective.scale is not None:
            values[:, number] = [float(value) for value in exact_values(named, number, solutions)]
        else:
            values[:, number] = _plain_values(exact, form.program, solutions)
    return [
        f"point {number} has other values than its solution: "
        + ", ".join(
            f"{name} {number_text(value)}"
            for name, value in zip(front.names, values[number].tolist(), strict=True)
        )
        for number in np.flatnonzero((values != front.values).any(axis=1)).tolist()
    ]


def _plain_values(linear: LinearObjective, program: Program, solutions: NDArray[np.int64]) -> Floats:
    """Return the values of an objective of at most nine decimals, summed in integers."""
    constant = LinearObjective(Objective("nothing"), np.zeros(program.n_columns))
    integers = integer_objectives(dataclasses.replace(program, objectives=(linear, constant)))
    objective, own = integers.objectives[0], np.flatnonzero(program.integer)[: solutions.shape[1]]
    sums = (solutions @ integers.costs[0, own]) * integers.steps[0] + integers.offsets[0]
    values: Floats = sums * objective.sign / (objective.scale or 1)
    return values


def broken_limits(named: NamedProgram, solutions: NDArray[np.int64]) -> list[str]:
    """Return, for each solution, the first row or bound that it breaks; empty if it breaks none.

    Rows of decimals are summed in integers, all other rows in fractions. Rows with continuous columns are
    skipped, as solutions do not hold their values.

    `named`: the program as it was read. `solutions`: values of the integer columns, ``(n_solutions,
    n_integer_columns)``.

    >>> from shortlist.milp.program import make_program
    >>> program = make_program(
    ...     [[2, 3]], row_lower=-np.inf, row_upper=4, column_lower=0, column_upper=1, integer=True
    ... )
    >>> broken_limits(NamedProgram(program, ("x", "y"), ("weight",)), np.array([[0, 1], [1, 1], [2, 0]]))
    ['', "row 'weight'", "the bounds of 'x'"]
    """
    program = named.program
    columns = np.flatnonzero(program.integer)
    values = np.asarray(solutions, dtype=np.int64).reshape(-1, len(columns))
    outside = (values < program.column_lower[columns]) | (values > program.column_upper[columns])
    said = [
        f"the bounds of {named.columns[columns[np.argmax(marks)]]!r}" if marks.any() else ""
        for marks in outside
    ]
    full = np.zeros((len(values), program.n_columns), dtype=np.int64)
    full[:, columns] = values
    missed = _missed_rows(named, full)
    return [
        text or (f"row {named.rows[np.argmax(rows)]!r}" if rows.any() else "")
        for text, rows in zip(said, missed, strict=True)
    ]


def _missed_rows(named: NamedProgram, full: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the rows that solutions break, ``(n_solutions, n_rows)``.

    Rows with a continuous column are never marked.
    """
    program = named.program
    made = whole_rows(program, written=True)
    matrix, lower, upper = made.program.rows, made.program.row_lower, made.program.row_upper
    long = {place[1] for place in named.long if place[0] in {"row", "lower", "upper"}}
    whole = made.whole & ~np.isin(np.arange(program.n_rows), list(long))
    sizes = abs(matrix) @ np.abs(full).T.astype(np.float64)
    activity = (matrix.astype(np.float64) @ full.T.astype(np.float64)).T
    missed: NDArray[np.bool_] = ((activity < lower) | (activity > upper)) & whole
    continuous = np.asarray((abs(program.rows) @ (~program.integer).astype(np.float64)) > 0)
    by_fractions = ~continuous & (~whole | (sizes.max(axis=1, initial=0.0) >= LARGEST_INTEGER))
    for row in np.flatnonzero(by_fractions).tolist():
        missed[:, row] = _misses(named, row, full.tolist())
    return missed


def _misses(named: NamedProgram, row: int, solutions: Sequence[Sequence[Fraction | int]]) -> list[bool]:
    """Mark the solutions that break a row, with its numbers as written in the file."""
    terms, lower, upper = named.row(row)
    scale = math.lcm(*(factor.denominator for factor in terms.values()))
    whole = [(column, int(factor * scale)) for column, factor in terms.items()]
    least, most = lower * scale, upper * scale
    return [
        not least <= sum(factor * solution[column] for column, factor in whole) <= most
        for solution in solutions
    ]
