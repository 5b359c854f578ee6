"""Bounds for pruning: the minimum cut of the conflicts, tightened by combinatorial Benders cuts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats
from shortlist.ensembles.proofs.certificate import (
    Cut,
    CutBound,
    denominator_for,
    dual_bound,
    make_cut,
)
from shortlist.ensembles.proofs.conflicts import Conflicts
from shortlist.ensembles.proofs.row_by_row import (
    Alternative,
    AskedRows,
    CutSettings,
    draw_rows,
    forms_of,
    row_by_row,
    whole_cut,
)
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs.budget import Budget

LARGEST_FLOW = 2**30
"""Largest flow that is computed at once, as SciPy takes capacities as 32-bit integers."""


def min_cut_bound(rows: RightRows, conflicts: Conflicts) -> CutBound:
    """Return an upper bound on the gain of rows without a conflict, and so on the gain of any selection.

    With two classes, conflicts are between a positive and a negative row, so their graph is bipartite. The
    largest gain is then the sum of all gains minus a maximum flow from the positive to the negative rows
    (König's theorem with weights). The flow through a conflict is its multiplier, so that the bound is proved
    without the flow. With several classes each row is a node on both sides of the graph, and flows are
    halved, which gives the bound of the linear relaxation.

    SciPy's maximum flow (Dinic) takes 32-bit capacities. Larger gains are split into two flows: rounded
    gains, then remainders. The bound is then valid, but may be above the largest gain.
    """
    n, pairs, gains = rows.n_rows, conflicts.pairs, rows.gains
    denominator = 1
    if not rows.has_threshold:
        both_ways = np.concatenate([pairs, pairs[:, ::-1]])
        pairs = (both_ways + np.array([0, n])).astype(np.int32)
        gains, denominator = np.concatenate([gains, gains]), 2
    unit = max(1, -(-rows.total_gain // LARGEST_FLOW))
    flow = _maximum_flow(gains // unit, pairs) * unit
    if unit > 1:
        left = gains.copy()
        np.subtract.at(left, flow.row, flow.data)
        np.subtract.at(left, flow.col, flow.data)
        flow = flow + _maximum_flow(np.minimum(left, LARGEST_FLOW // len(gains)), pairs)
    flow = flow.tocoo()
    through = np.zeros(len(conflicts.pairs), dtype=np.int64)
    place = {pair: i for i, pair in enumerate(map(tuple, conflicts.pairs.tolist()))}
    for first, second, amount in zip(flow.row % n, flow.col % n, flow.data, strict=True):
        key = (int(first), int(second))
        through[place[key] if key in place else place[key[1], key[0]]] += int(amount)
    used = np.flatnonzero(through)
    cuts = [conflicts.cut(rows, i) for i in used.tolist()]
    cuts += [make_cut(rows, (form,), (1,)) for form in conflicts.never.tolist()]
    never = rows.gains[rows.row_of[conflicts.never]] * denominator
    multipliers = np.concatenate([through[used], never]).astype(np.int64)
    bound = dual_bound(rows, [np.array(cut.rows) for cut in cuts], multipliers, denominator)
    return CutBound(bound, tuple(cuts), multipliers, denominator)


def tighten_by_cuts(
    rows: RightRows,
    conflicts: Conflicts,
    start: CutBound,
    budget: Budget,
    *,
    max_rounds: int | None = None,
    target: int | None = None,
    quick: bool = False,
    on_bound: Callable[[int], None] | None = None,
    settings: CutSettings | None = None,
) -> CutBound:
    """Tighten a bound by cuts of more rows, found by linear programs.

    The master program chooses a number t_i from 0 to 1 for every row i, and maximises the gain under the cuts
    found so far. The alternative system then finds sets of rows whose cuts t violates (:cite:t:`Codato2006`).
    The alternative system minimises a sum of multipliers, and not the number of rows. So each solution is
    followed by further solutions with costs divided by the multipliers just found; this drives small
    multipliers to 0 and finds smaller sets (the reweighting of :cite:t:`Candes2008`). When this search finds
    hardly any more sets, :func:`shortlist.ensembles.proofs.row_by_row.row_by_row` continues, which is slower
    but nearly always finds sets.

    `rows`: the problem, of two or several classes. `conflicts`: conflicts of the same rows; violated pairs
    are added. `start`: bound from :func:`min_cut_bound` or an earlier call, with its pool of cuts. `budget`:
    at its end the best bound so far is returned; its seed is used for all draws, its number of nodes is
    ignored. `max_rounds`: largest number of rounds, where a round with the slower search counts as several;
    with this limit alone the answer is reproducible. `target`: stop as soon as the bound is at most this
    number, in units of ``rows.step``. `quick`: stop when the slower search would begin. `on_bound`: receives
    the bound after every round.

    The bound is never above `start`. It is computed in integers, whatever the linear programs return.
    """
    if not rows.n_rows:
        return start
    settings = settings or CutSettings()
    master = _Master(rows, conflicts, start, settings)
    separation = _Separation(rows, settings, np.random.default_rng(budget.seed), budget)
    best, rounds, idle = start, 0, 0
    while not budget.stopped and (max_rounds is None or rounds < max_rounds):
        t = master.solve(budget)
        rounds += 1
        best = master.better(best)
        if on_bound is not None:
            on_bound(best.bound)
        if t is None or (target is not None and best.bound <= target):
            break
        found = master.recall(t)
        found += sum(master.add(whole_cut(rows, y), t) for y in separation.by_price(t, idle))
        if found < settings.few and quick:
            break
        if found < settings.few:
            rounds += settings.row_round_cost
            found += sum(master.add(whole_cut(rows, y), t) for y in separation.row_by_row(t))
        idle = 0 if found else idle + 1
        if idle >= settings.idle_rounds:
            return master.pooled(best, exhausted=True)
    return master.pooled(best, exhausted=False)


def _maximum_flow(capacities: NDArray[np.int64], pairs: NDArray[np.int32]) -> sparse.coo_array:
    """Return the maximum flow from positive to negative rows, as the flow through each pair of rows."""
    n = len(capacities)
    if not len(pairs):
        return sparse.coo_array((n, n), dtype=np.int64)
    p, q = pairs.T
    source, sink = n, n + 1
    positive, negative = np.unique(p), np.unique(q)
    tails = np.concatenate([np.full(len(positive), source), p, negative])
    heads = np.concatenate([positive, q, np.full(len(negative), sink)])
    room = np.concatenate(
        [capacities[positive], np.minimum(capacities[p], capacities[q]), capacities[negative]]
    )
    graph = sparse.csr_array((room.astype(np.int32), (tails, heads)), shape=(n + 2, n + 2))
    flow = sparse.coo_array(sparse.csgraph.maximum_flow(graph, source, sink).flow)
    inner = (flow.data > 0) & (flow.row < n) & (flow.col < n)
    return sparse.coo_array(
        (flow.data[inner].astype(np.int64), (flow.row[inner], flow.col[inner])), shape=(n, n)
    )


@dataclass(eq=False)
class _Separation:
    """Two searches for cuts that the solution t of the master program violates.

    The programs of the searches are kept from round to round, as long as they take all rows.
    """

    rows: RightRows
    settings: CutSettings
    rng: np.random.Generator
    budget: Budget
    alternative: Alternative | None = None
    asked: AskedRows | None = None

    def by_price(self, t: Floats, idle: int) -> Iterator[Floats]:
        """Yield multipliers of cuts by the search by price, from several starts with their reweightings.

        A row that was used in this round costs more.
        """
        rows, rng, settings = self.rows, self.rng, self.settings
        most = max(1, min(settings.priced_rows, settings.priced_votes // rows.n_classifiers))
        used = draw_rows(rows, t, rng, most=most, unlikely=settings.unlikely)
        if self.alternative is None or len(used) < rows.n_rows:
            self.alternative = Alternative(rows, forms_of(rows, used))
        spread = settings.price_spread * (1 + idle % 4)
        base, n_used = 1 - t + settings.least_violation, np.zeros(len(t))
        for begin in range(settings.price_starts):
            drawn = rng.standard_normal(rows.n_forms)
            price = (base + settings.price_avoidance * n_used)[rows.row_of]
            costs = price * np.exp(spread * drawn) if begin or idle % 4 else price
            for _ in range(settings.price_reweightings + 1):
                y = self.alternative.multipliers(costs, self.budget)
                if y is None:
                    break
                yield y
                if self.budget.stopped:
                    return
                costs = price / (y / y[y > 0].mean() + settings.price_floor)
            if y is not None:
                n_used[np.unique(rows.row_of[y > 0])] += 1

    def row_by_row(self, t: Floats) -> Iterator[Floats]:
        """Yield multipliers of rows that cannot all be right, by :func:`row_by_row` on all or drawn rows."""
        rows, settings = self.rows, self.settings
        most = max(1, settings.asked_votes // rows.n_classifiers)
        used = draw_rows(rows, t, self.rng, most=most, unlikely=settings.unlikely)
        if self.asked is None or len(used) < rows.n_rows:
            self.asked = AskedRows(rows, used)
        return row_by_row(rows, self.asked, t, rng=self.rng, budget=self.budget, settings=settings)


def _worst_pairs(pairs: NDArray[np.int32], t: Floats, least: float) -> list[tuple[float, int]]:
    excess = t[pairs[:, 0]] + t[pairs[:, 1]] - 1
    order = np.lexsort((-excess, pairs[:, 0]))
    first = np.unique(pairs[order, 0], return_index=True)[1]
    worst = order[first]
    worst = worst[excess[worst] > least]
    return [(float(excess[i]), int(i)) for i in worst]


class _Master:
    """Master program: maximises ``gains @ t`` over one number t from 0 to 1 per row, under the cuts.

    Cuts that stay slack are set aside; a cut is used again as soon as t violates it.
    """

    def __init__(self, rows: RightRows, conflicts: Conflicts, start: CutBound, settings: CutSettings) -> None:
        self.rows, self.conflicts, self.settings = rows, conflicts, settings
        self.denominator = denominator_for(rows)
        self.unit = float(rows.gains.max())
        self.program = LinearProgram(-rows.gains / self.unit, np.zeros(rows.n_rows), np.ones(rows.n_rows))
        self.cuts: dict[tuple[int, ...], Cut] = {}
        self.active: list[tuple[int, ...]] = []
        self.ages: list[int] = []
        self.duals: Floats = np.zeros(0)
        self.supports: dict[tuple[int, ...], NDArray[np.int64]] = {}
        for cut in (*start.cuts, *start.pool):
            self._remember(cut)
        self._activate([cut.rows for cut in start.cuts])

    def solve(self, budget: Budget) -> Floats | None:
        """Return the solution t, ``(n_rows,)``; None if it was not found in time.

        The multipliers of the cuts are stored in both cases.
        """
        solution = self.program.solve(budget)
        self.duals = np.maximum(0.0, -solution.duals) * self.unit
        return np.clip(solution.values, 0.0, 1.0) if solution.optimal else None

    def better(self, best: CutBound) -> CutBound:
        whole = np.floor(self.duals * self.denominator + 0.5).astype(np.int64)
        chosen = np.flatnonzero(whole)
        keys = [self.active[place] for place in chosen]
        bound = dual_bound(self.rows, [self.supports[key] for key in keys], whole[chosen], self.denominator)
        if bound >= best.bound:
            return best
        return CutBound(bound, tuple(self.cuts[key] for key in keys), whole[chosen], self.denominator)

    def recall(self, t: Floats) -> int:
        """Set aside cuts that have long been slack, and use known cuts again that t violates.

        Returns the number of cuts used again.
        """
        self._set_aside(t)
        active = set(self.active)
        known = [(self._excess(t, key), key) for key in self.cuts if key not in active]
        least = self.settings.least_violation
        worst = [
            (excess, self.conflicts.cut(self.rows, i))
            for excess, i in _worst_pairs(self.conflicts.pairs, t, least)
        ]
        new = {cut.rows: (excess, cut) for excess, cut in worst if cut.rows not in self.cuts}
        wanted = [(excess, key) for excess, key in known if excess > least]
        wanted += [(excess, key) for key, (excess, _) in new.items()]
        wanted = sorted(wanted, key=lambda pair: (-pair[0], pair[1]))[: self.settings.most_recalled]
        for _, key in wanted:
            if key in new:
                self._remember(new[key][1])
        self._activate([key for _, key in wanted])
        return len(wanted)

    def add(self, cut: Cut | None, t: Floats) -> int:
        """Add a new cut if t violates it; return 1 if it was added, otherwise 0."""
        if cut is None or cut.rows in self.cuts:
            return 0
        self._remember(cut)
        if self._excess(t, cut.rows) <= self.settings.least_violation:
            del self.cuts[cut.rows], self.supports[cut.rows]
            return 0
        self._activate([cut.rows])
        return 1

    def pooled(self, best: CutBound, *, exhausted: bool) -> CutBound:
        pool = tuple(cut for key, cut in self.cuts.items() if len(key) > 2)
        return CutBound(best.bound, best.cuts, best.multipliers, best.denominator, pool, exhausted)

    def _excess(self, t: Floats, key: tuple[int, ...]) -> float:
        return float(t[self.supports[key]].sum()) - len(key) + 1

    def _remember(self, cut: Cut) -> None:
        self.cuts[cut.rows] = cut
        self.supports[cut.rows] = np.array(cut.rows, dtype=np.int64)

    def _activate(self, keys: list[tuple[int, ...]]) -> None:
        self.program.add_rows(
            [(self.supports[key].astype(np.int32), np.ones(len(key))) for key in keys],
            np.full(len(keys), -math.inf),
            np.array([len(key) - 1.0 for key in keys]),
        )
        self.active += keys
        self.ages += [0] * len(keys)

    def _set_aside(self, t: Floats) -> None:
        """Remove the cuts from the program that have been slack for some rounds."""
        self.ages = [
            age + 1 if self._excess(t, key) < -self.settings.slack else 0
            for key, age in zip(self.active, self.ages, strict=True)
        ]
        old = np.array([age > self.settings.patience for age in self.ages], dtype=bool)
        self.program.delete_rows(np.flatnonzero(old))
        self.active = [key for key, gone in zip(self.active, old, strict=True) if not gone]
        self.ages = [age for age, gone in zip(self.ages, old, strict=True) if not gone]
