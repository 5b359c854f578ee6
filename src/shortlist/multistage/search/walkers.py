"""Walkers over all stage assignments: what one thread keeps of those that it has seen."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.problem.stages import completions
from shortlist.multistage.search._enumeration import UNSEEN, walk_table
from shortlist.multistage.search._evaluation import CONCLUSIVE, COST, CREDIT, N_MEASURES
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, OBJECTIVES, StageProblem

TABLE_ROWS = 2000
"""Up to this many validation rows, the least cost of every (conclusive, right) pair is kept in a table."""


@dataclass(frozen=True, eq=False)
class Space:
    """Everything about feature subsets that a walk needs, indexed by bit mask."""

    bits: NDArray[np.uint64]
    reach: NDArray[np.uint64]
    prices: NDArray[np.int64]
    least_steps: NDArray[np.int64]
    call_prices: NDArray[np.int64]


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

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64],
        blocks: NDArray[np.int64], n_blocks: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Write the blocks of assignments that tie at a point."""


_NO_BLOCKS = np.zeros((0, 0), dtype=np.int64)


_NO_COUNT = np.zeros(1, dtype=np.int64)


class TableWalker:
    """Keeps the least cost of every pair (conclusive, right); for the paper's three objectives."""

    def __init__(
        self, problem: StageProblem, space: Space, max_stages: int, seeds: NDArray[np.int64], *, bounds: bool
    ) -> None:
        self._arguments = (problem, space, max_stages, seeds)
        self._bounds = bounds
        self.problem, self.space, self.max_stages = problem, space, max_stages
        n_pairs = (problem.n_rows + 1) * (problem.n_rows + 2) // 2
        self.best = np.full(n_pairs, UNSEEN, dtype=np.int64)
        self.ties = np.zeros(n_pairs, dtype=np.int64)
        self.witnesses = np.zeros((n_pairs, max(1, max_stages - 1)), dtype=np.int32)
        self.archive = np.zeros((8192, 3), dtype=np.int64)
        self.size = np.array([min(len(seeds), len(self.archive))], dtype=np.int64)
        self.archive[: self.size[0]] = seeds[: self.size[0], [CONCLUSIVE, CREDIT, COST]]

    def fresh(self) -> "TableWalker":
        """Return one for another thread, with nothing found yet."""
        return TableWalker(*self._arguments, bounds=self._bounds)

    def walk(
        self,
        firsts: NDArray[np.int64],
        blocks: NDArray[np.int64] = _NO_BLOCKS,
        n_blocks: NDArray[np.int64] = _NO_COUNT,
    ) -> int:
        """Look at all assignments that begin with one of `firsts`; return how many."""
        space, problem = self.space, self.problem
        return walk_table(
            firsts, space.bits, space.reach, space.prices, space.least_steps, problem.everyone,
            problem.n_rows,
            self.max_stages, completions(problem.n_features, self.max_stages), int(self._bounds), self.best,
            self.ties, self.witnesses, self.archive, self.size, blocks, n_blocks,
        )  # fmt: skip

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        pairs = np.flatnonzero(self.ties)
        conclusive = (np.sqrt(8.0 * pairs + 1) - 1).astype(np.int64) // 2
        conclusive -= conclusive * (conclusive + 1) // 2 > pairs
        conclusive += (conclusive + 1) * (conclusive + 2) // 2 <= pairs
        measures = np.zeros((len(pairs), N_MEASURES), dtype=np.int64)
        measures[:, CONCLUSIVE] = conclusive
        measures[:, CREDIT] = pairs - conclusive * (conclusive + 1) // 2
        measures[:, COST] = self.best[pairs]
        return FoundAssignments(measures, self.ties[pairs], self.witnesses[pairs].astype(np.int64))

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64],
        blocks: NDArray[np.int64], n_blocks: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Write the blocks of assignments that tie at a point."""
        self.best[:] = -1
        conclusive, right, cost = measures[point, [CONCLUSIVE, CREDIT, COST]]
        self.best[conclusive * (conclusive + 1) // 2 + right] = cost
        self.walk(firsts, blocks, n_blocks)


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
        self._state = self._room(max(4096, 2 * len(seeds)))
        self._state[0][: len(seeds)] = seeds
        self._state[3][0] = len(seeds)

    def _room(self, size: int) -> tuple[NDArray[np.int64], ...]:
        width = max(1, self.max_stages)
        return (
            np.zeros((size, N_MEASURES), dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros((size, width), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def fresh(self) -> "ArchiveWalker":
        """Return one for another thread, with nothing found yet."""
        return ArchiveWalker(*self._arguments, bounds=self._bounds)

    def walk(
        self,
        firsts: NDArray[np.int64],
        blocks: NDArray[np.int64] = _NO_BLOCKS,
        n_blocks: NDArray[np.int64] = _NO_COUNT,
    ) -> int:
        """Look at all assignments that begin with one of `firsts`; return how many."""
        looked = 0
        for first in firsts:
            before = [part.copy() for part in self._state]
            visited = self._walk_one(np.array([first]), blocks, n_blocks)
            while visited < 0:  # the archive was full: take back what this task did, with twice the room
                self._state = self._room(2 * len(before[0]))
                for part, old in zip(self._state, before, strict=True):
                    part[: len(old)] = old
                visited = self._walk_one(np.array([first]), blocks, n_blocks)
            looked += visited
        return looked

    def _walk_one(
        self, firsts: NDArray[np.int64], blocks: NDArray[np.int64], n_blocks: NDArray[np.int64]
    ) -> int:
        # seconds to compile at first, and the paper's objectives never need it
        from shortlist.multistage.search._archive_walk import walk_archive

        space, problem = self.space, self.problem
        archive, ties, chains, size = self._state
        return walk_archive(
            firsts, space.bits, space.reach, space.prices, space.least_steps, space.call_prices,
            problem.everyone, problem.class_bits, problem.penalties, problem.unit, problem.negative_bits,
            self.max_stages, self.uses, int(problem.removal), int(self._bounds), archive, ties, chains, size,
            blocks, n_blocks,
        )  # fmt: skip

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        measures, ties, chains, size = self._state
        counted = np.flatnonzero(ties[: size[0]])
        return FoundAssignments(measures[counted], ties[counted], chains[counted])

    def collect(
        self, firsts: NDArray[np.int64], point: int, measures: NDArray[np.int64],
        blocks: NDArray[np.int64], n_blocks: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Write the blocks of assignments that tie at a point."""
        # the wanted point goes first: in this mode nothing moves
        order = [point, *(other for other in range(len(measures)) if other != point)]
        self._state[0][: len(measures)] = measures[order]
        self._state[3][0] = len(measures)
        everything = np.zeros((4096, blocks.shape[1]), dtype=np.int64)
        for first in firsts:
            count = np.zeros(1, dtype=np.int64)
            self._walk_one(np.array([first]), everything, count)
            if count[0] > len(everything):
                everything = np.zeros((int(count[0]), blocks.shape[1]), dtype=np.int64)
                count[0] = 0
                self._walk_one(np.array([first]), everything, count)
            ours = everything[: count[0]][everything[: count[0], -1] == 0]
            room = max(0, len(blocks) - int(n_blocks[0]))
            blocks[n_blocks[0] : n_blocks[0] + min(room, len(ours))] = ours[:room]
            n_blocks[0] += len(ours)


def make_walker(
    problem: StageProblem, space: Space, max_stages: int, seeds: NDArray[np.int64], *, bounds: bool
) -> Walker:
    """Choose how to keep what is found."""
    # the table counts right answers, which are the credit only where a wrong answer costs all of a right
    # one's
    counts = problem.unit == 1 and (problem.penalties == 1).all()
    plain = problem.names == DEFAULT_OBJECTIVES and not problem.removal and counts
    kind = TableWalker if plain and problem.n_rows <= TABLE_ROWS else ArchiveWalker
    return kind(problem, space, max_stages, seeds, bounds=bounds)
