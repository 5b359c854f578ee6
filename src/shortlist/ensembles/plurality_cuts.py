"""Rows that cannot all be right by plurality, found by linear programs and proved in integers, and the bound they give."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.plurality_program import MarginRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs import Cancellation

Values = NDArray[np.float64]

MOST_ENTRIES = 200_000
"""Margins times classifiers that one alternative program looks at; of more, a new draw in every round."""

SEARCHES, REWEIGHTS = 20, 4
"""Disjoint sets looked for per round, and how often each is looked for again with smaller ones in mind."""

LIKELY = 0.2
"""Rows that the master program calls right to a smaller part make no violated cut."""

IDLE_ROUNDS = 5
"""Draws without a cut after which no more are made."""

VIOLATED = 0.01
SPREAD = 1e-3
PRECISE = 2**20


@dataclass(frozen=True)
class MarginCut:
    """Rows that cannot all be right, and why.

    Attributes
    ----------
    rows : tuple of int
        Places in ``MarginRows.decided``, increasing.
    margins : tuple of int
        Margins of these rows that cannot all hold.
    multipliers : tuple of int
        y, at least 1 for each of `margins`; :func:`proves` checks them.
    """

    rows: tuple[int, ...]
    margins: tuple[int, ...]
    multipliers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TightBound:
    """A bound on the weighted sum, and the cuts found on the way to it.

    Attributes
    ----------
    bound : int
        No selection within the sizes is worth more.
    cuts : tuple of MarginCut
        Each of them proved.
    """

    bound: int
    cuts: tuple[MarginCut, ...]


def proves(margins: MarginRows, limits: SelectionLimits, cut: MarginCut) -> bool:
    """Whether the multipliers show that the rows of a cut cannot all be right, decided in integers.

    If they were, ``signs @ x >= least`` would hold in all the margins, and so would its sum by the multipliers y. That
    sum is ``c @ x`` with c in integers, at most the largest sum of as many entries of c as there may be members; below
    ``y @ least`` the margins cannot all hold. This is Farkas' lemma, the largest value being taken over selections.
    """
    places = np.array(cut.margins, dtype=np.int64)
    if not len(places) or min(cut.multipliers) < 1 or sum(cut.multipliers) >= 2**31:
        return False
    if set(margins.places[places].tolist()) != set(cut.rows):
        return False
    y = np.array(cut.multipliers, dtype=np.int64)
    ranked = np.sort(y @ margins.signs[places].astype(np.int64))[::-1]
    sums = np.concatenate([[0], np.cumsum(ranked)])
    largest = int(sums[limits.min_size : limits.max_size + 1].max())
    return largest < int(y @ margins.least[places])


def dual_bound(margins: MarginRows, cuts: Sequence[NDArray[np.int64]], multipliers: Values) -> int:
    """Return the bound that sets of rows that cannot all be right give, whatever the multipliers λ.

    Weak duality: ``sum(λ * (|R| - 1)) + sum(max(0, gain - sum of λ of the sets with the row))``, in integers after λ is
    rounded to multiples of a power of two.
    """
    whole = [round(max(0.0, float(one)) * PRECISE) for one in multipliers]
    left = [int(gain) * PRECISE for gain in margins.gains]
    spent = 0
    for rows, weight in zip(cuts, whole, strict=True):
        spent += weight * (len(rows) - 1)
        for row in rows.tolist():
            left[row] -= weight
    return margins.fixed_gain + (spent + sum(one for one in left if one > 0)) // PRECISE


def tighten_by_margin_cuts(
    margins: MarginRows,
    limits: SelectionLimits,
    conflicts: NDArray[np.int64],
    *,
    deadline: float = math.inf,
    max_rounds: int | None = None,
    seed: int = 0,
    target: int | None = None,
    on_bound: Callable[[int], None] | None = None,
    cancellation: Cancellation | None = None,
) -> TightBound:
    """Bound the weighted sum by combinatorial Benders cuts (:cite:t:`Codato2006`).

    A master program maximises the gains of t in [0, 1] under the sets found so far; an alternative program looks for
    more that its t violates, each search followed by others whose costs favour smaller sets
    (the reweighting of :cite:t:`Candes2008`), and each set kept away from the rows of those before it.

    Parameters
    ----------
    margins : MarginRows
        The rows and what they need.
    limits : SelectionLimits
        Of which the sizes are used.
    conflicts : ndarray of int64, shape (n_pairs, 2)
        From :func:`shortlist.ensembles.plurality_program.conflicting_rows`.
    deadline : float
        On the clock ``time.monotonic``.
    max_rounds : int, optional
        Most master programs; with this limit alone the answer is reproducible.
    seed : int
        Of the draws where there are too many margins to look at all.
    target : int, optional
        Weighted sum to be content with.
    on_bound : callable, optional
        Receives the bound after every round.
    cancellation : Cancellation, optional
        Stops with the best bound so far.

    Returns
    -------
    TightBound
        Integers throughout, whatever the linear programs answered.
    """
    cuts: list[MarginCut] = []
    sets = list(conflicts)
    best = margins.most_gain
    if not len(margins.decided):
        return TightBound(best, ())
    unit = float(margins.gains.max())
    master = LinearProgram(-margins.gains / unit, np.zeros(len(margins.gains)), np.ones(len(margins.gains)))
    _add_sets(master, sets)
    rng = np.random.default_rng(seed)
    alternative: _Alternative | None = None
    rounds = idle = 0

    def stopped() -> bool:
        return time.monotonic() >= deadline or (cancellation is not None and cancellation.cancelled)

    while not stopped() and (max_rounds is None or rounds < max_rounds):
        rounds += 1
        solution = master.solve(deadline=deadline, cancellation=cancellation)
        best = min(best, dual_bound(margins, sets, -solution.duals * unit))
        if on_bound is not None:
            on_bound(best)
        if not solution.optimal or (target is not None and best <= target):
            break
        t = np.clip(solution.values, 0.0, 1.0)
        used = _drawn(margins, t, rng)
        if alternative is None or len(used) < len(margins.places):
            alternative = _Alternative(margins, limits, used)
        new = alternative.violated_by(t, deadline=deadline, cancellation=cancellation)
        idle = 0 if new else idle + 1
        if idle and (idle == IDLE_ROUNDS or len(used) == len(margins.places)):
            break
        added = [np.array(cut.rows, dtype=np.int64) for cut in new]
        _add_sets(master, added)
        sets += added
        cuts += new
    return TightBound(best, tuple(cuts))


class _Alternative:
    """The program whose solutions are multipliers y of margins that cannot all hold, over some of the margins.

    With s for the least size and u_k for the member k, ``signs.T @ y + s <= u`` and ``least @ y + s * min_size - sum(u) = 1``:
    then ``signs.T @ y @ x`` is at most the sum of u less s times the size, below ``least @ y``. Any y that does so can be
    scaled to the 1. A vertex has few margins.
    """

    def __init__(self, margins: MarginRows, limits: SelectionLimits, used: NDArray[np.int64]) -> None:
        self.margins, self.limits, self.used = margins, limits, used
        signs = margins.signs[used].astype(np.float64)
        n_used, n_classifiers = signs.shape
        n_columns = n_used + 1 + n_classifiers
        self.n_columns = n_columns
        self._program = LinearProgram(np.zeros(n_columns), np.zeros(n_columns), np.full(n_columns, math.inf))
        rows = []
        for k in range(n_classifiers):
            voters = np.flatnonzero(signs[:, k])
            columns = np.append(voters, [n_used, n_used + 1 + k]).astype(np.int32)
            rows.append((columns, np.append(signs[voters, k], [1.0, -1.0])))
        strict = np.flatnonzero(margins.least[used])
        columns = np.concatenate([strict, np.arange(n_used, n_columns)]).astype(np.int32)
        numbers = np.concatenate([np.ones(len(strict)), [limits.min_size], -np.ones(n_classifiers)])
        rows.append((columns, numbers))
        lower, upper = np.full(len(rows), -math.inf), np.zeros(len(rows))
        lower[-1] = upper[-1] = 1.0
        self._program.add_rows(rows, lower, upper)

    def violated_by(
        self, t: Values, *, deadline: float, cancellation: Cancellation | None
    ) -> list[MarginCut]:
        """Return cuts that t violates, without a row in common."""
        places = self.margins.places[self.used]
        costs = np.zeros(self.n_columns)
        found: list[MarginCut] = []
        closed: list[NDArray[np.int32]] = []
        for _ in range(SEARCHES):
            costs[: len(places)] = 1.0 - t[places] + SPREAD
            best: MarginCut | None = None
            most = VIOLATED
            for _ in range(1 + REWEIGHTS):
                self._program.set_costs(costs)
                solution = self._program.solve(deadline=deadline, cancellation=cancellation)
                if not solution.optimal:
                    break
                y = np.maximum(0.0, solution.values[: len(places)])
                cut = self._cut(y)
                if cut is not None:
                    excess = 1.0 - float((1.0 - t[list(cut.rows)]).sum())
                    if excess > most:
                        best, most = cut, excess
                costs[: len(places)] = (1.0 - t[places] + SPREAD) / (y / max(float(y.max()), 1e-9) + 0.1)
            if best is None:
                break
            found.append(best)
            columns = np.flatnonzero(np.isin(places, best.rows)).astype(np.int32)
            self._program.set_upper(columns, np.zeros(len(columns)))
            closed.append(columns)
        for columns in closed:
            self._program.set_upper(columns, np.full(len(columns), math.inf))
        return found

    def _cut(self, y: Values) -> MarginCut | None:
        """Turn floats into integers that prove a cut, small ones where they do; None if none prove it."""
        support = np.flatnonzero(y > 1e-9)
        if not len(support):
            return None
        relative = y[support]
        for scale in (1.0 / relative.min(), 12.0 / relative.min(), PRECISE / relative.max()):
            whole = np.rint(np.minimum(relative * scale, 2.0**31))
            kept = whole > 0
            margins = self.used[support[kept]]
            rows = np.unique(self.margins.places[margins])
            cut = MarginCut(
                tuple(rows.tolist()), tuple(margins.tolist()), tuple(whole[kept].astype(np.int64).tolist())
            )
            if proves(self.margins, self.limits, cut):
                return cut
        return None


def _drawn(margins: MarginRows, t: Values, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the margins to look at: all, or those of rows drawn from the likely ones."""
    n_margins, n_classifiers = margins.signs.shape
    most = max(1, MOST_ENTRIES // n_classifiers)
    if n_margins <= most:
        return np.arange(n_margins)
    likely = rng.permutation(np.flatnonzero(t > LIKELY))
    sizes = np.bincount(margins.places, minlength=len(t))[likely]
    chosen = likely[: max(1, int(np.searchsorted(np.cumsum(sizes), most)))]
    return np.flatnonzero(np.isin(margins.places, chosen))


def _add_sets(master: LinearProgram, sets: Sequence[NDArray[np.int64]]) -> None:
    """Add ``sum of t over R <= |R| - 1`` for each set R."""
    if not sets:
        return
    master.add_rows(
        [(rows.astype(np.int32), np.ones(len(rows))) for rows in sets],
        np.full(len(sets), -math.inf),
        np.array([len(rows) - 1.0 for rows in sets]),
    )
