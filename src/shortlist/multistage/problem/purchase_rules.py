"""Which measurements may be bought together, as clauses over the columns of a table."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver
from shortlist.multistage.problem.stages import REMOVED, compress
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Progress


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class PurchaseRules:
    """Which sets of columns may have been bought at the end of a stage.

    A set is valid if some solution of the clauses has its columns true and the other columns false; further
    variables stand for panels and what else a feature model has. A row may leave after any stage, so the
    rules hold for what has been bought by then, after every stage.
    """

    columns: tuple[str, ...]
    """The columns; column i is variable i + 1."""
    n_variables: int
    """Number of variables, columns included."""
    clauses: tuple[tuple[int, ...], ...]
    """What must hold; v means that variable v is true, -v that it is false."""

    def of_columns(self, names: Sequence[str]) -> "PurchaseRules":
        """Return the rules for these columns in this order.

        Raises BadInputError if they are others, or no set of columns can be bought.
        """
        if sorted(names) != sorted(self.columns):
            missing = [name for name in names if name not in self.columns]
            kind = f"no rule for column {missing[0]!r}" if missing else "rules for other columns too"
            raise BadInputError("purchase_rules", "must be of the columns of the table", kind)
        places = {name: place + 1 for place, name in enumerate(names)}
        new = [0, *(places[name] for name in self.columns)]
        new += list(range(len(new), self.n_variables + 1))
        clauses = tuple(tuple(new[abs(v)] * (1 if v > 0 else -1) for v in clause) for clause in self.clauses)
        rules = PurchaseRules(tuple(names), self.n_variables, clauses)
        if not rules._nearest((), np.ones(len(names), dtype=bool).tobytes()).any():
            raise BadInputError(
                "`purchase_rules` must let some columns be bought, but no set of them is valid. Mend "
                "the rules."
            )
        return rules

    def is_valid(self, bought: Mask) -> bool:
        """Tell whether a set of columns, ``(n_columns,)``, may have been bought."""
        return self._solver.solve(self._literals(bought)).satisfiable

    @functools.cached_property
    def allow_everything(self) -> bool:
        """Whether all columns may be bought."""
        return self.is_valid(np.ones(len(self.columns), dtype=bool))

    def valid_sets(self, most: int, budget: Budget | None = None) -> Mask | None:
        """Return every valid set with a column, ``(n_sets, n_columns)``, small first.

        None if there are more than `most`, or if the time of `budget` ends first. Each set takes up to twice
        as many calls of a solver as there are columns.
        """
        found: list[list[bool]] = []
        budget = budget or Budget()
        for bought in self._sets([]):
            budget.report(Progress("listing what may be bought together", len(found), most))
            found.append(bought)
            if len(found) > most + 1 or budget.stopped:
                return None
        sets = np.array(found, dtype=bool).reshape(-1, len(self.columns))
        sets = sets[sets.any(axis=1)]
        order = np.lexsort((*(~sets).T[::-1], sets.sum(axis=1)))
        return sets[order] if len(sets) <= most else None

    def repaired(self, assignment: NDArray[np.int8], *, removal: bool) -> NDArray[np.int8]:
        """Return a valid stage assignment near a given one, and the same if that is valid.

        Stage after stage, columns are taken as the assignment has them wherever some valid set allows that,
        in their order. Without `removal` the last stage buys the rest, which must be valid.

        `assignment`, ``(n_columns,)``: without gaps. `removal`: whether columns may be left out of every
        stage.
        """
        last = int(assignment.max())
        repaired = np.full(len(assignment), REMOVED, dtype=np.int8)
        bought: tuple[int, ...] = ()
        for stage in range(last + 1):
            wanted = (assignment >= 0) & (assignment <= stage)
            if stage == last and not removal:
                wanted = np.ones(len(assignment), dtype=bool)
            now = self._nearest(bought, wanted.tobytes())
            repaired[now & (repaired == REMOVED)] = stage
            bought = tuple((np.flatnonzero(now) + 1).tolist())
        if not bought:  # nothing that was wanted can be bought
            first = self._nearest((), np.ones(len(assignment), dtype=bool).tobytes())
            repaired[first] = 0
        return compress(repaired)

    @functools.cached_property
    def _solver(self) -> SatSolver:
        return SatSolver(Clauses.from_clauses(self.n_variables, self.clauses))

    def __getstate__(self) -> dict[str, object]:
        """Leave the solver and what it answered behind."""
        kept = {field.name for field in fields(self)}
        return {name: value for name, value in vars(self).items() if name in kept}

    @functools.cached_property
    def _known(self) -> dict[tuple[tuple[int, ...], bytes], Mask]:
        return {}

    def _nearest(self, bought: tuple[int, ...], wanted: bytes) -> Mask:
        """Return a valid set with what is bought: each column in turn as it is wanted, if that can be.

        Whatever was asked before, the answer is the same.
        """
        key = (bought, wanted)
        if key in self._known:
            return self._known[key]
        mask = np.frombuffer(wanted, dtype=bool).copy()
        mask[[variable - 1 for variable in bought]] = True
        fixed = self._literals(mask)
        if not self._solver.solve(fixed).satisfiable:
            fixed = list(bought)
            for place, literal in enumerate(self._literals(mask)):
                if place + 1 not in bought:
                    can = self._solver.solve([*fixed, literal]).satisfiable
                    fixed.append(literal if can else -literal)
            mask = np.zeros(len(self.columns), dtype=bool)
            mask[[literal - 1 for literal in fixed if literal > 0]] = True
            if not self._solver.solve(self._literals(mask)).satisfiable:  # the clauses have no solution
                mask[:] = False
        self._known[key] = mask
        return mask

    def _literals(self, bought: Mask) -> list[int]:
        return [place + 1 if taken else -(place + 1) for place, taken in enumerate(bought.tolist())]

    def _sets(self, fixed: list[int]) -> Iterator[list[bool]]:
        """Yield every valid set that has the columns so far as they are fixed."""
        if not self._solver.solve(fixed).satisfiable:
            return
        if len(fixed) == len(self.columns):
            yield [literal > 0 for literal in fixed]
            return
        for sign in (1, -1):
            yield from self._sets([*fixed, sign * (len(fixed) + 1)])
