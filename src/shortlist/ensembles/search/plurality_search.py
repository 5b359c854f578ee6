"""Search for good selections by plurality votes of several classes: tabu walks over flips and swaps."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.diversity import CREDIT_SLACK
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.orderings import RULES, order_classifiers
from shortlist.ensembles.search import _plurality_kernels as kernels
from shortlist.ensembles.search import _threshold_kernels as entries
from shortlist.ensembles.votes.class_votes import ClassVotes
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class PluralityTabuSettings:
    """How the walks of the search go.

    Parameters
    ----------
    patience : int
        Steps without a better selection after which a walk starts again elsewhere.
    n_swaps : int
        How many swaps are tried where no flip helps.
    tenure : int
        The least number of steps for which a flip is not undone.
    n_elites : int
        How many ends of walks are kept to breed new walks from; as many walks in a row that cannot move end
        the search.
    block_work : int
        Operations, roughly, between two looks at the clock.
    """

    patience: int = 600
    n_swaps: int = 3
    tenure: int = 6
    n_elites: int = 8
    block_work: int = 20_000_000


BACKFITTING_WORK = 10**9
"""Rows times squared classifiers beyond which backfitting would take too long to start from."""


@dataclass(frozen=True, eq=False)
class FoundMembers:
    """The best selection of a search.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_classifiers,)
        The members.
    total : int
        Their weighted sum, counted from the votes.
    steps : int
        Moves made until it was seen.
    seconds : float
        Time since the start of the search.
    """

    mask: Mask
    total: int
    steps: int
    seconds: float


def search_plurality(
    votes: ClassVotes,
    weights: ClassWeights,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    starts: Sequence[Mask] = (),
    max_steps: int = 20_000,
    target: int | None = None,
    on_better: Callable[[FoundMembers], None] | None = None,
    settings: PluralityTabuSettings | None = None,
) -> FoundMembers | None:
    """Search for members whose plurality vote is worth most.

    A walk flips the classifier that makes the total highest, even if it falls, and tries to swap one where no
    flip makes it higher; what moved stays for some steps. Sizes are kept all the time; cost and diversity may
    be missed at a penalty that rises while they are. A walk that stalls gives way to the next start, then to
    mixtures and variations of the best found.

    Parameters
    ----------
    votes : ClassVotes
        Merged rows.
    weights : ClassWeights
        What right decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity; sizes must not contradict each other.
    budget : Budget, optional
        Its seed is that of every draw, and its clock is looked at between blocks of steps; default no limit.
    starts : sequence of ndarray of bool, shape (n_classifiers,)
        Where to begin; other sizes are trimmed or filled at random.
    max_steps : int
        Limit that does not depend on the clock: the same seed and steps give the same answer.
    target : int, optional
        Weighted sum to be content with.
    on_better : callable, optional
        Receives each better selection, between blocks of steps.
    settings : PluralityTabuSettings, optional
        How the walks go.

    Returns
    -------
    FoundMembers or None
        None when no selection within the limits was met.

    Notes
    -----
    A step takes O(n_rows + n_near · n_classifiers) time, n_near the rows that one vote can change. Kernels
    release the interpreter's lock.
    """
    budget, settings = budget or Budget(), settings or PluralityTabuSettings()
    begin = budget.elapsed
    walk = _Walk(votes, weights, limits, settings=settings, seed=budget.seed)
    rng = np.random.default_rng(budget.seed)
    elites: list[tuple[int, Mask]] = []
    best: FoundMembers | None = None
    steps = run = 0
    idle = 0

    def ended() -> bool:
        content = target is not None and best is not None and best.total >= target
        return steps >= max_steps or content or budget.stopped

    while idle < settings.n_elites and not ended():
        few = len(elites) < settings.n_elites // 2
        begin_at = starts[run] if run < len(starts) else _restart(elites, few, votes.n_classifiers, rng)
        run += 1
        walk.go_to(_sized(begin_at, limits, rng))
        before = steps
        while True:
            todo = min(walk.block, max_steps - steps)
            done = walk.advance(todo)
            steps += done
            if walk.found is not None and (best is None or walk.best_total > best.total):
                best = FoundMembers(walk.found, walk.best_total, steps, budget.elapsed - begin)
                if on_better is not None:
                    on_better(best)
            if done < todo or ended():
                break
        idle = idle + 1 if steps == before else 0  # nothing can move: a pool of one, say
        _keep_elite(elites, settings.n_elites, walk)
    return best


def rule_selections(votes: ClassVotes, limits: SelectionLimits, budget: Budget) -> Iterator[Mask]:
    """Yield what the rules of pruning choose: every prefix of every ordering, and the subsets of backfitting.

    Only sizes within the limits; cost and diversity are the caller's to check. Ends early with the budget.

    Notes
    -----
    The rules stop between each other only. Backfitting is left out beyond :data:`BACKFITTING_WORK`.
    """
    n_classifiers = votes.n_classifiers
    least, most = max(1, limits.min_size), limits.max_size

    for rule in RULES:
        if budget.stopped:
            return
        order = order_classifiers(votes, rule).order
        for size in range(least, min(most, len(order)) + 1):
            yield _mask_of(order[:size], n_classifiers)
    if least <= most and not budget.stopped and len(votes.labels) * n_classifiers**2 <= BACKFITTING_WORK:
        for members in backfit(votes, sizes=range(least, most + 1)).members_by_size:
            yield _mask_of(members, n_classifiers)


class _Walk:
    """The state of a walk as its kernels want it, and the best selection within limits that it met."""

    def __init__(
        self,
        votes: ClassVotes,
        weights: ClassWeights,
        limits: SelectionLimits,
        *,
        settings: PluralityTabuSettings,
        seed: int,
    ) -> None:
        n_rows, n_classifiers = votes.codes.shape
        self.votes, self.gains = votes, weights.row_gains(votes)
        self.block = max(1, settings.block_work // (n_rows * (n_classifiers // 4 + 30)))
        diversity = limits.diversity
        self.costs = np.zeros(1, dtype=np.int64) if limits.costs is None else limits.costs
        self.credit = np.zeros((1, 1), dtype=np.int64) if diversity is None else diversity.credit
        self.options = np.zeros(entries.PATIENCE + 1, dtype=np.int64)
        for place, value in {
            entries.MIN_SIZE: limits.min_size,
            entries.MAX_SIZE: limits.max_size,
            entries.BUDGET: limits.budget,
            entries.COST_UNIT: max(1, int(self.costs.sum()) // (len(self.costs) * entries.PART)),
            entries.EACH: 0 if diversity is None else diversity.each,
            entries.MEAN: 0 if diversity is None else diversity.mean,
            entries.SLACK: CREDIT_SLACK,
            entries.HAS_COSTS: limits.costs is not None,
            entries.HAS_CREDIT: diversity is not None,
            entries.N_SWAPS: settings.n_swaps,
            entries.TENURE: min(settings.tenure, max(1, n_classifiers // 6)),
            entries.PATIENCE: settings.patience,
        }.items():
            self.options[place] = value
        self.member = np.zeros(n_classifiers, dtype=np.uint8)
        self.best = np.zeros((2, n_classifiers), dtype=np.uint8)
        self.tally = np.zeros((n_rows, votes.n_classes), dtype=np.int32)
        self.leads = np.where(votes.labels == 0, 0, -1)
        self.sums = np.zeros(len(self.credit), dtype=np.int64)
        self.tabu = np.zeros(n_classifiers, dtype=np.int64)
        self.scalars = np.zeros(entries.STREAK + 1, dtype=np.int64)
        self.scalars[entries.TOTAL] = self.gains[votes.labels == 0].sum()
        self.scalars[entries.PENALTY] = max(1, int(self.gains.mean()) // 10)
        self.state = np.array([seed], dtype=np.uint64)
        self.effects = np.zeros((2, votes.n_classes), dtype=np.int64)
        self.changes = np.zeros(n_classifiers, dtype=np.int64)
        self.choices = np.zeros((2, 3), dtype=np.int64)

    @property
    def found(self) -> Mask | None:
        """The best selection within limits, if any was met."""
        return self.best[0].astype(bool) if self.scalars[entries.KNOWN] else None

    @property
    def best_total(self) -> int:
        """What `found` is worth."""
        return int(self.scalars[entries.BEST_TOTAL])

    @property
    def found_in_run(self) -> tuple[int, Mask] | None:
        """The best selection within limits since :meth:`go_to`, and before it what it is worth."""
        if not self.scalars[entries.RUN_KNOWN]:
            return None
        return int(self.scalars[entries.RUN_TOTAL]), self.best[1].astype(bool)

    def flip(self, k: int) -> None:
        """Let classifier k join or leave."""
        kernels.flip(
            k,
            self.votes.columns,
            self.votes.labels,
            self.gains,
            self.costs,
            self.credit,
            self.options,
            self.member,
            self.tally,
            self.leads,
            self.sums,
            self.scalars,
        )

    def go_to(self, mask: Mask) -> None:
        """Make `mask` the members and begin a new run."""
        for k in np.flatnonzero(self.member != mask):
            self.flip(int(k))
        scalars = self.scalars
        scalars[entries.MISSED] = entries.missed_after(
            entries.NONE, self.costs, self.credit, self.options, self.member, self.sums, scalars
        )
        scalars[entries.RUN_KNOWN] = 0
        kernels.note_members(self.member, self.best, scalars)
        scalars[entries.STALLED] = 0
        self.tabu[:] = 0

    def advance(self, n_steps: int) -> int:
        """Make up to `n_steps` moves and return how many."""
        return kernels.walk(
            n_steps,
            self.votes.codes,
            self.votes.columns,
            self.votes.labels,
            self.gains,
            self.costs,
            self.credit,
            self.options,
            self.member,
            self.tally,
            self.leads,
            self.sums,
            self.tabu,
            self.scalars,
            self.state,
            self.effects,
            self.changes,
            self.choices,
            self.best,
        )


def _restart(elites: list[tuple[int, Mask]], few: bool, n_classifiers: int, rng: np.random.Generator) -> Mask:
    """Return a random selection, or, with enough elites, a mixture of two or one with some flips."""
    if few or rng.random() < 0.1:
        return np.asarray(rng.random(n_classifiers) < rng.random())
    if rng.random() < 0.5:
        first, second = (elites[place][1] for place in rng.permutation(len(elites))[:2])
        return np.asarray(np.where(rng.random(n_classifiers) < 0.5, first, second), dtype=bool)
    mask = elites[rng.integers(len(elites))][1].copy()
    share = rng.choice([0.05, 0.1, 0.2])
    mask[rng.permutation(n_classifiers)[: max(2, int(n_classifiers * share))]] ^= True
    return mask


def _sized(mask: Mask, limits: SelectionLimits, rng: np.random.Generator) -> Mask:
    """Drop or add members at random until the size is within limits."""
    sized = np.array(mask, dtype=bool)
    size = int(sized.sum())
    if size > limits.max_size:
        sized[rng.permutation(np.flatnonzero(sized))[: size - limits.max_size]] = False
    elif size < limits.min_size:
        sized[rng.permutation(np.flatnonzero(~sized))[: limits.min_size - size]] = True
    return sized


def _keep_elite(elites: list[tuple[int, Mask]], most: int, walk: _Walk) -> None:
    """Put the best of a run among the elites, of which there are so many at most, if it is new."""
    found = walk.found_in_run
    if found is not None and not any((found[1] == other).all() for _, other in elites):
        elites.append(found)
        elites.sort(key=lambda elite: -elite[0])
        del elites[most:]


def _mask_of(members: NDArray[np.intp], n_classifiers: int) -> Mask:
    """Return indices as a mask."""
    mask = np.zeros(n_classifiers, dtype=bool)
    mask[members] = True
    return mask
