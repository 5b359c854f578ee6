from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.holdout import aggregate
from shortlist.multistage.search.stage_objectives import fixed_merits, worths
from shortlist.multistage.search.window_search import StageArchive
from tests.examples import examples
from tests.layouts import check_rows_stand_alone
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


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
