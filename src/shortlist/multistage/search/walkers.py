"""Walkers over all stage assignments: the memory of a thread, and threads at work."""

import functools
import math
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.multistage.problem.stages import completions
from shortlist.multistage.search._evaluation import (
    CONCLUSIVE,
    CREDIT,
    FALSE_POSITIVES,
    N_MEASURES,
    PATH,
    STAGES,
)
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
from shortlist.multistage.subclassifiers.subclassifiers import pooled_threads
from shortlist.runs import Budget, Study, Unit, Work, run_units
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint, StageNote
from shortlist.runs.workers import Where


@dataclass(frozen=True)
class WalkSettings:
    """Memory of a walk, which changes its speed and never its answer."""

    most_pairs: int = 2_003_001
    """Largest number of pairs (conclusive, right) whose least cost is kept beside the archive; 2,000 rows
    have 2,003,001 pairs.

    The kept costs reject most assignments by one comparison.
    """
    words: int = 2_000_000
    """Words of rows read between two checks of the clock, which take some hundredths of a second."""


USUAL_WALK = WalkSettings()

ARCHIVE_ROOM = 4096
"""Number of outcomes that a new archive has room for."""


@dataclass(frozen=True, eq=False)
class FoundAssignments:
    """Non-dominated outcomes, with the number of tied assignments and one chain for each outcome."""

    measures: NDArray[np.int64]
    ties: NDArray[np.int64]
    chains: NDArray[np.int64]


class Walker:
    """Walk of one thread, with the non-dominated outcomes found; `fresh` makes a walker for another thread.

    `max_stages`: most stages of an assignment. `seeds`: measures of known assignments, ``(n_known,
    n_measures)``, mutually non-dominated. `bounds`: whether dominated chains are left out.
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
                bool(uses[[STAGES, PATH]].any() or uses[N_MEASURES:][problem.of_paths].any()),
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
        """Return a walker for another thread, with nothing found yet."""
        rules = self._rules
        return Walker(
            self.problem, self._space, rules.max_stages, self._seeds, bounds=rules.prune, walk=self._walk
        )

    @property
    def looked(self) -> int:
        """Number of assignments visited since the beginning."""
        return int(self._path.at[0].looked)

    def begin(self, firsts: NDArray[np.int64]) -> None:
        """Begin with the assignments whose first set is in `firsts`."""
        self._path.at[:] = 0
        self.resume(firsts)

    def resume(self, firsts: NDArray[np.int64]) -> None:
        """Continue with the assignments whose first set is in `firsts`, from the walker's state."""
        self._firsts = firsts

    def walk_on(self) -> bool:
        """Visit more assignments for some hundredths of a second; return whether all are visited."""
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
        """Return the non-dominated assignments found so far."""
        archive = self._archive
        counted = np.flatnonzero(archive.ties[: archive.size[0]])
        return FoundAssignments(archive.measures[counted], archive.ties[counted], archive.chains[counted])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state that later walks depend on; `restore` of a walker of the same problem takes it."""
        archive, size = self._archive, self._archive.size[0]
        found = {name: getattr(archive, name)[:size] for name in ("measures", "ties", "chains")}
        return found | {f"path {name}": array for name, array in self._path._asdict().items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state of :meth:`state`."""
        self._archive = self._room(max(len(self._archive.measures), len(state["measures"])))
        self._fill(state["measures"], state["ties"], state["chains"])
        for name, array in self._path._asdict().items():
            array[:] = state[f"path {name}"]


WALKING = "walking stage assignments"

Join: TypeAlias = Callable[[StageProblem, list[FoundAssignments]], FoundAssignments]
"""Function that joins the results of several walkers, and keeps the non-dominated ones."""


@dataclass(frozen=True, eq=False)
class FinishedWalk:
    """Assignments that a walk found, the number of finished tasks, and the number of visited chains."""

    found: FoundAssignments
    done: int
    looked: int


@dataclass(eq=False)
class _Thread:
    """Walker, number of chains that it visited in each finished task, and its current task."""

    checkpoint: Checkpoint
    walker: Walker
    looked: dict[str, int]
    task: str = ""

    def state(self) -> KeptState:
        """Return the state for a study; called only between two parts of the walk."""
        return KeptState(self.walker.state(), {"looked": self.looked, "task": self.task})


def walk_tasks(
    walker: Walker,
    tasks: Sequence[NDArray[np.int64]],
    join: Callable[[list[FoundAssignments]], FoundAssignments],
    budget: Budget,
    *,
    workers: int | None,
    study: Study,
) -> FinishedWalk:
    """Run all tasks on threads, each with a walker of its own while it runs.

    `walker`: walker of the first thread, with nothing found yet. `tasks`: first sets of the chains, as bit
    masks. `join`: joins the results of several walkers. `budget`: time limit, checked within tasks too;
    unfinished work is left out. `study`: keeps the results and tasks of every walker, and the whole result at
    the end.
    """
    whole = Checkpoint("walk", study)
    if (kept := whole.last()) is not None:
        return FinishedWalk(FoundAssignments(**kept.arrays), len(tasks), kept.facts["looked"])
    start, threads = seconds_now(), _kept_threads(walker, study)
    known = {key: looked for thread in threads for key, looked in thread.looked.items()}
    waiting = _Waiting(walker, threads, study)

    def run(key: str, firsts: NDArray[np.int64]) -> int:
        if budget.stopped:
            return -1
        mine = waiting.take(key, firsts)
        while not mine.walker.walk_on():
            if budget.stopped:  # the thread stays in its task, and no other task gets it
                return -1
        mine.task, mine.looked[key] = "", mine.walker.looked
        mine.checkpoint.keep(mine.state, stage=functools.partial(_note, threads, len(tasks)))
        waiting.give_back(mine)
        return mine.looked[key]

    units = [Unit(str(number), run, (str(number), firsts)) for number, firsts in enumerate(tasks)]
    work = Work(workers, report=budget.report, cancellation=budget.cancellation)
    with pooled_threads():
        counts = [looked for _, looked in run_units(units, work, stage=WALKING, known=known)]
    finished = [looked for looked in counts if looked >= 0]
    walk = FinishedWalk(join([thread.walker.found() for thread in threads]), len(finished), sum(finished))
    if walk.done == len(tasks):
        found = counted(len(walk.found.measures), "point")
        state = KeptState(vars(walk.found), {"looked": walk.looked})
        whole.finish(lambda: state, seconds_now() - start, stage=_note(threads, len(tasks), found))
        study.drop(thread.checkpoint.key for thread in threads)
    else:
        for thread in threads:
            thread.checkpoint.keep(thread.state, now=True)
    return walk


class _Waiting:
    """Threads that wait for a task. A thread stopped within a task waits for the same task."""

    def __init__(self, walker: Walker, threads: list[_Thread], study: Study) -> None:
        self._walker, self._threads, self._study = walker, threads, study
        self._adding = threading.Lock()
        self._idle: queue.SimpleQueue[_Thread] = queue.SimpleQueue()
        self._begun = {thread.task: thread for thread in threads if thread.task}
        for thread in threads:
            if not thread.task:
                self._idle.put(thread)

    def take(self, key: str, firsts: NDArray[np.int64]) -> _Thread:
        """Return the thread for a task; the thread begins the task, or continues it."""
        if (mine := self._begun.pop(key, None)) is not None:
            mine.walker.resume(firsts)
            return mine
        try:
            mine = self._idle.get_nowait()
        except queue.Empty:
            with self._adding:
                checkpoint = _checkpoint(len(self._threads), self._study)
                mine = _Thread(checkpoint, self._walker.fresh(), {})
                self._threads.append(mine)
        mine.task = key
        mine.walker.begin(firsts)
        return mine

    def give_back(self, thread: _Thread) -> None:
        """Let a thread wait for any task again."""
        self._idle.put(thread)


def _kept_threads(walker: Walker, study: Study) -> list[_Thread]:
    """Return the walkers of a study, each with its tasks; one new walker if the study has none."""
    threads: list[_Thread] = []
    known: set[str] = set()
    while (state := (checkpoint := _checkpoint(len(threads), study)).last()) is not None:
        looked, task = dict(state.facts["looked"]), state.facts.get("task", "")
        own = looked.keys() | ({task} if task else set())
        if known & own:  # of a thread before an earlier kill: others have done, or begun, its tasks since
            break
        known |= own
        threads.append(_Thread(checkpoint, walker.fresh(), looked, task))
        threads[-1].walker.restore(state.arrays)
    return threads or [_Thread(_checkpoint(0, study), walker, {})]


def _checkpoint(number: int, study: Study) -> Checkpoint:
    return Checkpoint(f"chains {number}", study)


def _note(threads: Sequence[_Thread], n_tasks: int, best: str = "") -> StageNote:
    """Return the progress of a walk.

    The number of results is left out until the end, as threads still write to the results.
    """
    done = sum(len(thread.looked) for thread in threads)
    return StageNote(WALKING, n_tasks, done, len(threads), best)


def walk_units(
    make: Callable[[], Walker],
    tasks: Sequence[NDArray[np.int64]],
    join: Join,
    budget: Budget,
    *,
    workers: Where,
    study: Study,
) -> FinishedWalk:
    """Run every task as a unit of work with a walker of its own.

    A unit does not know the results of other units, so units visit more chains than threads do. The result is
    the same.

    `make`: returns a new walker; the function is pickled, and sent to each worker once. `tasks`: first sets
    of the chains, as bit masks. `join`: a function of a module. `budget`: time limit; unfinished work is left
    out. Every worker measures the limit with its own clock, so a task that begins late may run as long as the
    whole limit. `study`: keeps the results of every task.
    """
    seconds = budget.deadline - budget.clock()
    units = [
        Unit(str(number), walk_task, (make, join, firsts, seconds)) for number, firsts in enumerate(tasks)
    ]
    work = Work(workers, study, budget.report, budget.cancellation)
    done, looked = 0, 0
    nothing = make()
    parts = [nothing.found()]
    for _, answer in run_units(units, work, stage=WALKING):
        if answer is not None:
            arrays = {name: np.array(answer[name], dtype=np.int64) for name in ("measures", "ties", "chains")}
            if len(arrays["ties"]):
                parts.append(FoundAssignments(**arrays))
            looked += answer["looked"]
            done += 1
        if budget.expired:
            break
    return FinishedWalk(join(nothing.problem, parts), done, looked)


def walk_task(
    make: Callable[[], Walker], join: Join, firsts: NDArray[np.int64], seconds: float = math.inf
) -> dict[str, Any] | None:
    """Visit all assignments whose first set is in `firsts`; return the result as plain data for JSON.

    None if it takes longer than `seconds`.
    """
    deadline, walker = seconds_now() + seconds, make()
    walker.begin(firsts)
    while not walker.walk_on():
        if seconds_now() > deadline:
            return None
    found = join(walker.problem, [walker.found()])
    return {"looked": walker.looked, **{name: array.tolist() for name, array in vars(found).items()}}
