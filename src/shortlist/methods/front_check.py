"""Recheck of the claims of a front, and the evidence for them afterwards."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist._words import counted, number_text
from shortlist.arrays import Points
from shortlist.methods.boxes import STAGE, BoxSearch, search_boxes
from shortlist.methods.integer.integer_objectives import (
    UNLIMITED,
    IntegerObjectives,
    Vector,
    integer_objectives,
)
from shortlist.methods.integer.search_zones import split_zones
from shortlist.methods.row_states import sweep_states
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows
from shortlist.pareto import nondominated, nondominated_unique
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, proof_conflict
from shortlist.runs.budget import Budget, Progress
from shortlist.solvers import TITLES


@dataclass(frozen=True, eq=False)
class ClaimCheck:
    """Findings of the recheck of any front."""

    failures: tuple[str, ...]
    """Claims of the front that fail, a sentence each, without a full stop."""
    n_points: int
    """Points of the front."""
    claim: ProofKind
    """Claim of the front."""


@dataclass(frozen=True, eq=False)
class FrontCheck(ClaimCheck):
    """Findings of the recheck of a front.

    `search`: search for missing or dominating solutions; None without a search. `found_by`: solver that found
    the front, or "" without one. `seconds`: wall-clock time of the recheck. `n_completed`: number of points
    whose continuous columns keep rows within the tolerance of HiGHS, not exactly. `n_tried`: number of
    committees, if all of them were enumerated. `n_states`: number of states of a second search for the whole
    front, 0 without one (:mod:`shortlist.methods.row_states`). `unasked`: reason, as a sentence, why claims
    about other solutions were not rechecked, or "". `rounded`: sentence on the values that are rounded, or
    "".
    """

    search: BoxSearch | None = None
    found_by: str = ""
    seconds: float = 0.0
    n_completed: int = 0
    n_tried: int = 0
    n_states: int = 0
    unasked: str = ""
    rounded: str = ""

    @property
    def status(self) -> str:
        """Status: ``invalid``, ``rechecked``, or ``counted`` without a recheck of all claims."""
        if self.failures:
            return "invalid"
        if self.n_tried or self.n_states:
            return "rechecked"
        return "counted" if self.search is None or self.search.n_open else "rechecked"

    @property
    def rests_on(self) -> str:
        """Name of the solver that found the front, if it alone shows that boxes are empty; else ""."""
        if self.search is None or not self.search.n_by_solver:
            return ""
        title = TITLES.get(self.search.solver, self.search.solver)
        return title if title == TITLES.get(self.found_by, "") else ""

    def sentences(self) -> list[str]:
        """Return sentences about the checks and the evidence."""
        if self.failures:
            return []
        said = []
        if self.n_completed:
            said.append(
                f"The continuous columns of {self.n_completed:,} of {counted(self.n_points, 'point')} keep "
                "rows within the tolerance of HiGHS, not exactly."
            )
        if self.rounded:
            said.append(self.rounded)
        if self.n_tried:
            said.append(
                f"All {self.n_tried:,} committees were counted, with every threshold where they have one."
            )
        if self.n_states:
            what = {
                ProofKind.COMPLETE: "no other point",
                ProofKind.NONDOMINATED: "nothing that dominates a point of the front",
                ProofKind.APPROXIMATE: "nothing better than the front says",
            }[self.claim]
            said.append(f"An independent exact count found {what}.")
        if self.unasked:
            said.append(self.unasked)
        return said if self.search is None else said + self._searched(self.search)

    def _searched(self, search: BoxSearch) -> list[str]:
        """Return sentences about the searched region and the solver that excludes better solutions in it."""
        total = "one box" if search.n_boxes == 1 else f"one of {search.n_boxes:,} boxes"
        asked = {
            ProofKind.COMPLETE: "Any trade-off that is missing would lie in",
            ProofKind.NONDOMINATED: "Anything better than one of its points would lie in",
            ProofKind.APPROXIMATE: "Anything better than the front says would lie in",
        }[self.claim]
        said = [f"{asked} {total} of objective space."]
        if search.n_by_sums:
            said.append(f"{_are(search.n_by_sums)} empty, which sums of integers show without a solver.")
        if search.n_by_solver:
            title = TITLES.get(search.solver, search.solver)
            found = TITLES.get(self.found_by, "")
            alone = ", which also found the front; nothing else confirms it" if self.rests_on else ""
            both = f"; {found} claims the same" if found and found != title else ""
            said.append(f"{_are(search.n_by_solver)} claimed empty by {title}{alone or both}.")
        if search.n_open:
            until = (
                "by the interruption" if search.limit == "interrupted" else f"by the limit of {search.limit}"
            )
            said.append(
                f"{_are(search.n_open)} left without an answer {until}: there the front's claim stands "
                "unchecked."
            )
        return said


def _are(count: int) -> str:
    return "1 is" if count == 1 else f"{count:,} are"


def other_solver(found_by: str, program: Program) -> str:
    """Return a solver for the program that is not `found_by`.

    >>> from shortlist.milp.program import make_program
    >>> program = make_program(
    ...     [[1.0]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True
    ... )
    >>> other_solver("highs", program), other_solver("cpsat", program), other_solver("", program)
    ('cpsat', 'highs', 'highs')
    """
    if found_by in {"", "cpsat"}:
        return "highs"
    bounded = np.isfinite(program.column_lower).all() and np.isfinite(program.column_upper).all()
    if program.integer.all() and bounded and whole_rows(program).whole.all():
        return "cpsat"
    return "scip" if found_by == "highs" else "highs"


def finder_of(front: Front) -> str:
    """Return the name of the solver that a front rests on, "" if it rests on none."""
    if front.extras.get("n_handed_over"):
        return "cpsat"
    return str(front.extras.get("solver", ""))


def check_claims(
    program: Program, front: Front, *, budget: Budget, solver: str | None = None, exact: bool = False
) -> FrontCheck:
    """Recheck the claims of a front about its points, whose solutions have been checked.

    `program`: program with the objectives of the front, in its order. `front`: sorted front without equal
    points. `solver`: solver of the recheck; by default one that did not find the front. `exact`: whether a
    proof with tolerances is allowed, as the program already contains them. Otherwise the proof must have no
    tolerances, as all values are sums of integers.

    Failures name dominated points, solutions that the front lacks, and values better than the best possible
    values that the front states.
    """
    found_by = finder_of(front)
    integers = integer_objectives(program)
    facts = FrontCheck((), len(front), front.proof.kind, None, found_by)
    vectors, off = _vectors(front, integers)
    ideal, no_ideal = _ideal(front, integers)
    wrong = tuple(filter(None, [off, no_ideal, proof_conflict(front, may_round=exact)]))
    if wrong := wrong or dominated_points(front, vectors):
        return dataclasses.replace(facts, failures=wrong, seconds=budget.elapsed)
    covers = _covers(vectors, front.proof, integers)
    below = vectors if front.proof.kind is ProofKind.NONDOMINATED else vectors[:0]
    if covers is None and not len(below) and not len(ideal):
        return dataclasses.replace(facts, seconds=budget.elapsed)
    if solver is None and (swept := sweep_states(program, integers, budget=budget.share(0.5))) is not None:
        better = _broken(swept.vectors, covers, below, ideal)
        failures = tuple(_lacking(front, integers, vector) for vector in better[:1])
        n_states = 0 if covers is None and not len(below) else swept.n_states
        return dataclasses.replace(facts, failures=failures, n_states=n_states, seconds=budget.elapsed)
    corners = _corners(covers, below, ideal, integers, budget)
    chosen = solver or other_solver(found_by, program)
    search = search_boxes(program, integers, corners, solver=chosen, budget=budget)
    failures = () if search.found is None else (_lacking(front, integers, search.found),)
    asked = None if covers is None and not len(below) and not failures else search
    return dataclasses.replace(facts, failures=failures, search=asked, seconds=budget.elapsed)


def _vectors(front: Front, integers: IntegerObjectives) -> tuple[Points, str]:
    factors = np.array([one.sign * (one.scale or 1) for one in integers.objectives])
    points = np.rint(front.values * factors).astype(np.int64)
    rest = (points - integers.offsets) % integers.steps
    if (points / factors != front.values).any() or rest.any():
        wrong = int(np.argmax((points / factors != front.values).any(axis=1) | rest.any(axis=1)))
        return points, f"point {wrong} has values that no solution can have"
    return (points - integers.offsets) // integers.steps, ""


def other_objectives(front: Front, meant: Sequence[Objective]) -> tuple[str, ...]:
    """Return sentences about objectives whose scale or unit differs from those of the question."""
    return tuple(
        f"the objective {mine.name} has another scale or unit than it should"
        for mine, one in zip(front.objectives, meant, strict=True)
        if mine != one
    )


def dominated_points(front: Front, vectors: Points) -> tuple[str, ...]:
    """Return sentences about points of the front that are dominated or repeated."""
    if not len(vectors):
        return ()
    marks = ~nondominated(vectors)
    _, first, same = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[same.ravel()] != np.arange(len(vectors)))
    said = [
        f"point {number} is the same as point {int(first[same.ravel()[number]])}"
        for number in repeated.tolist()
    ]
    for number in np.flatnonzero(marks).tolist():
        better = (vectors <= vectors[number]).all(axis=1) & (vectors < vectors[number]).any(axis=1)
        said.append(
            f"point {number} ({_text(front, front.values[number].tolist())}) is dominated by point "
            f"{int(np.argmax(better))}"
        )
    return tuple(said)


def _ideal(front: Front, integers: IntegerObjectives) -> tuple[Points, str]:
    """Return corners that must be empty if the front's best possible values are right.

    The first value is the corners, ``(n_known, n_objectives)``; none for a complete front, whose points imply
    its best possible values. The second value is a sentence about malformed values, or "".
    """
    if front.proof.kind is ProofKind.COMPLETE:
        return np.empty((0, len(integers)), dtype=np.int64), ""
    told = front.extras.get("ideal") or [None] * len(integers)
    if not isinstance(told, list) or len(told) < len(front.objectives):
        return np.empty((0, len(integers)), dtype=np.int64), "the front has no best value of each objective"
    corners = []
    for number, (best, one) in enumerate(zip(told, integers.objectives, strict=False)):
        if best is not None:
            in_steps = best * one.sign * (one.scale or 1) - integers.offsets[number]
            corner = np.full(len(integers), UNLIMITED, dtype=np.int64)
            corner[number] = math.ceil(in_steps / integers.steps[number]) - 1
            corners.append(corner)
    return np.array(corners, dtype=np.int64).reshape(-1, len(integers)), ""


def _covers(vectors: Points, proof: Proof, integers: IntegerObjectives) -> Points | None:
    """Return vectors that, as the front claims, cover every solution; None without a claim."""
    if proof.kind is ProofKind.COMPLETE:
        return vectors
    if proof.missing is None or not all(math.isfinite(value) for value in proof.missing):
        return None
    return vectors - _in_steps(proof.missing, integers)


def _broken(found: Points, covers: Points | None, below: Points, ideal: Points) -> Points:
    """Return solutions that break a claim: not covered, dominating a point, or in a corner."""
    marks = np.zeros(len(found), dtype=bool)
    if covers is not None:
        marks |= nondominated_unique(np.vstack([covers, found]))[len(covers) :]
    if len(below):
        worse = below[~nondominated(np.vstack([below, found]))[: len(below)]]
        marks |= np.array([(one <= worse).all(axis=1).any() for one in found], dtype=bool)
    for corner in ideal:
        marks |= (found <= corner).all(axis=1)
    return found[marks]


def _corners(
    covers: Points | None, below: Points, ideal: Points, integers: IntegerObjectives, budget: Budget
) -> Points:
    """Return the corners of the boxes that must be empty if the front's claims are right."""
    n = len(integers)
    better = below[:, None, :] - np.eye(n, dtype=np.int64)[None, :, :]
    uncovered = ideal[:0] if covers is None else _zones(covers, integers, budget) - 1
    return np.vstack([better.reshape(-1, n), uncovered, ideal])


def _in_steps(tolerances: Sequence[float], integers: IntegerObjectives) -> Points:
    """Return tolerances in whole steps, rounded down with an allowance for rounding errors."""
    scales = np.array([one.scale or 1 for one in integers.objectives])
    steps = np.floor(np.asarray(tolerances) * scales / integers.steps + 1e-9)
    return np.asarray(steps, dtype=np.int64)


def _zones(points: Points, integers: IntegerObjectives, budget: Budget) -> Points:
    """Return the corners of the open boxes that no point dominates; at a limit, of fewer and larger boxes."""
    zones: Points = np.minimum(integers.upper + 1, UNLIMITED)[None, :]
    kept = points[nondominated_unique(points)] if len(points) else points
    for number, point in enumerate(kept):
        if budget.stopped:
            break
        hit, fresh = split_zones(zones, point)
        zones = np.vstack([zones[~hit], fresh])
        if not number % 100:
            budget.report(Progress(STAGE, number, len(kept)))
    return zones


def _lacking(front: Front, integers: IntegerObjectives, found: Vector) -> str:
    point = integers.points([found])[0].tolist()
    values = [
        value * objective.sign / (objective.scale or 1)
        for value, objective in zip(point, integers.objectives, strict=True)
    ]
    ideal, _ = _ideal(front, integers)
    if any((found <= corner).all() for corner in ideal):
        return f"there is a solution with {_text(front, values)}, better than what the front calls possible"
    better = [
        number
        for number, row in enumerate(front.values.tolist())
        if all(
            o.sign * new <= o.sign * old for o, new, old in zip(front.objectives, values, row, strict=True)
        )
    ]
    what = f"which dominates point {better[0]}" if better else "which no point of the front dominates"
    return f"there is a solution with {_text(front, values)}, {what}"


def _text(front: Front, values: Sequence[float]) -> str:
    return ", ".join(f"{name} {number_text(value)}" for name, value in zip(front.names, values, strict=True))
