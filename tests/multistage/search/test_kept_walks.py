"""Walks that a study keeps: stopped as often as one likes, they end in the front of an undisturbed walk."""

import functools
import itertools
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.search import enumeration
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.kept_walks import walk_task, walk_tasks, walk_units
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.search.walkers import (
    USUAL_WALK,
    FoundAssignments,
    Walker,
    WalkSettings,
    make_walker,
)
from shortlist.results.proof import ProofKind
from shortlist.runs import NO_STUDY, Cancellation, Study, open_study
from shortlist.runs.budget import Budget, Progress
from shortlist.runs.studies.checkpoints import KeptState
from shortlist.runs.studies.study import KeepSettings
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

EVERY_STATE = KeepSettings(every_s=0.0, share=1.0)
"""Keeps the state at every look, whatever the clock says."""


def stopped_after(n_events: int, problem: StageProblem, study: Study, **how: Any) -> StageResult:
    """Walk until so many progress events have come."""
    cancellation, events = Cancellation(), itertools.count(1)

    def report(_: Progress) -> None:
        if next(events) == n_events:
            cancellation.cancel()

    return enumerate_front(
        problem, budget=Budget(report=report, cancellation=cancellation, study=study), **how
    )


@contextmanager
def kept_study() -> Iterator[Study]:
    """Open a study that keeps every state, and forget it afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_study(Path(folder, "s.db"), keeping=EVERY_STATE) as study,
    ):
        yield study


def until_complete(walk: Callable[[], StageResult]) -> StageResult:
    """Walk again and again until nothing is left."""
    for _ in range(2000):
        result = walk()
        if result.proof.kind is ProofKind.COMPLETE:
            return result
    raise AssertionError("the walk does not end")


def answer(result: StageResult) -> list[Any]:
    return [result.assignments.tolist(), result.measures.tolist(), result.n_tied.tolist()]


@pytest.mark.parametrize(("table_rows", "workers"), [(2000, 1), (2000, 2), (0, 1), (0, 2)])
@examples(15)
@given(known=facts(), k=st.integers(1, 4), every=st.integers(2, 9))
def test_a_walk_that_is_stopped_again_and_again_ends_in_the_same_front(
    table_rows: int, workers: int, known: oracles.Facts, k: int, every: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    whole = enumerate_front(problem, walk=WalkSettings(table_rows))
    with kept_study() as study:
        result = until_complete(
            lambda: stopped_after(every, problem, study, walk=WalkSettings(table_rows), workers=workers)
        )
    assert (
        answer(result)
        == answer(whole)
        == answer(enumerate_front(problem, workers=2, walk=WalkSettings(table_rows)))
    )
    if workers == 1:
        assert result.n_looked == whole.n_looked


@pytest.mark.parametrize(("table_rows", "workers"), [(2000, 1), (2000, 2), (0, 1), (0, 2)])
@examples(15)
@given(known=facts(), k=st.integers(2, 4), looks=st.integers(4, 9))
def test_a_walk_that_is_stopped_within_its_tasks_ends_in_the_same_front(
    table_rows: int, workers: int, known: oracles.Facts, k: int, looks: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    whole = enumerate_front(problem, walk=WalkSettings(table_rows))

    def some_looks() -> StageResult:
        now = itertools.count()  # each look at the clock takes a second
        budget = Budget(looks, clock=functools.partial(next, now), study=study)
        result = enumerate_front(problem, budget=budget, walk=WalkSettings(table_rows, 1), workers=workers)
        assert result.proof.kind is ProofKind.COMPLETE or result.proof.limit == f"{looks} s"
        return result

    with kept_study() as study:
        result = until_complete(some_looks)
    assert answer(result) == answer(whole)
    if workers == 1:
        assert result.n_looked == whole.n_looked


@pytest.mark.parametrize("table_rows", [0, 2000])
def test_a_cancellation_is_looked_at_within_a_task(table_rows: int) -> None:
    known = {frozenset(i for i in range(5) if m >> i & 1): ((m > 30, m > 30),) for m in range(1, 32)}
    problem = problem_of(oracles.Facts(5, (0,), known, (1, 2, 3, 4, 5)), 5)
    cancellation = Cancellation()
    walker = fresh_walker(problem, 5, WalkSettings(table_rows, 1))
    plain = walker.walk_on

    def walk_on() -> bool:
        cancellation.cancel()
        return plain()

    with patch.object(walker, "walk_on", walk_on):
        walk = walk_tasks(
            walker, [np.arange(1, 32)], functools.partial(enumeration._nondominated, problem),
            Budget(cancellation=cancellation), workers=1, study=NO_STUDY,
        )  # fmt: skip

    assert (walk.done, walk.looked) == (0, 0)
    assert walker.looked == 1


def test_states_of_threads_whose_tasks_others_did_since_are_passed_over(tmp_path: Path) -> None:
    everyone = {
        frozenset(i for i in range(3) if m >> i & 1): ((m > 3, m > 3), (m & 1 == 1, False))
        for m in range(1, 8)
    }
    problem = problem_of(oracles.Facts(3, (0, 1), everyone, (1, 2, 3)), 2)
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        part = study.part("at most 2 stages")
        stopped_after(4, problem, study)
        first = part.kept("walker 0")
        part.keep("walker 1", lambda: first, now=True)  # as if a second thread had done the same tasks
        assert answer(enumerate_front(problem, budget=Budget(study=study))) == answer(
            enumerate_front(problem)
        )
        assert list(part.results()) == ["walk"]
        assert (part.kept("walker 0"), part.kept("walker 1")) == (None, first)


class Counting:
    """A walker of tasks with two chains each, one a call, which all tie."""

    def __init__(self) -> None:
        self.counts = {"ties": 0, "at": 0}
        self.problem: Any = None

    @property
    def looked(self) -> int:
        return self.counts["at"]

    def fresh(self) -> "Counting":
        return Counting()

    def begin(self, _firsts: Any) -> None:
        self.counts["at"] = 0

    def resume(self, _firsts: Any) -> None:
        pass

    def walk_on(self) -> bool:
        self.counts = {"ties": self.counts["ties"] + 1, "at": self.counts["at"] + 1}
        return self.counts["at"] == 2

    def found(self) -> FoundAssignments:
        ties = np.array([self.counts["ties"]], dtype=np.int64)
        return FoundAssignments(np.zeros((1, 7), dtype=np.int64), ties, np.zeros((1, 1), dtype=np.int64))

    def state(self) -> dict[str, Any]:
        return {name: np.array([count]) for name, count in self.counts.items()}

    def restore(self, state: Any) -> None:
        self.counts = {name: int(state[name][0]) for name in self.counts}

    def collect(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_task_that_one_thread_began_and_another_has_done_counts_once(
    order: tuple[int, int], tmp_path: Path
) -> None:
    done, begun = Counting(), Counting()
    done.begin(None)
    while not done.walk_on():
        pass
    begun.begin(None)
    begun.walk_on()
    states = [({"1": 2}, "", done), ({}, "1", begun)]
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        for number, place in enumerate(order):
            looked, task, walker = states[place]
            state = KeptState(walker.state(), {"looked": looked, "task": task})
            study.keep(f"walker {number}", state.packed, now=True)
        walk = walk_tasks(
            Counting(), [np.array([mask]) for mask in range(1, 5)],
            lambda parts: FoundAssignments(parts[0].measures, np.sum([p.ties for p in parts], axis=0), parts[0].chains),
            Budget(), workers=1, study=study,
        )  # fmt: skip

    assert (walk.done, walk.looked, walk.found.ties.tolist()) == (4, 8, [8])


def test_units_that_take_too_long_end_with_the_time() -> None:
    begun: list[Any] = []

    def make() -> Any:
        begun.append(1)
        return Endless()

    tasks = [np.array([mask]) for mask in range(1, 9)]
    walk = walk_units(make, tasks, first_of, Budget(0.01), workers=1, study=NO_STUDY)
    assert (walk.done, len(begun)) == (0, 2)  # one to have nothing found, and the task that time ended


class Endless(Counting):
    """One whose tasks never end."""

    def walk_on(self) -> bool:
        return False


def first_of(_problem: Any, parts: list[FoundAssignments]) -> FoundAssignments:
    return parts[0]


def fresh_walker(problem: StageProblem, k: int, walk: WalkSettings) -> Walker:
    space, nothing = enumeration._space(problem), np.zeros((0, 7), dtype=np.int64)
    return make_walker(problem, space, k, nothing, bounds=True, walk=walk)


def tied(problem: StageProblem, found: FoundAssignments) -> list[tuple[list[int], int]]:
    return sorted(zip(problem.vectors(found.measures).tolist(), found.ties.tolist(), strict=True))


@given(known=facts(), k=st.integers(1, 4), table_rows=st.sampled_from([0, 2000]))
def test_units_find_the_front_and_the_ties_of_one_walk(known: oracles.Facts, k: int, table_rows: int) -> None:
    k = min(k, known.n_features)
    problem, join = problem_of(known, k), enumeration._nondominated
    expected = enumerate_front(problem, walk=WalkSettings(table_rows))
    make = functools.partial(fresh_walker, problem, k, WalkSettings(table_rows))
    tasks = [np.array([mask]) for mask in range(1, 1 << known.n_features)]
    walk = walk_units(make, tasks, join, Budget(), workers=1, study=NO_STUDY)

    assert walk.done == len(tasks) <= walk.looked
    assert tied(problem, walk.found) == tied(
        problem, FoundAssignments(expected.measures, expected.n_tied, walk.found.chains)
    )


@given(known=facts(), k=st.integers(1, 3))
def test_a_task_that_was_sent_elsewhere_finds_the_same(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    make = functools.partial(fresh_walker, problem_of(known, k), k, USUAL_WALK)
    arguments = (make, enumeration._nondominated, np.arange(1, 1 << known.n_features))
    assert walk_task(*pickle.loads(pickle.dumps(arguments))) == walk_task(*arguments)
