"""Smaller clauses with the same models: fixed and equivalent variables replaced, subsumed clauses dropped."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, ShortTable
from shortlist.logic.clauses import Clauses
from shortlist.logic.probing import (
    components_of,
    further_implications,
    implied_by_pairs,
    propagate,
    shortened,
)
from shortlist.logic.sat import SearchStoppedError, backbone
from shortlist.runs.budget import Budget

FIXED_SHARE = 0.5
"""Part of what is left of a budget that the search for fixed variables may take."""


@dataclass(frozen=True, eq=False)
class Presolved:
    """Smaller clauses, and the way back to the variables they came from."""

    clauses: Clauses
    """What is left, over its own variables 1 to ``clauses.n_variables``; one false clause if there is no
    model.
    """
    places: NDArray[np.int32]
    """For every original variable its new variable minus 1, or -1 if it has the same value in every model,
    ``(n_variables,)``.
    """
    polarities: Mask
    """The value of a fixed variable, ``(n_variables,)``; otherwise its value when the new variable is true.
    Equivalent variables share a new one; opposite ones share it with opposite polarities.
    """

    def restore(self, assignments: Mask) -> Mask:
        """Turn models of the smaller clauses, one a row, into models of the original ones."""
        restored = np.empty((len(assignments), len(self.places)), dtype=bool)
        fixed = self.places < 0
        restored[:, fixed] = self.polarities[fixed]
        restored[:, ~fixed] = assignments[:, self.places[~fixed]] == self.polarities[~fixed]
        return restored

    @property
    def core(self) -> tuple[int, ...]:
        """Variables known to be true in every model."""
        return tuple((np.flatnonzero((self.places < 0) & self.polarities) + 1).tolist())

    @property
    def dead(self) -> tuple[int, ...]:
        """Variables known to be false in every model."""
        return tuple((np.flatnonzero((self.places < 0) & ~self.polarities) + 1).tolist())


def presolve(
    clauses: Clauses, *, complete: bool = True, probe: bool = False, budget: Budget | None = None
) -> Presolved:
    """Replace fixed and equivalent variables and drop clauses that others imply.

    The models of the result correspond one to one to the models of `clauses`, through
    :meth:`Presolved.restore`.

    `complete`: find every fixed variable by :func:`shortlist.logic.sat.backbone`; otherwise only those that
    unit propagation finds. Equivalences are the strongly connected components of the implications that
    clauses of two literals make (Aspvall, Plass & Tarjan 1979), repeated until nothing changes. `probe`: find
    also equivalences that show when a literal is assumed and propagated, and make clauses shorter
    (:mod:`shortlist.logic.probing`). `budget`: ends the search for fixed variables by
    :class:`shortlist.logic.sat.SearchStoppedError`.

    >>> smaller = presolve(Clauses.from_clauses(4, [(1,), (-2, 3), (2, -3), (-1, 2, 4)]))
    >>> list(smaller.clauses), smaller.places.tolist(), smaller.core
    ([(1, 2)], [-1, 0, 0, 1], (1,))
    """
    n = clauses.n_variables
    known = backbone(clauses, budget) if complete else ()
    # variable n + 1 stands for truth: what is fixed is mapped to it, what is equivalent to the first of its
    # kind
    roots = np.arange(n + 2)
    current = clauses if known is None else _lifted(clauses).with_units(known)
    while known is not None:
        mapping = _forced(current)
        if mapping is not None and (mapping == np.arange(n + 2)).all():
            mapping = equivalent_literals(current)
        if probe and mapping is not None and (mapping == np.arange(n + 2)).all():
            mapping = equivalent_literals(current, further_implications(current, budget))
        if mapping is None:
            known = None
        elif (mapping == np.arange(n + 2)).all():
            shorter = shortened(current, current, budget) if probe else current
            if len(shorter.literals) == len(current.literals):
                break
            current = without_subsumed(shorter)
        else:
            roots = np.sign(roots) * mapping[np.abs(roots)]
            current = _substituted(current, mapping)
    if known is None:
        return Presolved(Clauses.from_clauses(0, [()]), np.full(n, -1, np.int32), np.zeros(n, dtype=bool))
    roots = roots[1:-1]
    live = np.abs(roots) <= n
    places = np.full(n, -1, np.int32)
    numbers, places[live] = np.unique(np.abs(roots[live]), return_inverse=True)
    renumber = np.zeros(n + 2, np.int64)
    renumber[numbers] = np.arange(1, len(numbers) + 1)
    literals = np.sign(current.literals) * renumber[np.abs(current.literals)]
    left = Clauses(len(numbers), literals.astype(np.int32), current.offsets)
    return Presolved(without_subsumed(left), places, roots > 0)


def presolve_in_time(clauses: Clauses, budget: Budget | None, *, probe: bool = False) -> Presolved:
    """Return what :func:`presolve` finds; without its search where that takes too much of the budget."""
    try:
        return presolve(clauses, probe=probe, budget=budget and budget.share(FIXED_SHARE))
    except SearchStoppedError:
        return presolve(clauses, complete=False, probe=probe, budget=budget)


def equivalent_literals(clauses: Clauses, further: ShortTable | None = None) -> NDArray[np.int64] | None:
    """Find literals that clauses of two literals make equivalent.

    The array, ``(n_variables + 1,)``, has at each variable's number the literal of smallest variable that is
    equivalent to it (itself, if alone); entry 0 is 0. It is None if a variable is equivalent to its opposite,
    so that there is no model.

    >>> equivalent_literals(Clauses.from_clauses(3, [(-1, -3), (1, 3), (2, 3)])).tolist()
    [0, 1, 2, -1]
    """
    n = clauses.n_variables
    heads, tails = implied_by_pairs(clauses)
    if further is not None:
        heads = np.concatenate([heads, further[:, 0], further[:, 1] ^ 1])
        tails = np.concatenate([tails, further[:, 1], further[:, 0] ^ 1])
    components = components_of(heads, tails, n)
    if (components[::2] == components[1::2]).any():
        return None
    _, leaders = np.unique(components, return_index=True)  # the smallest code of each component
    leading = leaders[components[::2]]
    mapping = np.zeros(n + 1, np.int64)
    mapping[1:] = np.where(leading & 1, -(leading >> 1) - 1, (leading >> 1) + 1)
    return mapping


def without_subsumed(clauses: Clauses) -> Clauses:
    """Drop every clause that contains all literals of another, duplicates and repeated literals included.

    Clauses that hold whatever the values are dropped too. Those left are sorted by length, then by literals.
    """
    unique = {frozenset(clause) for clause in clauses}
    sets = [clause for clause in unique if not any(-literal in clause for literal in clause)]
    counts: dict[int, int] = {}
    for clause in sets:
        for literal in clause:
            counts[literal] = counts.get(literal, 0) + 1
    kept: dict[int, list[frozenset[int]]] = {}
    for clause in sorted(sets, key=lambda clause: (len(clause), sorted(clause, key=_by_variable))):
        if not any(other <= clause for literal in (*clause, 0) for other in kept.get(literal, ())):
            rarest = min(clause, key=lambda literal: (counts[literal], literal), default=0)
            kept.setdefault(rarest, []).append(clause)
    listed = [sorted(clause, key=_by_variable) for bucket in kept.values() for clause in bucket]
    return Clauses.from_clauses(clauses.n_variables, sorted(listed, key=lambda clause: (len(clause), clause)))


def _by_variable(literal: int) -> tuple[int, int]:
    return abs(literal), literal


def _lifted(clauses: Clauses) -> Clauses:
    return Clauses(clauses.n_variables + 1, clauses.literals, clauses.offsets)


def _forced(clauses: Clauses) -> NDArray[np.int64] | None:
    """Map what unit propagation finds to the last variable; None if there is no model."""
    found = propagate(clauses)
    if not found.consistent:
        return None
    mapping = np.arange(clauses.n_variables + 1)
    for literal in found.literals:
        mapping[abs(literal)] = clauses.n_variables if literal > 0 else -clauses.n_variables
    return mapping


def _substituted(clauses: Clauses, mapping: NDArray[np.int64]) -> Clauses:
    """Replace variables, the last one being true, and drop what then holds anyway."""
    true = clauses.n_variables
    flat = (np.sign(clauses.literals) * mapping[np.abs(clauses.literals)]).tolist()
    offsets = clauses.offsets.tolist()
    replaced: dict[tuple[int, ...], None] = {}
    for start, stop in itertools.pairwise(offsets):
        clause = set(flat[start:stop])
        if true not in clause and not any(-literal in clause for literal in clause):
            clause.discard(-true)
            replaced[tuple(sorted(clause, key=_by_variable))] = None
    return Clauses.from_clauses(true, replaced)
