"""Satisfiability under assumptions, backbones, and minimal conflicts."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Shorts
from shortlist.errors import BadInputError
from shortlist.logic import _propagation_kernels as kernels
from shortlist.logic import _search_kernels as searching
from shortlist.logic.clauses import Clauses
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class SatAnswer:
    """Result of a search: a model, or assumptions that exclude one."""

    model: Mask | None
    """Values that satisfy the clauses and the assumptions, ``(n_variables,)``; None if no values do."""
    conflict: tuple[int, ...] = ()
    """Assumptions that contradict the clauses, not always the fewest; empty with a model, or if the clauses
    alone are unsatisfiable.
    """

    @property
    def satisfiable(self) -> bool:
        """Whether there is a model."""
        return self.model is not None


class SearchStoppedError(Exception):
    """Error of a search whose budget ended before the search had an answer."""


class SatSolver:
    """Solver for repeated questions about the same clauses; it keeps learned clauses.

    Conflict-driven clause learning (Marques-Silva & Sakallah 1999) with watched literals, activities and
    restarts as in MiniSat (Eén & Sörensson 2003), saved phases, and assumptions as first decisions. The
    search is complete: it ends with a model or with a refutation. Answers depend on the clauses and the
    earlier questions only, never on time.

    `clauses`: clauses to satisfy. `budget`: checked before each question, and within it about every ten
    thousand propagated literals.

    >>> solver = SatSolver(Clauses.from_clauses(3, [(-1, 2), (-2, 3)]))
    >>> solver.solve([1]).model.tolist()
    [True, True, True]
    >>> sorted(solver.solve([1, -3]).conflict)
    [-3, 1]
    """

    def __init__(self, clauses: Clauses, budget: Budget | None = None) -> None:
        self._budget = budget
        self._n = n = clauses.n_variables
        tidy = [tuple(dict.fromkeys(clause)) for clause in clauses]
        tidy = [clause for clause in tidy if not any(-literal in clause for literal in clause)]
        self._contradictory = any(not clause for clause in tidy)
        longer = [clause for clause in tidy if len(clause) > 1]
        kept = Clauses.from_clauses(n, longer)
        size, room = len(kept.literals), len(kept.literals) + 20 * n + 1000
        n_starts = len(longer) + 2 * n + 1000
        self._store = kernels.ClauseStore(
            arena=np.zeros(room, np.int32),
            starts=np.zeros(n_starts, np.int64),
            heads=np.full(2 * n, -1, np.int32),
            links=np.zeros(2 * n_starts, np.int32),
        )
        self._store.arena[:size] = kernels.literal_codes(kept.literals)
        self._store.starts[: len(longer) + 1] = kept.offsets
        self._model = np.zeros(n, np.int8)
        self._assignment = kernels.Assignment(
            values=np.full(2 * n, -1, np.int8),
            levels=np.zeros(n, np.int32),
            reasons=np.zeros(n, np.int32),
            trail=np.zeros(n + 1, np.int32),
        )
        self._memory = searching.SearchMemory(
            ranks=np.zeros(n_starts, np.int32),
            phases=np.ones(n, np.int8),
            limits=np.zeros(n + 1, np.int32),
            seen=np.zeros(n, np.int8),
            learned=np.zeros(n + 1, np.int32),
        )
        every = np.arange(n, dtype=np.int32)
        self._activity = searching.Activity(every, every.copy(), np.zeros(n), np.ones(1))
        self._counts = np.zeros(1, kernels.COUNTS)
        self._counts[0].clauses = self._counts[0].fixed = len(longer)
        self._counts[0].heap = n
        self._counts[0].learned = len(longer) // 3 + 1000
        kernels.watch(self._store, 0, len(longer))
        units = np.array([clause[0] for clause in tidy if len(clause) == 1], dtype=np.int64)
        for code in kernels.literal_codes(units).tolist():
            if self._assignment.values[code] == 0:
                self._contradictory = True
            elif self._assignment.values[code] < 0:
                kernels.assign(code, -1, self._assignment, self._counts)  # propagated by the next search

    def prefer(self, literals: Iterable[int]) -> None:
        """Try these literals first; this may change the model found, but never the answer."""
        codes = kernels.literal_codes(np.fromiter(literals, np.int64))
        self._memory.phases[codes >> 1] = codes & 1

    def solve(self, assumptions: Iterable[int] = ()) -> SatAnswer:
        """Search for a model in which every literal of `assumptions` is true.

        Raises BadInputError if an assumption names a variable that does not exist. Raises SearchStoppedError
        if the budget ends before there is an answer.
        """
        listed = list(assumptions)
        if any(not 1 <= abs(literal) <= self._n for literal in listed):
            raise BadInputError(
                "assumptions", f"must name variables 1 to {self._n}", listed, "Leave the others out."
            )
        if self._contradictory:
            return SatAnswer(None)
        codes = kernels.literal_codes(np.array(listed, dtype=np.int64))
        found = np.zeros(len(listed) + 2, np.int32)
        levels = np.zeros(self._n + len(listed) + 1, np.int32)
        searching.begin(self._counts)
        try:
            answer = self._searched(codes, levels, found)
        finally:
            if self._counts[0].level:  # stopped: the next search begins anew
                memory = self._memory._replace(limits=levels)
                searching.backtrack(0, self._assignment, memory, self._activity, self._counts)
        if answer == searching.SATISFIABLE:
            return SatAnswer(self._model == 1)
        if answer == searching.UNSATISFIABLE:
            self._contradictory = True
            return SatAnswer(None)
        codes = found[: found[-1]]
        return SatAnswer(None, tuple(np.where(codes & 1, -(codes >> 1) - 1, (codes >> 1) + 1).tolist()))

    def _searched(self, codes: Shorts, levels: Shorts, found: Shorts) -> int:
        """Search until there is an answer, with checks of the budget."""
        while True:
            if self._budget is not None and self._budget.stopped:
                raise SearchStoppedError
            memory = self._memory._replace(limits=levels)
            answer = searching.search(
                self._store, self._assignment, memory, self._activity, self._counts, codes, self._model, found
            )
            if answer == searching.NO_ROOM:
                self._enlarge()
            elif answer != searching.PAUSED:
                return answer

    def _enlarge(self) -> None:
        store = self._store
        self._store = store._replace(
            arena=_doubled(store.arena), starts=_doubled(store.starts), links=_doubled(store.links)
        )
        self._memory = self._memory._replace(ranks=_doubled(self._memory.ranks))


def _doubled(room: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([room, np.zeros_like(room)])


def backbone(clauses: Clauses, budget: Budget | None = None) -> tuple[int, ...] | None:
    """Return the literals that are true in every model, sorted by variable; None if there is no model.

    Positive literals are the core features of a product line, negative literals its dead features. Each model
    found rules out every literal that is false in it, and the search prefers values that rule out more. So
    far fewer solves are needed than there are variables (Janota, Lynce & Marques-Silva 2015, Algorithm 3).
    Raises :class:`SearchStoppedError` if the budget ends before the search does.

    >>> backbone(Clauses.from_clauses(4, [(1,), (-1, 2), (-3, -2), (2, 4)]))
    (1, 2, -3)
    """
    solver = SatSolver(clauses, budget)
    model = solver.solve().model
    if model is None:
        return None
    numbers = np.arange(1, clauses.n_variables + 1)
    literals = np.where(model, numbers, -numbers)
    occurring = np.zeros(clauses.n_variables, dtype=bool)
    occurring[np.abs(clauses.literals) - 1] = True
    open_ = occurring.copy()
    fixed = np.zeros(clauses.n_variables, dtype=bool)
    for variable in np.flatnonzero(occurring).tolist():
        if not open_[variable]:
            continue
        solver.prefer((-literals[open_]).tolist())
        model = solver.solve([-int(literals[variable])]).model
        if model is None:
            fixed[variable] = True
            open_[variable] = False
        else:
            open_ &= np.where(model, numbers, -numbers) == literals
    return tuple(literals[fixed].tolist())


def irreducible(
    contradiction: Callable[[Sequence[int]], Collection[int] | None], parts: Sequence[int]
) -> tuple[int, ...]:
    """Return a minimal contradictory subset of the parts, rising.

    Parts are dropped one by one, each with all others that the refutation did not need (clause-set
    refinement; Belov, Lynce & Marques-Silva 2012).

    `contradiction`: function of some parts that returns contradictory parts among them, or None if all can
    hold. `parts`: contradictory parts.

    >>> irreducible(lambda parts: parts if {2, 5} <= {*parts} else None, [1, 2, 3, 5])
    (2, 5)
    """
    needed: list[int] = []
    left = list(parts)
    while left:
        tried = left.pop()
        core = contradiction([*needed, *left])
        if core is None:
            needed.append(tried)
        else:
            left = [part for part in left if part in core]
    return tuple(sorted(needed))
