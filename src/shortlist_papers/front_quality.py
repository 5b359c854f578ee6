"""Fronts of several methods side by side: the counts and indicators of Tables 3 to 6 of Xue & Li (2018)."""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.errors import BadInputError, SolverError
from shortlist.pareto import additive_epsilon, hypervolume, igd_plus, nondominated_unique, scaled, spread
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind

Vectors: TypeAlias = set[tuple[int, ...]]
"""Points as a set, for counting."""


@dataclass(frozen=True)
class Box:
    """Range of the joint front, by which indicators are scaled."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    """Least and largest value of each objective over the joint front, scaled and minimised."""


@dataclass(frozen=True)
class Quality:
    """Quality of one set of points against the joint front of all methods."""

    n_points: int
    """Number of distinct points of the set."""
    n_joint: int
    """Number of the set's points on the joint front; all other points are dominated."""
    n_dominated: int
    """Number of the set's points that are dominated."""
    hypervolume: float
    """Hypervolume within the box scaled to [0, 1], below (1, ..., 1); 1 for a single point that is best in
    all objectives.
    """
    spread: float
    """Spread: 0 if neighbours in the order of the objectives are equally far apart; see
    :func:`shortlist.pareto.spread`.
    """
    igd_plus: float | None
    epsilon: float | None
    """Distances IGD+ and additive ε of the joint front from the set, in the scaled box; 0 if the set covers
    the joint front; None without points.
    """


@dataclass(frozen=True)
class Pair:
    """Counts of two sets of points A and B, as in the paper."""

    first: str
    second: str
    """Names of the sets A and B."""
    n_first: int
    n_second: int
    """Numbers of points of A and of B, |A| and |B|."""
    n_common: int
    """Number of points in both sets, |A ∩ B|."""
    n_joint: int
    """Number of non-dominated points of A ∪ B, |N_A ∪ N_B|."""
    unique_first: int
    unique_second: int
    """Numbers of non-dominated points that are in A only, and in B only, N_U(A) and N_U(B)."""
    dominated_first: int
    dominated_second: int
    """Numbers of points of A, and of B, that the other set dominates."""


@dataclass(frozen=True, eq=False)
class FrontTables:
    """Result of :func:`compare_fronts`."""

    joint: Front
    """Non-dominated points of all fronts; ``extras["found_by"]`` names the fronts that have each point, and
    ``extras["n_proved"]`` is the number of points in a front of proved points.
    """
    box: Box | None
    """Range of the joint front; None without points."""
    qualities: dict[str, Quality]
    """Quality of each front, by name."""
    unique: dict[str, int]
    """Number of points of the joint front that a single front has, by the name of this front."""
    shares: dict[str, float] | None
    """Share of the complete front that each front has; None if no front is complete."""
    pairs: tuple[Pair, ...]
    """Counts of every pair of fronts, in the order of the fronts."""


def compare_fronts(fronts: Mapping[str, Front]) -> FrontTables:
    """Compare fronts over the same objectives.

    Points dominated within their own front count as dominated, so unions of runs may be passed unchanged.
    Raises BadInputError if there is no front, or objectives differ. Raises SolverError if another method
    dominates a point that was proved non-dominated, or a complete front lacks a point.

    >>> from shortlist.results.objective import Objective
    >>> goals = [Objective("cost"), Objective("defects")]
    >>> def front(points):
    ...     return Front.from_points(goals, np.array(points), np.zeros((len(points), 0), int), (),
    ...         Proof(ProofKind.APPROXIMATE))
    >>> tables = compare_fronts({"A": front([[0, 4], [2, 2]]), "B": front([[2, 2], [4, 0], [5, 5]])})
    >>> tables.joint.points.tolist(), tables.unique, tables.pairs[0].dominated_second
    ([[0, 4], [2, 2], [4, 0]], {'A': 1, 'B': 1}, 1)
    """
    if not fronts:
        raise BadInputError("fronts", "must hold at least one", "none")
    joint = joint_front(fronts)
    sets = {name: as_set(front.points) for name, front in fronts.items()}
    whole = as_set(joint.points)
    box = box_of(joint.points)
    unique = {
        name: len((points & whole).difference(*(other for key, other in sets.items() if key != name)))
        for name, points in sets.items()
    }
    known = joint.proof.kind is ProofKind.COMPLETE and bool(whole)
    return FrontTables(
        joint,
        box,
        {name: quality_of(front.points, joint.points, box) for name, front in fronts.items()},
        unique,
        {name: len(points & whole) / len(whole) for name, points in sets.items()} if known else None,
        tuple(count_pair(a, b, sets[a], sets[b]) for a, b in itertools.combinations(sets, 2)),
    )


def joint_front(fronts: Mapping[str, Front]) -> Front:
    """Return the non-dominated points of all fronts, with the strongest proof that they support together.

    The proof is COMPLETE if a front is complete, which is then the joint front. It is NONDOMINATED if each
    point is in a front of proved points, and APPROXIMATE otherwise. A bound on the points missing from one
    front holds for the joint front too.
    """
    first = next(iter(fronts.values()))
    for name, front in fronts.items():
        if front.objectives != first.objectives or front.candidates != first.candidates:
            raise BadInputError(
                f"`fronts` must have the same objectives and candidates, but {name!r} differs."
            )
    points: Points = np.vstack([front.points for front in fronts.values()])
    decisions = np.vstack([front.decisions for front in fronts.values()])
    kept = nondominated_unique(points)
    sets = {name: as_set(front.points) for name, front in fronts.items()}
    joint = Front.from_points(
        first.objectives, points[kept], decisions[kept], first.candidates, Proof(ProofKind.APPROXIMATE),
        method="joint", seconds=sum(front.seconds for front in fronts.values()),
    )  # fmt: skip
    rows = [tuple(point) for point in joint.points.tolist()]
    found_by = [[name for name, own in sets.items() if row in own] for row in rows]
    proof, n_proved = _joint_proof(fronts, sets, set(rows))
    return dataclasses.replace(joint, proof=proof, extras={"found_by": found_by, "n_proved": n_proved})


def box_of(points: Points) -> Box | None:
    """Return the range of points; None without points."""
    if not len(points):
        return None
    return Box(tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist()))


def in_box(points: Points, box: Box) -> NDArray[np.float64]:
    """Return points scaled so that the box becomes [0, 1].

    An objective without range is scaled by its smallest step, so that a worse value is seen.
    """
    low, high = np.array(box.low), np.array(box.high)
    return scaled(points, low, np.where(high > low, high, low + 1))


def quality_of(points: Points, joint: Points, box: Box | None) -> Quality:
    """Return counts and indicators of a set against the joint front, whose range is `box`.

    Dominated points count in the spread, as they would in a published set, and change no other indicator.
    """
    own, whole = as_set(points), as_set(joint)
    n_joint = len(own & whole)
    if box is None or not len(points):
        return Quality(len(own), n_joint, len(own) - n_joint, 0.0, 0.0, None, None)
    inside, reference = in_box(np.array(sorted(own)), box), in_box(joint, box)
    return Quality(
        len(own),
        n_joint,
        len(own) - n_joint,
        hypervolume(inside, np.ones(len(box.low))),
        spread(inside),
        igd_plus(inside, reference),
        additive_epsilon(inside, reference),
    )


def grid_hypervolume(points: Points, box: Box) -> float:
    """Return the exact volume that points dominate in a box, as a share of it, by a sweep over integers.

    Unlike :func:`shortlist.pareto.hypervolume` it takes hundreds of thousands of points in seconds. The first
    objective is swept. The last objective is kept for each cell of the middle objectives, which must have few
    different values. A point outside the box adds the volume that it dominates in the box.

    >>> grid_hypervolume(np.array([[0, 1, 0], [1, 0, 0]]), Box((0, 0, 0), (2, 2, 1)))
    0.75
    """
    low, high = np.array(box.low, dtype=np.int64), np.array(box.high, dtype=np.int64)
    extent = np.maximum(high - low, 1)
    inside = np.maximum(points - low, 0)
    inside = inside[(inside < extent).all(axis=1)]
    inside = inside[np.argsort(inside[:, 0], kind="stable")]
    # best[cell] is the largest share of the last objective that is dominated in a cell of the middle ones
    best: NDArray[np.int64] = np.zeros(tuple(extent[1:-1]) or (1,), dtype=np.int64)
    volume, before = 0, 0
    levels, begins = np.unique(inside[:, 0], return_index=True)
    for level, own in zip(levels.tolist(), np.split(inside, begins[1:]), strict=True) if len(levels) else ():
        volume += int(best.sum()) * (level - before)
        before = level
        cells = tuple(own[:, 1:-1].T) or (np.zeros(len(own), dtype=np.int64),)
        np.maximum.at(best, cells, extent[-1] - own[:, -1])
        for axis in range(best.ndim):
            np.maximum.accumulate(best, axis=axis, out=best)
    volume += int(best.sum()) * (int(extent[0]) - before)
    return float(volume / math.prod(extent.tolist()))


def _joint_proof(
    fronts: Mapping[str, Front], sets: Mapping[str, Vectors], joint: Vectors
) -> tuple[Proof, int]:
    """Return the proof of the joint front, and its number of proved points.

    Raises SolverError if proofs of two fronts contradict each other.
    """
    proved: Vectors = set()
    for name, front in fronts.items():
        complete = front.proof.kind is ProofKind.COMPLETE
        if front.proof.kind is ProofKind.APPROXIMATE or any(front.proof.tolerances):
            continue
        if not sets[name] <= joint or (complete and sets[name] != joint):
            raise SolverError(
                f"another method found a product that {name!r} proved impossible. Use another solver or seed."
            )
        if complete:
            return front.proof, len(joint)
        proved |= sets[name]
    proofs = [front.proof for front in fronts.values()]
    proof = Proof(
        ProofKind.NONDOMINATED if joint and joint <= proved else ProofKind.APPROXIMATE,
        missing=next((proof.missing for proof in proofs if proof.missing is not None), None),
        n_unresolved=sum(proof.n_unresolved for proof in proofs),
        limit="; ".join(dict.fromkeys(proof.limit for proof in proofs if proof.limit)),
    )
    return proof, len(proved)


def count_pair(first: str, second: str, a: Vectors, b: Vectors) -> Pair:
    """Return the counts of two sets of points, as in the paper."""
    joint = _nondominated_set(a | b)
    only_a, only_b = len((a - b) & joint), len((b - a) & joint)
    counts = (len(a), len(b), len(a & b), len(joint), only_a, only_b, len(a - joint), len(b - joint))
    return Pair(first, second, *counts)


def _nondominated_set(points: Vectors) -> Vectors:
    if not points:
        return set()
    listed: NDArray[np.int64] = np.array(sorted(points), dtype=np.int64)
    kept: Mask = nondominated_unique(listed)
    return as_set(listed[kept])


def as_set(points: Points) -> Vectors:
    """Return the distinct points as a set."""
    return {tuple(point) for point in points.tolist()}
