"""Search for good selections, with two classes or several, by tabu walks over flips and swaps."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_seed
from shortlist.arrays import Longs, Mask, Shorts
from shortlist.ensembles.goals.diversity import CREDIT_SLACK
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.pruning import _tabu_kernels as kernels
from shortlist.ensembles.pruning._tabu_kernels import WINDOW, SearchLimits, SearchRoom, SearchRows, SearchWalk
from shortlist.ensembles.pruning.search_starts import rule_starts
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, confusion, no_votes
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows for the kernels, with the state without members, and the unit of totals."""

    rows: SearchRows
    """Rows with a gain other than 0."""
    tally: Shorts
    levels: Longs
    leads: Longs
    """Tally and leads of :class:`SearchWalk` without members."""
    total: int
    """Total of a selection without members."""
    offset: int
    """Number to add to a kernel's total to get the weighted sum."""
    usual: int
    """Gain of a usual row, as a part of the weighted sum."""

    @property
    def n_rating(self) -> tuple[int, int]:
        """Numbers of rows and columns of the buffer in which gains are summed to rate flips."""
        if len(self.rows.labels):
            return 2, int(self.tally.shape[1])
        return 2 * WINDOW + 2, len(self.rows.columns)


def counted_rows(votes: Votes | ClassVotes, weights: Any) -> CountedRows:
    """Return the rows with a gain, in the form that kernels take, with the state without members."""
    gains = weights.signed_gains(votes) if isinstance(votes, Votes) else weights.row_gains(votes)
    matter = gains != 0
    table = votes.votes if isinstance(votes, Votes) else votes.codes
    matrix, gains = np.require(table[matter], np.uint8, ["C", "W"]), gains[matter].astype(np.int64)
    labels, columns = votes.labels[matter], np.ascontiguousarray(matrix.T)
    usual = int(np.abs(gains).sum()) // max(1, len(gains))
    if isinstance(votes, Votes):
        levels = np.zeros((2, votes.n_classifiers + 3), dtype=np.int64)
        levels[:, 0] = gains[gains > 0].sum(), -gains[gains < 0].sum()
        return CountedRows(
            rows=SearchRows(matrix, columns, np.zeros(0, dtype=np.uint8), gains),
            tally=np.zeros((1, len(gains)), dtype=np.int32),
            levels=levels,
            leads=np.zeros(0, dtype=np.int64),
            total=0,
            offset=weights.all_negative(votes),
            usual=usual,
        )
    right = (labels == 0) & votes.all_vote  # without members
    return CountedRows(
        rows=SearchRows(matrix, columns, np.require(labels, np.uint8, ["C", "W"]), gains),
        tally=no_votes(votes)[matter],
        levels=np.zeros((0, 0), dtype=np.int64),
        leads=np.where(right, 0, -1),
        total=int(gains[right].sum()),
        offset=0,
        usual=usual,
    )


class Elites:
    """Best selections at the ends of walks, from which starts of new walks are made."""

    def __init__(
        self, n_classifiers: int, limits: SelectionLimits, most: int, rng: np.random.Generator
    ) -> None:
        self.n, self.limits, self.most, self.rng = n_classifiers, limits, most, rng
        self.ends: list[tuple[int, NDArray[np.uint8]]] = []

    def add(self, total: int | None, members: NDArray[np.uint8]) -> None:
        """Keep the best selection of a walk if it is new and its `total` is among the largest."""
        if total is not None and not any(np.array_equal(members, end) for _, end in self.ends):
            self.ends.append((total, members.copy()))
            self.ends.sort(key=lambda end: end[0], reverse=True)
            del self.ends[self.most :]

    def next(self, start: Mask | None) -> NDArray[np.uint8]:
        """Return the start of the next walk: `start` if it is given, else a new start."""
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
        """Return a copy with members added or dropped at random until the size is within the limits."""
        sized = mask.astype(np.uint8)
        size = int(sized.sum())
        for surplus, value in ((size - self.limits.max_size, 1), (self.limits.min_size - size, 0)):
            if surplus > 0:
                sized[self.rng.permutation(np.flatnonzero(sized == value))[:surplus]] = 1 - value
        return sized


USUAL_CLASSES = 10
"""Usual number of classes. With more than twice this number, a step takes proportionally longer, as it
compares rivals of each class.
"""


@dataclass(frozen=True, kw_only=True)
class TabuSettings:
    """Settings of the walks."""

    tenures: tuple[int, ...] = (2, 2, 3, 6)
    """Least numbers of steps for which a moved classifier may not move again; one number is drawn for every
    walk, and up to the same number is added at random for each move.
    """
    patience: int = 250
    """Number of steps without a better selection after which a walk ends."""
    n_elites: int = 8
    """Number of selections at the ends of walks that are kept, to make starts of new walks."""
    work: int = 4_000_000
    """Number of votes read between two checks of the clock, and largest number read in one step; it takes
    some milliseconds.
    """
    fewest_tried: int = 32
    """Least number of flips that a step tries, whatever the number of votes."""
    target: int | None = None
    """Weighted sum at which the search ends; None: the search does not end at any sum."""


@dataclass(frozen=True, eq=False)
class FoundSelection:
    """Best selection of a search."""

    mask: Mask
    """Mask of the members, ``(n_classifiers,)``; the selection keeps the limits."""
    threshold: int
    """Threshold L: a row is positive if more than L members vote so; 0 if the class with most votes wins."""
    total: int
    """Weighted sum; in the final result it is counted again from the votes."""
    steps: int
    """Number of moves made before the selection was found."""


def search_selection(
    votes: Votes | ClassVotes,
    weights: Weights | ClassWeights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    starts: Sequence[Mask] | None = None,
    max_steps: int = 20_000,
    on_better: Callable[[FoundSelection], object] | None = None,
    settings: TabuSettings | None = None,
) -> FoundSelection | None:
    """Search for a selection that keeps the limits and whose weighted sum is large.

    The method is tabu walks (:cite:t:`Glover1989`) over selections. A step makes the best flip of one
    classifier that has not just moved, even if the value falls. Swaps are tried too if the size is at its
    limit, or if there are limits on cost or diversity. With two classes every selection has its best
    threshold; with several classes the class with most votes wins. A walk may pass through selections outside
    the limits on cost or diversity, at a price that rises outside the limits and falls within (strategic
    oscillation); such selections are never returned. A walk ends after some steps without a better selection.
    The next walk begins at a given start, at a random selection, or at a mixture or a changed copy of good
    ends of walks. Raises BadInputError if a number is out of range.

    A step takes O(n_near · n_classifiers) time, where n_near is the number of rows within three votes of the
    threshold; if a step would read more than four million votes, flips are sampled. Memory is at most 6 bytes
    per vote beside the votes. The kernels release the interpreter's lock, so the search may run in a thread
    beside a solver.

    `votes`: validation rows of two classes, or of several. `weights`: weights of decisions, of any sign; with
    several classes, gains of right decisions. `budget`: its seed is used for all draws, and its clock is
    checked every few milliseconds; default no limit. `starts`: starts of the first walks, by default those of
    :func:`rule_starts`; the result is at least as good as each start within the limits. With an empty
    sequence, walks start at random. `max_steps`: limit in moves; with this limit alone the result is
    reproducible. `on_better`: receives better selections, a few milliseconds after they are found.

    Returns None if no selection within the limits was found; this does not prove that there is none.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
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
    if limits.conflict():
        return None
    if starts is None:
        starts = [mask for _, mask in rule_starts(votes, weights, limits, budget)]
    walker = _Walker(counted_rows(votes, weights), limits, settings=settings, seed=budget.seed)
    rng = np.random.default_rng(budget.seed)
    elites = Elites(votes.n_classifiers, limits, settings.n_elites, rng)
    last = walker.best

    for start in starts:
        if walker.best is None or not budget.stopped:
            walker.go_to(elites.within_size(start))
    for _ in _blocks(walker, starts, elites, max_steps, rng):
        best = walker.best
        if on_better is not None and best is not None and best != last:
            last = best
            on_better(walker.report())
        if budget.stopped or (settings.target is not None and best is not None and best >= settings.target):
            break
    if walker.best is None:
        return None
    found, worth = walker.report(), cast("Any", weights)  # weights are of the votes
    if isinstance(votes, Votes):
        total = worth.total(confusion(votes, found.mask, found.threshold))
    else:
        total = worth.total(votes, found.mask)
    return dataclasses.replace(found, total=total)


def _blocks(
    walker: "_Walker", starts: Sequence[Mask], elites: Elites, max_steps: int, rng: np.random.Generator
) -> Iterator[None]:
    """Make walk after walk; yield before the first step, and then after every block of some milliseconds."""
    n_walks = 0
    yield
    while walker.n_steps < max_steps:
        walker.begin_walk(elites.next(starts[n_walks] if n_walks < len(starts) else None), n_walks, rng)
        n_walks += 1
        stalled = False
        while not stalled and walker.n_steps < max_steps:
            stalled = walker.walk(min(walker.block, max_steps - walker.n_steps))
            yield
        elites.add(int(walker.here.run_total) if walker.here.run_known else None, walker.state.best[1])


class _Walker:
    def __init__(
        self, counted: CountedRows, limits: SelectionLimits, *, settings: TabuSettings, seed: int
    ) -> None:
        self.settings, self.counted, self.rows = settings, counted, counted.rows
        n, n_rows = len(self.rows.columns), len(self.rows.gains)
        self.limits = _limit_arrays(limits)
        self.options = self.limits.options[0]
        self.options.n_tried = min(n, max(settings.fewest_tried, settings.work // max(1, n_rows)))
        self.options.patience = settings.patience
        self.limited = bool(self.options.has_costs or self.options.has_credit)
        places = np.zeros(1, dtype=kernels.HERE)
        self.here = places[0]
        self.here.penalty = max(1, counted.usual // 10)
        self.here.total = counted.total
        self.state = SearchWalk(
            member=np.zeros(n, dtype=np.uint8),
            tally=counted.tally,
            levels=counted.levels,
            leads=counted.leads,
            sums=np.zeros(len(self.limits.credit), dtype=np.int64),
            tabu=np.zeros(n, dtype=np.int64),
            here=places,
            draws=np.array([seed % 2**64], dtype=np.uint64),
            best=np.zeros((2, n), dtype=np.uint8),
        )
        self.room = SearchRoom(
            near=np.zeros(counted.n_rating, dtype=np.int64),
            ratings=np.zeros((5, n), dtype=np.int64),
            choices=np.zeros(2, dtype=kernels.CHOICE),
        )
        n_classes = counted.tally.shape[1] if len(self.rows.labels) else 2
        read = self.rows.votes.size * max(1, n_classes // USUAL_CLASSES)  # a step looks for rivals too
        self.block = max(1, settings.work // max(1, read))
        kernels.settle(self.rows, self.limits, self.state)

    def go_to(self, mask: NDArray[np.uint8]) -> None:
        kernels.go_to(mask, self.rows, self.limits, self.state)

    def flip(self, k: int) -> None:
        kernels.flip(k, self.rows, self.limits, self.state)

    def begin_walk(self, mask: NDArray[np.uint8], number: int, rng: np.random.Generator) -> None:
        self.go_to(mask)
        least, most = self.options.min_size, self.options.max_size
        swaps = self.limited or most - least < len(mask) // 2 or number % 4 == 3
        self.options.n_swaps = 2 if swaps else 0
        self.options.tenure = min(max(1, len(mask) // 6), int(rng.choice(self.settings.tenures)))

    @property
    def n_steps(self) -> int:
        return int(self.here.step)

    def walk(self, n_steps: int) -> bool:
        done = kernels.walk_selections(n_steps, self.rows, self.limits, self.state, self.room)
        return bool(done < n_steps)

    @property
    def best(self) -> int | None:
        """Best weighted sum so far; None without a selection."""
        return int(self.here.best_total) + self.counted.offset if self.here.known else None

    def report(self) -> FoundSelection:
        assert self.best is not None, "there is a selection"
        mask, threshold = self.state.best[0].astype(bool), int(self.here.best_threshold)
        return FoundSelection(mask, threshold, self.best, self.n_steps)


def _limit_arrays(limits: SelectionLimits) -> SearchLimits:
    diversity = limits.diversity
    costs = np.zeros(1, dtype=np.int64) if limits.costs is None else limits.costs.copy()
    credit = np.zeros((1, 1), dtype=np.int64)
    records = np.zeros(1, dtype=kernels.OPTIONS)
    options = records[0]
    options.min_size, options.max_size = limits.min_size, limits.max_size
    options.has_costs, options.budget = limits.costs is not None, limits.budget
    options.cost_unit = max(1, int(costs.sum()) // (len(costs) * kernels.PART))
    if diversity is not None:
        credit = np.require(diversity.credit.copy(), np.int64, ["C", "W"])
        options.has_credit, options.slack = 1, CREDIT_SLACK
        options.each_credit, options.mean_credit = diversity.each, diversity.mean
    return SearchLimits(records, costs, credit)
