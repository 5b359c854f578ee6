"""From the answers of programs to a front, each checked against the original program."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.integer_objectives import IntegerObjectives, integer_objectives
from shortlist.methods.integer.reduced_program import ReducedProgram
from shortlist.methods.solrep.solve_records import Record
from shortlist.milp.program import Program
from shortlist.pareto.dominance import nondominated
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status, relative_gap


def answers_front(
    program: Program,
    reduced: ReducedProgram,
    records: Mapping[str, Record],
    proof: Proof,
    *,
    candidates: Sequence[str] | None,
    seconds: float,
    extras: Mapping[str, Any],
) -> Front:
    """Return the non-dominated answers among `records`.

    `proof` says what holds if every answer is optimal. `extras` gets `gaps`, per point of the front, and
    `n_unproved`.

    Raises
    ------
    SolverError
        If an answer does not satisfy the original program, has other objectives there, or was proved
        non-dominated although another one dominates it.
    """
    integers = integer_objectives(reduced.program)
    best: dict[tuple[int, ...], tuple[float, NDArray[np.int64]]] = {}
    for key, record in records.items():
        outcome = record.outcome
        if outcome.vector is None or outcome.columns is None or key.startswith("least "):
            continue
        gap = _gap(key, records)
        vector = tuple(outcome.vector.tolist())
        if vector not in best or gap < best[vector][0]:
            best[vector] = gap, outcome.columns
    vectors: Points = np.array(list(best), dtype=np.int64).reshape(-1, len(integers))
    gaps = np.array([gap for gap, _ in best.values()], dtype=np.float64)
    kept = nondominated(vectors)
    if (gaps[~kept] == 0).any():
        raise SolverError("the solver proved a point that another one dominates. Use another solver or seed.")
    n_columns = int(reduced.program.integer.sum())
    columns = np.array([columns for _, columns in best.values()], dtype=np.int64).reshape(
        len(best), n_columns
    )
    decisions = reduced.restore(columns[kept])
    points = integers.points(vectors[kept])
    _check(program, decisions, points)
    names = _names(program, candidates)
    n_unproved = int((gaps[kept] > 0).sum())
    if n_unproved:
        proof = Proof(
            ProofKind.APPROXIMATE, missing=proof.missing, n_unresolved=proof.n_unresolved, limit=proof.limit
        )
    by_point = dict(zip(map(tuple, points.tolist()), gaps[kept].tolist(), strict=True))
    order = np.lexsort(points.T[::-1])
    facts = {
        **extras,
        "n_unproved": n_unproved,
        "gaps": [by_point[tuple(point)] for point in points[order].tolist()],
    }
    return Front.from_points(
        integers.objectives, points, decisions, names, proof, method="solrep", seconds=seconds, extras=facts
    )


def _gap(key: str, records: Mapping[str, Record]) -> float:
    """Return the relative gap of an answer's program; of an anchor, the larger one of its two programs."""
    outcomes = [records[key].outcome]
    if key.startswith("anchor "):
        outcomes.append(records["least " + key.removeprefix("anchor ")].outcome)
    return max(
        0.0 if outcome.status is Status.OPTIMAL else relative_gap(outcome.value, outcome.bound) or 1e-12
        for outcome in outcomes
    )


def _check(program: Program, decisions: NDArray[np.int64], points: Points) -> None:
    """Raise unless decisions satisfy the program and have the objectives `points`."""
    if not program.integer.all():
        return  # the session has checked the continuous columns; objectives have none
    integers: IntegerObjectives = integer_objectives(program)
    for decision, point in zip(decisions, points, strict=True):
        columns = decision.astype(np.float64)
        rows = program.rows @ columns
        slack = np.where(program.integral_rows(), 0.0, 1e-6 * (1 + abs(program.rows) @ np.abs(columns)))
        within = (rows >= program.row_lower - slack) & (rows <= program.row_upper + slack)
        bounded = (columns >= program.column_lower) & (columns <= program.column_upper)
        same = (integers.points([integers.vector(columns)])[0] == point).all()
        if not within.all() or not bounded.all() or not same:
            raise SolverError(
                "an answer does not satisfy the original program. Check that every solution satisfies the "
                "clauses."
            )


def _names(program: Program, candidates: Sequence[str] | None) -> tuple[str, ...]:
    columns = np.flatnonzero(program.integer)
    names = tuple(candidates) if candidates is not None else tuple(f"x{column}" for column in columns)
    if len(names) != len(columns):
        raise BadInputError(
            "candidates", f"must name the {len(columns)} integer columns", f"{len(names)} names"
        )
    return names
