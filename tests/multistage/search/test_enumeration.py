import functools
import itertools
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage import MultiStageClassifier, feature_costs
from shortlist.multistage.search import enumeration
from shortlist.multistage.search._evaluation import N_MEASURES
from shortlist.multistage.search.enumeration import (
    enumerate_front,
)
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, StageProblem, StageResult
from shortlist.multistage.search.walkers import (
    USUAL_WALK,
    FoundAssignments,
    Walker,
    WalkSettings,
    walk_task,
    walk_tasks,
    walk_units,
)
from shortlist.results.proof import ProofKind
from shortlist.runs import NO_STUDY, Budget, Cancellation, Study, open_study
from shortlist.runs.budget import Progress
from shortlist.runs.records import KeptState
from shortlist.runs.study import KeepSettings
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


def exact_values(result: StageResult) -> dict[tuple[Fraction, ...], int]:
    """Return the exact objective vectors of a result, minimised, with their ties."""
    problem = result.problem
    found = {}
    for measures, ties in zip(result.measures.tolist(), result.n_tied.tolist(), strict=True):
        vector = []
        for objective in problem.objectives:
            whole = measures[problem.places[objective.name]]
            scale = problem.unit * max(1, measures[0]) if objective.scale is None else objective.scale
            vector.append(Fraction(whole, scale) * objective.sign)
        found[tuple(vector)] = ties
    return found


@pytest.mark.parametrize("bounds", [True, False])
@given(
    known=facts(), k=st.integers(1, 4), removal=st.booleans(), most_pairs=st.sampled_from([0, 1000]),
    jobs=st.sampled_from([1, 2]),
)  # fmt: skip
def test_the_front_and_its_ties_equal_the_plain_twin(
    *, bounds: bool, known: oracles.Facts, k: int, removal: bool, most_pairs: int, jobs: int
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k, removal=removal)
    result = enumerate_front(problem, bounds=bounds, workers=jobs, walk=WalkSettings(most_pairs))

    assert exact_values(result) == known.front(
        k, DEFAULT_OBJECTIVES, removal=removal, penalties={}, call_cost=Fraction(1),
        call_cost_per_feature=Fraction(0),
    )  # fmt: skip
    assert result.proof.kind is ProofKind.COMPLETE
    for assignment, measure in zip(result.assignments, result.measures, strict=True):
        assert problem.measures(assignment[None, :])[0, :3].tolist() == measure[:3].tolist()


@examples(10)
@given(known=facts(max_features=6, max_price=1), k=st.integers(2, 5), removal=st.booleans())
def test_bounds_change_nothing_for_more_features(known: oracles.Facts, k: int, removal: bool) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k, removal=removal)
    with_bounds, without = (enumerate_front(problem, bounds=bounds) for bounds in (True, False))

    assert exact_values(with_bounds) == exact_values(without)
    assert with_bounds.assignments.tolist() == without.assignments.tolist()


OBJECTIVE_SETS = [
    DEFAULT_OBJECTIVES,
    ("coverage", "conclusive_accuracy", "acquisition_cost", "stages"),
    ("conclusive_accuracy", "false_positive_rate", "acquisition_cost"),
    ("coverage", "worst_case_cost", "conclusive_accuracy"),
    ("evaluation_cost", "coverage", "conclusive_accuracy"),
]
WITH_HOURS = [
    ("coverage", "hours"),
    ("coverage", "conclusive_accuracy", "acquisition_cost", "hours"),
    ("hours", "stages", "conclusive_accuracy"),
]


PENALTIES = st.sampled_from([0.0, 0.25, 0.5, 0.51, 1.0])


@pytest.mark.parametrize("objectives", [*OBJECTIVE_SETS, *WITH_HOURS], ids="+".join)
@pytest.mark.parametrize("removal", [False, True], ids=["all features", "removal"])
@examples(12)
@given(
    known=facts(max_features=3, ensembles=True),
    k=st.integers(1, 3),
    bounds=st.booleans(),
    penalties=st.one_of(PENALTIES.map(lambda p: (p, p)), st.tuples(PENALTIES, PENALTIES)),
    call_cost_per_feature=st.sampled_from([0.0, 0.5]),
)
def test_any_objectives_penalties_and_removal_equal_brute_force(
    *,
    objectives: tuple[str, ...],
    removal: bool,
    known: oracles.Facts,
    k: int,
    bounds: bool,
    penalties: tuple[float, float],
    call_cost_per_feature: float,
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(
        known,
        k,
        objectives=objectives,
        removal=removal,
        penalties=dict(enumerate(penalties)),
        call_cost_per_feature=call_cost_per_feature,
    )
    result = enumerate_front(problem, bounds=bounds)

    assert exact_values(result) == known.front(
        k,
        objectives,
        removal=removal,
        penalties={label: Fraction(str(penalty)) for label, penalty in enumerate(penalties)},
        call_cost=Fraction(1),
        call_cost_per_feature=Fraction(str(call_cost_per_feature)),
    )
    again = problem.values(problem.measures(result.assignments))
    assert again.tolist() == problem.values(result.measures).tolist()


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("seed", range(8))
def test_fitted_classifiers_with_every_option_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    X = rng.normal(size=(70, 3)).round(1)
    y = (X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(70, n_classes))).argmax(axis=1)
    X, y = np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]])  # rows to judge that were fitted too
    groups = feature_costs(
        {"0": 2, "1": 1, "2": 3}, "012", groups={"0": "blood", "2": "blood"}, first_prices={"blood": 4}
    )
    penalties = [{0: 0.5, 1: 0.5}, {0: 0.25}, dict.fromkeys(range(n_classes), 0.1), None][seed % 4]
    objectives = OBJECTIVE_SETS[0] if n_classes > 2 else OBJECTIVE_SETS[seed // 2 % len(OBJECTIVE_SETS)]
    clf = MultiStageClassifier(
        feature_costs=groups, confidence={0: 0.6, 1: 0.5, 2: 0.7} if n_classes > 2 else {0: 0.5, 1: 0.65},
        max_stages=3, objectives=objectives, penalties=penalties, removal=seed % 3 == 0,
    ).fit(X[:70], y[:70], validation=(X[50:], y[50:]))  # fmt: skip
    known = oracles.facts_of(clf.problem_)
    given_penalties = {label: Fraction(str(value)) for label, value in (penalties or {}).items()}

    assert exact_values(clf.result_) == known.front(
        3, objectives, removal=seed % 3 == 0, penalties=given_penalties, call_cost=Fraction(1),
        call_cost_per_feature=Fraction(0),
    )  # fmt: skip


@examples(10)
@given(known=facts(max_features=6), k=st.integers(2, 5), removal=st.booleans())
def test_bounds_of_hours_change_nothing_for_more_features(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    names = ("coverage", "conclusive_accuracy", "hours")
    problem = problem_of(known, min(k, known.n_features), objectives=names, removal=removal)
    with_bounds, without = (enumerate_front(problem, bounds=bounds) for bounds in (True, False))

    assert exact_values(with_bounds) == exact_values(without)


def test_what_is_done_at_the_same_time_takes_as_long_as_the_longest() -> None:
    subsets = [frozenset(s) for size in (1, 2) for s in itertools.combinations(range(2), size)]
    answers = {features: ((features == {0, 1},) * 2,) * 4 for features in subsets}
    known = oracles.Facts(2, (0, 1, 0, 1), answers, (1, 1), hours=(5, 24))

    result = enumerate_front(problem_of(known, 2, objectives=("coverage", "hours")))

    assert result.front().values.tolist() == [[1.0, 24.0]]  # one after the other they take 29 hours


def test_a_cancelled_walk_claims_nothing() -> None:
    known = oracles.Facts(
        2, (0, 1), {frozenset(s): ((True, True), (False, False)) for s in ({0}, {1}, {0, 1})}, (1, 2)
    )
    cancellation = Cancellation()
    cancellation.cancel()
    result = enumerate_front(problem_of(known, 2), budget=Budget(cancellation=cancellation))

    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "interrupted"
    assert result.proof.n_unresolved > 0


def test_the_front_reports_ties_and_proof() -> None:
    known = oracles.Facts(
        2, (0, 1), {frozenset(s): ((True, True), (True, False)) for s in ({0}, {1}, {0, 1})}, (1, 1)
    )
    front = enumerate_front(problem_of(known, 2)).front()

    assert front.values.tolist() == [[1.0, 0.5, 1.0]]
    assert front.extras["n_tied"] == [2]
    assert front.proof.kind is ProofKind.COMPLETE


def test_a_later_stage_may_ask_fewer_members_than_an_earlier_one() -> None:
    names = ("coverage", "evaluation_cost")
    subsets = [frozenset(s) for size in (1, 2, 3) for s in itertools.combinations(range(3), size)]
    answers: dict[frozenset[int], tuple[tuple[bool, bool], ...]] = dict.fromkeys(
        subsets, ((False, False),) * 2
    )
    asked = dict.fromkeys(subsets, tuple(range(9)))
    for features, rows, n_members in (({0}, (0, 1), 4), ({1}, (0,), 3), ({1, 2}, (1,), 1)):
        answers[frozenset(features)] = tuple((row in rows, row in rows) for row in range(2))
        asked[frozenset(features)] = tuple(range(n_members))
    known = oracles.Facts(3, (0, 1), answers, (1, 1, 1), asked=asked)

    result = enumerate_front(problem_of(known, 2, objectives=names, removal=True))

    # both rows ask three members for feature 1, then one row asks one for features 1 and 2
    assert (Fraction(-1), Fraction(7, 2)) in exact_values(result)
    assert exact_values(result) == known.front(
        2, names, removal=True, penalties={}, call_cost=Fraction(1), call_cost_per_feature=Fraction(0)
    )


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


@pytest.mark.parametrize(("most_pairs", "workers"), [(1000, 1), (1000, 2), (0, 1), (0, 2)])
@examples(15)
@given(known=facts(), k=st.integers(1, 4), every=st.integers(2, 9))
def test_a_walk_that_is_stopped_again_and_again_ends_in_the_same_front(
    most_pairs: int, workers: int, known: oracles.Facts, k: int, every: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    whole = enumerate_front(problem, walk=WalkSettings(most_pairs))
    with kept_study() as study:
        result = until_complete(
            lambda: stopped_after(every, problem, study, walk=WalkSettings(most_pairs), workers=workers)
        )
    assert (
        answer(result)
        == answer(whole)
        == answer(enumerate_front(problem, workers=2, walk=WalkSettings(most_pairs)))
    )
    if workers == 1:
        assert result.n_looked == whole.n_looked


@pytest.mark.parametrize(("most_pairs", "workers"), [(1000, 1), (1000, 2), (0, 1), (0, 2)])
@examples(15)
@given(known=facts(), k=st.integers(2, 4), looks=st.integers(4, 9))
def test_a_walk_that_is_stopped_within_its_tasks_ends_in_the_same_front(
    most_pairs: int, workers: int, known: oracles.Facts, k: int, looks: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    whole = enumerate_front(problem, walk=WalkSettings(most_pairs))

    def some_looks() -> StageResult:
        now = itertools.count()  # each look at the clock takes a second
        budget = Budget(looks, clock=functools.partial(next, now), study=study)
        result = enumerate_front(problem, budget=budget, walk=WalkSettings(most_pairs, 1), workers=workers)
        assert result.proof.kind is ProofKind.COMPLETE or result.proof.limit == f"{looks} s"
        return result

    with kept_study() as study:
        result = until_complete(some_looks)
    assert answer(result) == answer(whole)
    if workers == 1:
        assert result.n_looked == whole.n_looked


@pytest.mark.parametrize("most_pairs", [0, 1000])
def test_a_cancellation_is_looked_at_within_a_task(most_pairs: int) -> None:
    known = {frozenset(i for i in range(5) if m >> i & 1): ((m > 30, m > 30),) for m in range(1, 32)}
    problem = problem_of(oracles.Facts(5, (0,), known, (1, 2, 3, 4, 5)), 5)
    cancellation = Cancellation()
    walker = fresh_walker(problem, 5, WalkSettings(most_pairs, 1))
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
        first = part.kept("chains 0")
        part.keep("chains 1", lambda: first, now=True)  # as if a second thread had done the same tasks
        assert answer(enumerate_front(problem, budget=Budget(study=study))) == answer(
            enumerate_front(problem)
        )
        assert list(part.results()) == ["walk"]
        assert (part.kept("chains 0"), part.kept("chains 1")) == (None, first)


class Counting(Walker):
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
        return FoundAssignments(
            np.zeros((1, N_MEASURES), dtype=np.int64), ties, np.zeros((1, 1), dtype=np.int64)
        )

    def state(self) -> dict[str, Any]:
        return {name: np.array([count]) for name, count in self.counts.items()}

    def restore(self, state: Any) -> None:
        self.counts = {name: int(state[name][0]) for name in self.counts}


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
            study.keep(f"chains {number}", state.packed, now=True)
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
    space, nothing = enumeration._space(problem), np.zeros((0, N_MEASURES), dtype=np.int64)
    return Walker(problem, space, k, nothing, bounds=True, walk=walk)


def tied(problem: StageProblem, found: FoundAssignments) -> list[tuple[list[int], int]]:
    return sorted(zip(problem.vectors(found.measures).tolist(), found.ties.tolist(), strict=True))


@given(known=facts(), k=st.integers(1, 4), most_pairs=st.sampled_from([0, 1000]))
def test_units_find_the_front_and_the_ties_of_one_walk(known: oracles.Facts, k: int, most_pairs: int) -> None:
    k = min(k, known.n_features)
    problem, join = problem_of(known, k), enumeration._nondominated
    expected = enumerate_front(problem, walk=WalkSettings(most_pairs))
    make = functools.partial(fresh_walker, problem, k, WalkSettings(most_pairs))
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
