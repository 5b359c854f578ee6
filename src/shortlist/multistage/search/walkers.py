"""Walkers over all stage assignments: what one thread keeps of those that it has seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.problem.stages import completions
from shortlist.multistage.search._evaluation import CONCLUSIVE, CREDIT, FALSE_POSITIVES
from shortlist.multistage.search._walk_kernels import (
    ADDED_AT_ONCE,
    PLACE,
    UNSEEN,
    Path,
    Rules,
    Space,
    WalkArchive,
    walk_chains,
)
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, StageProblem


@dataclass(frozen=True)
class WalkSettings:
    """How a walk keeps what it finds; its answer does not depend on them."""

    most_pairs: int = 2_003_001
    """Up to this number of pairs (conclusive, right), which 2,000 rows have, the least cost of each is kept
    beside the archive: most assignments are then passed over at a look.
    """
    words: int = 2_000_000
    """Words of rows that are read between two looks at the clock: some hundredths of a second."""


USUAL_WALK = WalkSettings()

ARCHIVE_ROOM = 4096
"""Outcomes that an archive has room for at first."""


@dataclass(frozen=True, eq=False)
class FoundAssignments:
    """Outcomes, how many assignments tie for each, and the chain of one."""

    measures: NDArray[np.int64]
    ties: NDArray[np.int64]
    chains: NDArray[np.int64]


class Walker:
    """Holds the non-dominated outcomes that one thread finds; `fresh` makes one for another thread.

    `max_stages`: most stages of an assignment. `seeds`: measures of assignments that are known, ``(n_known,
    n_measures)``, mutually non-dominated. `bounds`: whether chains are left out that they, or what was found,
    dominate.
    """

    def __init__(
        self,
        problem: StageProblem,
        space: Space,
        max_stages: int,
        seeds: NDArray[np.int64],
        *,
        bounds: bool,
        walk: WalkSettings = USUAL_WALK,
    ) -> None:
        self.problem, self._space, self._seeds, self._walk = problem, space, seeds, walk
        names, n_rows, scoring = set(problem.names), problem.n_rows, problem.scoring
        uses = np.zeros(problem.n_measures, dtype=np.int64)
        uses[[problem.places[name] for name in names]] = 1
        counts = bool((scoring.penalties == scoring.unit).all())
        self._scoring, self._rules = (
            scoring,
            Rules(
                uses,
                np.setdiff1d(np.flatnonzero(uses), [CONCLUSIVE, CREDIT]),
                completions(len(space.prices).bit_length() - 1, max_stages, removal=problem.removal),
                n_rows,
                max_stages,
                problem.removal,
                bounds,
                not counts or bool(uses[FALSE_POSITIVES]),
                counts and not problem.removal,
            ),
        )
        n_pairs = (n_rows + 1) * (n_rows + 2) // 2
        plain = names == set(DEFAULT_OBJECTIVES) and counts and scoring.unit == 1
        self._least = np.full(n_pairs if plain and n_pairs <= walk.most_pairs else 0, UNSEEN, dtype=np.int64)
        waiting = np.zeros((max_stages + 2, len(problem.everyone)), dtype=np.uint64)
        waiting[0] = problem.everyone
        chain, added = np.zeros((2, len(waiting)), dtype=np.int64)
        measures = np.zeros((len(waiting), problem.n_measures), dtype=np.int64)
        self._path = Path(chain, added, waiting, measures, np.zeros(1, dtype=PLACE))
        self._block = max(1, walk.words // waiting.shape[1])
        self._firsts = np.zeros(0, dtype=np.int64)
        self._archive = self._room(max(ARCHIVE_ROOM, 2 * len(seeds)))
        self._archive.measures[: len(seeds)] = seeds
        self._archive.size[0] = len(seeds)

    def _room(self, size: int) -> WalkArchive:
        return WalkArchive(
            measures=np.zeros((size, self.problem.n_measures), dtype=np.int64),
            ties=np.zeros(size, dtype=np.int64),
            chains=np.zeros((size, max(1, self._rules.max_stages)), dtype=np.int64),
            size=np.zeros(1, dtype=np.int64),
            least=self._least,
        )

    def fresh(self) -> "Walker":
        """Return one for another thread, with nothing found yet."""
        rules = self._rules
        return Walker(
            self.problem, self._space, rules.max_stages, self._seeds, bounds=rules.prune, walk=self._walk
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

    def walk_on(self) -> bool:
        """Look at some more, for some hundredths of a second; return whether these were the last."""
        old = self._archive
        if old.size[0] + ADDED_AT_ONCE > len(old.measures):
            self._archive = self._room(2 * len(old.measures) + ADDED_AT_ONCE)
            self._fill(old.measures, old.ties, old.chains)
        walk_chains(
            self._firsts, self._space, self._scoring, self._rules, self._path, self._archive, self._block
        )
        return bool(self._path.at[0].first == len(self._firsts))

    def _fill(self, *parts: NDArray[np.int64]) -> None:
        for name, part in zip(("measures", "ties", "chains"), parts, strict=True):
            getattr(self._archive, name)[: len(part)] = part
        self._archive.size[0] = len(parts[0])

    def found(self) -> FoundAssignments:
        """Return what was kept."""
        archive = self._archive
        counted = np.flatnonzero(archive.ties[: archive.size[0]])
        return FoundAssignments(archive.measures[counted], archive.ties[counted], archive.chains[counted])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that later walks depend on, for `restore` of a walker of the same problem."""
        archive, size = self._archive, self._archive.size[0]
        found = {name: getattr(archive, name)[:size] for name in ("measures", "ties", "chains")}
        return found | {f"path {name}": array for name, array in self._path._asdict().items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        self._archive = self._room(max(len(self._archive.measures), len(state["measures"])))
        self._fill(state["measures"], state["ties"], state["chains"])
        for name, array in self._path._asdict().items():
            array[:] = state[f"path {name}"]
