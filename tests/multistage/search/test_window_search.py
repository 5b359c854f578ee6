import dataclasses
import functools
import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.holdout import aggregate
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import (
    StageProblem,
    StageResult,
    fixed_merits,
    stage_problem,
    worths,
)
from shortlist.multistage.search.window import single_moves
from shortlist.multistage.search.window_search import (
    MEASURING,
    StageArchive,
    WindowClimber,
    WindowOptions,
    drawn_weightings,
    first_assignments,
    search_windows,
)
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget, Cancellation, Progress, open_study
from tests.examples import examples
from tests.layouts import check_rows_stand_alone
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

NARROW = WindowOptions(width=4, n_new=2, n_weightings=4, tries=1, kicks=4)


def wide_problem(n: int = 22, *, n_jobs: int = 1, n_classes: int = 2) -> StageProblem:
    """Return a problem of more features than an enumeration takes; the first six tell of the class."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, 160)
    X = rng.normal(size=(160, n))
    X[:, :6] += y[:, None] * np.array([1.2, 0.9, 0.8, 0.7, 0.6, 0.5])
    rows = StageRows(
        learn_encoding(X, [f"x{i}" for i in range(n)]), X[:90], y[:90], X[90:], y[90:], n_classes
    )
    decisions = DecisionBits(
        LogisticSubclassifiers(rows, n_jobs=n_jobs), reject_rule(0.75, np.arange(n_classes))
    )
    return stage_problem(
        decisions, feature_costs([1 + i % 3 for i in range(n)], [f"x{i}" for i in range(n)]), max_stages=3
    )


def facts_of(result: StageResult) -> tuple[object, ...]:
    return result.assignments.tolist(), result.measures.tolist(), result.facts["n_rounds"], result.proof


@examples(25)
@given(known=facts(), k=st.integers(1, 4), removal=st.booleans())
def test_where_one_window_has_all_features_the_front_is_the_complete_one(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)

    found, truth = search_windows(problem), enumerate_front(problem)

    assert problem.vectors(found.measures).tolist() == problem.vectors(truth.measures).tolist()
    assert found.proof == truth.proof
    assert found.facts["n_windows"] == 1


@examples(10)
@given(known=facts(max_features=5), k=st.integers(2, 3), removal=st.booleans())
def test_narrow_windows_claim_nothing_and_measure_what_they_say(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)
    options = WindowOptions(width=2, n_new=1, n_weightings=2, tries=1)
    found = search_windows(problem, options)

    if known.n_features > 2:
        assert found.proof.kind is ProofKind.APPROXIMATE
        assert found.proof.missing is None
    assert found.measures.tolist() == problem.measures(found.assignments).tolist()
    outcomes = [known.outcome(row) for row in found.assignments.tolist()]
    assert len(set(outcomes)) == len(outcomes)
    assert not any(oracles.dominates(a, b) for a in outcomes for b in outcomes)


def test_threads_change_nothing() -> None:
    one, two = (search_windows(wide_problem(n_jobs=jobs), NARROW, budget=Budget(seed=3)) for jobs in (1, 2))

    assert facts_of(one) == facts_of(two)
    assert one.proof.limit == ""
    assert len(one.measures) > 5


def test_several_classes_are_searched() -> None:
    found = search_windows(wide_problem(8, n_classes=3), NARROW)

    assert (found.measures[:, 0] > 0).any()
    assert found.front().method == "windows"


def test_without_time_the_first_assignment_is_the_answer() -> None:
    result = search_windows(wide_problem(), NARROW, budget=Budget(0.0))

    assert result.assignments.tolist() == [[0] * 22]
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "0 s"


def test_a_cancellation_before_anything_was_measured_leaves_no_answer() -> None:
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(FitsStoppedError, match="there is no answer"):
        search_windows(wide_problem(), NARROW, budget=Budget(cancellation=cancellation))


def test_a_search_that_was_stopped_goes_on_to_the_same_front(tmp_path: Path) -> None:
    whole = search_windows(wide_problem(), NARROW, budget=Budget(seed=1))
    for climbs in (1, 3):
        place = tmp_path / f"{climbs}.db"
        cancellation = Cancellation()

        def stop(progress: Progress, climbs: int = climbs, cancellation: Cancellation = cancellation) -> None:
            if progress.stage.endswith("round 1") and progress.done == climbs:
                cancellation.cancel()

        with open_study(place) as study:
            budget = Budget(seed=1, cancellation=cancellation, report=stop, study=study)
            part = search_windows(wide_problem(), NARROW, budget=budget)
        with open_study(place) as study:
            rest = search_windows(wide_problem(), NARROW, budget=Budget(seed=1, study=study))
        with open_study(place) as study:
            again = search_windows(wide_problem(), NARROW, budget=Budget(seed=1, study=study))

        assert part.proof.limit == "interrupted"
        assert facts_of(rest) == facts_of(whole) == facts_of(again)
        assert again.facts["n_windows"] == 0


def test_no_move_of_one_feature_betters_any_weighting_where_a_search_ends() -> None:
    for seed in range(3):
        problem = wide_problem(20)
        found = search_windows(problem, NARROW, budget=Budget(seed=seed))
        assert found.proof.limit == ""
        for weights in drawn_weightings(3, NARROW.n_weightings, seed):
            reached = worths(problem, found.measures, weights)
            moves, _ = single_moves(found.assignments[reached.argmax()], 3, removal=False)
            assert worths(problem, problem.measures(moves), weights).max() <= reached.max()


def test_a_search_that_was_stopped_within_a_climb_goes_on_with_all_that_it_had(tmp_path: Path) -> None:
    now = itertools.count()  # each look at the clock takes a second
    with open_study(tmp_path / "s.db") as study:
        budget = Budget(150, seed=1, study=study, clock=functools.partial(next, now))
        part = search_windows(wide_problem(), NARROW, budget=budget)
        assert part.proof.limit == "150 s"
        assert len(part.measures) > 1
        rest = search_windows(wide_problem(), NARROW, budget=Budget(seed=1, study=study))

    problem = wide_problem()
    assert rest.proof.limit == ""
    weightings = drawn_weightings(3, NARROW.n_weightings, 1)
    for weights in weightings:
        sums = [worths(problem, result.measures, weights).max() for result in (part, rest)]
        assert sums[1] >= sums[0]


def test_with_removal_the_search_begins_with_few_features_too() -> None:
    problem = dataclasses.replace(wide_problem(20), removal=True)
    starts = first_assignments(problem)

    assert (starts >= 0).sum(axis=1).tolist() == [1, 2, 4, 8, 16]
    assert set(np.flatnonzero(starts[2] == 0)) <= set(range(6))  # those that tell of the class
    assert not len(first_assignments(wide_problem(20)))
    found = search_windows(problem, NARROW, budget=Budget(seed=0))
    assert (found.assignments == -1).any()


def test_progress_counts_the_climbs_of_each_round() -> None:
    told: list[Progress] = []
    result = search_windows(wide_problem(), NARROW, budget=Budget(report=told.append))

    ours = [event for event in told if event.stage.startswith("looking through windows")]
    assert {event.total for event in ours} == {4}
    assert [event.done for event in ours] == [0, 1, 2, 3, 4] * result.facts["n_rounds"]
    counted = [event.done for event in told if event not in ours]
    assert counted == sorted(counted)  # what is measured is counted meanwhile, and quick fits are not told
    assert {event.stage for event in told} == {event.stage for event in ours} | {MEASURING}
    assert ours[-1].stage == f"looking through windows, round {result.facts['n_rounds']}"


@pytest.mark.parametrize("seed", [0, 1])
def test_weights_begin_with_equal_ones_and_stay_within_their_range(seed: int) -> None:
    weights = drawn_weightings(3, 50, seed)

    assert weights[0].tolist() == [1.0, 1.0, 1.0]
    assert weights.min() >= 1 / 16
    assert weights.max() <= 16
    assert (weights == drawn_weightings(3, 50, seed)).all()
    assert all(weight == float(f"{weight:.9f}") for weight in weights.ravel().tolist())


def test_a_study_by_other_windows_keeps_what_it_found_and_begins_its_rounds_anew(tmp_path: Path) -> None:
    other = dataclasses.replace(NARROW, n_weightings=NARROW.n_weightings + 2)
    with open_study(tmp_path / "s.db") as study:
        before = search_windows(wide_problem(), other, budget=Budget(seed=1, study=study))
        found = search_windows(wide_problem(), NARROW, budget=Budget(seed=1, study=study))
    assert found.proof.limit == ""
    assert found.facts["n_windows"] > 0
    now = fixed_merits(wide_problem(), found.measures)
    for merits in fixed_merits(wide_problem(), before.measures):
        assert (now >= merits).all(axis=1).any()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"width": 1}, "width must be"),
        ({"width": 13}, "width must be"),
        ({"n_new": 8}, "n_new must be below width, 8, got 8"),
        ({"n_weightings": 0}, "n_weightings must be"),
        ({"tries": 0}, "tries must be"),
        ({"kicks": -1}, "kicks must be"),
        ({"changed": 0}, "changed must be"),
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, int], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        WindowOptions(**wrong)


@examples(15)
@given(known=facts(max_features=4), k=st.integers(2, 4), removal=st.booleans())
def test_no_move_of_one_feature_betters_where_a_climb_ends(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)
    climber = WindowClimber(problem, WindowOptions(width=2, n_new=1, tries=1), Budget())
    climber.measure(np.zeros((1, known.n_features), dtype=np.int8))
    weights = np.array([1.0, 2.0, 3.0])

    climber.climb(weights)
    gained_again = climber.climb(weights)

    worth, place = climber.archive.best(weights)
    moves, _ = single_moves(climber.archive.assignments[place], problem.max_stages, removal=removal)
    if len(moves):
        assert (worths(problem, problem.measures(moves), weights)).max() <= worth
    assert not gained_again


def test_a_window_is_looked_through_once() -> None:
    answers = {frozenset(s): ((True, True), (False, False)) for s in ((0,), (1,), (0, 1))}
    problem = problem_of(oracles.Facts(2, (1, 0), answers, (1, 2)), 2)
    climber = WindowClimber(problem, WindowOptions(), Budget())
    for items in (np.eye(2, dtype=bool), np.eye(2, dtype=bool)[::-1]):
        climber.look_through(items)

    assert climber.n_windows == 1


@examples(25)
@given(known=facts(max_features=3), cut=st.integers(0, 13))
def test_an_archive_has_one_assignment_per_vector_that_nothing_dominates(
    known: oracles.Facts, cut: int
) -> None:
    problem = problem_of(known, known.n_features)
    everything = list(oracles.all_assignments(known.n_features, known.n_features))
    archive = StageArchive(problem)
    stayed = 0
    for part in (everything[:cut], everything[cut:]):
        if part:
            rows = np.array(part, dtype=np.int8)
            stayed = archive.add(rows, problem.measures(rows))
    outcomes = {known.outcome(q) for q in everything}
    best = {a for a in outcomes if not any(oracles.dominates(b, a) for b in outcomes)}

    kept = [known.outcome(row) for row in archive.assignments.tolist()]
    assert sorted(kept) == sorted(best)
    assert archive.measures.tolist() == problem.measures(archive.assignments).tolist()
    assert stayed <= len(archive.measures)


@examples(25)
@given(known=facts(max_features=3))
def test_the_sum_of_merits_is_the_papers(known: oracles.Facts) -> None:
    problem = problem_of(known, known.n_features)
    total = Fraction(problem.costs.total)
    for assignment in oracles.all_assignments(known.n_features, known.n_features):
        measures = problem.measures(np.array([assignment], dtype=np.int8))
        coverage, accuracy, cost = known.outcome(assignment)
        paper = aggregate(float(coverage), float(accuracy), float(cost / total) if total else 0.0)
        assert abs(fixed_merits(problem, measures).sum() - paper) < 1e-12


@examples(15)
@given(known=facts(max_features=3, ensembles=True), removal=st.booleans())
def test_every_merit_is_between_nothing_and_one(known: oracles.Facts, removal: bool) -> None:
    names = ("worst_case_cost", "stages", "false_positive_rate", "evaluation_cost")
    problem = problem_of(known, known.n_features, objectives=names, removal=removal)
    rows = np.array(list(oracles.all_assignments(known.n_features, known.n_features)), dtype=np.int8)
    merits = fixed_merits(problem, problem.measures(rows))

    assert merits.min() >= 0
    assert merits.max() <= 1


def test_the_best_by_weights_is_the_first_of_equals() -> None:
    answers = {frozenset(s): ((True, True),) for s in ((0,), (1,), (0, 1))}
    problem = problem_of(oracles.Facts(2, (1,), answers, (1, 1)), 2)
    archive = StageArchive(problem)
    rows = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.int8)

    assert archive.add(rows, problem.measures(rows)) == 1
    assert archive.assignments.tolist() == [[1, 0]]
    assert archive.best(np.ones(3)) == (2.5, 0)


@examples(15)
@given(known=facts(max_features=4), seed=st.integers(0, 10**6))
def test_what_an_assignment_is_worth_does_not_depend_on_the_others_measured(
    known: oracles.Facts, seed: int
) -> None:
    problem = problem_of(known, known.n_features)
    rows = np.array(list(oracles.all_assignments(known.n_features, known.n_features)), dtype=np.int8)
    weights = np.random.default_rng(seed).uniform(1 / 16, 16, 3)

    check_rows_stand_alone(lambda batch: worths(problem, batch, weights), problem.measures(rows))
