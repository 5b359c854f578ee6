"""Ordered partitions of features into stages, written as chromosomes, and which of them rules allow.

A *stage assignment* ``[Q]`` (Sec. 3.1 of :cite:t:`Hamilton2022`) gives every feature the number, from 0, of
the stage that acquires it; -1 removes the feature from all stages (the paper's Sec. 5.1). It is feasible when
no stage number below the largest is missing.
"""

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Progress

REMOVED = -1
"""Stage number of a feature that no stage acquires."""


def stage_counts(assignments: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return ‖Q‖ per row of `assignments`, ``(n_assignments, n_features)``, which must have no gaps."""
    return np.asarray(assignments.max(axis=1), dtype=np.int64) + 1


def has_gaps(assignment: ArrayLike) -> bool:
    """Tell whether a stage number below the largest is missing (``gaps`` of Sec. 3.1).

    >>> has_gaps([0, 0, 0, 2]), has_gaps([1, 0, 0, 1])
    (True, False)
    """
    used = set(np.asarray(assignment).tolist()) - {REMOVED}
    return used != set(range(len(used)))


def compress(assignments: ArrayLike) -> NDArray[np.int8]:
    """Renumber stages densely, in their order (``compress`` of Sec. 3.1).

    The paper's loop replaces j + 1 by a missing j and never ends when two numbers in a row are missing, so
    the stages are ranked instead, which gives the same wherever that loop ends.

    `assignments`, ``(n_features,)``: stage numbers from 0, -1 for removed features. Not modified.

    >>> compress([0, 0, 0, 2])
    array([0, 0, 0, 1], dtype=int8)
    """
    given = np.asarray(assignments, dtype=np.int64)
    rows = np.atleast_2d(given)
    if not rows.size:
        return given.astype(np.int8)
    used = np.zeros((len(rows), rows.max() + 2), dtype=np.int64)
    np.put_along_axis(used, rows + 1, 1, axis=1)
    used[:, 0] = 0
    ranks = np.cumsum(used, axis=1) - 1
    ranks[:, 0] = REMOVED
    return np.take_along_axis(ranks, rows + 1, axis=1).reshape(given.shape).astype(np.int8)


def n_ordered_partitions(n_features: int, n_stages: int) -> int:
    """Return j!·S2(n, j), the number of assignments with exactly `n_stages` stages (Eq. 1).

    >>> n_ordered_partitions(4, 2)
    14
    """
    j = as_count(n_stages, "n_stages", at_least=0)
    n = as_count(n_features, "n_features", at_least=0)
    return sum((-1) ** (j - i) * math.comb(j, i) * i**n for i in range(j + 1))


def space_size(n_features: int, max_stages: int) -> int:
    """Return ‖S(n, k)‖, the number of assignments with 1 to `max_stages` stages (Eq. 2).

    >>> space_size(14, 4)
    254152083
    """
    return sum(n_ordered_partitions(n_features, j) for j in range(1, max_stages + 1))


def completions(n_features: int, max_stages: int, *, removal: bool = False) -> NDArray[np.int64]:
    """Return the number of ways in which m features can follow in at most s stages, as a table ``[m, s]``.

    1 where m is 0. With `removal` some of them, or all, may be left out.

    >>> completions(2, 2).tolist(), completions(2, 2, removal=True).tolist()
    ([[1, 1, 1], [0, 1, 1], [0, 1, 3]], [[1, 1, 1], [1, 2, 2], [1, 4, 6]])
    """
    ways = np.zeros((n_features + 1, max_stages + 1), dtype=np.int64)
    ways[:, 0] = removal
    ways[0] = 1
    for m in range(1, n_features + 1):
        for s in range(1, max_stages + 1):
            # the next stage takes a features
            next_stage = sum(math.comb(m, a) * int(ways[m - a, s - 1]) for a in range(1, m + 1))
            ways[m, s] = removal + next_stage
    return ways


def acquired(assignments: NDArray[np.int8], max_stages: int) -> Mask:
    """Mark the features acquired up to each stage, ``(n_assignments, max_stages, n_features)``."""
    rows = np.asarray(assignments)[:, None, :]
    return np.asarray((rows >= 0) & (rows <= np.arange(max_stages)[None, :, None]))


def assignment_of_chain(chain: Sequence[int], n_features: int, *, removal: bool = False) -> NDArray[np.int8]:
    """Turn growing feature sets, as bit masks, into an assignment.

    `chain`: feature sets of the stages, each holding the one before; bit i stands for feature i. `removal`:
    features in no set are removed; otherwise they form one more, last stage.

    >>> assignment_of_chain([0b01], 2), assignment_of_chain([0b01], 2, removal=True)
    (array([0, 1], dtype=int8), array([ 0, -1], dtype=int8))
    """
    stages = np.full(n_features, REMOVED if removal else len(chain), dtype=np.int8)
    for stage in reversed(range(len(chain))):
        inside = [feature for feature in range(n_features) if chain[stage] >> feature & 1]
        stages[inside] = stage
    return stages


def check_max_stages(max_stages: int, n_features: int) -> int:
    """Return `max_stages` if that many non-empty stages can exist."""
    k = as_count(max_stages, "max_stages")
    if k > n_features:
        raise BadInputError(
            "max_stages",
            f"must be at most the number of features, {n_features}",
            k,
            f"Pass `max_stages={n_features}` or less.",
        )
    return k


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class PurchaseRules:
    """Rules on the sets of columns that may have been bought at the end of a stage.

    A set is valid if some solution of the clauses has its columns true and the other columns false; further
    variables stand for panels and what else a feature model has. A row may leave after any stage, so the
    rules hold for what has been bought by then, after every stage.
    """

    columns: tuple[str, ...]
    """The columns; column i is variable i + 1."""
    n_variables: int
    """Number of variables, columns included."""
    clauses: tuple[tuple[int, ...], ...]
    """Clauses that must hold; v means that variable v is true, -v that it is false."""

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
        """Return a valid set with the bought columns: each column in turn as wanted, if possible.

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
