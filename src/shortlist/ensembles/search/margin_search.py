"""Search for selections whose plurality vote has good margins: tabu walks over flips and swaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale, utility_table
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.search import _margin_kernels as kernels
from shortlist.ensembles.votes.class_votes import ClassVotes, class_tally, leads
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class MarginTabuSettings:
    """How the walks of the search go.

    Parameters
    ----------
    patience : int
        Steps without a better selection after which a walk starts again elsewhere.
    n_swaps : int
        How many swaps are tried where no flip helps.
    tenure : int
        For how many steps a flip is not undone.
    shaken : float
        Part of the best selection's classifiers that are flipped for a new start.
    """

    patience: int = 60
    n_swaps: int = 3
    tenure: int = 6
    shaken: float = 0.1


@dataclass(frozen=True, eq=False)
class FoundMargins:
    """The best selection of a search.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_classifiers,)
        The members; they keep the limits.
    total, worth : int
        The gains of the rows that are right, and what the margins of all rows are worth.
    """

    mask: Mask
    total: int
    worth: int


def search_margins(
    votes: ClassVotes,
    weights: ClassWeights,
    limits: SelectionLimits,
    utility: MarginUtility,
    budget: Budget | None = None,
    *,
    starts: Sequence[Mask] = (),
    max_steps: int = 2_000,
    on_better: Callable[[FoundMargins], None] | None = None,
    settings: MarginTabuSettings | None = None,
) -> FoundMargins | None:
    """Search for a selection that keeps the limits and whose margins are worth much.

    A utility that leads is maximised itself, and the gains of right rows tell apart; otherwise the other way
    round. A step takes the best flip of one classifier that keeps the limits and has not just moved, better
    or not, and where none is better also looks at some swaps. A walk that stalls gives way to the next start,
    then to the best selection with some classifiers flipped.

    Parameters
    ----------
    votes : ClassVotes
        Merged rows.
    weights : ClassWeights
        What right decisions are worth.
    limits : SelectionLimits
        Size, cost and diversity.
    utility : MarginUtility
        What margins are worth.
    budget : Budget, optional
        Its seed is that of every draw, and its clock is looked at in every step; default no limit.
    starts : sequence of ndarray of bool, shape (n_classifiers,)
        Where to begin; those that keep the limits are never better than the answer. Without any the first
        walk begins at the full ensemble.
    max_steps : int
        Limit in moves: with it alone the answer depends on nothing but the arguments.
    on_better : callable, optional
        Receives better selections as they are found.
    settings : MarginTabuSettings, optional
        How the walks go.

    Returns
    -------
    FoundMargins or None
        None when no selection that keeps the limits was met, which proves nothing.

    Notes
    -----
    A step takes O(n_rows · (n_classes² + n_classifiers)) time, and each swap as much.
    """
    budget, settings = budget or Budget(), settings or MarginTabuSettings()
    rng = np.random.default_rng(budget.seed)
    walk = _Walk(votes, weights, limits, utility, settings)
    best: FoundMargins | None = None
    n_steps = n_walks = 0
    while n_steps < max_steps and not budget.stopped:
        full = np.ones(votes.n_classifiers, dtype=bool)
        at = starts[n_walks] if n_walks < len(starts) else full
        if n_walks >= max(1, len(starts)):
            at = (full if best is None else best.mask) ^ (rng.random(len(full)) < settings.shaken)
        n_walks += 1
        walk.go_to(_sized(at, limits, rng))
        idle, of_walk = 0, None
        while idle < settings.patience and n_steps < max_steps and not budget.stopped:
            here = walk.found()
            if here is not None and (of_walk is None or walk.key(here) > walk.key(of_walk)):
                of_walk, idle = here, 0
                if best is None or walk.key(here) > walk.key(best):
                    best = here
                    if on_better is not None:
                        on_better(best)
            n_steps += 1
            idle += 1
            if not walk.step(n_steps, rng):
                break
    return best


class _Walk:
    """Members, and the counts of their votes."""

    def __init__(
        self,
        votes: ClassVotes,
        weights: ClassWeights,
        limits: SelectionLimits,
        utility: MarginUtility,
        settings: MarginTabuSettings,
    ) -> None:
        n = votes.n_classifiers
        self.votes, self.limits, self.settings = votes, limits, settings
        self.gains, self.by_worth = weights.row_gains(votes), utility.leads
        scale = utility_scale(votes, weights)
        self.table = utility_table(utility, n, scale, by_plurality=True)
        self.every = np.arange(len(votes.labels))
        self.effects = np.zeros((2, 2, votes.n_classes), dtype=np.int64)
        self.changes = np.zeros((2, n), dtype=np.int64)
        self.blocked = np.zeros(n, dtype=np.int64)
        self.go_to(np.zeros(n, dtype=bool))

    def go_to(self, mask: Mask) -> None:
        """Begin a walk at a selection."""
        self.member = mask.astype(np.uint8)
        self.tally = class_tally(self.votes.codes[:, mask], self.votes.n_classes)
        self.blocked[:] = 0

    def key(self, found: FoundMargins) -> tuple[int, int]:
        """Return what selections are compared by."""
        return (found.worth, found.total) if self.by_worth else (found.total, found.worth)

    def found(self) -> FoundMargins | None:
        """Return the members as they are, None outside the limits."""
        mask = self.member.astype(bool)
        if not self.limits.satisfied_by(mask):
            return None
        ahead = leads(self.tally, self.votes.labels)
        worths = self.table[int(mask.sum()), len(self.table[0]) // 2 + 1 + ahead]
        return FoundMargins(mask, int(self.gains[ahead >= 0].sum()), int((self.gains * worths).sum()))

    def step(self, now: int, rng: np.random.Generator) -> bool:
        """Make a move, and return whether there was one."""
        choice = self._best_flip(now)
        moves: list[tuple[tuple[int, int], tuple[int, ...]]] = []
        if choice is not None:
            moves.append((choice[0], (choice[1],)))
        members = np.flatnonzero(self.member)
        for k in rng.permutation(members)[: self.settings.n_swaps].tolist():
            if self.blocked[k] > now:
                continue
            self._flip(k)
            other = self._best_flip(now, but=k)
            self._flip(k)
            if other is not None:
                moves.append((other[0], (k, other[1])))
        if not moves:
            return False
        for k in max(moves)[1]:
            self._flip(k)
            self.blocked[k] = now + self.settings.tenure
        return True

    def _best_flip(self, now: int, but: int = -1) -> tuple[tuple[int, int], int] | None:
        """Return the best flip within the limits that is not blocked, with what it leads to."""
        size = int(self.member.sum())
        tables = np.ascontiguousarray(self.table[[min(size + 1, len(self.member)), max(size - 1, 0)]])
        kernels.rate_margins(
            self.votes.codes, self.votes.labels, self.gains, self.member, self.tally, tables, self.effects,
            self.changes,
        )  # fmt: skip
        first, second = self.changes[::-1] if self.by_worth else self.changes
        for k in np.lexsort((-second, -first)).tolist():
            if k == but or self.blocked[k] > now:
                continue
            self.member[k] ^= 1
            allowed = self.limits.satisfied_by(self.member.astype(bool))
            self.member[k] ^= 1
            if allowed:
                return (int(first[k]), int(second[k])), k
        return None

    def _flip(self, k: int) -> None:
        """Let one classifier join or leave."""
        self.tally[self.every, self.votes.columns[k]] += -1 if self.member[k] else 1
        self.member[k] ^= 1


def _sized(mask: Mask, limits: SelectionLimits, rng: np.random.Generator) -> Mask:
    """Drop or add members at random until the size is within limits."""
    sized = np.array(mask, dtype=bool)
    for surplus, value in (
        (int(sized.sum()) - limits.max_size, True),
        (limits.min_size - int(sized.sum()), False),
    ):
        if surplus > 0:
            sized[rng.permutation(np.flatnonzero(sized == value))[:surplus]] = not value
    return sized
