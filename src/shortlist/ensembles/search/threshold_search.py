"""Search for good selections: tabu walks over flips and swaps, with the best threshold for each subset."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_seed
from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import CREDIT_SLACK
from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale, utility_table, utility_total
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.search import _threshold_kernels as kernels
from shortlist.ensembles.search.search_starts import ordering_starts
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class TabuSettings:
    """How the walks of the search go.

    Parameters
    ----------
    tenures : tuple of int
        How many steps a moved classifier stays put, plus up to as many again; one of these is drawn for
        every walk.
    patience : int
        Steps without a better selection after which a walk ends.
    n_elites : int
        How many ends of walks are kept to breed new walks from.
    work : int
        Votes that are read between two looks at the clock, and at most in one step, which takes some
        milliseconds.
    fewest_tried : int
        How many flips a step tries at least, however many votes each of them reads.
    """

    tenures: tuple[int, ...] = (2, 2, 3, 6)
    patience: int = 250
    n_elites: int = 8
    work: int = 4_000_000
    fewest_tried: int = 32


@dataclass(frozen=True, eq=False)
class FoundSelection:
    """The best selection of a search.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_classifiers,)
        The members; they keep the limits.
    threshold : int
        L: positive where more than this many members vote so.
    total : int
        The weighted sum of :meth:`Weights.total`; in the answer counted anew from the votes.
    utility : int or None
        :func:`utility_total`, when a utility was given.
    steps : int
        Moves made until it was reported.
    seconds : float
        Time until then.
    """

    mask: Mask
    threshold: int
    total: int
    utility: int | None
    steps: int
    seconds: float


def search_selection(
    votes: Votes,
    weights: Weights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    starts: Sequence[Mask] | None = None,
    utility: MarginUtility | None = None,
    max_steps: int = 20_000,
    on_better: Callable[[FoundSelection], None] | None = None,
    settings: TabuSettings | None = None,
) -> FoundSelection | None:
    """Search for a selection that keeps the limits and whose weighted sum, then margin utility, is large.

    Tabu walks (:cite:t:`Glover1989`) over selections: a step takes the best flip of one classifier that has
    not just moved, better or not; where size is at its limit or limits on cost or diversity hold, also the
    best of some swaps. Every subset has its best threshold. Selections that miss a cost or diversity limit
    may be passed through, at a price that rises while they are and falls while they are not (strategic
    oscillation), and are never returned. A walk without a better selection ends, and the next begins at a
    start, a random selection, or a mixture or a shaken copy of good ends.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    weights : Weights
        What decisions are worth, of any sign.
    limits : SelectionLimits
        Size, cost and diversity.
    budget : Budget, optional
        Its seed is that of every draw, and its clock is looked at every few milliseconds; default no limit.
    starts : sequence of ndarray of bool, optional
        Where the first walks begin; those that keep the limits are never better than the answer. Default
        :func:`ordering_starts`; an empty sequence begins at random.
    utility : MarginUtility, optional
        Tells apart selections of the same weighted sum, and every other walk goes by it too; one that leads
        is maximised itself, and the weighted sum tells apart.
    max_steps : int, default=20000
        Limit in moves: with it alone the answer depends on nothing but the arguments.
    on_better : callable, optional
        Receives better selections as they are found, a few milliseconds late.
    settings : TabuSettings, optional
        How the walks go.

    Returns
    -------
    Found or None
        None when no selection that keeps the limits was met, which proves nothing.

    Raises
    ------
    BadInputError
        If a number is out of range.

    Notes
    -----
    A step takes O(n_near · n_classifiers) time, n_near the rows within three votes of the threshold, or for a
    utility that leads O(n_rows · n_classifiers); above four million votes flips are sampled. 6 bytes per vote
    beside the votes, at most. The kernels release the interpreter, so it may run in a thread beside a solver.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> limits = selection_limits(3, min_size=3)
    >>> found = search_selection(votes, named_weights("accuracy", votes), limits, max_steps=100)
    >>> found.mask, found.threshold, found.total
    (array([ True,  True,  True]), 1, 4)
    """
    as_count(max_steps, "max_steps", at_least=0)
    budget, settings = budget or Budget(), settings or TabuSettings()
    as_seed(budget.seed)
    begin = budget.elapsed
    if limits.conflict():
        return None
    if starts is None:
        starts = ordering_starts(votes, weights, limits, budget)
    walker = _Walker(votes, weights, limits, utility=utility, settings=settings, seed=budget.seed)
    rng = np.random.default_rng(budget.seed)
    elites = _Elites(votes.n_classifiers, limits, settings.n_elites, rng)
    last = walker.best_key()

    for start in starts:
        if not (walker.best_key() and budget.stopped):
            walker.go_to(elites.within_size(start))
    for _ in _blocks(walker, starts, elites, max_steps, rng):
        if on_better is not None and walker.best_key() != last:
            last = walker.best_key()
            on_better(walker.report(votes, weights, budget.elapsed - begin))
        if budget.stopped:
            break
    if not walker.best_key():
        return None
    kept = walker.report(votes, weights, budget.elapsed - begin)
    worth = None if utility is None else utility_total(votes, weights, utility, kept.mask, kept.threshold)
    total = weights.total(confusion(votes, kept.mask, kept.threshold))
    return dataclasses.replace(kept, total=total, utility=worth)


def _blocks(
    walker: "_Walker", starts: Sequence[Mask], elites: "_Elites", max_steps: int, rng: np.random.Generator
) -> Iterator[None]:
    """Make walk after walk, and yield before the first step and after every block of some milliseconds."""
    n_walks = 0
    yield
    while walker.n_steps < max_steps:
        walker.begin_walk(elites.next(starts[n_walks] if n_walks < len(starts) else None), n_walks, rng)
        n_walks += 1
        stalled = False
        while not stalled and walker.n_steps < max_steps:
            stalled = walker.walk(min(walker.block, max_steps - walker.n_steps))
            yield
        elites.add(walker)


class _Walker:
    """The arrays of a walk; see the kernels."""

    def __init__(
        self,
        votes: Votes,
        weights: Weights,
        limits: SelectionLimits,
        *,
        utility: MarginUtility | None,
        settings: TabuSettings,
        seed: int,
    ) -> None:
        self.settings = settings
        gains = weights.signed_gains(votes)
        n = votes.n_classifiers
        self.votes = np.require(votes.votes[gains != 0], np.uint8, ["C", "W"])
        self.columns = np.ascontiguousarray(self.votes.T)
        self.gains = gains[gains != 0].astype(np.int64)
        self.mode = 0 if utility is None else 1 + utility.leads
        scale = 1 if utility is None else utility_scale(votes, weights)
        self.table = np.zeros((1, 1), dtype=np.int64) if utility is None else utility_table(utility, n, scale)
        diversity = limits.diversity
        self.costs = np.zeros(1, dtype=np.int64) if limits.costs is None else limits.costs.copy()
        self.credit = np.zeros((1, 1), dtype=np.int64)
        if diversity is not None:
            self.credit = np.require(diversity.credit.copy(), np.int64, ["C", "W"])
        self.limited = limits.costs is not None or diversity is not None
        self.options = np.zeros(kernels.BY_WORTH + 1, dtype=np.int64)
        self.options[kernels.MIN_SIZE], self.options[kernels.MAX_SIZE] = limits.min_size, limits.max_size
        self.options[kernels.HAS_COSTS], self.options[kernels.BUDGET] = (
            limits.costs is not None,
            limits.budget,
        )
        self.options[kernels.COST_UNIT] = max(1, int(self.costs.sum()) // (len(self.costs) * kernels.PART))
        if diversity is not None:
            self.options[kernels.HAS_CREDIT], self.options[kernels.SLACK] = 1, CREDIT_SLACK
            self.options[kernels.EACH], self.options[kernels.MEAN] = diversity.each, diversity.mean
        self.options[kernels.UTILITY] = self.mode
        self.options[kernels.N_TRIED] = min(
            n, max(settings.fewest_tried, settings.work // max(1, len(self.gains)))
        )
        self.options[kernels.PATIENCE] = settings.patience
        self.member = np.zeros(n, dtype=np.uint8)
        self.tally = np.zeros(len(self.gains), dtype=np.int32)
        self.levels = np.zeros((2, n + 3), dtype=np.int64)
        self.levels[:, 0] = self.gains[self.gains > 0].sum(), -self.gains[self.gains < 0].sum()
        self.sums = np.zeros(1 if diversity is None else n, dtype=np.int64)
        self.tabu = np.zeros(n, dtype=np.int64)
        self.scalars = np.zeros(kernels.STREAK + 1, dtype=np.int64)
        usual = int(np.abs(self.gains).sum()) // max(1, len(self.gains)) * (scale if self.mode == 2 else 1)
        self.scalars[kernels.PENALTY] = max(1, usual // 10)
        self.state = np.array([seed % 2**64], dtype=np.uint64)
        self.near = np.zeros((2 * kernels.WINDOW + 2, n), dtype=np.int64)
        self.deep = np.zeros((2, n + 1, n) if self.mode == 2 else (1, 1, 1), dtype=np.int64)
        self.ratings = np.zeros((6, n), dtype=np.int64)
        self.choices = np.zeros((2, kernels.PICK_SCORE + 1), dtype=np.int64)
        self.best = np.zeros((2, n), dtype=np.uint8)
        self.block = max(1, settings.work // max(1, self.votes.size))
        kernels.set_threshold(self.levels, self.table, self.options, self.scalars)

    def go_to(self, mask: NDArray[np.uint8]) -> None:
        """Move to a selection, and forget the walk so far."""
        for k in np.flatnonzero(self.member != mask):
            self.flip(int(k))
        self.scalars[kernels.MISSED] = kernels.missed_after(
            kernels.NONE, self.costs, self.credit, self.options, self.member, self.sums, self.scalars
        )
        kernels.set_threshold(self.levels, self.table, self.options, self.scalars)
        self.scalars[kernels.RUN_KNOWN] = 0
        kernels.note_selection(self.options, self.member, self.best, self.scalars)
        self.scalars[kernels.STALLED] = 0
        self.tabu[:] = 0

    def flip(self, k: int) -> None:
        """Let one classifier join or leave."""
        kernels.flip(
            k, self.columns, self.gains, self.costs, self.credit, self.options, self.member, self.tally,
            self.levels, self.sums, self.scalars,
        )  # fmt: skip

    def begin_walk(self, mask: NDArray[np.uint8], number: int, rng: np.random.Generator) -> None:
        """Go to a selection, and set what differs from walk to walk."""
        self.go_to(mask)
        least, most = self.options[kernels.MIN_SIZE], self.options[kernels.MAX_SIZE]
        swaps = self.limited or most - least < len(mask) // 2 or number % 4 == 3
        self.options[kernels.N_SWAPS] = 2 if swaps else 0
        self.options[kernels.TENURE] = min(max(1, len(mask) // 6), int(rng.choice(self.settings.tenures)))
        self.options[kernels.BY_WORTH] = self.mode == 1 and number % 2 == 0

    @property
    def n_steps(self) -> int:
        """Steps of all walks."""
        return int(self.scalars[kernels.STEP])

    def walk(self, n_steps: int) -> bool:
        """Make steps, and return whether the walk stalled before the last of them."""
        done = kernels.walk(
            n_steps, self.votes, self.columns, self.gains, self.costs, self.credit, self.table, self.options,
            self.member, self.tally, self.levels, self.sums, self.tabu, self.scalars, self.state, self.near,
            self.deep, self.ratings, self.choices, self.best,
        )  # fmt: skip
        return bool(done < n_steps)

    def report(self, votes: Votes, weights: Weights, seconds: float) -> FoundSelection:
        """Return the best selection so far, worth what the kernels kept."""
        scalars = self.scalars
        return FoundSelection(
            mask=self.best[0].astype(bool),
            threshold=int(scalars[kernels.BEST_THRESHOLD]),
            total=int(scalars[kernels.BEST_TOTAL])
            + weights.fn * votes.n_positive
            + weights.tn * votes.n_negative,
            utility=int(scalars[kernels.BEST_WORTH]) if self.mode else None,
            steps=self.n_steps,
            seconds=seconds,
        )

    def best_key(self) -> tuple[int, ...]:
        """Return what the best selection so far is worth, nothing when there is none."""
        if not self.scalars[kernels.KNOWN]:
            return ()
        return self._ordered(int(self.scalars[kernels.BEST_TOTAL]), int(self.scalars[kernels.BEST_WORTH]))

    def run_key(self) -> tuple[int, ...]:
        """Return the same of the walk."""
        if not self.scalars[kernels.RUN_KNOWN]:
            return ()
        return self._ordered(int(self.scalars[kernels.RUN_TOTAL]), int(self.scalars[kernels.RUN_WORTH]))

    def _ordered(self, total: int, worth: int) -> tuple[int, int]:
        return (worth, total) if self.mode == 2 else (total, worth)


class _Elites:
    """The best ends of walks, and new selections bred from them."""

    def __init__(
        self, n_classifiers: int, limits: SelectionLimits, most: int, rng: np.random.Generator
    ) -> None:
        self.n, self.limits, self.most, self.rng = n_classifiers, limits, most, rng
        self.ends: list[tuple[tuple[int, ...], NDArray[np.uint8]]] = []

    def add(self, walker: _Walker) -> None:
        """Keep the best selection of a walk if it is new and among the best."""
        if walker.run_key() and not any(np.array_equal(walker.best[1], end) for _, end in self.ends):
            self.ends.append((walker.run_key(), walker.best[1].copy()))
            self.ends.sort(key=lambda end: end[0], reverse=True)
            del self.ends[self.most :]

    def next(self, start: Mask | None) -> NDArray[np.uint8]:
        """Return where the next walk begins: at a start if one is left."""
        rng, n = self.rng, self.n
        if start is not None:
            return self.within_size(start)
        mask = np.zeros(n, dtype=np.uint8)
        if len(self.ends) < self.most // 2 or rng.random() < 0.1:
            mask[rng.permutation(n)[: rng.integers(self.limits.min_size, self.limits.max_size + 1)]] = 1
        elif rng.random() < 0.5:
            one, other = (self.ends[i][1] for i in rng.permutation(len(self.ends))[:2])
            mask = np.where(rng.random(n) < 0.5, one, other)
        else:
            mask = self.ends[rng.integers(len(self.ends))][1].copy()
            mask[rng.permutation(n)[: max(2, int(n * rng.choice([0.05, 0.1, 0.2])))]] ^= 1
        return self.within_size(mask)

    def within_size(self, mask: NDArray[np.generic]) -> NDArray[np.uint8]:
        """Return a copy with members added or dropped by chance until the size is within its limits."""
        sized = mask.astype(np.uint8)
        size = int(sized.sum())
        for surplus, value in ((size - self.limits.max_size, 1), (self.limits.min_size - size, 0)):
            if surplus > 0:
                sized[self.rng.permutation(np.flatnonzero(sized == value))[:surplus]] = 1 - value
        return sized
