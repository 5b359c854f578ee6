"""Variable orders that keep the variables of a clause near each other."""

import numpy as np
from numpy.typing import NDArray

from shortlist.logic.clauses import Clauses


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

    Parameters
    ----------
    clauses : Clauses
        Clauses over the variables to order, none of them empty.
    start : ndarray of int64, shape (n_variables,)
        Variables (from 0) in the order to begin with.

    Returns
    -------
    ndarray of int64, shape (n_variables,)
        Variables in the order of least span that was met, `start` included. Variables that occur in no clause
        come last, in the order of `start`.

    Notes
    -----
    Each round takes O(literals + variables · log variables) time.
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
