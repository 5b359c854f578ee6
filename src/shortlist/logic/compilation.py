"""From clauses to a decision diagram, by OxiDD."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.logic.clauses import Clauses
from shortlist.logic.diagram import Diagram
from shortlist.logic.presolve import presolve
from shortlist.logic.sat import SearchStoppedError
from shortlist.runs.budget import Budget


def total_span(clauses: Clauses, places: NDArray[np.int64]) -> int:
    """Return the sum over clauses of the distance between the places of first and last variable."""
    if not clauses.n_clauses or (np.diff(clauses.offsets) == 0).any():
        return 0
    where = places[np.abs(clauses.literals) - 1]
    starts = clauses.offsets[:-1]
    return int((np.maximum.reduceat(where, starts) - np.minimum.reduceat(where, starts)).sum())


def force_order(
    clauses: Clauses, start: NDArray[np.int64], *, max_rounds: int = 200, patience: int = 5
) -> NDArray[np.int64]:
    """Improve a variable order by the FORCE heuristic (Aloul, Markov & Sakallah 2003).

    Every clause moves to the mean place of its variables, every variable to the mean place of its clauses,
    and places are then numbered anew, until the total span has not fallen for `patience` rounds.

    `clauses`: clauses over the variables to order, none of them empty. `start`, ``(n_variables,)``: variables
    (from 0) in the order to begin with.

    Each round takes O(literals + variables · log variables) time. The result, ``(n_variables,)``, has the
    variables in the order of least span that was met, `start` included. Those that occur in no clause come
    last, in the order of `start`.
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
    """Return orders worth trying, least total span first.

    They are the given order, FORCE from it, and FORCE from random orders.

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
"""A diagram of so few nodes is not worth another variable order."""

TRIES_OF_NODES = 100_000
"""Most nodes made on further variable orders; at least one order is tried, and at most twelve.
"""


def compile_diagram(
    clauses: Clauses,
    *,
    max_nodes: int = 2_000_000,
    n_starts: int = 20,
    rng: np.random.Generator | None = None,
    budget: Budget | None = None,
) -> Diagram | None:
    """Compile all models of `clauses` into a decision diagram.

    Fixed and equivalent variables are taken out first (:func:`shortlist.logic.presolve.presolve`). Variable
    orders come from FORCE with several starts; those of least span are compiled and the diagram with fewest
    nodes is kept. OxiDD (Husung, Dubslaff, Hermanns & Köhl 2024) does the compiling, with plain nodes and no
    complement edges.

    `clauses`: what must hold. Variables in no clause are free: they get levels below all others, and no node.
    `max_nodes`: how many nodes may be in store at once while compiling, those of intermediate results
    included. Each takes about 32 bytes. `n_starts`: starts of FORCE, one from the given order and the others
    from random orders. `rng`: source of the random orders; default: a fixed one, so that the same clauses
    give the same diagram. `budget`: looked at between clauses. Once it has ended, the best diagram made so
    far is returned.

    None if every order that was tried exceeds `max_nodes`, or none was done before the budget ended.

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
    """Conjoin all clauses with variables in `order`.

    Return the function and its nodes, None beyond the budget or stopped.
    """
    from oxidd.bdd import BDDManager
    from oxidd.util import DDMemoryError

    n = clauses.n_variables
    manager = BDDManager(max_nodes, min(1 << 20, 1024 + 64 * len(clauses.literals)), 1)
    places = np.empty(n, np.int64)
    places[order] = np.arange(n)
    # lowest clauses first: every partial conjunction then only reaches as far up as the clause just added
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
