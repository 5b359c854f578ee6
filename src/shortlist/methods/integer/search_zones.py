"""Complete fronts by search zones: one integer program for each point or empty zone.

The part of objective space that no known point dominates is a union of zones ``{y : y < u}``, one for each
local upper bound u (Klamroth, Lacour, Vanderpooten 2015, Sec. 2). A zone is searched by one program that
minimises positive weights over it. A point found there is non-dominated, because every vector below a
member of the zone is in the zone; otherwise the zone is empty. As in Tamby and Vanderpooten (2021, Sec. 3),
one objective k is minimised with priority. A point z found in the zone u then also proves ``{y : y_k < z_k,
y_i < u_i for the other i}`` empty. Every later zone inside such an empty box is resolved without a program.

Three things differ from the method of Tamby and Vanderpooten. Their second program, which makes the point
non-dominated, is saved by integer weights. Such weights give k priority if one step of k outweighs the ranges
of the other objectives in the zone. If they would be too large for a solver's arithmetic, smaller weights are
taken; the point is still non-dominated, and the optimal value determines the size of the empty box. The
program is bounded in objective k as well, which makes empty zones infeasible at once. And k is always the
objective of the widest range: on the published fronts this needed fewer programs than choosing k zone by
zone.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from shortlist._validation import as_choice
from shortlist.arrays import Mask, Points
from shortlist.errors import SolverError
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError, safe_weights
from shortlist.methods.integer.engines import PARTS, PHASES, WHOLE, ProgramShape, engine_for
from shortlist.methods.integer.integer_objectives import UNLIMITED, Archive, IntegerObjectives, Vector
from shortlist.methods.integer.program_parts import needed_columns
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.two_phases import TwoPhases
from shortlist.methods.integer.zone_parts import N_BY_SOLVER, Answer, ZoneParts
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver
from shortlist.milp.whole_rows import FINEST_TOLERANCE, tells_apart
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget


def search_zones(
    program: Program,
    *,
    solver: str | Solver = "highs",
    max_solves: int | None = None,
    candidates: Sequence[str] | None = None,
    budget: Budget | None = None,
    engine: str | None = None,
) -> Front:
    """Return the complete front of a program with two or more linear objectives.

    `program`: objectives must be exact integers after scaling; see
    :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `max_solves`: largest number of
    integer programs. `candidates`: names of the integer columns; ``x0``, ``x1``, ... by column number if not
    given. `budget`: time limit, seed of the solver, study of the answers, and progress after every program,
    without a total, which is not known before the end. `engine`: for comparisons, one of the names in
    :mod:`shortlist.methods.integer.engines`, "two phases" for two objectives only; by default the engine that
    the table there has for the shape. The front returned is COMPLETE if the search finished. If a limit ended
    it, the front is NONDOMINATED, with the number of zones that were not searched. Solutions with equal
    objectives are one point, with the first solution found. `extras` holds `n_programs`, `n_zones`, and in
    `ideal` the proved best value of each objective, None if a limit ended the search before the proof. An
    infeasible program has a complete front without points.

    Raises BadInputError if the objectives are no exact integers or are unbounded. Raises SolverError if the
    solver contradicts itself.

    Two objectives are searched in two phases (:mod:`shortlist.methods.integer.two_phases`). With three
    objectives or more, zones are searched within the columns that reduced costs leave open. A zone takes up
    to six small programs, and most of these need no solver (:mod:`shortlist.methods.integer.zone_parts`). By
    whole programs, with p objectives, n points and m zones at the end, at most 2p + n + m programs are
    solved; m is at most 2n + 1 for p = 3 and of the order of n to the power p // 2 in general. Linear
    programs are not counted.

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
    solves = BoundedSolves(
        program, solver=solver, budget=budget, max_solves=max_solves, stage="search zones", study=budget.study
    )
    needed = needed_columns(program, solves.integers.costs)
    smaller = dataclasses.replace(program, column_upper=np.where(needed, program.column_upper, 0.0))
    relaxed = RelaxedZones(smaller, solves.integers, solves.budget)
    largest = float(np.abs([solves.integers.lower, solves.integers.upper]).max())
    shape = ProgramShape(
        n_objectives=len(solves.integers),
        n_columns=program.n_columns,
        n_rows=program.n_rows,
        solver=solver if isinstance(solver, str) else solver.name,
        large_sums=not tells_apart(largest, FINEST_TOLERANCE),
    )
    name, why = engine_for(shape).name, engine_for(shape).reason
    if engine is not None:
        of_two = (PHASES,) if shape.n_objectives == 2 else ()
        name, why = as_choice(engine, "engine", (*of_two, PARTS, WHOLE)), f"asked for {engine}"
    parts = ZoneParts(solves, relaxed, n_by_solver=N_BY_SOLVER if solver == "highs" else UNLIMITED)
    search: _Search | TwoPhases
    if name == PHASES:
        search = TwoPhases(solves, relaxed, parts)
    else:
        search = _Search(solves, relaxed, parts if name == PARTS else None)
    try:
        search.run()
    except LimitReachedError as stop:
        proof = Proof(ProofKind.NONDOMINATED, n_unresolved=search.n_open, limit=stop.limit)
    else:
        proof = Proof(ProofKind.COMPLETE)
    return solves.front(
        list(search.found.vectors),
        proof,
        method="search_zones",
        engine=name,
        why=why,
        candidates=candidates,
        n_zones=search.n_zones,
        ideal=_ideal(solves.integers, search.least, search.n_known_ends),
    )


def _ideal(integers: IntegerObjectives, least: Vector, n_known: int) -> list[float | None]:
    """Return the proved best value of each objective in the user's sign and unit; None if unknown."""
    points = integers.points([least])[0].tolist()
    return [
        point * objective.sign / (objective.scale or 1) if index < n_known else None
        for index, (point, objective) in enumerate(zip(points, integers.objectives, strict=True))
    ]


class _Search:
    """State of a search: points found, zones, and boxes known to be empty."""

    def __init__(self, solves: BoundedSolves, relaxed: RelaxedZones, parts: ZoneParts | None) -> None:
        integers = solves.integers
        self._relaxed, self._parts = relaxed, parts
        n_objectives = len(integers)
        self._solves = solves
        self.least = integers.lower.copy()
        self._first = 0
        self.n_known_ends = 0
        self.found = Archive(n_objectives)
        self.zones: Points = np.minimum(integers.upper + 1, UNLIMITED)[None, :]
        self._open: Mask = np.ones(1, dtype=bool)
        self._boxes: Points = np.empty((0, n_objectives), dtype=np.int64)

    @property
    def n_zones(self) -> int:
        """Number of zones that the points found so far leave, searched or not."""
        return len(self.zones)

    @property
    def n_open(self) -> int:
        """Number of zones that are neither searched nor proved empty."""
        return int(self._open.sum())

    def run(self) -> None:
        """Search one zone after the other until none is left."""
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
        """Find the best point of the zone with index `chosen`, and record the box proved empty."""
        answer = None
        if self._parts is not None and (zone < UNLIMITED).all():
            answer = self._parts.answer(zone, self.least, self.found.vectors)
        answer = answer or self._by_program(zone)
        if answer.point is None:
            self._open[chosen] = False
            return
        known = answer.point in self.found
        if not known:
            self._check(answer.point)
        self._add_box(answer.weights, answer.point, zone)
        if not known:
            self._split(answer.point)

    def _by_program(self, zone: Vector) -> Answer:
        first, upper = self._first, _below(zone)
        weights, decides = safe_weights(
            self._solves.integers, first, self.least, upper, self._solves.largest_objective
        )
        start = None
        # without a bound on the first objective, known answers prove zones empty sooner than infeasible
        # programs
        if decides:
            upper[first] = UNLIMITED
            start = self._best_known(weights, upper)
        return Answer(weights, self._solves.minimise(weights, upper, start=start))

    def _best_known(self, weights: Vector, upper: Vector) -> Vector | None:
        """Return the best point found so far within `upper`."""
        found = self.found.vectors
        within = found[(found <= upper).all(axis=1)]
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

        The ends of the front come first, so that a search has them even if time runs out.
        """
        upper = self._solves.integers.upper.copy()
        upper[index] = self.least[index]
        point = self._solves.minimise(np.ones(len(upper), dtype=np.int64), upper)
        if point is None:
            raise SolverError(
                "the solver found no solution where it had found one before. Use another solver or seed."
            )
        if point not in self.found:
            self._check(point)
            self._split(point)

    def _largest(self) -> int:
        """Return the index of the open zone with the largest projection along the first objective.

        Ties go to the oldest zone.
        """
        opened = np.flatnonzero(self._open)
        sides = (self.zones[opened] - self.least).astype(np.float64)
        sides[:, self._first] = 1.0
        return int(opened[np.argmax(sides.prod(axis=1))])

    def _check(self, point: Vector) -> None:
        """Raise an error if `point` contradicts earlier proofs."""
        in_box, found = (point < self._boxes).all(axis=1).any(), self.found.vectors
        if in_box or (point <= found).all(axis=1).any() or (point >= found).all(axis=1).any():
            raise SolverError(
                "the solver found a point where it had proved that there is none. Use another solver or seed."
            )

    def _add_box(self, weights: Vector, point: Vector, zone: Vector) -> None:
        """Record the box proved empty by the optimality of `point`, and close the zones inside.

        `point` minimises ``weights @ y`` over the zone or over the zone without its bound on the first
        objective.
        """
        first = self._first
        others = np.arange(len(zone)) != first
        # largest weight of the other objectives in the zone
        most = int(weights[others] @ (zone[others] - 1))
        least = int(weights @ point)
        box = zone.copy()
        bound = -((most - least) // int(weights[first]))  # as w_k y_k >= least - most
        if bound > self.least[first]:
            box[first] = bound
            self._boxes = np.vstack([self._boxes, box])
            self._open &= ~(self.zones <= box).all(axis=1)

    def _split(self, point: Vector) -> None:
        """Replace the zones that contain `point` by smaller zones; close zones inside a known empty box."""
        hit, fresh = split_zones(self.zones, point)
        opened: Mask = np.all(fresh > self.least, axis=1)
        for index in np.flatnonzero(opened):
            opened[index] = not (fresh[index] <= self._boxes).all(axis=1).any()
        self.zones = np.vstack([self.zones[~hit], fresh])
        self._open = np.concatenate([self._open[~hit], opened])
        self.found.add(point)


def split_zones(zones: Points, point: Vector) -> tuple[Mask, Points]:
    """Mark the zones that contain `point`, and return their replacements.

    Each zone u with ``point < u`` gives one candidate per objective j, with ``u_j`` lowered to ``point_j``. A
    candidate of j that lies inside another zone is redundant. This zone has the same component j: it is
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
    return np.where(zone >= UNLIMITED, UNLIMITED, zone - 1)
