"""The complete front of S(n, k): every stage assignment accounted for, with ties counted."""

import dataclasses
import functools
import math
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.multistage.problem.purchase_rules import PurchaseRules
from shortlist.multistage.problem.stages import assignment_of_chain, completions, space_size
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search._walk_kernels import UNSEEN, Space
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.search.valid_chains import walk_valid_chains
from shortlist.multistage.search.walkers import (
    USUAL_WALK,
    FoundAssignments,
    Walker,
    WalkSettings,
)
from shortlist.multistage.subclassifiers.subclassifiers import pooled_threads, subset_masks
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Progress, Study, Unit, Work, run_units
from shortlist.runs.budget import seconds_now
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import StageNote
from shortlist.runs.workers import Where

FITS_SHARE = 0.5
"""Part of the time limit at which an enumeration must have its classifiers."""


def enumerate_front(
    problem: StageProblem,
    *,
    bounds: bool = True,
    known: NDArray[np.int64] | None = None,
    workers: Where = 1,
    budget: Budget | None = None,
    walk: WalkSettings = USUAL_WALK,
) -> StageResult:
    """Find every non-dominated objective vector of S(n, k), and how many assignments have it.

    Solves Eq. 6 of :cite:t:`Hamilton2022` exactly. Depth-first over chains of growing feature sets, on
    decision bits. A chain on which no row waits any more is finished in closed form. With `bounds` a chain is
    also left when a known point dominates anything that can follow: coverage and right answers are bounded by
    the union over all supersets, wrong answers by those given and those that no superset can avoid, cost by
    what is bought and the cheapest next step. Bounds never drop a tie, so the answer is the same with and
    without. Where rules say what may be bought together, every chain of valid sets is measured, in one
    thread. Raises BadInputError if there are too many features. Raises FitsStoppedError if not all subsets
    are fitted in the first half of the time.

    `problem`: with at most 18 features, since every subset needs a classifier. `bounds`: branch and bound, or
    look at every chain. `known`: measures of assignments that are known, ``(n_known, n_measures)``: what they
    dominate is left out, also where the walk does not end. `workers`: threads, or the address of a Dask
    scheduler. Its workers do not know what others have found, so that they look at more chains; the front is
    the same. `budget`: limit and progress of the search. When it ends first, the proof says that
    the front is not complete. Its study keeps what every thread has found, so that a killed search
    goes on to the same front. `walk`: how what is found is kept. The answer is the same.
    """
    budget = budget or Budget()
    if problem.rules is not None:
        problem.decisions.subclassifiers.budget = budget
        return _valid_front(problem, problem.rules, budget)
    problem.decisions.subclassifiers.budget = budget.until(FITS_SHARE)
    space = _space(problem)
    k = problem.max_stages
    found = FoundAssignments(
        np.empty((0, problem.n_measures), dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty((0, max(1, k)), dtype=np.int64),
    )
    known = found.measures if known is None else known
    looked, done, tasks = 0, 0, _tasks(problem, 1)
    join = functools.partial(_nondominated, problem)
    # the front of fewer stages is the best start for the bounds of more
    for level in range(min(2, k), k + 1) if bounds else [k]:
        tasks = _tasks(problem, level)
        seeds = np.concatenate([known, found.measures])
        seeds = seeds[nondominated_rows(*problem.comparable(seeds))]
        make = functools.partial(Walker, problem, space, level, seeds, bounds=bounds, walk=walk)
        study = budget.study.part(f"at most {level} stages")
        part = _level(problem, level, budget)
        if isinstance(workers, str):
            finished = walk_units(
                make, tasks, _nondominated, part, workers=workers, study=study.part("tasks")
            )
        else:
            finished = walk_tasks(make(), tasks, join, part, workers=workers, study=study)
        looked += finished.looked
        done = finished.done if level == k else 0
        found = (
            finished.found
            if finished.done == len(tasks)
            else _nondominated(problem, [finished.found, found], np.maximum)
        )
        if finished.done < len(tasks):
            break
    proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.names))
    if done < len(tasks):
        proof = Proof(ProofKind.APPROXIMATE, n_unresolved=len(tasks) - done, limit=budget.limit_text)
    order = front_order(problem, found.measures)
    chains = [tuple(int(mask) for mask in chain if mask) for chain in found.chains[order]]
    assignments = [
        assignment_of_chain(chain, problem.n_features, removal=problem.removal) for chain in chains
    ]
    return StageResult(
        problem, np.array(assignments, dtype=np.int8).reshape(len(order), problem.n_features),
        found.measures[order], "enumerate", proof, budget.elapsed,
        {"n_tied": found.ties[order].tolist(), "n_looked": looked},
    )  # fmt: skip


def _level(problem: StageProblem, level: int, budget: Budget) -> Budget:
    """Return the budget of a walk, whose progress says how many assignments it accounts for."""
    n = space_size(problem.n_features + problem.removal, level + problem.removal)
    stage = f"walking {n:,} assignments to at most {counted(level, 'stage')}"

    def tell(progress: Progress) -> None:
        more = level < problem.max_stages
        budget.report(dataclasses.replace(progress, stage=stage, more_follows=more))

    return dataclasses.replace(budget, report=tell)


def _valid_front(problem: StageProblem, rules: PurchaseRules, budget: Budget) -> StageResult:
    (assignments, measures, ties), looked, complete = walk_valid_chains(problem, rules, budget)
    proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.names))
    if not complete:
        proof = Proof(ProofKind.APPROXIMATE, n_unresolved=1, limit=budget.limit_text)
    order = front_order(problem, measures)
    facts = {"n_tied": ties[order].tolist(), "n_looked": looked}
    return StageResult(
        problem, assignments[order], measures[order], "enumerate", proof, budget.elapsed, facts
    )


def _nondominated(
    problem: StageProblem, parts: list[FoundAssignments], join: np.ufunc = np.add
) -> FoundAssignments:
    """Join what walkers found, one entry per non-dominated vector.

    Ties are added up, and the least chain is kept; the empty one, a single stage, comes last.
    """
    width = max(part.chains.shape[1] for part in parts)
    chains = np.concatenate([np.pad(p.chains, ((0, 0), (0, width - p.chains.shape[1]))) for p in parts])
    measures = np.concatenate([part.measures for part in parts])
    ties = np.concatenate([part.ties for part in parts])
    if not len(measures):
        return FoundAssignments(measures, ties, chains)
    vectors = problem.vectors(measures)
    order = np.lexsort((*chains.T[::-1], chains[:, 0] == 0, *vectors.T[::-1]))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (vectors[order][1:] != vectors[order][:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    summed = join.reduceat(ties[order], starts)
    first = order[starts]
    best = nondominated_rows(*problem.comparable(measures[first]))
    return FoundAssignments(measures[first][best], summed[best], chains[first][best])


def front_order(problem: StageProblem, measures: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order points as a front does: best first by the first objective, then the second, and so on."""
    signs = np.array([objective.sign for objective in problem.objectives])
    return np.lexsort((problem.values(measures) * signs).T[::-1])


def _space(problem: StageProblem) -> Space:
    bits, prices = problem.decisions.every_subset(), problem.costs.table()
    sets = subset_masks(problem.n_features)
    calls = problem.call_prices(sets, problem.decisions.slots(sets))
    sets = np.concatenate([np.zeros_like(sets[:1]), sets])
    return space_of(problem, sets, bits, prices, np.concatenate([[0], calls]))


def space_of(
    problem: StageProblem,
    sets: Mask,
    bits: NDArray[np.uint64],
    prices: NDArray[np.int64],
    calls: NDArray[np.int64],
) -> Space:
    """Return what a walk needs, from the decision bits, prices and call prices of all sets by bit mask.

    `sets`, ``(2**n, n_features)``: the features of each. `bits`, ``(2**n, 2, n_words)``: who is confident,
    and who is right too; row 0, of no feature, is zero. `prices`, `calls`, ``(2**n,)``: what a row pays for
    the features of a set, and for a call of its classifier.
    """
    n = len(prices).bit_length() - 1
    numbers = np.arange(1 << n)
    unions = bits.copy()
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        unions[absent] |= unions[absent | 1 << feature]
    reach = np.zeros_like(bits)
    least = np.full(1 << n, UNSEEN, dtype=np.int64)
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        above = absent | 1 << feature
        reach[absent] |= unions[above]
        least[absent] = np.minimum(least[absent], prices[above] - prices[absent])
    least[-1] = 0
    cheapest = calls.astype(np.int64)  # of a set and all that have more
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        cheapest[absent] = np.minimum(cheapest[absent], cheapest[absent | 1 << feature])
    following = np.full(1 << n, UNSEEN, dtype=np.int64)
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        following[absent] = np.minimum(following[absent], cheapest[absent | 1 << feature])
    following[-1] = 0
    bought, amounts, least_taken = _taken(problem, sets)
    return Space(bits, reach, prices, least, calls.astype(np.int64), following, bought, amounts, least_taken)


def _taken(problem: StageProblem, sets: Mask) -> tuple[Mask, NDArray[np.int64], NDArray[np.int64]]:
    """Return `bought`, `amounts` and `least_taken` of :class:`Space`."""
    costs = problem.costs
    attributes = problem.attributes
    if not attributes:
        none = np.zeros((len(sets), 0), dtype=np.int64)
        return none.astype(bool), none[:0], none
    amounts = np.stack([one.values for one in attributes], axis=1)
    takes = amounts.any(axis=1)
    bought = np.ascontiguousarray(costs.bought(sets)[:, takes])
    least = np.full((len(sets), len(attributes)), UNSEEN, dtype=np.int64)
    numbers = np.arange(len(sets))
    for item in range(len(sets).bit_length() - 1):
        absent = numbers[numbers >> item & 1 == 0]
        steps = np.stack([sets[absent], sets[absent | 1 << item]], axis=1)
        least[absent] = np.minimum(least[absent], costs.taken(steps, attributes)[:, 1])
    least[-1] = 0
    return bought, np.ascontiguousarray(amounts[takes]), least


def _tasks(problem: StageProblem, max_stages: int) -> list[NDArray[np.int64]]:
    """Split the first stages into tasks, the ones with most behind them first."""
    n = problem.n_features
    behind = completions(n, max_stages)[:, max_stages - 1]
    sizes = np.array([int(mask).bit_count() for mask in range(1, 1 << n)])
    order = np.argsort(sizes, kind="stable") + 1
    work = np.cumsum(np.maximum(1, behind[n - sizes[order - 1]]).astype(float))
    # at most 256 tasks of about equal size; a single feature alone may be more than that
    cuts = np.searchsorted(work, np.arange(1, 256) * work[-1] / 256, side="left") + 1
    pieces = np.split(order, np.unique(cuts))
    return [piece for piece in pieces if len(piece)]


WALKING = "walking stage assignments"

Join: TypeAlias = Callable[[StageProblem, list[FoundAssignments]], FoundAssignments]
"""Makes one of what several walkers found, the non-dominated alone."""


@dataclass(frozen=True, eq=False)
class FinishedWalk:
    """What a walk found, how many tasks it finished, and how many chains it looked at."""

    found: FoundAssignments
    done: int
    looked: int


@dataclass(eq=False)
class _Thread:
    """A walker, how many chains it looked at in each task that it has finished, and the task it is in."""

    checkpoint: Checkpoint
    walker: Walker
    looked: dict[str, int]
    task: str = ""

    def state(self) -> KeptState:
        """Return what a study keeps, while the walker rests."""
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

    `walker`: that of the first thread, with nothing found yet. `tasks`: first sets of the chains, as bit
    masks. `join`: makes one of what several walkers found. `budget`: how long it may take. It is looked at
    within tasks too, and what is left of them is left out. `study`: keeps what every walker has found in
    which tasks, and the whole when all are finished.
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
    """Threads that wait for a task: any task, or the one in which they were stopped."""

    def __init__(self, walker: Walker, threads: list[_Thread], study: Study) -> None:
        self._walker, self._threads, self._study = walker, threads, study
        self._adding = threading.Lock()
        self._idle: queue.SimpleQueue[_Thread] = queue.SimpleQueue()
        self._begun = {thread.task: thread for thread in threads if thread.task}
        for thread in threads:
            if not thread.task:
                self._idle.put(thread)

    def take(self, key: str, firsts: NDArray[np.int64]) -> _Thread:
        """Return the thread for a task, which has begun it or goes on with it."""
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
        """Let a thread wait for any task."""
        self._idle.put(thread)


def _kept_threads(walker: Walker, study: Study) -> list[_Thread]:
    """Return the walkers that a study has, each with its tasks; without any, one that has done nothing."""
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
    """Say how far a walk is; what it found is counted at its end, as threads write to it until then."""
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
    """Run every task as a unit with a walker of its own.

    A unit knows nothing of what others have found, so all of them together look at more than threads do. What
    is found is the same.

    `make`: returns a walker with nothing found yet. It pickles, and is sent to each worker once. `tasks`:
    first sets of the chains, as bit masks. `join`: a function of a module. `budget`: how long it may take.
    What is not finished in time is left out. Workers have clocks of their own: a task that is begun late may
    go on until it has taken as long itself. `study`: keeps what every task found.
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
    """Look at all assignments that begin with one of `firsts`; return what was found as JSON holds it.

    None if that takes longer than `seconds`.
    """
    deadline, walker = seconds_now() + seconds, make()
    walker.begin(firsts)
    while not walker.walk_on():
        if seconds_now() > deadline:
            return None
    found = join(walker.problem, [walker.found()])
    return {"looked": walker.looked, **{name: array.tolist() for name, array in vars(found).items()}}
