"""Complete fronts of linear objectives over the models of a decision diagram."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError, SolverError
from shortlist.logic.diagram import Diagram
from shortlist.methods.diagram.plan import SweepPlan, make_coding, make_plan
from shortlist.methods.diagram.sweep import SWEEP_SETTINGS, Pass, SweepSettings
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget


def diagram_front(
    diagram: Diagram,
    costs: Points,
    objectives: Sequence[Objective],
    names: Sequence[str],
    *,
    offsets: NDArray[np.int64] | None = None,
    tolerance: Sequence[float] | None = None,
    witnesses: bool = True,
    settings: SweepSettings = SWEEP_SETTINGS,
    budget: Budget | None = None,
) -> Front:
    """Find every non-dominated vector of linear objectives over the models of a diagram.

    A bottom-up pass computes, for each node, the non-dominated vectors that the levels below can add up to.
    This set is the union of the sets of the low and the high side, each shifted by the cost of its side
    (Bergman & Cire 2016, network models for multiobjective discrete optimization). Levels that an edge skips
    may have either value. All numbers are integers, so the front is exact.

    Raises BadInputError if shapes disagree, an objective has no integer scale, or costs could reach 2^53.

    Sorted sets are merged in linear time. Up to four objectives whose ranges fit 62 bits together are
    packed into one integer per vector. Dominance is then a look-up in a staircase over the two objectives
    of least range. Otherwise each vector is compared with blocks of kept vectors, which is slower.

    `diagram`: the possible models. `costs`: scaled integer cost of each variable that is true, minimised,
    ``(n_objectives, n_variables)``. `objectives`: names, senses and scales; every scale must be an integer.
    `offsets`: value of each objective when no variable is true, ``(n_objectives,)``. Default: zero.
    `tolerance`: loss allowed per objective, in its unit. Sets may be trimmed as long as every model has a
    point in the answer that is worse by at most the tolerance in each objective. Default: exact. `witnesses`:
    recover one model for each point. Otherwise the front has no candidates. `settings`: limits on memory and
    work. Beyond the memory, sets needed by witnesses only are deleted and recomputed later. If the rest is
    still too large, sets are trimmed and the proof states the possible loss. `budget`: at its end sets are
    trimmed to a few vectors, which ends the pass soon, and the proof states the possible loss. Witnesses are
    found after that. Progress counts finished joins of two sets, of all joins.

    The front has sorted points, each with one model. Equal vectors are one point; :func:`configurations`
    lists all its models. The proof is complete unless a set was trimmed; then it is approximate, with a true
    bound on the loss. Without any model the front is empty and complete. ``extras`` holds `n_nodes`,
    `n_joins`, `n_vectors` (in all sets together) and `largest_set`.

    >>> from shortlist.logic.clauses import Clauses
    >>> from shortlist.logic.compilation import compile_diagram
    >>> diagram = compile_diagram(Clauses.from_clauses(3, [(1, 2), (-1, -3)]))
    >>> costs = np.array([[5, 2, 1], [-1, -1, -1]])
    >>> front = diagram_front(diagram, costs, [Objective("price"), Objective("deselected")], ["a", "b", "c"],
    ...     offsets=np.array([0, 3]))
    >>> front.points.tolist(), front.proof.kind.value
    ([[2, 2], [3, 1]], 'complete')
    """
    budget = budget or Budget()
    problem = _problem(diagram, costs, offsets)
    _check(problem, objectives, names)
    scales = np.array([objective.scale or 1 for objective in objectives])
    if diagram.root == 0:
        proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(objectives))
        nothing = np.empty((0, len(names) if witnesses else 0), np.int8)
        return Front.from_points(
            objectives,
            np.empty((0, len(objectives)), np.int64),
            nothing,
            names if witnesses else (),
            proof,
            method="diagram",
            seconds=budget.elapsed,
        )
    allowed = _allowed(tolerance, scales) // problem.factors
    as_count(settings.max_bytes, "max_bytes")
    coding = make_coding(problem.costs, settings.packed_bits)
    plan = make_plan(diagram, problem.costs, coding)
    walk = Pass(plan, coding, tolerance=allowed, keep=witnesses, settings=settings, budget=budget)
    walk.run()
    keys = walk.keys
    points = coding.decode(keys) * problem.factors + problem.base
    decisions = np.empty((len(points), 0), np.int8)
    if witnesses:
        decisions = _witnesses(problem, walk.trace(keys), points)
    error = walk.error * problem.factors
    proof = Proof(
        ProofKind.APPROXIMATE if error.any() else ProofKind.COMPLETE,
        missing=tuple((error / scales).tolist()),
        limit="; ".join(walk.limits),
    )
    return Front.from_points(
        objectives,
        points,
        decisions,
        names if witnesses else (),
        proof,
        method="diagram",
        seconds=budget.elapsed,
        extras={
            "n_nodes": diagram.n_nodes,
            "n_joins": len(plan.joins),
            "n_vectors": walk.n_vectors,
            "largest_set": walk.largest,
        },
    )


def configurations(
    diagram: Diagram, costs: Points, point: NDArray[np.int64], *, offsets: NDArray[np.int64] | None = None
) -> Iterator[Mask]:
    """Yield every model whose objective vector is `point`, one at a time.

    Raises BadInputError if `point` is dominated or no model has it.

    `diagram`, `costs`, `offsets`: as for :func:`diagram_front`. `point`: a non-dominated vector, scaled and
    minimised, ``(n_objectives,)``: a row of ``front.points``.

    Each model is a mask of shape ``(n_variables,)``; there can be very many. The first comes after one pass
    over the diagram, restricted to vectors that can still add up to `point`. Each further one takes a walk
    from top to bottom.

    >>> from shortlist.logic.clauses import Clauses
    >>> from shortlist.logic.compilation import compile_diagram
    >>> diagram = compile_diagram(Clauses.from_clauses(3, [(1, 2, 3)]))
    >>> [model.tolist() for model in configurations(diagram, np.array([[3, 2, 2]]), np.array([2]))]
    [[False, False, True], [False, True, False]]
    """
    problem = _problem(diagram, costs, offsets)
    point = np.asarray(point, dtype=np.int64)
    if point.shape != problem.base.shape:
        raise BadInputError("point", f"must have {len(problem.base)} values", f"shape {point.shape}")
    exact = np.zeros(len(point), np.int64)
    coding = make_coding(problem.costs)
    rest, remainder = np.divmod(point - problem.base, problem.factors)
    wanted = (
        f"point must be a non-dominated vector of this diagram, got {point.tolist()}. Take a row of "
        "front.points."
    )
    if diagram.root == 0 or remainder.any() or (rest < 0).any() or (rest > coding.ranges[0]).any():
        raise BadInputError(wanted)
    plan = make_plan(diagram, problem.costs, coding)
    box = _box(plan, problem.costs, rest)
    walk = Pass(
        plan, coding, tolerance=exact, keep=True, settings=SweepSettings(2**62), budget=Budget(), box=box
    )
    walk.run()
    key = coding.encode(rest[None, :])
    if not (walk.keys == key).all(axis=1).any():
        raise BadInputError(wanted)
    return _ways(diagram, plan, walk, key)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Costs per level: a point is ``factors * (sum of non-negative steps) + base``."""

    diagram: Diagram
    variable_costs: Points
    offsets: NDArray[np.int64]
    costs: Points
    factors: NDArray[np.int64]
    base: NDArray[np.int64]


def _problem(diagram: Diagram, costs: Points, offsets: NDArray[np.int64] | None) -> _Problem:
    """Collect the costs of each level and of fixed variables; divide the levels' costs by common factors."""
    costs = np.asarray(costs)
    if costs.ndim != 2 or costs.shape[1] != diagram.n_variables or not len(costs):
        raise BadInputError(
            "costs",
            f"must have shape (n_objectives, {diagram.n_variables})",
            costs.shape,
            "Give one row per objective and one column per variable.",
        )
    if costs.dtype.kind not in "iu":
        raise BadInputError(
            "costs", "must be integers", costs.dtype, "Multiply them by their scale and round."
        )
    constant = np.zeros(len(costs), np.int64) if offsets is None else np.asarray(offsets)
    if constant.shape != (len(costs),) or constant.dtype.kind not in "iu":
        raise BadInputError(
            "offsets", f"must be {len(costs)} integers", repr(constant), "Give one per objective."
        )
    if (np.abs(costs.astype(np.float64)).sum(axis=1) + np.abs(constant.astype(np.float64)) >= 2**53).any():
        raise BadInputError("`costs` must add up to less than 2^53 to be exact. Use a coarser scale.")
    costs = costs.astype(np.int64)
    base = constant.astype(np.int64)
    fixed = diagram.places < 0
    base = base + costs[:, fixed & diagram.polarities].sum(axis=1)
    base += costs[:, ~fixed & ~diagram.polarities].sum(axis=1)
    of_levels = np.zeros((len(costs), diagram.n_levels), np.int64)
    signs = np.where(diagram.polarities, 1, -1)[~fixed]
    for row, cost in zip(of_levels, costs[:, ~fixed] * signs, strict=True):
        np.add.at(row, diagram.places[~fixed], cost)
    base += np.minimum(of_levels, 0).sum(axis=1)
    factors = np.maximum(np.gcd.reduce(of_levels, axis=1, initial=0), 1)
    return _Problem(diagram, costs, constant.astype(np.int64), of_levels // factors[:, None], factors, base)


def _check(problem: _Problem, objectives: Sequence[Objective], names: Sequence[str]) -> None:
    if len(objectives) != len(problem.costs):
        raise BadInputError(
            "objectives", f"must be {len(problem.costs)}, one per row of costs", len(objectives)
        )
    if len(names) != problem.diagram.n_variables:
        raise BadInputError("names", f"must be {problem.diagram.n_variables}, one per variable", len(names))
    if any(objective.scale is None for objective in objectives):
        raise BadInputError(
            "`objectives` must have an integer scale for an exact front. Set Objective.scale."
        )


def _allowed(tolerance: Sequence[float] | None, scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert tolerances in the objectives' units to scaled integers, rounded down."""
    if tolerance is None:
        return np.zeros(len(scales), np.int64)
    given = np.asarray(tolerance, dtype=np.float64)
    if given.shape != scales.shape or not np.isfinite(given).all() or (given < 0).any():
        raise BadInputError(
            "tolerance", f"must be {len(scales)} numbers of at least 0, one per objective", repr(tolerance)
        )
    # 0.29 * 100 is a hair below 29: a product this close to an integer means that integer
    return np.floor(np.minimum(given * scales, 2.0**53) + 1e-6).astype(np.int64)


def _witnesses(problem: _Problem, bits: Mask, points: Points) -> NDArray[np.int8]:
    """Convert sides of levels to values of variables, and check that their costs match the points."""
    decisions = problem.diagram.restore(bits).astype(np.int8)
    for start in range(0, len(points), 4096):
        block = slice(start, start + 4096)
        again = decisions[block].astype(np.int64) @ problem.variable_costs.T + problem.offsets
        if not np.array_equal(again, points[block]):
            raise SolverError(
                "a configuration found in the diagram does not have the objective values of its point."
            )
    return decisions


def _box(plan: SweepPlan, costs: Points, rest: NDArray[np.int64]) -> tuple[Points, Points]:
    """Return the least and the largest vector of each place that can be a part of the sum `rest`."""
    shifts = np.maximum(-costs, 0).T, np.maximum(costs, 0).T
    least = np.full((len(plan.levels), len(rest)), np.iinfo(np.int64).max // 2)
    most = np.full_like(least, -1)
    least[plan.root] = most[plan.root] = 0
    for place in range(plan.root, 0, -1):
        for child, shift in ((plan.low[place], shifts[0]), (plan.high[place], shifts[1])):
            if child >= 0 and most[place, 0] >= 0:
                np.minimum(least[child], least[place] + shift[plan.levels[place]], out=least[child])
                np.maximum(most[child], most[place] + shift[plan.levels[place]], out=most[child])
    return rest - most, rest - least


def _ways(diagram: Diagram, plan: SweepPlan, walk: Pass, key: NDArray[np.int64]) -> Iterator[Mask]:
    bits = np.zeros(diagram.n_levels, dtype=bool)
    # place, rest, side taken last
    stack: list[tuple[int, NDArray[np.int64], int]] = [(plan.root, key, -1)]
    while stack:
        place, rest, side = stack.pop()
        level = int(plan.levels[place])
        if level:
            bits[level - 1] = bool(side)
        if level == diagram.n_levels:
            yield diagram.restore(bits[None, :])[0]
            continue
        for child, shift, is_high in (
            (int(plan.high[place]), plan.high_shifts[level], 1),
            (int(plan.low[place]), plan.low_shifts[level], 0),
        ):
            if child >= 0 and walk.contains(child, rest - shift)[0]:
                stack.append((child, rest - shift, is_high))
