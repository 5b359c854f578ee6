"""Complete fronts by search zones: one integer program for each point or empty zone.

The part of objective space that no known point dominates is a union of zones ``{y : y < u}``, one for each
local upper bound u (Klamroth, Lacour, Vanderpooten 2015, Sec. 2). A zone is searched by one program that
minimises positive weights over it. A point found there is non-dominated, because every vector below a member
of the zone is in the zone; otherwise the zone is empty. As in Tamby and Vanderpooten (2021, Sec. 3), one
objective k is minimised in priority, so that a point z found in the zone u also proves
``{y : y_k < z_k, y_i < u_i for the other i}`` empty. Every later zone inside such an empty box is resolved
without a program. Three things differ from their method. Their second program, which makes the point
non-dominated, is saved by integer weights that let k decide whenever one step of k outweighs the ranges of
the others inside the zone; where such weights would be too large for a solver's arithmetic they are smaller,
the point is still non-dominated, and the empty box is as large as the optimal value proves. The program is
bounded in objective k as well, which makes empty zones infeasible at once. And k is the same objective
always, the one of the widest range: on the published fronts this needed fewer programs than choosing k zone
by zone.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.errors import SolverError
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError, safe_weights
from shortlist.methods.integer.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.two_phases import TwoPhases
from shortlist.methods.integer.zone_parts import N_BY_SOLVER, Answer, ZoneParts
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver
from shortlist.milp.whole_rows import whole_rows
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget

WIDE = 4
"""With so many columns to a row, the linear program is nearly whole: its reduced costs leave few columns, and
presolve takes longer than it saves.
"""
BY_PARTS = 1.5
"""With so many columns to a row, zones of three and more objectives are searched by parts. Assignments of
7 x 7 (3.5 columns to a row) took a quarter and a tenth of the time so, with three and four objectives; on
clauses of product lines, with more rows than columns, a point took twice the time.
"""
FEW_COLUMNS = 30
"""Programs of fewer columns are solved before they are made smaller."""


def search_zones(
    program: Program,
    *,
    solver: str | Solver = "highs",
    max_solves: int | None = None,
    candidates: Sequence[str] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return the complete front of a program with two or more linear objectives.

    `program`: objectives must be exact integers after scaling; see
    :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `max_solves`: largest number of
    integer programs. `candidates`: names of the integer columns; ``x0``, ``x1``, ... by column number if not
    given. `budget`: how long the search may take, the seed of the solver, and who is told after every
    program, without a total: nobody knows it before the end. `front`, which it returns: COMPLETE when it
    finished. When a limit ended it: NONDOMINATED, with the number of zones that were not searched. Solutions
    with equal objectives are one point, with the first one found. `extras` holds `n_programs`, `n_zones`, and
    in `ideal` the proved best value of each objective, None where a limit came first. An infeasible program
    has a complete front without points.

    Raises BadInputError if the objectives are no exact integers or are unbounded. Raises SolverError if the
    solver contradicts itself.

    Two objectives are searched in two phases (:mod:`shortlist.methods.integer.two_phases`). Of three and
    more, wide programs, those with several columns to a row, are searched in what reduced costs leave of
    them, by up to six small programs for a zone, most of which need no solver
    (:mod:`shortlist.methods.integer.zone_parts`). Otherwise, with p objectives, n points and m zones at
    the end, at most 2p + n + m programs are solved; m is at most 2n + 1 for p = 3 and of the order of n to
    the power p // 2 in general. Linear programs are not counted.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0, 4.0]))
    >>> quality = LinearObjective(Objective("quality", "max"), np.array([1.0, 4.0, 2.0]))
    >>> shop = make_program(
    ...     [[1, 1, 1]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, quality],
    ... )
    >>> front = search_zones(shop)
    >>> front.values.tolist(), str(front.proof.kind)
    ([[0.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 4.0]], 'complete')
    """
    budget = budget or Budget()
    solves = BoundedSolves(program, solver=solver, budget=budget, max_solves=max_solves, stage="search zones")
    relaxed = _relaxed_zones(program, solves.integers, budget)
    in_integers_after = N_BY_SOLVER if solver == "highs" else UNLIMITED
    wide, by_parts = (
        program.n_columns >= max(FEW_COLUMNS, ratio * program.n_rows) for ratio in (WIDE, BY_PARTS)
    )
    search: _Search | TwoPhases = (
        TwoPhases(solves, relaxed, presolve=not wide)
        if len(solves.integers) == 2
        else _Search(
            solves, relaxed, ZoneParts(solves, relaxed, n_by_solver=in_integers_after) if by_parts else None
        )
    )
    try:
        search.run()
    except LimitReachedError as stop:
        proof = Proof(ProofKind.NONDOMINATED, n_unresolved=search.n_open, limit=stop.limit)
    else:
        proof = Proof(ProofKind.COMPLETE)
    return solves.front(
        list(search.found),
        proof,
        method="search_zones",
        candidates=candidates,
        n_zones=search.n_zones,
        ideal=_ideal(solves.integers, search.least, search.n_known_ends),
    )


def _relaxed_zones(program: Program, integers: IntegerObjectives, budget: Budget) -> RelaxedZones:
    """Return the relaxation without columns that no non-dominated vector needs."""
    needed = needed_columns(program, integers.costs)
    smaller = dataclasses.replace(program, column_upper=np.where(needed, program.column_upper, 0.0))
    return RelaxedZones(smaller, integers, budget)


def _ideal(integers: IntegerObjectives, least: Vector, n_known: int) -> list[float | None]:
    """Return the proved best value of each objective in the user's sign and unit, None if not known."""
    points = integers.points([least])[0].tolist()
    return [
        point * objective.sign / (objective.scale or 1) if index < n_known else None
        for index, (point, objective) in enumerate(zip(points, integers.objectives, strict=True))
    ]


class _Search:
    """The state of a search: points found, zones, and boxes known to be empty."""

    def __init__(self, solves: BoundedSolves, relaxed: RelaxedZones, parts: ZoneParts | None) -> None:
        integers = solves.integers
        self._relaxed, self._parts = relaxed, parts
        n_objectives = len(integers)
        self._solves = solves
        self.least = integers.lower.copy()
        self._first = 0
        self.n_known_ends = 0
        self.found: Points = np.empty((0, n_objectives), dtype=np.int64)
        self.zones: Points = np.minimum(integers.upper + 1, UNLIMITED)[None, :]
        self._open: Mask = np.ones(1, dtype=bool)
        self._boxes: Points = np.empty((0, n_objectives), dtype=np.int64)

    @property
    def n_zones(self) -> int:
        """Number of zones that the points found leave, searched or not."""
        return len(self.zones)

    @property
    def n_open(self) -> int:
        """Number of zones that are neither searched nor proved empty."""
        return int(self._open.sum())

    def run(self) -> None:
        """Search zone after zone until none is left."""
        if not self._find_ideal():
            self._open[:] = False
            return
        self.zones = np.minimum(self.zones, self._relaxed.greatest() + 1)
        first = int(np.argmax(self.zones[0] - self.least))
        for index in range(len(self.least)):
            if self._open.any():
                self._find_end(index)
        self._first = first
        while self._open.any():
            chosen = self._largest()
            self._search_zone(chosen, self.zones[chosen].copy())

    def _search_zone(self, chosen: int, zone: Vector) -> None:
        """Find the best point of the zone number `chosen`, and note what the answer proves."""
        answer = None
        if self._parts is not None and (zone < UNLIMITED).all():
            answer = self._parts.answer(zone, self.least, self.found)
        answer = answer or self._by_program(zone)
        if answer.point is None:
            self._open[chosen] = False
            return
        known = (answer.point == self.found).all(axis=1).any()
        if not known:
            self._check(answer.point)
        self._add_box(answer.weights, answer.point, zone)
        if not known:
            self._split(answer.point)

    def _by_program(self, zone: Vector) -> Answer:
        """Solve the whole program within a zone."""
        first, upper = self._first, _below(zone)
        weights, decides = safe_weights(
            self._solves.integers, first, self.least, upper, self._solves.largest_objective
        )
        start = None
        # without a bound on the first objective, known answers say "empty" sooner than infeasible programs
        if decides:
            upper[first] = UNLIMITED
            start = self._best_known(weights, upper)
        return Answer(weights, self._solves.minimise(weights, upper, start=start))

    def _best_known(self, weights: Vector, upper: Vector) -> Vector | None:
        """Return the best point found so far within `upper`."""
        within = self.found[(self.found <= upper).all(axis=1)]
        return within[np.argmin(within @ weights)] if len(within) else None

    def _find_ideal(self) -> bool:
        """Find the least value of each objective; False if the program is infeasible."""
        for index, unit in enumerate(np.eye(len(self.least), dtype=np.int64)):
            best = self._solves.minimise(unit, self._solves.integers.upper)
            if best is None:
                return False
            self.least[index] = best[index]
            self.n_known_ends = index + 1
        return True

    def _find_end(self, index: int) -> None:
        """Find a non-dominated point with the least value of an objective.

        The ends of the front come first, so that a search which time cuts short still has them.
        """
        upper = self._solves.integers.upper.copy()
        upper[index] = self.least[index]
        point = self._solves.minimise(np.ones(len(upper), dtype=np.int64), upper)
        if point is None:
            raise SolverError(
                "the solver found no solution where it had found one before. Use another solver or seed."
            )
        if not (point == self.found).all(axis=1).any():
            self._check(point)
            self._split(point)

    def _largest(self) -> int:
        """Return the open zone with the largest projection along the first objective (ties: the oldest)."""
        opened = np.flatnonzero(self._open)
        sides = (self.zones[opened] - self.least).astype(np.float64)
        sides[:, self._first] = 1.0
        return int(opened[np.argmax(sides.prod(axis=1))])

    def _check(self, point: Vector) -> None:
        """Raise if `point` contradicts what earlier answers proved."""
        in_box = (point < self._boxes).all(axis=1).any()
        if in_box or (point <= self.found).all(axis=1).any() or (point >= self.found).all(axis=1).any():
            raise SolverError(
                "the solver found a point where it had proved that there is none. Use another solver or seed."
            )

    def _add_box(self, weights: Vector, point: Vector, zone: Vector) -> None:
        """Note the box that the optimality of `point` proves to be empty, and close the zones inside.

        `point` minimises ``weights @ y`` over the zone or over the zone without its bound on the first
        objective.
        """
        first = self._first
        others = np.arange(len(zone)) != first
        # no vector of the zone has a larger weight of the others
        most = int(weights[others] @ (zone[others] - 1))
        least = int(weights @ point)
        box = zone.copy()
        bound = -((most - least) // int(weights[first]))  # because w_k y_k >= least - most
        if bound > self.least[first]:
            box[first] = bound
            self._boxes = np.vstack([self._boxes, box])
            self._open &= ~(self.zones <= box).all(axis=1)

    def _split(self, point: Vector) -> None:
        """Replace the zones that contain `point` by smaller ones, closed if a known box contains them."""
        hit, fresh = split_zones(self.zones, point)
        opened: Mask = np.all(fresh > self.least, axis=1)
        for index in np.flatnonzero(opened):
            opened[index] = not (fresh[index] <= self._boxes).all(axis=1).any()
        self.zones = np.vstack([self.zones[~hit], fresh])
        self._open = np.concatenate([self._open[~hit], opened])
        self.found = np.vstack([self.found, point])


def split_zones(zones: Points, point: Vector) -> tuple[Mask, Points]:
    """Return which zones contain `point`, and the zones that replace them.

    Each zone u with ``point < u`` gives one candidate per objective j, with ``u_j`` lowered to ``point_j``.
    Redundant candidates, those inside another zone, can only lie inside one that has the same component j:
    another candidate of j, or an old zone with ``u_j = point_j`` whose other components exceed the point's
    (Klamroth, Lacour, Vanderpooten 2015, Sec. 4.1, redundancy elimination; equal components are allowed).

    >>> hit, fresh = split_zones(np.array([[10, 10]]), np.array([4, 3]))
    >>> hit.tolist(), fresh.tolist()
    ([True], [[4, 10], [10, 3]])
    """
    exceeds = point < zones
    hit: Mask = np.all(exceeds, axis=1)
    parents = zones[hit]
    fresh = []
    for j, value in enumerate(point):
        candidates = parents.copy()
        candidates[:, j] = value
        candidates = np.unique(candidates, axis=0)
        others = np.arange(len(point)) != j
        neighbours = zones[(zones[:, j] == value) & exceeds[:, others].all(axis=1)]
        rivals = np.vstack([candidates, neighbours])
        inside: Mask = np.all(candidates[:, None, :] <= rivals[None, :, :], axis=2)
        np.fill_diagonal(inside, val=False)
        fresh.append(candidates[~inside.any(axis=1)])
    return hit, np.vstack(fresh)


def _below(zone: Vector) -> Vector:
    """Return the largest vector inside the open zone."""
    return np.where(zone >= UNLIMITED, UNLIMITED, zone - 1)


def needed_columns(program: Program, costs: NDArray[np.int64]) -> Mask:
    """Mark the columns without which some non-dominated vector could be lost; the others can be fixed at 0.

    Integer columns with the same coefficient in every row, and 0 as their lower bound, form a group. Let t be
    the largest sum that a row allows a group. A member j can go if another member k costs no more in any
    objective and the upper bound of k is at least t: in every solution what j has can be moved to k. No row
    changes, no objective grows, and k stays within its bounds because the whole group adds up to t at most.
    So every non-dominated vector keeps a solution. Of members with equal costs the first one stays.

    `program`: rows and bounds. `costs`, ``(n_objectives, n_columns)``: to minimise.

    Takes O(n_entries) time to group the columns, and the square of a group's size to compare its members.

    >>> from shortlist.milp.program import make_program
    >>> one_of = make_program(
    ...     [[1, 1, 1]], row_lower=1, row_upper=1, column_lower=0, column_upper=1, integer=True
    ... )
    >>> needed_columns(one_of, np.array([[3, 2, 4], [1, 1, 0]])).tolist()
    [False, True, True]
    """
    needed = np.ones(program.n_columns, dtype=bool)
    whole = whole_rows(program)
    limits = _Limits(whole.program, whole.whole)
    for group in _groups(program):
        most = limits.largest_sum(group)
        takers = program.column_upper[group] >= most
        if takers.any():
            needed[group] = ~_dominated(costs[:, group], takers)
    return needed


def _groups(program: Program) -> list[NDArray[np.intp]]:
    """Return the groups of two or more integer columns from 0 upwards with equal entries."""
    columns = program.rows.tocsc()
    columns.eliminate_zeros()
    columns.sort_indices()
    starts = columns.indptr.tolist()
    by_entries: dict[tuple[bytes, bytes], list[int]] = {}
    for column in np.flatnonzero(program.integer & (program.column_lower == 0)).tolist():
        part = slice(starts[column], starts[column + 1])
        key = columns.indices[part].tobytes(), columns.data[part].tobytes()
        by_entries.setdefault(key, []).append(column)
    return [np.array(group) for group in by_entries.values() if len(group) > 1]


class _Limits:
    """The rows of integers, and the least and largest value of each term."""

    def __init__(self, program: Program, whole: Mask) -> None:
        self._columns = program.rows.tocsc()
        self._whole = whole
        self._lower, self._upper = program.row_lower, program.row_upper
        positive, negative = program.rows.maximum(0), program.rows.minimum(0)
        low, high = program.column_lower, program.column_upper
        with np.errstate(invalid="ignore"):
            self._least = positive @ low + negative @ high
            self._most = positive @ high + negative @ low
        self._high = high

    def largest_sum(self, group: NDArray[np.intp]) -> float:
        """Return the largest sum of a group's columns that bounds and single rows allow."""
        column = slice(self._columns.indptr[group[0]], self._columns.indptr[group[0] + 1])
        rows, factors = self._columns.indices[column], self._columns.data[column]
        most = float(self._high[group].sum())
        for row, factor in zip(rows.tolist(), factors.tolist(), strict=True):
            if not self._whole[row] or factor == 0:
                continue
            # at 0 the group adds nothing to this end of the row
            left = self._upper[row] - self._least[row] if factor > 0 else self._most[row] - self._lower[row]
            if np.isfinite(left):
                most = min(most, float(np.floor(left / abs(factor))))
        return max(most, 0.0)


def _dominated(costs: NDArray[np.int64], takers: Mask) -> Mask:
    """Mark the columns that a taker makes unnecessary; a taker that stays makes each of them so."""
    no_worse = (costs[:, :, None] <= costs[:, None, :]).all(axis=0)  # [k, j]: k costs no more than j
    equal = no_worse & no_worse.T
    order = np.arange(costs.shape[1])
    # among equal columns a taker comes before the others, then the first one
    before = (takers[:, None] & ~takers[None, :]) | (
        (takers[:, None] == takers[None, :]) & (order[:, None] < order[None, :])
    )
    beats = no_worse & takers[:, None] & (~equal | before)
    mask: Mask = beats.any(axis=0)
    return mask
