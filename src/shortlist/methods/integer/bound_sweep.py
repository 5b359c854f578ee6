"""Every bound on all objectives but one, from loose to tight, without programs of known answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist._validation import as_choice
from shortlist._words import all_of
from shortlist.errors import BadInputError
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError
from shortlist.methods.integer.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.results.proof import Proof, ProofKind

SolveBounded: TypeAlias = Callable[[Vector, Vector], Vector | None]
"""Returns the objectives of a best solution between least values and bounds, or None without one."""

Ends: TypeAlias = tuple[Vector, Vector]
"""Where sweeps begin and end: the least and the largest value of each objective."""


class BoundSweep:
    """Nested loops over integer bounds, one for each objective but the minimised one.

    The innermost loop solves a program, lowers its bound to one step below the answer, and ends when nothing
    is left; an outer loop lowers its bound to one step below the largest value that the loops inside it met.
    No answer in between is skipped: while every answer of the inner loops stays within the outer bound, the
    inner loops would give the same answers. Programs are left out by the same reasoning across loops (Özlen,
    Burton, MacRae 2014): an answer to looser bounds that meets the tighter ones is an answer to these, and
    what looser bounds exclude tighter ones exclude.

    `answers`: every different answer, in the order found. `n_skipped`: programs that were left out. `n_open`:
    loops that have not ended.
    """

    def __init__(self, solve: SolveBounded, order: Sequence[int], lower: Vector, upper: Vector) -> None:
        self.answers: list[Vector] = []
        self.n_skipped = 0
        self.n_open = len(order) - 1
        self._solve = solve
        self._swept = list(order[1:])
        self._lower = lower
        self._upper = upper
        self._bounds = upper.copy()
        self._bounds[order[0]] = UNLIMITED
        self._known: dict[tuple[int, ...], int] = {}
        self._asked = np.empty((0, len(lower)), dtype=np.int64)
        self._answered = np.empty((0, len(lower)), dtype=np.int64)  # -UNLIMITED everywhere: nothing
        self._numbers: list[int | None] = []

    def run(self) -> None:
        """Sweep all bounds; `answers` grows meanwhile."""
        self._sweep(len(self._swept))
        self.n_open = 0

    def _sweep(self, depth: int) -> set[int]:
        """Return the numbers of the answers within the current bounds of the outer loops."""
        if depth == 0:
            number = self._answer()
            return set() if number is None else {number}
        objective = self._swept[depth - 1]
        met: set[int] = set()
        self._bounds[objective] = self._upper[objective]
        while self._bounds[objective] >= self._lower[objective]:
            inner = self._sweep(depth - 1)
            if not inner:
                break
            met |= inner
            self._bounds[objective] = max(int(self.answers[number][objective]) for number in inner) - 1
        self._bounds[objective] = self._upper[objective]
        return met

    def _answer(self) -> int | None:
        """Return the number of the answer to the current bounds, solved only if it is not known."""
        bounds = self._bounds
        known = (bounds <= self._asked).all(axis=1) & (self._answered <= bounds).all(axis=1)
        if known.any():
            self.n_skipped += 1
            return self._numbers[int(np.argmax(known))]
        answer = self._solve(self._lower, bounds.copy())
        number = None
        if answer is not None:
            number = self._known.setdefault(tuple(answer.tolist()), len(self.answers))
            if number == len(self.answers):
                self.answers.append(answer)
        self._asked = np.vstack([self._asked, bounds])
        self._answered = np.vstack(
            [self._answered, np.full_like(bounds, -UNLIMITED) if answer is None else answer]
        )
        self._numbers.append(number)
        return number


@dataclass(frozen=True, eq=False)
class Swept:
    """What a sweep found before it ended, and the limit that ended it, if one did."""

    answers: list[Vector]
    n_skipped: int = 0
    n_open: int = 0
    limit: str = ""

    def proof(self, stopped: ProofKind) -> Proof:
        """Return the proof of the answers: complete, or `stopped` with the loops that were not finished."""
        if self.limit:
            return Proof(stopped, n_unresolved=self.n_open, limit=self.limit)
        return Proof(ProofKind.COMPLETE)


def sweep_all(order: Sequence[int], find_ends: Callable[[], Ends | None], solve: SolveBounded) -> Swept:
    """Find where the bounds begin and end, and sweep them all, until nothing is left or a limit is hit.

    `find_ends` returns None if the program is infeasible.
    """
    sweep: BoundSweep | None = None
    limit = ""
    try:
        if (ends := find_ends()) is not None:
            sweep = BoundSweep(solve, order, *ends)
            sweep.run()
    except LimitReachedError as stop:
        limit = stop.limit
    if sweep is None:
        return Swept([], n_open=len(order) - 1, limit=limit)
    return Swept(sweep.answers, sweep.n_skipped, sweep.n_open, limit)


def bounds_by_solves(solves: BoundedSolves, bounded: Sequence[int]) -> Ends | None:
    """Return the true least and largest values of the `bounded` objectives.

    None if the program is infeasible.
    """
    integers = solves.integers
    lower, upper = integers.lower.copy(), integers.upper.copy()
    for number in bounded:
        unit = np.zeros(len(integers), dtype=np.int64)
        unit[number] = 1
        least, largest = solves.minimise(unit, integers.upper), solves.minimise(-unit, integers.upper)
        if least is None or largest is None:
            return None
        lower[number], upper[number] = least[number], largest[number]
    return lower, upper


def sweep_order(integers: IntegerObjectives, order: Sequence[str] | None) -> list[int]:
    """Return the numbers of the objectives: the minimised one, then from the inner to the outer loop.

    If the user gives no `order`, the widest range comes first: the fewer values the bounds can take, the
    fewer programs.
    """
    if order is None:
        ranges = integers.upper - integers.lower
        return [int(number) for number in np.argsort(-ranges, kind="stable")]
    names = integers.names
    for name in order:
        as_choice(name, "order", names)
    if len(set(order)) != len(names) or len(order) != len(names):
        raise BadInputError("order", f"must name each of {all_of(names)} once", all_of(order))
    return [names.index(name) for name in order]
