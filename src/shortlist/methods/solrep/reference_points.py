"""Reference points in the utopia plane by hit-and-run (lines 4 to 12 of Algorithm 3 of :cite:t:`Xue2018`).

The anchors are non-dominated vectors, one with the least value of each objective. The plane through them is
the utopia plane of the normal-constraint methods (Messac, Ismail-Yahaya & Mattson 2003). The walk stays in
that plane, and within the linear relaxation of the products' constraints, beyond the anchors' convex hull
too. Anchors that repeat or lie on a line span a plane of fewer dimensions.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Points
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import IntegerObjectives, Vector, integer_objectives
from shortlist.methods.integer.relaxed_zones import relaxation
from shortlist.methods.solrep.limited_solves import LimitedSolves, ProgramOutcome, Record, finished
from shortlist.milp.program import Program
from shortlist.milp.solution import Limits, Solver
from shortlist.milp.whole_rows import FINEST_TOLERANCE, RowSizes, largest_sum, tells_apart, whole_rows
from shortlist.results.proof import Status
from shortlist.runs import Budget, Study
from shortlist.runs.budget import Progress, Report, seconds_now, silent

WALK = "random walk"
"""Name of the stage in progress reports while reference points are drawn."""

FLAT = 1e-9
"""Share of the largest singular value; a singular value below it counts as zero, as its direction has no
extent.
"""

PLACE_STEP = 2.0**-40
"""Step to which points of the walk are rounded, in ranges of the anchors, so that the last digit of a
product does not change the walk.
"""

Between: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[float, float]]
"""Function that returns the limits of a jump from a point in a direction: backwards, at most 0, and
forwards, at least 0; see :meth:`shortlist.methods.solrep.reference_points.JumpLimits.between`.
"""


def plane_scales(anchors: Points) -> NDArray[np.float64]:
    """Return the unit of each objective: the range of the anchors; 1 if all anchors agree."""
    extent = np.ptp(anchors, axis=0).astype(np.float64)
    return np.where(extent > 0, extent, 1.0)


def plane_dimension(anchors: Points) -> int:
    """Return the dimension of the plane through some vectors: 0 when all are equal.

    >>> plane_dimension(np.array([[0, 0, 5], [4, 0, 5], [0, 8, 5], [0, 8, 5]]))
    2
    """
    steps = (anchors - anchors[0]) / plane_scales(anchors)
    return int(np.linalg.matrix_rank(steps, tol=FLAT * max(1.0, float(np.abs(steps).max(initial=0)))))


def hit_and_run(
    anchors: Points, n_points: int, between: Between, *, rng: np.random.Generator, report: Report = silent
) -> NDArray[np.float64]:
    """Return the points of a random walk in the plane through `anchors`, from a point in their hull.

    A step has a random direction in the plane, and a length uniform between the limits from `between`
    (Smith 1984). The limit distribution of the walk is uniform over the region that `between` allows.

    As in the paper every step gives a point, the first one included: there is no thinning and no burn-in.
    Directions are sums of the edges from each anchor to the last one. The edges have length 1 in the ranges
    of the anchors, and normal multipliers; the authors' program draws the multipliers from [0, 1]. Both ways
    have the same limit distribution.

    `anchors`: vectors in steps, possibly repeated or affinely dependent, ``(n_anchors, n_objectives)``.
    `n_points`: number of points. `between`: function of a point, measured from the first anchor in
    :func:`plane_scales`, and a direction. `report`: called after every step.

    The points, ``(n_points, n_objectives)``, lie in the plane, in steps, up to rounding. If all anchors are
    equal, all points are.

    >>> segment = np.array([[0, 4], [4, 0]])
    >>> def allowed(place, direction):
    ...     return tuple(sorted(((0.0 - place[0]) / direction[0], (1.0 - place[0]) / direction[0])))
    >>> walk = hit_and_run(segment, 3, allowed, rng=np.random.default_rng(1))
    >>> bool(np.allclose(walk.sum(axis=1), 4) and (walk >= -1e-9).all())
    True
    """
    n_points = as_count(n_points, "n_points", at_least=0)
    scales = plane_scales(anchors)
    corners = (anchors - anchors[0]) / scales  # exact even if the vectors are too large for their distances
    edges = corners[-1] - corners[:-1]
    lengths = np.sqrt((edges**2).sum(axis=1, keepdims=True))
    edges = edges / np.where(lengths > 0, lengths, 1.0)
    shares = rng.dirichlet(np.ones(len(corners)))
    place = _rounded((shares[:, None] * corners).sum(axis=0))
    walk = np.tile(place, (n_points, 1))
    moves = bool(edges.any())
    for number in range(1, n_points if moves else 0):
        report(Progress(WALK, number, n_points))
        multipliers = rng.standard_normal(len(edges))
        direction = (multipliers[:, None] * edges).sum(axis=0)
        direction = direction / np.sqrt((direction**2).sum())
        low, high = between(place, direction)
        place = _rounded(place + (low + rng.random() * (high - low)) * direction)
        walk[number] = place
    points: NDArray[np.float64] = anchors[0] + walk * scales
    return points


def _rounded(place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a point rounded to multiples of :data:`PLACE_STEP`."""
    rounded: NDArray[np.float64] = np.rint(place / PLACE_STEP) * PLACE_STEP
    return rounded


def neighbour_order(points: Points) -> list[int]:
    """Return an order in which the nearest remaining point comes next, in ranges of the coordinates.

    Starts at the smallest point; ties go to the smaller index, so the order depends on the points only.
    """
    if not len(points):
        return []
    extent = np.ptp(points, axis=0).astype(np.float64)
    places = points / np.where(extent > 0, extent, 1.0)
    left = np.ones(len(points), dtype=bool)
    order = [int(np.lexsort(points.T[::-1])[0])]
    left[order[0]] = False
    for _ in range(len(points) - 1):
        distances = ((places - places[order[-1]]) ** 2).sum(axis=1)
        order.append(int(np.argmin(np.where(left, distances, np.inf))))
        left[order[-1]] = False
    return order


STAGE = "reference points"


@dataclass(frozen=True, eq=False)
class SolveSetting:
    """Settings for every worker; pickling keeps them but loses the cancellation.

    `program`: program to solve. `budget`: budget of the whole search, without progress. `each`: limits of
    each program. `checks`: whether a second program checks each proved answer. `study`: study of the
    finished programs; a copy in another process records nothing.
    """

    program: Program
    solver: str | Solver
    budget: Budget
    each: Limits
    checks: bool
    study: Study

    def open(self) -> LimitedSolves:
        """Return a new session."""
        solves = LimitedSolves(self.program, solver=self.solver, budget=self.budget, stage=STAGE)
        solves.checks = self.checks
        return solves

    def solve(
        self, solves: LimitedSolves, key: str, weights: Vector, upper: Vector, start: Vector | None
    ) -> Record:
        """Solve one program and return its record, which also goes to the study."""
        begun = seconds_now()
        outcome = solves.attempt(weights, upper, start=start, each=self.each)
        record = Record(key, outcome, 1)
        self.study.record(finished(record, seconds_now() - begun))
        return record


def anchor_keys(integers: IntegerObjectives) -> list[str]:
    """Return the keys of the anchors' programs: each objective's least value, then the tie-break."""
    return [f"{what} {name}" for name in integers.names for what in ("least", "anchor")]


def find_anchors(
    setting: SolveSetting, integers: IntegerObjectives, records: dict[str, Record]
) -> list[ProgramOutcome]:
    """Find one anchor per objective: its least value, then the least sum of all objectives in steps.

    If the second program of an anchor ends without an answer, the anchor keeps the first answer, as FEASIBLE.
    The list is empty if the program is infeasible or an objective has no answer at all.
    """
    solves = setting.open()
    ones = np.ones(len(integers), dtype=np.int64)
    anchors = []
    for index, name in enumerate(integers.names):
        unit = np.eye(len(integers), dtype=np.int64)[index]
        key = f"least {name}"
        if key not in records:
            records[key] = setting.solve(solves, key, unit, integers.upper, None)
        first = records[key].outcome
        if first.vector is None or first.columns is None:
            return []
        solves.remember(first.vector, first.columns)
        key = f"anchor {name}"
        if key not in records:
            upper = integers.upper.copy()
            upper[index] = first.vector[index]
            records[key] = setting.solve(solves, key, ones, upper, first.vector)
        second = records[key].outcome
        best = first if second.vector is None else second
        proved = first.status is Status.OPTIMAL and second.status is Status.OPTIMAL
        status = Status.OPTIMAL if proved else Status.FEASIBLE
        anchors.append(ProgramOutcome(status, best.vector, first.bound, best.columns, first.value))
    return anchors


def distinct_anchors(
    setting: SolveSetting, anchors: Sequence[ProgramOutcome], records: dict[str, Record]
) -> list[ProgramOutcome]:
    """Return the anchors; a repeated anchor is replaced by another optimum of its objective.

    If two objectives are best at once, the plane through the anchors loses a dimension. Then other
    non-dominated vectors with the least value of such an objective are sought. Each also has the least value
    of an objective with another anchor. The first vector that adds a dimension to the plane is taken. Each
    pair of objectives takes one program, and a second program if there is another optimum.

    Raises LimitReachedError if the search has to end.
    """
    found = list(anchors)
    solves = setting.open()
    remembered_vectors(solves, anchors)
    for index, anchor in enumerate(anchors):
        same = [_equal(anchor, other) for other in found]
        if sum(same) == 1 or anchor.status is not Status.OPTIMAL:
            continue
        dimension = plane_dimension(_vectors(found))
        for other in np.flatnonzero(np.logical_not(same)).tolist():
            outcome = _other_optimum(setting, solves, anchor, (index, other), records)
            replaced = [*found[:index], outcome or anchor, *found[index + 1 :]]
            if plane_dimension(_vectors(replaced)) > dimension:
                found = replaced
                break
    return found


def _other_optimum(
    setting: SolveSetting,
    solves: LimitedSolves,
    anchor: ProgramOutcome,
    pair: tuple[int, int],
    records: dict[str, Record],
) -> ProgramOutcome | None:
    """Return the vector with the least value of one objective and, among such vectors, of a second one.

    Returns None if the anchor is such a vector.
    """
    index, other = pair
    integers = solves.integers
    assert anchor.vector is not None, "anchors without an answer end the search"
    upper = integers.upper.copy()
    upper[index] = anchor.vector[index]
    named = f"{integers.names[other]} where {integers.names[index]} is least"
    key = f"least {named}"
    if key not in records:
        unit = np.eye(len(integers), dtype=np.int64)[other]
        records[key] = setting.solve(solves, key, unit, upper, anchor.vector)
    first = records[key].outcome
    if first.vector is None or first.status is not Status.OPTIMAL:
        return None
    if first.vector[other] >= anchor.vector[other]:
        return None
    remembered_vectors(solves, [first])
    key = f"other anchor, {named}"
    if key not in records:
        upper[other] = first.vector[other]
        ones = np.ones(len(integers), dtype=np.int64)
        records[key] = setting.solve(solves, key, ones, upper, first.vector)
    second = records[key].outcome
    return second if second.status is Status.OPTIMAL else None


def _equal(one: ProgramOutcome, other: ProgramOutcome) -> bool:
    assert one.vector is not None, "anchors without an answer end the search"
    assert other.vector is not None, "anchors without an answer end the search"
    return bool(np.array_equal(one.vector, other.vector))


def _vectors(outcomes: Sequence[ProgramOutcome]) -> Points:
    return np.array([outcome.vector for outcome in outcomes], dtype=np.int64)


def is_ideal(anchors: Sequence[ProgramOutcome]) -> bool:
    """Whether one vector is proved best in every objective, so that it is the whole front."""
    vectors = np.array([anchor.vector for anchor in anchors])
    proved = all(anchor.status is Status.OPTIMAL for anchor in anchors)
    return proved and bool((vectors == vectors[0]).all())


def best_start(known: Sequence[Vector], weights: Vector, upper: Vector) -> Vector | None:
    """Return the best known vector within `upper`; None if no known vector is within."""
    vectors = np.array(known)
    within = vectors[(vectors <= upper).all(axis=1)]
    return within[np.argmin(within @ weights)] if len(within) else None


def remembered_vectors(solves: LimitedSolves, outcomes: Sequence[ProgramOutcome]) -> list[Vector]:
    """Store the answers among `outcomes` in a session, to start from; return their vectors."""
    vectors = []
    for outcome in outcomes:
        if outcome.vector is not None and outcome.columns is not None:
            solves.remember(outcome.vector, outcome.columns)
            vectors.append(outcome.vector)
    return vectors


LENGTH_STEP = 2.0**-20
"""Step to which limits of a jump are rounded inwards, in ranges of the anchors.

The last digits of a linear program's optimum depend on its first basis and on the machine. Rounding removes
them, so that a repeated walk takes the same steps. A limit that is a multiple of the step is moved inwards
too: limits are often round numbers, and their last digit would decide.
"""


class JumpLimits:
    """Linear relaxation of a program with a line of objective space, in HiGHS's memory.

    The columns are the columns of the program, and the length l of the jump. One row per objective equates
    the objective, measured from `origin` in `scales`, with ``place + l * direction``. A step changes the
    limits of these rows, the coefficients of l and its cost; both programs start from the last basis.

    HiGHS solves this relaxation, whatever solver the integer programs have, as not every backend takes
    continuous columns.

    `program`: program whose objectives are exact integers after scaling. `origin`: origin of the
    objectives, in steps, ``(n_objectives,)``. `scales`: unit of each objective, in steps, above 0,
    ``(n_objectives,)``.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([1.0, 0.0]))
    >>> weight = LinearObjective(Objective("weight"), np.array([0.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, weight]
    ... )
    >>> limits = JumpLimits(shop, np.array([0, 0]), np.ones(2), Budget())
    >>> [round(end, 5) for end in limits.between(np.array([0.5, 0.5]), np.array([1.0, 0.0]))]
    [0.0, 0.5]
    """

    def __init__(self, program: Program, origin: Vector, scales: NDArray[np.float64], budget: Budget) -> None:
        integers = integer_objectives(program)
        costs = integers.costs / scales[:, None]
        self._origin = origin / scales
        self._budget = budget
        n, m = program.n_columns, program.n_rows
        size = float((np.abs(costs) @ RowSizes(whole_rows(program)).reach + np.abs(self._origin)).max())
        self._decides = all(tells_apart(each, FINEST_TOLERANCE) for each in (largest_sum(program), size))
        if not self._decides:
            return
        self._costs = np.zeros(n + 1)
        self._linear = relaxation(program, costs, n_more=1)
        self._rows = np.arange(m, m + len(costs))

    def between(self, place: NDArray[np.float64], direction: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least l, at most 0, and the greatest l, at least 0, rounded to :data:`LENGTH_STEP`.

        An end is 0 if the linear program for it has no optimum, as in the authors' program, or if numbers
        exceed the solver's tolerance.

        Raises LimitReachedError if the budget ends, or is cancelled.
        """
        if not self._decides:
            return 0.0, 0.0
        here = self._origin + place
        self._linear.set_row_bounds(self._rows, here, here)
        self._linear.set_column(len(self._costs) - 1, self._rows, -direction)
        return 0.0 - self._farthest(1.0), self._farthest(-1.0)

    def _farthest(self, cost: float) -> float:
        """Return an end of the jump: forwards for a cost of -1, backwards for 1."""
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        self._costs[-1] = cost
        self._linear.set_costs(self._costs)
        solution = self._linear.solve(self._budget)
        if not solution.optimal:
            if self._budget.stopped:
                raise LimitReachedError(self._budget.limit_text)
            return 0.0
        steps = math.floor(-cost * float(solution.values[-1]) / LENGTH_STEP + 0.25) - 1
        return max(0, steps) * LENGTH_STEP
