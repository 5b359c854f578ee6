"""Walkers over all stage assignments: what one thread keeps of those that it has seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.problem.stages import completions
from shortlist.multistage.search._enumeration import UNSEEN, Outcomes, Path, walk_table
from shortlist.multistage.search._evaluation import CONCLUSIVE, COST, CREDIT, N_MEASURES
from shortlist.multistage.search._walk_arrays import Blocks, Space
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, OBJECTIVES, StageProblem

if TYPE_CHECKING:
    from shortlist.multistage.search._archive_walk import Archive

TABLE_ROWS = 2000
"""Up to this many validation rows, the least cost of every (conclusive, right) pair is kept in a table."""

ARCHIVED = 8192
"""Most outcomes beside that table by which nodes are left out."""


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

    def walk(self, firsts: NDArray[np.int64]) -> int:
        """Look at all assignments that begin with one of `firsts`; return how many."""

    def found(self) -> FoundAssignments:
        """Return what was kept."""

    def state(self) -> dict[str, NDArray[np.int64]]:
        """Return all that later walks depend on, for `restore` of a walker of the same problem."""

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Go on from a state."""

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64], blocks: Blocks
    ) -> None:
        """Write the blocks of assignments that tie at a point."""


_NO_BLOCKS = Blocks(np.zeros((0, 0), dtype=np.int64), np.zeros(1, dtype=np.int64))


class TableWalker:
    """Keeps the least cost of every pair (conclusive, right); for the paper's three objectives."""

    def __init__(
        self, problem: StageProblem, space: Space, max_stages: int, seeds: NDArray[np.int64], *, bounds: bool
    ) -> None:
        self._arguments = (problem, space, max_stages, seeds)
        self._bounds = bounds
        self.problem, self.space, self.max_stages = problem, space, max_stages
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

    def fresh(self) -> "TableWalker":
        """Return one for another thread, with nothing found yet."""
        return TableWalker(*self._arguments, bounds=self._bounds)

    def walk(self, firsts: NDArray[np.int64], blocks: Blocks = _NO_BLOCKS) -> int:
        """Look at all assignments that begin with one of `firsts`; return how many."""
        depths = self.max_stages + 2
        waiting = np.zeros((depths, len(self.problem.everyone)), dtype=np.uint64)
        waiting[0] = self.problem.everyone
        chain, added, n_waiting, right, cost = np.zeros((5, depths), dtype=np.int64)
        n_waiting[0] = self.problem.n_rows
        path = Path(chain, added, waiting, n_waiting, right, cost)
        ways = completions(self.problem.n_features, self.max_stages)
        return walk_table(
            firsts, self.space, self.max_stages, ways, self._bounds, path, self._outcomes, blocks
        )

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

    def state(self) -> dict[str, NDArray[np.int64]]:
        """Return all that later walks depend on."""
        outcomes = self._outcomes
        pairs = np.flatnonzero((outcomes.best != UNSEEN) | (outcomes.ties != 0))
        return {
            "pairs": pairs, "best": outcomes.best[pairs], "ties": outcomes.ties[pairs],
            "witnesses": outcomes.witnesses[pairs].astype(np.int64),
            "archive": outcomes.archive[: outcomes.size[0]],
        }  # fmt: skip

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Go on from a state."""
        outcomes, pairs, archive = self._outcomes, state["pairs"], state["archive"]
        outcomes.best[pairs], outcomes.ties[pairs] = state["best"], state["ties"]
        outcomes.witnesses[pairs] = state["witnesses"]
        outcomes.archive[: len(archive)] = archive
        outcomes.size[0] = len(archive)

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64], blocks: Blocks
    ) -> None:
        """Write the blocks of assignments that tie at a point."""
        best = self._outcomes.best
        best[:] = -1
        conclusive, right, cost = measures[point, [CONCLUSIVE, CREDIT, COST]]
        best[conclusive * (conclusive + 1) // 2 + right] = cost
        self.walk(firsts, blocks)


class ArchiveWalker:
    """Keeps the non-dominated outcomes; for any objectives, any number of rows, and removal."""

    def __init__(
        self, problem: StageProblem, space: Space, max_stages: int, seeds: NDArray[np.int64], *, bounds: bool
    ) -> None:
        self._arguments = (problem, space, max_stages, seeds)
        self._bounds = bounds
        self.problem, self.space, self.max_stages = problem, space, max_stages
        self.uses = np.zeros(N_MEASURES, dtype=np.int64)
        self.uses[[OBJECTIVES[name] for name in problem.names]] = 1
        self._archive = self._room(max(4096, 2 * len(seeds)))
        self._archive.measures[: len(seeds)] = seeds
        self._archive.size[0] = len(seeds)

    def _room(self, size: int) -> "Archive":
        from shortlist.multistage.search._archive_walk import Archive

        return Archive(
            measures=np.zeros((size, N_MEASURES), dtype=np.int64),
            ties=np.zeros(size, dtype=np.int64),
            chains=np.zeros((size, max(1, self.max_stages)), dtype=np.int64),
            size=np.zeros(2, dtype=np.int64),
        )

    def fresh(self) -> "ArchiveWalker":
        """Return one for another thread, with nothing found yet."""
        return ArchiveWalker(*self._arguments, bounds=self._bounds)

    def walk(self, firsts: NDArray[np.int64], blocks: Blocks = _NO_BLOCKS) -> int:
        """Look at all assignments that begin with one of `firsts`; return how many."""
        looked = 0
        for first in firsts:
            before = [part.copy() for part in self._archive]
            visited = self._walk_one(np.array([first]), blocks)
            while visited < 0:  # the archive was full: take back what this task did, with twice the room
                self._archive = self._room(2 * len(before[0]))
                for part, old in zip(self._archive, before, strict=True):
                    part[: len(old)] = old
                visited = self._walk_one(np.array([first]), blocks)
            looked += visited
        return looked

    def _walk_one(self, firsts: NDArray[np.int64], blocks: Blocks) -> int:
        # seconds to compile at first, and the paper's objectives never need it
        from shortlist.multistage.search._archive_walk import Rules, walk_archive

        problem = self.problem
        rules = Rules(self.uses, self.max_stages, problem.removal, self._bounds)
        return walk_archive(
            firsts, self.space, problem.everyone, problem.scoring, rules, self._archive, blocks
        )

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        measures, ties, chains, size = self._archive
        counted = np.flatnonzero(ties[: size[0]])
        return FoundAssignments(measures[counted], ties[counted], chains[counted])

    def state(self) -> dict[str, NDArray[np.int64]]:
        """Return all that later walks depend on."""
        archive = self._archive
        used = {name: getattr(archive, name)[: archive.size[0]] for name in ("measures", "ties", "chains")}
        return {**used, "size": archive.size}

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Go on from a state."""
        self._archive = self._room(max(len(self._archive.measures), len(state["measures"])))
        for name, used in state.items():
            getattr(self._archive, name)[: len(used)] = used

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64], blocks: Blocks
    ) -> None:
        """Write the blocks of assignments that tie at a point."""
        # the wanted point goes first: in this mode nothing moves
        order = [point, *(other for other in range(len(measures)) if other != point)]
        self._archive.measures[: len(measures)] = measures[order]
        self._archive.size[0] = len(measures)
        rows, n_found = blocks
        everything = np.zeros((4096, rows.shape[1]), dtype=np.int64)
        for first in firsts:
            count = np.zeros(1, dtype=np.int64)
            self._walk_one(np.array([first]), Blocks(everything, count))
            if count[0] > len(everything):
                everything = np.zeros((int(count[0]), rows.shape[1]), dtype=np.int64)
                count[0] = 0
                self._walk_one(np.array([first]), Blocks(everything, count))
            ours = everything[: count[0]][everything[: count[0], -1] == 0]
            room = max(0, len(rows) - int(n_found[0]))
            rows[n_found[0] : n_found[0] + min(room, len(ours))] = ours[:room]
            n_found[0] += len(ours)


def make_walker(
    problem: StageProblem,
    space: Space,
    max_stages: int,
    seeds: NDArray[np.int64],
    *,
    bounds: bool,
    table_rows: int = TABLE_ROWS,
) -> Walker:
    """Choose how to keep what is found: up to so many validation rows in a table, else in an archive."""
    # the table counts right answers, which are the credit only where a wrong answer costs all of a right
    # one's
    counts = problem.unit == 1 and (problem.penalties == 1).all()
    plain = problem.names == DEFAULT_OBJECTIVES and not problem.removal and counts
    kind = TableWalker if plain and problem.n_rows <= table_rows else ArchiveWalker
    return kind(problem, space, max_stages, seeds, bounds=bounds)
