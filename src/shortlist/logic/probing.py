"""Implications found by propagation, shorter clauses, and projections to some variables."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Shorts, ShortTable
from shortlist.errors import BadInputError
from shortlist.logic import _propagation_kernels as kernels
from shortlist.logic._propagation_kernels import (
    COUNTS,
    Assignment,
    ClauseStore,
    Counts,
    assign,
    literal_codes,
    propagate_clauses,
    watch,
)
from shortlist.logic.clauses import Clauses
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class Propagation:
    """Clauses with the literals that propagation implies, ready for assumptions."""

    store: ClauseStore
    assignment: Assignment
    counts: Counts
    consistent: bool
    """Whether propagation found no contradiction; if False, `literals` are those found before the
    contradiction.
    """

    @property
    def literals(self) -> tuple[int, ...]:
        """Implied literals, sorted by variable."""
        values = self.assignment.values[::2]  # 1 for true, 0 for false, -1 for unknown
        known = np.flatnonzero(values >= 0)
        return tuple(np.where(values[known] == 1, known + 1, -known - 1).tolist())


def propagate(clauses: Clauses, literals: Iterable[int] = ()) -> Propagation:
    """Propagate unit clauses from `literals` to the end.

    The result is sound but incomplete: every value found holds in all models, but further values may hold in
    all models too. Two literals of each clause are watched (Moskewicz et al. 2001), so the time is about
    proportional to the clauses that become unit or are visited. Raises BadInputError if a literal names a
    variable that does not exist.

    >>> propagate(Clauses.from_clauses(4, [(-1, 2), (-2, -3), (3, 4)]), [1]).literals
    (1, 2, -3, 4)
    """
    n, given = clauses.n_variables, list(literals)
    if any(not 1 <= abs(literal) <= n for literal in given):
        raise BadInputError("literals", f"must name variables 1 to {n}", given, "Leave the others out.")
    lengths = np.diff(clauses.offsets)
    store = ClauseStore(
        arena=literal_codes(clauses.literals),
        starts=clauses.offsets,
        heads=np.full(2 * n, -1, np.int32),
        links=np.zeros(2 * clauses.n_clauses, np.int32),
    )
    assignment = Assignment(np.full(2 * n, -1, np.int8), *np.zeros((3, n), np.int32))
    counts = np.zeros(1, COUNTS)
    consistent = bool((lengths > 0).all())
    units = clauses.literals[clauses.offsets[:-1][lengths == 1]].tolist()
    for code in literal_codes(np.array([*units, *given], dtype=np.int64)).tolist():
        if assignment.values[code] == 0:
            consistent = False
        elif assignment.values[code] < 0:
            assign(code, -1, assignment, counts)
    if consistent:
        watch(store, 0, clauses.n_clauses)
        consistent = propagate_clauses(store, assignment, counts) < 0
    return Propagation(store, assignment, counts, consistent)


MOST_IMPLICATIONS = 1 << 20
"""Most rows of implications from one block of variables; further implications are left out."""

PROBED_AT_ONCE = 1024
"""Number of variables, or clauses, between two checks of the budget."""


def further_implications(clauses: Clauses, budget: Budget | None = None) -> ShortTable:
    """Return the implications between literals that clauses of two literals do not state.

    Both values of every variable are propagated. Together with the clauses of two literals, the rows have
    the same strongly connected components as all implications that propagation finds.

    `budget`: at its end the remaining variables are skipped.

    Each row of the table, ``(n, 2)``, has the codes of two literals
    (:func:`shortlist.logic._propagation_kernels.literal_codes`); the first one implies the second. The
    table is empty if propagation shows that the clauses contradict each other. Takes the time of two
    propagations per variable.

    >>> further_implications(Clauses.from_clauses(3, [(-1, 2), (-1, -2, 3)])).tolist()
    [[0, 4]]
    """
    made = propagate(clauses)
    if not made.consistent:
        return np.zeros((0, 2), np.int32)
    n = clauses.n_variables
    marks = np.full(2 * n, -1, np.int32)
    room = np.zeros((MOST_IMPLICATIONS, 2), np.int32)
    parts = []
    for first in range(0, n, PROBED_AT_ONCE):
        if budget is not None and budget.stopped:
            break
        found = kernels.find_implications(
            first, min(n, first + PROBED_AT_ONCE), made.store, made.assignment, marks, room, made.counts
        )
        parts.append(np.unique(room[:found], axis=0))
    return np.concatenate([np.zeros((0, 2), np.int32), *parts])


def shortened(clauses: Clauses, known: Clauses, budget: Budget | None = None) -> Clauses:
    """Remove literals of clauses that `known` makes unnecessary.

    This is the vivification of Piette, Hamadi & Saïs (2008).

    `clauses`: clauses to shorten; `known` may contain them. `known`: further clauses over the same
    variables. `budget`: at its end the remaining clauses stay as they are.

    The result has as many clauses, each a part of the original clause. Together with `known` the result has
    the same models as `clauses`.

    >>> known = Clauses.from_clauses(3, [(1, -2), (1, 2, 3)])
    >>> list(shortened(known, known))
    [(1, -2), (1, 3)]
    """
    made = propagate(known)
    if not made.consistent or not clauses.n_clauses:
        return clauses
    literals = literal_codes(clauses.literals)
    ends = np.column_stack([clauses.offsets[:-1], clauses.offsets[1:]]).ravel()
    for first in range(0, clauses.n_clauses, PROBED_AT_ONCE):
        if budget is not None and budget.stopped:
            break
        stop = min(clauses.n_clauses, first + PROBED_AT_ONCE)
        kernels.shorten(first, stop, made.store, made.assignment, literals, ends, made.counts)
    signed = np.where(literals & 1, -(literals >> 1) - 1, (literals >> 1) + 1).tolist()
    pairs = ends.reshape(-1, 2).tolist()
    return Clauses.from_clauses(clauses.n_variables, [signed[start:stop] for start, stop in pairs])


def without_chained(clauses: Clauses) -> Clauses:
    """Drop clauses of two literals that a chain of other such clauses implies (transitive reduction).

    The inequalities of the chain imply the inequality of the clause for fractions too, so that no relaxation
    becomes weaker. Nothing is dropped while literals are equivalent; clauses must not repeat.

    >>> list(without_chained(Clauses.from_clauses(3, [(-1, 2), (-2, 3), (-1, 3)])))
    [(-1, 2), (-2, 3)]
    """
    n = clauses.n_variables
    of_two = np.flatnonzero(np.diff(clauses.offsets) == 2)
    heads, tails = implied_by_pairs(clauses)
    if len(of_two) == 0 or components_of(heads, tails, n).max() < 2 * n - 1:
        return clauses
    order = np.argsort(heads, kind="stable")
    starts = np.searchsorted(heads[order], np.arange(2 * n + 1))
    after = tails[order]
    longer = np.zeros(len(after), np.uint8)
    kernels.find_chains(
        starts, after, np.full(2 * n, -1, np.int32), np.zeros(len(after) + 2 * n, np.int32), longer
    )
    dropped = np.zeros(clauses.n_clauses, dtype=bool)
    dropped[of_two[order[longer == 1] % len(of_two)]] = True
    return Clauses.from_clauses(
        n, [clause for clause, drop in zip(clauses, dropped.tolist(), strict=True) if not drop]
    )


def implied_by_pairs(clauses: Clauses) -> tuple[Shorts, Shorts]:
    """Return two arrays of literal codes: the first implies the second by a clause of two literals.

    First come the implications from the opposite of each clause's first literal, then the implications from
    the opposite of its second literal.
    """
    first = clauses.offsets[:-1][np.diff(clauses.offsets) == 2]
    one = literal_codes(clauses.literals[first])
    two = literal_codes(clauses.literals[first + 1])
    return np.concatenate([one ^ 1, two ^ 1]), np.concatenate([two, one])


def components_of(heads: Shorts, tails: Shorts, n_variables: int) -> NDArray[np.int32]:
    """Return the strongly connected component of each literal's code."""
    size = 2 * n_variables
    from scipy.sparse import csr_array  # takes long to import, while configure reads options before files
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(heads), np.int8), (heads, tails)), shape=(size, size))
    components: NDArray[np.int32] = connected_components(graph, directed=True, connection="strong")[1]
    return components


MOST_LITERALS = 1_000_000
"""Most literals in store during elimination."""


def eliminated(
    clauses: Iterable[Sequence[int]],
    variables: Collection[int],
    *,
    most_literals: int = MOST_LITERALS,
    budget: Budget | None = None,
) -> list[tuple[int, ...]] | None:
    """Return clauses over the other variables that hold exactly if some `variables` can satisfy all clauses.

    Variables are eliminated by resolution one after the other :cite:p:`Davis1960`, starting with the variable
    that adds the fewest clauses. Clauses that contain another one are dropped.

    `most_literals`: most literals in store at once. `budget`: checked between clauses.

    Returns None if more literals would be needed, or the budget ended.

    >>> eliminated([(-1, 2), (-2, 3), (2, 4)], {2})
    [(-1, 3), (3, 4)]
    """
    store = _Store(clauses)
    left = set(variables)
    while left:
        if budget is not None and budget.stopped:
            return None
        variable = min(left, key=lambda v: (store.growth(v), v))
        left.remove(variable)
        if not store.eliminate(variable, most_literals, budget):
            return None
    return sorted(
        (tuple(sorted(clause, key=abs)) for clause in store.clauses), key=lambda clause: (len(clause), clause)
    )


class _Store:
    """Clauses as sets, indexed by their literals; no clause contains another clause."""

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        self.clauses: set[frozenset[int]] = set()
        self.n_literals = 0
        self._having: dict[int, set[frozenset[int]]] = {}
        listed = {frozenset(clause) for clause in clauses}
        for clause in sorted(listed, key=len):
            self.add(clause)

    def growth(self, variable: int) -> int:
        """Return the increase of the number of clauses if a variable is eliminated."""
        n_true, n_false = (len(self._having.get(v, ())) for v in (variable, -variable))
        return n_true * n_false - n_true - n_false

    def add(self, clause: frozenset[int]) -> None:
        """Add a clause and drop the clauses that it implies.

        A tautology, or a clause that a stored clause implies, is not added.
        """
        if any(-literal in clause for literal in clause):
            return
        if frozenset() in self.clauses:
            return
        if any(other <= clause for literal in clause for other in self._having.get(literal, ())):
            return
        if clause:
            rarest = min((self._having.get(literal, set()) for literal in clause), key=len)
            for other in [one for one in rarest if clause <= one]:
                self._remove(other)
        else:
            for other in list(self.clauses):
                self._remove(other)
        self.clauses.add(clause)
        self.n_literals += len(clause)
        for literal in clause:
            self._having.setdefault(literal, set()).add(clause)

    def eliminate(self, variable: int, most_literals: int, budget: Budget | None) -> bool:
        """Replace the clauses of a variable by their resolvents; return whether the resolvents fitted.

        Returns False if there are too many resolvents, or the budget has ended.
        """
        with_it, against = (list(self._having.get(v, ())) for v in (variable, -variable))
        for clause in (*with_it, *against):
            self._remove(clause)
        for one in with_it:
            rest = one - {variable}
            for other in against:
                self.add(rest | (other - {-variable}))
            if self.n_literals > most_literals or (budget is not None and budget.stopped):
                return False
        return True

    def _remove(self, clause: frozenset[int]) -> None:
        self.clauses.discard(clause)
        self.n_literals -= len(clause)
        for literal in clause:
            self._having[literal].discard(clause)
