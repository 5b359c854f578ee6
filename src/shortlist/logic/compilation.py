"""Compilation of clauses to a decision diagram, by presolve and OxiDD."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask, ShortTable
from shortlist.logic.clauses import Clauses
from shortlist.logic.diagram import Diagram
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
"""Share of the remaining budget for the search for fixed variables."""


@dataclass(frozen=True, eq=False)
class Presolved:
    """Smaller clauses, and the data to restore the original variables."""

    clauses: Clauses
    """Remaining clauses, over their own variables 1 to ``clauses.n_variables``; one false clause if there is
    no model.
    """
    places: NDArray[np.int32]
    """New variable, minus 1, of every original variable, ``(n_variables,)``; -1 for a variable with the
    same value in every model.
    """
    polarities: Mask
    """Value of a fixed variable, ``(n_variables,)``; otherwise its value if the new variable is true.
    Equivalent variables share a new variable; opposite variables share one with opposite polarities.
    """

    def restore(self, assignments: Mask) -> Mask:
        """Convert models of the smaller clauses, one per row, to models of the original clauses."""
        restored = np.tile(self.polarities, (len(assignments), 1))
        live = self.places >= 0
        restored[:, live] = assignments[:, self.places[live]] == self.polarities[live]
        return restored


def presolve(
    clauses: Clauses, *, complete: bool = True, probe: bool = False, budget: Budget | None = None
) -> Presolved:
    """Replace fixed and equivalent variables, and drop clauses that other clauses imply.

    The models of the result correspond one to one to the models of `clauses`, through
    :meth:`Presolved.restore`.

    `complete`: find every fixed variable by :func:`shortlist.logic.sat.backbone`; otherwise only the fixed
    variables that unit propagation finds. Equivalences are the strongly connected components of the
    implications by clauses of two literals (Aspvall, Plass & Tarjan 1979), repeated until nothing changes.
    `probe`: also find equivalences by assuming and propagating a literal, and shorten clauses
    (:mod:`shortlist.logic.probing`). `budget`: ends the search for fixed variables by
    :class:`shortlist.logic.sat.SearchStoppedError`.

    >>> smaller = presolve(Clauses.from_clauses(4, [(1,), (-2, 3), (2, -3), (-1, 2, 4)]))
    >>> list(smaller.clauses), smaller.places.tolist(), smaller.polarities.tolist()
    ([(1, 2)], [-1, 0, 0, 1], [True, True, True, True])
    """
    n = clauses.n_variables
    known = backbone(clauses, budget) if complete else ()
    # variable n + 1 stands for truth: fixed variables are mapped to it, equivalent ones to the first of
    # their kind
    roots = np.arange(n + 2)
    current = clauses
    if known is not None:
        current = Clauses(n + 1, clauses.literals, clauses.offsets).with_units(known)
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
    """Return the result of :func:`presolve`; if its search takes too long, the result without a search."""
    try:
        return presolve(clauses, probe=probe, budget=budget and budget.share(FIXED_SHARE))
    except SearchStoppedError:
        return presolve(clauses, complete=False, probe=probe, budget=budget)


def equivalent_literals(clauses: Clauses, further: ShortTable | None = None) -> NDArray[np.int64] | None:
    """Return, for each variable, the literal that clauses of two literals make equivalent to it.

    The array, ``(n_variables + 1,)``, has for each variable the equivalent literal of smallest variable,
    possibly itself; entry 0 is 0. It is None if a variable is equivalent to its opposite, so that there is
    no model.

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
    _, leaders = np.unique(components, return_index=True)  # smallest code of each component
    leading = leaders[components[::2]]
    mapping = np.zeros(n + 1, np.int64)
    mapping[1:] = np.where(leading & 1, -(leading >> 1) - 1, (leading >> 1) + 1)
    return mapping


def without_subsumed(clauses: Clauses) -> Clauses:
    """Drop clauses that contain another one, duplicates, and repeated literals.

    Tautologies are dropped too. The remaining clauses are sorted by length, then by literals.
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


def _forced(clauses: Clauses) -> NDArray[np.int64] | None:
    """Map each variable that unit propagation fixes to the last variable, with a sign.

    Returns None if there is no model.
    """
    found = propagate(clauses)
    if not found.consistent:
        return None
    mapping = np.arange(clauses.n_variables + 1)
    for literal in found.literals:
        mapping[abs(literal)] = clauses.n_variables if literal > 0 else -clauses.n_variables
    return mapping


def _substituted(clauses: Clauses, mapping: NDArray[np.int64]) -> Clauses:
    """Replace variables by literals, with the last variable true, and drop tautologies."""
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


def total_span(clauses: Clauses, places: NDArray[np.int64]) -> int:
    """Return the sum over clauses of the distance between the indices of first and last variable."""
    if not clauses.n_clauses or (np.diff(clauses.offsets) == 0).any():
        return 0
    where = places[np.abs(clauses.literals) - 1]
    starts = clauses.offsets[:-1]
    return int((np.maximum.reduceat(where, starts) - np.minimum.reduceat(where, starts)).sum())


def force_order(
    clauses: Clauses, start: NDArray[np.int64], *, max_rounds: int = 200, patience: int = 5
) -> NDArray[np.int64]:
    """Improve a variable order by the FORCE heuristic (Aloul, Markov & Sakallah 2003).

    Every clause moves to the mean index of its variables, and every variable to the mean index of its
    clauses. Variables are then renumbered, until the total span has not fallen for `patience` rounds.

    `clauses`: clauses over the variables to order, no clause empty. `start`, ``(n_variables,)``: variables
    (from 0) in their first order.

    Each round takes O(literals + variables · log variables) time. The result, ``(n_variables,)``, is the
    order of least span found, `start` included. Variables in no clause come last, in the order of `start`.
    """
    n = clauses.n_variables
    columns = np.abs(clauses.literals).astype(np.int64) - 1
    occurrences = np.bincount(columns, minlength=n)
    start = np.concatenate([start[occurrences[start] > 0], start[occurrences[start] == 0]])
    if not clauses.n_clauses:
        return start
    lengths = np.diff(clauses.offsets)
    order = best = start
    places = np.empty(n, np.int64)
    places[order] = np.arange(n)
    span = total_span(clauses, places)
    waited = 0
    n_used = int((occurrences > 0).sum())
    for _ in range(max_rounds):
        centres = np.add.reduceat(places[columns], clauses.offsets[:-1]) / lengths
        pulls = np.bincount(columns, weights=np.repeat(centres, lengths), minlength=n)
        used = order[:n_used]
        used = used[np.argsort(pulls[used] / occurrences[used], kind="stable")]
        order = np.concatenate([used, order[n_used:]])
        places[order] = np.arange(n)
        new_span = total_span(clauses, places)
        if new_span < span:
            best, span, waited = order, new_span, 0
        else:
            waited += 1
            if waited >= patience:
                break
    return best


def candidate_orders(clauses: Clauses, *, n_starts: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return variable orders to try, least total span first.

    The orders are the given one, the result of FORCE from it, and the results of FORCE from random orders.

    The given order is often good by itself: feature models list features along their tree.
    """
    given = np.arange(clauses.n_variables)
    orders = [given, force_order(clauses, given)]
    orders += [force_order(clauses, rng.permutation(clauses.n_variables)) for _ in range(n_starts - 1)]
    unique = {order.tobytes(): order for order in orders}

    def span(order: NDArray[np.int64]) -> int:
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return total_span(clauses, places)

    return sorted(unique.values(), key=span)


SMALL_DIAGRAM = 256
"""Number of nodes below which no other variable order is tried."""

TRIES_OF_NODES = 100_000
"""Most nodes in all further variable orders together; at least one is tried, and at most twelve."""


def compile_diagram(
    clauses: Clauses,
    *,
    max_nodes: int = 2_000_000,
    n_starts: int = 20,
    rng: np.random.Generator | None = None,
    budget: Budget | None = None,
) -> Diagram | None:
    """Compile all models of `clauses` into a decision diagram.

    Fixed and equivalent variables are removed first (:func:`presolve`). Variable orders come from FORCE with
    several starts. The orders of least span are compiled, and the diagram with fewest nodes is kept. OxiDD
    (Husung, Dubslaff, Hermanns & Köhl 2024) compiles, with plain nodes and no complement edges.

    `clauses`: clauses to compile. Variables in no clause are free: they get levels below all others, and no
    node. `max_nodes`: most nodes in store at once, nodes of intermediate results included. A node takes about
    32 bytes. `n_starts`: starts of FORCE, one from the given order and all others from random orders. `rng`:
    source of the random orders; default: a fixed one, so that the same clauses give the same diagram.
    `budget`: checked between clauses. At its end the best diagram made so far is returned.

    Returns None if every order that was tried exceeds `max_nodes`, or no diagram was done before the budget
    ended.

    >>> diagram = compile_diagram(Clauses.from_clauses(4, [(-1, 2), (2, 3)]))
    >>> diagram.n_models, diagram.commonality()
    (10, [4, 8, 6, 5])
    """
    max_nodes = as_count(max_nodes, "max_nodes", at_least=16)
    n_starts = as_count(n_starts, "n_starts")
    rng = np.random.default_rng(0) if rng is None else rng
    budget = budget or Budget()
    try:
        smaller = presolve(clauses, budget=budget)
    except SearchStoppedError:
        return None
    given = np.arange(smaller.clauses.n_variables)
    best, order = _compiled(smaller.clauses, given, max_nodes, budget), given
    if not budget.stopped and (best is None or best[1] > SMALL_DIAGRAM):
        orders = candidate_orders(smaller.clauses, n_starts=n_starts, rng=rng)
        n_made = 0
        for n_tried, candidate in enumerate(orders):
            if n_tried >= 12 or (n_tried and n_made > TRIES_OF_NODES) or budget.stopped:
                break
            made = _compiled(smaller.clauses, candidate, max_nodes, budget)
            n_made += max_nodes if made is None else made[1]
            if made is not None and (best is None or made[1] < best[1]):
                best, order = made, candidate
    if best is None:
        return None
    levels, low, high, root = _exported(best[0], smaller.clauses.n_variables)
    level_of = np.empty(len(order) + 1, np.int32)
    level_of[order] = np.arange(len(order))
    level_of[-1] = -1  # fixed variables have place -1
    return Diagram(level_of[smaller.places], smaller.polarities, len(order), levels, low, high, root)


def _compiled(
    clauses: Clauses, order: NDArray[np.int64], max_nodes: int, budget: Budget
) -> tuple[Any, int] | None:
    """Conjoin all clauses with variables in `order`; return the function and its number of nodes.

    Returns None beyond `max_nodes`, or after the budget's end.
    """
    from oxidd.bdd import BDDManager
    from oxidd.util import DDMemoryError

    n = clauses.n_variables
    manager = BDDManager(max_nodes, min(1 << 20, 1024 + 64 * len(clauses.literals)), 1)
    places = np.empty(n, np.int64)
    places[order] = np.arange(n)
    # lowest clauses first: a partial conjunction then reaches only as far up as the clause just added
    listed = [
        sorted(((int(places[abs(literal) - 1]), literal > 0) for literal in clause), reverse=True)
        for clause in clauses
    ]
    listed.sort(key=lambda clause: [-place for place, _ in reversed(clause)])
    try:
        manager.add_vars(n)
        function = manager.true()
        for clause in listed:
            if budget.stopped:
                return None
            disjunction = manager.false()
            for place, positive in clause:
                disjunction |= manager.var(place) if positive else manager.not_var(place)
            function &= disjunction
    except DDMemoryError:
        return None
    return function, int(function.node_count())


def _exported(
    function: Any, n_levels: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], int]:
    manager = function.manager
    found: list[tuple[int, Any]] = []
    seen = {manager.false(), manager.true()}
    stack = [function]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            found.append((node.node_level(), node))
            stack.extend(node.cofactors())
    found.sort(key=lambda entry: -entry[0])
    numbers = {manager.false(): 0, manager.true(): 1}
    numbers.update((node, i) for i, (_, node) in enumerate(found, start=2))
    levels = np.full(len(found) + 2, n_levels, np.int32)
    low, high = np.array([0, 1] + [0] * len(found), np.int32), np.array([0, 1] + [0] * len(found), np.int32)
    for i, (level, node) in enumerate(found, start=2):
        on_high, on_low = node.cofactors()
        levels[i], low[i], high[i] = level, numbers[on_low], numbers[on_high]
    return levels, low, high, numbers[function]
