"""What clauses say about some of their variables, whatever the others are."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from shortlist.arrays import Mask
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError, irreducible
from shortlist.products.encodings.cnf import Clause
from shortlist.runs.budget import Budget

MOST_LITERALS = 1_000_000
"""Literals that elimination may have in store at once."""

MOST_QUESTIONS = 20_000
"""Questions to a satisfiability solver about configurations of the variables that are kept."""

MOST_OPEN_NODES = 1_000_000
"""Nodes of the diagram of the configurations that nothing is known of yet."""


def eliminated(
    clauses: Iterable[Sequence[int]],
    variables: Collection[int],
    *,
    most_literals: int = MOST_LITERALS,
    budget: Budget | None = None,
) -> list[Clause] | None:
    """Return clauses over the other variables that hold where some values of `variables` make all hold.

    Variables are resolved away one after the other :cite:p:`Davis1960`, that with fewest new clauses first;
    clauses that contain another one are dropped.

    `most_literals`: most literals in store at once. `budget`: looked at between clauses.

    None where more literals would be needed, or the budget ended.

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
    """Clauses as sets, found by their literals, none of which contains another."""

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        self.clauses: set[frozenset[int]] = set()
        self.n_literals = 0
        self._having: dict[int, set[frozenset[int]]] = {}
        listed = {frozenset(clause) for clause in clauses}
        for clause in sorted(listed, key=len):
            self.add(clause)

    def growth(self, variable: int) -> int:
        """Return how many clauses more there can be without a variable."""
        n_true, n_false = (len(self._having.get(v, ())) for v in (variable, -variable))
        return n_true * n_false - n_true - n_false

    def add(self, clause: frozenset[int]) -> None:
        """Take up a clause unless another one, or none, says as much; drop those that say less."""
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
        """Replace the clauses that name a variable by all that follow from two of them.

        False if they are too many, or the budget has ended.
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


def asked(
    clauses: Clauses,
    kept: Sequence[int],
    known: Iterable[Clause],
    *,
    most_questions: int = MOST_QUESTIONS,
    budget: Budget | None = None,
) -> list[Clause] | None:
    """Return clauses over the kept variables that, with those known, say all that the clauses say of them.

    A diagram holds the configurations of the kept variables that nothing is known of yet. One of them at a
    time is put to a satisfiability solver. If it can be completed, all are done that the same values of the
    other variables complete; if not, the fewest of its literals that cannot be are a new clause.

    `kept`: the variables, rising. `known`: clauses over the kept variables that follow from `clauses`.
    `most_questions`: largest number of configurations looked at.

    None where there were too many configurations or nodes, or the budget ended.

    >>> asked(Clauses.from_clauses(4, [(-1, 2), (-2, 3), (2, 4)]), [1, 3, 4], [])
    [(3, 4), (-1, 3)]
    """
    from oxidd.bdd import BDDManager
    from oxidd.util import DDMemoryError

    manager = BDDManager(MOST_OPEN_NODES, 1 << 16, 1)
    manager.add_vars(len(kept))
    places = {variable: place for place, variable in enumerate(kept)}

    def disjunction(literals: Iterable[int]) -> Any:
        function = manager.false()
        for literal in literals:
            place = places[abs(literal)]
            function |= manager.var(place) if literal > 0 else manager.not_var(place)
        return function

    solver = SatSolver(clauses, budget)

    def contradiction(literals: Sequence[int]) -> Sequence[int] | None:
        answer = solver.solve(literals)
        return None if answer.satisfiable else answer.conflict

    found: list[Clause] = []
    try:
        unknown = manager.true()
        given = list(known)
        for clause in given:
            unknown &= disjunction(clause)
        said = set(given)
        others = [clause for clause in clauses if clause not in said]
        for _ in range(most_questions):
            cube = unknown.pick_cube()
            if cube is None:
                return found
            literals = [v if cube[place] else -v for v, place in places.items()]
            answer = solver.solve(literals)
            if answer.model is None:
                core = irreducible(contradiction, answer.conflict)
                found.append(tuple(sorted((-literal for literal in core), key=abs)))
                unknown &= disjunction(found[-1])
            else:
                unknown &= disjunction(-literal for literal in _needed(others, answer.model, places))
    except (SearchStoppedError, DDMemoryError):
        pass
    return None


def _needed(clauses: Iterable[Clause], model: Mask, places: dict[int, int]) -> Iterator[int]:
    """Yield literals of a model over the kept variables that satisfy every clause the others do not."""
    taken: set[int] = set()
    values = model.tolist()
    for clause in clauses:
        true = [literal for literal in clause if values[abs(literal) - 1] == (literal > 0)]
        if any(abs(literal) not in places or literal in taken for literal in true):
            continue
        taken.add(true[0])
        yield true[0]
