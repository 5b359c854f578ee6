"""Fronts of stages that are as they claim, and fronts that somebody has changed."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shortlist.errors import ShortlistError
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import stage_table
from shortlist.multistage.recheck import StageCheck, better_samples, outcome, recheck_stages
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Cancellation

Table = tuple[NDArray[np.float64], NDArray[Any]]


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    return X, np.where(X[:, 0] + 0.7 * X[:, 1] + 0.4 * rng.normal(size=160) > 0, "yes", "no")


def staged(table: Table, **options: Any) -> MultiStageClassifier:
    """Return a fitted classifier with the complete front of four features and three stages."""
    classifier = MultiStageClassifier(
        feature_costs=[1, 2, 1, 4], max_stages=3, random_state=3, **{"method": "enumerate"} | options
    )
    stage_table(*table, classifier, seed=3)
    return classifier


@pytest.fixture(scope="module")
def classifier(table: Table) -> MultiStageClassifier:
    return staged(table)


def with_front(classifier: MultiStageClassifier, front: Front) -> MultiStageClassifier:
    """Return a copy of a fitted classifier that has another front."""
    copy = MultiStageClassifier()
    copy.__dict__.update(classifier.__dict__, front_=front)
    return copy


def test_a_complete_front_is_found_again_and_every_point_counted(
    table: Table, classifier: MultiStageClassifier
) -> None:
    found = recheck_stages(classifier, *table, n_sampled=50)
    assert (found.failures, found.status) == ((), "rechecked")
    assert (found.n_points, found.n_rows, found.n_sampled) == (len(classifier.front_), 160, 50)
    assert found.sentences()[1] == (
        "The search was repeated and found the same front, which rests on its own bounds."
    )


def test_points_are_counted_as_the_search_counts_every_assignment(classifier: MultiStageClassifier) -> None:
    problem = classifier.problem_
    for assignment in itertools.product(range(3), repeat=4):
        if set(assignment) != set(range(max(assignment) + 1)):
            continue
        stages = np.array([assignment], dtype=np.int8)
        values = problem.values(problem.measures(stages))[0]
        np.testing.assert_allclose(
            [float(value) for value in outcome(problem, stages[0])], values, rtol=1e-12
        )


@pytest.mark.parametrize("objective", [0, 1, 2])
def test_a_changed_value_is_found(table: Table, classifier: MultiStageClassifier, objective: int) -> None:
    front = classifier.front_
    values = front.values.copy()
    values[0, objective] += 1 / 120
    found = recheck_stages(with_front(classifier, dataclasses.replace(front, values=values)), *table)
    assert found.status == "invalid"
    assert f"point 0 has {front.names[objective]} " in found.failures[0]


def test_a_point_that_is_missing_is_found(table: Table, classifier: MultiStageClassifier) -> None:
    front = classifier.front_
    for number in range(len(front)):
        kept = np.arange(len(front)) != number
        fewer = dataclasses.replace(front, values=front.values[kept], decisions=front.decisions[kept])
        found = recheck_stages(with_front(classifier, fewer), *table)
        assert (found.status, len(found.failures)) == ("invalid", 1)
        assert found.failures[0].endswith("which the front lacks")


def test_random_assignments_find_what_a_search_has_missed(classifier: MultiStageClassifier) -> None:
    front, problem = classifier.front_, classifier.problem_
    assert better_samples(problem, front, 300) == ()
    worst = dataclasses.replace(front, values=front.values[:1], decisions=front.decisions[:1])
    (said,) = better_samples(problem, worst, 300)
    assert said.endswith("which the front lacks")


def test_a_front_that_is_not_complete_claims_nothing_of_others(
    table: Table, classifier: MultiStageClassifier
) -> None:
    front = dataclasses.replace(classifier.front_, proof=Proof(ProofKind.APPROXIMATE))
    found = recheck_stages(with_front(classifier, front), *table)
    assert (found.status, found.n_sampled) == ("rechecked", 0)
    assert found.sentences()[-1] == "The front claims nothing about other stage assignments."


def test_objectives_that_are_not_counted_row_by_row_are_named() -> None:
    found = StageCheck((), 3, ProofKind.COMPLETE, 120, ("stages", "worst_case_cost"))
    assert found.status == "counted"
    assert "Only the search's own code counted stages and worst_case_cost again." in found.sentences()


def test_a_recheck_that_is_stopped_says_nothing_of_the_front(
    table: Table, classifier: MultiStageClassifier
) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(ShortlistError):
        recheck_stages(classifier, *table, budget=Budget(cancellation=cancellation))
