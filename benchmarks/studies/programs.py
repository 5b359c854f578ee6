"""Fronts of general programs: ours, a plain ε-constraint loop over highspy, and the same loop over CP-SAT, in one run.

python -m benchmarks programs programs-assignment programs-random --data FOLDER
"""

import functools
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from benchmarks.data.vopt import read_assignment, read_published_front, read_set_partitioning
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import Program
from shortlist.programs.solve import solve_program
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from tests.programs.made_programs import front_by_trying, random_program, steps_of, strange_program

SETS = ("nw10", "nw20", "nw21", "nw27", "nw40")
ASSIGNMENTS = ("p-2_n-100_1", "p-4_n-20_1", "p-3_n-50_1")
LIMIT_S = 600.0
OURS_S = 3600.0
"""Seconds for Shortlist on assignments, whose fronts are complete only after many minutes."""
REPEATS = 3
EXACT = ("exact", "cwmoip", "epsilon-constraint")
SOLVERS = ("highs", "cpsat")

Vector: TypeAlias = tuple[int, ...]
Least: TypeAlias = Callable[[int, list[float]], Vector | None]
"""Minimises one objective with bounds on all, and returns all objectives."""


class _OverError(Exception):
    """The time of a loop is over."""


def programs(folder: Path) -> Iterator[dict[str, Any]]:
    """Time set partitioning; each front is compared with the published one."""
    place = folder / "programs"
    for name in SETS:
        program = read_set_partitioning(place / f"biospp{name}.txt.gz")
        published, known = read_published_front(place / f"Y_N_spp{name}.txt")
        for row, points in _each_method(program, REPEATS, LIMIT_S):
            assert row["complete"] is False or np.array_equal(points, known), f"{name}: another front"
            yield _told({"data": name, **row, "published_s": published, "published_points": len(known)})


def assignments(folder: Path) -> Iterator[dict[str, Any]]:
    """Time assignment with two, three and four objectives; a loop has ten minutes, ours an hour."""
    place = folder / "programs"
    for name in ASSIGNMENTS:
        program = read_assignment(place / f"MOAP_{name}.dat.gz")
        fronts = []
        for row, points in _each_method(program, 1, OURS_S):
            if row["complete"]:
                fronts.append(points)
            yield _told({"data": f"assignment {name}", **row})
        assert all(np.array_equal(fronts[0], other) for other in fronts), f"{name}: fronts differ"


def random_programs(_folder: Path, n_programs: int = 2000) -> Iterator[dict[str, Any]]:
    """Count claims of each method and solver that trying every solution of random programs refutes.

    Every other program has what files have besides: bounds that cross or are missing, decimals, and in some a
    continuous column, in rows and objectives, which CP-SAT is not asked for.
    """
    asked = [*itertools.product(EXACT, SOLVERS), ("solrep", "highs")]
    false: Counter[tuple[str, str]] = Counter()
    points: Counter[tuple[str, str]] = Counter()
    solved: Counter[tuple[str, str]] = Counter()
    for number in range(n_programs):
        make = strange_program if number % 2 else random_program
        named = make(np.random.default_rng([2000, number]))
        known = set(map(tuple, front_by_trying(named).tolist()))
        for method, solver in asked:
            if solver == "cpsat" and not named.program.integer.all():
                continue
            own: dict[str, Any] = {"n_points": 5} if method == "solrep" else {}
            front = solve_program(named, method=method, solver=solver, tolerance=steps_of(named), **own)
            found = set(map(tuple, front.values.tolist()))
            complete = front.proof.kind is ProofKind.COMPLETE
            false[method, solver] += not (found == known if complete else found <= known)
            points[method, solver] += len(found)
            solved[method, solver] += 1
        if number % 100 == 99:
            print(f"{number + 1} programs, {sum(false.values())} false claims", flush=True)
    for method, solver in asked:
        yield _told(
            {
                "data": f"{n_programs} random programs",
                "method": f"{method}, {solver}",
                "programs": solved[method, solver],
                "points": points[method, solver],
                "false_claims": false[method, solver],
            }
        )


def _told(row: dict[str, Any]) -> dict[str, Any]:
    print(row, flush=True)
    return {"case": "programs", **row}


def _each_method(
    program: Program, repeats: int, ours_s: float
) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
    """Yield a row and the points of every method: the median of `repeats` runs in processor time."""
    methods: dict[str, Callable[[], tuple[NDArray[np.float64], int, bool]]] = {
        "search zones": functools.partial(_ours, program, ours_s),
        "loop over highspy": functools.partial(_loop, program, plain_highs, LIMIT_S),
        "loop over CP-SAT": functools.partial(_loop, program, plain_cpsat, LIMIT_S),
    }
    for name, call in methods.items():
        times = []
        for _ in range(repeats):
            begin = time.process_time()
            points, n_programs, complete = call()
            times.append(time.process_time() - begin)
            if not complete:
                break
        yield (
            {
                "method": name,
                "points": len(points),
                "programs": n_programs,
                "complete": complete,
                "processor_s": round(float(np.median(times)), 3),
            },
            points,
        )


def _ours(program: Program, limit_s: float) -> tuple[NDArray[np.float64], int, bool]:
    front = search_zones(program, budget=Budget(limit_s))
    complete = front.proof.kind is ProofKind.COMPLETE
    return front.values[np.lexsort(front.values.T[::-1])], front.extras["n_programs"], complete


def _loop(
    program: Program, make: Callable[[Program, float], Least], limit_s: float
) -> tuple[NDArray[np.float64], int, bool]:
    """Bound all objectives but the first in nested loops, and take the lexicographic best each time."""
    least = make(program, time.monotonic() + limit_s)
    n_objectives = len(program.objectives)
    found: set[Vector] = set()
    n_programs = 0

    def best(bounds: list[float]) -> Vector | None:
        nonlocal n_programs
        point: Vector | None = None
        for objective in range(n_objectives):
            point = least(objective, bounds)
            n_programs += 1
            if point is None:
                return None
            bounds = [*bounds]
            bounds[objective] = point[objective]
        return point

    def sweep(depth: int, bounds: list[float]) -> list[Vector]:
        if depth == 0:
            point = best(bounds)
            found.update([point] if point else [])
            return [point] if point else []
        met: list[Vector] = []
        while inner := sweep(depth - 1, bounds):
            met += inner
            bounds = [*bounds]
            bounds[depth] = max(point[depth] for point in inner) - 1
        return met

    try:
        sweep(n_objectives - 1, [np.inf] * n_objectives)
    except _OverError:
        return _as_points(found, n_objectives), n_programs, False
    return _as_points(found, n_objectives), n_programs, True


def _as_points(found: set[Vector], n_objectives: int) -> NDArray[np.float64]:
    return np.array(sorted(found), dtype=np.float64).reshape(-1, n_objectives)


def plain_highs(program: Program, deadline: float) -> Least:
    """Return the solver by HiGHS, with its defaults but for the gap, which must be 0, and one thread."""
    solver = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0}.items():
        solver.setOptionValue(option, value)
    costs = np.array([linear.costs for linear in program.objectives])
    free = np.full(len(costs), np.inf)
    whole = program.with_rows(costs, -free, free)
    n, rows = whole.n_columns, whole.rows
    solver.passModel(
        n, whole.n_rows, rows.nnz, 2, 1, 0.0, costs[0], whole.column_lower, whole.column_upper,
        whole.row_lower, whole.row_upper, rows.indptr.astype(np.int32), rows.indices.astype(np.int32),
        rows.data, np.ones(n, dtype=np.int32),
    )  # fmt: skip
    own = program.n_rows + np.arange(len(costs), dtype=np.int32)

    def least(objective: int, bounds: list[float]) -> Vector | None:
        solver.setOptionValue("time_limit", solver.getRunTime() + _left(deadline))
        solver.changeColsCost(n, np.arange(n, dtype=np.int32), costs[objective])
        solver.changeRowsBounds(len(own), own, -free, np.array(bounds))
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise _OverError
        return tuple(np.rint(costs @ np.rint(solver.getSolution().col_value)).astype(int).tolist())

    return least


def plain_cpsat(program: Program, deadline: float) -> Least:
    """Return the solver by CP-SAT, with its defaults and one worker."""
    costs = np.rint([linear.costs for linear in program.objectives]).astype(int).tolist()
    model = cp_model.CpModel()
    columns = [model.new_bool_var(f"x{column}") for column in range(program.n_columns)]
    for row in range(program.n_rows):
        part = slice(program.rows.indptr[row], program.rows.indptr[row + 1])
        model.add(sum(columns[column] for column in program.rows.indices[part].tolist()) == 1)
    sums = [sum(cost * column for cost, column in zip(row, columns, strict=True)) for row in costs]

    def least(objective: int, bounds: list[float]) -> Vector | None:
        asked = model.clone()
        for bound, total in zip(bounds, sums, strict=True):
            if np.isfinite(bound):
                asked.add(total <= int(bound))
        asked.minimize(sums[objective])
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = _left(deadline)
        status = solver.solve(asked)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise _OverError
        values = [solver.value(column) for column in columns]
        return tuple(sum(c * x for c, x in zip(row, values, strict=True)) for row in costs)

    return least


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _OverError
    return left
