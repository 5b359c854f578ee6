"""Walkers over all stage assignments: what one thread keeps of those that it has seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.problem.stages import completions
from shortlist.multistage.search._enumeration import (
    PLACE,
    UNSEEN,
    ArchivePath,
    Outcomes,
    Path,
    Space,
    TableRules,
    walk_table,
)
from shortlist.multistage.search._evaluation import CONCLUSIVE, COST, CREDIT, N_MEASURES
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, StageProblem

if TYPE_CHECKING:
    from shortlist.multistage.search._archive_walk import WalkArchive


@dataclass(frozen=True)
class WalkSettings:
    """How a walk keeps what it finds; its answer does not depend on them."""

    table_rows: int = 2000
    """Up to this number of validation rows what is found is kept in a table, the least cost of every pair
    (conclusive, right); beyond it in an archive.
    """
    words: int = 2_000_000
    """Words of rows that are read between two looks at the clock: some hundredths of a second."""


USUAL_WALK = WalkSettings()

ARCHIVED = 8192
"""Most outcomes beside that table by which nodes are left out."""

ARCHIVE_ROOM = 4096
"""Outcomes that an archive has room for at first."""


@dataclass(frozen=True, eq=False)
class FoundAssignments:
    """Outcomes, how many assignments tie for each, and the chain of one."""

    measures: NDArray[np.int64]
    ties: NDArray[np.int64]
    chains: NDArray[np.int64]


class Walker(Protocol):
    """Holds what one thread finds; `fresh` makes one for another thread."""

    problem: StageProblem

    def fresh(self) -> "Walker":
        """Return one for another thread, with nothing found yet."""

    @property
    def looked(self) -> int:
        """How many assignments were looked at since the beginning."""

    def begin(self, firsts: NDArray[np.int64]) -> None:
        """Begin to look at all assignments that begin with one of `firsts`."""

    def resume(self, firsts: NDArray[np.int64]) -> None:
        """Go on with these where the state says."""

    def walk_on(self) -> bool:
        """Look at some more, for some hundredths of a second; return whether these were the last."""

    def found(self) -> FoundAssignments:
        """Return what was kept."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that later walks depend on, for `restore` of a walker of the same problem."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""


PathT = TypeVar("PathT", Path, ArchivePath)


class _Walk(Generic[PathT]):
    """Where a walker is, and how many rows it reads at once."""

    _path: PathT

    def __init__(
        self,
        problem: StageProblem,
        space: Space,
        max_stages: int,
        seeds: NDArray[np.int64],
        *,
        bounds: bool,
        words: int = USUAL_WALK.words,
    ) -> None:
        self.problem, self.space, self.max_stages, self._seeds = problem, space, max_stages, seeds
        self._bounds, self._words = bounds, words
        self._firsts = np.zeros(0, dtype=np.int64)
        self._block = max(1, words // len(problem.everyone))
        self._depths = max_stages + 2
        self._begin()

    def _begin(self) -> None:
        raise NotImplementedError

    def _waiting(self) -> NDArray[np.uint64]:
        """Return which rows wait at each depth: at the first everybody."""
        waiting = np.zeros((self._depths, len(self.problem.everyone)), dtype=np.uint64)
        waiting[0] = self.problem.everyone
        return waiting

    def fresh(self) -> Self:
        """Return one for another thread, with nothing found yet."""
        return type(self)(
            self.problem, self.space, self.max_stages, self._seeds, bounds=self._bounds, words=self._words
        )

    @property
    def looked(self) -> int:
        """How many assignments were looked at since the beginning."""
        return int(self._path.at[0].looked)

    def begin(self, firsts: NDArray[np.int64]) -> None:
        """Begin to look at all assignments that begin with one of `firsts`."""
        self._path.at[:] = 0
        self.resume(firsts)

    def resume(self, firsts: NDArray[np.int64]) -> None:
        """Go on with these where the state says."""
        self._firsts = firsts

    def _place(self) -> dict[str, NDArray[Any]]:
        return {f"path {name}": array for name, array in self._path._asdict().items()}

    def _return_to(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        for name, array in self._path._asdict().items():
            if f"path {name}" in state:
                array[:] = state[f"path {name}"]


class TableWalker(_Walk[Path]):
    """Keeps the least cost of every pair (conclusive, right); for the paper's three objectives."""

    def _begin(self) -> None:
        problem, seeds, max_stages = self.problem, self._seeds, self.max_stages
        n_pairs = (problem.n_rows + 1) * (problem.n_rows + 2) // 2
        archive = np.zeros((ARCHIVED, 3), dtype=np.int64)
        size = min(len(seeds), ARCHIVED)
        archive[:size] = seeds[:size, [CONCLUSIVE, CREDIT, COST]]
        self._outcomes = Outcomes(
            best=np.full(n_pairs, UNSEEN, dtype=np.int64),
            ties=np.zeros(n_pairs, dtype=np.int64),
            witnesses=np.zeros((n_pairs, max(1, max_stages - 1)), dtype=np.int32),
            archive=archive,
            size=np.array([size], dtype=np.int64),
        )
        chain, added, n_waiting, right, cost = np.zeros((5, self._depths), dtype=np.int64)
        n_waiting[0] = problem.n_rows
        self._path = Path(chain, added, self._waiting(), n_waiting, right, cost, np.zeros(1, dtype=PLACE))
        n_items = len(self.space.prices).bit_length() - 1
        self._rules = TableRules(completions(n_items, max_stages), max_stages, self._bounds)

    def walk_on(self) -> bool:
        """Look at some more; return whether these were the last."""
        walk_table(self._firsts, self.space, self._rules, self._path, self._outcomes, self._block)
        return bool(self._path.at[0].first == len(self._firsts))

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        outcomes = self._outcomes
        pairs = np.flatnonzero(outcomes.ties)
        conclusive = (np.sqrt(8.0 * pairs + 1) - 1).astype(np.int64) // 2
        conclusive -= conclusive * (conclusive + 1) // 2 > pairs
        conclusive += (conclusive + 1) * (conclusive + 2) // 2 <= pairs
        measures = np.zeros((len(pairs), N_MEASURES), dtype=np.int64)
        measures[:, CONCLUSIVE] = conclusive
        measures[:, CREDIT] = pairs - conclusive * (conclusive + 1) // 2
        measures[:, COST] = outcomes.best[pairs]
        return FoundAssignments(measures, outcomes.ties[pairs], outcomes.witnesses[pairs].astype(np.int64))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that later walks depend on."""
        outcomes = self._outcomes
        pairs = np.flatnonzero((outcomes.best != UNSEEN) | (outcomes.ties != 0))
        return {
            "pairs": pairs, "best": outcomes.best[pairs], "ties": outcomes.ties[pairs],
            "witnesses": outcomes.witnesses[pairs].astype(np.int64),
            "archive": outcomes.archive[: outcomes.size[0]], **self._place(),
        }  # fmt: skip

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        outcomes, pairs, archive = self._outcomes, state["pairs"], state["archive"]
        outcomes.best[pairs], outcomes.ties[pairs] = state["best"], state["ties"]
        outcomes.witnesses[pairs] = state["witnesses"]
        outcomes.archive[: len(archive)] = archive
        outcomes.size[0] = len(archive)
        self._return_to(state)


class ArchiveWalker(_Walk[ArchivePath]):
    """Keeps the non-dominated outcomes; for any objectives, any number of rows, and removal."""

    def _begin(self) -> None:
        problem, seeds = self.problem, self._seeds
        self.uses = np.zeros(problem.n_measures, dtype=np.int64)
        self.uses[[problem.places[name] for name in problem.names]] = 1
        chain, added = np.zeros((2, self._depths), dtype=np.int64)
        measures = np.zeros((self._depths, problem.n_measures), dtype=np.int64)
        self._path = ArchivePath(chain, added, self._waiting(), measures, np.zeros(1, dtype=PLACE))
        self._archive = self._room(max(ARCHIVE_ROOM, 2 * len(seeds)))
        self._archive.measures[: len(seeds)] = seeds
        self._archive.size[0] = len(seeds)

    def _room(self, size: int) -> "WalkArchive":
        from shortlist.multistage.search._archive_walk import WalkArchive

        return WalkArchive(
            measures=np.zeros((size, self.problem.n_measures), dtype=np.int64),
            ties=np.zeros(size, dtype=np.int64),
            chains=np.zeros((size, max(1, self.max_stages)), dtype=np.int64),
            size=np.zeros(1, dtype=np.int64),
        )

    def walk_on(self) -> bool:
        """Look at some more; return whether these were the last."""
        # seconds to compile at first, and the paper's objectives never need it
        from shortlist.multistage.search._archive_walk import ADDED_AT_ONCE, Rules, WalkArchive, walk_archive

        problem, old = self.problem, self._archive
        if old.size[0] + ADDED_AT_ONCE > len(old.measures):
            self._archive = self._room(2 * len(old.measures) + ADDED_AT_ONCE)
            for name in WalkArchive._fields:
                part = getattr(old, name)
                getattr(self._archive, name)[: len(part)] = part
        rules = Rules(self.uses, self.max_stages, problem.removal, self._bounds)
        walk_archive(self._firsts, self.space, problem.scoring, rules, self._path, self._archive, self._block)
        return bool(self._path.at[0].first == len(self._firsts))

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        measures, ties, chains, size = self._archive
        counted = np.flatnonzero(ties[: size[0]])
        return FoundAssignments(measures[counted], ties[counted], chains[counted])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that later walks depend on."""
        archive = self._archive
        used = {name: getattr(archive, name)[: archive.size[0]] for name in ("measures", "ties", "chains")}
        return {**used, "size": archive.size, **self._place()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        n_found = len(state["measures"])
        self._archive = self._room(max(len(self._archive.measures), n_found))
        for name in ("measures", "ties", "chains"):
            getattr(self._archive, name)[:n_found] = state[name]
        self._archive.size[0] = n_found
        self._return_to(state)


def make_walker(
    problem: StageProblem,
    space: Space,
    max_stages: int,
    seeds: NDArray[np.int64],
    *,
    bounds: bool,
    walk: WalkSettings = USUAL_WALK,
) -> Walker:
    """Choose how to keep what is found."""
    # the table counts right answers, which are the credit only where a wrong answer costs all of a right
    # one's
    counts = problem.unit == 1 and (problem.penalties == 1).all()
    plain = problem.names == DEFAULT_OBJECTIVES and not problem.removal and counts
    kind = TableWalker if plain and problem.n_rows <= walk.table_rows else ArchiveWalker
    return kind(problem, space, max_stages, seeds, bounds=bounds, words=walk.words)
